"""Forward mode compiles: alone, over tapes, under tapes and over itself, and so do the derivatives built on it."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab import nest

X = lab.constant([[0.1, 0.2], [-0.4, 0.3], [0.5, 0.7]])
V = lab.constant([[1.0, 0.5], [-0.5, 2.0]])
W = lab.Variable([[1.0, 2.0], [3.0, 4.0]])
Forward = lab.autodiff.ForwardAccumulator


def value(x: Any, w: Any = W) -> Any:
    return lab.reduce_sum(lab.tanh(x @ w) * lab.sin(x))


def alone(x: Any) -> Any:
    with Forward(W, V) as accumulator:
        y, z = lab.exp(x @ W), lab.reduce_mean(lab.nn.softmax(x @ W)[:, 0])
    return accumulator.jvp([y, z])


def of_an_argument(x: Any) -> Any:
    with Forward(x, lab.ones_like(x)) as accumulator:
        y = value(x)
    return y, accumulator.jvp(y)


def over_a_tape(x: Any) -> Any:
    with Forward(W, V) as accumulator:
        with lab.GradientTape() as tape:
            loss = value(x)
        grads = tape.gradient(loss, W)
    return grads, accumulator.jvp(grads)


def under_a_tape(x: Any) -> Any:
    with lab.GradientTape() as tape:
        with Forward(W, V) as accumulator:
            loss = value(x)
        slope = accumulator.jvp(loss)
    return slope, tape.gradient(slope, W)


def over_itself(x: Any) -> Any:
    with Forward(W, V) as outer, Forward(W, V) as inner:
        loss = value(x)
    return outer.jvp(inner.jvp(loss))


def unconnected(x: Any) -> Any:
    with Forward(W, V) as accumulator:
        y = x * x
    return accumulator.jvp(y, unconnected_gradients=lab.UnconnectedGradients.ZERO)


def two_primals(x: Any) -> Any:
    with Forward([x, W], [lab.sin(x), V]) as accumulator:
        y = x @ W
        square = y * y
    return accumulator.jvp({"y": y, "square": square})


def step(x: Any) -> Any:
    with Forward(W, V) as accumulator:
        loss = value(x)
    W.assign_sub(0.1 * accumulator.jvp(loss) * V)
    return loss


def jvp(x: Any) -> Any:
    return lab.jvp(value, [x], [lab.cos(x)])


def vjp(x: Any) -> Any:
    return lab.vjp(lambda x: lab.tanh(x @ W), [x], lab.ones([3, 2]))


def batch_jacobian(x: Any) -> Any:
    with lab.GradientTape() as tape:
        tape.watch(x)
        y = lab.tanh(x @ W)
    return tape.batch_jacobian(y, x)


def hessian_by_batches(x: Any) -> Any:
    with lab.GradientTape() as outer:
        outer.watch(x)
        with lab.GradientTape() as inner:
            inner.watch(x)
            y = lab.reduce_sum(lab.sin(x @ W) ** 2)
        grads = inner.gradient(y, x)
    return outer.batch_jacobian(grads, x)


@pytest.mark.parametrize("backend", ["auto", "numpy"])
@pytest.mark.parametrize(
    "function",
    [
        alone, of_an_argument, over_a_tape, under_a_tape, over_itself, unconnected, two_primals, step, jvp, vjp,
        batch_jacobian, hessian_by_batches,
    ],
    ids=lambda function: function.__name__,
)  # fmt: skip
def test_forward_mode_compiles(function: Callable[..., Any], backend: str) -> None:
    start = W.numpy()
    compiled: Any = lab.function(function, backend=backend)
    found = []
    for run in (function, compiled, compiled, compiled):
        W.assign(start)
        found.append([*(a.numpy() for a in nest.flatten(run(X))), W.numpy()])
    W.assign(start)
    assert compiled.fallbacks == 0, compiled.why()
    for result in found[1:]:
        for a, b in zip(found[0], result, strict=True):
            assert np.allclose(a, b, rtol=1e-5, atol=1e-6)
