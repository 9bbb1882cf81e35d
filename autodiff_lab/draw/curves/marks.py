"""Kinks, jumps and poles, found from samples and confirmed by finer ones.

Between two neighbouring samples a smooth curve changes about as much as between their neighbours, and eight times less
at eight times the resolution. A break keeps its height at any resolution, and a pole grows. So intervals
that stand out are refined again and again, and the heights at the finest levels are compared.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from autodiff_lab.draw.curves.model import Limits, Mark

Sample = Callable[[np.ndarray], Sequence[np.ndarray]]
"""Values of f and its derivatives, each of the shape of x."""

STANDS_OUT = 2.5
"""How many times a change must exceed the changes around it before it is refined."""
MOST = 32
"""How many intervals are refined; a function with more breaks than this shows the strongest."""
PARTS = 8
LOOKS = 8
STAYS = 0.4  # a sample on the break itself splits it in two halves
GROWS = 2.0
HEIGHT_KEPT = 0.2
PEAK = 20.0


@dataclass(frozen=True, slots=True)
class _Interval:
    """An interval under refinement, and the change of one row across it at each level, in order."""

    left: float
    right: float
    changes: tuple[float, ...]


def find_marks(
    x: np.ndarray, rows: Sequence[np.ndarray], sample: Sample, resolution: float = 2.2e-16
) -> tuple[Mark, ...]:
    """Find where f or its slope breaks, as far as samples can tell.

    Parameters
    ----------
    x : numpy.ndarray
        Shape (n,), increasing.
    rows : sequence of numpy.ndarray
        f and at least its first derivative at x, each of shape (n,).
    sample : callable
        Takes an array of further x and returns the rows there.
    resolution : float
        Relative precision of the values; nothing finer is searched for.

    Returns
    -------
    tuple of Mark
        From left to right.

    Examples
    --------
    >>> sample = lambda x: (np.abs(x), np.sign(x))
    >>> x = np.linspace(-1.0, 1.5, 42)
    >>> [(mark.kind, mark.x, mark.limits[1]) for mark in find_marks(x, sample(x), sample)]
    [('kink', 0.0, (-1.0, 1.0))]
    """
    if len(x) < 2 * PARTS or len(rows) < 2:
        return ()
    poles = _poles(x, np.asarray(rows[0]), sample, resolution)
    jumps = _breaks(x, rows, 0, sample, resolution)
    kinks = _breaks(x, rows, 1, sample, resolution)
    step = (x[-1] - x[0]) / (len(x) - 1)
    marks = [_on_sample(mark, x, step) for mark in (*poles, *_joined(jumps, step), *_joined(kinks, step))]
    kept: list[Mark] = []
    for mark in marks:  # poles before jumps before kinks: the strongest word for a place wins
        if all(abs(mark.x - other.x) > 0.02 * step for other in kept):
            kept.append(mark)
    return tuple(sorted(kept, key=lambda mark: mark.x))


def _poles(x: np.ndarray, f: np.ndarray, sample: Sample, resolution: float) -> list[Mark]:
    """Return poles: infinite samples, and peaks of |f| that grow with the resolution."""
    rows_of_none: tuple[Limits, ...] = ((None, None), (None, None), (None, None))
    found = [Mark(float(place), "pole", rows_of_none) for place in x[np.isinf(f)]]
    size = np.where(np.isfinite(f), np.abs(f), 0.0)
    typical = float(np.median(size[np.isfinite(f)])) if np.isfinite(f).any() else 0.0
    inner = size[1:-1]
    peaks = np.flatnonzero((inner >= size[:-2]) & (inner >= size[2:]) & (inner > PEAK * typical)) + 1
    for peak in sorted(peaks, key=lambda i: -size[i])[:MOST]:
        place, heights, second = float(x[peak]), [float(size[peak])], np.inf
        width = float(x[peak + 1] - x[peak - 1])
        while len(heights) <= LOOKS and width > 64 * resolution * max(abs(place), 1e-300):
            points = place + width * np.linspace(-0.5, 0.5, 2 * PARTS + 1)
            values = np.abs(np.asarray(sample(points)[0], dtype=float))
            values[np.isnan(values)] = 0.0
            place, width = float(points[np.argmax(values)]), width / PARTS
            heights.append(float(values.max()))
            second = float(np.sort(values)[-2])
        # A sample may hit the pole almost exactly; then nothing grows further, but that value stands alone.
        grows = len(heights) > 2 and heights[-1] > GROWS * heights[-3]
        if grows or heights[-1] > GROWS * second:
            place = _simplest(place - width, place + width)
            found.append(Mark(place, "pole", rows_of_none))
    return found


def _breaks(x: np.ndarray, rows: Sequence[np.ndarray], row: int, sample: Sample, resolution: float) -> list[Mark]:
    """Return the places where one row jumps: f itself (row 0) or its slope (row 1)."""
    values = np.asarray(rows[row], dtype=float)
    suspects = _suspects(x, values)
    floor = 1e3 * resolution * float(np.max(np.abs(values[np.isfinite(values)]), initial=0.0))
    coarse = float(np.max(np.abs(x)))
    for _ in range(LOOKS):
        if not suspects or max(s.right - s.left for s in suspects) < 64 * PARTS * resolution * coarse:
            break
        suspects = _closer(suspects, row, sample)
    confirmed = [s for s in suspects if _stays(s.changes, floor, grows_counts=row > 0)]
    if not confirmed:
        return []
    # A little outside: an end may be the break itself, where the value belongs to neither side.
    sides = [[2 * s.left - s.right, 2 * s.right - s.left] for s in confirmed]
    ends = [np.asarray(end) for end in sample(np.clip(np.array(sides).ravel(), x[0], x[-1]))]
    kind = "kink" if row else "jump"
    marks: list[Mark] = []
    for i, suspect in enumerate(confirmed):
        limits = tuple((_finite(end[2 * i]), _finite(end[2 * i + 1])) for end in ends)
        if row and suspect.changes[-1] > GROWS * suspect.changes[-3]:  # a vertical tangent has no one-sided slope
            limits = (limits[0], *((None, None) for _ in limits[1:]))
        marks.append(Mark(_simplest(suspect.left, suspect.right), kind, limits))
    return marks


def _suspects(x: np.ndarray, values: np.ndarray) -> list[_Interval]:
    """Return the intervals across which the values change much more than they do around them."""
    known = np.flatnonzero(np.isfinite(values))
    if len(known) < PARTS:
        return []
    changes = np.abs(np.diff(values[known]))
    # A single sample without a value (a slope 0/0 on the kink itself) may lie in between; a wide gap may not.
    near = np.diff(known) <= 2
    padded = np.pad(np.where(near, changes, np.nan), 4, constant_values=np.nan)
    around = np.lib.stride_tricks.sliding_window_view(padded, 9)
    filled = np.where(np.isnan(around), np.inf, around)
    counts = (~np.isnan(around)).sum(axis=1)
    usual = np.sort(filled, axis=1)[np.arange(len(counts)), np.maximum(counts - 1, 0) // 2]
    chosen = np.flatnonzero(near & (changes > STANDS_OUT * usual) & (changes > 0))
    strongest = sorted(chosen, key=lambda i: -changes[i])[:MOST]
    return [_Interval(float(x[known[i]]), float(x[known[i + 1]]), (float(changes[i]),)) for i in sorted(strongest)]


def _closer(suspects: list[_Interval], row: int, sample: Sample) -> list[_Interval]:
    """Cut every interval into parts and keep the part with the largest change."""
    points = np.stack([np.linspace(s.left, s.right, PARTS + 1) for s in suspects])
    values = np.asarray(sample(points.ravel())[row], dtype=float).reshape(points.shape)
    closer: list[_Interval] = []
    for suspect, places, heights in zip(suspects, points, values, strict=True):
        known = np.flatnonzero(np.isfinite(heights))
        if len(known) < 2:
            continue
        changes = np.abs(np.diff(heights[known]))
        best = int(np.argmax(changes))
        left, right = places[known[best]], places[known[best + 1]]
        closer.append(_Interval(float(left), float(right), (*suspect.changes, float(changes[best]))))
    return closer


def _stays(changes: tuple[float, ...], floor: float, grows_counts: bool) -> bool:
    """Return whether the change kept its height over the last two levels; if it grew, only the slope breaks."""
    if len(changes) < 3 or changes[-1] <= floor or changes[-1] < HEIGHT_KEPT * changes[0]:
        return False
    ratio = changes[-1] / changes[-3]
    return ratio > STAYS and (grows_counts or ratio <= GROWS)


def _joined(marks: list[Mark], step: float) -> list[Mark]:
    """Join two breaks on both sides of one sample: the value on a kink itself lies between both limits."""
    joined: list[Mark] = []
    for mark in sorted(marks, key=lambda mark: mark.x):
        if joined and mark.x - joined[-1].x < 0.02 * step:
            pairs = zip(joined[-1].limits, mark.limits, strict=True)
            joined[-1] = replace(joined[-1], limits=tuple((first[0], last[1]) for first, last in pairs))
        else:
            joined.append(mark)
    return joined


def _on_sample(mark: Mark, x: np.ndarray, step: float) -> Mark:
    nearest = float(x[np.argmin(np.abs(x - mark.x))])
    return replace(mark, x=nearest) if abs(nearest - mark.x) < 1e-6 * step else mark


def _simplest(left: float, right: float) -> float:
    """Return the number with the fewest decimals in [left, right]."""
    middle = (left + right) / 2
    for decimals in range(16):
        rounded = round(middle, decimals)
        if left <= rounded <= right:
            return rounded + 0.0
    return middle


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
