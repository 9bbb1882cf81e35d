"""A tensor in two roles: as two arguments, or as an argument and as a constant that the function reads."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab

POINT = np.array([0.5, 2.0])


def twice(a: Any, b: Any) -> Any:
    return lab.reduce_sum(a * b * b)


def close(found: Any, *expected: Any) -> None:
    for a, b in zip(found if isinstance(found, (list, tuple)) else [found], expected, strict=True):
        np.testing.assert_allclose(a.numpy(), b, rtol=1e-12)


WAYS = [lambda f: f, lab.function, lambda f: lab.function(f, backend="numpy")]


@pytest.mark.parametrize("way", WAYS, ids=["eager", "compiled", "compiled to NumPy"])
@pytest.mark.parametrize("recorded", [False, True])
def test_each_argument_has_its_own_derivative(way: Callable[[Any], Any], recorded: bool) -> None:
    def all_of(x: Any) -> Any:
        ones = lab.ones_like(x)
        return [
            *lab.gradient(twice)(x, x), *lab.value_with_gradient(twice)(x, x)[1], *lab.pullback(twice, x, x)(1.0),
            *lab.vjp(lambda a, b: a * b * b, [x, x], ones)[1], lab.jvp(lambda a, b: a * b * b, [x, x], [ones, ones])[1],
            *lab.gradient(lambda pair: twice(*pair))([x, x]),
        ]  # fmt: skip

    x, run = lab.constant(POINT), way(all_of)
    expected = [POINT**2, 2.0 * POINT**2]
    for _ in range(2):
        if recorded:
            with lab.GradientTape() as tape:
                tape.watch(x)
                found = run(x)
            close(tape.gradient(found[0], x), 2.0 * POINT)
        else:
            found = run(x)
        close(found, *expected * 4, 3.0 * POINT**2, *expected)


@pytest.mark.parametrize("way", WAYS, ids=["eager", "compiled", "compiled to NumPy"])
def test_what_a_function_reads_from_outside_is_a_constant(way: Callable[[Any], Any]) -> None:
    def all_of(x: Any) -> Any:
        ones = lab.ones_like(x)
        return [
            lab.gradient(lambda a: lab.reduce_sum(a * x))(x), lab.jvp(lambda a: a * x, [x], [ones])[1],
            lab.hessian(lambda a: lab.reduce_sum(a * a * x))(x), lab.hvp(lambda a: lab.reduce_sum(a * a * x), x, ones),
        ]  # fmt: skip

    close(way(all_of)(lab.constant(POINT)), POINT, POINT, np.diag(2.0 * POINT), 2.0 * POINT)


def test_perturbations_are_not_confused() -> None:
    """The example of Siskind and Pearlmutter, "Perturbation confusion and referential transparency" (2005)."""
    x = lab.constant(3.0)
    assert float(lab.gradient(lambda x: x * lab.gradient(lambda y: x + y)(lab.constant(1.0)))(x)) == 1.0
    assert float(lab.gradient(lambda x: x * lab.gradient(lambda y: x * y)(x))(x)) == 6.0


def test_a_named_tensor_keeps_its_name() -> None:
    names = []
    lab.gradient(lambda a: (names.append(a.name), a * a)[1])(lab.constant(2.0, name="width"))
    assert names == ["width"]


def test_a_variable_cannot_be_two_arguments() -> None:
    v = lab.Variable(POINT, name="rate")
    with pytest.raises(lab.errors.InvalidArgumentError, match="variable 'rate:0' is given as two arguments"):
        lab.gradient(twice)(v, v)
    close(lab.gradient(twice)(v, lab.identity(v)), POINT**2, 2.0 * POINT**2)


def by_name(function: Callable[..., Any]) -> Callable[[Any], Any]:
    return lambda x: function(b=x, a=x)


def by_position(function: Callable[..., Any]) -> Callable[[Any], Any]:
    return lambda x: function(x, x)


def derivatives(function: Callable[[Any], Any], x: Any) -> list[Any]:
    def loss(u: Any) -> Any:
        return lab.reduce_sum(function(u) ** 2.0)

    with lab.GradientTape() as outer:
        outer.watch(x)
        with lab.GradientTape() as tape:
            tape.watch(x)
            value = loss(x)
        slope = tape.gradient(value, x)
    ones = lab.ones_like(x)
    second = [outer.gradient(slope, x), lab.hvp(loss, x, ones), lab.hessian(loss)(x)]
    return [slope, *second, lab.jvp(loss, [x], [ones])[1]]


@pytest.mark.parametrize("form", [by_position, by_name])
def test_recomputation_of_one_tensor_in_two_places(form: Callable[..., Any]) -> None:
    def plain(a: Any, b: Any) -> Any:
        return lab.sin(a) * b + a * 0.2

    x = lab.constant(POINT)
    expected = derivatives(form(plain), x)
    close(derivatives(form(lab.recompute_grad(plain)), x), *[one.numpy() for one in expected])


def test_recomputation_of_a_variable_that_is_an_argument_too() -> None:
    v = lab.Variable(POINT)
    recomputed = lab.recompute_grad(lambda a: a * v * v)
    with lab.GradientTape() as outer:
        with lab.GradientTape() as tape:
            value = lab.reduce_sum(recomputed(v))
        slope = tape.gradient(value, v)
    close([slope, outer.gradient(slope, v)], 3.0 * POINT**2, 6.0 * POINT)
