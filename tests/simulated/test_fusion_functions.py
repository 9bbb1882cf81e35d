"""The scalar functions of generated kernels, in units in the last place against float64 and long double.

For functions of a GPU's special-function unit the simulator's result is exact: quotients and roots are slightly less
accurate on a GPU, as docs/compiling.md states.
"""

from functools import partial

import numpy as np
import pytest
from scipy import special

from autodiff_lab.kernels.cuda.gpus import simulated
from autodiff_lab.kernels.maths.cuda import namespace

if not simulated():
    pytest.skip("once compiled, a device function is called by kernels alone", allow_module_level=True)

DRAW = np.random.default_rng(11)
WIDE = np.concatenate([DRAW.uniform(-10, 10, 3000), DRAW.uniform(-99_999, 99_999, 3000), DRAW.normal(size=2000) * 1e-4])
FAMILY = {
    "sin": (np.sin, 2.0), "cos": (np.cos, 2.0), "tan": (np.tan, 6.0),
    "sigmoid": (special.expit, 3.0), "softplus": (lambda x: np.logaddexp(x, 0), 3.0),
    "nearest": (np.rint, 0.0), "sqrt": (np.sqrt, 1.0), "rsqrt": (lambda x: 1 / np.sqrt(x), 2.0),
}  # fmt: skip


def off(found: list[np.floating], wanted: np.ndarray) -> float:
    """The largest error in units in the last place of a float32."""
    made = np.array(found)
    assert made.dtype == np.float32
    spacing = np.spacing(np.abs(wanted).astype(np.float32)).astype(np.float64)
    return float(np.nanmax(np.abs(made.astype(np.float64) - wanted) / spacing))


@pytest.mark.parametrize("name", FAMILY)
def test_functions_of_float32(name: str) -> None:
    """Over numbers of every size that the quick functions reach."""
    exact, most = FAMILY[name]
    function = namespace("float32")[name]
    x = WIDE.astype(np.float32)
    if name in ("sqrt", "rsqrt"):
        x = np.abs(x)
    more = (False,) if name in ("sin", "cos", "tan") else ()
    with np.errstate(all="ignore"):
        found = [function(one, *more) for one in x]
        wanted = exact(x.astype(np.float64))
    error = off(found, wanted)
    print(f"{name}: {error:.2f} ulp at most")
    assert error <= most


def test_quotients_of_float32() -> None:
    """Over the whole range, the scale of the divisor included."""
    function = namespace("float32")["quotient"]
    x = (DRAW.normal(size=4000) * 10.0 ** DRAW.uniform(-30, 30, 4000)).astype(np.float32)
    y = (DRAW.normal(size=4000) * 10.0 ** DRAW.uniform(-38, 38, 4000)).astype(np.float32)
    with np.errstate(all="ignore"):
        found = [function(a, b) for a, b in zip(x, y, strict=True)]
        wanted = x.astype(np.float64) / y.astype(np.float64)
        plain = x / y
    whole = np.isfinite(plain) & (np.abs(plain) > np.finfo(np.float32).tiny)
    assert off([f for f, w in zip(found, whole, strict=True) if w], wanted[whole]) <= 2
    rest = [(f, p) for f, p, w in zip(found, plain, whole, strict=True) if not w]
    assert rest
    assert all(np.allclose(f, p, rtol=0.5, atol=3e-45, equal_nan=True) for f, p in rest)


def test_the_gamma_functions() -> None:
    x = np.concatenate([np.linspace(-7.9, 30.0, 150), [0.0, -0.0, 1.0, 1e-9, 1e6, np.inf, np.nan, -3.0]])
    for name, wanted in (
        ("lgamma", special.gammaln),
        ("digamma", special.digamma),
        ("trigamma", lambda x: special.zeta(2.0, x)),
        ("tetragamma", lambda x: -2 * special.zeta(3.0, x)),
    ):
        function = namespace("float64")[name]
        with np.errstate(all="ignore"):
            found = [float(function(one)) for one in x]
        np.testing.assert_allclose(found, wanted(x), rtol=1e-12, atol=1e-13)


def test_the_normal_distribution_far_out() -> None:
    """The tail keeps its digits as far as the argument does."""
    function = namespace("float64")["normal_cdf"]
    x = np.linspace(-8.0, 8.0, 200)
    assert np.allclose([function(one) for one in x], special.ndtr(x), rtol=1e-13)


@pytest.mark.parametrize("kind", ["float32", "float64"])
def test_modified_bessel_functions_and_quantiles(kind: str) -> None:
    """Made of the same polynomials as on processors, and of the library's functions."""
    x, p = np.linspace(-20, 20, 301).astype(kind), np.linspace(0.01, 0.99, 99).astype(kind)
    orders = [(f"bessel_i{n}", partial(special.iv, n), x) for n in (0, 1, 2)]
    orders += [(f"bessel_i{n}e", partial(special.ive, n), x) for n in (0, 1, 2)]
    others = [(name, getattr(special, name), p) for name in ("erfinv", "erfcinv", "ndtri")]
    for name, wanted, given in (*orders, *others):
        function = namespace(kind)[name]
        found = np.array([function(one) for one in given])
        assert found.dtype == kind
        np.testing.assert_allclose(found, wanted(given.astype(np.float64)), rtol=8 * np.finfo(kind).eps)
