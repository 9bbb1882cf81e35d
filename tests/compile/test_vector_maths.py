"""The vectorized elementary functions are correct at special points, and within the documented number of ulp."""

import math
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import special

import autodiff_lab as lab
from autodiff_lab.kernels.base.store import load
from tests.compile.vector_references import HAS_WIDE, TRUE, wide

pytest.importorskip("numba", reason="vector maths needs Numba")

STRIDE = 101 if "FUZZ_COUNT" in os.environ else 5003  # a prime, so that every exponent and many fractions are met
WORST = {
    "exp": -5.877884387969971, "expm1": 17.001972198486328, "log": 1.4136420488357544, "log1p": -8.940696716308594e-08,
    "sin": 922.8228759765625, "cos": 1840.2159423828125, "tan": 3.921243190765381, "tanh": 0.6283095479011536,
    "sigmoid": -4.157293796539307, "softplus": -0.4363955855369568, "erf": 0.93383366,
    "erfc": 1.5243035554885864, "normal_cdf": -10.9335355758667, "asin": 0.503472507, "acos": 0.622987866,
    "atan": 1.0174036, "sinh": 35.3400154, "cosh": 32.5694885, "asinh": 0.118933976, "acosh": 1.00709593,
    "atanh": 0.0038961512,
}  # fmt: skip
"""Where the error is largest in float32, found by a scan of all bit patterns."""
WORST_DOUBLE = {
    "exp": 58.5738159, "expm1": 0.347524698, "log": 0.699429316, "log1p": -1.66538757e-16, "sin": -15.1946046,
    "cos": 8.10658997, "tan": -16.4738604, "tanh": 5.54452308, "sigmoid": -3.44873424, "softplus": -0.43818990,
    "erf": -0.536610887, "erfc": 1.90113173, "normal_cdf": -22.0966878, "asin": -0.509202565, "acos": -0.501835634,
    "atan": 1.0251702, "sinh": -0.856524369, "cosh": -8.95746262, "asinh": -0.0077995014, "acosh": 1.00002871,
    "atanh": -0.114084109,
}  # fmt: skip
"""About where it is largest in float64."""
FAR = {"float32": 1e5, "float64": 1e9}
ANGLES = ("sin", "cos", "tan")
ODD = [0, -0.0, 1, -1, 0.5, -0.5, 2, -2, np.inf, -np.inf, np.nan, 3, -3, 0.625, 1e-3, 88.722, 88.73, -87.4, -103.9,
       -104.1, 709.78, 709.79, -708.5, -745.1, -745.2, 22, -22, 9.2, 5.9, 26.5, 27.3, -37.5, -38.6, -14.2]  # fmt: skip


def documented() -> dict[tuple[str, str], float]:
    """The largest errors that the documentation promises, by function and dtype."""
    text = (Path(__file__).parents[2] / "docs" / "compiling.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\w+) \| ([\d.]+) \| ([\d.]+) \|$", text, re.MULTILINE)
    return {(name, kind): float(v) for name, *vs in rows for kind, v in zip(("float32", "float64"), vs, strict=True)}


MOST_ULP = documented()


def loop(name: str, kind: str) -> Callable[..., Any]:
    """Our function in a loop, as generated code calls it."""
    given = ["x", "y"] if name in ("power", "atan2") else ["x"]
    family = {"float32": "SINGLE", "float64": "VECTOR_DOUBLE"}[kind]
    call = ", ".join(f"{g}[i]" for g in given)
    text = f"""
from autodiff_lab.kernels.maths.single import {family}
f = {family}["{name}"]
@compiled("void({", ".join([f"{kind}[::1]"] * (len(given) + 1))})")
def loop({", ".join(given)}, out):
    for i in range(out.size):
        out[i] = f({call})
"""
    return load(text).loop


def odd_points(kind: str) -> np.ndarray:
    """Numbers at which functions bend, end or overflow."""
    info = np.finfo(kind)
    more = [info.tiny, -info.tiny, info.max, -info.max, info.smallest_subnormal, -info.smallest_subnormal, info.eps]
    return np.array([*ODD, *more], kind)


SERIES = ("erf", "erfc", "normal_cdf")  # whose references are sums of our own, and slow
IN_DOUBLE = {
    "erf": math.erf, "erfc": math.erfc, "normal_cdf": lambda x: 0.5 * math.erfc(-x * math.sqrt(0.5)),
}  # fmt: skip
"""The same in float64, which is enough for float32."""


def numbers(kind: str, name: str) -> np.ndarray:
    """Numbers of every size: float32 in steps through all bit patterns, float64 at random."""
    if kind == "float32":
        x = np.arange(0, 2**32, STRIDE, dtype=np.uint64).astype(np.uint32).view(np.float32)
        bits = int(np.float32(WORST[name]).view(np.uint32)) + np.arange(-20_000, 20_000)
        x = np.concatenate([x, bits.astype(np.uint32).view(np.float32)])
    else:
        draw = np.random.default_rng(0)
        bits = draw.integers(0, 2**64, 60_000, dtype=np.uint64).view(np.float64)
        near_one = 1 + draw.uniform(-1, 1, 20_000) * 2.0 ** draw.integers(-52, 0, 20_000)
        turns = np.round(draw.uniform(-1e6, 1e6, 20_000)) * np.float64(np.pi / 2)
        small = draw.standard_normal(60_000) * 10.0 ** draw.integers(-3, 3, 60_000)
        near = WORST_DOUBLE[name] * (1 + draw.uniform(-1, 1, 20_000) * 1e-4)
        x = np.concatenate([bits, near_one, turns, np.nextafter(turns, 0), small, near])
    x = np.concatenate([x[:: 8 if name in SERIES and kind == "float64" else 1], odd_points(kind)])
    return x[(np.abs(x) <= FAR[kind]) | ~np.isfinite(x)] if name in ANGLES else x


def worst(found: np.ndarray, true: Any, kind: str, *given: np.ndarray) -> tuple[float, str]:
    """The largest error in units in the last place, and where; nan, infinities and zeros must be exact."""
    wanted = true.astype(kind)
    assert np.array_equal(np.isnan(found), np.isnan(wanted))
    info = np.finfo(kind)
    edge = np.isinf(found) != np.isinf(wanted)  # one ulp short of the largest number, or past it
    assert (np.abs(true[edge].astype(wide)) > wide(info.max) * (1 - wide(info.eps))).all()
    zero = (wanted == 0) & (given[0] == 0)
    assert np.array_equal(np.signbit(found[zero]), np.signbit(wanted[zero]))
    finite = np.isfinite(wanted) & np.isfinite(found)
    step = np.maximum(np.spacing(np.abs(wanted[finite])), info.smallest_subnormal).astype(true.dtype)
    ulp = np.abs(found[finite] - true[finite]) / step
    at = int(np.argmax(ulp))
    return float(ulp[at]), ", ".join(f"{g[finite][at]:.9g}" for g in given)


@pytest.mark.slow(keep=14)
@pytest.mark.parametrize("kind", ["float32", "float64"])
@pytest.mark.parametrize("name", sorted(set(TRUE) - {"power", "atan2"}))
def test_errors_are_within_what_the_documentation_says(
    name: str, kind: str, figure: Callable[[str, str], None]
) -> None:
    if kind == "float64" and not HAS_WIDE:
        pytest.skip("this machine has no long double to compare float64 with")
    x = numbers(kind, name)
    with np.errstate(all="ignore"):
        if kind == "float32" and name in SERIES:
            true = np.array([*map(IN_DOUBLE[name], x.tolist())])
        else:
            true = TRUE[name](x.astype(np.float64 if kind == "float32" else wide))
        found = np.empty_like(x)
        loop(name, kind)(x, found)
        ulp, where = worst(found, true, kind, x)
    figure(f"{name}, {kind}", f"{ulp:.2f} ulp at most, at {where}")
    assert ulp <= MOST_ULP[name, kind]


@pytest.mark.parametrize("kind", ["float32", "float64"])
def test_angles_of_points_of_every_kind(kind: str, figure: Callable[[str, str], None]) -> None:
    if kind == "float64" and not HAS_WIDE:
        pytest.skip("this machine has no long double to compare float64 with")
    draw, odd = np.random.default_rng(0), odd_points(kind)
    points = (draw.standard_normal((2, 100_000)) * 10.0 ** draw.integers(-3, 4, (2, 100_000))).astype(kind)
    y, x = np.concatenate([points, [np.repeat(odd, odd.size), np.tile(odd, odd.size)]], axis=1)
    found = np.empty_like(x)
    loop("atan2", kind)(y, x, found)
    true = np.arctan2(*(v.astype(np.float64 if kind == "float32" else wide) for v in (y, x)))
    ordinary = ~np.isnan(true)
    assert np.array_equal(np.signbit(found[ordinary]), np.signbit(true[ordinary]))
    ulp, where = worst(found, true, kind, y, x)
    figure(f"atan2, {kind}", f"{ulp:.2f} ulp at most, at {where}")
    assert ulp <= MOST_ULP["atan2", kind]


GAMMA = {
    "lgamma": special.gammaln, "digamma": special.digamma, "trigamma": lambda x: special.zeta(2.0, x),
    "tetragamma": lambda x: -2 * special.zeta(3.0, x),
}  # fmt: skip


@pytest.mark.parametrize("kind", ["float32", "float64"])
@pytest.mark.parametrize("name", sorted(GAMMA))
def test_gamma_functions_are_those_of_scipy_and_exact_near_their_zeros(name: str, kind: str) -> None:
    draw = np.random.default_rng(0)
    x = np.concatenate(
        [
            draw.uniform(0, 20, 20_000),
            10 ** draw.uniform(-30, 30, 5_000),
            -draw.uniform(0, 30, 20_000),
            np.arange(0.5, 12, 0.5),
            [0.0, -0.0, -1.0, -5.0, -1e16, 3e38, np.inf, np.nan],
        ]
    ).astype(kind)
    found = np.empty_like(x)
    loop(name, kind)(x, found)
    true = GAMMA[name](x.astype(np.float64))
    eps = np.finfo(kind).eps
    with np.errstate(all="ignore"):
        # Beside a pole SciPy takes the tangent of an angle that it has rounded.
        beside = np.where(x < 0, 1 + 50 * np.abs(x) * np.abs(true) * np.finfo(np.float64).eps / eps, 1.0)
        off = np.abs(found - true) / (eps * np.maximum(np.abs(true), 1) * beside)
        rounded = true.astype(kind)
    ordinary = np.isfinite(true) & (np.abs(true) < np.finfo(kind).max)
    most = np.where((x < 0) & (kind == "float32"), 16, 12 if name == "tetragamma" else 8)  # 1 - x has been rounded
    assert np.all(off[ordinary] <= most[ordinary])
    np.testing.assert_array_equal(found[~ordinary], rounded[~ordinary])
    if name in ("trigamma", "tetragamma"):  # which have no zeros among positive numbers
        return
    zero, rest, slope = {
        "lgamma": (2.0, 0.0, 1 - np.euler_gamma),
        "digamma": (1.4616321449683622, 9.549995429965697e-17, special.polygamma(1, 1.4616321449683622)),
    }[name]
    near = np.asarray(zero, kind) + np.array([-4, -1, 1, 4], kind) * np.spacing(np.asarray(zero, kind))
    found = np.empty_like(near)
    loop(name, kind)(near, found)
    np.testing.assert_allclose(found, ((near.astype(np.float64) - zero) - rest) * slope, rtol=max(20 * eps, 1e-8))


def _second(x: Any) -> Any:
    """I_2(x)·e^-|x|: by its series near 0 and by recurrence far out, where SciPy loses digits."""
    size = np.abs(x)
    quarter = np.minimum(size, 2) ** 2 / 4
    term = total = quarter / 2
    for k in range(1, 20):
        term = term * quarter / (k * (k + 2))
        total = total + term
    far = np.where(size > 20, x, 20)
    far = special.i0e(far) - 2 * special.i1e(far) / far
    middle = np.where(size > 20, far, special.ive(2, np.clip(x, -20, 20)))
    return np.where(size < 2, total * np.exp(-size), middle)


def _unscaled(scaled: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """As far as it is finite: SciPy's ends where e^x does."""
    return lambda x: scaled(np.clip(x, -800, 800)) * np.exp(wide(np.minimum(np.abs(x), 800)))


SCALED = {
    "bessel_i0e": special.i0e, "bessel_i1e": lambda x: np.where(x == 0, x, special.i1e(x)), "bessel_i2e": _second,
}  # fmt: skip
BESSEL = SCALED | {name[:-1]: _unscaled(scaled) for name, scaled in SCALED.items()}
QUANTILES = {
    "erfinv": lambda x: np.where(x == 0, x, special.erfinv(x)), "erfcinv": special.erfcinv, "ndtri": special.ndtri,
}  # fmt: skip
MOST_OF_SCIPY = {"float32": 6, "float64": 16}
"""Units in the last place: in float64 most of them are SciPy's own."""


def of_scipy(name: str, kind: str, x: np.ndarray, function: Callable[[Any], Any]) -> None:
    """Compare a function with SciPy's of float64, at edges too."""
    x = np.concatenate([x, odd_points(kind), [709.9, 713.5, 714.5, -713.5]]).astype(kind)
    found = np.empty_like(x)
    loop(name, kind)(x, found)
    with np.errstate(all="ignore"):
        ulp, where = worst(found, np.asarray(function(x.astype(np.float64)), wide), kind, x)
    assert ulp <= MOST_OF_SCIPY[kind], where


@pytest.mark.parametrize("kind", ["float32", "float64"])
@pytest.mark.parametrize("name", sorted(BESSEL))
def test_modified_bessel_functions_are_those_of_scipy(name: str, kind: str) -> None:
    draw = np.random.default_rng(0)
    points = draw.uniform(-14, 14, 30_000), draw.uniform(-90, 90, 5_000), 10 ** draw.uniform(-30, 4, 5_000)
    grid = np.linspace(7.9, 12.1, 5_000)  # around where two forms meet
    of_scipy(name, kind, np.concatenate([*points, grid]), BESSEL[name])


@pytest.mark.parametrize("kind", ["float32", "float64"])
@pytest.mark.parametrize("name", sorted(QUANTILES))
def test_quantiles_are_those_of_scipy(name: str, kind: str) -> None:
    draw = np.random.default_rng(0)
    small = 10 ** draw.uniform({"float32": -44, "float64": -300}[kind], 0, 10_000)
    x = np.concatenate([draw.uniform(-0.01, 2.01, 30_000), -small, small, 1 - small, np.linspace(0, 1, 5_001)])
    of_scipy(name, kind, x, QUANTILES[name])


@pytest.mark.parametrize("kind", ["float32", "float64"])
def test_powers_of_every_kind(kind: str, figure: Callable[[str, str], None]) -> None:
    if not HAS_WIDE:
        pytest.skip("this machine has no long double to compare powers with")
    draw = np.random.default_rng(0)
    odd = odd_points(kind)
    x = np.concatenate(
        [np.exp(draw.uniform(-80, 80, 200_000)).astype(kind), draw.uniform(0.5, 2, 100_000).astype(kind)]
    )
    y = np.concatenate([draw.uniform(-8, 8, 200_000).astype(kind), draw.uniform(-100, 100, 100_000).astype(kind)])
    bits, whole = {"float32": (np.uint32, 2**32), "float64": (np.uint64, 2**64)}[kind]
    anything = draw.integers(0, whole, (2, 50_000), dtype=bits).view(kind)
    steps = np.round(draw.uniform(-20, 20, 50_000)).astype(kind)
    bases = draw.standard_normal(50_000).astype(kind)
    x = np.concatenate([x, anything[0], bases, np.repeat(odd, odd.size)])
    y = np.concatenate([y, anything[1], steps, np.tile(odd, odd.size)])
    with np.errstate(all="ignore"):
        true = np.power(x.astype(wide), y.astype(wide))
        found = np.empty_like(x)
        loop("power", kind)(x, y, found)
        plain = np.power(x, y)
        edge = np.repeat([False, True], [x.size - odd.size**2, odd.size**2])
        assert np.array_equal(np.isnan(found), np.isnan(plain))
        zero = edge & (plain == 0)
        assert np.array_equal(np.signbit(found[zero]), np.signbit(plain[zero]))
        ulp, where = worst(found, true, kind, x, y)
    figure(f"power, {kind}", f"{ulp:.2f} ulp at most, at {where}")
    assert ulp <= MOST_ULP["power", kind]


@pytest.mark.parametrize(("dtype", "least"), [("float32", -103.5), ("float64", -745.2)])
def test_exponentials_of_numbers_far_below_0_are_exactly_0(dtype: str, least: float) -> None:
    """As far as to where the power of two has the bits of 0, and beyond, alone and in rows that a mask has cut."""
    far = np.concatenate([np.linspace(8 * least, least, 997), [-1e9, -np.inf, np.finfo(dtype).min]]).astype(dtype)
    near = np.linspace(least + 0.5, least / 2, 100).astype(dtype)
    exp = lab.function(lambda x: lab.exp(x) * 1.0)
    subnormal = np.finfo(dtype).smallest_subnormal
    assert np.abs(exp(lab.constant(far)).numpy()).max() <= subnormal
    assert not exp(lab.constant(far[far < 1.01 * least])).numpy().any()
    made = exp(lab.constant(near)).numpy()
    np.testing.assert_allclose(made, np.exp(near.astype("longdouble")), rtol=1e-6, atol=2 * float(subnormal))
    scores = np.zeros(1000, dtype)
    scores[1::3] = far[1::3]
    for softmax in (lab.nn.softmax, lab.function(lab.nn.softmax)):
        with lab.use_kernels("numba"):
            shares = softmax(lab.constant(scores.reshape(4, 250))).numpy()
        np.testing.assert_allclose(shares.sum(1), 1, rtol=1e-5)
        assert not shares.reshape(-1)[1::3][far[1::3] < 1.01 * least].any()
