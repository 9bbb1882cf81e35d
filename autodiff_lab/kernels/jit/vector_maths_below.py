"""Vector maths of differences: exponentials of numbers up to 0, as the elements of a row less the largest are.

Needs Numba.  In float32 they save the bound above and one of two powers of two that any exponential needs.
"""
# pyright: reportUnusedFunction=false, reportReturnType=false, reportCallIssue=false, reportArgumentType=false
# ruff: noqa: ANN001, ANN201, ANN202, PLW0108 - Numba wants a function of Python's, not one that it has compiled

from __future__ import annotations

import numpy as np
from numba import types
from numba.extending import overload, register_jitable

from autodiff_lab.kernels.jit.vector_maths import SINGLE, VECTOR_DOUBLE
from autodiff_lab.kernels.jit.vector_maths_bits import bits_of, choose, from_bits

_exp, _exp_double = SINGLE["exp"], VECTOR_DOUBLE["exp"]
_LOG2E, _MAGIC, _MAGIC_BITS = np.float32(1.44269504), np.float32(12582912.0), np.int32(0x4B400000)
_LN2_HIGH, _LN2_LOW = np.float32(0.693359375), np.float32(-2.12194440e-4)
_E = (1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1)
_E0, _E1, _E2, _E3, _E4 = [np.float32(c) for c in _E]
_HALF, _ONE, _LOWEST = np.float32(0.5), np.float32(1), np.float32(-104)
_UP, _DOWN = np.int32(127 + 64), np.float32(2.0**-64)


def exponential(x):
    """e^x in the dtype of x."""
    raise NotImplementedError


def exponential_below_0(x):
    """e^x in the dtype of x, for x up to 0 or nan."""
    raise NotImplementedError


@overload(exponential, jit_options={"forceinline": True})
def _exponential(x):
    return (lambda x: _exp(x)) if x == types.float32 else (lambda x: _exp_double(x))


@register_jitable(forceinline=True, fastmath={"contract"})
def _exp_below_0(x):
    """The exponential of `vector_maths` for x up to 0: one power of two, 64 too large so that it never underflows."""
    clamped = choose(x < _LOWEST, _LOWEST, x)
    shifted = clamped * _LOG2E + _MAGIC
    n = bits_of(shifted) - _MAGIC_BITS
    whole = shifted - _MAGIC
    r = clamped - whole * _LN2_HIGH - whole * _LN2_LOW
    p = ((((_E0 * r + _E1) * r + _E2) * r + _E3) * r + _E4) * r + _HALF
    p = p * (r * r) + r + _ONE
    return p * from_bits(np.int32((n + _UP) << np.int32(23))) * _DOWN


@overload(exponential_below_0, jit_options={"forceinline": True})
def _exponential_below_0(x):
    return (lambda x: _exp_below_0(x)) if x == types.float32 else (lambda x: _exp_double(x))
