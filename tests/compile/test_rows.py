"""Row-wise loops: reductions, softmax and layer normalization in one loop agree with the eager ops."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab

pytest.importorskip("numba", reason="loops need Numba")

DRAW = np.random.default_rng(5)
ODD = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e30, -3.0], np.float64)


def normalised(x: Any) -> Any:
    centred = x - lab.reduce_mean(x, axis=-1, keepdims=True)
    variance = lab.reduce_mean(centred * centred, axis=-1, keepdims=True)
    return centred * lab.math.rsqrt(variance + 1e-5)


def by_hand(x: Any) -> Any:
    grown = lab.exp(x - lab.expand_dims(lab.reduce_max(x, axis=-1), -1))
    return grown / lab.expand_dims(lab.reduce_sum(grown, axis=-1), -1)


def cross_entropy(x: Any) -> Any:
    return lab.reduce_mean(lab.reduce_sum(lab.nn.log_softmax(x) * lab.nn.softmax(x * 0.5), axis=-1))


CASES: dict[str, Callable[[Any], Any]] = {
    "softmax": lab.nn.softmax, "log_softmax": lab.nn.log_softmax, "softmax by hand": by_hand,
    "normalised": normalised, "cross entropy": cross_entropy,
    "largest of rows": lambda x: lab.reduce_max(x * 2.0, axis=-1),
    "least of rows": lambda x: lab.reduce_min(x * 2.0, axis=-1, keepdims=True) + x,
    "means of rows": lambda x: lab.reduce_mean(lab.sin(x), axis=-1),
    "products of rows": lambda x: lab.reduce_prod(x * 0.1 + 1.0, axis=-1),
    "largest of columns": lambda x: lab.reduce_max(x * 2.0, axis=0),
    "means of columns": lambda x: lab.reduce_mean(x * 2.0, axis=0) + 1.0,
    "largest of all": lambda x: lab.reduce_max(x * 2.0),
    "least of all": lambda x: lab.reduce_min(x * 2.0, keepdims=True),
    "product of all": lambda x: lab.reduce_prod(lab.sin(x) * 0.01 + 1.0),
    "rows twice": lambda x: lab.nn.softmax(normalised(x)) * lab.reduce_sum(x, axis=-1, keepdims=True),
    "a sum of means": lambda x: lab.reduce_sum(lab.reduce_mean(x * x, axis=-1) ** 2.0),
}  # fmt: skip
SHAPES = [(3, 20), (5, 4, 33), (2, 5000), (70, 1000), (1, 40), (40, 1), (7, 3), (24, 24), (2, 1, 20), (200, 4097)]


@pytest.mark.slow(keep=4)
@pytest.mark.parametrize("name", CASES)
def test_rows_and_their_gradients_agree_with_eager_ops(name: str) -> None:
    function = CASES[name]

    def run(x: Any) -> Any:
        with lab.GradientTape() as tape:
            tape.watch(x)
            y = function(x)
            target = lab.reduce_sum(y * y)
        return y, tape.gradient(target, x)

    place = list(CASES).index(name)
    for n, shape in enumerate(SHAPES):
        if (n + place) % 4:
            continue  # every case meets some shapes, and every shape some cases
        kind = "float32" if n % 2 else "float64"
        x = lab.constant(DRAW.standard_normal(shape).astype(kind))
        compiled = lab.function(run)
        compiled(x)
        assert not compiled.skipped
        for found, wanted in zip(compiled(x), run(x), strict=True):
            a, b = found.numpy(), wanted.numpy()
            assert a.shape == b.shape
            scale = max(1.0, float(np.abs(b).max()))
            assert np.allclose(a, b, rtol=2e-4 if n % 2 else 1e-11, atol=(3e-5 if n % 2 else 1e-12) * scale), shape
        assert compiled.fallbacks == 0


@pytest.mark.parametrize("shape", [(4, 40), (3, 4200)])
def test_infinities_and_nan_in_rows_give_what_eager_ops_give(shape: tuple[int, int]) -> None:
    """The largest element of a row is nan if one is, whatever the order in which vectors meet it."""
    for function in (CASES["largest of rows"], CASES["least of rows"], CASES["largest of columns"], lab.nn.softmax):
        for odd in ODD:
            values = DRAW.standard_normal(shape).astype(np.float32)
            values[1, DRAW.integers(shape[1])] = odd
            x = lab.constant(values)
            compiled = lab.function(lambda x, function=function: function(x) * 1.5)
            compiled(x)
            found, wanted = compiled(x).numpy(), (function(x) * 1.5).numpy()
            assert np.allclose(found, wanted, rtol=1e-5, equal_nan=True)


def test_a_layer_forward_and_backward_is_one_loop() -> None:
    """Normalisation, softmax, the loss and their gradients read each row once from memory."""

    @lab.function
    def step(x: Any) -> Any:
        with lab.GradientTape() as tape:
            tape.watch(x)
            loss = lab.reduce_mean(lab.reduce_max(lab.nn.softmax(normalised(x)), axis=-1))
        return loss, tape.gradient(loss, x)

    step(lab.constant(DRAW.standard_normal((8, 64)).astype(np.float32)))
    assert step.source.count("@njit") == 1
    assert [line for line in step.source.splitlines() if "= np." in line] == []


@pytest.mark.parametrize("axis", [None, 0, -1, [0, 2]])
@pytest.mark.parametrize("shape", [(3, 4, 5), (40, 60, 30)])
def test_norms_are_part_of_loops(shape: tuple[int, ...], axis: Any) -> None:
    def run(x: Any) -> Any:
        with lab.GradientTape() as tape:
            tape.watch(x)
            sizes = lab.math.reduce_euclidean_norm(lab.sin(x), axis, keepdims=True)
            value = lab.reduce_sum(sizes * sizes * x)
        return sizes, tape.gradient(value, x)

    x = lab.constant(DRAW.normal(size=shape))
    f = lab.function(run)
    assert f.compile(x)
    for found, wanted in zip(f(x), run(x), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-11, atol=1e-11)
    assert "euclidean_norm_(" not in f.source
