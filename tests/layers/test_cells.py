"""Recurrent cells against their formulas; alone and in compiled loops."""

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab import layers
from autodiff_lab.testing import check_gradient

WIDE: Any = {"dtype": "float64"}
CELLS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "simple rnn": (layers.SimpleRNNCell, layers.SimpleRNN),
    "lstm": (layers.LSTMCell, layers.LSTM),
    "gru": (layers.GRUCell, layers.GRU),
    "gru of the paper": (
        lambda units, **how: layers.GRUCell(units, reset_after=False, **how),
        lambda units, **how: layers.GRU(units, reset_after=False, **how),
    ),
}


def draw(*shape: int, seed: int = 1, dtype: str = "float64") -> Any:
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


def filled(layer: Any, shape: tuple[int, ...]) -> Any:
    """Return a layer that is built for a shape, with random weights."""
    layer.build(shape)
    for seed, v in enumerate(layer.variables):
        v.assign(draw(*v.shape, seed=seed, dtype=v.dtype.name))
    return layer


def cell_of(name: str, units: int = 3, **how: Any) -> Any:
    return filled(CELLS[name][0](units, **{**WIDE, **how}), (2, 4))


def states_of(cell: Any, batch: int = 2) -> list[Any]:
    return [lab.constant(draw(batch, cell.units, seed=7 + k)) for k in range(cell.states)]


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def formula(name: str, x: Any, states: list[Any], weights: list[Any]) -> list[Any]:
    """Return the next states, in NumPy."""
    h, n = states[0], states[0].shape[1]
    W, U, b = weights
    if name == "simple rnn":
        return [np.tanh(x @ W + h @ U + b)]
    if name == "lstm":
        i, f, g, o = np.split(x @ W + h @ U + b, 4, axis=1)
        c = sigmoid(f) * states[1] + sigmoid(i) * np.tanh(g)
        return [sigmoid(o) * np.tanh(c), c]
    given, back = (b[0], b[1]) if name == "gru" else (b, np.zeros(3 * n))
    xz, xr, xh = np.split(x @ W + given, 3, axis=1)
    hz, hr, hh = np.split(h @ U + back, 3, axis=1)
    z, r = sigmoid(xz + hz), sigmoid(xr + hr)
    y = np.tanh(xh + (r * hh if name == "gru" else (r * h) @ U[:, 2 * n :]))
    return [z * h + (1 - z) * y]


@pytest.mark.parametrize("name", CELLS)
def test_a_step_is_that_of_the_formula(name: str) -> None:
    cell, x = cell_of(name), draw(2, 4)
    states = states_of(cell)
    output, new = cell(x, states)
    expected = formula(name, x, [s.numpy() for s in states], cell.get_weights())
    assert isinstance(new, list)
    for value, want in zip([output, *new], [expected[0], *expected], strict=True):
        np.testing.assert_allclose(value, want, 1e-12)


def test_weights_have_the_names_and_shapes_of_keras() -> None:
    cell = layers.LSTMCell(3, name="c")
    cell.build((None, 4))
    assert [(v.name, v.shape.as_list()) for v in cell.weights] == [
        ("c/kernel:0", [4, 12]), ("c/recurrent_kernel:0", [3, 12]), ("c/bias:0", [12]),
    ]  # fmt: skip
    np.testing.assert_array_equal(cell.bias, [0] * 3 + [1] * 3 + [0] * 6)
    assert (cell.state_size, cell.output_size, cell.units) == ([3, 3], 3, 3)
    assert layers.GRUCell(3).state_size == 3
    assert filled(layers.GRUCell(3), (None, 4)).bias.shape == (2, 9)
    assert [s.shape.as_list() for s in cell.get_initial_state(batch_size=5)] == [[5, 3], [5, 3]]


def steps(cell: Any, x: Any, states: list[Any]) -> tuple[Any, ...]:
    """Return the output after a loop over a sequence, and the gradients with respect to all that it depends on."""
    with lab.GradientTape() as tape:
        tape.watch([x, *states])
        now, outputs = states, []
        for t in range(x.shape[1]):
            output, now = cell(x[:, t], now)
            outputs.append(output)
        value = lab.reduce_sum(lab.sin(lab.stack(outputs)))
    return value, *tape.gradient(value, [x, *states, *cell.trainable_variables])


@pytest.mark.slow(keep=2)
@pytest.mark.parametrize("options", [{}, {"use_bias": False}, {"activation": "relu"}], ids=str)
@pytest.mark.parametrize("name", CELLS)
def test_a_compiled_loop_over_a_cell_computes_what_the_eager_one_does(name: str, options: dict[str, Any]) -> None:
    cell, x = cell_of(name, **options), lab.constant(draw(2, 5, 4))
    compiled = lab.function(lambda x, *states: steps(cell, x, list(states)))
    states = states_of(cell)
    for _ in range(2):
        for value, want in zip(compiled(x, *states), steps(cell, x, states), strict=True):
            np.testing.assert_allclose(value, want, 1e-9, 1e-12)
    assert compiled.fallbacks == 0


@pytest.mark.parametrize("name", ["simple rnn", "lstm", "gru"])
def test_the_compiler_makes_one_loop_of_all_steps(name: str) -> None:
    pytest.importorskip("numba", reason="recurrences need Numba")
    cell, x = cell_of(name, 8), lab.constant(draw(2, 24, 4))
    compiled = lab.function(lambda x, *states: steps(cell, x, list(states)))
    compiled(x, *states_of(cell))
    compiled(x, *states_of(cell))
    assert "iterations, run" in compiled.why()
    turns = [turns for kernel in compiled.kernels for turns in kernel.turns]
    assert len(turns) >= 2, "one forwards, one backwards"
    assert min(turns) > 20


@pytest.mark.parametrize("name", ["simple rnn", "lstm", "gru"])
def test_outside_of_traces_a_step_is_one_large_op(name: str) -> None:
    cell = cell_of(name)
    with lab.record() as recording:
        cell(draw(2, 4), states_of(cell))
    ops = [application.op for application in recording.applications]
    assert {"simple rnn": "simple_rnn"}.get(name, name) in ops
    assert "matmul" not in ops


@pytest.mark.parametrize("name", CELLS)
def test_gradients_agree_with_differences(name: str) -> None:
    cell = cell_of(name)
    states = states_of(cell)
    assert check_gradient(lambda x, *s: cell(x, list(s))[0], draw(2, 4), *[s.numpy() for s in states])

    def of_weights(*weights: Any) -> Any:
        return lab.reduce_sum(lab.sin(cell(draw(2, 4), states)[0]))

    with lab.GradientTape() as tape:
        value = of_weights()
    for v, gradient in zip(cell.weights, tape.gradient(value, cell.weights), strict=True):
        start, at, h = v.numpy(), (0,) * v.shape.rank, 1e-6
        found = []
        for sign in (1, -1):
            moved = start.copy()
            moved[at] += sign * h
            v.assign(moved)
            found.append(float(of_weights()))
        v.assign(start)
        np.testing.assert_allclose(gradient.numpy()[at], (found[0] - found[1]) / (2 * h), 1e-5, 1e-8)


def test_a_step_is_differentiable_twice() -> None:
    cell = cell_of("lstm")
    h, c = states_of(cell)
    assert check_gradient(lambda x, h: cell(x, [h, c])[0], draw(2, 4), h.numpy(), order=2)


def test_a_state_outside_a_list_comes_back_like_that() -> None:
    cell = cell_of("gru")
    state = states_of(cell)[0]
    output, new = cell(draw(2, 4), state)
    np.testing.assert_array_equal(output, new)


WRONG: dict[str, tuple[Callable[[Any], Any], str]] = {
    "a sequence": (lambda cell: cell(draw(2, 5, 4), states_of(cell)), r"one step of a sequence.*lab.layers.RNN"),
    "another width": (lambda cell: cell(draw(2, 5), states_of(cell)), r"inputs \(b, 4\)"),
    "no states": (lambda cell: cell(draw(2, 4)), r"got none. Try cell\(x, cell.get_initial_state\(batch_size=2\)\)"),
    "one state": (lambda cell: cell(draw(2, 4), states_of(cell)[:1]), r"states \[\(2, 3\), \(2, 3\)\], got \(2, 3\)"),
    "another batch": (lambda cell: cell(draw(2, 4), states_of(cell, 5)), r"got \(5, 3\), \(5, 3\)"),
}


@pytest.mark.parametrize("name", WRONG)
def test_inputs_and_states_that_do_not_fit_are_refused(name: str) -> None:
    call, message = WRONG[name]
    with pytest.raises(lab.errors.ShapeMismatch, match=message):
        call(cell_of("lstm"))


@pytest.mark.parametrize("kind", [layers.SimpleRNNCell, layers.LSTMCell, layers.GRUCell])
def test_dropout_is_the_same_until_it_is_reset(kind: Any) -> None:
    cell = filled(kind(30, dropout=0.5, recurrent_dropout=0.5), (2, 40))
    x, start = np.ones((2, 40), np.float32), [lab.ones((2, 30))] * cell.states
    plain, one, other = (cell(x, start, training=how)[0].numpy() for how in (False, True, True))
    np.testing.assert_array_equal(one, other)
    assert np.any(one != plain)
    pickle.loads(pickle.dumps(cell))  # noqa: S301 - our own
    assert np.any(copy.deepcopy(cell)(x, start, training=True)[0].numpy() != one)
    cell.reset_dropout_mask()
    cell.reset_recurrent_dropout_mask()
    assert np.any(cell(x, start, training=True)[0].numpy() != one)


def test_a_compiled_loop_draws_its_dropout_once_for_all_steps_and_again_in_each_call() -> None:
    cell = layers.SimpleRNNCell(8, activation=None, kernel_initializer="identity", recurrent_initializer="zeros",
                                dropout=0.5)  # fmt: skip

    @lab.function
    def outputs(x: Any) -> Any:
        states, found = cell.get_initial_state(2), []
        for _ in range(4):
            output, states = cell(x, states, training=True)
            found.append(output)
        return lab.stack(found)

    cell.build((2, 8))
    x = lab.ones((2, 8))
    found = [outputs(x).numpy() for _ in range(4)]
    for one in found:
        np.testing.assert_array_equal(one, np.broadcast_to(one[0], one.shape))
        assert set(np.unique(one)) <= {0, 2}
    assert any(np.any(one != found[0]) for one in found[1:])
    assert isinstance(cell(x, [lab.zeros((2, 8))], training=True)[0].numpy(), np.ndarray)
