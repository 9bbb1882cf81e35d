"""Vector maths in float64: elementary functions without branches, as `single` has them in float32.

Exponentials are Taylor polynomials after a reduction by powers of two, which at 13 terms are as good as any; logarithms
and the polynomials of sine and cosine have the coefficients of fdlibm, minimax polynomials in general use.
"""
# ruff: noqa: ANN001, ANN201, ANN202, PLR0124 - nan alone differs from itself

# pyright: reportUnusedFunction=false, reportReturnType=false, reportCallIssue=false, reportGeneralTypeIssues=false
from __future__ import annotations

import math
from typing import Any

import numpy as np

from autodiff_lab.kernels.base.deferred import register_jitable
from autodiff_lab.kernels.maths.bits import bits_of_double, choose, double_from_bits, fused

i64 = np.int64
FAR = 1e9
"""Angles beyond this are reduced with care by NumPy."""
_INF, _NAN = math.inf, math.nan
_LOG2E, _MAGIC, _MAGIC_BITS = 1.4426950408889634, 6755399441055744.0, i64(0x4338000000000000)
_LN2_HIGH, _LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
_SHIFT, _BIAS = i64(52), i64(1023)
_C2, _C3, _C4, _C5, _C6, _C7, _C8, _C9, _C10, _C11, _C12, _C13, _C14 = [1 / math.factorial(n) for n in range(2, 15)]


@register_jitable(forceinline=True)
def power_of_two(n):
    """Give 2^n for n between -1022 and 1023."""
    return double_from_bits(i64((n + _BIAS) << _SHIFT))


@register_jitable(forceinline=True, fastmath={"contract"})
def exp_and_rest(x, rest):
    """Give e^(x + rest), where the rest is tiny: 2^n · e^r, the power in halves, so that subnormals round once.

    From -1418 down n is -2046, and either half has the bits of 0, see `single`.
    """
    clamped = choose(x < -1418.0, -1418.0, choose(x > 710.0, 710.0, x))
    shifted = fused(clamped, _LOG2E, _MAGIC)
    n = bits_of_double(shifted) - _MAGIC_BITS
    whole = _MAGIC - shifted
    r = fused(whole, _LN2_LOW, fused(whole, _LN2_HIGH, clamped)) + rest
    p = (((((_C13 * r + _C12) * r + _C11) * r + _C10) * r + _C9) * r + _C8) * r + _C7
    p = ((((p * r + _C6) * r + _C5) * r + _C4) * r + _C3) * r + _C2
    p = p * (r * r) + r + 1.0
    half = n >> i64(1)
    return p * power_of_two(half) * power_of_two(n - half)


@register_jitable(forceinline=True, fastmath={"contract"})
def exp(x):
    """e^x."""
    return exp_and_rest(x, 0.0)


@register_jitable(forceinline=True, fastmath={"contract"})
def expm1(x):
    """2^n · (e^r - 1) + (2^n - 1), halved meanwhile, so that the largest results do not overflow too early."""
    clamped = choose(x < -60.0, -60.0, choose(x > 710.0, 710.0, x))
    shifted = fused(clamped, _LOG2E, _MAGIC)
    n = bits_of_double(shifted) - _MAGIC_BITS
    whole = _MAGIC - shifted
    r = fused(whole, _LN2_LOW, fused(whole, _LN2_HIGH, clamped))
    p = (((((_C14 * r + _C13) * r + _C12) * r + _C11) * r + _C10) * r + _C9) * r + _C8
    p = (((((p * r + _C7) * r + _C6) * r + _C5) * r + _C4) * r + _C3) * r + _C2
    p = p * (r * r) + r
    half = power_of_two(n - i64(1))
    value = (half * p + (half - 0.5)) * 2.0
    return choose(x == 0.0, x, value)


_G1, _G2, _G3, _G4, _G5, _G6, _G7 = (
    6.666666666666735130e-01, 3.999999999940941908e-01, 2.857142874366239149e-01, 2.222219843214978396e-01,
    1.818357216161805012e-01, 1.531383769920937332e-01, 1.479819860511658591e-01,
)  # fmt: skip


@register_jitable(forceinline=True)
def split(x):
    """The whole exponent e, as a float, and the fraction m about 1 of a positive x = 2^e · m."""
    small = x < 2.2250738585072014e-308
    bits = bits_of_double(choose(small, x * 18014398509481984.0, x))
    e = double_from_bits(i64((bits >> _SHIFT) + _MAGIC_BITS)) - _MAGIC - choose(small, 1077.0, 1023.0)
    m = double_from_bits(i64((bits & i64(0x000FFFFFFFFFFFFF)) | i64(0x3FF0000000000000)))
    high = m > 1.4142135623730951
    return choose(high, e + 1.0, e), choose(high, m * 0.5, m)


@register_jitable(forceinline=True, fastmath={"contract"})
def log(x):
    """e·ln 2 + ln m, the latter by powers of (m - 1) / (m + 1)."""
    e, m = split(x)
    f = m - 1.0
    s = f / (2.0 + f)
    z = s * s
    p = ((((((_G7 * z + _G6) * z + _G5) * z + _G4) * z + _G3) * z + _G2) * z + _G1) * z
    half = 0.5 * f * f
    value = e * _LN2_HIGH - ((half - (s * (half + p) + e * _LN2_LOW)) - f)
    value = choose(x == _INF, _INF, choose(x == 0.0, -_INF, value))
    return choose(x < 0.0, _NAN, choose(x != x, x, value))


@register_jitable(forceinline=True, fastmath={"contract"})
def log1p(x):
    """Ln u with u = 1 + x as rounded, and the rest of x to first order."""
    u = 1.0 + x
    rest = choose(u > 2.0, 1.0 - (u - x), x - (u - 1.0)) / u
    value = log(u) + choose((u == 0.0) | (u == _INF), 0.0, rest)
    return choose(u == 1.0, x, value)


@register_jitable(forceinline=True, fastmath={"contract"})
def tanh(x):
    """Minus t / (t + 2) with t = e^-2|x| - 1."""
    t = expm1(-2.0 * abs(x))
    value = t / (t + 2.0)
    value = choose(x < 0.0, value, -value)
    return choose(x == 0.0, x, value)


@register_jitable(forceinline=True, fastmath={"contract"})
def sigmoid(x):
    """The larger share as 1 / (1 + e^-|x|), the smaller as e^-|x| / (1 + e^-|x|)."""
    small = exp(-abs(x))
    return choose(x >= 0.0, 1.0, small) / (1.0 + small) + choose(x != x, x, 0.0)


_A0, _A1, _A2, _A3, _A4, _A5, _A6, _A7, _A8, _A9 = (
    0.08082022805971766, 0.04400369243072337, 0.06000536404795356, 0.06657072104827468, 0.07692785032479312,
    0.09090894718066429, 0.11111111358713932, 0.1428571428355438, 0.20000000000007292, 0.3333333333333333,
)  # fmt: skip


@register_jitable(forceinline=True, fastmath={"contract"})
def log1p_up_to_1(x):
    """Ln(1 + x) for x from 0 to 1: 2·artanh(s) = 2s + 2s³·P(s²) with s = x / (2 + x), in which 2s is x - s·x.

    P interpolates at Chebyshev's points.
    """
    s = x / (2.0 + x)
    z = s * s
    p = ((((((((_A0 * z + _A1) * z + _A2) * z + _A3) * z + _A4) * z + _A5) * z + _A6) * z + _A7) * z + _A8) * z + _A9
    return x - s * (x - p * (z + z))


@register_jitable(forceinline=True, fastmath={"contract"})
def softplus(x):
    """max(x, 0) + ln(1 + e^-|x|)."""
    return choose(x > 0.0, x, 0.0) + log1p_up_to_1(exp(-abs(x))) + choose(x != x, x, 0.0)


_TWO_OVER_PI = 0.63661977236758134308
_PIO2_HIGH, _PIO2_MIDDLE, _PIO2_LOW = 1.5707963267948966, 6.123233995736766e-17, -1.4973849048591833e-33
_S1, _S2, _S3, _S4, _S5, _S6 = (
    -1.66666666666666324348e-01, 8.33333333332248946124e-03, -1.98412698298579493134e-04, 2.75573137070700676789e-06,
    -2.50507602534068634195e-08, 1.58969099521155010221e-10,
)  # fmt: skip
_K1, _K2, _K3, _K4, _K5, _K6 = (
    4.16666666666666019037e-02, -1.38888888888741095749e-03, 2.48015872894767294178e-05, -2.75573143513906633035e-07,
    2.08757232129817482790e-09, -1.13596475577881948265e-11,
)  # fmt: skip


@register_jitable(forceinline=True, fastmath={"contract"})
def sine_near(r):
    """The sine up to 45 degrees."""
    z = r * r
    return (((((_S6 * z + _S5) * z + _S4) * z + _S3) * z + _S2) * z + _S1) * (z * r) + r


@register_jitable(forceinline=True, fastmath={"contract"})
def cosine_near(r):
    """The cosine up to 45 degrees."""
    z = r * r
    c = ((((_K6 * z + _K5) * z + _K4) * z + _K3) * z + _K2) * z + _K1
    half = 0.5 * z
    w = 1.0 - half
    return w + (((1.0 - w) - half) + c * (z * z))


def angles(
    integer: Any, bits: Any, number: Any, constants: tuple[Any, ...], sine_near: Any, cosine_near: Any
) -> tuple[Any, Any, Any]:
    """Make the sine, cosine and tangent of radians up to FAR, given those of up to 45 degrees and ways to read bits.

    The nearest number of quarter turns is taken off in three parts, each product and difference rounded once: the first
    difference is exact, the others lose half an ulp each.
    """
    two_over_pi, magic, high, middle, low = constants
    none, one, two, sign = integer(0), integer(1), integer(2), integer(8 * integer().itemsize - 2)
    zero = type(magic)(0)

    @register_jitable(forceinline=True)
    def turned(x):
        shifted = fused(x, two_over_pi, magic)
        n = magic - shifted
        return bits(shifted), fused(n, low, fused(n, middle, fused(n, high, x)))

    @register_jitable(forceinline=True)
    def quarter_turn(x, turn):
        """The sine of x plus `turn` quarter turns; sine and cosine of one angle share most of it."""
        count, r = turned(x)
        quarter = count + turn
        value = choose((quarter & one) == one, cosine_near(r), sine_near(r))
        return number(integer(bits(value) ^ integer((quarter & two) << sign)))

    @register_jitable(forceinline=True)
    def sin(x):
        return choose(x == zero, x, quarter_turn(x, none))

    @register_jitable(forceinline=True)
    def cos(x):
        return quarter_turn(x, one)

    @register_jitable(forceinline=True)
    def tan(x):
        count, r = turned(x)
        s, c = sine_near(r), cosine_near(r)
        odd = (count & one) == one
        return choose(x == zero, x, choose(odd, -c, s) / choose(odd, s, c))

    return sin, cos, tan


_REDUCTION = (_TWO_OVER_PI, _MAGIC, _PIO2_HIGH, _PIO2_MIDDLE, _PIO2_LOW)
sin, cos, tan = angles(i64, bits_of_double, double_from_bits, _REDUCTION, sine_near, cosine_near)


@register_jitable(forceinline=True)
def is_far_double(x):
    """Whether an angle is too large for the reduction here; infinities and nan are not, they give nan."""
    return (abs(x) > FAR) & (abs(x) < _INF)
