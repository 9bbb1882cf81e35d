"""Vector maths: elementary functions without branches, which LLVM turns into vector instructions inside fused loops.

A call into the C library for each element costs some 20 ns, a
polynomial of ours about 0.3.  Arithmetic in a fused loop keeps the order and the rounding of NumPy, so that its bits
are NumPy's; only `add_up`, the step of a sum, may be reordered.  The functions work in float32 where their argument is
float32 and agree with the true value within the ulp printed in ``docs/compiling.md``; infinities, nan, zeros, negative
and subnormal arguments give what IEEE 754 says.
Those for float64 are in `double`.

The coefficients are those of Cephes, minimax polynomials in general use.
"""
# ruff: noqa: ANN001, ANN201, ANN202, PLR0124 - nan alone differs from itself

# pyright: reportUnusedFunction=false, reportReturnType=false, reportCallIssue=false, reportGeneralTypeIssues=false
from __future__ import annotations

import math

import numpy as np

from autodiff_lab.kernels.base.deferred import register_jitable
from autodiff_lab.kernels.maths import double
from autodiff_lab.kernels.maths import special as normal
from autodiff_lab.kernels.maths.bessel import BESSEL, modified_bessel
from autodiff_lab.kernels.maths.bits import (
    add_up,
    bits_of,
    ceil,
    choose,
    floor,
    from_bits,
    fused,
    greatest,
    least,
    multiply_up,
    nearest,
)
from autodiff_lab.kernels.maths.division import division
from autodiff_lab.kernels.maths.double import is_far_double
from autodiff_lab.kernels.maths.gamma import GAMMA, single_gamma
from autodiff_lab.kernels.maths.inverse import INVERSES, single_inverses
from autodiff_lab.kernels.maths.quantiles import QUANTILES, quantiles
from autodiff_lab.kernels.maths.special import power, single_family, single_power

__all__ = [
    "DOUBLE", "FAR", "SINGLE", "VECTOR_DOUBLE", "add_up", "ceil", "choose", "floor", "greatest", "half",
    "is_far", "is_far_double", "larger", "least", "multiply_up", "nearest", "smaller",
]  # fmt: skip

f32, i32 = np.float32, np.int32
FAR = f32(1e5)
"""Angles beyond this are reduced with care by NumPy: a loop that meets one reports it, and NumPy does its work."""


_LOG2E, _MAGIC = f32(1.44269504), f32(12582912.0)
_LN2_HIGH, _LN2_LOW = f32(0.693359375), f32(-2.12194440e-4)
_E = [f32(c) for c in (1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1)]
_E0, _E1, _E2, _E3, _E4 = _E
_HALF, _ONE, _TWO, _ZERO = f32(0.5), f32(1), f32(2), f32(0)
_INF, _NAN = f32(np.inf), f32(np.nan)
_MAGIC_BITS = i32(0x4B400000)
_SHIFT, _BIAS = i32(23), i32(127)


@register_jitable(forceinline=True, fastmath={"contract"})
def _exp_and_rest(x, rest):
    """2^n · e^r with x + rest = n·ln 2 + r; the power of two in halves, so that subnormal results round once.

    From -176 down n is -254, and either half of the power has the bits of 0: a product with 0 is as quick as any, while
    one that underflows takes a processor a hundred times as long.
    """
    clamped = choose(x < f32(-176), f32(-176), choose(x > f32(89), f32(89), x))
    shifted = clamped * _LOG2E + _MAGIC
    n = bits_of(shifted) - _MAGIC_BITS
    whole = shifted - _MAGIC
    r = clamped - whole * _LN2_HIGH - whole * _LN2_LOW + rest
    p = ((((_E0 * r + _E1) * r + _E2) * r + _E3) * r + _E4) * r + _HALF
    p = p * (r * r) + r + _ONE
    half = n >> i32(1)
    return p * from_bits(i32((half + _BIAS) << _SHIFT)) * from_bits(i32((n - half + _BIAS) << _SHIFT))


@register_jitable(forceinline=True, fastmath={"contract"})
def _exp(x):
    return _exp_and_rest(x, _ZERO)


@register_jitable(forceinline=True, fastmath={"contract"})
def _exp_within(x):
    """e^x for |x| up to 80, where it neither overflows nor becomes subnormal."""
    shifted = x * _LOG2E + _MAGIC
    n = bits_of(shifted) - _MAGIC_BITS
    whole = shifted - _MAGIC
    r = x - whole * _LN2_HIGH - whole * _LN2_LOW
    p = ((((_E0 * r + _E1) * r + _E2) * r + _E3) * r + _E4) * r + _HALF
    return (p * (r * r) + r + _ONE) * from_bits(i32((n + _BIAS) << _SHIFT))


_L0, _L1, _L2, _L3, _L4, _L5, _L6, _L7, _L8 = map(f32, (
    7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1, -1.6668057665e-1,
    2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1,
))  # fmt: skip


@register_jitable(forceinline=True, fastmath={"contract"})
def _log(x):
    """e·ln 2 + ln m with x = 2^e · m and m about 1; subnormal numbers are scaled up first."""
    small = x < f32(1.17549435e-38)
    bits = bits_of(choose(small, x * f32(8388608), x))
    e = f32(i32((bits >> _SHIFT) - i32(126))) - choose(small, f32(23), _ZERO)
    m = from_bits(i32((bits & i32(0x007FFFFF)) | i32(0x3F000000)))
    low = m < f32(0.70710678)
    e = choose(low, e - _ONE, e)
    m = choose(low, m + m, m) - _ONE
    z = m * m
    p = (((((((_L0 * m + _L1) * m + _L2) * m + _L3) * m + _L4) * m + _L5) * m + _L6) * m + _L7) * m + _L8
    p = p * m * z + e * _LN2_LOW - _HALF * z
    value = m + p + e * _LN2_HIGH
    value = choose(x == _INF, _INF, choose(x == _ZERO, -_INF, value))
    return choose(x < _ZERO, _NAN, choose(x != x, x, value))


@register_jitable(forceinline=True, fastmath={"contract"})
def _log1p(x):
    """Ln u with u = 1 + x as rounded, and the rest of x to first order."""
    u = _ONE + x
    rest = (x - (u - _ONE)) / u
    value = _log(u) + choose((u == _ZERO) | (u == _INF), _ZERO, rest)
    return choose(u == _ONE, x, value)


_T = [f32(c) for c in (-5.70498872745e-3, 2.06390887954e-2, -5.37397155531e-2, 1.33314422036e-1, -3.33332819422e-1)]
_T0, _T1, _T2, _T3, _T4 = _T


@register_jitable(forceinline=True, fastmath={"contract"})
def _tanh(x):
    """An odd polynomial up to 0.625, 1 - 2 / (e^2|x| + 1) beyond, which is 1 from 10 on."""
    size = abs(x)
    c = choose(size > f32(10), f32(10), size)
    z = c * c
    near = ((((_T0 * z + _T1) * z + _T2) * z + _T3) * z + _T4) * z * c + c
    value = choose(size < f32(0.625), near, _ONE - _TWO / (_exp_within(c + c) + _ONE))
    value = choose(x < _ZERO, -value, value)
    return choose((x == x) & (x != _ZERO), value, x)


_X8, _X7, _X6, _X5, _X4, _X3 = [f32(1 / math.factorial(n)) for n in range(8, 2, -1)]


@register_jitable(forceinline=True, fastmath={"contract"})
def _expm1(x):
    """2^n · (e^r - 1) + (2^n - 1), halved meanwhile, so that the largest results do not overflow too early."""
    clamped = choose(x < f32(-40), f32(-40), choose(x > f32(89), f32(89), x))
    shifted = fused(clamped, _LOG2E, _MAGIC)
    n = bits_of(shifted) - _MAGIC_BITS
    whole = _MAGIC - shifted
    r = fused(whole, _LN2_LOW, fused(whole, _LN2_HIGH, clamped))
    p = (((((_X8 * r + _X7) * r + _X6) * r + _X5) * r + _X4) * r + _X3) * r + _HALF
    p = p * (r * r) + r
    half = from_bits(i32((n - i32(1) + _BIAS) << _SHIFT))
    return choose(x == _ZERO, x, (half * p + (half - _HALF)) * _TWO)


_TWO_OVER_PI = f32(0.63661977236758134308)
_PIO2_HIGH, _PIO2_MIDDLE, _PIO2_LOW = f32(1.5707963705062866), f32(-4.371138828673793e-08), f32(-1.7150994166548195e-15)


@register_jitable(forceinline=True, fastmath={"contract"})
def _sine_near(r):
    """The sine up to 45 degrees."""
    z = r * r
    return ((f32(-1.9515295891e-4) * z + f32(8.3321608736e-3)) * z - f32(1.6666654611e-1)) * (z * r) + r


@register_jitable(forceinline=True, fastmath={"contract"})
def _cosine_near(r):
    """The cosine up to 45 degrees."""
    z = r * r
    c = (f32(2.443315711809948e-5) * z - f32(1.388731625493765e-3)) * z + f32(4.166664568298827e-2)
    return c * (z * z) + (_ONE - _HALF * z)


_REDUCTION = (_TWO_OVER_PI, _MAGIC, _PIO2_HIGH, _PIO2_MIDDLE, _PIO2_LOW)
_sin, _cos, _tan = double.angles(i32, bits_of, from_bits, _REDUCTION, _sine_near, _cosine_near)


@register_jitable(forceinline=True, fastmath={"contract"})
def _sigmoid(x):
    small = _exp(-abs(x))
    return choose(x >= _ZERO, _ONE, small) / (_ONE + small) + choose(x != x, x, _ZERO)


_A0, _A1, _A2, _A3 = map(f32, (0.13425749011418575, 0.1411830990265524, 0.20003780322455603, 0.33333320168349617))


@register_jitable(forceinline=True, fastmath={"contract"})
def log1p_up_to_1(x):
    """Ln(1 + x) for x from 0 to 1, as in `double`."""
    s = x / (_TWO + x)
    z = s * s
    p = ((_A0 * z + _A1) * z + _A2) * z + _A3
    return x - s * (x - p * (z + z))


@register_jitable(forceinline=True, fastmath={"contract"})
def _softplus(x):
    return choose(x > _ZERO, x, _ZERO) + log1p_up_to_1(_exp(-abs(x))) + choose(x != x, x, _ZERO)


@register_jitable(forceinline=True, fastmath={"contract"})
def _sigmoid64(x):
    small = math.exp(-abs(x))
    return (1.0 if x >= 0.0 else small) / (1.0 + small)


@register_jitable(forceinline=True, fastmath={"contract"})
def _softplus64(x):
    return (x if x > 0.0 else (max(0.0, x))) + math.log1p(math.exp(-abs(x)))


@register_jitable(forceinline=True, fastmath={"contract"})
def larger(x, y):
    """The larger of two; nan if either is."""
    return choose((x >= y) | (x != x), x, y)


@register_jitable(forceinline=True, fastmath={"contract"})
def smaller(x, y):
    """The smaller of two; nan if either is."""
    return choose((x <= y) | (x != x), x, y)


@register_jitable(forceinline=True)
def half(x):
    """Round to a number of float16: by its bits, as not every processor has an instruction."""
    magnitude = bits_of(x) & i32(0x7FFFFFFF)
    even = (magnitude >> i32(13)) & i32(1)
    normal = from_bits((magnitude + i32(0xFFF) + even) & i32(-0x2000))
    subnormal = (from_bits(magnitude) + _HALF) - _HALF  # the last place of 0.5 is that of a subnormal number
    size = choose(magnitude < i32(0x38800000), subnormal, choose(normal < f32(65536), normal, _INF))
    return choose(x == x, from_bits(bits_of(size) | (bits_of(x) ^ magnitude)), x)


@register_jitable(forceinline=True, fastmath={"contract"})
def is_far(x):
    """Whether an angle is too large for the reduction here; infinities and nan are not, they give nan."""
    return (abs(x) > FAR) & (abs(x) < _INF)


_erf, _erfc, _normal_cdf = single_family(_exp_and_rest, _exp_within)


@register_jitable(forceinline=True)
def _normal_cdf_of_scalar(x):
    return 0.5 * math.erfc(-x * 0.7071067811865476)


SINGLE = {
    "exp": _exp, "expm1": _expm1, "log": _log, "log1p": _log1p, "sin": _sin, "cos": _cos, "tan": _tan, "tanh": _tanh,
    "sigmoid": _sigmoid, "softplus": _softplus, "erf": _erf, "erfc": _erfc, "normal_cdf": _normal_cdf,
    "power": single_power, **single_inverses(_exp, _expm1, _log1p, bits_of),
    **single_gamma(_log, _sine_near, _cosine_near), **modified_bessel(f32, _exp), **quantiles(f32, _log),
    **division(f32),
}  # fmt: skip
"""The functions for float32, by the names that generated source uses."""
_DIVISION = division(np.float64)
VECTOR_DOUBLE = {
    "exp": double.exp, "expm1": double.expm1, "log": double.log, "log1p": double.log1p, "sin": double.sin,
    "cos": double.cos, "tan": double.tan, "tanh": double.tanh, "sigmoid": double.sigmoid, "softplus": double.softplus,
    "erf": normal.erf, "erfc": normal.erfc, "normal_cdf": normal.normal_cdf, "power": power,
    **GAMMA, **INVERSES, **BESSEL, **QUANTILES, **_DIVISION,
}  # fmt: skip
"""The functions for float64 in loops."""
DOUBLE = {
    "exp": math.exp, "expm1": math.expm1, "log": math.log, "log1p": math.log1p, "sin": math.sin, "cos": math.cos,
    "tan": math.tan, "tanh": math.tanh, "sigmoid": _sigmoid64, "softplus": _softplus64, "erf": math.erf,
    "erfc": math.erfc, "normal_cdf": _normal_cdf_of_scalar, "power": math.pow, "asin": math.asin,
    "acos": math.acos, "atan": math.atan, "atan2": math.atan2, "sinh": math.sinh, "cosh": math.cosh,
    "asinh": math.asinh, "acosh": math.acosh, "atanh": math.atanh, **GAMMA, **BESSEL, **QUANTILES,
    **_DIVISION,
}  # fmt: skip
"""For single numbers: the functions of the C library, and those above that it lacks."""
