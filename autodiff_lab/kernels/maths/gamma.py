"""Vector maths of the gamma function: its logarithm and three derivatives of that, without branches.

Between 1.5 and 2.5 the logarithm is (x - 2)·S(x - 2) with a polynomial S, so that it is exact to its digits near its
zeros, and between 1 and 2 the digamma function is (x - x₀)·D(x - 1.5) with its zero x₀ in two parts.  Other arguments
come there in whole steps up to 10 in float64 and 4 in float32, larger ones take Stirling's series, negative ones are
reflected.  The polynomials interpolate at Chebyshev's points, with values of 50 digits.  Near zeros among the negative
numbers only absolute errors are small, as in SciPy.  The trigamma function has no zeros: ten steps and a series
suffice.  It and its derivative are computed in float64 for float32, too.
"""
# ruff: noqa: ANN001, ANN201, ANN202

# pyright: reportReturnType=false, reportCallIssue=false
from __future__ import annotations

import math
from typing import Any

import numpy as np

from autodiff_lab.kernels.base.deferred import register_jitable
from autodiff_lab.kernels.maths.bits import choose, floor
from autodiff_lab.kernels.maths.double import cosine_near, log, sine_near
from autodiff_lab.kernels.maths.special import polynomial

f32, f64 = np.float32, np.float64
_S = [
    2.7475390051909663e-07, -5.811277768921246e-07, 9.242852225162277e-07, -1.9743106888421067e-06,
    4.3828545383846665e-06, -9.45628851510172e-06, 2.050601970174762e-05, -4.4923727564247656e-05,
    9.945761692157133e-05, -0.00022315497746292723, 0.0005096695196526673, -0.0011927539009983087,
    0.002890510330865901, -0.007385551028935545, 0.02058080842778338, -0.06735230105319563, 0.3224670334241132,
    0.42278433509846713,
]  # fmt: skip
_D = [
    -0.00017312261802727394, 0.00025968482126430747, -0.00015148586836773365, 0.0002272331660987376,
    -0.0004821990530566789, 0.0007233266279287554, -0.0010376374098418604, 0.0015566317474486838,
    -0.002345267632540769, 0.003519006401502276, -0.005279964873257405, 0.007926944646403797, -0.011908218001568644,
    0.0179072524394512, -0.02697579675613825, 0.04076083381242074, -0.061922133273064534, 0.09498872445494122,
    -0.14840492305390884, 0.2405424842407742, -0.4236274212814605, 0.951055876031833,
]  # fmt: skip
_S_SINGLE = [
    0.00011347281994554691, -0.0002538170956727826, 0.0005065171429518161, -0.0011858600344983208, 0.002890795321559696,
    -0.007386174155633413, 0.020580799471518252, -0.0673522814721006, 0.3224670334689425, 0.4227843350004583,
]  # fmt: skip
_D_SINGLE = [
    0.010902588672572695, -0.016373620255320655, 0.01711498899971067, -0.025786883631264544, 0.040850026740824504,
    -0.062055980386091954, 0.09498468507487738, -0.1483988613883281, 0.24054253501497624, -0.42362749747529066,
    0.9510558760318328,
]  # fmt: skip
_ZERO = 1.4616321449683622
_ZERO_REST = {f64: 9.549995429965697e-17, f32: _ZERO - float(f32(_ZERO))}
_SERIES = [-691 / 360360, 1 / 1188, -1 / 1680, 1 / 1260, -1 / 360, 1 / 12]
_ASYMPTOTE = [1 / 12, -691 / 32760, 1 / 132, -1 / 240, 1 / 252, -1 / 120, 1 / 12]
_SLOWEST = polynomial([7 / 6, -691 / 2730, 5 / 66, -1 / 30, 1 / 42, -1 / 30, 1 / 6], f64)
_TETRAGAMMA = polynomial([833473 / 798, -3617 / 30, 35 / 2, -691 / 210, 5 / 6, -3 / 10, 1 / 6, -1 / 6, 1 / 2], f64)
"""Powers of 1/x²: Abramowitz & Stegun, 6.1.41, 6.3.18, 6.4.12 and 6.4.13."""
_PI, _INF = math.pi, math.inf


def _family(number: Any, log: Any, sine_near: Any, cosine_near: Any, of_s: Any, of_d: Any, terms: int) -> Any:
    """Make lgamma, digamma and what reflects them for one dtype; the series have so many terms."""
    s, d = polynomial(of_s, number), polynomial(of_d, number)
    series, asymptote = polynomial(_SERIES[-terms:], number), polynomial(_ASYMPTOTE[-terms - 1 :], number)
    steps = 8 if number is f64 else 2
    end, far_from = number(steps + 2), number(steps + 2.5)
    down = tuple(number(j) for j in range(1, steps + 1))
    zero, quarter, half, one, two, infinity = (number(v) for v in (0, 0.25, 0.5, 1, 2, math.inf))
    root, rest, nan = number(_ZERO), number(_ZERO_REST[number]), number(math.nan)
    pi, log_pi, of_stirling = number(math.pi), number(math.log(math.pi)), number(0.5 * math.log(2 * math.pi) - 0.5)

    @register_jitable(forceinline=True)
    def turn(x):
        """Sine and cosine of pi times the distance to the nearest integer, and the distance with its sign."""
        r = x - floor(x + half)
        size = abs(r)
        high = size > quarter
        angle = pi * choose(high, half - size, size)
        s, c = sine_near(angle), cosine_near(angle)
        return choose(high, c, s), choose(high, s, c), r

    @register_jitable(forceinline=True, fastmath={"contract"})
    def lgamma(x):
        """The logarithm of the absolute value of the gamma function; inf at 0, -1, -2, ... and inf."""
        z = choose(x < zero, one - x, x)
        whole = floor(z + half)
        u = z - whole
        product = choose(whole < one, z * (one + z), choose(whole < two, z, one))
        for j in down:
            product *= choose(whole >= j + two, z - j, one)
        far = z >= far_from
        logarithm = log(choose(far, z, product))
        near = u * s(u) + choose(whole < two, -logarithm, logarithm)
        inverse = one / z
        stirling = (z - half) * (logarithm - one) + (of_stirling + inverse * series(inverse * inverse))
        value = choose(far, stirling, near)
        sine, _, _ = turn(x)
        value = choose(x < zero, (log_pi - log(sine)) - value, value)
        return choose(x == -infinity, x, value)

    @register_jitable(forceinline=True, fastmath={"contract"})
    def digamma(x):
        """The derivative of `lgamma`; nan at -1, -2, ... and -inf."""
        z = choose(x < zero, one - x, x)
        whole = floor(z)
        above = z - whole
        v = choose(whole == one, z, above + one)
        n, q = choose(whole < one, -one, zero), choose(whole < one, z, one)
        for j in down:  # the sum of 1 / (z - j) as one quotient
            goes, f = whole >= j + one, z - j
            n, q = choose(goes, n * f + q, n), choose(goes, q * f, q)
        near = ((v - root) - rest) * d(above - half) + n / q
        inverse = one / z
        square = inverse * inverse
        stirling = log(z) - half * inverse - square * asymptote(square)
        value = choose(z >= end, stirling, near)
        sine, cosine, r = turn(x)
        value = choose(x < zero, value - choose(r < zero, -pi, pi) * (cosine / sine), value)
        return choose((x < zero) & ((r == zero) | (x == -infinity)), nan, value)

    return lgamma, digamma, turn


lgamma, digamma, _turn = _family(f64, log, sine_near, cosine_near, _S, _D, 6)


@register_jitable(forceinline=True, fastmath={"contract"})
def trigamma(x):
    """The derivative of `digamma`; inf at 0, -1, -2, ... and -inf."""
    z = choose(x < 0.0, 1.0 - x, x)
    far = z >= 10.0
    n, d = 0.0, 1.0
    for j in (0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0):  # the sum of 1 / (z + j)² as one quotient
        square = (z + j) * (z + j)
        n, d = n * square + d, d * square
    y = choose(far, z, z + 10.0)
    inverse = 1.0 / y
    square = inverse * inverse
    series = inverse + square * (0.5 + inverse * _SLOWEST(square))
    value = choose(far, series, series + n / d)
    sine, _, r = _turn(x)
    ratio = _PI / sine
    value = choose(x < 0.0, ratio * ratio - value, value)
    return choose((x <= 0.0) & ((r == 0.0) | (x == -_INF)), _INF, value)


@register_jitable(forceinline=True, fastmath={"contract"})
def tetragamma(x):
    """The derivative of `trigamma`; -inf at 0, -1, -2, ... and -inf."""
    z = choose(x < 0.0, 1.0 - x, x)
    far = z >= 10.0
    inverse = 1.0 / choose(far, 1.0, z)
    n, d = 0.0, 1.0
    for j in (1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0):  # the sum of 1 / (z + j)³ as one quotient
        cube = (z + j) * (z + j) * (z + j)
        n, d = n * cube + d, d * cube
    steps = choose(far, 0.0, 2.0 * (n / d + inverse * inverse * inverse))
    inverse = 1.0 / choose(far, z, z + 10.0)
    square = inverse * inverse
    value = -square * (1.0 + inverse + square * _TETRAGAMMA(square)) - steps
    sine, cosine, r = _turn(x)
    ratio = _PI / sine
    turned = 2.0 * ratio * ratio * ratio * choose(r < 0.0, -cosine, cosine)
    value = choose(x < 0.0, value - turned, value)
    return choose((x <= 0.0) & ((r == 0.0) | (x == -_INF)), -_INF, value)


def _single(function):
    """Make a function of float32, by way of float64."""

    @register_jitable(forceinline=True)
    def single(x):
        return f32(function(f64(x)))

    return single


GAMMA = {"lgamma": lgamma, "digamma": digamma, "trigamma": trigamma, "tetragamma": tetragamma}
"""The functions for float64, by name."""


def single_gamma(log: Any, sine_near: Any, cosine_near: Any) -> dict[str, Any]:
    """Make the functions for float32, given others for it."""
    lgamma, digamma, _ = _family(f32, log, sine_near, cosine_near, _S_SINGLE, _D_SINGLE, 4)
    return {"lgamma": lgamma, "digamma": digamma, "trigamma": _single(trigamma), "tetragamma": _single(tetragamma)}
