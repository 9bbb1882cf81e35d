"""Right and wrong ways to fit a gradient to a shape: what the checks of lesson 9 run beside a learner's function.

A wrong way may raise an error for some shapes, as the code of a learner who has the same idea does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Shape = tuple[int, ...]
Axes = tuple[int, ...] | None
Way = Callable[..., Any]


def _leading(g: np.ndarray, shape: Shape) -> tuple[int, ...]:
    return tuple(range(g.ndim - len(shape)))


def _ones(shape: Shape) -> tuple[int, ...]:
    return tuple(axis for axis, length in enumerate(shape) if length == 1)


def _stretched(g: np.ndarray, shape: Shape) -> tuple[int, ...]:
    """Return the axes of g along which the input was repeated."""
    lacking = g.ndim - len(shape)
    return tuple(axis for axis in range(g.ndim) if axis < lacking or shape[axis - lacking] != g.shape[axis])


def summed(g: np.ndarray, shape: Shape) -> np.ndarray:
    """Return g summed to the shape of an input that was broadcast.

    Examples
    --------
    >>> summed(np.ones((3, 4)), (3, 1)).tolist()
    [[4.0], [4.0], [4.0]]
    """
    return g.sum(axis=_leading(g, shape)).sum(axis=_ones(shape), keepdims=True)


def _mean(g: np.ndarray, shape: Shape) -> np.ndarray:
    return g.mean(axis=_leading(g, shape)).mean(axis=_ones(shape), keepdims=True)


def _taken(g: np.ndarray, shape: Shape, at: int) -> np.ndarray:
    for axis in _stretched(g, shape):
        g = g.take([at], axis=axis)
    return g.reshape(shape)


def _one_axis(g: np.ndarray, shape: Shape) -> np.ndarray:
    if g.ndim > len(shape):
        return g.sum(axis=0)
    axes = _stretched(g, shape)
    return g.sum(axis=axes[0], keepdims=True) if axes else g


def _ones_if_as_long(g: np.ndarray, shape: Shape) -> np.ndarray:
    return g.sum(axis=_ones(shape), keepdims=True) if g.ndim == len(shape) else g


def _left(g: np.ndarray, shape: Shape) -> np.ndarray:
    return g.sum(axis=tuple(range(len(shape), g.ndim)))


def _or_all(g: np.ndarray, shape: Shape) -> np.ndarray:
    return g.reshape(shape) if g.size == np.prod(shape) else np.full(shape, g.sum())


SUMS: tuple[tuple[str, Way], ...] = (
    ("BROADCAST_KEPT", lambda g, shape: g),
    ("KEEPDIMS_LOST", lambda g, shape: g.sum(axis=_leading(g, shape)).sum(axis=_ones(shape))),
    ("KEEPDIMS_LOST", lambda g, shape: g.sum(axis=_stretched(g, shape))),
    ("MEAN_FOR_SUM", _mean),
    ("FIRST_TAKEN", lambda g, shape: _taken(g, shape, 0)),
    ("FIRST_TAKEN", lambda g, shape: _taken(g, shape, -1)),
    ("LEFT_ALIGNED", lambda g, shape: _left(g, shape).reshape(shape)),
    ("LEFT_ALIGNED", lambda g, shape: _left(g, shape).sum(axis=_ones(shape), keepdims=True)),
    ("RESHAPED", lambda g, shape: g.reshape(shape)),
    ("RESHAPED", np.resize),
    ("RESHAPED", lambda g, shape: np.full(shape, g.sum())),
    ("RESHAPED", _or_all),
    ("LEADING_ONLY", lambda g, shape: g.sum(axis=_leading(g, shape))),
    ("ONE_AXIS", _one_axis),
    ("ONES_ONLY", _ones_if_as_long),
    ("ONES_ONLY", lambda g, shape: g.sum(axis=_ones(shape), keepdims=True)),
    ("OUTPUT_SHAPE", lambda g, shape: np.broadcast_to(summed(g, shape), g.shape)),
    ("SUMMED", lambda g, shape: summed(np.ones_like(g), shape)),
    ("SUMMED", lambda g, shape: np.ones(shape)),
)
"""Ways to sum g to a shape, by the code of the idea."""


def _kept(g: np.ndarray, shape: Shape, axes: Axes) -> np.ndarray:
    """Return the gradient of a sum with the summed axes back in place, of length 1."""
    gone = range(len(shape)) if axes is None else [axis % len(shape) for axis in axes]
    return g.reshape([1 if axis in gone else length for axis, length in enumerate(shape)])


def spread(g: np.ndarray, shape: Shape, axes: Axes, keepdims: bool) -> np.ndarray:
    """Return the gradient of a sum, repeated over the axes that were summed.

    Examples
    --------
    >>> spread(np.array([1.0, 2.0]), (2, 3), (1,), False).tolist()
    [[1.0, 1.0, 1.0], [2.0, 2.0, 2.0]]
    """
    return np.broadcast_to(_kept(g, shape, axes), shape)


def _number_summed(shape: Shape, axes: Axes) -> int:
    return int(np.prod(shape if axes is None else [shape[axis] for axis in axes]))


def _counted(g: np.ndarray, shape: Shape, axes: Axes) -> np.ndarray:
    """Put axes back only where their numbers are counted from the front."""
    gone = range(len(shape)) if axes is None else axes
    return np.broadcast_to(g.reshape([1 if axis in gone else length for axis, length in enumerate(shape)]), shape)


def _in_turn(g: np.ndarray, shape: Shape, axes: Axes, keepdims: bool) -> np.ndarray:
    """Put axes back one after the other: a negative one counts from the end of an array that still grows."""
    if not keepdims and axes is not None:
        for axis in axes:
            g = np.expand_dims(g, axis)
    return np.broadcast_to(g, shape)


SPREADS: tuple[tuple[str, Way], ...] = (
    ("OUTPUT_SHAPE", lambda g, shape, axes, keepdims: g),
    ("KEEPDIMS_LOST", lambda g, shape, axes, keepdims: np.broadcast_to(g, shape)),
    ("NEGATIVE_AXES", lambda g, shape, axes, keepdims: _counted(g, shape, axes)),
    ("NEGATIVE_AXES", lambda g, shape, axes, keepdims: np.broadcast_to(g, shape) if keepdims
        else _counted(g, shape, axes)),
    ("NEGATIVE_AXES", _in_turn),
    ("MEAN_FOR_SUM", lambda g, shape, axes, keepdims: spread(g, shape, axes, keepdims) / _number_summed(shape, axes)),
    ("LEFT_ALIGNED", lambda g, shape, axes, keepdims: np.broadcast_to(
        g.reshape(g.shape + (1,) * (len(shape) - g.ndim)), shape)),
    ("RESHAPED", lambda g, shape, axes, keepdims: np.resize(g, shape)),
    ("RESHAPED", lambda g, shape, axes, keepdims: np.full(shape, g.sum())),
    ("SUMMED", lambda g, shape, axes, keepdims: np.ones(shape)),
)  # fmt: skip
"""Ways to spread the gradient of a sum, by the code of the idea."""

SCALES: tuple[tuple[str, Way], ...] = (
    ("BROADCAST_KEPT", lambda g, s, M: g * M),
    ("MEAN_FOR_SUM", lambda g, s, M: (g * M).mean()),
    ("FIRST_TAKEN", lambda g, s, M: (g * M)[0, 0]),
    ("FIRST_TAKEN", lambda g, s, M: (g * M)[-1, -1]),
    ("LOCAL_ONLY", lambda g, s, M: M.sum()),
    ("LOCAL_ONLY", lambda g, s, M: M),
    ("OWN_VALUE", lambda g, s, M: (g * s).sum()),
    ("OWN_VALUE", lambda g, s, M: g * s),
    ("ONE_AXIS", lambda g, s, M: (g * M).sum(axis=0)),
    ("ONE_AXIS", lambda g, s, M: (g * M).sum(axis=1)),
)
"""Ways to get the gradient with respect to the number s in s·M, by the code of the idea."""


def _error(w: np.ndarray, b: np.ndarray, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    return (X @ w + b)[:, 0] - y


def _pairs(w: np.ndarray, b: np.ndarray, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    return (X @ w + b - y) ** 2


LOSSES: tuple[tuple[str, Way], ...] = (
    ("RIGHT", lambda w, b, X, y: (_error(w, b, X, y) ** 2).mean()),
    ("ALL_PAIRS", lambda w, b, X, y: _pairs(w, b, X, y).mean()),
    ("ALL_PAIRS", lambda w, b, X, y: _pairs(w, b, X, y).sum()),
    ("ALL_PAIRS", lambda w, b, X, y: _pairs(w, b, X, y).sum() / len(y)),
    ("SUM_FOR_MEAN", lambda w, b, X, y: (_error(w, b, X, y) ** 2).sum()),
    ("FIRST_TAKEN", lambda w, b, X, y: _pairs(w, b, X, y)[0].mean()),
    ("FIRST_TAKEN", lambda w, b, X, y: _pairs(w, b, X, y)[:, 0].mean()),
)
"""Losses of a regression, by the code of the idea; the first is right."""


def slopes_of(loss: Way, w: np.ndarray, b: np.ndarray, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the three slopes of a loss, by central differences: for squares they are exact up to rounding.

    Examples
    --------
    >>> X, y = np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([1.0, 3.0])
    >>> slopes_of(LOSSES[0][1], np.zeros((2, 1)), np.zeros(()), X, y).round(6).tolist()
    [-1.0, -3.0, -4.0]
    """
    found = []
    for at in range(3):
        step = np.zeros(3)
        step[at] = 0.5
        right, left = (loss(w + sign * step[:2, None], b + sign * step[2], X, y) for sign in (1, -1))
        found.append(float(right) - float(left))
    return np.array(found)
