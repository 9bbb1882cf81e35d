"""Rows normalized to mean 0 and variance 1, and the gradients: a group of threads for each row.

Two passes over a row in registers, the mean first, then squares about it, so that nothing cancels.  Rows of up to 4,096
elements stay in registers; what is longer is read again for each pass, from the caches as long as the rows that are
under way fit there.  Traffic for each float32: 4 bytes read and 4 written, 8 and 4 for gradients; memory limits.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_lab.kernels.cuda.array import DeviceArray
from autodiff_lab.kernels.cuda.groups import KEPT, MOST_STEP, WARP, group_sum, place, row_kernel
from autodiff_lab.kernels.cuda.launching import MOST, cuda, empty, math

Scaling = tuple[DeviceArray, DeviceArray]


@cuda.jit(device=True)
def _mean_and_squares(x: Any, held: Any, parts: Any, first: Any, count: Any, length: Any, bits: Any) -> Any:
    """Return the mean of a row and the sum of the squared distances from it; keep what a thread can of the row."""
    step, zero = (1 << bits) & MOST_STEP, x.dtype.type(0)
    total = zero
    for k in range(KEPT):
        held[k] = x[(first + k * step) & MOST] if k < count else zero
        total += held[k]
    for k in range(KEPT, count):
        total += x[(first + k * step) & MOST]
    mean = group_sum(total, parts, bits) / x.dtype.type(length)
    total = zero
    for k in range(KEPT):
        away = held[k] - mean if k < count else zero
        total += away * away
    for k in range(KEPT, count):
        away = x[(first + k * step) & MOST] - mean
        total += away * away
    return mean, group_sum(total, parts, bits)


@row_kernel(("moments",), "T[::1], T[::1], T[::1]")
def moments_rows(x: Any, means: Any, variances: Any, rows: Any, length: Any, bits: Any, _: Any) -> None:
    """Take the mean and the variance of each row."""
    parts, held = cuda.shared.array(WARP, x.dtype), cuda.local.array(KEPT, x.dtype)
    row, first, count = place(rows, length, bits)
    mean, squares = _mean_and_squares(x, held, parts, first, count, length, bits)
    if row < rows and cuda.threadIdx.x & ((1 << bits) - 1) == 0:
        means[row] = mean
        variances[row] = squares / x.dtype.type(length)


@row_kernel(("plain_normalize", "normalize"), "T[::1], T[::1], T[::1], T[::1], T, boolean")
def normalize_rows(
    x: Any, scale: Any, offset: Any, made: Any, epsilon: Any, scaled: Any, rows: Any, length: Any, bits: Any, again: Any
) -> None:
    """Make rows (x - mean) / √(variance + epsilon), times the scale and plus the offset where they are scaled."""
    parts, held = cuda.shared.array(WARP, x.dtype), cuda.local.array(KEPT, x.dtype)
    row, first, count = place(rows, length, bits)
    mean, squares = _mean_and_squares(x, held, parts, first, count, length, bits)
    root = x.dtype.type(1) / math.sqrt(squares / x.dtype.type(length) + epsilon)
    step, own = (1 << again) & MOST_STEP, first - row * length
    for base in range(0, count, KEPT):
        for k in range(KEPT):
            if base + k < count:
                i = (base + k) * step
                value = ((held[k] if base == 0 else x[(first + i) & MOST]) - mean) * root
                if scaled:
                    value = value * scale[(own + i) & MOST] + offset[(own + i) & MOST]
                made[(first + i) & MOST] = value


@cuda.jit(device=True)
def _given(g: Any, scale: Any, scaled: Any, at: Any, own: Any) -> Any:
    """Return a cotangent, times the scale of its place in the row where there is one."""
    return g[at & MOST] * scale[own & MOST] if scaled else g[at & MOST]


@row_kernel(("plain_normalize_grad", "normalize_grad"), "T[::1], T[::1], T[::1], T[::1], T[::1], T, boolean")
def normalize_rows_grad(
    g: Any, x: Any, scale: Any, made: Any, facts: Any, epsilon: Any, scaled: Any, rows: Any, length: Any, bits: Any,
    again: Any,
) -> None:  # fmt: skip
    """Make the contribution of x to a cotangent of `normalize_rows`; where scaled, facts get means, and then roots."""
    parts, held = cuda.shared.array(WARP, x.dtype), cuda.local.array(KEPT, x.dtype)
    given = cuda.local.array(KEPT, x.dtype)
    row, first, count = place(rows, length, bits)
    zero, size, own = x.dtype.type(0), x.dtype.type(length), first - row * length
    mean, squares = _mean_and_squares(x, held, parts, first, count, length, bits)
    root = x.dtype.type(1) / math.sqrt(squares / size + epsilon)
    step, total, products = (1 << again) & MOST_STEP, zero, zero
    for k in range(KEPT):
        given[k] = _given(g, scale, scaled, first + k * step, own + k * step) if k < count else zero
        total += given[k]
        products += given[k] * (held[k] - mean) if k < count else zero
    for k in range(KEPT, count):
        i = k * step
        more = _given(g, scale, scaled, first + i, own + i)
        total += more
        products += more * (x[(first + i) & MOST] - mean)
    level = group_sum(total, parts, bits) / size
    tilt = group_sum(products, parts, bits) / size * root
    if scaled and row < rows and cuda.threadIdx.x & ((1 << bits) - 1) == 0:
        facts[row] = mean
        facts[rows + row] = root
    for k in range(KEPT):
        if k < count:
            made[(first + k * step) & MOST] = root * (given[k] - level - (held[k] - mean) * root * tilt)
    for k in range(KEPT, count):
        i = k * step
        more = _given(g, scale, scaled, first + i, own + i) - level
        made[(first + i) & MOST] = root * (more - (x[(first + i) & MOST] - mean) * root * tilt)


def moments_of_rows(x: DeviceArray, rows: int, length: int) -> tuple[DeviceArray, DeviceArray]:
    """Return means and variances of rows of a flat array."""
    means, variances = empty(x, (rows,)), empty(x, (rows,))
    moments_rows.launch(rows, length, x, means, variances)
    return means, variances


def rows_normalized(x: DeviceArray, scaling: Scaling | None, epsilon: float, rows: int, length: int) -> DeviceArray:
    """Return rows of a flat array normalized, then scaled if a scale and an offset are given."""
    made, scaled = empty(x, x.shape), np.bool_(scaling is not None)
    normalize_rows.launch(rows, length, x, *(scaling or (x, x)), made, x.dtype.type(epsilon), scaled)
    return made


def grad_of_rows(
    g: DeviceArray, x: DeviceArray, scale: DeviceArray | None, epsilon: float, rows: int, length: int
) -> tuple[DeviceArray, DeviceArray]:
    """Return the contribution of the rows of x, and where there is a scale, means and roots of the rows."""
    made = empty(x, x.shape)
    facts = made if scale is None else empty(x, (2 * rows,))
    arrays = g, x, x if scale is None else scale, made, facts
    normalize_rows_grad.launch(rows, length, *arrays, x.dtype.type(epsilon), np.bool_(scale is not None))
    return made, facts
