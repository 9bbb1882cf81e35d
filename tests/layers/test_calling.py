"""How layers treat their arguments: arrays, lists and tables are cast to their dtype, `training` is passed on."""

import importlib
import sys
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab

layers = lab.layers
ROWS = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]


class Table:
    """The interface of a pandas table that layers use: `__array__` and lengths."""

    def __init__(self, rows: Any) -> None:
        self.rows = np.asarray(rows)

    shape = property(lambda self: self.rows.shape)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self.rows.astype(dtype) if dtype is not None else self.rows


FORMS: dict[str, Any] = {
    "float64 array": np.array(ROWS),
    "float32 array": np.array(ROWS, np.float32),
    "float16 array": np.array(ROWS, np.float16),
    "int64 array": np.array(ROWS, np.int64),
    "uint8 array": np.array(ROWS, np.uint8),
    "rows of floats": ROWS,
    "rows of ints": [[1, 2, 3], [4, 5, 6]],
    "rows of arrays": [np.array([1.0, 2.0, 3.0]), np.array([4.0, 5.0, 6.0])],
    "a table": Table(ROWS),
    "a table of ints": Table(np.array(ROWS, int)),
    "float64 tensor": lab.constant(ROWS, lab.float64),
    "int32 tensor": lab.constant([[1, 2, 3], [4, 5, 6]]),
    "variable": lab.Variable(ROWS, dtype=lab.float64),
    "a view": np.asfortranarray(np.array(ROWS)),
}
WEIGHTED: dict[str, Any] = {
    "dense": lambda **d: layers.Dense(2, kernel_initializer="ones", **d),
    "normalization": layers.LayerNormalization,
    "batch": layers.BatchNormalization,
    "prelu": lambda **d: layers.PReLU("ones", **d),
    "in a sequence": lambda **d: lab.Sequential([layers.Flatten(), layers.Dense(1, kernel_initializer="ones", **d)]),
    "discarding": lambda **d: layers.Dense(2, kernel_initializer="ones", **d).discarding_activations(),
}


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
@pytest.mark.parametrize("form", FORMS)
def test_a_layer_with_weights_computes_in_its_own_dtype(form: str, dtype: str) -> None:
    for name, make in WEIGHTED.items():
        value = make(dtype=dtype)(FORMS[form])
        expected = make(dtype=dtype)(lab.constant(ROWS, dtype))
        assert value.dtype.name == dtype, name
        np.testing.assert_array_equal(
            np.asarray(value.numpy(), np.float64), np.asarray(expected.numpy(), np.float64), err_msg=name
        )


@pytest.mark.parametrize("form", ["float64 array", "rows of floats", "a table"])
def test_arrays_become_floats_of_the_dtype_of_layers_without_weights(form: str) -> None:
    for layer in (layers.Flatten(), layers.Activation("tanh"), layers.Dropout(0.5), layers.Lambda(lambda x: x)):
        assert layer(FORMS[form]).dtype == lab.float32


def test_layers_without_weights_keep_whole_numbers_and_the_digits_of_tensors() -> None:
    assert layers.Flatten()(np.ones((2, 2), np.int64)).dtype == lab.int64
    assert layers.Flatten()(lab.ones((2, 2), lab.float64)).dtype == lab.float64
    assert layers.Flatten(dtype="float32")(lab.ones((2, 2), lab.float64)).dtype == lab.float32


def test_the_gradient_passes_a_cast() -> None:
    x = lab.Variable(ROWS, dtype=lab.float64)
    layer = layers.Dense(1, kernel_initializer="ones")
    with lab.GradientTape() as tape:
        y = layer(x)
    gradient = tape.gradient(y, x)
    assert gradient.dtype == lab.float64
    np.testing.assert_array_equal(gradient, np.ones((2, 3)))


def test_several_inputs_are_arrays_of_any_shape() -> None:
    both = layers.Concatenate()([np.ones((2, 1)), np.zeros((2, 3), np.float32)])
    assert (both.shape, both.dtype) == ((2, 4), lab.float32)
    assert layers.Add()([np.ones(2), lab.ones(2)]).dtype == lab.float32

    class Two(lab.keras.Model):
        def call(self, inputs: Any) -> Any:
            left, right = inputs["left"], inputs["right"]
            return left @ right

    assert Two()({"left": np.ones((2, 3)), "right": np.ones((3, 1))}).dtype == lab.float32


def test_further_arguments_are_cast_as_the_first_is() -> None:
    layer = layers.GRU(2)
    state = layer(np.ones((1, 3, 2)), initial_state=np.ones((1, 2)))
    assert state.dtype == lab.float32
    assert layers.LSTM(2)(np.ones((1, 3, 2)), [np.ones((1, 2)), np.zeros((1, 2))]).shape == (1, 2)


def test_an_embedding_takes_numbers_of_classes_as_floats() -> None:
    layer = layers.Embedding(4, 2)
    np.testing.assert_array_equal(layer(np.array([[1.0, 3.0]])), layer(lab.constant([[1, 3]])))


def test_pandas_is_not_imported_to_find_out() -> None:
    loaded = "pandas" in sys.modules
    layers.Dense(1)(Table(ROWS))
    assert ("pandas" in sys.modules) == loaded


# --- training ---------------------------------------------------------------------------------------------------


class Says(layers.Layer):
    """Stores the arguments that it receives."""

    def call(self, x: Any, training: Any = None) -> Any:
        self.heard = training
        return x


class SaysByDefault(Says):
    def call(self, x: Any, training: Any = True) -> Any:
        self.heard = training
        return x


class Silent(layers.Layer):
    """Does not take `training`, but its inner layer does."""

    def __init__(self, inner: Any) -> None:
        super().__init__()
        self.inner = inner

    def call(self, x: Any, **more: Any) -> Any:
        assert not more
        return self.inner(x)


AROUND: dict[str, Any] = {
    "itself": lambda inner: inner,
    "a layer": Silent,
    "two layers": lambda inner: Silent(Silent(inner)),
    "a sequence": lambda inner: lab.Sequential([layers.Flatten(), Silent(inner), layers.Activation("relu")]),
    "a sequence in a layer": lambda inner: Silent(lab.Sequential([inner])),
    "time": layers.TimeDistributed,
    "discarding": lambda inner: Silent(inner).discarding_activations(),
}


@pytest.mark.parametrize("name", AROUND)
def test_training_reaches_the_layers_that_want_it_through_those_that_do_not(name: str) -> None:
    inner = Says()
    outer = AROUND[name](inner)
    x = lab.ones((2, 3, 1))
    for said in (None, True, False):
        outer(x) if said is None else outer(x, training=said)
        assert inner.heard is said
    outer(x)
    assert inner.heard is None, "what is said ends with the call"


def test_what_is_said_inside_goes_before_what_is_said_outside_and_that_before_the_default() -> None:
    inner = SaysByDefault()
    model = Silent(inner)
    x = lab.ones((1, 1))
    model(x)
    assert inner.heard is True
    model(x, training=False)
    assert inner.heard is False
    lab.Sequential([inner])(x, training=False)
    assert inner.heard is False
    inner(x, False)
    assert inner.heard is False

    class Stubborn(layers.Layer):
        def call(self, x: Any) -> Any:
            return inner(x, training=True)

    Stubborn()(x, training=False)
    assert inner.heard is True


def test_a_call_that_raises_leaves_nothing_behind() -> None:
    class Fails(layers.Layer):
        def call(self, x: Any, training: Any = None) -> Any:
            raise KeyError("here")

    with pytest.raises(KeyError):
        Fails()(lab.ones(1), training=True)
    after = Says()
    after(lab.ones(1))
    assert after.heard is None


def test_dropout_inside_a_model_drops_when_the_model_trains() -> None:
    model = Silent(lab.Sequential([layers.Dropout(0.5)]))
    x = lab.ones((50, 20))
    assert np.any(model(x, training=True).numpy() == 0)
    np.testing.assert_array_equal(model(x), x)


def test_the_backward_pass_of_discarded_activations_drops_the_same() -> None:
    layer = lab.Sequential([layers.Dropout(0.5, seed=3)]).discarding_activations()
    x = lab.Variable(lab.ones((4, 50)))
    lab.random.set_seed(1)
    with lab.GradientTape() as tape:
        y = layer(x, training=True)
    assert set(np.unique(tape.gradient(y, x))) == {0.0, 2.0}


# --- building ---------------------------------------------------------------------------------------------------


def test_a_layer_that_is_built_by_hand_keeps_its_weights() -> None:
    for layer, shape in ((layers.Dense(2), (None, 3)), (layers.Conv2D(1, 2), (None, None, None, 3))):
        layer.build(shape)
        weights = list(layer.variables)
        assert layer.built
        layer(lab.ones([4 if n is None else n for n in shape]))
        assert layer.variables == weights, "lists, as in Keras"


def test_a_sequence_is_a_model_and_is_built_for_open_lengths() -> None:
    model = lab.Sequential([
        layers.Conv2D(2, 3, input_shape=(None, None, 3)), layers.MaxPool2D(), layers.GlobalAveragePooling2D(),
        layers.Dense(4),
    ])  # fmt: skip
    assert isinstance(model, lab.keras.Model)
    assert [v.shape.as_list() for v in model.variables] == [[3, 3, 3, 2], [2], [2, 4], [4]]
    assert model(np.ones((2, 9, 7, 3))).shape == (2, 4)
    assert model.count_params() == 54 + 2 + 8 + 4
    by_hand = lab.keras.Sequential([layers.Dense(3), layers.BatchNormalization()])
    by_hand.build((None, 5))
    assert len(by_hand.weights) == 6
    flat = lab.Sequential([layers.Conv1D(2, 3, input_shape=(None, 1)), layers.Flatten(), layers.Dense(1)])
    assert not flat.layers[2].built, "its weights depend on a length that is not known"
    assert flat(np.ones((1, 5, 1))).shape == (1, 1)


def test_a_model_is_built_by_hand_for_a_batch_of_any_size() -> None:
    class Small(lab.keras.Model):
        def __init__(self) -> None:
            super().__init__()
            self.hidden = layers.Dense(4)

        def call(self, x: Any) -> Any:
            return self.hidden(x)

    model = Small()
    model.build((None, 3))
    assert model.count_params() == 16


def test_keras_names_are_modules_to_import_from() -> None:
    namespace: dict[str, Any] = {}
    exec(
        "import autodiff_lab.keras.models as models\n"
        "from autodiff_lab.keras import layers\n"
        "from autodiff_lab.keras.layers import Dense\n"
        "from autodiff_lab.keras.optimizers import Adam\n"
        "from autodiff_lab.keras.optimizers.schedules import CosineDecay\n",
        namespace,
    )
    found = [namespace[name] for name in ("models", "layers", "Dense", "Adam", "CosineDecay")]
    schedules = lab.optimizers.schedules
    assert found == [lab.keras.models, lab.layers, lab.layers.Dense, lab.optimizers.Adam, schedules.CosineDecay]
    for name in ("activations", "initializers", "losses", "metrics"):
        assert importlib.import_module(f"autodiff_lab.keras.{name}") is getattr(lab, name)
