"""Sums, means, extremes and log-sum-exps over neighbouring axes; the references are in `kernels.reductions.reference`.

An array is seen as (a, n, b), and n goes: rows where b is 1, columns elsewhere.

Optimisations: sums of rows are added in whatever order is fastest within pieces of 4,096, and pieces in float64, which
also errs less; extremes are found among integers that are ordered as the floats are, nan beyond them; short
columns are taken many rows at a time, so that vectors are full; columns stay in the first cache while rows pass by.
"""
# pyright: reportIndexIssue=false, reportCallIssue=false

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from autodiff_lab.kernels.base.loops import Loop, loop, override, row_major
from autodiff_lab.kernels.base.threads import spread
from autodiff_lab.kernels.maths.bits import put
from autodiff_lab.kernels.maths.rows import (
    exps_of_columns,
    exps_of_rows,
    largest_or_nan,
    least_or_nan,
    sum_of,
    take_logs,
    top_of_columns,
    totals_of_rows,
)
from autodiff_lab.kernels.maths.single import larger, smaller
from autodiff_lab.kernels.softmax.numba import column_softmax, room, sums

Axes = tuple[int, ...]
_PIECE = 4096  # elements of a row that a thread is given at once where there is only one row
_WIDE = 64  # columns that fill vectors
_WORTH_A_THREAD = 200_000
_SHORT = 16
_AMPLE = 1024  # elements of a row whose extreme NumPy finds as quickly


@loop("void({t}[:,::1], float64[::1], int64, int64)", wraparound=False)
def _row_sums(x: Any, made: Any, low: int, high: int) -> None:
    length = x.shape[1]
    if length < _SHORT:
        for i in range(low, high):
            total = x.dtype.type(0)
            for k in range(length):
                total += x[i, k]
            made[i] = total
        return
    for i in range(low, high):
        made[i] = sum_of(x[i])


@loop("void({t}[:,::1], {t}[::1], int64, int64)", wraparound=False)
def _row_maxima(x: Any, made: Any, low: int, high: int) -> None:
    for i in range(low, high):
        made[i] = largest_or_nan(x[i])


@loop("void({t}[:,::1], {t}[::1], int64, int64)", wraparound=False)
def _row_minima(x: Any, made: Any, low: int, high: int) -> None:
    for i in range(low, high):
        made[i] = least_or_nan(x[i])


@loop("void({t}[:,::1], int64, {t}[::1], float64[:,::1], int64, int64)", wraparound=False)
def _column_sums(x: Any, width: int, aside: Any, made: Any, low: int, high: int) -> None:
    """Add rows (n·width) of planes up into (width); `aside` has room for several rows."""
    across = aside.size
    groups, folds = x.shape[1] // across, across // width
    for a in range(low, high):
        total, first = made[a], 0
        total[:] = 0
        while first < groups:
            last = min(groups, first + _PIECE)
            aside[:] = 0
            for group in range(first, last):
                part = x[a, group * across : (group + 1) * across]
                for k in range(part.size):
                    aside[k] += part[k]
            for fold in range(folds):
                for k in range(width):
                    total[k] += aside[fold * width + k]
            first = last
        rest = x[a, groups * across :]
        for fold in range(rest.size // width):
            for k in range(width):
                total[k] += rest[fold * width + k]


def _column_extremes(better: Callable[[Any, Any], Any]) -> Loop:
    def run(x: Any, width: int, aside: Any, made: Any, low: int, high: int) -> None:
        across = aside.size
        groups, folds = x.shape[1] // across, across // width
        for a in range(low, high):
            total, plane = made[a], x[a]
            put(total, plane[:width])
            if groups:
                put(aside, plane[:across])
                for group in range(1, groups):
                    part = plane[group * across : (group + 1) * across]
                    for k in range(part.size):
                        aside[k] = better(aside[k], part[k])
                for fold in range(folds):
                    for k in range(width):
                        total[k] = better(total[k], aside[fold * width + k])
            rest = plane[groups * across :]
            for fold in range(rest.size // width):
                for k in range(width):
                    total[k] = better(total[k], rest[fold * width + k])

    run.__name__ = f"_column_{better.__name__}"
    return loop("void({t}[:,::1], int64, {t}[::1], {t}[:,::1], int64, int64)", wraparound=False)(run)


@loop("void({t}[:,::1], {t}[::1], {t}[:,::1], {t}[::1], float64[::1], int64, int64)", wraparound=False)
def _row_logsumexps(x: Any, made: Any, aside: Any, tops: Any, totals: Any, low: int, high: int) -> None:
    for first in range(low, high, tops.size):
        count = min(tops.size, high - first)
        totals_of_rows(x, first, count, aside, tops, totals)
        take_logs(totals, count)
        for r in range(count):
            if abs(tops[r]) == np.inf:  # e^(x - top) is nan there; the top is right unless a nan lies below it
                value = tops[r]
                for k in range(x.shape[1]):
                    value = x[first + r, k] if x[first + r, k] != x[first + r, k] else value
                made[first + r] = value
            else:
                made[first + r] = totals[r] + tops[r]


_column_maxima, _column_minima = _column_extremes(larger), _column_extremes(smaller)


@lru_cache(1024)
def _sizes(shape: tuple[int, ...], axes: Axes) -> tuple[int, int, int] | None:
    """Return a, n and b; None if the axes are not neighbours, or the array is empty."""
    if not axes or axes[-1] - axes[0] != len(axes) - 1:
        return None
    rank = len(shape)
    first, last = rank + axes[0], rank + axes[-1] + 1
    a, n, b = math.prod(shape[:first]), math.prod(shape[first:last]), math.prod(shape[last:])
    return (a, n, b) if a and n and b else None


@lru_cache(1024)
def _shape(shape: tuple[int, ...], axes: Axes, keepdims: bool) -> tuple[int, ...]:
    first, last = len(shape) + axes[0], len(shape) + axes[-1] + 1
    return (*shape[:first], *(1,) * (keepdims * len(axes)), *shape[last:])


def _over(x: Any, axes: Axes, rows: Loop, columns: Loop, kind: Any, together: Callable[..., Any]) -> Any:
    """Reduce to (a, b), by one loop for rows and one for columns; None where they do not serve."""
    sizes = _sizes(x.shape, axes)
    if sizes is None or not x.flags.carray:  # NumPy reads other layouts without a copy
        return None
    a, n, b = sizes
    if b == 1:
        run = rows[x.dtype]
        if a == 1 and n >= 2 * _PIECE:  # one row: its pieces are rows, so that threads can share them
            flat = x.reshape(-1)
            count = n // _PIECE
            parts = _rows(run, flat[: count * _PIECE].reshape(count, _PIECE), kind)
            rest = flat[count * _PIECE :]
            return together(np.append(parts, _rows(run, rest[None], kind) if rest.size else rest.astype(kind)))
        return _rows(run, x.reshape(a, n), kind)
    made, lines = np.empty((a, b), kind), x.reshape(a, n * b)
    run, across = columns[x.dtype], b * max(1, min(n, _WIDE // b))
    spread(
        lambda low, high: run(lines, b, np.empty(across, x.dtype), made, low, high),
        a,
        max(1, _WORTH_A_THREAD // (n * b)),
    )
    return made


def _rows(run: Any, lines: Any, kind: Any) -> Any:
    made = np.empty(len(lines), kind)
    spread(lambda low, high: run(lines, made, low, high), len(lines), max(1, _WORTH_A_THREAD // lines.shape[1]))
    return made


@override(_row_sums, _column_sums)
def sum_over(x: Any, axes: Axes, keepdims: bool) -> Any:
    """Sum over neighbouring axes."""
    total = _over(x, axes, _row_sums, _column_sums, np.float64, np.add.reduce)
    if total is None:
        return NotImplemented
    return total.astype(x.dtype).reshape(_shape(x.shape, axes, keepdims))[()]


@override(_row_sums, _column_sums)
def mean_over(x: Any, axes: Axes, keepdims: bool) -> Any:
    """Mean over neighbouring axes."""
    total = _over(x, axes, _row_sums, _column_sums, np.float64, np.add.reduce)
    if total is None:
        return NotImplemented
    total = total / (x.size // total.size)
    return total.astype(x.dtype).reshape(_shape(x.shape, axes, keepdims))[()]


@loop("void({t}[::1], {t}[::1], {t}[:,::1], {t}[:,::1], int64, int64)", wraparound=False)
def _row_grads(g: Any, best: Any, x: Any, made: Any, low: int, high: int) -> None:
    for i in range(low, high):
        row, to, top, parts = x[i], made[i], best[i], np.int32(0)
        for k in range(row.size):
            parts = np.int32(parts + (np.int32(1) if row[k] == top else np.int32(0)))
        part, nothing = g[i] * (x.dtype.type(1) / parts), x.dtype.type(0) / parts  # nan where nan is the best
        part, nothing = x.dtype.type(part), x.dtype.type(nothing)
        for k in range(row.size):
            to[k] = part if row[k] == top else nothing


@loop("void({t}[:,::1], {t}[:,::1], {t}[:,::1], {t}[:,::1], int32[::1], {t}[:,::1], int64, int64)", wraparound=False)
def _column_grads(  # noqa: C901 - four passes, step by step
    g: Any, best: Any, x: Any, made: Any, counts: Any, aside: Any, low: int, high: int
) -> None:
    """Share out to columns; `counts` and `aside` have room for several rows, so that vectors are full."""
    width, across = best.shape[1], counts.size
    tops, parts, nothings = aside[0], aside[1], aside[2]
    for a in range(low, high):
        plane, to = x[a], made[a]
        for first in range(0, across, width):
            put(tops[first : first + width], best[a])
        counts[:] = 0
        for first in range(0, plane.size, across):
            row = plane[first : min(first + across, plane.size)]
            for k in range(row.size):
                counts[k] = np.int32(counts[k] + (np.int32(1) if row[k] == tops[k] else np.int32(0)))
        for first in range(width, across, width):
            for k in range(width):
                counts[k] += counts[first + k]
        for first in range(0, across, width):
            for k in range(width):
                parts[first + k] = g[a, k] * (x.dtype.type(1) / counts[k])
                nothings[first + k] = x.dtype.type(0) / counts[k]
        for first in range(0, plane.size, across):
            row, line = plane[first : min(first + across, plane.size)], to[first : min(first + across, plane.size)]
            for k in range(row.size):
                part, nothing = parts[k], nothings[k]  # read both, as a choice of what to read has no vectors
                line[k] = part if row[k] == tops[k] else nothing


@override(_row_grads, _column_grads)
def extreme_grad(g: Any, best: Any, x: Any, axes: Axes) -> Any:
    """Share cotangents among the best over neighbouring axes."""
    sizes = _sizes(x.shape, axes)
    if sizes is None or g.dtype != x.dtype or not g.shape == best.shape == _shape(x.shape, axes, True):
        return NotImplemented
    a, n, b = sizes
    lines, dtype, least = row_major(x).reshape(a, n * b), x.dtype, max(1, _WORTH_A_THREAD // (n * b))
    made, cotangents, tops = np.empty_like(lines), row_major(g).reshape(a, b), row_major(best).reshape(a, b)
    if b == 1:
        rows, cotangents, tops = _row_grads[dtype], cotangents.reshape(-1), tops.reshape(-1)
        spread(lambda low, high: rows(cotangents, tops, lines, made, low, high), a, least)
    else:
        columns, across = _column_grads[dtype], b * max(1, min(n, _WIDE // b))
        spread(
            lambda low, high: columns(
                cotangents, tops, lines, made, np.empty(across, np.int32), np.empty((3, across), dtype), low, high
            ),
            a,
            least,
        )
    return made.reshape(x.shape)


def _extreme(x: Any, axes: Axes, keepdims: bool, rows: Loop, columns: Loop, together: Any) -> Any:
    if len(axes) == x.ndim or (axes == (-1,) and x.shape[-1] > _AMPLE):
        return NotImplemented  # NumPy is as quick
    best = _over(x, axes, rows, columns, x.dtype, together)
    return NotImplemented if best is None else best.reshape(_shape(x.shape, axes, keepdims))[()]


@override(_row_maxima, _column_maxima)
def max_over(x: Any, axes: Axes, keepdims: bool) -> Any:
    """Maximum over neighbouring axes."""
    return _extreme(x, axes, keepdims, _row_maxima, _column_maxima, np.maximum.reduce)


@override(_row_minima, _column_minima)
def min_over(x: Any, axes: Axes, keepdims: bool) -> Any:
    """Minimum over neighbouring axes."""
    return _extreme(x, axes, keepdims, _row_minima, _column_minima, np.minimum.reduce)


@loop("void({t}[:,::1], {t}[:,::1], {t}[::1], float64[::1], {t}[::1], int64, int64)", wraparound=False)
def _column_logsumexps(x: Any, made: Any, tops: Any, totals: Any, aside: Any, low: int, high: int) -> None:
    for a in range(low, high):
        plane, to = x[a], made[a]
        top_of_columns(plane, tops)
        totals[:] = 0
        for first in range(0, plane.size, aside.size):
            part = plane[first : min(first + aside.size, plane.size)]
            exps_of_columns(part, tops, aside[: part.size], totals)
        take_logs(totals, to.size)
        for k in range(to.size):
            to[k] = tops[k] if abs(tops[k]) == np.inf else totals[k] + tops[k]


@loop("int64({t}[:,::1], {t}[:,::1], {t}[::1], float64[::1], int64, int64)", wraparound=False)
def _row_softmax(x: Any, made: Any, tops: Any, totals: Any, low: int, high: int) -> int:
    infinite = 0
    for first in range(low, high, tops.size):
        count = min(tops.size, high - first)
        exps_of_rows(x, first, count, made, first, tops, totals)
        for r in range(count):
            row = made[first + r]
            infinite += abs(tops[r]) == np.inf
            scale = x.dtype.type(1 / totals[r])
            for k in range(row.size):
                row[k] *= scale
    return infinite


@override(_row_logsumexps, _column_logsumexps)
def logsumexp_over(x: Any, axes: Axes, keepdims: bool) -> Any:
    """Log-sum-exp over neighbouring axes."""
    sizes = _sizes(x.shape, axes)
    if sizes is None:
        return NotImplemented
    a, n, b = sizes
    least = max(1, _WORTH_A_THREAD // 4 // (n * b))
    made, dtype, x = np.empty((a, b), x.dtype), x.dtype, row_major(x)
    if b == 1:
        lines, rows, found = x.reshape(a, n), _row_logsumexps[dtype], made.reshape(a)
        spread(lambda low, high: rows(lines, found, *room(lines), low, high), a, least)
    else:
        lines, columns, aside = x.reshape(a, n * b), _column_logsumexps[dtype], max(1, min(n, _PIECE // b)) * b
        spread(
            lambda low, high: columns(lines, made, np.empty(b, dtype), np.empty(b), np.empty(aside, dtype), low, high),
            a,
            least,
        )
    return made.reshape(_shape(x.shape, axes, keepdims))[()]


@override(_row_softmax, column_softmax)
def softmax_over(x: Any, axes: Axes) -> Any:
    """Shares of a log-sum-exp over neighbouring axes; where one is infinite the reference knows what its parts are."""
    sizes = _sizes(x.shape, axes)
    if sizes is None:
        return NotImplemented
    a, n, b = sizes
    least = max(1, _WORTH_A_THREAD // 4 // (n * b))
    lines, dtype = row_major(x).reshape(a, n * b), x.dtype
    made = np.empty(lines.shape, dtype)
    if b == 1:
        rows = _row_softmax[dtype]
        infinite = spread(lambda low, high: rows(lines, made, *sums(lines), low, high), a, least)
    else:
        columns = column_softmax[dtype]
        infinite = spread(lambda low, high: columns(lines, made, np.empty(b, dtype), np.empty(b), low, high), a, least)
    return NotImplemented if any(infinite) else made.reshape(x.shape)
