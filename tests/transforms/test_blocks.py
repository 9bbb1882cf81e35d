"""Derivatives of one loss for each example equal those by whole stacks, op by op and compiled, with inf and nan too."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.transforms import blocks, jacobians
from autodiff_lab.transforms.bands import unit_stack
from autodiff_lab.transforms.blocks import Blocks
from autodiff_lab.transforms.structured import STRUCTURED, filled

COUNT, INPUTS, HIDDEN, CLASSES = 40, 7, 6, 3
DRAW = np.random.default_rng(0)
X, LABELS, WEIGHT = DRAW.normal(size=(COUNT, INPUTS)), DRAW.integers(0, CLASSES, COUNT), DRAW.normal(size=COUNT)
PARAMETERS = [
    DRAW.normal(size=(INPUTS, HIDDEN)), DRAW.normal(size=HIDDEN), DRAW.normal(size=(HIDDEN, CLASSES)),
    DRAW.normal(size=CLASSES),
]  # fmt: skip
Losses = Callable[[Any, list[Any]], Any]


def hidden(x: Any, p: list[Any], activation: Any = lab.tanh) -> Any:
    return activation(x @ p[0] + p[1])


def logits(x: Any, p: list[Any]) -> Any:
    return hidden(x, p) @ p[2] + p[3]


def number(value: Any, like: Any) -> Any:
    return lab.constant(value, like.dtype)


LOSSES: dict[str, Losses] = {
    "cross entropy": lambda x, p: lab.nn.sparse_softmax_cross_entropy_with_logits(LABELS, logits(x, p)),
    "cross entropy of distributions": lambda x, p: lab.nn.softmax_cross_entropy_with_logits(
        lab.one_hot(LABELS, CLASSES, dtype=x.dtype), logits(x, p)
    ),
    "squares": lambda x, p: lab.reduce_sum((logits(x, p) - x[:, :CLASSES]) ** 2, axis=1),
    "means that keep an axis": lambda x, p: lab.reshape(
        lab.reduce_mean(logits(x, p) ** 2, axis=1, keepdims=True), [COUNT]
    ),
    "logarithms of a softmax": lambda x, p: lab.gather(lab.nn.log_softmax(logits(x, p)), 1, axis=1),
    "a softmax": lambda x, p: lab.reduce_sum(lab.nn.softmax(logits(x, p)) * number([1.0, 2.0, 4.0], x), axis=1),
    "rectified": lambda x, p: lab.reduce_sum(hidden(x, p, lab.nn.relu) @ p[2], axis=1) / number(WEIGHT, x),
    "weighted": lambda x, p: -lab.nn.sparse_softmax_cross_entropy_with_logits(LABELS, logits(x, p)) * number(WEIGHT, x),
    "gelu and a column": lambda x, p: (hidden(x, p, lab.nn.gelu) @ p[2][:, :1])[:, 0] * 2.0,
    "a choice": lambda x, p: lab.reduce_sum(lab.where(logits(x, p) > 0.0, logits(x, p) ** 2, -logits(x, p)), axis=1),
    "two paths": lambda x, p: lab.reduce_sum(lab.sigmoid(logits(x, p)) * (hidden(x, p) @ p[2]), axis=1),
    "normalized rows": lambda x, p: lab.reduce_sum(lab.math.l2_normalize(hidden(x, p), axis=1) @ p[2], axis=1),
    "a normalized batch": lambda x, p: lab.reduce_sum(
        (hidden(x, p) - lab.reduce_mean(hidden(x, p), axis=0)) @ p[2], axis=1
    ),
    "examples that meet": lambda x, p: lab.reduce_sum(lab.cumsum(logits(x, p), axis=0), axis=1),
    "examples in another order": lambda x, p: lab.reduce_sum(logits(x, p)[::-1] ** 2, axis=1),
    "three axes": lambda x, p: lab.reduce_sum(
        lab.reshape(lab.reshape(hidden(x, p), [COUNT, 2, 3]) * number([[1.0], [2.0]], x), [COUNT, 6]) @ p[2], axis=1
    ),
    "transposed": lambda x, p: lab.reduce_sum(lab.transpose(lab.transpose(hidden(x, p)) * 2.0) @ p[2], axis=1),
}  # fmt: skip


def derivatives(losses: Losses, x: Any, parameters: list[Any]) -> list[Any]:
    with lab.GradientTape() as tape:
        tape.watch(parameters)
        found = losses(x, parameters)
    return tape.jacobian(found, parameters, unconnected_gradients="zero")


def inputs(dtype: str, bad: float | None = None) -> tuple[Any, list[Any]]:
    x = X.astype(dtype)
    if bad is not None:
        x[3, 2] = bad
    return lab.constant(x), [lab.constant(p.astype(dtype)) for p in PARAMETERS]


def whole(losses: Losses, monkeypatch: pytest.MonkeyPatch, *given: Any) -> list[Any]:
    with monkeypatch.context() as patch:
        patch.setattr(jacobians, "FEWEST_IN_BANDS", 1 << 60)
        return [g.numpy() for g in derivatives(losses, *given)]


@pytest.mark.parametrize("bad", [None, np.inf, np.nan])
@pytest.mark.parametrize("name", LOSSES)
def test_op_by_op(name: str, bad: float | None, monkeypatch: pytest.MonkeyPatch) -> None:
    given = inputs("float64", bad)
    wanted = whole(LOSSES[name], monkeypatch, *given)
    monkeypatch.setattr(jacobians, "FEWEST_IN_BANDS", 1)
    for found, true in zip(derivatives(LOSSES[name], *given), wanted, strict=True):
        np.testing.assert_allclose(found.numpy(), true, 1e-10, 1e-12)


@pytest.mark.slow(keep=2)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", LOSSES)
def test_compiled(name: str, dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = lab.function(lambda x, p: derivatives(LOSSES[name], x, p))
    for bad in (None, None, np.inf, np.nan):
        given = inputs(dtype, bad)
        wanted = whole(LOSSES[name], monkeypatch, *given)
        for found, true in zip(compiled(*given), wanted, strict=True):
            tolerance = 2e-4 if dtype == "float32" else 1e-10
            np.testing.assert_allclose(found.numpy(), true, tolerance, tolerance)
    assert compiled.fallbacks == 0


@pytest.mark.parametrize(
    "name", ["cross entropy", "cross entropy of distributions", "squares", "rectified", "weighted"]
)
def test_nothing_of_a_net_becomes_a_whole_stack(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = lab.function(lambda x, p: derivatives(LOSSES[name], x, p))
    given = inputs("float64")
    compiled(*given)
    sizes = [np.prod(compiled.program.values[i].shape) for line in compiled.program.lines for i in line.outs]
    assert max(sizes) <= COUNT * INPUTS * HIDDEN, str(compiled.program)  # the derivatives themselves
    monkeypatch.setattr(jacobians, "FEWEST_IN_BANDS", 1)
    monkeypatch.setattr(Blocks, "whole", lambda self: pytest.fail(f"a stack of {self.shape} became whole"))
    derivatives(LOSSES[name], *given)


PARTS = DRAW.normal(size=(5, 4, 3))
MATRIX = DRAW.normal(size=(3, 2))
OPERATIONS: list[Callable[[Any, Any], Any]] = [
    lambda ops, g: -g, lambda ops, g: g + g, lambda ops, g: g - g, lambda ops, g: g * 2.0, lambda ops, g: 2.0 * g,
    lambda ops, g: g * PARTS, lambda ops, g: PARTS[:1] * g, lambda ops, g: g * PARTS[0],
    lambda ops, g: g / (2 + PARTS**2),
    lambda ops, g: g * PARTS[None], lambda ops, g: g + np.ones(3), lambda ops, g: 1.0 / (2.0 + g), lambda ops, g: g * g,
    lambda ops, g: ops.matmul(g, MATRIX), lambda ops, g: ops.reshape(g, shape=(5, 5, 12)),
    lambda ops, g: ops.reshape(g, shape=(25, 4, 3)), lambda ops, g: ops.reshape(g, shape=(5, 20, 3)),
    lambda ops, g: ops.reshape(ops.matmul(ops.reshape(g, shape=(25, 4, 3)), MATRIX), shape=(5, 5, 8)),
    lambda ops, g: ops.reshape(g, shape=(25, 4, 3)) * 2.0, lambda ops, g: ops.transpose(g, perm=(-1, -2)),
    lambda ops, g: ops.transpose(g, perm=(-3, -1, -2)), lambda ops, g: ops.transpose(g, perm=(-2, -3, -1)),
    lambda ops, g: ops.sum(g, axes=(-1,), keepdims=True), lambda ops, g: ops.sum(g, axes=(-3, -1), keepdims=False),
    lambda ops, g: ops.sum(g, axes=(-3,), keepdims=True), lambda ops, g: ops.broadcast_to(
        ops.sum(g, axes=(-1,), keepdims=True), shape=(5, 5, 4, 6)),
    lambda ops, g: ops.softmax_grad(g, PARTS, axis=-1), lambda ops, g: ops.softmax_grad(g, PARTS, axis=-3),
    lambda ops, g: ops.select(g, PARTS > 0), lambda ops, g: ops.gate(g, (PARTS > 0).astype(float)),
    lambda ops, g: g * np.where(PARTS > 1, np.inf, PARTS), lambda ops, g: g / np.where(PARTS > 1, 0.0, 1.0),
    lambda ops, g: ops.matmul(g, np.full((3, 2), np.nan)), lambda ops, g: ops.exp(g), lambda ops, g: g[2],
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(OPERATIONS)))
def test_every_operation_is_that_of_the_whole_stack(number: int) -> None:
    g = Blocks(PARTS)
    with np.errstate(all="ignore"):
        found, wanted = (filled(OPERATIONS[number](STRUCTURED, one)) for one in (g, g.whole()))
    np.testing.assert_allclose(found, wanted, 1e-13, 1e-13)


def test_a_matrix_times_the_examples() -> None:
    g, matrix = Blocks(PARTS[:, 0]), DRAW.normal(size=(6, 5))
    found = STRUCTURED.matmul(matrix, g)
    assert isinstance(found, np.ndarray)
    np.testing.assert_allclose(found, matrix @ g.whole(), 1e-13)


def test_unit_cotangents_of_examples_become_blocks() -> None:
    """The stack of unit cotangents is a band, until an op spreads it over the elements of each example."""
    losses = unit_stack(np.ones(5))
    spread = losses.whole()[:, :, None] * PARTS[:, 0]
    found = STRUCTURED.reshape(losses, shape=(5, 5, 1)) * PARTS[:, 0]
    assert isinstance(found, blocks.Blocks)
    np.testing.assert_array_equal(found.whole(), spread)
