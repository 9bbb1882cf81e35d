"""Functional models: graphs of layers and ops between `Input` and outputs, their layers, shapes and summaries."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.errors import ConversionError, InvalidArgumentError, ShapeMismatch
from tests.refusals import refused
from tests.training.programs import branched, dense, keras, table

X, _ = table()


def test_a_graph_computes_what_its_layers_compute() -> None:
    inputs = keras.Input((4,))
    first, second = lab.layers.Dense(5, "relu"), lab.layers.Dense(4)
    hidden = first(inputs)
    model = keras.Model(inputs, lab.nn.softmax(second(hidden) + inputs * 2.0 - 1.0)[:, :2])
    wanted = lab.nn.softmax(second(first(X)) + lab.constant(X) * 2.0 - 1.0)[:, :2]
    np.testing.assert_array_equal(model(X).numpy(), wanted.numpy())
    assert (model.output_shape, model.layers[1:], len(model.trainable_variables)) == ((None, 2), [first, second], 4)


def test_gradients_flow_through_a_graph_and_a_layer_that_is_used_twice_has_one_set_of_weights() -> None:
    inputs = keras.Input((4,))
    shared = lab.layers.Dense(4, "tanh")
    model = keras.Model(inputs, shared(shared(inputs)))
    with lab.GradientTape() as tape:
        loss = lab.reduce_sum(model(X))
    ours = tape.gradient(loss, model.trainable_variables)
    with lab.GradientTape() as tape:
        loss = lab.reduce_sum(shared(shared(X)))
    for mine, yours in zip(ours, tape.gradient(loss, shared.trainable_variables), strict=True):
        np.testing.assert_array_equal(mine.numpy(), yours.numpy())


def test_unknown_lengths_stay_unknown_and_those_that_follow_are_found() -> None:
    image = keras.Input((None, None, 3))
    x = lab.layers.Conv2D(4, 3, strides=2, padding="same")(image)
    assert x.shape == (None, None, None, 4)
    assert lab.layers.GlobalAveragePooling2D()(x).shape == (None, 4)
    fixed = lab.layers.Flatten()(lab.layers.MaxPooling2D()(lab.layers.Conv2D(2, 3)(keras.Input((8, 8, 1)))))
    assert fixed.shape == (None, 18)
    words = lab.layers.LSTM(5, return_sequences=True)(lab.layers.Embedding(7, 3)(keras.Input((None,), dtype="int32")))
    assert words.shape == (None, None, 5)
    assert keras.Input((3,), batch_size=2).shape == (2, 3)


def test_inputs_come_as_a_list_a_dict_or_in_their_own_structure() -> None:
    right = np.ones((48, 2), np.float32)
    model = branched()
    by_list, by_name = model([X, right]), model({"right": right, "left": X})
    for mine, yours in zip(by_list, by_name, strict=True):
        np.testing.assert_array_equal(mine.numpy(), yours.numpy())
    a, b = keras.Input((2,)), keras.Input((2,))
    nested = keras.Model({"a": a, "b": b}, {"sum": a + b, "product": a * b})
    found = nested({"a": right, "b": right * 3})
    assert {name: float(value[0, 0]) for name, value in found.items()} == {"sum": 4.0, "product": 3.0}


def test_features_of_an_inner_layer_and_a_frozen_base() -> None:
    base = dense()
    features = keras.Model(base.input, base.layers[0].output)
    np.testing.assert_array_equal(features(X).numpy(), base.layers[0](X).numpy())
    features.trainable = False
    inputs = keras.Input((4,))
    model = keras.Model(inputs, lab.layers.Dense(2)(features(inputs, training=False)))
    assert [v.shape.as_list() for v in model.trainable_variables] == [[6, 2], [2]]
    kept = [w.copy() for w in base.layers[0].get_weights()]
    model.compile("adam", "mse")
    model.fit(X, X[:, :2], verbose=0)
    for before, after in zip(kept, base.layers[0].get_weights(), strict=True):
        np.testing.assert_array_equal(before, after)


def test_training_reaches_the_layers_of_a_graph() -> None:
    inputs = keras.Input((1000,))
    model = keras.Model(inputs, lab.layers.Dropout(0.5)(inputs))
    x = np.ones((1, 1000), np.float32)
    assert float(lab.reduce_min(model(x))) == 1.0
    assert float(lab.reduce_min(model(x, training=True))) == 0.0


def test_attention_in_a_graph() -> None:
    x = keras.Input((5, 8))
    layer = lab.layers.MultiHeadAttention(2, 4)
    model = keras.Model(x, lab.layers.LayerNormalization()(x + layer(x, x, use_causal_mask=True)))
    values = np.random.default_rng(0).normal(size=(3, 5, 8)).astype(np.float32)
    first = model(values).numpy()
    values[:, 3:] = 0.0  # what comes later is not looked at
    np.testing.assert_allclose(model(values).numpy()[:, :3], first[:, :3], rtol=1e-5, atol=1e-6)
    assert first.shape == (3, 5, 8)


def test_a_summary_tells_layers_shapes_parameters_and_connections() -> None:
    lines: list[str] = []
    branched().summary(print_fn=lines.append, show_trainable=True)
    text = lines[0]
    assert "Connected to" in text
    assert "kind (Dense)" in text
    assert "Parameters: 57 (228 B); trainable: 57; not trainable: 0" in text
    assert '<table class="lab-listed">' in branched()._repr_html_()
    branched().summary(80, print_fn=lines.append, layer_range=["kind", "kind"])
    assert lines[1].count("(Dense)") == 1
    lab.Sequential([lab.layers.Dense(1)]).summary(print_fn=lines.append)
    assert "1 layer is not built and not counted. Try model.build" in lines[2]
    assert repr(dense()).startswith("<Sequential name=sequential")


def test_a_sequential_that_has_seen_data_knows_its_shapes() -> None:
    model = lab.Sequential([lab.layers.Dense(3), lab.nn.relu])
    with pytest.raises(AttributeError, match="has not been called on a symbolic tensor"):
        model.output  # noqa: B018
    model(X)
    assert (model.input_shape, model.output_shape) == ((None, 4), (None, 3))


def symbol() -> Any:
    return keras.Input((4,), name="x")


@pytest.mark.parametrize(("run", "error", "words"), [
    (lambda: keras.Model(symbol(), lab.layers.Dense(2)(symbol())), InvalidArgumentError,
     "an output depends on the input 'x' of shape"),
    (lambda: keras.Model(symbol(), 3), InvalidArgumentError, "must be symbolic tensors, got int"),
    (lambda: keras.Model(symbol()), InvalidArgumentError, "expected inputs and outputs, or neither"),
    (lambda: keras.Input(), InvalidArgumentError, "expected the shape of an example"),  # noqa: PLW0108
    (lambda: lab.Sequential([lab.layers.Dense(2), symbol()]), InvalidArgumentError, "Input must be the first"),
    (lambda: branched()([X]), InvalidArgumentError, "expected 2 inputs, got 1"),
    (lambda: branched()({"left": X}), InvalidArgumentError, "there is no input 'right'"),
    (lambda: branched()([X[:, :3], X]), ShapeMismatch, r"the input 'left' has shape \(batch, 4\), got \(48, 3\)"),
    (lambda: dense().get_layer("hidden"), InvalidArgumentError, "there is no layer named 'hidden'. Try one of: dense"),
    (lambda: dense().get_layer(index=9), InvalidArgumentError, "there is no layer 9 of 2"),
    (lambda: bool(symbol()), TypeError, "x is symbolic.* It has no truth value"),
    (lambda: lab.linalg.svd(symbol()), ConversionError, r"x is symbolic.* Try a layer, or lab.layers.Lambda"),
    (lambda: np.sin(symbol()), InvalidArgumentError, "x is symbolic"),
    (lambda: lab.layers.Conv2D(2, 3)(symbol()), ShapeMismatch, "conv2d"),
    (lambda: lab.layers.Dense(3, kernl_regularizer="l2"), TypeError, "unexpected keyword argument 'kernl_regularizer'"),
    (lambda: lab.layers.Flatten(kernel_regularizer="l2"), TypeError, "unexpected keyword argument"),
    (lambda: lab.layers.Dense(3, kernel_regularizer="l3")(X), InvalidArgumentError, "unknown regularizer 'l3'"),
])  # fmt: skip
def test_what_cannot_be_a_graph_is_refused(run: Callable[[], Any], error: type[Exception], words: str) -> None:
    with refused(error, words):
        run()


def test_a_summary_of_a_subclass_has_the_shapes_of_its_first_call() -> None:
    class Two(keras.Model):
        def __init__(self) -> None:
            super().__init__()
            self.inner = lab.Sequential([lab.layers.Dense(4, name="a"), lab.layers.Dropout(0.5, name="b")], name="in")
            self.lstm = lab.layers.LSTM(3, return_state=True, name="c")
            self.unused = lab.layers.Dense(1, name="d")

        def call(self, x: Any) -> Any:
            return self.lstm(self.inner(x))[0]

    def shapes(model: Any) -> dict[str, str]:
        lines: list[str] = []
        model.summary(print_fn=lines.append, expand_nested=True)
        rows = [line.split("  ") for line in lines[0].splitlines()[3:-2]]  # two lines end a model with unbuilt layers
        cells = [[cell.strip() for cell in row if cell.strip()] for row in rows]
        return {row[0].partition(" ")[0]: row[1] for row in cells}

    model = Two()
    assert shapes(model) == dict.fromkeys(["in", "a", "b", "c", "d"], "?")
    model(lab.ones((5, 6, 2)))
    model(lab.ones((7, 6, 2)))
    states = "(None, 3), (None, 3), (None, 3)"
    assert shapes(model) == {
        "in": "(None, 6, 4)", "a": "(None, 6, 4)", "b": "(None, 6, 4)", "c": states, "d": "?",
    }  # fmt: skip
