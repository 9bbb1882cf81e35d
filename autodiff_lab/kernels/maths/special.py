"""Vector maths of the normal distribution: the error function, its complement and the distribution itself.

Up to one half erf is x + x·P(x²).  Beyond, its complement is e^(-x²) · Q(t) / (1 + 2x) with t = (x - a) / (x + a), in
which Q hardly bends.  Both polynomials interpolate at Chebyshev's points, with values of 50 digits.

Vector maths of powers: x^y = e^(y·ln x) with a logarithm of enough digits.

For float32 the logarithm is taken in float64, which has digits to spare.  For float64 it is the sum of two numbers:
the product with y multiplies its error by up to 709, and so would the error of the result be.
"""
# ruff: noqa: ANN001, ANN201, ANN202, PLR0124 - nan alone differs from itself

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from autodiff_lab.kernels.base.deferred import register_jitable, remember
from autodiff_lab.kernels.maths import double
from autodiff_lab.kernels.maths.bits import choose, floor, fused
from autodiff_lab.kernels.maths.double import exp, exp_and_rest, log, split

# pyright: reportUnusedFunction=false, reportReturnType=false, reportCallIssue=false

_numbers = itertools.count()
_NEAR_DOUBLE = [
    1.4725865480556744e-06, -1.4845849259707869e-05, 0.00012053335124353741, -0.0008548297753674966,
    0.00522397737302147, -0.026866170632887928, 0.11283791670925353, -0.37612638903183476, 0.12837916709551256,
]  # fmt: skip
_BEYOND_DOUBLE = [
    8.635681414307825e-09, 7.124245030572795e-08, -8.42551957399924e-08, -5.840747551910045e-07, 3.0307407103093377e-07,
    3.4525197016153044e-06, -7.012462973163499e-07, -2.00929833045886e-05, 4.9387975342434404e-06,
    0.00012509749095168397, -0.00010515741491655, -0.0007798319787670749, 0.0018886900308933137, 0.002529391787416037,
    -0.023770514892453878, 0.06830802734557402, -0.11927366341637591, 0.12964515870271817, -0.04756229435343384,
    -0.13562110612458084, 1.2530080582697296,
]  # fmt: skip
_NEAR_SINGLE = [
    0.004719082731753588, -0.026757732033729553, 0.1128283143043518, -0.37612608075141907, 0.12837916612625122,
]  # fmt: skip
_ERF_NEAR = [
    -0.0006086067296564579, 0.0050110830925405025, -0.02677827514708042, 0.11282122135162354, -0.3761252164840698,
    0.12837915122509003,
]  # fmt: skip
_ERF_BEYOND = [
    -0.0002167026832466945, 0.003235994838178158, -0.022953316569328308, 0.1053546592593193, 0.6356520652770996,
    1.1285327672958374,
]  # fmt: skip
_BEYOND_SINGLE = [
    0.0005405563279055059, 0.00040866329800337553, -0.004355911631137133, 0.0009602762875147164, 0.03275834023952484,
    -0.10297104716300964, 0.15762992203235626, -0.09902434051036835, -0.12235675752162933, 1.2648382186889648,
]  # fmt: skip


INLINE = register_jitable(forceinline=True, fastmath={"contract"})
"""Marks a function that becomes a part of the loop that calls it."""


def polynomial(coefficients: list[float], number: Any, mark: Any = INLINE) -> Any:
    """Return a function that evaluates a polynomial, highest power first, by Horner's rule, marked for a compiler."""
    text = "c0"
    for n in range(1, len(coefficients)):
        text = f"({text}) * z + c{n}"
    scope: dict[str, Any] = {f"c{n}": number(c) for n, c in enumerate(coefficients)}
    made = f"def evaluate(z):\n    return {text}\n"
    name = f"<polynomial {next(_numbers)}>"
    remember(name, made)
    exec(compile(made, name, "exec"), scope)
    return mark(scope["evaluate"])


def _family(number: Any, near: Any, beyond: Any, middle: float, end: float, exp_and_rest: Any) -> tuple[Any, Any, Any]:
    """Make erf, erfc and the normal distribution function for one dtype."""
    zero, half, one, two, a, end = (number(v) for v in (0, 0.5, 1, 2, middle, end))
    root_half, tail = number(np.sqrt(0.5)), number(40 if number is np.float64 else 15)

    @register_jitable(forceinline=True, fastmath={"contract"})
    def tail_of(x, high, low):
        """Return erfc(x) where x² = high + low: e^-(high + low) · Q / (1 + 2x)."""
        return exp_and_rest(-high, -low) * beyond((x - a) / (x + a)) / (one + two * x)

    @register_jitable(forceinline=True)
    def complement(size):
        """Return erfc beyond one half, with the square of its argument in two parts."""
        x = choose(size > end, end, size)
        high = x * x
        return tail_of(x, high, fused(x, x, -high))

    @register_jitable(forceinline=True, fastmath={"contract"})
    def erf(x):
        size = abs(x)
        beyond_half = one - complement(size)
        value = choose(size < half, near(x * x) * x + x, choose(x < zero, -beyond_half, beyond_half))
        return choose(x == zero, x, value)

    @register_jitable(forceinline=True, fastmath={"contract"})
    def erfc(x):
        size = abs(x)
        beyond_half = complement(size)
        value = choose(x < zero, two - beyond_half, beyond_half)
        return choose(size < half, one - (near(x * x) * x + x), value)

    @register_jitable(forceinline=True, fastmath={"contract"})
    def normal_cdf(x):
        """Half of erfc(-x / √2), the square of whose argument is x² / 2."""
        size = abs(x)
        size = choose(size > tail, tail, size)
        high = size * size
        low = fused(size, size, -high)
        scaled = size * root_half
        beyond_half = tail_of(scaled, high * half, low * half) * half
        value = choose(x < zero, beyond_half, one - beyond_half)
        turned = x * root_half
        return choose(scaled < half, half + half * (near(turned * turned) * turned + turned), value)

    return erf, erfc, normal_cdf


erf, erfc, normal_cdf = _family(
    np.float64,
    polynomial(_NEAR_DOUBLE, np.float64),
    polynomial(_BEYOND_DOUBLE, np.float64),
    3.0,
    28.0,
    double.exp_and_rest,
)
"""The functions for float64."""


def single_family(exp_and_rest: Any, exp_within: Any) -> tuple[Any, Any, Any]:
    """Return the functions for float32, made with its exponentials; erf is 1 - e^(-x·P(x)) beyond 0.9, where it ends.

    The polynomials of that erf are of least squares over Chebyshev's points, of its relative errors.
    """
    near, beyond = polynomial(_NEAR_SINGLE, np.float32), polynomial(_BEYOND_SINGLE, np.float32)
    inner, outer = polynomial(_ERF_NEAR, np.float32), polynomial(_ERF_BEYOND, np.float32)
    zero, one, start, end = (np.float32(v) for v in (0, 1, 0.9, 4))
    _, erfc, normal_cdf = _family(np.float32, near, beyond, 2.5, 11.0, exp_and_rest)

    @INLINE
    def erf(x):
        size = abs(x)
        c = choose(size > end, end, size)
        outside = one - exp_within(-(c * outer(c)))
        value = choose(size < start, inner(x * x) * x + x, choose(x < zero, -outside, outside))
        return choose(x == zero, x, value)

    return erf, erfc, normal_cdf


# pyright: reportUnusedFunction=false, reportReturnType=false, reportCallIssue=false, reportGeneralTypeIssues=false

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
