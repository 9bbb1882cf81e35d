"""Variables that a function with a custom derivative reads, and structures that it takes, lose no gradient."""

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import pytest

import autodiff_lab as lab
from autodiff_lab.errors import InvalidArgumentError


def scaled(*weights: lab.Variable) -> Callable[..., Any]:
    """Return a function whose gradient is made of recognizable numbers, one more for each variable."""

    @lab.custom_gradient
    def f(x: Any) -> Any:
        value = x
        for w in weights:
            value = value * w

        def gradient(upstream: Any, variables: Any = None) -> Any:
            if variables is None:
                return upstream * 10.0
            places = {id(w): 100.0 * (k + 1) for k, w in enumerate(weights)}
            return upstream * 10.0, [upstream * places[id(v)] for v in variables]

        return value, gradient

    return f


def gradients(f: Callable[..., Any], *sources: Any) -> list[Any]:
    with lab.GradientTape() as tape:
        tape.watch(sources)
        y = f(sources[0])
    return [None if g is None else float(g) for g in tape.gradient(y, sources)]


@pytest.mark.parametrize(
    "around", [lambda f: f, lab.recompute_grad, lambda f: lambda x: lab.recompute_grad(f)(x) * 1.0]
)
def test_a_variable_that_is_read_gets_the_gradient_written_for_it(around: Callable[..., Any]) -> None:
    x, v, w = lab.constant(2.0), lab.Variable(3.0), lab.Variable(5.0)
    assert gradients(scaled(), x) == [10.0]
    assert gradients(around(scaled(v)), x, v) == [10.0, 100.0]
    assert gradients(around(scaled(v, w)), x, v, w) == [10.0, 100.0, 200.0]


def test_a_variable_that_is_an_argument_or_is_not_trained_is_not_among_them() -> None:
    v, still = lab.Variable(3.0), lab.Variable(5.0, trainable=False)
    assert gradients(scaled(v), v) == [10.0]
    assert gradients(scaled(still), lab.constant(1.0), still) == [10.0, None]


@pytest.mark.parametrize("inside", [False, True])
def test_a_gradient_that_takes_no_variables_is_a_type_error_at_the_call(inside: bool) -> None:
    v = lab.Variable(3.0, name="weight")
    f = lab.custom_gradient(lambda x: (x * v, lambda upstream: upstream))
    block = lab.GradientTape() if inside else nullcontext()
    with block, pytest.raises(TypeError, match=r"reads the variables weight:0.*'variables'"):
        f(2.0)


@pytest.mark.parametrize("answer", [1.0, (1.0,), (1.0, []), (1.0, [1.0, 1.0]), ([1.0, 1.0], [1.0])])
def test_an_answer_of_another_form_is_refused(answer: Any) -> None:
    v = lab.Variable(3.0)
    f = lab.custom_gradient(lambda x: (x * v, lambda upstream, variables: answer))
    with lab.GradientTape() as tape:
        y = f(2.0)
    with pytest.raises(InvalidArgumentError, match="custom_gradient"):
        tape.gradient(y, v)


def test_a_straight_through_function_gives_its_variables_none() -> None:
    x, v = lab.constant(2.7), lab.Variable(3.0)
    assert gradients(lab.grad_pass_through(lambda t: lab.floor(t) * v), x, v) == [1.0, None]


def test_structures_of_arguments_stay_structures() -> None:
    x, y, z = lab.constant(2.0), lab.Variable(3.0), lab.constant([1.0, 2.0])

    @lab.custom_gradient
    def f(pair: Any, table: Any) -> Any:
        first, (second,) = pair
        return first * second + lab.reduce_sum(table["z"]), lambda g: ((g * 10.0, (g * 20.0,)), {"z": g * [5.0, 6.0]})

    with lab.GradientTape() as tape:
        tape.watch([x, z])
        value = f((x, (y,)), {"z": z})
    dx, dy, dz = tape.gradient(value, [x, y, z])
    assert (float(value), float(dx), float(dy), dz.numpy().tolist()) == (9.0, 10.0, 20.0, [5.0, 6.0])


def test_it_compiles_with_the_gradients_of_its_variables() -> None:
    v = lab.Variable(3.0)
    f = scaled(v)

    def step(x: Any) -> Any:
        with lab.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        return tape.gradient(y, [x, v])

    compiled, x = lab.function(step), lab.constant(2.0)
    for _ in range(3):
        assert [float(g) for g in compiled(x)] == [10.0, 100.0]


def test_recompute_grad_passes_keywords_on() -> None:
    x = lab.constant(2.0)
    power = lab.recompute_grad(lambda t, exponent: t**exponent)
    assert gradients(lambda t: power(t, exponent=3.0), x) == [12.0]
