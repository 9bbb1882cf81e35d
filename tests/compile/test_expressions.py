"""Every op in a fused loop agrees with its eager kernel: bit for bit, or within some ulp for elementary functions."""

from typing import Any

import numpy as np
import pytest
from scipy import special

import autodiff_lab as lab
from autodiff_lab.compile.backends import code_of
from autodiff_lab.compile.program.expressions import expression, functions_in
from autodiff_lab.compile.program.program import Line, Program, Value
from autodiff_lab.engine.op import REGISTRY
from tests.ops.samples import ops_of_the_catalogue

pytest.importorskip("numba", reason="loops need Numba")

ODD = [0, -0.0, 1, -1, 0.5, -0.5, 2, -2, np.inf, -np.inf, np.nan, 3, -3, 2.5, 3.5, 1e-3, 1e-30, 88.5, -87.4, 709.5, 6,
       -745.1, 22, -22, 9.2, 26.5, -14.2, 1e4, -1e-5]  # fmt: skip
BOOLS = {"where": "bxy", "select": "xb", "select_not": "xb"}
PARAMS: dict[str, dict[str, Any]] = {
    "huber": {"delta": 1.25}, "leaky_relu": {"alpha": 0.2}, "power_grad": {"order": 1},
}  # fmt: skip
APART = {"broadcast_to", "polygamma", "bessel_iv", "bessel_ive"}
"""Ops that loops compute for some orders alone."""
LOGIC = {"logical_and", "logical_or", "logical_xor", "logical_not"}
"""Ops of truth values alone: they join the loop that makes their arguments."""
ULP = 8
"""Largest error in ulp of an op that calls functions; some call two, and the eager kernels have errors too."""


CANCELLING = {"tanh_shrink", "sigmoid_cross_entropy", "gelu_tanh"}
"""Ops that end in a difference, whose error is that of its larger part."""
TAILS = {"normal_cdf", "gelu"}
"""Ops whose eager kernel rounds the argument of an exponential, which costs it x² ulp."""
EITHER_ZERO = {"maximum", "minimum", "clip", "relu", "relu6"}
"""Ops whose eager kernel gives 0 or -0, depending on where the number lies, if both are there."""
NAMES = sorted({name for name in ops_of_the_catalogue() if REGISTRY[name].expression} - APART - LOGIC)
GROUPS = [NAMES[n::6] for n in range(6)]


def given(name: str) -> tuple[str, dict[str, Any]]:
    """Which of the arguments an op takes, and its parameters."""
    kinds = {"clip": "xlh", "power_grad": "xy"}.get(name) or BOOLS.get(name) or "xy"[: REGISTRY[name].arity or 1]
    return kinds, PARAMS.get(name, {})


def program_of(names: list[str], arguments: dict[str, np.ndarray]) -> Program:
    """A program that applies each op to numbers that meet in every pair."""
    places = {key: n for n, key in enumerate(arguments)}
    values = {n: Value(a.shape, a.dtype, key) for n, (key, a) in enumerate(arguments.items())}
    lines: list[Line] = []
    for name in names:
        kinds, params = given(name)
        made = REGISTRY[name].kernel(*(arguments[k] for k in kinds), **params)
        out = len(values)
        values[out] = Value(made.shape, made.dtype, f"{name}_of")
        lines.append(Line(REGISTRY[name], tuple(places[k] for k in kinds), params, (out,)))
    return Program(tuple(places.values()), (), {}, tuple(lines), tuple(line.outs[0] for line in lines), (), values)


@pytest.mark.slow(keep=2)
@pytest.mark.parametrize("kind", ["float32", "float64"])
@pytest.mark.parametrize("group", range(len(GROUPS)))
def test_ops_in_loops_agree_with_their_eager_kernels(group: int, kind: str) -> None:
    odd = np.array(ODD, kind)
    x, y = np.repeat(odd, odd.size), np.tile(odd, odd.size)
    b = np.random.default_rng(1).random(x.size) < 0.5
    arguments = {"x": x, "y": y, "l": np.full_like(x, -1.5), "h": np.full_like(x, 2.5), "b": b}
    with np.errstate(all="ignore"):
        program = program_of(GROUPS[group], arguments)
        wanted = program.run(*arguments.values())
    code = code_of(program, "auto")
    assert not code.skipped
    assert code.silent, "some op runs with NumPy"
    for line, a, b in zip(program.lines, code.run(*arguments.values()), wanted, strict=True):
        text = expression(line, program) or ""
        compare(line.op.name, bool(functions_in(text)), a, b, x)


def compare(name: str, rounded: bool, found: np.ndarray, wanted: np.ndarray, x: np.ndarray) -> None:
    """Compare bits, or errors in ulp where an op calls a function."""
    assert found.dtype == wanted.dtype, name
    if not rounded:
        same = (found == wanted) | (np.isnan(found) & np.isnan(wanted))
        assert same.all(), (name, x[~same][:5])
        zero = (wanted == 0) & (wanted.dtype.kind == "f") & (name not in EITHER_ZERO)
        assert np.array_equal(np.signbit(found[zero]), np.signbit(wanted[zero])) if zero.any() else True, name
        return
    finite = np.isfinite(wanted) & np.isfinite(found)
    assert np.array_equal(found[~finite], wanted[~finite], equal_nan=True), name
    found, wanted, x = found[finite].astype(np.longdouble), wanted[finite], x[finite]
    step = np.spacing(np.maximum(np.abs(wanted), np.abs(x) if name in CANCELLING else 0)).astype(np.longdouble)
    allowed = ULP * step * (1 + x * x if name in TAILS else 1)
    wrong = np.abs(found - wanted) > allowed
    assert not wrong.any(), (name, x[wrong][:5], found[wrong][:5], wanted[wrong][:5])


def test_truth_values_stay_in_the_loop_that_makes_them() -> None:
    @lab.function
    def f(x: Any, y: Any) -> Any:
        low, high = x < y, x > -1.0
        both = lab.math.logical_and(low, high)
        one = lab.math.logical_xor(low, lab.math.logical_not(high))
        return lab.where(lab.math.logical_or(both, one), x, y), one

    x, y = lab.constant(np.array(ODD, np.float32)), lab.constant(np.array(ODD[::-1], np.float32))
    wanted = f(x, y)
    for a, b in zip(f(x, y), wanted, strict=True):
        assert np.array_equal(a.numpy(), b.numpy(), equal_nan=a.dtype.is_floating)
    assert f.source.count("@njit") == 1
    assert "np.logical" not in f.source


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("way", ["a loop", "single numbers", "a broadcast"])
def test_remainders_and_floored_quotients_have_the_bits_of_numpy(way: str, dtype: str) -> None:
    draw, limits = np.random.default_rng(1), np.finfo(dtype)
    odd = [0.0, -0.0, 1.0, -1.0, 0.1, -0.1, 7.0, 2.5, 1e10, np.inf, -np.inf, np.nan, limits.tiny, limits.max / 4]
    x, y = (side.ravel() for side in np.meshgrid(odd, odd))
    wide, thin = (10.0 ** draw.uniform(-6, 6, 3000) * draw.choice([-1, 1], 3000) for _ in range(2))
    multiples = draw.integers(-99, 99, thin.size) * np.abs(thin)  # in float32, nearly so
    x, y = (np.concatenate(parts).astype(dtype) for parts in ((x, wide, multiples), (y, thin, thin)))

    def both(x: Any, y: Any) -> Any:
        return lab.stack([x % y, x // y, lab.math.mod(x, y)]) * 1.0

    with np.errstate(all="ignore"):
        if way == "single numbers":
            f = lab.function(lambda x, y: [x % y, x // y, (y % x) * 2.0 - (x * 0.5) % (y * 0.25) + (y - 1.0) // x])
            for a, b in zip(x[:400:3], y[:400:3], strict=True):
                half, quarter, one, two = np.array([0.5, 0.25, 1.0, 2.0], dtype)
                wanted = a % b, a // b, (b % a) * two - (a * half) % (b * quarter) + (b - one) // a
                found = f(lab.constant(a), lab.constant(b))
                assert np.array_equal([t.numpy() for t in found], wanted, equal_nan=True), (a, b)
        elif way == "a loop":
            f = lab.function(both)
            first, wanted = f(lab.constant(x), lab.constant(y)), np.stack([x % y, x // y, x % y])
            assert f.compile(lab.constant(x), lab.constant(y))
            for found in (first, f(lab.constant(x), lab.constant(y))):
                assert np.array_equal(found, wanted, equal_nan=True)
                kept = ~np.isnan(wanted)
                assert np.array_equal(np.signbit(found)[kept], np.signbit(wanted)[kept])
        else:
            column, row = x[:60, None], y[None, 20:70]
            f = lab.function(both)
            assert f.compile(lab.constant(column), lab.constant(row))
            wanted = np.stack([column % row, column // row, column % row])
            assert np.array_equal(f(lab.constant(column), lab.constant(row)), wanted, equal_nan=True)
    assert "floormod_(" not in f.source
    assert "floordiv_(" not in f.source


def test_particles_in_a_periodic_box_run_as_a_loop() -> None:
    def run(x: Any, v: Any) -> Any:
        with lab.GradientTape() as tape:
            tape.watch([x, v])
            now, speed = x, v
            for _ in range(9):
                apart = (now[:, None] - now + 1.5) % 3.0 - 1.5
                speed = speed - 0.1 * lab.reduce_sum(apart * lab.exp(-apart * apart), axis=1)
                now = (now + speed) % 3.0
            loss = lab.reduce_sum(now * speed)
        return now, *tape.gradient(loss, [x, v])

    draw = np.random.default_rng(0)
    x, v = lab.constant(draw.uniform(0, 3, 20)), lab.constant(draw.normal(size=20))
    f = lab.function(run)
    assert f.compile(x, v)
    assert "run as loops" in f.why()
    for found, wanted in zip(f(x, v), run(x, v), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-11)


@pytest.mark.parametrize("exponent", [0.0, 1.0, 2.0, 3.0, 4.0, 0.5, -0.5, -1.0, 1.5, -1.5, 2.5, -2.5, 3.5])
def test_powers_with_known_exponents_and_their_slopes(exponent: float) -> None:
    x = lab.constant(np.array([0.25, 1.0, 2.0, 3.5, 7.0, 100.0], np.float32))

    def slopes(x: Any) -> Any:
        with lab.GradientTape() as outer:
            outer.watch(x)
            with lab.GradientTape() as inner:
                inner.watch(x)
                y = x**exponent
            first = inner.gradient(y, x)
        return y, first, outer.gradient(first, x)

    compiled = lab.function(slopes)
    compiled(x)
    for a, b in zip(compiled(x), slopes(x), strict=True):
        if exponent in (0.0, 1.0, 2.0, 3.0):
            assert np.array_equal(a.numpy(), b.numpy())
        else:
            assert np.allclose(a.numpy(), b.numpy(), rtol=1e-6)
    assert not [line for line in compiled.source.splitlines() if "power_grad_(" in line]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("exponent", [0.5, -0.5, 1.5, -1.5, 2.5, -2.5])
def test_powers_by_roots_err_by_two_units_and_keep_what_is_special(exponent: float, dtype: str) -> None:
    info = np.finfo(dtype)
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, -1.0, info.tiny, info.max, 1e-25, 1e26]
    x = np.concatenate([special, np.exp(np.random.default_rng(0).normal(scale=5, size=1000))]).astype(dtype)
    compiled = lab.function(lambda x: (x**exponent, x * 2.0 + 1.0))
    compiled(lab.constant(x))
    with np.errstate(all="ignore"):
        wanted = x ** x.dtype.type(exponent)
    found = compiled(lab.constant(x))[0].numpy()
    assert "power(" not in compiled.source
    odd = ~np.isfinite(wanted)
    np.testing.assert_array_equal(found[odd], wanted[odd])
    assert np.array_equal(np.signbit(found[:4]), np.signbit(wanted[:4]))
    assert np.all(np.abs(found[~odd] - wanted[~odd]) <= 2 * np.spacing(np.abs(wanted[~odd])))


@pytest.mark.parametrize("order", [0, 1, 2])
def test_a_polygamma_function_of_a_known_order_is_computed_in_the_loop(order: int) -> None:
    x = lab.constant(np.random.default_rng(0).uniform(0.1, 20, 500))
    f = lab.function(lambda x: lab.math.polygamma(float(order), x) * 2.0)
    wanted = 2 * special.polygamma(order, x.numpy())
    for _ in range(2):
        np.testing.assert_allclose(f(x).numpy(), wanted, rtol=1e-13, atol=1e-14)
    assert f.source.count(("digamma(", "trigamma(", "tetragamma(")[order])
    for mode in ("numpy", "numba"):
        with lab.use_kernels(mode):
            np.testing.assert_allclose(2 * lab.math.polygamma(order, x).numpy(), wanted, rtol=1e-13, atol=1e-14)
