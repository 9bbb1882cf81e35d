"""Half floats in compiled functions: computed in float32 and rounded, with the results of the eager ops."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab import nest

pytest.importorskip("numba", reason="loops need Numba")
DRAW = np.random.default_rng(16)


def halves(*shape: int) -> Any:
    return lab.constant(DRAW.normal(size=shape).astype(np.float16))


def agree(function: Callable[..., Any], *given: Any, ulps: float = 0, scale: float = 0.0) -> Any:
    """Compile, compare with the eager function, and allow so many units in the last place of the largest number."""
    compiled = lab.function(function)
    wanted = nest.flatten(function(*given))
    for _ in range(2):
        for a, b in zip(nest.flatten(compiled(*given)), wanted, strict=True):
            assert (a.dtype, a.shape) == (b.dtype, b.shape)
            a, b = a.numpy(), b.numpy()
            if ulps == 0 or b.dtype.kind != "f":
                np.testing.assert_array_equal(a, b)
            else:
                unit = np.finfo(b.dtype).eps * max(scale, float(np.max(np.abs(b.astype(np.float64)), initial=1e-3)))
                assert float(np.max(np.abs(a.astype(np.float64) - b), initial=0.0)) <= ulps * unit
    assert compiled.fallbacks == 0, compiled.why()
    assert not compiled.skipped
    return compiled


def test_arithmetic_moves_and_comparisons_keep_every_bit() -> None:
    def run(x: Any, y: Any, z: Any) -> Any:
        s = x * y - z / (lab.abs(y) + 0.1)
        parts = lab.concat([s, lab.transpose(z)[:, :4][:6]], 0)[1:, ::2]
        picked = lab.gather(lab.where(x > y, s, -x), [3, 0, 3])
        more = lab.maximum(x, z) + lab.nn.relu(s) * 3.0, s < z, lab.sqrt(lab.abs(s)), lab.reverse(s, [0])
        return s, parts, picked, more

    compiled = agree(run, halves(6, 4), halves(6, 4), halves(6, 4))
    assert "half(" in compiled.source


def test_sums_and_products_are_rounded_once() -> None:
    agree(
        lambda x, w: (lab.reduce_sum(x, 1), lab.reduce_mean(x, 0), x @ w, lab.reduce_max(x), lab.nn.softmax(x)),
        halves(40, 30), halves(30, 7), ulps=1,
    )  # fmt: skip


def test_numbers_that_overflow_and_vanish() -> None:
    x = lab.constant(np.array([300.0, -300.0, 65504.0, 6e-8, 1e-4, np.inf, np.nan, -0.0, 0.0], np.float16))
    agree(lambda x: (x * x, x * 0.01 * 0.01, x + x, x / 3.0 - x, -x * 0.0, lab.exp(x)), x)


def test_a_step_in_mixed_precision_is_one_call_but_for_its_casts() -> None:
    weights = [lab.Variable(DRAW.normal(size=shape).astype(np.float32) * 0.3) for shape in ((12, 16), (16,), (16, 3))]

    def step(x: Any, at: Any) -> Any:
        with lab.GradientTape() as tape:
            w, b, v = (lab.cast(weight, lab.float16) for weight in weights)
            hidden = lab.nn.gelu(x @ w + b, approximate=True)
            logits = lab.cast(hidden @ v, lab.float32)
            loss = 64.0 * lab.reduce_mean(lab.nn.sparse_softmax_cross_entropy_with_logits(at, logits))
        return loss, [g / 64.0 for g in tape.gradient(loss, weights)]

    compiled = agree(step, halves(20, 12), lab.constant(DRAW.integers(0, 3, 20)), ulps=3000)  # of float32
    assert len(compiled.kernels) == 1
    assert compiled.source.rpartition("def program")[2].count("cast_(") <= 2


def test_variables_and_results_of_half_floats_keep_their_dtype() -> None:
    v = lab.Variable(np.ones(5, np.float16))

    def step(x: Any) -> Any:
        v.assign_add(lab.tanh(x) * 0.5)
        return v.read_value() * 2.0, x, lab.argmax(v), lab.sort(v * x), lab.cast(v, lab.float64) + 1.0

    x = halves(5)
    compiled = lab.function(step)
    expected = np.ones(5, np.float16)
    for _ in range(4):
        twice, same, *_ = compiled(x)
        expected = expected + np.tanh(x.numpy()) * np.float16(0.5)
        assert twice.dtype == same.dtype == v.dtype == lab.float16
        np.testing.assert_allclose(v.numpy().astype(float), expected.astype(float), rtol=2e-3)
        np.testing.assert_array_equal(same.numpy(), x.numpy())
    assert compiled.fallbacks == 0, compiled.why()


def test_a_recurrence_of_half_floats_is_a_loop() -> None:
    def run(x: Any, w: Any) -> Any:
        with lab.GradientTape() as tape:
            tape.watch([x, w])
            h = x
            for _ in range(12):
                h = lab.tanh(h @ w) * 0.5 + x
            loss = lab.reduce_mean(lab.cast(h, lab.float32) ** 2)
        return h, *tape.gradient(loss, [x, w])

    compiled = agree(run, halves(4, 6), lab.constant(DRAW.normal(size=(6, 6)).astype(np.float16) * 0.3), ulps=12)
    assert "run as loops" in compiled.why()


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("seed", range(6))
def test_random_chains(seed: int) -> None:
    draw = np.random.default_rng(seed)
    ops = [
        lambda a, b: a * b, lambda a, b: a + b, lambda a, b: a - b, lambda a, b: lab.sigmoid(a) * b,
        lambda a, b: lab.where(a > b, a, b), lambda a, b: lab.sin(a) + b, lambda a, b: a / (b * b + 1.0),
        lambda a, b: a - lab.reduce_mean(b, axis=-1, keepdims=True), lambda a, b: lab.square(a) - lab.exp(-lab.abs(b)),
    ]  # fmt: skip
    plan = [(int(draw.integers(len(ops))), draw.random(), draw.random()) for _ in range(15)]

    def run(x: Any, y: Any) -> Any:
        with lab.GradientTape() as tape:
            tape.watch([x, y])
            values = [x, y]
            for kind, a, b in plan:
                made = ops[kind](values[int(a * len(values))], values[int(b * len(values))])
                values.append(lab.clip_by_value(made, -4.0, 4.0))
            loss = lab.reduce_sum(values[-1] * values[-2])
        return values[-1], loss, *tape.gradient(loss, [x, y], unconnected_gradients="zero")

    agree(run, halves(5, 7), halves(5, 7), ulps=24, scale=4.0)
