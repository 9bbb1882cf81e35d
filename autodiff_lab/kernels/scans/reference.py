"""Cumulative sums, products, log-sum-exps and first-order recurrences along a negative axis."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autodiff_lab.kernels.arrays import empty, full, on_gpu, ranked
from autodiff_lab.kernels.base.halves import as_float32, in_float32, is_half, widened


@in_float32
def recurrence(b: Any, a: Any, axis: int, reverse: bool) -> Any:
    """Return h, where each h is b + a times the previous h; leading axes that only b has are a stack."""
    b, a = np.moveaxis(b, axis, 0), np.moveaxis(a, axis, 0)
    made = empty(b.shape, b)
    last: Any = None
    for i in reversed(range(len(b))) if reverse else range(len(b)):
        last = made[i] = b[i] if last is None else b[i] + a[i] * last
    return np.moveaxis(made, 0, axis)


def cumsum(x: Any, axis: int, exclusive: bool, reverse: bool) -> Any:
    """Return the sums of all elements up to each."""
    if x.itemsize == 2 and is_half(x.dtype):
        return as_float32(cumsum, x, axis=axis, exclusive=exclusive, reverse=reverse)
    if x.ndim == 1 and not exclusive and x.__class__ is np.ndarray:  # as below, without NumPy's own Python
        return x[::-1].cumsum(0, x.dtype)[::-1] if reverse else x.cumsum(0, x.dtype)
    return _scanned(np.cumsum, 0, x, axis, exclusive, reverse)


def cumprod(x: Any, axis: int, exclusive: bool, reverse: bool) -> Any:
    """Return the products of all elements up to each."""
    if x.itemsize == 2 and is_half(x.dtype):
        return as_float32(cumprod, x, axis=axis, exclusive=exclusive, reverse=reverse)
    return _scanned(np.cumprod, 1, x, axis, exclusive, reverse)


def _scanned(function: Callable[..., Any], neutral: int, x: Any, axis: int, exclusive: bool, reverse: bool) -> Any:
    x = ranked(x)
    line = np.flip(x, axis) if reverse else x
    made = function(line, axis=axis, dtype=x.dtype)
    if exclusive:
        start, rest = [slice(None)] * x.ndim, [slice(None)] * x.ndim
        start[axis], rest[axis] = slice(0, -1), slice(1, None)
        shifted = full(x.shape, neutral, x)
        shifted[tuple(rest)] = made[tuple(start)]
        made = shifted
    return np.flip(made, axis) if reverse else made


def cumulative_logsumexp(x: Any, axis: int, reverse: bool) -> Any:
    """Return ln Σ e^x of all elements up to each; half floats are added up in float32."""
    dtype, line = x.dtype, widened(ranked(x))
    made = np.logaddexp.accumulate(np.flip(line, axis) if reverse else line, axis=axis)
    return (np.flip(made, axis) if reverse else made).astype(dtype)


def cumulative_max(x: Any, axis: int, reverse: bool) -> Any:
    """Return the largest element up to each, clipped to the range of finite numbers; nan from the first nan on."""
    limit = np.nextafter(x.dtype.type(np.inf), x.dtype.type(0))
    made = np.minimum(np.maximum(ranked(x), -limit), limit)
    made = np.flip(made, axis) if reverse else made
    if on_gpu(x):
        made = _top_by_doubling(made, axis)
    else:
        made = np.maximum.accumulate(made, axis=axis)
    return np.flip(made, axis) if reverse else made


def _top_by_doubling(x: Any, axis: int) -> Any:
    """Return the largest element up to each by looking twice as far back each time, as CuPy has no such function."""
    line, step = np.moveaxis(x, axis, 0), 1
    while step < len(line):
        line = np.concatenate([line[:step], np.maximum(line[step:], line[:-step])])
        step *= 2
    return np.moveaxis(line, 0, axis)
