"""Reference values for tests of elementary functions: NumPy's long doubles, and series where NumPy has no function.

Long doubles have 64 bits of fraction on x86, eleven more than float64; on a machine without them, the tests of float64
are skipped with that reason.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

wide = np.longdouble
HAS_WIDE = np.finfo(wide).nmant > np.finfo(np.float64).nmant
_ROOT_PI = np.sqrt(wide("3.14159265358979323846264338327950288"))


def _sigmoid(x: Any) -> Any:
    small = np.exp(-np.abs(x))
    return np.where(np.isnan(x), x, np.where(x >= 0, 1, small) / (1 + small))


def _softplus(x: Any) -> Any:
    return np.where(np.isnan(x), x, np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x))))


def _erf_by_series(x: Any) -> Any:
    """Kummer's series, all of whose terms have one sign; for |x| up to 3."""
    term = total = x
    for n in range(1, 90):
        term = term * (2 * x * x) / (2 * n + 1)
        total = total + term
    return total * np.exp(-x * x) * 2 / _ROOT_PI


def _erfc_by_fraction(x: Any, square: Any) -> Any:
    """The continued fraction of Laplace, from its end; for x from 2 on, whose square is given."""
    tail = x
    for n in range(200, 0, -1):
        tail = x + wide(n) / 2 / tail
    return np.exp(-square) / (_ROOT_PI * tail)


def erf(x: Any) -> Any:
    size = np.minimum(np.abs(x), 30)
    near, far = np.minimum(size, 3), np.maximum(size, 2)
    value = np.where(size < 2.5, _erf_by_series(near), 1 - _erfc_by_fraction(far, far * far))
    return np.where(np.isnan(x), x, np.copysign(value, x))


def erfc(x: Any) -> Any:
    return _tail(x, x, x * x)


def _tail(x: Any, scaled: Any, square: Any) -> Any:
    """Erfc of a number given with its square."""
    size = np.minimum(np.abs(scaled), 50)
    far = np.maximum(size, 2)
    small = _erfc_by_fraction(far, np.where(size < 2, 4, np.minimum(square, 2500)))
    value = np.where(size < 2, 1 - _erf_by_series(np.minimum(size, 2)), np.where(size == 50, 0, small))
    return np.where(np.isnan(x), x, np.where(scaled < 0, 2 - value, value))


def normal_cdf(x: Any) -> Any:
    return _tail(x, -x / np.sqrt(wide(2)), x * x / 2) / 2


TRUE: dict[str, Callable[..., Any]] = {
    "exp": np.exp, "expm1": np.expm1, "log": np.log, "log1p": np.log1p, "sin": np.sin, "cos": np.cos, "tan": np.tan,
    "tanh": np.tanh, "sigmoid": _sigmoid, "softplus": _softplus, "erf": erf, "erfc": erfc, "normal_cdf": normal_cdf,
    "power": np.power, "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "atan2": np.arctan2, "sinh": np.sinh,
    "cosh": np.cosh, "asinh": np.arcsinh, "acosh": np.arccosh, "atanh": np.arctanh,
}  # fmt: skip
