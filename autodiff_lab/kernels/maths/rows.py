"""Sums, extremes and exponentials of rows, for compiled loops; vector instructions throughout.

The elements of a row minus the largest are at most 0, so their exponentials need neither the bound above
nor the second power of two that any other exponential needs in float32.  Exponentials of long rows are taken and added
up in one pass; short rows are shifted first and then taken together, several at a time, as a row shorter than a vector
fills none.

LLVM does not vectorize the search for an extreme among floats, since nan forbids it; among integers that are ordered as
the floats are it does.
"""
# ruff: noqa: ANN001, ANN201, ANN202 - Numba wants a function of Python's, not one that it has compiled
# pyright: reportUnusedFunction=false, reportReturnType=false, reportCallIssue=false, reportArgumentType=false

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from autodiff_lab.kernels.base.deferred import overload, register_jitable, unordered
from autodiff_lab.kernels.maths import double, single
from autodiff_lab.kernels.maths.bits import add_up, bits_of, bits_of_double, double_from_bits, flattened, from_bits
from autodiff_lab.kernels.maths.single import SINGLE, VECTOR_DOUBLE, choose, larger

_exp, _exp_double = SINGLE["exp"], VECTOR_DOUBLE["exp"]
_log_double, _FEW_LOGS = VECTOR_DOUBLE["log"], 16
_tanh, _tanh_double = SINGLE["tanh"], VECTOR_DOUBLE["tanh"]
_sigmoid, _sigmoid_double = SINGLE["sigmoid"], VECTOR_DOUBLE["sigmoid"]
_LOG2E, _MAGIC, _MAGIC_BITS = np.float32(1.44269504), np.float32(12582912.0), np.int32(0x4B400000)
_LN2_HIGH, _LN2_LOW = np.float32(0.693359375), np.float32(-2.12194440e-4)
_E = (1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1)
_E0, _E1, _E2, _E3, _E4 = [np.float32(c) for c in _E]
_HALF, _ONE, _LOWEST = np.float32(0.5), np.float32(1), np.float32(-132.5)
_UP, _DOWN = np.int32(127 + 64), np.float32(2.0**-64)
_ALL_BUT_SIGN, _ALL_BUT_SIGN_DOUBLE = np.int32(0x7FFFFFFF), np.int64(0x7FFFFFFFFFFFFFFF)
_NAN, _NAN_DOUBLE = np.int32(0x7FC00000), np.int64(0x7FF8000000000000)
_NAN_BELOW, _NAN_BELOW_DOUBLE = np.int32(-0x7FC00000), np.int64(-0x7FF8000000000000)


def _by_width(single: Callable[..., Any], double: Callable[..., Any]) -> Callable[..., Any]:
    """Make a function for compiled code out of one for numbers of 32 bits and one for numbers of 64 bits."""

    def calling(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(x):
            return function(x)

        return call

    def function(x):
        raise NotImplementedError

    calls = calling(single), calling(double)

    @overload(function, jit_options={"forceinline": True})
    def chosen(x):
        return calls[x.name not in ("float32", "int32")]

    return function


@register_jitable(forceinline=True, fastmath={"contract"})
def _exp_below_0(x):
    """The exponential of `single` for x up to 0: one power of two, 64 too large so that it never underflows.

    From -132.5 down, as for what a mask takes out of a softmax, that power has the bits of 0; see `single`.
    """
    clamped = choose(x < _LOWEST, _LOWEST, x)
    shifted = clamped * _LOG2E + _MAGIC
    n = bits_of(shifted) - _MAGIC_BITS
    whole = shifted - _MAGIC
    r = clamped - whole * _LN2_HIGH - whole * _LN2_LOW
    p = ((((_E0 * r + _E1) * r + _E2) * r + _E3) * r + _E4) * r + _HALF
    p = p * (r * r) + r + _ONE
    return p * from_bits(np.int32((n + _UP) << np.int32(23))) * _DOWN


exponential = _by_width(_exp, _exp_double)
"""e^x in the dtype of x."""
exponential_below_0 = _by_width(_exp_below_0, _exp_double)
"""e^x in the dtype of x, for x up to 0 or nan."""
logarithm = _by_width(SINGLE["log"], VECTOR_DOUBLE["log"])
"""The natural logarithm in the dtype of x."""
log1p_up_to_1 = _by_width(single.log1p_up_to_1, double.log1p_up_to_1)
"""The logarithm of 1 + x in the dtype of x, for x from 0 to 1."""
tanh = _by_width(_tanh, _tanh_double)
"""The hyperbolic tangent in the dtype of x."""
sigmoid = _by_width(_sigmoid, _sigmoid_double)
"""The sigmoid in the dtype of x."""


@register_jitable(forceinline=True)
def _in_order(x):
    bits = bits_of(x)
    return np.int32(bits ^ ((bits >> np.int32(31)) & _ALL_BUT_SIGN))


@register_jitable(forceinline=True)
def _in_order_double(x):
    bits = bits_of_double(x)
    return np.int64(bits ^ ((bits >> np.int64(63)) & _ALL_BUT_SIGN_DOUBLE))


@register_jitable(forceinline=True)
def _from_order(x):
    return from_bits(np.int32(x ^ ((x >> np.int32(31)) & _ALL_BUT_SIGN)))


@register_jitable(forceinline=True)
def _from_order_double(x):
    return double_from_bits(np.int64(x ^ ((x >> np.int64(63)) & _ALL_BUT_SIGN_DOUBLE)))


def _always(value: Any) -> Callable[..., Any]:
    @register_jitable(forceinline=True)
    def constant(x):
        return value

    return constant


in_order = _by_width(_in_order, _in_order_double)
"""The integer of a float, in the order of the floats; LLVM finds the largest of those without regard to nan."""
from_order = _by_width(_from_order, _from_order_double)
"""The float of an integer that `in_order` made."""
_nan_above = _by_width(_always(_NAN), _always(_NAN_DOUBLE))
_nan_below = _by_width(_always(_NAN_BELOW), _always(_NAN_BELOW_DOUBLE))


@register_jitable(forceinline=True)
def largest(row):
    """The largest element of a row that has one; any nan of either sign may be passed over."""
    top = in_order(row[0])
    for k in range(row.size):
        value = in_order(row[k])
        top = value if value > top else top  # noqa: FURB136 - LLVM makes a vector instruction of this
    return from_order(top)


def _extreme_or_nan(nan: Callable[..., Any], *, is_largest: bool) -> Callable[..., Any]:
    @register_jitable(forceinline=True)
    def extreme(row):
        top = in_order(row[0])
        beyond = nan(row[0])
        for k in range(row.size):
            value = in_order(row[k])
            value = beyond if row[k] != row[k] else value
            better = value > top if is_largest else value < top
            top = value if better else top
        return from_order(top)

    return extreme


largest_or_nan = _extreme_or_nan(_nan_above, is_largest=True)
"""The largest element of a row that has one, nan if any is nan."""
least_or_nan = _extreme_or_nan(_nan_below, is_largest=False)
"""The least element of a row that has one, nan if any is nan."""


_LONG = 150  # elements of a row from which on it is taken by itself
_BLOCK = 2048  # elements of the rows that are taken together
_PIECE = 4096  # elements that are added up in their own precision; sums of pieces are added up in float64


def summed(term: Callable[..., Any]) -> Callable[..., Any]:
    """Make a sum over a row, as float64, of ``term(k, row, *given)`` for the index k of each element.

    Pieces of the row are added up in its own precision, in whatever order is fastest.
    """
    term = register_jitable(forceinline=True)(term)

    @register_jitable(forceinline=True)
    def total_of(row, *given):  # noqa: ANN002
        total, start = 0.0, 0
        while start < row.size:
            stop = min(row.size, start + _PIECE)
            part = row.dtype.type(0)
            for k in range(start, stop):
                part = add_up(part, term(np.uint64(k), row, *given))
            total += part
            start = stop
        return total

    return total_of


def _put_exp(k, row, to, top):
    value = exponential_below_0(row[k] - top)
    to[k] = value
    return value


sum_of = summed(lambda k, row: row[k])
sum_of_products = summed(lambda k, row, other: row[k] * other[k])
exps = summed(_put_exp)
"""Put e^(row - top) into another row, and return the sum: ``exps(row, to, top)``."""
sum_of_exps = summed(lambda k, row, top: exponential_below_0(row[k] - top))
"""The sum of e^(row - top): ``sum_of_exps(row, top)``."""


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
    flat = flattened(made[at : at + count])
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


@register_jitable(forceinline=True)
def take_logs(totals, count):
    """Replace the first totals by their logarithms: many of them by vector instructions."""
    if count < _FEW_LOGS:
        for r in range(count):
            totals[r] = math.log(totals[r])
    else:
        for r in unordered(count):
            totals[r] = _log_double(totals[r])


def rows_together(length):
    """How many rows of a length `exps_of_rows` is best given at once."""
    return 1 if length >= _LONG else _BLOCK // length


@register_jitable(forceinline=True)
def top_of_columns(plane, tops):
    """Put the largest elements of the columns of rows that lie one after another aside; nan where one is nan."""
    width = tops.size
    for k in range(width):
        tops[k] = plane[k]
    for first in range(width, plane.size, width):
        row = plane[first : first + width]
        for k in range(width):
            tops[k] = larger(tops[k], row[k])


@register_jitable(forceinline=True)
def exps_of_columns(plane, tops, made, totals):
    """Put e^(x - top) of rows that lie one after another into `made`, and add them to the totals of their columns.

    The exponentials are taken all together, as a row may be shorter than a vector.
    """
    width = tops.size
    for first in range(0, plane.size, width):
        row, to = plane[first : first + width], made[first : first + width]
        for k in range(width):
            to[k] = row[k] - tops[k]
    for k in range(plane.size):
        made[k] = exponential_below_0(made[k])
    for first in range(0, plane.size, width):
        to = made[first : first + width]
        for k in range(width):
            totals[k] += to[k]
