"""Vector maths of inverse trigonometric functions, hyperbolic functions and their inverses, without branches.

An arcsine up to one half and an arctangent up to 1 are x + x³·P(x²); larger arguments are brought there, the arcsine by
asin x = π/2 - 2·asin √((1 - x) / 2) and the arctangent by atan x = π/2 - atan 1/x.  The polynomials interpolate at
Chebyshev's points, with values of 50 digits.  Hyperbolic functions are made of half exponentials, so that they do not
overflow too early, and their inverses are logarithms of 1 + t, which keeps the digits near zero.
"""
# ruff: noqa: ANN001, ANN202, PLR0124 - nan alone differs from itself

# pyright: reportUnusedFunction=false, reportReturnType=false, reportCallIssue=false
from __future__ import annotations

import math
from typing import Any

import numpy as np

from autodiff_lab.kernels.base.deferred import register_jitable
from autodiff_lab.kernels.maths import double
from autodiff_lab.kernels.maths.bits import bits_of_double, choose
from autodiff_lab.kernels.maths.special import polynomial

_ASIN_DOUBLE = [
    0.028757851367421566, -0.014851887071247204, 0.01740087944269402, 0.005457506718640358, 0.01032281435018578,
    0.011479177415184906, 0.013971212973552933, 0.017352392720869973, 0.02237217294214989, 0.030381944138531247,
    0.04464285714635543, 0.07499999999998433, 0.16666666666666669,
]  # fmt: skip
_ATAN_DOUBLE = [
    1.806195461861215e-05, -0.00019996189377901382, 0.0010496035084968515, -0.0034958859739163094,
    0.008368931178450162, -0.015535152475414177, 0.023696731580048622, -0.031277189066996385, 0.03749486812535247,
    -0.04260356632601652, 0.04737749579527779, -0.052579733342841106, 0.05881506877793656, -0.06666564699289104,
    0.07692298971033217, -0.09090908590891934, 0.11111111093490827, -0.14285714285384132, 0.1999999999999753,
    -0.3333333333333333,
]  # fmt: skip
_ASIN_SINGLE = [
    0.03369084745645523, 0.017149237915873528, 0.031100662425160408, 0.04459940269589424, 0.07500094175338745,
    0.1666666567325592,
]  # fmt: skip
_ATAN_SINGLE = [
    -0.0023869972210377455, 0.01350777130573988, -0.035871539264917374, 0.0625016912817955, -0.08656880259513855,
    0.11033764481544495, -0.1427856832742691, 0.19999739527702332, -0.3333333134651184,
]  # fmt: skip


def inverse_trigonometric(number: Any, asin_near: Any, atan_near: Any, bits: Any) -> dict[str, Any]:
    """Make the inverse trigonometric functions for one dtype, given their polynomials and a way to read bits."""
    zero, half, one, integer = number(0), number(0.5), number(1), np.int32 if number is np.float32 else np.int64
    none, infinity, pi, right = integer(0), number(math.inf), number(math.pi), number(math.pi / 2)
    rest = {"float32": -8.742277657347586e-08, "float64": 1.2246467991473532e-16}[number.__name__]
    pi_rest, right_rest = number(rest), number(rest / 2)

    @register_jitable(forceinline=True, fastmath={"contract"})
    def reduced(x):
        """Return the arcsine up to one half of |x| or, where |x| is larger, of √((1 - |x|) / 2)."""
        size = abs(x)
        large = size > half
        z = choose(large, (one - size) * half, size * size)
        r = choose(large, math.sqrt(z), size)
        return r * z * asin_near(z) + r

    @register_jitable(forceinline=True, fastmath={"contract"})
    def asin(x):
        p = reduced(x)
        value = choose(abs(x) > half, right - (p + p - right_rest), p)
        return choose(x == zero, x, choose(x < zero, -value, value))

    @register_jitable(forceinline=True, fastmath={"contract"})
    def acos(x):
        p = reduced(x)
        twice = p + p
        far = choose(x < zero, pi - (twice - pi_rest), twice)
        return choose(abs(x) > half, far, right - (choose(x < zero, -p, p) - right_rest))

    @register_jitable(forceinline=True, fastmath={"contract"})
    def atan_of_quotient(low, high):
        """Return the arctangent of low / high, where 0 <= low <= high."""
        r = low / high
        z = r * r
        return r * z * atan_near(z) + r

    @register_jitable(forceinline=True, fastmath={"contract"})
    def atan(x):
        size = abs(x)
        large = size > one
        p = atan_of_quotient(choose(large, one, size), choose(large, size, one))
        value = choose(large, right - (p - right_rest), p)
        return choose(x == zero, x, choose(x < zero, -value, value))

    @register_jitable(forceinline=True, fastmath={"contract"})
    def atan2(y, x):
        tall = abs(y) > abs(x)
        low, high = choose(tall, abs(x), abs(y)), choose(tall, abs(y), abs(x))
        endless = low == infinity
        p = atan_of_quotient(choose(endless, one, low), choose(endless | (high == zero), one, high))
        p = choose(tall, right - (p - right_rest), p)
        p = choose(bits(x) < none, pi - (p - pi_rest), p)
        value = choose(bits(y) < none, -p, p)
        return choose(x != x, x, choose(y != y, y, value))

    return {"asin": asin, "acos": acos, "atan": atan, "atan2": atan2}


def hyperbolic(number: Any, exp: Any, expm1: Any, log1p: Any) -> dict[str, Any]:
    """Make the hyperbolic functions and their inverses for one dtype, given functions of that dtype."""
    zero, half, one, two, ln2 = (number(v) for v in (0, 0.5, 1, 2, math.log(2)))
    most, far = (number(v) for v in ((100, 1e18) if number is np.float32 else (800, 1e150)))

    @register_jitable(forceinline=True, fastmath={"contract"})
    def sinh(x):
        """Half of u + u / (u + 1), where u = e^|x| - 1 = t(t + 2) and t = e^(|x|/2) - 1."""
        size = abs(x)
        t = expm1(choose(size > most, most, size) * half)
        shrunk = one / (t + one)
        value = (half * t) * (t + two) + (half * (t * shrunk)) * (one + shrunk)
        return choose(x == zero, x, choose(x < zero, -value, value))

    @register_jitable(forceinline=True, fastmath={"contract"})
    def cosh(x):
        size = abs(x)
        grown = exp(choose(size > most, most, size) * half)
        shrunk = one / grown
        return (half * grown) * grown + (half * shrunk) * shrunk

    @register_jitable(forceinline=True, fastmath={"contract"})
    def asinh(x):
        """Give ln(1 + t) with t = |x| + x² / (1 + √(1 + x²)), which is about 2|x| where |x| is large."""
        size = abs(x)
        large = size > far
        inverse = one / size
        t = choose(large, size, size + size / (inverse + math.sqrt(inverse * inverse + one)))
        value = log1p(t) + choose(large, ln2, zero)
        return choose(x == zero, x, choose(x < zero, -value, value))

    @register_jitable(forceinline=True, fastmath={"contract"})
    def acosh(x):
        """Give ln(1 + t) with t = x - 1 + √(x² - 1), which is about 2x where x is large."""
        large = x > far
        u = x - one
        t = choose(large, x, u + math.sqrt(u) * math.sqrt(u + two))
        return log1p(t) + choose(large, ln2, zero)

    @register_jitable(forceinline=True, fastmath={"contract"})
    def atanh(x):
        size = abs(x)
        value = half * log1p((size + size) / (one - size))
        return choose(x == zero, x, choose(x < zero, -value, value))

    return {"sinh": sinh, "cosh": cosh, "asinh": asinh, "acosh": acosh, "atanh": atanh}


def single_inverses(exp: Any, expm1: Any, log1p: Any, bits: Any) -> dict[str, Any]:
    """Return the functions for float32, by name, made with its others."""
    near = polynomial(_ASIN_SINGLE, np.float32), polynomial(_ATAN_SINGLE, np.float32)
    return {**inverse_trigonometric(np.float32, *near, bits), **hyperbolic(np.float32, exp, expm1, log1p)}


INVERSES = {
    **inverse_trigonometric(
        np.float64, polynomial(_ASIN_DOUBLE, np.float64), polynomial(_ATAN_DOUBLE, np.float64), bits_of_double
    ),
    **hyperbolic(np.float64, double.exp, double.expm1, double.log1p),
}
"""The functions for float64, by name."""
