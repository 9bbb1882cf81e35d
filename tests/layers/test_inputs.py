"""Structures of inputs, and inputs that do not fit: every layer computes, or raises its own error."""

import contextlib
import inspect
import warnings
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.engine import nest
from autodiff_lab.errors import LabError
from tests.amputation import EXTRAS

layers = lab.layers
SETTINGS: dict[str, tuple[Any, ...]] = {
    "Activation": ("tanh",), "Bidirectional": (layers.LSTM(2),), "Conv1D": (2, 2), "Conv1DTranspose": (2, 2),
    "Conv2D": (2, 2), "Conv2DTranspose": (2, 2), "Conv3D": (2, 2), "Conv3DTranspose": (2, 2), "Dense": (2,),
    "DepthwiseConv2D": (2,), "Dot": (1,), "Dropout": (0.5,), "Embedding": (3, 2), "GRU": (2,),
    "GroupNormalization": (1,), "LSTM": (2,), "Permute": ((1,),), "RepeatVector": (2,), "Reshape": ((-1,),),
    "SeparableConv2D": (2, 2), "SimpleRNN": (2,), "TimeDistributed": (layers.Dense(2),),
    "ActivationDiscarding": (layers.Dense(2),), "InputLayer": ((3,),), "MultiHeadAttention": (2, 3),
    "Rescaling": (0.5,), "AlphaDropout": (0.5,), "GaussianDropout": (0.5,), "GaussianNoise": (0.5,),
    "GRUCell": (2,), "LSTMCell": (2,), "SimpleRNNCell": (2,), "RNN": (layers.LSTMCell(2),),
    "StackedRNNCells": ([layers.GRUCell(2)],), "Resizing": (2, 2), "CenterCrop": (2, 2),
    "SpatialDropout1D": (0.5,), "SpatialDropout2D": (0.5,), "SpatialDropout3D": (0.5,),
}  # fmt: skip
KINDS = [
    name for name in layers.__all__
    if inspect.isclass(getattr(layers, name)) and name not in ("Layer", "Sequential", "Lambda")
]  # fmt: skip
RAGGED = [lab.ragged.constant([[1.0], [2.0, 3.0]])] if EXTRAS else []
WRONG = [
    "x", None, 3.0, [lab.ones((1, 4)), lab.ones((1, 4))], [lab.ones((1, 4)), lab.ones((1, 3))],
    {"a": lab.ones((1, 4))}, lab.constant(["a"]), lab.ones((1, 4, 4, 4, 4, 4)), np.array([object()]),
    [], lab.ones((1, 3), "complex64"),
    lab.ones((2, 3)) > 0, lambda x: x,
    *RAGGED, *([lab.sparse.eye(2)] if EXTRAS else []),
]  # fmt: skip


@pytest.mark.parametrize("name", KINDS)
def test_what_a_layer_cannot_take_it_refuses_in_its_own_words(name: str) -> None:
    for value in WRONG:
        layer = getattr(layers, name)(*SETTINGS.get(name, ()))
        for _ in range(2):  # the second call may find the layer built
            with contextlib.suppress(LabError):
                layer(value, value) if name.endswith(("MultiHeadAttention", "Cell", "Cells")) else layer(value)


class Kept(layers.Layer):
    """Stores the arguments of its `build` and `call`."""

    def build(self, input_shape: Any) -> None:
        self.asked = input_shape

    def call(self, inputs: Any) -> Any:
        self.given = inputs
        return inputs


@pytest.mark.parametrize("make", [lab.ones, np.ones], ids=["tensors", "arrays"])
def test_a_layer_is_built_with_the_shapes_of_its_structure(make: Any) -> None:
    for value, shapes in [
        ({"a": make((1, 3)), "b": make((2,))}, {"a": (1, 3), "b": (2,)}),
        ([make((1, 3)), make((1, 1))], [(1, 3), (1, 1)]),
        ((make((1, 3)), {"c": make((4,))}), [(1, 3), {"c": (4,)}]),
        (make((2, 2)), (2, 2)),
    ]:
        layer = Kept()
        layer(value)
        assert layer.asked == shapes
        assert all(isinstance(leaf, lab.Tensor) for leaf in nest.flatten(layer.given)[0])


def test_a_list_of_tensors_is_stacked_for_a_layer_of_one_tensor() -> None:
    x, y = lab.constant([1.0, 2.0]), lab.constant([3.0, 4.0])
    with lab.GradientTape() as tape:
        tape.watch([x, y])
        value = lab.reduce_sum(layers.Dense(1, kernel_initializer="ones")([x, y]))
    assert float(value) == 10.0
    assert [g.numpy().tolist() for g in tape.gradient(value, [x, y])] == [[1.0, 1.0], [1.0, 1.0]]


def test_weights_of_open_length_are_refused() -> None:
    with pytest.raises(lab.errors.ShapeMismatch, match=r"'w' needs a length for every axis, got \(None, 2\)"):
        layers.Layer().add_weight("w", (None, 2))
    for layer in (layers.Dense(2), layers.GroupNormalization(1), layers.RMSNormalization()):
        with pytest.raises(lab.errors.ShapeMismatch, match=r"the last axis needs a length, got shape \(4, None\)"):
            layer.build((4, None))


def test_weights_are_set_all_of_them_or_none() -> None:
    layer = layers.Dense(2, input_shape=(3,))
    layer.build((None, 3))
    before = layer.get_weights()
    for wrong in ([], before[:1], [*before, before[0]], [before[0] + 1, np.zeros(3)]):
        with pytest.raises(lab.errors.ShapeMismatch, match="set_weights got"):
            layer.set_weights(wrong)
    for kept, now in zip(before, layer.get_weights(), strict=True):
        np.testing.assert_array_equal(kept, now)


PAIRS: list[Any] = [
    "x", None, 3.0, [], {"a": 1}, lab.ones((2, 3)), lab.ones(2), lab.zeros((0, 3)), lab.constant(["a"]),
    lab.constant([1, 2]), lab.ones((2, 1)), *RAGGED, lab.constant([True, False]),
    lab.ones((2, 3), "complex64"), np.array(["a"]), object(),
]  # fmt: skip


@pytest.mark.parametrize("space", ["losses", "metrics"])
def test_labels_and_predictions_that_do_not_fit_are_refused_in_words(space: str) -> None:
    module = getattr(lab, space)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in sorted(set(module.__all__) - {"Loss", "Mean", "MeanMetricWrapper", "Metric", "Sum", "get"}):
            for at, labels in enumerate(PAIRS):
                for predictions in (labels, PAIRS[at - 3], lab.ones((2, 3))):
                    member = getattr(module, name)
                    with contextlib.suppress(LabError):
                        (member() if inspect.isclass(member) else member)(labels, predictions)


@pytest.mark.parametrize("name", ["exponential", "tanh"])
def test_activations_that_keras_computes_by_its_own_ops_take_whole_numbers(name: str) -> None:
    function = {"exponential": np.exp, "tanh": np.tanh}[name]
    for dtype in ("int32", "int64", "uint8", "bool"):
        value = layers.Activation(name)(np.array([0, 1], dtype))
        assert value.dtype.name == "float32"
        np.testing.assert_allclose(value, function([0.0, 1.0]), 1e-6)


@pytest.mark.parametrize("op", [lab.negative, lab.sigmoid, lab.nn.silu, lab.math.log_sigmoid])
def test_bools_are_refused_without_words_of_numpy(op: Any) -> None:
    refusal = r"\(bool\[2\]\): this op (is not defined for bool|requires floating)"
    with pytest.raises(lab.errors.DtypeMismatch, match=refusal):
        op(lab.constant([True, False]))
