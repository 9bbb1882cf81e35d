"""Accumulators nested in each other and around tapes, queried inside and after their blocks; what they refuse."""

from collections.abc import Callable
from typing import Any

import pytest

import autodiff_lab as lab
from autodiff_lab.errors import InvalidArgumentError

Accumulator = lab.autodiff.ForwardAccumulator


def ask(late: bool, f: Callable[[Any], Any], x: lab.Tensor, depth: int) -> list[Any]:
    """Return the derivatives of orders 1 to `depth`, asked inside the innermost block or after all of them."""
    accumulators: list[Any] = []
    found: list[Any] = []

    def nest(left: int) -> Any:
        if not left:
            return f(x)
        accumulator = Accumulator(x, lab.ones_like(x))
        accumulators.append(accumulator)
        with accumulator:
            y = nest(left - 1)
            if left == depth and not late:
                found.extend(orders(y))
        return y

    def orders(y: Any) -> list[Any]:
        tangents = []
        for accumulator in reversed(accumulators):
            y = accumulator.jvp(y)
            tangents.append(y)
        return tangents

    y = nest(depth)
    return orders(y) if late else found


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_nested_accumulators_give_higher_derivatives(late: bool, depth: int) -> None:
    x = lab.constant(1.5, lab.float64)
    expected = [4 * 1.5**3, 12 * 1.5**2, 24 * 1.5][:depth]
    assert [float(t) for t in ask(late, lambda t: t**4, x, depth)] == pytest.approx(expected)


@pytest.mark.parametrize("persistent", [False, True])
@pytest.mark.parametrize("late", [False, True])
def test_a_tape_around_differentiates_a_tangent(late: bool, persistent: bool) -> None:
    x = lab.constant(2.0)
    with lab.GradientTape(persistent=persistent) as tape:
        tape.watch(x)
        with Accumulator(x, lab.constant(1.0)) as accumulator:
            y = x**3
        tangent = None if late else accumulator.jvp(y)
    tangent = accumulator.jvp(y) if late else tangent
    assert float(tape.gradient(tangent, x)) == 12.0


def test_an_accumulator_around_a_tape_and_the_order_of_two() -> None:
    x = lab.constant(2.0)
    with Accumulator(x, lab.constant(1.0)) as outer:
        with lab.GradientTape() as tape:
            tape.watch(x)
            y = x**3
        slope = tape.gradient(y, x)
        with Accumulator(x, lab.constant(1.0)) as inner:
            z = x**2
    assert float(outer.jvp(slope)) == 12.0
    assert inner.jvp(outer.jvp(z)) is None  # the inner one hears nothing of the outer


def test_a_primal_has_its_own_tangent() -> None:
    x, v, other = lab.constant(1.0), lab.Variable(2.0), lab.Variable(3.0)
    with Accumulator([x, v], [lab.constant(5.0), lab.constant(7.0)]) as accumulator:
        pass
    assert [float(t) for t in accumulator.jvp([x, v])] == [5.0, 7.0]
    assert accumulator.jvp(other) is None
    assert float(accumulator.jvp(other, unconnected_gradients="zero")) == 0.0


@pytest.mark.parametrize("function", [
    lab.recompute_grad(lambda t: lab.sin(t) * t),
    lab.custom_gradient(lambda t: (lab.sin(t) * t, lambda g: g * (lab.cos(t) * t + lab.sin(t)))),
    lambda t: lab.with_derivative(lab.sin(t) * t, lambda g: None),
])  # fmt: skip
def test_it_goes_through_functions_with_a_derivative_of_their_own(function: Callable[[Any], Any]) -> None:
    x = lab.constant(0.7, lab.float64)
    plain = ask(True, lambda t: lab.sin(t) * t, x, 2)
    assert [float(t) for t in ask(True, function, x, 2)] == pytest.approx([float(t) for t in plain])


def test_what_it_refuses_is_a_value_error() -> None:
    x = lab.constant(1.0)
    accumulator = Accumulator(x, x)
    attempts: list[Callable[[], Any]] = [
        lambda: Accumulator([x, x], [x, x]), accumulator.__enter__,
        lambda: Accumulator(x, lab.constant(1.0, lab.float64)), lambda: Accumulator([x], [x, x]),
    ]  # fmt: skip
    with accumulator:
        for attempt in attempts:
            with pytest.raises(InvalidArgumentError) as caught:
                attempt()
            assert isinstance(caught.value, ValueError)


def batch(f: Callable[[Any], Any], x: Any, **options: Any) -> Any:
    with lab.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return tape.batch_jacobian(y, x, **options)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_batch_jacobian_without_a_path_is_zeros(dtype: str) -> None:
    x = lab.ones((2, 3), dtype=dtype)
    for options in ({}, {"unconnected_gradients": "none"}, {"unconnected_gradients": "zero"}):
        found = batch(lambda _: lab.ones((2, 4, 5), dtype=dtype), x, **options)
        assert found.shape == (2, 4, 5, 3)
        assert found.dtype == x.dtype
        assert not found.numpy().any()


@pytest.mark.parametrize(
    ("f", "x"),
    [
        (lambda x: x * x, lab.ones(2)), (lambda x: x[0], lab.ones((1, 1))), (lambda x: x, lab.constant(1.0)),
        (lambda x: [x, x], lab.ones((2, 2))), (lambda x: lab.concat([x, x], 0), lab.ones((1, 2))),
    ],
)  # fmt: skip
def test_a_batch_jacobian_needs_one_batch_of_rows(f: Callable[[Any], Any], x: lab.Tensor) -> None:
    with pytest.raises(ValueError, match="batch_jacobian"):
        batch(f, x)
