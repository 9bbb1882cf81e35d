"""Vector maths of rows: sums, and exponentials with their sum, by vector instructions throughout.

Needs Numba; loops over rows call these.  Exponentials of long rows are taken and added up in one pass; short rows are
shifted first and then taken together, several rows at a time, since a row shorter than a vector fills none.
"""
# pyright: reportUnusedFunction=false, reportReturnType=false, reportCallIssue=false, reportArgumentType=false
# ruff: noqa: ANN001, ANN201 - Numba wants a function of Python's, not one that it has compiled

from __future__ import annotations

import numpy as np
from numba.extending import register_jitable

from autodiff_lab.kernels.jit.vector_maths_below import exponential_below_0
from autodiff_lab.kernels.jit.vector_maths_bits import add_up
from autodiff_lab.kernels.jit.vector_maths_extremes import largest

_LONG = 150  # elements of a row from which on it is taken by itself
_BLOCK = 2048  # elements of the rows that are taken together
_PIECE = 4096  # elements that are added up in their own precision; sums of pieces are added up in float64


@register_jitable(forceinline=True)
def sum_of(row):
    """The sum of a row, as float64; pieces of it are summed in its own precision, in whatever order is fastest."""
    total, start = 0.0, 0
    while start < row.size:
        stop = min(row.size, start + _PIECE)
        part = row.dtype.type(0)
        for k in range(start, stop):
            part = add_up(part, row[np.uint64(k)])
        total += part
        start = stop
    return total


@register_jitable(forceinline=True)
def sum_of_products(row, other):
    """The sum of the products of two rows, as float64; pieces of it are summed as `sum_of` does."""
    total, start = 0.0, 0
    while start < row.size:
        stop = min(row.size, start + _PIECE)
        part = row.dtype.type(0)
        for k in range(start, stop):
            part = add_up(part, row[np.uint64(k)] * other[np.uint64(k)])
        total += part
        start = stop
    return total


@register_jitable(forceinline=True)
def exps(row, to, top):
    """Put e^(row - top) into another row, and return the sum as float64."""
    total, start = 0.0, 0
    while start < row.size:
        stop = min(row.size, start + _PIECE)
        part = row.dtype.type(0)
        for k in range(start, stop):
            value = exponential_below_0(row[np.uint64(k)] - top)
            to[np.uint64(k)] = value
            part = add_up(part, value)
        total += part
        start = stop
    return total


@register_jitable(forceinline=True)
def sum_of_exps(row, top):
    """The sum of e^(row - top), as float64."""
    total, start = 0.0, 0
    while start < row.size:
        stop = min(row.size, start + _PIECE)
        part = row.dtype.type(0)
        for k in range(start, stop):
            part = add_up(part, exponential_below_0(row[np.uint64(k)] - top))
        total += part
        start = stop
    return total


@register_jitable(forceinline=True)
def exps_of_rows(x, first, count, made, at, tops, totals):
    """Put e^(x - top) of ``count`` rows of x into rows of ``made`` from ``at`` on, and each top and sum aside.

    A row that holds a nan gives nan in its total, as does one whose largest element is infinite; `made` has nan where
    the element is nan, or infinite and the largest.
    """
    length = x.shape[1]
    if length >= _LONG:
        for r in range(count):
            row = x[first + r]
            top = largest(row)
            totals[r] = exps(row, made[at + r], top)
            tops[r] = top
        return
    for r in range(count):
        row, to = x[first + r], made[at + r]
        top = largest(row)
        tops[r] = top
        for k in range(length):
            to[k] = row[k] - top
    flat = made[at : at + count].reshape(-1)
    for k in range(flat.size):
        flat[k] = exponential_below_0(flat[k])
    for r in range(count):
        to = made[at + r]
        total = x.dtype.type(0)
        for k in range(length):
            total = add_up(total, to[k])
        totals[r] = total


@register_jitable(forceinline=True)
def totals_of_rows(x, first, count, aside, tops, totals):
    """Put tops and totals of ``count`` rows aside, as `exps_of_rows` does; long rows leave no exponentials."""
    if x.shape[1] >= _LONG:
        for r in range(count):
            row = x[first + r]
            tops[r] = largest(row)
            totals[r] = sum_of_exps(row, tops[r])
        return
    exps_of_rows(x, first, count, aside, 0, tops, totals)


def rows_together(length):
    """How many rows of a length `exps_of_rows` is best given at once."""
    return 1 if length >= _LONG else _BLOCK // length
