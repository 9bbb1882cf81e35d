"""`RNN` over the package's cells against the recurrent layers, over lists of cells, and over cells of a program."""

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab import layers
from tests.layers.test_cells import CELLS, WIDE, cell_of, draw, filled, states_of
from tests.layers.test_recurrent import MASK

OPTIONS: list[dict[str, Any]] = [
    {}, {"return_sequences": True}, {"return_state": True}, {"go_backwards": True},
    {"return_sequences": True, "return_state": True, "go_backwards": True},
]  # fmt: skip


def everything(layer: Any, x: Any, **how: Any) -> list[Any]:
    """Return the values of a layer, and gradients with respect to its input and weights."""
    with lab.GradientTape() as tape:
        tape.watch(x)
        found = layer(x, **how)
        values = lab.nest.flatten(found)
        loss = lab.add_n([lab.reduce_sum(lab.sin(v) * (k + 1)) for k, v in enumerate(values)])
    return [*values, *tape.gradient(loss, [x, *layer.trainable_variables])]


class Stepwise:
    """A cell that hides what it is: `RNN` has to call it at every step."""

    def __init__(self, cell: Any) -> None:
        self.inner, self.state_size = [cell], cell.state_size
        self.get_initial_state = cell.get_initial_state

    def call(self, inputs: Any, states: Any) -> Any:
        return self.inner[0](inputs, states)


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("name", CELLS)
def test_a_cell_over_a_sequence_is_the_layer(name: str, options: dict[str, Any], masked: bool) -> None:
    x = lab.constant(draw(2, 5, 4))
    layer = filled(CELLS[name][1](3, **options, **WIDE), (2, 5, 4))
    cell = CELLS[name][0](3, **WIDE)
    rnn = filled(layers.RNN(cell, **options), (2, 5, 4))
    for how in ({}, {"initial_state": states_of(cell)}):
        how["mask"] = MASK if masked else None
        expected = everything(layer, x, **how)
        for value, want in zip(everything(rnn, x, **how), expected, strict=True):
            np.testing.assert_allclose(value, want, 1e-12, 1e-12, strict=True)
        called = layers.RNN(Stepwise(cell), **options)(x, **how)
        for value, want in zip(lab.nest.flatten(called), expected, strict=False):
            np.testing.assert_allclose(value, want, 1e-12, 1e-12)


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_cells_in_a_list_are_layers_one_after_the_other(options: dict[str, Any], masked: bool) -> None:
    x = lab.constant(draw(2, 5, 4))
    rnn = filled(layers.RNN([layers.LSTMCell(3, **WIDE), layers.GRUCell(2, **WIDE)], **options), (2, 5, 4))
    assert rnn.state_size == [[3, 3], 2]
    lower = layers.LSTM(3, return_sequences=True, return_state=True, go_backwards="go_backwards" in options, **WIDE)
    upper = layers.GRU(2, return_sequences=True, return_state=True, **WIDE)
    lower.build((2, 5, 4))
    upper.build((2, 5, 3))
    for layer, weights in ((lower, rnn.get_weights()[:3]), (upper, rnn.get_weights()[3:])):
        layer.set_weights(weights)
    mask = MASK if masked else None
    between, *first = lower(x, mask=mask)
    turned = MASK[:, ::-1] if masked and "go_backwards" in options else mask
    out, *second = upper(between, mask=turned)
    expected = [out if options.get("return_sequences") else out[:, -1]]
    if options.get("return_state"):
        expected += [*first, *second]
    found = rnn(x, mask=mask)
    if options.get("return_state"):
        assert [len(states) for states in found[1:]] == [2, 1]
    stepwise = layers.RNN(Stepwise(rnn.cell), **options)(x, mask=mask)
    for result in (found, stepwise):
        for value, want in zip(lab.nest.flatten(result), expected, strict=True):
            np.testing.assert_allclose(value, want, 1e-12, 1e-12)


def test_states_go_on_where_the_sequence_was_cut() -> None:
    x = lab.constant(draw(2, 6, 4))
    rnn = filled(
        layers.RNN([layers.LSTMCell(3, **WIDE), layers.GRUCell(2, **WIDE)], return_state=True, **WIDE), (2, 6, 4)
    )
    whole, *_ = rnn(x)
    _, *states = rnn(x[:, :4])
    np.testing.assert_allclose(rnn(x[:, 4:], initial_state=states)[0], whole, 1e-12)
    flat = [states[0], states[1][0].numpy()]
    value, _, last = rnn(x[:, 4:], initial_state=flat)
    np.testing.assert_allclose(value, whole, 1e-12)
    assert last.shape == (2, 2), "a state that was not in a list"
    assert [s.shape.as_list() for s in lab.nest.flatten(rnn.get_initial_state(batch_size=5))] == [[5, 3]] * 2 + [[5, 2]]


def test_a_list_of_one_cell_has_a_list_of_states() -> None:
    x = lab.constant(draw(2, 6, 4))
    rnn = filled(layers.RNN([layers.LSTMCell(3, **WIDE)], return_state=True), (2, 6, 4))
    whole, states = rnn(x)
    np.testing.assert_array_equal(whole, states[0])
    _, half = rnn(x[:, :4])
    np.testing.assert_allclose(rnn(x[:, 4:], initial_state=[half])[0], whole, 1e-12)


class Mean(layers.Layer):
    """A moving mean of images, with a state of three axes."""

    def __init__(self, keep: float, **more: Any) -> None:
        super().__init__(**more)
        self.keep, self.state_size = keep, (2, 3)

    def get_initial_state(self, batch_size: Any = None) -> Any:
        return lab.zeros((batch_size, 2, 3))

    def call(self, inputs: Any, states: Any, training: bool = False) -> Any:
        mean = states[0] * self.keep + inputs * (1 - self.keep)
        return (mean * 100 if training else mean * 10), [mean]


def test_a_cell_of_a_programs_own() -> None:
    x = draw(2, 5, 2, 3, dtype="float32")
    rnn = layers.RNN(Mean(0.5), return_sequences=True, return_state=True)
    outputs, last = rnn(x, mask=MASK)
    mean, before, expected = np.zeros((2, 2, 3)), np.zeros((2, 2, 3)), []
    for t in range(5):
        on = MASK[:, t, None, None]
        mean = np.where(on, mean * 0.5 + x[:, t] * 0.5, mean)
        before = np.where(on, mean * 10, before)
        expected.append(before)
    np.testing.assert_allclose(outputs, np.stack(expected, 1), 1e-5, 1e-6)
    np.testing.assert_allclose(last, mean, 1e-5, 1e-6)
    np.testing.assert_allclose(rnn(x, training=True)[0], rnn(x)[0] * 10, 1e-5)
    both = layers.Bidirectional(rnn)
    assert both(x)[0].shape == (2, 5, 2, 6)
    assert both.backward_layer.cell.keep == 0.5
    assert both.backward_layer.go_backwards


@pytest.mark.parametrize("stepwise", [False, True])
@pytest.mark.parametrize("sequences", [False, True])
def test_outputs_of_masked_steps_may_be_zero(sequences: bool, stepwise: bool) -> None:
    cell, x = cell_of("gru"), draw(2, 5, 4)
    given = Stepwise(cell) if stepwise else cell
    found = layers.RNN(given, return_sequences=sequences, zero_output_for_mask=True)(x, mask=MASK).numpy()
    expected = layers.RNN(cell, return_sequences=True)(x, mask=MASK).numpy() * MASK[..., None]
    np.testing.assert_allclose(found, expected if sequences else expected[:, -1], 1e-12)


def test_dropout_is_drawn_for_each_sequence() -> None:
    x = np.ones((1, 6, 40), np.float32)
    for options in ({"dropout": 0.5}, {"recurrent_dropout": 0.5}, {"dropout": 0.5, "recurrent_dropout": 0.5}):
        cell = layers.LSTMCell(20, **options)
        for rnn in (layers.RNN(cell), layers.RNN([cell]), layers.RNN(type("Own", (layers.LSTMCell,), {
            "call": lambda self, x, states, training=False: layers.LSTMCell.call(self, x, states, training)
        })(20, **options))):  # fmt: skip
            np.testing.assert_array_equal(rnn(x), rnn(x))
            assert np.any(rnn(x, training=True).numpy() != rnn(x, training=True).numpy())


@pytest.mark.parametrize("cell", [
    lambda: layers.LSTMCell(3), lambda: [layers.GRUCell(4), layers.SimpleRNNCell(3)], lambda: Mean(0.25),
], ids=["lstm", "list", "own"])  # fmt: skip
def test_a_bidirectional_layer_takes_a_cell(cell: Callable[[], Any]) -> None:
    x = draw(2, 5, 2, 3, dtype="float32") if isinstance(cell(), Mean) else draw(2, 5, 4, dtype="float32")
    both = layers.Bidirectional(layers.RNN(cell(), return_sequences=True))
    out = both(x)
    there, back = both.forward_layer, both.backward_layer
    assert not set(there.variables) & set(back.variables)
    back.set_weights(there.get_weights())
    merged = np.split(both(x).numpy(), 2, axis=-1)
    np.testing.assert_allclose(merged[0], there(x), 1e-6)
    np.testing.assert_allclose(merged[1], there(x[:, ::-1].copy()).numpy()[:, ::-1], 1e-6)
    assert out.shape[:2] == (2, 5)


def test_a_compiled_model_over_cells_runs_the_op_of_the_sequence() -> None:
    x = lab.constant(draw(2, 5, 4))
    rnn = filled(layers.RNN([layers.LSTMCell(3, **WIDE), layers.GRUCell(2, **WIDE)]), (2, 5, 4))
    compiled = lab.function(lambda x: everything(rnn, x))
    for _ in range(2):
        for value, want in zip(compiled(x), everything(rnn, x), strict=True):
            np.testing.assert_allclose(value, want, 1e-9, 1e-12)
    assert compiled.fallbacks == 0
    with lab.record() as recording:
        rnn(x)
    assert {"lstm", "gru"} < {application.op for application in recording.applications}


def test_settings_and_weights_come_back(tmp_path: Path) -> None:
    cell = layers.GRUCell(3, reset_after=False, dropout=0.25, name="inner")
    assert cell.get_config() == {"units": 3, "reset_after": False, "dropout": 0.25, "name": "inner"}
    again = layers.GRUCell.from_config(cell.get_config())
    assert (again.units, again.reset_after, again.dropout, again.name) == (3, False, 0.25, "inner")
    x = draw(2, 5, 4, dtype="float32")
    model = lab.Sequential([
        layers.RNN([layers.LSTMCell(3), layers.GRUCell(2)], return_sequences=True),
        layers.Bidirectional(layers.RNN(cell)), layers.Dense(1),
    ])  # fmt: skip
    expected = model(x)
    model.save(tmp_path / "model.lab")
    loaded = lab.keras.models.load_model(tmp_path / "model.lab")
    np.testing.assert_array_equal(loaded(x), expected)
    assert [v.name for v in loaded.layers[0].variables] == [v.name for v in model.layers[0].variables]
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model))(x), expected)  # noqa: S301 - our own
    model.save_weights(tmp_path / "weights.npz")
    clone = lab.keras.models.clone_model(model)
    clone(x)
    clone.load_weights(tmp_path / "weights.npz")
    np.testing.assert_array_equal(clone(x), expected)
    assert model.count_params() == 96 + 42 + 2 * 54 + 7


def test_symbolic_inputs_and_states() -> None:
    words, state = lab.keras.Input((None, 4)), lab.keras.Input((3,))
    out, last = layers.RNN(layers.GRUCell(3), return_sequences=True, return_state=True)(words, initial_state=[state])
    assert out.shape == (None, None, 3)
    model = lab.keras.Model([words, state], [out, last])
    x, start = draw(2, 5, 4, dtype="float32"), draw(2, 3, dtype="float32")
    found, end = model([x, start])
    np.testing.assert_array_equal(found[:, -1], end)


REFUSED: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "a number": (lambda: layers.RNN(3), lab.errors.InvalidArgumentError, "expected a cell, an object with call"),
    "a class": (lambda: layers.RNN(layers.LSTMCell), lab.errors.InvalidArgumentError, "expected a cell"),
    "a layer of sequences": (
        lambda: layers.RNN(layers.LSTM(3)), lab.errors.InvalidArgumentError,
        "which reads whole sequences. Try lab.layers.LSTMCell",
    ),
    "a layer without a state": (
        lambda: layers.RNN(layers.Dense(3)), lab.errors.InvalidArgumentError, "does not have a state_size. Try self",
    ),
    "no cells": (lambda: layers.RNN([]), lab.errors.InvalidArgumentError, "expected a list of cells"),
    "not a list": (
        lambda: layers.StackedRNNCells(layers.LSTMCell(3)), lab.errors.InvalidArgumentError, "a list of cells",
    ),
    "something else in a list": (
        lambda: layers.StackedRNNCells([layers.LSTMCell(3), "x"]), lab.errors.InvalidArgumentError, "expected a cell",
    ),
    "a matrix": (lambda: layers.RNN(layers.LSTMCell(3))(draw(2, 4)), lab.errors.ShapeMismatch, r"\(b, time, c\)"),
    "no step": (lambda: layers.RNN(layers.LSTMCell(3))(draw(2, 0, 4)), lab.errors.ShapeMismatch, "at least one step"),
    "another mask": (
        lambda: layers.RNN(layers.LSTMCell(3))(draw(2, 5, 4), mask=MASK[:, 1:]), lab.errors.ShapeMismatch,
        r"\(b, time\)",
    ),
    "one state of two": (
        lambda: layers.RNN(layers.LSTMCell(3))(draw(2, 5, 4), initial_state=lab.zeros((2, 3))),
        lab.errors.InvalidArgumentError, "initial_state must have length 2, got 1",
    ),
    "states of one cell": (
        lambda: layers.RNN([layers.GRUCell(3)] * 2)(draw(2, 5, 3), initial_state=[lab.zeros((2, 3))]),
        lab.errors.InvalidArgumentError, "the states of each of 2 cells",
    ),
    "states of no cell": (
        lambda: layers.StackedRNNCells([layers.GRUCell(3)])(draw(2, 3)), lab.errors.InvalidArgumentError,
        "the states of 1 cells, got 0",
    ),
    "stateful": (lambda: layers.RNN(layers.GRUCell(3), stateful=True), TypeError, "initial_state="),
    "an option of layers": (lambda: layers.LSTMCell(3, return_sequences=True), TypeError, "return_sequences"),
    "no batch": (lambda: layers.LSTMCell(3).get_initial_state(), lab.errors.LabError, "batch_size"),
    "a second one without settings": (
        lambda: layers.Bidirectional(layers.RNN(Stepwise(layers.GRUCell(3)))), lab.errors.InvalidArgumentError,
        "get_config. Try backward_layer",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_does_not_fit_is_refused_with_a_way_out(name: str) -> None:
    make, kind, message = REFUSED[name]
    with pytest.raises(kind, match=message):
        make()
