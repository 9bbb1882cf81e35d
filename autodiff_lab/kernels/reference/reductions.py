"""Means, extremes and log-sum-exps over axes, which are negative and sorted; sums are in `engine.primitives`."""

from __future__ import annotations

from typing import Any

import numpy as np

Axes = tuple[int, ...]


def mean_over(x: Any, axes: Axes, keepdims: bool) -> Any:
    """Mean in the dtype of x: whole numbers are rounded down, half floats are added up in float32."""
    if x.dtype.kind in "iu":  # a mean fits its dtype; the sum and the number of elements need not
        whole = np.add.reduce(x, axis=axes, keepdims=keepdims, dtype=np.uint64 if x.dtype.kind == "u" else np.int64)
        return (whole // whole.dtype.type(max(count(x, axes), 1))).astype(x.dtype)
    wide = np.float32 if x.dtype.itemsize == 2 and x.dtype.kind in "fV" else x.dtype
    total = np.add.reduce(x, axis=axes, keepdims=keepdims, dtype=wide)
    mean = total / total.dtype.type(count(x, axes))
    return mean if mean.dtype is x.dtype else mean.astype(x.dtype)


def max_over(x: Any, axes: Axes, keepdims: bool) -> Any:
    """Largest element; nan if any is."""
    return np.maximum.reduce(x, axis=axes, keepdims=keepdims)


def min_over(x: Any, axes: Axes, keepdims: bool) -> Any:
    """Least element; nan if any is."""
    return np.minimum.reduce(x, axis=axes, keepdims=keepdims)


def extreme_slope(g: Any, best: Any, x: Any, axes: Axes) -> Any:
    """G where x is the best of its axes, in equal parts where several are, else 0; g and best have length 1 there.

    Cotangents may have further axes before those of x.  Where a nan is the best there are no parts: nan.
    """
    chosen = (x == best).astype(g.dtype)
    chosen /= np.add.reduce(chosen, axis=axes, keepdims=True)
    return g * chosen


def logsumexp_over(x: Any, axes: Axes, keepdims: bool) -> Any:
    """Ln Σ e^x, without overflow; -inf where there is nothing to add up."""
    wide = x.astype(np.float32) if x.dtype.itemsize == 2 and x.dtype.kind in "fV" else x
    top = np.maximum.reduce(wide, axis=axes, keepdims=True, initial=-np.inf)
    top = np.where(np.isfinite(top), top, wide.dtype.type(0))
    total = np.log(np.add.reduce(np.exp(wide - top), axis=axes, keepdims=True)) + top
    return np.reshape(total, shape_over(x, axes, keepdims)).astype(x.dtype)[()]


def count(x: Any, axes: Axes) -> int:
    """How many elements become one."""
    found = 1
    for a in axes:
        found *= x.shape[a]
    return found


def shape_over(x: Any, axes: Axes, keepdims: bool) -> tuple[int, ...]:
    """The shape of what is left."""
    rank = len(x.shape)
    if keepdims:
        return tuple(1 if i - rank in axes else n for i, n in enumerate(x.shape))
    return tuple(n for i, n in enumerate(x.shape) if i - rank not in axes)
