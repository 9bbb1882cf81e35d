"""Curves in words: the text printed beside the picture, read aloud, and compared by notebook tests."""

from __future__ import annotations

import numpy as np

from autodiff_lab.draw.curves.model import Curves, Mark
from autodiff_lab.recording.numbers import short


def account(curves: Curves, at: float | None = None) -> str:
    """Describe curves in a few lines.

    Parameters
    ----------
    curves : Curves
        What is described.
    at : float, optional
        A point whose values are listed as well: those of the nearest sample.

    Examples
    --------
    >>> x = np.linspace(-1.0, 1.0, 5)
    >>> print(account(Curves(x, (x**2, 2 * x)), at=0.5))
    f(x) and its derivatives for x from -1 to 1, 5 samples
      f(x): from 0 to 1
      f′(x): from -2 to 2
      at x = 0.5: f(x) = 0.25, f′(x) = 1
    """
    n, lo, hi = len(curves.x), short(float(curves.x[0])), short(float(curves.x[-1]))
    what = f"{curves.names[0]} and its derivatives" if len(curves.rows) > 1 else curves.names[0]
    lines = [f"{what} for {curves.variable} from {lo} to {hi}, {n} samples"]
    lines += [f"  {name}: {_range(row)}" for name, row in zip(curves.names, curves.rows, strict=True)]
    lines += [f"  {described(mark, curves.variable)}" for mark in curves.marks]
    lines += [f"  note: {note}" for note in curves.notes]
    if at is not None:
        index = curves.nearest(at)
        values = (f"{name} = {curves.word(row, index)}" for row, name in enumerate(curves.names))
        lines.append(f"  at {curves.variable} = {short(float(curves.x[index]), 6)}: {', '.join(values)}")
    return "\n".join(lines)


def described(mark: Mark, variable: str) -> str:
    """Describe one mark.

    Examples
    --------
    >>> described(Mark(0.0, "kink", ((0.0, 0.0), (-1.0, 1.0))), "x")
    'kink at x = 0: slope -1 on its left, 1 on its right'
    """
    where = f"{mark.kind} at {variable} = {short(mark.x, 6)}"
    row = 1 if mark.kind == "kink" else 0
    left, right = mark.limits[row] if len(mark.limits) > row else (None, None)
    if left is None or right is None:
        return where if mark.kind == "pole" else f"{where}: no slope on either side"
    what = "slope" if row else "value"
    return f"{where}: {what} {short(left)} on its left, {short(right)} on its right"


def _range(row: np.ndarray) -> str:
    finite = row[np.isfinite(row)]
    if not len(finite):
        return "nowhere defined"
    missing = len(row) - len(finite)
    gaps = f", undefined at {missing} sample{'s' * (missing > 1)}" if missing else ""
    return f"from {short(float(finite.min()))} to {short(float(finite.max()))}{gaps}"
