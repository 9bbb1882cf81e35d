"""Compiled losses on tapes: one entry from the third call on, with the gradients of the eager function."""

import logging
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab

V = lab.Variable([1.0, 2.0])
FROZEN = lab.Variable([3.0, 1.0], trainable=False)
TABLE = lab.Variable(np.linspace(0.0, 1.0, 10, dtype=np.float32).reshape(5, 2))
WAVE = lab.Variable(np.array([1 + 2j, 0.5 - 1j], np.complex64))
WIDE = lab.Variable(np.array([1.0, -3.0]))
CAPTURED = lab.constant([0.5, 0.25])
MODEL = lab.Sequential([lab.layers.Dense(4, "tanh"), lab.layers.BatchNormalization(), lab.layers.Dense(1)])
MODEL(lab.ones((2, 2)))
CALLS = 6


def draw(k: int) -> lab.Tensor:
    return lab.constant(np.random.default_rng(k).standard_normal(2).astype(np.float32))


def same(found: list[Any], wanted: list[Any]) -> None:
    for a, b in zip(found, wanted, strict=True):
        assert (a is None) == (b is None)
        if a is not None:
            np.testing.assert_allclose(lab.convert_to_tensor(a).numpy(), lab.convert_to_tensor(b).numpy(), 2e-5, 1e-6)


def on_tape(f: Callable[..., Any], *args: Any, watched: tuple[Any, ...] = ()) -> tuple[tuple[str, ...], list[Any]]:
    """Return the ops on the tape, then three times the loss and its gradients, also as Jacobians."""
    leaves = lab.nest.flatten(args)
    sources = [*leaves, V, FROZEN, CAPTURED, TABLE, WAVE, WIDE, *MODEL.trainable_variables]
    with lab.GradientTape(persistent=True) as tape:
        tape.watch([*leaves, *watched])
        loss = f(*args)
        found = loss * 3.0
    first = [tape.jacobian(found, leaf) for leaf in leaves if found.shape == () and leaf.dtype.is_floating]
    return tape.operations, [found, *tape.gradient(found, sources), *first]


LOSSES: dict[str, Callable[..., Any]] = {
    "arguments and a variable": lambda x, y: lab.reduce_sum(lab.sin(x) * y * V),
    "rows of a table": lambda x, y: lab.reduce_sum(lab.gather(TABLE, [1, 2]) * x),
    "a branch": lambda x, y: lab.reduce_sum(x * V) if x[0] > 0.0 else lab.reduce_sum(lab.cos(x * V)),
    "no argument": lambda x, y: lab.reduce_sum(V * V),
    "a model": lambda x, y: lab.reduce_mean((MODEL(lab.stack([x, y])) - 1.0) ** 2),
    "frozen variables": lambda x, y: lab.reduce_sum(x * FROZEN),
    "a constant": lambda x, y: lab.reduce_sum(x * CAPTURED),
    "a complex variable": lambda x, y: lab.math.real(lab.reduce_sum(lab.complex(x, y) * WAVE * WAVE)),
    "another dtype": lambda x, y: lab.cast(lab.reduce_sum(lab.cast(x, "float64") * WIDE), "float32"),
    "a stopped gradient": lambda x, y: lab.reduce_sum(x * lab.stop_gradient(y) * V),
    "a gradient inside": lambda x, y: lab.reduce_sum(lab.gradient(lambda z: lab.reduce_sum(z**3))(x) * V),
}


@pytest.mark.parametrize("name", LOSSES)
def test_a_loss_is_one_entry_with_the_gradients_of_the_eager_function(name: str) -> None:
    compiled, ops = lab.function(LOSSES[name]), ()
    for k in range(CALLS):
        x, y = draw(k), draw(k + 10)
        ops, found = on_tape(compiled, x, y)
        same(found, on_tape(LOSSES[name], x, y)[1])
    assert len(ops) == 2
    assert "one entry" in compiled.why()


OTHERS: dict[str, tuple[Callable[..., Any], Callable[[int, Any, Any], tuple[Any, ...]]]] = {
    "a vector": (lambda x, y: x * V, lambda k, x, y: (x, y)),
    "the same argument twice": (lambda x, y: lab.reduce_sum(x * y * V), lambda k, x, y: (x, x)),
    "a tuple": (lambda x, y: (lab.reduce_sum(x * V), y)[0] * x, lambda k, x, y: (x, y)),
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_functions_go_on_the_tape_op_by_op(name: str) -> None:
    function, arguments = OTHERS[name]
    compiled, ops = lab.function(function), ()
    for k in range(CALLS):
        args = arguments(k, draw(k), draw(k + 10))
        ops, found = on_tape(compiled, *args)
        same(found, on_tape(function, *args)[1])
    assert "<lambda>" not in ops
    assert "ran op by op" in compiled.why()


@pytest.mark.parametrize("what", [CAPTURED, FROZEN], ids=["a constant", "a frozen variable"])
def test_what_a_tape_watches_besides_the_arguments_gets_its_gradient(what: Any) -> None:
    def loss(x: Any) -> Any:
        return lab.reduce_sum(x * what)

    compiled = lab.function(loss)
    for k in range(8):
        watched = (what,) if k in (0, 4, 5, 7) else ()
        same(on_tape(compiled, draw(k), watched=watched)[1], on_tape(loss, draw(k), watched=watched)[1])


def test_a_tensor_that_was_computed_on_the_tape_and_captured_gets_its_gradient() -> None:
    @lab.function
    def loss(x: Any) -> Any:
        return lab.reduce_sum(x * holder[0])

    holder = [V + 0.0]
    for k in range(CALLS):
        with lab.GradientTape() as tape:
            holder[0] = V * 2.0
            value = loss(draw(k))
        same([tape.gradient(value, V)], [2.0 * draw(k)])


def test_effects_happen_once_in_each_call_and_what_leaks_has_its_gradient() -> None:
    kept: list[Any] = []

    @lab.function
    def loss(x: Any) -> Any:
        h = x * V
        kept.append(h)
        return lab.reduce_sum(h * h)

    for k in range(CALLS):
        x = draw(k)
        with lab.GradientTape(persistent=True) as tape:
            tape.watch(x)
            value = loss(x)
        assert len(kept) == k + 1
        same([tape.gradient(value, kept[-1]), tape.gradient(value, x)], [2.0 * kept[-1], 2.0 * x * V * V])


def test_what_a_call_assigns_is_assigned_once() -> None:
    count = lab.Variable(0.0, trainable=False)

    @lab.function
    def loss(x: Any) -> Any:
        count.assign_add(1.0)
        return lab.reduce_sum(x * V) * count

    for k in range(CALLS):
        with lab.GradientTape() as tape:
            value = loss(draw(k))
        assert float(count) == k + 1
        same([tape.gradient(value, V)], [draw(k) * (k + 1.0)])


def test_gradients_of_gradients_from_two_tapes_and_from_one() -> None:
    def loss(x: Any) -> Any:
        return lab.reduce_sum(lab.sin(x) * V**3)

    compiled = lab.function(loss)

    def from_two(f: Any, x: Any) -> list[Any]:
        with lab.GradientTape() as outer:
            outer.watch(x)
            with lab.GradientTape() as inner:
                inner.watch(x)
                value = f(x)
            size = lab.reduce_sum(inner.gradient(value, x) ** 2)
        return [size, *outer.gradient(size, [x, V])]

    def from_one(f: Any, x: Any) -> list[Any]:
        with lab.GradientTape(persistent=True) as tape:
            tape.watch(x)
            value = f(x) * 2.0
            size = lab.add_n([lab.reduce_sum(g**2) for g in tape.gradient(value, [x, V])])
        return [size, *tape.gradient(size, [x, V])]

    for k in range(CALLS):
        for run in (from_one, from_two):
            same(run(compiled, draw(k)), run(loss, draw(k)))


def test_a_variable_that_was_assigned_before_a_second_derivative_is_as_it_was() -> None:
    def second(f: Any) -> list[Any]:
        w, x = lab.Variable(2.0), lab.constant(1.0)
        count = lab.Variable(0.0, trainable=False)

        def cube(x: Any) -> Any:
            count.assign_add(1.0)
            return x * w**3 * count

        loss, found = f(cube), []
        for _ in range(CALLS):
            with lab.GradientTape(persistent=True) as tape:
                value = loss(x)
                w.assign_add(1.0)
                first = tape.gradient(value, w)
            found += [value, first, tape.gradient(first, w), w.read(), count.read()]
        return found

    same(second(lab.function), second(lambda f: f))


def test_a_function_that_draws_has_second_derivatives_of_what_it_drew() -> None:
    w = lab.Variable([2.0, 3.0])
    loss = lab.function(lambda: lab.reduce_sum(lab.nn.dropout(w, 0.5) ** 2))
    for _ in range(CALLS):
        with lab.GradientTape(persistent=True) as tape:
            value = loss()
            first = tape.gradient(value, w)
        np.testing.assert_allclose(lab.reduce_sum(first * w).numpy(), 2.0 * value.numpy(), 1e-6)
        np.testing.assert_allclose((tape.gradient(first, w) * w).numpy(), first.numpy(), 1e-6)
        with lab.GradientTape() as tape:
            value = loss()
        np.testing.assert_allclose(lab.reduce_sum(tape.gradient(value, w) * w).numpy(), 2.0 * value.numpy(), 1e-6)


def test_recordings_and_other_listeners_hear_every_op() -> None:
    loss = lab.function(lambda x: lab.reduce_sum(lab.sin(x) * V))
    for k in range(CALLS):
        on_tape(loss, draw(k))
    with lab.record() as recording, lab.GradientTape() as tape:
        value = loss(draw(0))
    tape.gradient(value, V)
    assert {"sin", "multiply", "sum"} <= set(recording.ops)


def test_a_tape_that_watches_no_variables_by_itself_gets_every_op() -> None:
    loss = lab.function(lambda x: lab.reduce_sum(x * V * TABLE))
    for k in range(CALLS):
        with lab.GradientTape(watch_accessed_variables=False) as tape:
            tape.watch(V)
            value = loss(draw(k))
        found = tape.gradient(value, [V, TABLE])
        assert found[1] is None
        same(found[:1], [draw(k) * lab.reduce_sum(TABLE, 0)])


def test_errors_are_those_of_the_eager_function_and_later_calls_go_on() -> None:
    loss = lab.function(lambda x, n: lab.reduce_sum(lab.gather(x * V, n)))
    for k in range(8):
        n = lab.constant(7 if k in (1, 3, 6) else 1)
        with lab.GradientTape() as tape:
            if int(n) == 7:
                with pytest.raises(lab.errors.InvalidArgumentError, match="index 7"):
                    loss(draw(k), n)
                continue
            value = loss(draw(k), n)
        same([tape.gradient(value, V)], [draw(k) * [0.0, 1.0]])


def test_nothing_is_logged_about_a_loss_that_cannot_be_one_entry(caplog: pytest.LogCaptureFixture) -> None:
    loss = lab.function(lambda x: lab.reduce_sum(x * V) * float(V[0]))
    with caplog.at_level(logging.WARNING, "autodiff_lab"):
        for k in range(CALLS):
            on_tape(loss, draw(k))
    assert not caplog.records
