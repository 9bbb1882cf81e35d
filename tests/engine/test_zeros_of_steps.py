"""Zeros of step functions: a sweep notes where they go, and takes them through no product."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.engine.namespace import RAW

RNG = np.random.default_rng(0)
KINKED: dict[str, Callable[[Any], Any]] = {
    "relu": lab.nn.relu,
    "relu6": lab.nn.relu6,
    "leaky relu": lab.nn.leaky_relu,
    "absolute value": lab.abs,
    "maximum": lambda z: lab.maximum(z, 0.3 * z),
    "a choice": lambda z: lab.where(z > 0.0, z, 0.3 * z),
}


def penalty(activation: Callable[[Any], Any], x: Any, weights: list[Any]) -> Any:
    """Return the squared slope of a network of two layers, whose gradient passes the derivative of its kinks."""
    first, bias, second = weights
    with lab.GradientTape() as tape:
        tape.watch(x)
        y = lab.reduce_sum(activation(x @ first + bias) @ second)
    return lab.reduce_sum(lab.square(tape.gradient(y, x)))


def inputs() -> tuple[Any, list[Any]]:
    x = lab.constant(RNG.normal(size=(5, 4)).astype(np.float32))
    return x, [lab.Variable(RNG.normal(size=shape).astype(np.float32)) for shape in ((4, 3), (3,), (3, 1))]


def gradients(activation: Callable[[Any], Any], x: Any, weights: list[Any]) -> Any:
    with lab.GradientTape() as tape:
        found = penalty(activation, x, weights)
    return tape.gradient(found, weights)


@pytest.mark.parametrize("name", KINKED)
def test_the_second_sweep_multiplies_by_no_zeros(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    x, weights = inputs()
    products: list[Any] = []
    multiply = RAW.matmul

    def counted(*arrays: Any, **how: Any) -> Any:
        products.append(how)
        return multiply(*arrays, **how)

    monkeypatch.setattr(RAW, "matmul", counted)
    found = gradients(KINKED[name], x, weights)
    assert len(products) == 3  # one adjoint through the upper layer, and one for each matrix
    slopes = (np.asarray(KINKED[name](x @ weights[0] + weights[1])) / np.asarray(x @ weights[0] + weights[1])).round(5)
    second = weights[2].numpy()[:, 0]
    inner = (slopes * second) @ weights[0].numpy().T
    assert np.allclose(found[0], 2 * inner.T @ (slopes * second), rtol=1e-3)
    assert np.allclose(found[2][:, 0], 2 * ((inner @ weights[0].numpy()) * slopes).sum(0), rtol=1e-3)


@pytest.mark.parametrize("name", KINKED)
def test_what_zeros_alone_reach_has_a_gradient_of_zeros(name: str) -> None:
    x, weights = inputs()
    of_bias = gradients(KINKED[name], x, weights)[1]
    if name == "a choice":  # the condition is a bool, through which nothing passes
        assert of_bias is None
    else:
        assert of_bias.shape == (3,)
        assert not of_bias.numpy().any()
    step = lab.function(lambda x: gradients(KINKED[name], x, weights))
    step.compile(x)
    for eager, compiled in zip(gradients(KINKED[name], x, weights), step(x), strict=True):
        assert (eager is None) == (compiled is None)
        assert eager is None or np.allclose(eager, compiled, rtol=1e-4)


def test_a_stack_of_cotangents_has_its_zeros_too() -> None:
    x = lab.Variable([1.0, -2.0, 3.0])
    with lab.GradientTape(persistent=True) as outer:
        with lab.GradientTape() as inner:
            y = lab.reduce_sum(lab.nn.relu(x))
        slope = inner.gradient(y, x)
    assert outer.jacobian(slope, x).shape == (3, 3)
    assert not outer.jacobian(slope, x).numpy().any()
    assert outer.gradient(slope, x).shape == (3,)


@pytest.mark.parametrize(("name", "is_there"), [("relu", True), ("relu6", True), ("absolute value", False)])
def test_a_third_derivative_is_there_where_the_zeros_depend_on_the_source(name: str, is_there: bool) -> None:
    """The rule of relu reads its output; the sign that abs multiplies by is a constant for what follows."""
    x = lab.Variable(2.0)
    with lab.GradientTape() as third:
        with lab.GradientTape() as second:
            with lab.GradientTape() as first:
                y = KINKED[name](x)
            slope = first.gradient(y, x)
        bend = second.gradient(slope, x)
    assert float(bend) == 0.0
    found = third.gradient(bend, x)
    assert (found is not None) == is_there
    assert found is None or float(found) == 0.0


def test_rows_that_are_gathered_from_a_step_function_have_zeros() -> None:
    x = lab.Variable([[1.0, -2.0], [3.0, 0.5]])
    with lab.GradientTape() as tape:
        y = lab.reduce_sum(lab.gather(lab.sign(x), [0, 0]))
    assert not tape.gradient(y, x).numpy().any()


def test_a_rule_of_a_user_is_called_with_zeros() -> None:
    met: list[Any] = []

    @lab.custom_gradient
    def passing(x: Any) -> Any:
        def gradient(g: Any) -> Any:
            met.append(g.numpy())
            return g + 1.0

        return lab.identity(x), gradient

    x = lab.Variable([1.0, -2.0])
    with lab.GradientTape() as outer:
        z = passing(x)
        with lab.GradientTape() as inner:
            inner.watch(z)
            y = lab.reduce_sum(lab.nn.relu(z))
        slope = inner.gradient(y, z)
    assert np.array_equal(outer.gradient(slope, x), [1.0, 1.0])
    assert len(met) == 1
    assert not met[0].any()


def test_zeros_meet_other_contributions() -> None:
    x = lab.Variable([1.0, -2.0])
    with lab.GradientTape() as outer:
        with lab.GradientTape() as inner:
            y = lab.reduce_sum(lab.nn.relu(x) * x)
        total = lab.reduce_sum(inner.gradient(y, x) * x)
    assert np.allclose(outer.gradient(total, x), [4.0, 0.0])
