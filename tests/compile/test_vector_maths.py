"""Our vector maths is right at the odd points and within the ulp that the documentation prints, over all of float32."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

numba = pytest.importorskip("numba", reason="vector maths needs Numba")

MOST_ULP = {
    "exp": 1.1, "expm1": 1.8, "log": 0.9, "log1p": 1.6, "sin": 1.6, "cos": 1.6, "tanh": 1.4, "sigmoid": 2.3,
    "softplus": 1.9,
}  # fmt: skip
SPECIAL = np.array(
    [0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 1e-45, -1e-45, 1e-38, -1e-38, 3.4e38, -3.4e38, 88.722, 88.73, -87.4,
     -103.9, -104.1],
    np.float32,
)  # fmt: skip
STRIDE = 5003  # a prime, so that every exponent and many fractions are met


def _sigmoid(x: np.ndarray) -> np.ndarray:
    small = np.exp(-np.abs(x))
    return np.where(np.isnan(x), x, np.where(x >= 0, 1.0, small) / (1 + small))


TRUE: dict[str, Callable[[Any], Any]] = {
    "exp": np.exp, "expm1": np.expm1, "log": np.log, "log1p": np.log1p, "sin": np.sin, "cos": np.cos, "tanh": np.tanh,
    "sigmoid": _sigmoid, "softplus": lambda x: np.logaddexp(x, 0.0),
}  # fmt: skip


def computed(name: str, x: np.ndarray) -> np.ndarray:
    """Our function in a loop, as generated code calls it."""
    from autodiff_lab.kernels.jit.vector_maths import SINGLE

    scope: dict[str, Any] = {"f": SINGLE[name]}
    exec("def loop(x, out):\n    for i in range(x.size):\n        out[i] = f(x[i])\n", scope)
    out = np.empty_like(x)
    numba.njit("void(float32[::1], float32[::1])", error_model="numpy")(scope["loop"])(x, out)
    return out


@pytest.mark.parametrize("name", sorted(MOST_ULP))
def test_errors_over_the_float32_range(name: str, figure: Callable[[str, str], None]) -> None:
    bits = np.arange(0, 2**32, STRIDE, dtype=np.uint64).astype(np.uint32)
    x = np.concatenate([bits.view(np.float32), SPECIAL])
    if name in ("sin", "cos"):
        x = x[(np.abs(x) <= 1e6) | ~np.isfinite(x)]  # beyond that a loop reports it and NumPy does the work
    with np.errstate(all="ignore"):
        true = TRUE[name](x.astype(np.float64))
        wanted = true.astype(np.float32)
    found = computed(name, x)
    assert np.array_equal(np.isnan(found), np.isnan(wanted))
    assert np.array_equal(np.isinf(found), np.isinf(wanted))
    zero = (wanted == 0) & (x == 0)
    assert np.array_equal(np.signbit(found[zero]), np.signbit(wanted[zero]))
    finite = np.isfinite(wanted)
    ulp = np.abs(found[finite] - true[finite]) / np.spacing(np.abs(wanted[finite])).astype(np.float64)
    figure(f"{name}, float32", f"{ulp.max():.2f} ulp at most, at {x[finite][np.argmax(ulp)]:.9g}")
    assert ulp.max() <= MOST_ULP[name]
