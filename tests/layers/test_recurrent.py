"""Recurrent layers: all steps as one op against steps op by op, masks, recordings, compiled functions."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab import layers
from autodiff_lab.testing import check_gradient

LAYERS: dict[str, Callable[..., Any]] = {
    "simple rnn": layers.SimpleRNN,
    "lstm": layers.LSTM,
    "gru": layers.GRU,
    "gru of the paper": lambda units, **how: layers.GRU(units, reset_after=False, **how),
}
AT_ONCE = {name: LAYERS[name] for name in ("simple rnn", "lstm", "gru")}
OPTIONS: list[dict[str, Any]] = [
    {}, {"use_bias": False}, {"go_backwards": True}, {"return_sequences": True}, {"return_state": True},
    {"return_sequences": True, "return_state": True, "go_backwards": True}, {"dtype": "float64"},
]  # fmt: skip
MASK = np.array([[True, True, False, True, False], [False, False, True, True, True]])


def made(layer: Callable[..., Any], x: Any, **options: Any) -> Any:
    """Return a built layer with random weights."""
    rng = np.random.default_rng(3)
    built = layer(3, **options)
    built(x)
    for v in built.variables:
        v.assign(rng.normal(size=v.shape).astype(v.dtype.name))
    return built


def sequence(dtype: str = "float32") -> Any:
    return lab.constant(np.random.default_rng(1).normal(size=(2, 5, 4)).astype(dtype))


def states(layer: Any) -> list[Any]:
    rng = np.random.default_rng(2)
    return [lab.constant(rng.normal(size=(2, 3)).astype(layer.dtype)) for _ in range(layer.states)]


def everything(layer: Any, x: Any, **how: Any) -> list[np.ndarray]:
    """Return values and the gradients of their sines by the input, the initial state and the weights."""
    start = how.get("initial_state") or []
    with lab.GradientTape() as tape:
        tape.watch([x, *start])
        found = layer(x, **how)
        values = list(found) if isinstance(found, tuple) else [found]
        loss = lab.add_n([lab.reduce_sum(lab.sin(v) * (k + 1)) for k, v in enumerate(values)])
    return [np.asarray(a) for a in [*values, *tape.gradient(loss, [x, *start, *layer.trainable_variables])]]


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("name", AT_ONCE)
def test_all_steps_as_one_op_agree_with_steps_op_by_op(name: str, options: dict[str, Any], masked: bool,
                                                       monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    x = sequence(options.get("dtype", "float32"))
    layer = made(AT_ONCE[name], x, **options)
    mask = MASK if masked else None
    for how in ({}, {"initial_state": states(layer)}):
        at_once = everything(layer, x, mask=mask, **how)
        with monkeypatch.context() as patch:
            patch.setattr(type(layer), "usual", lambda self: False)
            step_by_step = everything(layer, x, mask=mask, **how)
        for one, other in zip(at_once, step_by_step, strict=True):
            np.testing.assert_allclose(one, other, 2e-5, 2e-5, strict=True)


@pytest.mark.parametrize("name", LAYERS)
def test_a_masked_step_repeats_the_state_before_it(name: str) -> None:
    x = sequence()
    layer = made(LAYERS[name], x, return_sequences=True, return_state=True)
    out, last, *_ = layer(x, mask=MASK)
    np.testing.assert_array_equal(out[0, 2], out[0, 1])
    np.testing.assert_array_equal(out[0, 4], out[0, 3])
    np.testing.assert_array_equal(last, out[:, -1])
    np.testing.assert_array_equal(out[1, :2], np.zeros((2, 3)))
    alone, _, *_ = layer(x[:1, :2])
    np.testing.assert_allclose(out[:1, :2], alone, 1e-6, 1e-6)
    skipped, _, *_ = layer(x[1:, 2:])
    np.testing.assert_allclose(out[1:, 2:], skipped, 1e-6, 1e-6)


@pytest.mark.parametrize("name", LAYERS)
def test_before_the_first_step_that_counts_the_output_is_zero_and_the_state_waits(name: str) -> None:
    x = sequence()
    layer = made(LAYERS[name], x, return_sequences=True, return_state=True)
    start = states(layer)
    out, last, *_ = layer(x, initial_state=start, mask=np.array([[False] * 5, [False] * 4 + [True]]))
    np.testing.assert_array_equal(out[:, :4], np.zeros((2, 4, 3)))
    np.testing.assert_array_equal(out[0, 4], np.zeros(3))
    np.testing.assert_array_equal(last[0], start[0][0])


def test_a_mask_has_one_truth_value_for_each_step() -> None:
    x = sequence()
    with pytest.raises(lab.errors.ShapeMismatch, match=r"expected a mask \(b, time\) = \(2, 5\), got \(2, 4\)"):
        layers.LSTM(3)(x, mask=MASK[:, :4])
    layer = made(layers.LSTM, x)
    np.testing.assert_array_equal(layer(x, mask=MASK), layer(x, mask=MASK.astype(np.int32)))


@pytest.mark.parametrize("turned", [True, False])
def test_a_bidirectional_layer_gives_its_mask_to_both(turned: bool) -> None:
    x = sequence()
    one = layers.LSTM(3, return_sequences=True)
    both = layers.Bidirectional(one, backward_layer=layers.LSTM(3, return_sequences=True, go_backwards=turned))
    out = both(x, mask=MASK)
    cut = both(x[:1, :2])
    np.testing.assert_allclose(out[0, 0, 3:], both(lab.gather(x, [0, 1, 3], axis=1))[0, 0, 3:], 1e-5, 1e-6)
    np.testing.assert_allclose(out[:1, :2, :3], cut[..., :3], 1e-5, 1e-6)


@pytest.mark.parametrize("name", AT_ONCE)
def test_a_layer_is_differentiable_twice(name: str) -> None:
    x = sequence("float64")[:, :3]
    layer = made(AT_ONCE[name], x, dtype="float64", return_sequences=True)
    assert check_gradient(lambda x: layer(x, mask=MASK[:, :3]), x.numpy(), order=2)


@pytest.mark.parametrize("name", AT_ONCE)
def test_a_recording_shows_one_op_for_all_steps(name: str) -> None:
    layer = made(AT_ONCE[name], sequence())
    with lab.record() as recording, lab.GradientTape() as tape:
        loss = lab.reduce_sum(layer(sequence()))
    tape.gradient(loss, layer.trainable_variables)
    ops = [application.op for application in recording.applications]
    op = {"simple rnn": "simple_rnn"}.get(name, name)
    assert ops.count(op) == 1
    assert len(ops) < 10
    assert op in recording.to_text()


@pytest.mark.parametrize("options", [{"activation": "relu"}, {"recurrent_dropout": 0.5}], ids=str)
def test_other_activations_and_dropout_of_the_state_go_step_by_step(options: dict[str, Any]) -> None:
    layer = layers.LSTM(3, **options)
    with lab.record() as recording, lab.GradientTape():
        layer(sequence(), training=True)
    assert "lstm" not in [application.op for application in recording.applications]


@pytest.mark.parametrize("name", AT_ONCE)
def test_functions_of_activations_count_like_their_names(name: str) -> None:
    x = sequence()
    gated: dict[str, Any] = {} if name == "simple rnn" else {"recurrent_activation": lab.sigmoid}
    assert made(AT_ONCE[name], x, activation=lab.tanh, **gated).usual()
    assert made(AT_ONCE[name], x, activation=lab.activations.tanh).usual()
    assert not made(AT_ONCE[name], x, activation="elu").usual()


@pytest.mark.parametrize("name", AT_ONCE)
def test_a_compiled_step_runs_the_same_op(name: str) -> None:
    x = sequence()
    layer = made(AT_ONCE[name], x)

    def step(x: Any) -> Any:
        with lab.GradientTape() as tape:
            loss = lab.reduce_sum(lab.square(layer(x)))
        return loss, tape.gradient(loss, layer.trainable_variables)

    compiled = lab.function(step)
    compiled(x)
    (loss, grads), (expected, expected_grads) = compiled(x), step(x)
    assert compiled.fallbacks == 0
    np.testing.assert_allclose(loss, expected, 1e-5)
    for one, other in zip(grads, expected_grads, strict=True):
        np.testing.assert_allclose(one, other, 1e-4, 1e-5)
