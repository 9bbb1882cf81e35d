"""Vector maths of powers: x^y = e^(y·ln x) with a logarithm of enough digits.

For float32 the logarithm is taken in float64, which has digits to spare.  For float64 it is the sum of two numbers:
the product with y multiplies its error by up to 709, and so would the error of the result be.
"""
# pyright: reportUnusedFunction=false, reportReturnType=false, reportCallIssue=false, reportGeneralTypeIssues=false
# ruff: noqa: ANN001, ANN201, ANN202, PLR0124 - nan alone differs from itself

from __future__ import annotations

import math

import numpy as np
from numba.extending import register_jitable

from autodiff_lab.kernels.jit.vector_maths_bits import choose, floor, fused
from autodiff_lab.kernels.jit.vector_maths_double import exp, exp_and_rest, log, split

_LN2_HIGH, _LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
_THIRD, _THIRD_REST = 1 / 3, 1.850371707708594e-17
_L5, _L7, _L9, _L11, _L13, _L15, _L17, _L19, _L21 = [1 / n for n in range(5, 22, 2)]
_INF, _NAN = math.inf, math.nan


@register_jitable(forceinline=True)
def _log_in_two(x):
    """The logarithm of a positive number as a sum of two, the second too small to change the first."""
    e, m = split(x)
    f, d = m - 1.0, m + 1.0
    rest_d = m - (d - 1.0)
    s = f / d
    rest_s = (fused(-s, d, f) - s * rest_d) / d
    z = s * s
    rest_z = fused(s, s, -z) + 2.0 * s * rest_s
    p = _L15 + z * (_L17 + z * (_L19 + z * _L21))
    p = z * (_L5 + z * (_L7 + z * (_L9 + z * (_L11 + z * (_L13 + z * p)))))
    q = _THIRD + p
    rest_q = ((_THIRD - q) + p) + _THIRD_REST
    w = z * q
    rest_w = fused(z, q, -w) + z * rest_q + rest_z * q
    t = s * w
    rest_t = fused(s, w, -t) + s * rest_w + rest_s * w
    half = s + t
    rest_half = ((s - half) + t) + rest_t + rest_s
    high = e * _LN2_HIGH
    value = high + 2.0 * half
    return value, ((high - value) + 2.0 * half) + 2.0 * rest_half + e * _LN2_LOW


@register_jitable(forceinline=True)
def _with_exceptions(x, y, size):
    """The power of x given that of |x|: signs, and what IEEE 754 says of 0, 1, infinities and nan; all in float64."""
    whole = floor(y) == y
    odd = whole & (floor(y * 0.5) != y * 0.5)
    negative = (x < 0.0) | ((x == 0.0) & (1.0 / x < 0.0))
    value = choose(negative & odd, -size, size)
    value = choose((x < 0.0) & (x != -_INF) & (not whole), _NAN, value)
    value = choose((abs(x) == 1.0) & (abs(y) == _INF), 1.0, value)
    value = choose((x != x) | (y != y), _NAN, value)
    return choose((y == 0.0) | (x == 1.0), 1.0, value)


@register_jitable(forceinline=True)
def power(x, y):
    """x^y for float64."""
    size = abs(x)
    ordinary = (size > 0.0) & (size < _INF)
    high, low = _log_in_two(choose(ordinary, size, 1.0))
    product = y * high
    rest = fused(y, high, -product) + y * low
    value = exp_and_rest(product, choose(abs(product) < 800.0, rest, 0.0))
    rises = (size == _INF) == (y > 0.0)
    value = choose(ordinary, value, choose(rises, _INF, 0.0))
    return _with_exceptions(x, y, value)


@register_jitable(forceinline=True)
def single_power(x, y):
    """x^y for float32."""
    base, exponent = np.float64(x), np.float64(y)
    return np.float32(_with_exceptions(base, exponent, exp(exponent * log(abs(base)))))
