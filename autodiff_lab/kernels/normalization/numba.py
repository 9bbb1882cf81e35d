"""Values normalized to mean 0 and variance 1; the references are in `normalization.reference`.

An array is viewed as (a, n, b, d) and normalized over n and d: rows where b is 1, otherwise columns, of which d
neighbours form a group (`numba_planes`, and `numba_columns` where a plane is large).

Optimizations of rows: a row stays in the first-level cache while its mean, its variance and the sums of its gradient
are computed, so that memory is read once and written once; sums are added in whatever order is fastest within pieces,
and pieces in float64; the contributions of scale and offset are added up row by row in the same pass.
"""
# pyright: reportIndexIssue=false, reportCallIssue=false, reportPossiblyUnboundVariable=false

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from autodiff_lab.kernels.base.deferred import register_jitable, unordered
from autodiff_lab.kernels.base.loops import Loop, loop, override, row_major
from autodiff_lab.kernels.base.threads import spread
from autodiff_lab.kernels.maths.bits import add_up
from autodiff_lab.kernels.maths.rows import sum_of, summed
from autodiff_lab.kernels.normalization import numba_columns as columns
from autodiff_lab.kernels.normalization import numba_planes as whole
from autodiff_lab.kernels.reductions.reference import shape_over

Axes = tuple[int, ...]
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


@loop("void({t}[:,::1], {t}[::1], {t}[::1], int64, int64)", wraparound=False)
def _row_moments(x: Any, means: Any, variances: Any, low: int, high: int) -> None:
    """Write the mean and the variance of each row."""
    for i in range(low, high):
        row = x[i]
        means[i] = sum_of(row) / row.size
        variances[i] = _sum_of_squares(row, means[i]) / row.size


@loop("void({t}[:,::1], {t}[::1], {t}[::1], {t}, {t}[:,::1], int64, int64)", wraparound=False)
def _forward(x: Any, scale: Any, offset: Any, epsilon: Any, made: Any, low: int, high: int) -> None:
    """Write (x - mean) / √(variance + epsilon) · scale + offset, row by row."""
    one, count = x.dtype.type(1), x.shape[1]
    for i in range(low, high):
        row, to = x[i], made[i]
        mean = x.dtype.type(sum_of(row) / count)
        variance = x.dtype.type(_sum_of_squares(row, mean) / count)
        root = x.dtype.type(one / math.sqrt(x.dtype.type(variance + epsilon)))
        for k in unordered(row.size):
            to[k] = (row[k] - mean) * root * scale[k] + offset[k]


def _grads(name: str, scaled: bool) -> Loop:  # noqa: C901 - the loop is inside
    """Make the loop of the gradient of rows; where `scaled`, those of scale and offset are added to rows of totals."""

    def run(
        g: Any, x: Any, scale: Any, epsilon: Any, made: Any, aside: Any, totals: Any, low: int, high: int
    ) -> None:  # fmt: skip
        one, count = x.dtype.type(1), x.shape[1]
        first = low
        while first < high:
            last = min(high, first + _FLUSH) if scaled else high
            if scaled:
                aside[:] = 0
                of_scale, of_offset = aside[0], aside[1]
            for i in range(first, last):
                g_row, row, to = g[i], x[i], made[i]
                mean = x.dtype.type(sum_of(row) / count)
                squares, total, products = _sums_of_grad(g_row, scale, row, mean)
                root = x.dtype.type(one / math.sqrt(x.dtype.type(x.dtype.type(squares / count) + epsilon)))
                level, tilt = x.dtype.type(total / count), x.dtype.type(products / count * root)
                for k in unordered(row.size):
                    to[k] = root * (g_row[k] * scale[k] - level - (row[k] - mean) * root * tilt)
                if scaled:
                    for k in unordered(row.size):
                        of_scale[k] += g_row[k] * ((row[k] - mean) * root)
                    for k in unordered(row.size):
                        of_offset[k] += g_row[k]
            if scaled:
                for k in unordered(count):
                    totals[0, k] += of_scale[k]
                    totals[1, k] += of_offset[k]
            first = last

    run.__name__ = name
    return loop(
        "void({t}[:,::1], {t}[:,::1], {t}[::1], {t}, {t}[:,::1], {t}[:,::1], float64[:,::1], int64, int64)",
        wraparound=False,
    )(run)


_grad, _scaled_grad = _grads("_grad", False), _grads("_scaled_grad", True)


@lru_cache(1024)
def sizes(shape: tuple[int, ...], axes: Axes) -> tuple[int, int, int, int] | None:
    """Return a, n, b and d; None if the axes are not of that form, or the array is empty."""
    if not axes or 0 in shape:
        return None
    rank = len(shape)
    gone = [k - rank in axes for k in range(rank)]
    runs = [k for k in range(rank) if k == 0 or gone[k] != gone[k - 1]]  # where a run of axes begins
    spans = [(gone[k], math.prod(shape[k:end])) for k, end in zip(runs, [*runs[1:], rank], strict=True)]
    if not spans[0][0]:
        a, spans = spans[0][1], spans[1:]
    else:
        a = 1
    lengths = [length for _, length in spans] + [1] * (3 - len(spans))
    return (a, *lengths) if len(lengths) == 3 else None  # type: ignore[return-value]


def planes(x: Any, axes: Axes, *others: Any) -> tuple[Any, int] | None:
    """Return an array (a, n, b·d), and d; one of rows (a, n, 1) for rows; None for what is left to the reference."""
    found = sizes(x.shape, axes)
    if found is None or any(other.shape != x.shape or other.dtype != x.dtype for other in others):
        return None
    a, n, b, d = found
    return row_major(x).reshape(a, n, b * d), d


def _over_rows(run: Any, x: Any) -> list[Any]:
    return spread(run, len(x), max(1, columns.WORTH_A_THREAD // x.shape[1]))


def _normalized(plane: Any, d: int, scale: Any, offset: Any, epsilon: float) -> Any:
    a, n, w = plane.shape
    if w > 1:
        over = whole.forward_of if whole.fits(n, w) else columns.forward_over
        return over(plane, scale, offset, epsilon, d)
    x, run, small = plane.reshape(a, n), _forward[plane.dtype], plane.dtype.type(epsilon)
    made = np.empty(x.shape, x.dtype)
    _over_rows(lambda low, high: run(x, scale, offset, small, made, low, high), x)
    return made


def _gradients(g: Any, plane: Any, d: int, scale: Any, epsilon: float, scaled: bool) -> tuple[Any, ...]:
    """Return the gradient with respect to x, and where `scaled`, those with respect to scale and offset."""
    a, n, w = plane.shape
    g = row_major(g).reshape(plane.shape)
    if w > 1:
        over = whole.grad_of if whole.fits(n, w) else columns.grad_over
        return over(g, plane, scale, epsilon, d)
    g, x, small = g.reshape(a, n), plane.reshape(a, n), plane.dtype.type(epsilon)
    made, run = np.empty(x.shape, x.dtype), (_scaled_grad if scaled else _grad)[x.dtype]

    def part(low: int, high: int) -> Any:
        totals = np.zeros((2, n if scaled else 0))
        run(g, x, scale, small, made, np.empty(totals.shape, x.dtype), totals, low, high)
        return totals

    parts = _over_rows(part, x)
    total = parts[0] if len(parts) == 1 else np.add.reduce(parts)
    return made, *total.astype(x.dtype)


_ROWS: dict[str, Any] = {"axes": (-1,), "epsilon": 1e-3}


@override(_row_moments, *columns.OF_MOMENTS, *whole.OF_MOMENTS)
def moments(x: Any, axes: Axes) -> Any:
    """Mean and variance of rows, columns, or groups of columns."""
    seen = planes(x, axes)
    if seen is None:
        return NotImplemented
    plane, d = seen
    a, n, w = plane.shape
    if w > 1:
        means, variances = (whole.moments_of if whole.fits(n, w) else columns.moments_over)(plane, d)
    else:
        rows, run = plane.reshape(a, n), _row_moments[x.dtype]
        means, variances = np.empty(a, x.dtype), np.empty(a, x.dtype)
        _over_rows(lambda low, high: run(rows, means, variances, low, high), rows)
    shape = shape_over(x, axes, True)
    return means.reshape(shape), variances.reshape(shape)


@override(_forward, *columns.OF_FORWARD, *whole.OF_FORWARD)
def plain_normalize(x: Any, axes: Axes, epsilon: float) -> Any:
    """Normalize rows, columns, or groups of columns."""
    seen = planes(x, axes)
    if seen is None:
        return NotImplemented
    _, n, w = seen[0].shape
    width = n if w == 1 else w
    return _normalized(*seen, np.ones(width, x.dtype), np.zeros(width, x.dtype), epsilon).reshape(x.shape)


@override(_grad, *columns.OF_GRAD, *whole.OF_GRAD)
def plain_normalize_grad(g: Any, x: Any, axes: Axes, epsilon: float) -> Any:
    """Gradient of rows, columns, or groups of columns."""
    seen = planes(x, axes, g)
    if seen is None:
        return NotImplemented
    _, n, w = seen[0].shape
    return _gradients(g, *seen, np.ones(n if w == 1 else w, x.dtype), epsilon, scaled=False)[0].reshape(x.shape)


@lru_cache(1024)
def _lies_along(shape: tuple[int, ...], of_scale: tuple[int, ...], axes: Axes) -> bool:
    """Return whether a scale has one number for each element of a row, or for each column, of arrays with sizes."""
    _, n, b, d = sizes(shape, axes)  # type: ignore[misc]
    w, rank = b * d, len(of_scale)
    there = {k for k in range(-rank, 0) if of_scale[k] != 1}
    kept = {k for k in range(-len(shape), 0) if shape[k] != 1}
    if rank > len(shape) or math.prod(of_scale) != (n if w == 1 else w):
        return False
    return there == (kept & set(axes) if w == 1 else {k for k in kept if math.prod(shape[k:]) <= w})


def _scales(plane: Any, d: int, scale: Any, x: Any, axes: Axes) -> bool:
    """Return whether a scale has one number for each element of a row, or for each column, as loops need it."""
    a, n, w = plane.shape
    if scale.dtype != x.dtype or not _lies_along(x.shape, scale.shape, axes):
        return False
    return w == 1 or whole.fits(n, w) or a == d == 1


@override(_forward, *columns.OF_FORWARD, *whole.OF_FORWARD)
def normalize(x: Any, scale: Any, offset: Any, axes: Axes, epsilon: float) -> Any:
    """Normalize rows or columns, with a scale and an offset."""
    seen = planes(x, axes)
    if seen is None or scale.shape != offset.shape or offset.dtype != x.dtype or not _scales(*seen, scale, x, axes):
        return NotImplemented
    return _normalized(*seen, row_major(scale).reshape(-1), row_major(offset).reshape(-1), epsilon).reshape(x.shape)


@override(_scaled_grad, *columns.OF_GRAD, *whole.OF_GRAD)
def normalize_grad(g: Any, x: Any, scale: Any, axes: Axes, epsilon: float) -> Any:
    """Gradients of rows or columns, of the scale and of the offset."""
    seen = planes(x, axes, g)
    if seen is None or not _scales(*seen, scale, x, axes):
        return NotImplemented
    of_x, *rest = _gradients(g, *seen, row_major(scale).reshape(-1), epsilon, scaled=True)
    return of_x.reshape(x.shape), *(total.reshape(scale.shape) for total in rest)
