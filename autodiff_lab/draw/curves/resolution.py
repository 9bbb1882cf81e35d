"""Where samples are too far apart for a curve: between them it goes up and down, and the line through them is a fable.

Slopes are known at every sample, so that this can be told: over a short interval f changes by its mean slope times the
width.  Where it changes by something else, or the slopes are so steep that it would leave the picture from one sample
to the next, again and again, it is not the curve that is drawn.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from autodiff_lab.draw.curves.model import Mark

_RUN = 4
"""Intervals in a row: a jump or a kink spoils one, or two."""
_OFF = 0.5
"""The part of a change that its slopes do not explain."""
_SMALL, _STEEP = 0.02, 0.5
"""The parts of the whole height below which a change is not seen, and above which no curve goes on for long."""


def unresolved(x: np.ndarray, rows: Sequence[np.ndarray], marks: Sequence[Mark] = ()) -> tuple[float, float] | None:
    """Return the interval in which f goes up and down between its samples, None if there is none.

    Parameters
    ----------
    x : numpy.ndarray
        Shape (n,), increasing.
    rows : sequence of numpy.ndarray
        f and its slope at least, of shape (n,).
    marks : sequence of Mark
        Intervals with a mark are left out: there f breaks, and says so.

    Examples
    --------
    >>> x = np.linspace(-10.0, 10.0, 101)
    >>> unresolved(x, (np.sin(x), np.cos(x))), unresolved(x, (np.sin(50 * x), 50 * np.cos(50 * x)))
    (None, (-10.0, 10.0))
    """
    if len(rows) < 2 or len(x) <= _RUN:
        return None
    with np.errstate(all="ignore"):
        f, slope = (np.where(np.isfinite(row), row, np.nan) for row in rows[:2])
        width, change = np.diff(x), np.diff(f)
        left, right = slope[:-1] * width, slope[1:] * width
        expected = (left + right) / 2
        size = np.maximum(np.abs(change), (np.abs(left) + np.abs(right)) / 2)
        height = np.nanmax(f, initial=-np.inf) - np.nanmin(f, initial=np.inf)
        wrong = (size > _SMALL * height) & (np.abs(change - expected) > _OFF * size) | (size > _STEEP * height)
    for mark in marks:
        wrong &= ~((x[:-1] <= mark.x) & (mark.x <= x[1:]))
    runs = np.flatnonzero(np.diff(np.concatenate([[False], wrong, [False]]).astype(int))).reshape(-1, 2)
    long = [(first, last) for first, last in runs if last - first >= _RUN]
    return (float(x[long[0][0]]), float(x[long[-1][1]])) if long else None
