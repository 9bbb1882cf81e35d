"""Softmax, log-softmax and their slopes along the last axis; the references are in `kernels.reference.softmax`.

Optimisations: a row stays in the first cache while its largest element is found, the exponentials are taken and scaled;
the largest is found among whole numbers that are ordered as the floats are, by vector instructions; exponentials are
our own polynomials; short rows are taken several at a time; sums are added in whatever order is fastest within pieces,
and pieces in float64.
"""
# pyright: reportIndexIssue=false

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autodiff_lab.kernels.jit.compiling import loop, override, row_major
from autodiff_lab.kernels.jit.vector_maths_below import exponential
from autodiff_lab.kernels.jit.vector_maths_rows import (
    exps_of_rows,
    rows_together,
    sum_of,
    sum_of_products,
    totals_of_rows,
)
from autodiff_lab.kernels.threads import spread

WORTH_A_THREAD = 65_536
"""Elements from which on a thread of its own pays."""


def rows_of(x: Any) -> Any:
    """The array as rows along its last axis."""
    return row_major(x).reshape(-1, x.shape[-1])


def room(x: Any) -> tuple[Any, Any, Any]:
    """Room for the rows that are taken together: their exponentials, tops and totals."""
    count = rows_together(x.shape[1])
    return np.empty((count, x.shape[1]), x.dtype), np.empty(count, x.dtype), np.empty(count)


def over_rows(run: Any, x: Any) -> list[Any]:
    """Spread the rows of a matrix over threads."""
    return spread(run, x.shape[0], max(1, WORTH_A_THREAD // x.shape[1]))


@loop("void({t}[:,::1], {t}[:,::1], {t}[::1], float64[::1], int64, int64)")
def _softmax(x: Any, made: Any, tops: Any, totals: Any, low: int, high: int) -> None:
    for first in range(low, high, tops.size):
        count = min(tops.size, high - first)
        exps_of_rows(x, first, count, made, first, tops, totals)
        for r in range(count):
            row = made[first + r]
            scale = x.dtype.type(1 / totals[r])
            for k in range(row.size):
                row[k] *= scale


@loop("void({t}[:,::1], {t}[:,::1], {t}[:,::1], {t}[::1], float64[::1], int64, int64)")
def _log_softmax(x: Any, made: Any, aside: Any, tops: Any, totals: Any, low: int, high: int) -> None:
    for first in range(low, high, tops.size):
        count = min(tops.size, high - first)
        totals_of_rows(x, first, count, aside, tops, totals)
        for r in range(count):
            row, to = x[first + r], made[first + r]
            total = x.dtype.type(math.log(totals[r]))
            for k in range(row.size):
                to[k] = (row[k] - tops[r]) - total


@loop("void({t}[:,::1], {t}[:,::1], {t}[:,::1], int64, int64)")
def _softmax_slope(g: Any, y: Any, made: Any, low: int, high: int) -> None:
    for i in range(low, high):
        share, row, to = g[i], y[i], made[i]
        mean = y.dtype.type(sum_of_products(share, row))
        for k in range(row.size):
            to[k] = (share[k] - mean) * row[k]


@loop("void({t}[:,::1], {t}[:,::1], {t}[:,::1], int64, int64, int64)")
def _log_softmax_slope(g: Any, y: Any, made: Any, together: int, low: int, high: int) -> None:
    for first in range(low, high, together):
        last = min(first + together, high)
        source, target = y[first:last].reshape(-1), made[first:last].reshape(-1)
        for k in range(source.size):
            target[k] = exponential(source[k])
        for i in range(first, last):
            share, to = g[i], made[i]
            total = y.dtype.type(sum_of(share))
            for k in range(share.size):
                to[k] = share[k] - total * to[k]


def _sample(work: int, dtype: Any) -> Any:
    return [np.ones((work // 64, 64), dtype)], {"axis": -1}


def _sample_of_slope(work: int, dtype: Any) -> Any:
    return [np.ones((work // 64, 64), dtype)] * 2, {"axis": -1}


@override(_softmax, sample=_sample)
def softmax(x: Any, axis: int) -> Any:
    """Softmax along the last axis."""
    if axis != -1 or not x.size or not x.ndim:
        return NotImplemented
    rows = rows_of(x)
    made = np.empty(rows.shape, x.dtype)
    run = _softmax[x.dtype]
    over_rows(lambda low, high: run(rows, made, *room(rows)[1:], low, high), rows)
    return made.reshape(x.shape)


@override(_log_softmax, sample=_sample)
def log_softmax(x: Any, axis: int) -> Any:
    """Log-softmax along the last axis."""
    if axis != -1 or not x.size or not x.ndim:
        return NotImplemented
    rows = rows_of(x)
    made = np.empty(rows.shape, x.dtype)
    run = _log_softmax[x.dtype]
    over_rows(lambda low, high: run(rows, made, *room(rows), low, high), rows)
    return made.reshape(x.shape)


def _slope(loop_of: Any, g: Any, y: Any, axis: int, *how: int) -> Any:
    if axis != -1 or not y.size or not y.ndim or g.shape != y.shape or g.dtype != y.dtype:
        return NotImplemented
    shares, rows = rows_of(g), rows_of(y)
    made = np.empty(rows.shape, y.dtype)
    run = loop_of[y.dtype]
    over_rows(lambda low, high: run(shares, rows, made, *how, low, high), rows)
    return made.reshape(y.shape)


@override(_softmax_slope, sample=_sample_of_slope)
def softmax_slope(g: Any, y: Any, axis: int) -> Any:
    """Slope of softmax along the last axis."""
    return _slope(_softmax_slope, g, y, axis)


@override(_log_softmax_slope, sample=_sample_of_slope)
def log_softmax_slope(g: Any, y: Any, axis: int) -> Any:
    """Slope of log-softmax along the last axis."""
    return _slope(_log_softmax_slope, g, y, axis, rows_together(y.shape[-1] or 1) if y.ndim else 1)
