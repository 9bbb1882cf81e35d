"""Rows normalized to mean 0 and variance 1, and their gradients; references are in `kernels.normalization.reference`.

Optimizations: a row stays in the first-level cache while its mean, its variance and the sums of its gradient are
computed, so that memory is read once and written once; sums are added in whatever order is fastest within pieces, and
pieces in float64; the contributions of scale and offset are added up row by row in the same pass.
"""
# pyright: reportIndexIssue=false, reportCallIssue=false

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba.extending import register_jitable

from autodiff_lab.kernels.base.loops import loop
from autodiff_lab.kernels.base.threads import spread
from autodiff_lab.kernels.maths.bits import add_up
from autodiff_lab.kernels.maths.rows import sum_of, summed

WORTH_A_THREAD = 65_536
"""Elements from which on a thread of its own pays."""
_PIECE = 4096
_FLUSH = 64  # rows whose contributions are added up in their own precision


_sum_of_squares = summed(lambda k, row, mean: (row[k] - mean) * (row[k] - mean))  # of the distances from the mean


@register_jitable(forceinline=True)
def _sums_of_grad(g_row: Any, scale: Any, row: Any, mean: Any) -> Any:
    """Of squared distances from the mean, of scaled cotangents, and of their products with the distances."""
    squares, total, products, start = 0.0, 0.0, 0.0, 0
    while start < row.size:
        stop = min(row.size, start + _PIECE)
        a, b, c = row.dtype.type(0), row.dtype.type(0), row.dtype.type(0)
        for k in range(start, stop):
            away = row[np.uint64(k)] - mean
            scaled = g_row[np.uint64(k)] * scale[np.uint64(k)]
            a = add_up(a, away * away)
            b = add_up(b, scaled)
            c = add_up(c, scaled * away)
        squares, total, products = squares + a, total + b, products + c
        start = stop
    return squares, total, products


@loop("void({t}[:,::1], {t}[::1], {t}[::1], int64, int64)")
def moments(x: Any, means: Any, variances: Any, low: int, high: int) -> None:
    """Write the mean and the variance of each row."""
    for i in range(low, high):
        row = x[i]
        means[i] = sum_of(row) / row.size
        variances[i] = _sum_of_squares(row, means[i]) / row.size


@loop("void({t}[:,::1], {t}[::1], {t}[::1], {t}, {t}[:,::1], int64, int64)")
def forward(x: Any, scale: Any, offset: Any, epsilon: Any, made: Any, low: int, high: int) -> None:
    """Write (x - mean) / √(variance + epsilon) · scale + offset, row by row."""
    one, count = x.dtype.type(1), x.shape[1]
    for i in range(low, high):
        row, to = x[i], made[i]
        mean = x.dtype.type(sum_of(row) / count)
        variance = x.dtype.type(_sum_of_squares(row, mean) / count)
        root = x.dtype.type(one / math.sqrt(x.dtype.type(variance + epsilon)))
        for k in range(row.size):
            to[k] = (row[k] - mean) * root * scale[k] + offset[k]


@loop("void({t}[:,::1], {t}[:,::1], {t}[::1], {t}, {t}[:,::1], int64, int64)")
def grad(g: Any, x: Any, scale: Any, epsilon: Any, made: Any, low: int, high: int) -> None:
    """Write the contribution of x in a cotangent, row by row."""
    one, count = x.dtype.type(1), x.shape[1]
    for i in range(low, high):
        g_row, row, to = g[i], x[i], made[i]
        mean = x.dtype.type(sum_of(row) / count)
        squares, total, products = _sums_of_grad(g_row, scale, row, mean)
        root = x.dtype.type(one / math.sqrt(x.dtype.type(x.dtype.type(squares / count) + epsilon)))
        level, tilt = x.dtype.type(total / count), x.dtype.type(products / count * root)
        for k in range(row.size):
            to[k] = root * (g_row[k] * scale[k] - level - (row[k] - mean) * root * tilt)


@loop("void({t}[:,::1], {t}[:,::1], {t}[::1], {t}, {t}[:,::1], {t}[:,::1], float64[:,::1], int64, int64)")
def scaled_grad(
    g: Any, x: Any, scale: Any, epsilon: Any, made: Any, aside: Any, totals: Any, low: int, high: int
) -> None:  # fmt: skip
    """Write what `gradient` does, and add the contributions of scale and offset up in two rows of totals."""
    one, count = x.dtype.type(1), x.shape[1]
    first = low
    while first < high:
        last = min(high, first + _FLUSH)
        aside[:] = 0
        of_scale, of_offset = aside[0], aside[1]
        for i in range(first, last):
            g_row, row, to = g[i], x[i], made[i]
            mean = x.dtype.type(sum_of(row) / count)
            squares, total, products = _sums_of_grad(g_row, scale, row, mean)
            root = x.dtype.type(one / math.sqrt(x.dtype.type(x.dtype.type(squares / count) + epsilon)))
            level, tilt = x.dtype.type(total / count), x.dtype.type(products / count * root)
            for k in range(row.size):
                to[k] = root * (g_row[k] * scale[k] - level - (row[k] - mean) * root * tilt)
            for k in range(row.size):
                of_scale[k] += g_row[k] * ((row[k] - mean) * root)
            for k in range(row.size):
                of_offset[k] += g_row[k]
        for k in range(count):
            totals[0, k] += of_scale[k]
            totals[1, k] += of_offset[k]
        first = last


def _least(x: Any) -> int:
    return max(1, WORTH_A_THREAD // x.shape[1])


def moments_over(x: Any) -> tuple[Any, Any]:
    """`moments` of all rows of x (a, n): (a) each."""
    means, variances, run = np.empty(len(x), x.dtype), np.empty(len(x), x.dtype), moments[x.dtype]
    spread(lambda low, high: run(x, means, variances, low, high), len(x), _least(x))
    return means, variances


def forward_over(x: Any, scale: Any, offset: Any, epsilon: float) -> Any:
    """`forward` for all rows of x (a, n); scale and offset (n)."""
    made, run, small = np.empty(x.shape, x.dtype), forward[x.dtype], x.dtype.type(epsilon)
    spread(lambda low, high: run(x, scale, offset, small, made, low, high), len(x), _least(x))
    return made


def grad_over(g: Any, x: Any, scale: Any, epsilon: float) -> Any:
    """`gradient` for all rows."""
    made, run, small = np.empty(x.shape, x.dtype), grad[x.dtype], x.dtype.type(epsilon)
    spread(lambda low, high: run(g, x, scale, small, made, low, high), len(x), _least(x))
    return made


def scaled_grad_over(g: Any, x: Any, scale: Any, epsilon: float) -> tuple[Any, Any, Any]:
    """Gradients for all rows: those of x (a, n), scale (n) and offset (n)."""
    made, run, small = np.empty(x.shape, x.dtype), scaled_grad[x.dtype], x.dtype.type(epsilon)

    def part(low: int, high: int) -> Any:
        totals = np.zeros((2, x.shape[1]))
        run(g, x, scale, small, made, np.empty((2, x.shape[1]), x.dtype), totals, low, high)
        return totals

    parts = spread(part, len(x), _least(x))
    total = parts[0] if len(parts) == 1 else np.add.reduce(parts)
    return made, *total.astype(x.dtype)
