"""Vector maths of extremes: the largest and the least element of a row, found by vector instructions.

LLVM makes none of a search among floats, since nan forbids it; among whole numbers that are ordered as the floats are
it does.  Needs Numba.
"""
# pyright: reportUnusedFunction=false, reportReturnType=false, reportCallIssue=false, reportArgumentType=false
# ruff: noqa: ANN001, ANN201, ANN202 - Numba wants a function of Python's, not one that it has compiled

from __future__ import annotations

import numpy as np
from numba import types
from numba.extending import overload, register_jitable

from autodiff_lab.kernels.jit.vector_maths_bits import bits_of, bits_of_double, double_from_bits, from_bits

_ALL_BUT_SIGN, _ALL_BUT_SIGN_DOUBLE = np.int32(0x7FFFFFFF), np.int64(0x7FFFFFFFFFFFFFFF)
_NAN, _NAN_DOUBLE = np.int32(0x7FC00000), np.int64(0x7FF8000000000000)
_NAN_BELOW, _NAN_BELOW_DOUBLE = np.int32(-0x7FC00000), np.int64(-0x7FF8000000000000)


def in_order(x):
    """Whole numbers that are ordered as the floats are; LLVM finds the largest of those without asking about nan."""
    raise NotImplementedError


def from_order(n, like):
    """Give the float of a number made by `in_order`."""
    raise NotImplementedError


def place_of_nan(like):
    """Give the whole number of a nan that lies above all numbers."""
    raise NotImplementedError


def place_of_nan_below(like):
    """Give the whole number of a nan that lies below all numbers."""
    raise NotImplementedError


@overload(in_order, jit_options={"forceinline": True})
def _in_order(x):
    def single(x):
        bits = bits_of(x)
        return np.int32(bits ^ ((bits >> np.int32(31)) & _ALL_BUT_SIGN))

    def double(x):
        bits = bits_of_double(x)
        return np.int64(bits ^ ((bits >> np.int64(63)) & _ALL_BUT_SIGN_DOUBLE))

    return single if x == types.float32 else double


@overload(from_order, jit_options={"forceinline": True})
def _from_order(n, like):
    def single(n, like):
        return from_bits(np.int32(n ^ ((n >> np.int32(31)) & _ALL_BUT_SIGN)))

    def double(n, like):
        return double_from_bits(np.int64(n ^ ((n >> np.int64(63)) & _ALL_BUT_SIGN_DOUBLE)))

    return single if like == types.float32 else double


@overload(place_of_nan, jit_options={"forceinline": True})
def _place_of_nan(like):
    return (lambda like: _NAN) if like == types.float32 else (lambda like: _NAN_DOUBLE)


@overload(place_of_nan_below, jit_options={"forceinline": True})
def _place_of_nan_below(like):
    return (lambda like: _NAN_BELOW) if like == types.float32 else (lambda like: _NAN_BELOW_DOUBLE)


@register_jitable(forceinline=True)
def largest(row):
    """The largest element of a row that has one; any nan of either sign may be passed over."""
    top = in_order(row[0])
    for k in range(row.size):
        value = in_order(row[k])
        top = value if value > top else top  # noqa: FURB136 - LLVM makes a vector instruction of this
    return from_order(top, row[0])


@register_jitable(forceinline=True)
def largest_or_nan(row):
    """The largest element of a row that has one, nan if any is nan."""
    top = in_order(row[0])
    beyond = place_of_nan(row[0])
    for k in range(row.size):
        value = in_order(row[k])
        value = beyond if row[k] != row[k] else value
        top = value if value > top else top  # noqa: FURB136
    return from_order(top, row[0])


@register_jitable(forceinline=True)
def least_or_nan(row):
    """The least element of a row that has one, nan if any is nan."""
    top = in_order(row[0])
    beyond = place_of_nan_below(row[0])
    for k in range(row.size):
        value = in_order(row[k])
        value = beyond if row[k] != row[k] else value
        top = value if value < top else top  # noqa: FURB136
    return from_order(top, row[0])
