"""Round ticks, their labels, and the range of heights that shows a curve: the counterpart of the page's script.

``tests/javascript/curve_axes.test.js`` checks both against the same table, so a picture and the live widget agree.
"""

from __future__ import annotations

import math

import numpy as np

from autodiff_lab.recording.numbers import short


def ticks(lo: float, hi: float, count: float) -> tuple[float, list[float]]:
    """Return the step and the positions of round ticks in [lo, hi], about `count` of them at most.

    Examples
    --------
    >>> ticks(-5.0, 5.0, 6)
    (2.0, [-4.0, -2.0, 0.0, 2.0, 4.0])
    """
    raw = (hi - lo) / max(1.0, count)
    if not (raw > 0 and math.isfinite(raw)):
        return 1.0, []
    power = float(f"1e{math.floor(math.log10(raw))}")
    step = next(multiple * power for multiple in (1, 2, 5, 10) if multiple * power >= raw * 0.75)
    first, last = math.ceil(lo / step - 1e-9), math.floor(hi / step + 1e-9)
    return step, [float(f"{k * step:.15g}") + 0.0 for k in range(first, last + 1)]


def place(value: float, step: float) -> str:
    """Write a position on an axis with enough decimals to distinguish neighbours that are `step` apart.

    Examples
    --------
    >>> place(1.25, 0.025), place(-2.0, 0.5), place(-0.0, 0.1)
    ('1.25', '−2.0', '0.0')
    """
    if not (step > 0 and math.isfinite(value)):
        return short(value, minus="−")
    if abs(value) >= 1e6 or step < 1e-10:
        return short(value, 12, minus="−")
    decimals = max(0, math.ceil(-math.log10(step) - 1e-9))
    text = f"{value:.{min(decimals, 12)}f}"
    return (text.replace("-", "") if float(text) == 0 else text).replace("-", "−")


def tick_text(value: float, step: float) -> str:
    """Return the label of one tick.

    Examples
    --------
    >>> tick_text(-0.5, 0.5), tick_text(200000.0, 100000.0), tick_text(0.0, 0.1)
    ('−0.5', '200000', '0')
    """
    if value == 0:
        return "0"
    size = max(abs(value), step)
    return short(value, minus="−") if size >= 1e5 or size < 1e-4 else place(value, step)


def holding(up: tuple[float, float], value: float) -> tuple[float, float]:
    """Return a range of heights, widened if needed so that a value is well inside.

    Examples
    --------
    >>> holding((0.0, 1.0), 0.5), holding((0.0, 1.0), 9.0)
    ((0.0, 1.0), (0.0, 9.72))
    """
    low, high = up
    if not math.isfinite(value) or low <= value <= high:
        return up
    margin = 0.08 * (max(high, value) - min(low, value))
    return min(low, value - margin), max(high, value + margin)


def heights(values: np.ndarray, zero: bool = False, clip: bool = False) -> tuple[float, float]:
    """Return the range of heights that shows these values, with a margin.

    Parameters
    ----------
    values : numpy.ndarray
        Of any shape; non-finite values are left out.
    zero : bool
        Keep 0 in the range, because heights are measured from there.
    clip : bool
        Let a few extreme values leave the range, so that a pole does not flatten everything else.

    Examples
    --------
    >>> heights(np.array([0.0, 10.0, np.nan]))
    (-0.8, 10.8)
    """
    finite = np.sort(values[np.isfinite(values)])
    if not len(finite):
        return -1.0, 1.0
    last = len(finite) - 1
    lo, hi = float(finite[0]), float(finite[last])
    if clip:
        low, high = (float(finite[math.floor(share * last + 0.5)]) for share in (0.1, 0.9))
        if high > low and hi - lo > 3 * (high - low):
            lo, hi = max(lo, low - 0.25 * (high - low)), min(hi, high + 0.25 * (high - low))
    if zero:
        lo, hi = min(lo, 0.0), max(hi, 0.0)
    flat = hi - lo <= 1e-12 * max(abs(lo), abs(hi))
    margin = max(1.0, 0.5 * abs(hi)) if flat else 0.08 * (hi - lo)
    return lo - margin, hi + margin
