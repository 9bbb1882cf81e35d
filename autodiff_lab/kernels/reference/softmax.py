"""Softmax and its logarithm along an axis, and what their rules multiply cotangents by.

The axis is negative.  Cotangents may have further axes before those of the result.  Half floats are computed in
float32.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_lab.kernels.halves import as_float32


def softmax(x: Any, axis: int) -> Any:
    """e^x over its sum."""
    if x.itemsize == 2:
        return as_float32(softmax, x, axis=axis)
    if not x.size:
        return x.copy()
    made = np.exp(x - np.maximum.reduce(x, axis=axis, keepdims=True))
    made /= np.add.reduce(made, axis=axis, keepdims=True)
    return made


def log_softmax(x: Any, axis: int) -> Any:
    """X less ln Σ e^x."""
    if x.itemsize == 2:
        return as_float32(log_softmax, x, axis=axis)
    if not x.size:
        return x.copy()
    shifted = x - np.maximum.reduce(x, axis=axis, keepdims=True)
    return shifted - np.log(np.add.reduce(np.exp(shifted), axis=axis, keepdims=True))


def softmax_slope(g: Any, y: Any, axis: int) -> Any:
    """(g - Σ g·y)·y for the result y of a softmax: the derivative is its own transpose."""
    if g.itemsize == 2:
        return as_float32(softmax_slope, g, y, axis=axis)
    made = g - np.add.reduce(g * y, axis=axis, keepdims=True)
    made *= y
    return made


def log_softmax_slope(g: Any, y: Any, axis: int) -> Any:
    """G - e^y·Σ g for the result y of a log-softmax."""
    if g.itemsize == 2:
        return as_float32(log_softmax_slope, g, y, axis=axis)
    return g - np.add.reduce(g, axis=axis, keepdims=True) * np.exp(y)
