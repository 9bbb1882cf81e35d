"""Sums into zeros by position; the references are in `kernels.indexing.reference`.

Optimisations: rows are added straight into their places, without sorting them; zeros come from the allocator, which
clears memory faster than any loop; a thread has columns of its own, so that no two write into one place; sums of single
elements have a loop without an inner one.  Rows of one position are added in their order.

A choice by a condition is one instruction for many elements; a condition of the last axes serves all others.
"""
# pyright: reportIndexIssue=false

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from autodiff_lab.kernels.base.deferred import register_jitable
from autodiff_lab.kernels.base.loops import Loop, loop, override, positions_of, row_major
from autodiff_lab.kernels.base.threads import spread
from autodiff_lab.kernels.checks import are_positions
from autodiff_lab.kernels.maths.bits import put
from autodiff_lab.kernels.maths.single import choose, larger, smaller

_WORTH_A_THREAD = 1_000_000


@register_jitable
def _inside(positions: Any, length: int) -> bool:
    """Return whether positions are those of an axis, before any of them is used."""
    wrong = False
    for i in range(positions.size):
        wrong |= not 0 <= positions[i] < length
    return not wrong


@loop("boolean({t}[:,:,::1], int64[::1], {t}[:,:,::1], int64, int64)", wraparound=False)
def _add_rows(rows: Any, positions: Any, total: Any, low: int, high: int) -> bool:
    """Add columns low to high of rows (a, n, c) up in a total (a, m, c) by positions (n); say whether all are in it."""
    if not _inside(positions, total.shape[1]):
        return False
    for a in range(rows.shape[0]):
        for i in range(positions.size):
            row, to = rows[a, i, low:high], total[a, positions[i], low:high]
            for c in range(row.size):
                to[c] += row[c]
    return True


@loop("boolean({t}[:,::1], int64[::1], {t}[:,::1])", wraparound=False)
def _add_elements(elements: Any, positions: Any, total: Any) -> bool:
    if not _inside(positions, total.shape[1]):
        return False
    for a in range(elements.shape[0]):
        for i in range(positions.size):
            total[a, positions[i]] += elements[a, i]
    return True


def _extremes(better: Callable[[Any, Any], Any]) -> Loop:
    def run(rows: Any, positions: Any, best: Any, met: Any, low: int, high: int) -> None:
        for i in range(positions.size):
            at = positions[i]
            row, to = rows[i, low:high], best[at, low:high]
            if met[at] == 0:
                put(to, row)
                met[at] = 1
            else:
                for c in range(row.size):
                    to[c] = better(to[c], row[c])

    run.__name__ = f"_{better.__name__}_rows"
    return loop("void({t}[:,::1], int64[::1], {t}[:,::1], uint8[::1], int64, int64)", wraparound=False)(run)


_largest_rows, _least_rows = _extremes(larger), _extremes(smaller)


def _sum(g: Any, positions: Any, shape: tuple[int, ...], stack: int, length: int, width: int) -> Any:
    """Add g, seen as (stack, n, width), up into (stack, length, width), and give that a shape."""
    total = np.zeros((stack, length, width), g.dtype)
    numbers = positions_of(positions)
    rows = row_major(g).reshape(stack, numbers.size, width)
    if width == 1:
        inside = [_add_elements[g.dtype](rows[:, :, 0], numbers, total[:, :, 0])]
    elif rows.size < _WORTH_A_THREAD:
        inside = [_add_rows[g.dtype](rows, numbers, total, 0, width)]
    else:
        run = _add_rows[g.dtype]
        least = max(16, width * _WORTH_A_THREAD // rows.size)
        inside = spread(lambda low, high: run(rows, numbers, total, low, high), width, least)
    return total.reshape(shape) if all(inside) else NotImplemented


@loop("void({t}[:,::1], int64[::1], {t}[:,::1], {t}, int64, int64)", wraparound=False)
def _add_to_rows(rows: Any, positions: Any, total: Any, sign: Any, low: int, high: int) -> None:
    """Add columns low to high of rows (n, c), times a sign, to the rows of a total (m, c) at positions (n)."""
    for i in range(positions.size):
        row, to = rows[i, low:high], total[positions[i], low:high]
        for c in range(row.size):
            to[c] += sign * row[c]


@override(_add_to_rows)
def change_rows(total: Any, rows: Any, positions: Any, how: str) -> Any:
    """Add or subtract rows one after the other; the other changes have no loop of their own."""
    if how not in ("add", "sub") or not total.flags.c_contiguous or rows.dtype != total.dtype:
        return NotImplemented
    run, sign = _add_to_rows[total.dtype], total.dtype.type(1 if how == "add" else -1)
    rows, positions = row_major(rows), positions_of(positions)
    if rows.size < _WORTH_A_THREAD:
        run(rows, positions, total, sign, 0, rows.shape[1])
        return total
    least = max(16, rows.shape[1] * _WORTH_A_THREAD // rows.size)
    spread(lambda low, high: run(rows, positions, total, sign, low, high), rows.shape[1], least)
    return total


@override(_add_rows, _add_elements)
def scatter_axis(g: Any, indices: Any, axis: int, length: int) -> Any:
    """Sum by position along an axis."""
    shape, rank = g.shape, indices.ndim
    first = len(shape) + axis + 1 - rank
    before, after = shape[:first], shape[first + rank :]
    return _sum(g, indices, (*before, length, *after), math.prod(before), length, math.prod(after))


@override(_add_rows, _add_elements)
def scatter_nd(g: Any, indices: Any, shape: tuple[int, ...]) -> Any:
    """Sum by coordinates: those of a row are turned into one position."""
    g, indices = np.asarray(g), np.asarray(indices)
    depth = indices.shape[-1]
    if not 0 < depth <= len(shape):
        return NotImplemented
    positions = indices[..., 0]
    if depth > 1:
        positions = np.zeros(indices.shape[:-1], np.int64)
        for k in range(depth):
            column = indices[..., k]
            if not are_positions(column, shape[k]):
                return NotImplemented
            positions = positions * shape[k] + column.astype(np.int64)
    inner = tuple(shape[depth:])
    before = g.shape[: g.ndim - positions.ndim - len(inner)]
    sizes = math.prod(before), math.prod(shape[:depth]), math.prod(inner)
    return _sum(g, positions, (*before, *shape), *sizes)


@override(_add_rows, _add_elements)
def segment_sum(x: Any, ids: Any, count: int) -> Any:
    """Sum by segment."""
    if ids.ndim != 1:
        return NotImplemented
    return _sum(x, ids, (count, *x.shape[1:]), 1, count, math.prod(x.shape[1:]))


def _extreme(rows_of: Loop, x: Any, ids: Any, count: int, empty: float) -> Any:
    if not are_positions(ids, count) or ids.ndim != 1:
        return NotImplemented
    width = math.prod(x.shape[1:])
    best = np.full((count, width), empty, x.dtype)
    if x.size:
        rows, positions = row_major(x).reshape(-1, width), positions_of(ids)
        run = rows_of[x.dtype]

        def columns(low: int, high: int) -> None:
            run(rows, positions, best, np.zeros(count, np.uint8), low, high)

        spread(columns, width, max(16, width * _WORTH_A_THREAD // x.size))
    return best.reshape(count, *x.shape[1:])


@override(_largest_rows)
def segment_max(x: Any, ids: Any, count: int, empty: float) -> Any:
    """Maximum by segment."""
    return _extreme(_largest_rows, x, ids, count, empty)


@override(_least_rows)
def segment_min(x: Any, ids: Any, count: int, empty: float) -> Any:
    """Minimum by segment."""
    return _extreme(_least_rows, x, ids, count, empty)


@loop("void({t}[:,::1], {t}[:,::1], boolean[::1], {t}[:,::1])", wraparound=False)
def _one_or_other(x: Any, y: Any, condition: Any, made: Any) -> None:
    for r in range(made.shape[0]):
        x_row, y_row, to = x[r], y[r], made[r]
        for k in range(to.size):
            to[k] = choose(condition[k], x_row[k], y_row[k])


@loop("void({t}[:,::1], {t}, boolean[::1], {t}[:,::1])", wraparound=False)
def _one_or_number(x: Any, y: Any, condition: Any, made: Any) -> None:
    for r in range(made.shape[0]):
        row, to = x[r], made[r]
        for k in range(to.size):
            to[k] = choose(condition[k], row[k], y)


@loop("void({t}, {t}[:,::1], boolean[::1], {t}[:,::1])", wraparound=False)
def _number_or_other(x: Any, y: Any, condition: Any, made: Any) -> None:
    for r in range(made.shape[0]):
        row, to = y[r], made[r]
        for k in range(to.size):
            to[k] = choose(condition[k], x, row[k])


@override(_one_or_other, _one_or_number, _number_or_other)
def choose_elements(x: Any, y: Any, condition: Any) -> Any:
    """Choose without a branch, which a processor guesses wrong for every other element of an irregular condition."""
    shape = x.shape or y.shape
    if x.dtype != y.dtype or (y.shape and y.shape != shape) or condition.dtype.kind != "b" or not shape:
        return NotImplemented
    rank = condition.ndim
    inner = shape[max(len(shape) - rank, 0) :]
    if not 0 < rank <= len(shape) or any(m not in (1, n) for m, n in zip(condition.shape, inner, strict=True)):
        return NotImplemented
    if condition.shape != inner:
        condition = np.broadcast_to(condition, shape)
    made = np.empty(shape, x.dtype)
    if not made.size:
        return made
    flat = row_major(condition).reshape(-1)
    run = _one_or_other if x.shape and y.shape else _one_or_number if x.shape else _number_or_other
    given = [row_major(v).reshape(-1, flat.size) if v.shape else v[()] for v in (x, y)]
    run[x.dtype](*given, flat, made.reshape(-1, flat.size))
    return made
