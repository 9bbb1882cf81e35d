"""Vector maths of the normal distribution: the error function, its complement and the distribution itself.

Up to one half erf is x + x·P(x²).  Beyond, its complement is e^(-x²) · Q(t) / (1 + 2x) with t = (x - a) / (x + a), in
which Q hardly bends.  Both polynomials interpolate at Chebyshev's points, with values of 50 digits.
"""
# pyright: reportUnusedFunction=false, reportReturnType=false, reportCallIssue=false
# ruff: noqa: ANN001, ANN202

from __future__ import annotations

from typing import Any

import numpy as np
from numba.extending import register_jitable

from autodiff_lab.kernels.jit import vector_maths_double as double
from autodiff_lab.kernels.jit.vector_maths_bits import choose, fused

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
_BEYOND_SINGLE = [
    0.0005405563279055059, 0.00040866329800337553, -0.004355911631137133, 0.0009602762875147164, 0.03275834023952484,
    -0.10297104716300964, 0.15762992203235626, -0.09902434051036835, -0.12235675752162933, 1.2648382186889648,
]  # fmt: skip


def polynomial(coefficients: list[float], number: Any) -> Any:
    """A function that evaluates a polynomial, highest power first, by Horner's rule."""
    text = "c0"
    for n in range(1, len(coefficients)):
        text = f"({text}) * z + c{n}"
    scope: dict[str, Any] = {f"c{n}": number(c) for n, c in enumerate(coefficients)}
    exec(f"def evaluate(z):\n    return {text}\n", scope)
    return register_jitable(forceinline=True, fastmath={"contract"})(scope["evaluate"])


def _family(number: Any, near: Any, beyond: Any, middle: float, end: float, exp_and_rest: Any) -> tuple[Any, Any, Any]:
    """Erf, erfc and the normal distribution for one dtype."""
    zero, half, one, two, a, end = (number(v) for v in (0, 0.5, 1, 2, middle, end))
    root_half, tail = number(np.sqrt(0.5)), number(40 if number is np.float64 else 15)

    @register_jitable(forceinline=True, fastmath={"contract"})
    def far_share(x, high, low):
        """E^-(high + low) · Q / (1 + 2x), which is erfc(x) where x² = high + low."""
        return exp_and_rest(-high, -low) * beyond((x - a) / (x + a)) / (one + two * x)

    @register_jitable(forceinline=True)
    def complement(size):
        """Erfc beyond one half, by the square of its argument in two parts."""
        x = choose(size > end, end, size)
        high = x * x
        return far_share(x, high, fused(x, x, -high))

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
        beyond_half = far_share(scaled, high * half, low * half) * half
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


def single_family(exp_and_rest: Any) -> tuple[Any, Any, Any]:
    """The functions for float32, made with its exponential."""
    near, beyond = polynomial(_NEAR_SINGLE, np.float32), polynomial(_BEYOND_SINGLE, np.float32)
    return _family(np.float32, near, beyond, 2.5, 11.0, exp_and_rest)
