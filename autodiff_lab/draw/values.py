"""Values as the explorer shows them: each stored once, small for a node, short for a sentence, in full for copying."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autodiff_lab.draw.cells import elements, grid, histogram
from autodiff_lab.draw.lines import CUT, bulk, shortened
from autodiff_lab.recording.numbers import SHOWN, brief, dimensions
from autodiff_lab.recording.snapshot import Snapshot

ORDINARY, ZERO, NAN, INFINITE = 0, 1, 2, 3
"""Marks of a value: the picture also shows words and shapes, never a colour alone."""
_FULL = 600
_TEXT = 200


class Values:
    """A table of values under construction; equal values share one row."""

    def __init__(self) -> None:
        self._rows: dict[tuple[Any, ...], int] = {}
        self._kinds: dict[tuple[str, str], int] = {}
        self._seen: dict[int, tuple[Snapshot, int]] = {}

    def position(self, snapshot: Snapshot) -> int:
        """Return the row of a value."""
        known = self._seen.get(id(snapshot))
        if known is not None:
            return known[1]
        kind = (str(snapshot.dtype), dimensions(snapshot.shape))
        summary = bulk(snapshot)
        short = f"{summary} {kind[1]}" if summary else brief(snapshot, minus="−")
        full = full_text(snapshot)
        small = shortened(summary, snapshot)
        place = self._kinds.setdefault(kind, len(self._kinds))
        row = (short, "" if full == short else full, "" if small == short else small, place, mark(snapshot))
        row += picture(snapshot, full)
        position = self._rows.setdefault(row, len(self._rows))
        self._seen[id(snapshot)] = snapshot, position
        return position

    def tables(self) -> tuple[list[list[str]], list[list[Any]]]:
        """Return the kinds (dtype and shape) and the rows: short, full, small (empty if the same), kind, mark.

        A sixth element has the cells of a value whose full text was cut, a seventh the bars of its histogram.
        """
        return [list(kind) for kind in self._kinds], [list(row) for row in self._rows]


def picture(snapshot: Snapshot, full: str) -> tuple[Any, ...]:
    """Return what a page needs to picture a value beyond its full text: its cells, its histogram, or nothing.

    Examples
    --------
    >>> from autodiff_lab.recording.snapshot import snapshot
    >>> long, short = snapshot(np.full(64, 1 / 3)), snapshot(np.ones(8))
    >>> picture(long, full_text(long))[0][:1], picture(short, full_text(short))
    ((0.33333,), ())
    """
    if snapshot.array is None or snapshot.size <= SHOWN or np.asarray(snapshot.array).dtype.kind not in "fiu":
        return ()
    bars = tuple(histogram(snapshot.array)) if grid(snapshot.shape) is None else ()
    cells = tuple(map(_rounded, elements(snapshot) or ())) if full.endswith(CUT) else ()
    return (cells, bars) if bars else (cells,) if cells else ()


def _rounded(number: float) -> float | str:
    return float(f"{number:.5g}") if math.isfinite(number) else str(number)


def mark(snapshot: Snapshot) -> int:
    """Return what is notable about a value: all zero, any nan, any infinity.

    Examples
    --------
    >>> from autodiff_lab.recording.snapshot import snapshot
    >>> mark(snapshot(np.zeros(3))) == ZERO, mark(snapshot(np.array([1.0, np.nan]))) == NAN
    (True, True)
    """
    summary = snapshot.summary
    if summary is not None:
        if summary.nan or summary.inf:
            return NAN if summary.nan else INFINITE
        return ZERO if summary.minimum == summary.maximum == 0 else ORDINARY
    array = np.asarray(snapshot.array)
    if array.dtype.kind not in "fcbiu" or array.size == 0:
        return ORDINARY
    numbers = array.ravel().tolist()
    if array.dtype.kind == "f" and not all(map(math.isfinite, numbers)):
        return NAN if any(map(math.isnan, numbers)) else INFINITE
    if array.dtype.kind == "c" and not np.isfinite(array).all():
        return NAN if np.isnan(array).any() else INFINITE
    return ORDINARY if any(numbers) or array.dtype.kind == "b" else ZERO


def full_text(snapshot: Snapshot) -> str:
    """Return every digit of a small value, and everything known about a large one.

    Minus signs are ASCII, so that the text can be copied into a program.

    Examples
    --------
    >>> from autodiff_lab.recording.snapshot import snapshot
    >>> full_text(snapshot(np.float32(-0.1)))
    '-0.1'
    """
    summary = snapshot.summary
    if summary is None:
        text = _elements(np.asarray(snapshot.array))
    else:
        first = ", ".join(str(item) for item in summary.first)
        known = {"min": summary.minimum, "mean": summary.mean, "max": summary.maximum}
        parts = [f"{word} {value!r}" for word, value in known.items() if value is not None]
        parts += [f"{count} {word}" for word, count in (("nan", summary.nan), ("inf", summary.inf)) if count]
        text = f"{', '.join(parts)}; the first elements: {first}"
    return text if len(text) <= _FULL else text[: _FULL - 1] + CUT


def _elements(array: Any) -> str:
    """Return every element with enough digits to distinguish it from its neighbours."""
    if not isinstance(array, np.ndarray):
        return str(array)
    if array.ndim == 0:
        return str(array[()])
    parts = map(str, array) if array.ndim == 1 else map(_elements, array)
    return f"[{', '.join(parts)}]"


def clipped(text: str) -> str:
    """Return a text of any length in at most 200 characters."""
    return text if len(text) <= _TEXT else text[: _TEXT - 1] + CUT
