"""From a function and an interval to `Curves`: checked arguments, samples, marks and notes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from autodiff_lab.draw.curves import Curves, find_marks
from autodiff_lab.draw.curves.resolution import unresolved
from autodiff_lab.draw.lines import cut
from autodiff_lab.errors import BadInterval, ConversionError, NotCallable
from autodiff_lab.exploring.sampling import Sampler
from autodiff_lab.recording.numbers import short

LONGEST_NAME = 16
MOST_SAMPLES = 100_000


def curves_of(
    function: Callable[[Any], Any],
    lo: float,
    hi: float,
    n: int,
    order: int,
    name: str | None = None,
    also: Iterable[float] = (),
) -> tuple[Curves, Sampler]:
    """Sample a function and its derivatives, and find where they break.

    Parameters
    ----------
    function : callable
        Of one Tensor.
    lo, hi : float
        The ends of the interval.
    n : int
        Number of evenly spaced samples, both ends included.
    order : int
        How many derivatives.
    name : str, optional
        The name to show; by default that of the function.
    also : iterable of float
        Further x to sample, inside the interval.

    Returns
    -------
    Curves, Sampler
        What to draw, and the source of further samples.

    Raises
    ------
    NotCallable
        If `function` is not a function.
    BadInterval
        If the ends are not finite or not in order, or n is below 2.

    Examples
    --------
    >>> curves, _ = curves_of(lambda x: x * x, -1.0, 1.0, 5, order=1)
    >>> curves.rows[1].tolist()
    [-2.0, -1.0, 0.0, 1.0, 2.0]
    """
    if not callable(function):
        raise NotCallable(
            f"f: expected a function, got {type(function).__name__}. Try explore(lambda x: x * x, -5, 5)."
        )
    lo, hi, n = _interval(lo, hi, n)
    name = own_name(function, name)
    sampler = Sampler(function, lo, hi, order, name)
    x = np.linspace(lo, hi, n)
    x[np.abs(x) < 1e-12 * (hi - lo)] = 0.0  # a grid through 0 contains exactly 0, where kinks often are
    for place in np.clip(list(also), lo, hi):
        x = _with(x, float(place))
    rows, notes, nones = sampler.sample(x)
    single = sampler.dtype.name == "float32"
    resolution = 1.2e-7 if single else 2.2e-16
    if single:
        notes.append(f"{name} works in float32, so about seven digits are correct.")
    marks = find_marks(x, rows, sampler, resolution)
    fast = unresolved(x, rows, marks)
    if fast is not None:
        notes.append(_too_fast(name, x, fast))
    curves = Curves(
        x,
        tuple(rows),
        name=name,
        marks=marks,
        notes=tuple(notes),
        nones=tuple(_spans(x, missing) for missing in nones),
        narrowest=max((hi - lo) * 1e-6, 2000 * resolution * max(abs(lo), abs(hi))),
        is_resolved=fast is None,
    )
    return curves, sampler


def _too_fast(name: str, x: np.ndarray, fast: tuple[float, float]) -> str:
    """Say where the picture is not the curve, and what to do about it."""
    left, right = (short(end, 3, minus="−") for end in fast)
    where = "" if fast[1] - fast[0] > 0.9 * (x[-1] - x[0]) else f" between {left} and {right}"
    return f"{name} goes up and down faster than {len(x)} samples can show{where}: zoom in there, or pass a larger n."


def _spans(x: np.ndarray, missing: np.ndarray) -> tuple[tuple[float, float], ...]:
    """Return the intervals of x whose samples are missing, ends included."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], missing, [False]]).astype(int)))
    return tuple((float(x[first]), float(x[last - 1])) for first, last in edges.reshape(-1, 2))


def _with(x: np.ndarray, place: float) -> np.ndarray:
    """Return the grid with an extra point; it replaces a neighbour that differs only by rounding."""
    near = np.abs(x - place) < 1e-9 * (x[-1] - x[0])
    return np.sort(np.append(x[~near], place))


def _interval(lo: Any, hi: Any, n: Any) -> tuple[float, float, int]:
    try:
        left, right = float(lo), float(hi)
    except (TypeError, ValueError) as error:
        raise ConversionError(f"expected numbers as ends of the interval, got {lo!r} and {hi!r}.") from error
    if not (math.isfinite(left) and math.isfinite(right)):
        raise BadInterval(f"expected a finite interval, got {left} to {right}. Try ends such as -5 and 5.")
    if not left < right:
        raise BadInterval(
            f"expected lo below hi, got lo = {left:g} and hi = {right:g}. Try ({right:g}, {left:g}), or a wider "
            "interval."
        )
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 2:
        raise BadInterval(f"expected an integer n of at least 2, got {n!r}. Try n=401.")
    if n > MOST_SAMPLES:
        raise BadInterval(f"expected n of at most {MOST_SAMPLES}, got {n}. Try zooming in instead.")
    return left, right, int(n)


def own_name(function: Any, given: str | None = None) -> str:
    r"""Return what a function is called, in one line that can be shown; one without a short name is called f.

    Examples
    --------
    >>> own_name(abs), own_name(lambda x: x), own_name(abs, "the\nsize")
    ('abs', 'f', 'the size')
    """
    if given:
        return cut(str(given))
    name = str(getattr(function, "__name__", "f"))
    return name if name.isidentifier() and len(name) <= LONGEST_NAME else "f"
