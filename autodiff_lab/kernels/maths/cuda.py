"""What generated kernels are made of: the names that their text may use, for float32 or for float64.

`lab.function` writes one kernel for a run of elementwise ops and their reductions.  A kernel of float32 has no
instruction of float64, but in the library's way with angles beyond 100,000.  Folding is in `cuda_folds`.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from autodiff_lab.kernels.cuda.launching import SIMULATED, THREADS, cuda, math
from autodiff_lab.kernels.maths import cuda_single as single
from autodiff_lab.kernels.maths.bessel import modified_bessel
from autodiff_lab.kernels.maths.cuda_folds import IN_PLACES, larger, smaller
from autodiff_lab.kernels.maths.division import division


@cuda.jit(device=True)
def choose(condition: Any, x: Any, y: Any) -> Any:
    """One of two values."""
    return x if condition else y


@cuda.jit(device=True)
def divide(x: Any, y: Any) -> Any:
    """Write x / y."""
    return x / y


@cuda.jit(device=True)
def rsqrt(x: Any) -> Any:
    """Write 1 / √x."""
    return 1.0 / math.sqrt(x)


@cuda.jit(device=True)
def fused(x: Any, y: Any, z: Any) -> Any:
    """Write x · y + z, rounded once."""
    return cuda.fma(x, y, z)


_QUICK: dict[str, dict[str, Any]] = {
    "float32": {name: getattr(single, name) for name in ("quotient", "sqrt", "rsqrt", "sin", "cos", "tan", "is_far")},
    "float64": {"quotient": divide, "rsqrt": rsqrt},
}
"""What a dtype has in place of the library's functions."""


def _functions(number: Any, whole: float) -> dict[str, Any]:
    """Functions that need constants of their dtype; from `whole` on every number is a whole one."""
    zero, one, most = number(0), number(1), number(whole)
    quotient = _QUICK[number.__name__].get("quotient", divide)

    @cuda.jit(device=True)
    def sigmoid(x: Any) -> Any:
        shrunk = math.exp(-abs(x))  # never too large
        return quotient(choose(x < zero, shrunk, one), one + shrunk)

    @cuda.jit(device=True)
    def softplus(x: Any) -> Any:
        return larger(x, zero) + math.log1p(math.exp(-abs(x)))

    @cuda.jit(device=True)
    def nearest(x: Any) -> Any:
        size = abs(x)
        rounded = (size + most) - most  # the last bit of a number this large is 1: the sum is rounded to a whole one
        return math.copysign(choose(size < most, rounded, size), x)

    gamma = {**_of_gamma(number, nearest), "tetragamma": _tetragamma(number, nearest)}
    return {"sigmoid": sigmoid, "softplus": softplus, "nearest": nearest, **gamma}


def _angles(number: Any) -> tuple[Any, Any]:
    """The tangent and the sine of angles that are not far."""
    if number is not np.float32:
        return math.tan, math.sin

    @cuda.jit(device=True)
    def tan(x: Any) -> Any:
        return single.tan(x, False)

    @cuda.jit(device=True)
    def sin(x: Any) -> Any:
        return single.sin(x, False)

    return tan, sin


def _of_gamma(number: Any, nearest: Any) -> dict[str, Any]:
    """The derivatives of the logarithm of the gamma function."""
    zero, one = number(0), number(1)
    half, ten, pi = number(0.5), number(10), number(np.pi)
    nan, infinity = number(np.nan), number(np.inf)
    tan, sin = _angles(number)
    b1, b2, b3, b4, b5 = (number(1 / k) for k in (12, -120, 252, -240, 132))
    b6, b7 = number(-691 / 32760), number(1 / 12)

    @cuda.jit(device=True)
    def digamma(x: Any) -> Any:
        """Abramowitz & Stegun, 6.3.5, 6.3.7 and 6.3.18."""
        z, steps = choose(x < zero, one - x, x), zero
        while z < ten:
            steps += one / z
            z += one
        w = one / (z * z)
        value = math.log(z) - half / z - w * (b1 + w * (b2 + w * (b3 + w * (b4 + w * (b5 + w * (b6 + w * b7))))))
        value -= steps
        if x < zero:
            r = x - nearest(x)
            value = nan if r == zero else value - pi / tan(pi * r)
        return value

    t1, t2, t3, t4, t5 = (number(1 / k) for k in (6, -30, 42, -30, 13.2))
    t6, t7 = number(-691 / 2730), number(7 / 6)

    @cuda.jit(device=True)
    def trigamma(x: Any) -> Any:
        """Abramowitz & Stegun, 6.4.6, 6.4.7 and 6.4.12."""
        if x <= zero and (x - nearest(x) == zero or math.isinf(x)):
            return infinity
        z, steps = choose(x < zero, one - x, x), zero
        while z < ten:
            steps += one / (z * z)
            z += one
        v = one / z
        w = v * v
        value = steps + v + w * (half + v * (t1 + w * (t2 + w * (t3 + w * (t4 + w * (t5 + w * (t6 + w * t7)))))))
        if x < zero:
            r = x - nearest(x)
            ratio = pi / sin(pi * r)
            value = ratio * ratio - value
        return value

    return {"digamma": digamma, "trigamma": trigamma}


def _tetragamma(number: Any, nearest: Any) -> Any:
    """The derivative of trigamma."""
    zero, one, ten, pi, infinity = number(0), number(1), number(10), number(np.pi), number(np.inf)
    tan, sin = _angles(number)
    s1, s2, s3, s4, s5 = (number(v) for v in (1 / 2, -1 / 6, 1 / 6, -3 / 10, 5 / 6))
    s6, s7, s8, s9 = (number(v) for v in (-691 / 210, 35 / 2, -3617 / 30, 833473 / 798))

    @cuda.jit(device=True)
    def tetragamma(x: Any) -> Any:
        """Abramowitz & Stegun, 6.4.6, 6.4.7 and 6.4.13."""
        if x <= zero and (x - nearest(x) == zero or math.isinf(x)):
            return -infinity
        z, steps = choose(x < zero, one - x, x), zero
        while z < ten:
            v = one / z
            steps += v * v * v
            z += one
        v = one / z
        w = v * v
        series = s3 + w * (s4 + w * (s5 + w * (s6 + w * (s7 + w * (s8 + w * s9)))))
        value = -w * (one + v + w * (s1 + w * (s2 + w * series))) - (steps + steps)
        if x < zero:
            r = pi * (x - nearest(x))
            ratio = pi / sin(r)
            value -= (ratio + ratio) * ratio * (pi / tan(r))
        return value

    return tetragamma


_NORMAL = {
    "normal_cdf": ("ndtr", "normcdf"), "ndtri": ("ndtri", "normcdfinv"), "erfinv": ("erfinv", "erfinv"),
    "erfcinv": ("erfcinv", "erfcinv"),
}  # fmt: skip
"""Functions of the normal distribution, which keep their digits far out: their names in SciPy and in the library."""


def _normal(dtype: str) -> dict[str, Any]:
    if SIMULATED:
        return {name: getattr(import_module("scipy.special"), theirs) for name, (theirs, _) in _NORMAL.items()}
    library, end = import_module("numba.cuda.libdevice"), "f" * (dtype == "float32")
    return {name: getattr(library, theirs + end) for name, (_, theirs) in _NORMAL.items()}


def _division(number: Any) -> dict[str, Any]:
    """Quotients that are rounded down, and remainders; the simulator has no product that is rounded once."""
    if SIMULATED:
        return {"floor_divide": np.floor_divide, "remainder": np.remainder}
    return division(number, cuda.jit(device=True), choose, math.floor, fused)


_LIBRARY = (
    "exp", "expm1", "log", "log1p", "sin", "cos", "tan", "tanh", "erf", "erfc", "lgamma", "sqrt", "floor", "ceil",
    "asin", "acos", "atan", "atan2", "sinh", "cosh", "asinh", "acosh", "atanh",
)  # fmt: skip
_WHOLE = {"float32": 2.0**23, "float64": 2.0**52}
_spaces: dict[str, dict[str, Any]] = {}


def namespace(dtype: str) -> dict[str, Any]:
    """Return the names that the text of a generated kernel may use, for ``"float32"`` or ``"float64"``."""
    if dtype not in _spaces:
        number = np.dtype(dtype).type
        _spaces[dtype] = {
            "cuda": cuda, "uint32": np.uint32, "number": number, "zero": number(0), "one": number(1),
            "infinity": number(np.inf), "THREADS": THREADS, "choose": choose, "larger": larger,
            "smaller": smaller, "power": math.pow,
            **IN_PLACES,
            **{name: getattr(math, name) for name in _LIBRARY},
            **_QUICK[dtype],
            **_normal(dtype),
            **modified_bessel(number, math.exp, cuda.jit(device=True), choose, fused, math.sqrt),
            **_division(number),
            **_functions(number, _WHOLE[dtype]),
        }  # fmt: skip
    return dict(_spaces[dtype])
