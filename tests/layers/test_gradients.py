"""Every layer: the shape of its output, and its gradients against differences."""

from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from tests.layers.agreement import input_agrees, weight_errors

layers = lab.layers
WIDE: dict[str, Any] = {"dtype": "float64"}


class Itself(layers.MultiHeadAttention):
    """Attention of a sequence to itself, so that one input is enough."""

    def call(self, query: Any, *args: Any, **kwargs: Any) -> Any:
        return super().call(query, query, use_causal_mask=True)


# A way to make the layer, the shape of its input, the shape of its value, the number of its weights.
TABLE: dict[str, tuple[Any, tuple[int, ...], tuple[int, ...], int]] = {
    "dense": (lambda: layers.Dense(2, activation="tanh", **WIDE), (3, 4), (3, 2), 10),
    "dense without bias": (lambda: layers.Dense(2, use_bias=False, **WIDE), (2, 3, 4), (2, 3, 2), 8),
    "conv1d": (lambda: layers.Conv1D(2, 3, padding="same", **WIDE), (2, 5, 2), (2, 5, 2), 14),
    "conv2d": (lambda: layers.Conv2D(2, (2, 3), strides=2, **WIDE), (1, 5, 5, 2), (1, 2, 2, 2), 26),
    "conv2d with gaps": (lambda: layers.Conv2D(1, 2, dilation_rate=2, **WIDE), (1, 5, 5, 2), (1, 3, 3, 1), 9),
    "conv3d": (lambda: layers.Conv3D(1, 2, **WIDE), (1, 3, 3, 3, 1), (1, 2, 2, 2, 1), 9),
    "conv1d transpose": (lambda: layers.Conv1DTranspose(2, 3, strides=2, **WIDE), (1, 3, 2), (1, 7, 2), 14),
    "conv2d transpose": (lambda: layers.Conv2DTranspose(2, 2, 2, "same", **WIDE), (1, 2, 3, 1), (1, 4, 6, 2), 10),
    "conv2d transpose, far": (lambda: layers.Conv2DTranspose(1, 1, 3, **WIDE), (1, 2, 2, 1), (1, 6, 6, 1), 2),
    "conv3d transpose": (lambda: layers.Conv3DTranspose(1, 2, **WIDE), (1, 2, 1, 2, 1), (1, 3, 2, 3, 1), 9),
    "depthwise": (lambda: layers.DepthwiseConv2D(2, depth_multiplier=2, **WIDE), (1, 3, 4, 2), (1, 2, 3, 4), 20),
    "separable": (lambda: layers.SeparableConv2D(3, 2, **WIDE), (1, 3, 3, 2), (1, 2, 2, 3), 17),
    "layer normalization": (lambda: layers.LayerNormalization(**WIDE), (3, 4), (3, 4), 8),
    "group normalization": (lambda: layers.GroupNormalization(2, **WIDE), (2, 3, 4), (2, 3, 4), 8),
    "group normalization, no axes": (lambda: layers.GroupNormalization(-1, **WIDE), (2, 5, 3), (2, 5, 3), 6),
    "rms normalization": (lambda: layers.RMSNormalization(**WIDE), (3, 4), (3, 4), 4),
    "unit normalization": (layers.UnitNormalization, (3, 4), (3, 4), 0),
    "simple rnn": (lambda: layers.SimpleRNN(3, **WIDE), (2, 4, 2), (2, 3), 18),
    "lstm": (lambda: layers.LSTM(2, return_sequences=True, **WIDE), (2, 3, 2), (2, 3, 2), 40),
    "gru": (lambda: layers.GRU(2, **WIDE), (2, 3, 2), (2, 2), 36),
    "gru of the paper": (lambda: layers.GRU(2, reset_after=False, **WIDE), (2, 3, 2), (2, 2), 30),
    "rnn": (lambda: layers.RNN(layers.GRUCell(2, **WIDE), **WIDE), (2, 3, 2), (2, 2), 36),
    "bidirectional": (lambda: layers.Bidirectional(layers.GRU(2, **WIDE)), (2, 3, 1), (2, 4), 60),
    "bidirectional sum": (
        lambda: layers.Bidirectional(layers.SimpleRNN(2, return_sequences=True, **WIDE), "sum"),
        (2, 3, 1), (2, 3, 2), 16,
    ),
    "time distributed": (lambda: layers.TimeDistributed(layers.Dense(2, **WIDE)), (2, 3, 4), (2, 3, 2), 10),
    "prelu": (lambda: layers.PReLU("ones", **WIDE), (2, 3), (2, 3), 3),
    "softmax": (layers.Softmax, (2, 3), (2, 3), 0),
    "relu": (lambda: layers.ReLU(max_value=1.0, negative_slope=0.1), (2, 3), (2, 3), 0),
    "leaky relu": (lambda: layers.LeakyReLU(0.2), (2, 3), (2, 3), 0),
    "elu": (layers.ELU, (2, 3), (2, 3), 0),
    "flatten": (layers.Flatten, (2, 3, 4), (2, 12), 0),
    "reshape": (lambda: layers.Reshape((2, -1)), (3, 4), (3, 2, 2), 0),
    "permute": (lambda: layers.Permute((2, 1)), (2, 3, 4), (2, 4, 3), 0),
    "repeat": (lambda: layers.RepeatVector(3), (2, 4), (2, 3, 4), 0),
    "zero padding": (lambda: layers.ZeroPadding2D(((1, 0), (0, 2))), (1, 2, 2, 1), (1, 3, 4, 1), 0),
    "zero padding 1d": (lambda: layers.ZeroPadding1D((1, 2)), (1, 2, 2), (1, 5, 2), 0),
    "cropping": (lambda: layers.Cropping2D(1), (1, 4, 3, 1), (1, 2, 1, 1), 0),
    "cropping 1d": (lambda: layers.Cropping1D((0, 2)), (1, 4, 1), (1, 2, 1), 0),
    "up sampling": (lambda: layers.UpSampling2D((2, 3)), (1, 2, 2, 2), (1, 4, 6, 2), 0),
    "up sampling, bicubic": (
        lambda: layers.UpSampling2D((2, 3), interpolation="bicubic"), (1, 2, 2, 2), (1, 4, 6, 2), 0
    ),
    "resizing": (lambda: layers.Resizing(3, 2, antialias=True, dtype="float64"), (1, 4, 5, 1), (1, 3, 2, 1), 0),
    "center crop": (lambda: layers.CenterCrop(2, 3, dtype="float64"), (1, 4, 5, 1), (1, 2, 3, 1), 0),
    "up sampling 1d": (lambda: layers.UpSampling1D(2), (1, 3, 2), (1, 6, 2), 0),
    "max pool": (lambda: layers.MaxPool2D(2), (1, 4, 4, 2), (1, 2, 2, 2), 0),
    "max pool 1d": (lambda: layers.MaxPool1D(2, padding="same"), (1, 5, 1), (1, 3, 1), 0),
    "max pool 3d": (lambda: layers.MaxPool3D(2), (1, 2, 4, 2, 1), (1, 1, 2, 1, 1), 0),
    "average pool": (lambda: layers.AveragePooling2D(2, strides=1), (1, 3, 3, 1), (1, 2, 2, 1), 0),
    "average pool 1d": (lambda: layers.AveragePooling1D(2), (1, 4, 1), (1, 2, 1), 0),
    "average pool 3d": (lambda: layers.AveragePooling3D(2), (1, 2, 2, 2, 1), (1, 1, 1, 1, 1), 0),
    "global average": (layers.GlobalAveragePooling2D, (2, 3, 2, 2), (2, 2), 0),
    "global average 1d": (lambda: layers.GlobalAveragePooling1D(keepdims=True), (2, 3, 2), (2, 1, 2), 0),
    "global max": (layers.GlobalMaxPooling2D, (2, 3, 2, 2), (2, 2), 0),
    "global max 1d": (layers.GlobalMaxPooling1D, (2, 3, 2), (2, 2), 0),
    "lambda": (lambda: layers.Lambda(lambda x: x * x), (2, 3), (2, 3), 0),
    "rescaling": (lambda: layers.Rescaling(0.5, 1.0, dtype="float64"), (2, 3), (2, 3), 0),
    "normalization": (lambda: layers.Normalization(mean=1.0, variance=4.0, dtype="float64"), (2, 3), (2, 3), 0),
    "attention": (lambda: Itself(2, 2, **WIDE), (2, 3, 4), (2, 3, 4), 80),
    "identity": (layers.Identity, (2, 3), (2, 3), 0),
    "activation": (lambda: layers.Activation("mish"), (2, 3), (2, 3), 0),
    "sequence": (lambda: lab.Sequential([layers.Dense(3, "elu", **WIDE), layers.Dense(1, **WIDE)]), (2, 2), (2, 1), 13),
    "discarding": (
        lambda: layers.Dense(2, "tanh", **WIDE).discarding_activations(), (2, 3), (2, 2), 8,
    ),
}  # fmt: skip


def spread(shape: tuple[int, ...]) -> np.ndarray:
    """Return numbers no two of which are near each other or near 0, in no order, so that no difference meets a kink."""
    size = int(np.prod(shape))
    return (np.random.default_rng(size).permutation(size).reshape(shape) - size / 2 + 0.3) * 0.37


@pytest.mark.parametrize("name", TABLE)
def test_a_layer_has_the_shape_and_the_weights_it_should(name: str) -> None:
    make, shape, out, count = TABLE[name]
    layer = make()
    value = layer(lab.constant(spread(shape)))
    assert value.shape == out
    assert value.dtype == lab.float64
    assert sum(v.numpy().size for v in layer.trainable_variables) == count


@pytest.mark.parametrize("name", TABLE)
def test_its_gradients_agree_with_differences(name: str) -> None:
    make, shape, _, _ = TABLE[name]
    lab.random.set_seed(3)
    layer, x = make(), spread(shape)
    check = input_agrees(layer, x)
    assert check, str(check)
    assert not weight_errors(layer, lab.constant(x))


def test_every_layer_with_weights_is_in_the_table() -> None:
    """A layer that is forgotten here fails here: all are made by the table or tested by name elsewhere."""
    elsewhere = {
        "Add", "Average", "BatchNormalization", "Concatenate", "Dot", "Dropout", "Embedding", "Layer", "Maximum",
        "Minimum", "Multiply", "Subtract", "ActivationDiscarding", "InputLayer", "AlphaDropout", "GaussianDropout",
        "GaussianNoise", "SpatialDropout1D", "SpatialDropout2D", "SpatialDropout3D", "GRUCell", "LSTMCell",
        "SimpleRNNCell", "StackedRNNCells", "Attention", "AdditiveAttention",
    }  # fmt: skip
    made = {type(make()).__name__ for make, *_ in TABLE.values()}
    assert issubclass(Itself, layers.MultiHeadAttention)
    made = made - {"Itself"} | {"MultiHeadAttention"}
    classes = {getattr(layers, n).__name__ for n in layers.__all__ if isinstance(getattr(layers, n), type)}
    assert classes == made | elsewhere


MERGES: dict[str, tuple[Any, Any]] = {
    "add": (layers.Add, lambda a, b: a + b),
    "subtract": (layers.Subtract, lambda a, b: a - b),
    "multiply": (layers.Multiply, lambda a, b: a * b),
    "average": (layers.Average, lambda a, b: (a + b) / 2),
    "maximum": (layers.Maximum, np.maximum),
    "minimum": (layers.Minimum, np.minimum),
    "concatenate": (layers.Concatenate, lambda a, b: np.concatenate([a, b], -1)),
    "dot": (layers.Dot, lambda a, b: np.sum(a * b, -1, keepdims=True)),
}


@pytest.mark.parametrize("name", MERGES)
def test_layers_of_several_inputs(name: str) -> None:
    cls, expected = MERGES[name]
    a, b = spread((2, 3)), spread((2, 3))[::-1] * 0.8 + 0.05
    np.testing.assert_allclose(cls()([lab.constant(a), lab.constant(b.copy())]), expected(a, b), 1e-12)
    check = lab.testing.check_gradient(lambda x, y: cls()([x, y]), a, b.copy())
    assert check, str(check)


def test_three_inputs_are_added_and_one_is_refused() -> None:
    assert float(layers.Add()([lab.constant(1.0), lab.constant(2.0), lab.constant(4.0)])) == 7.0
    with pytest.raises(lab.errors.ShapeMismatch, match="at least 2 inputs"):
        layers.Add()([lab.constant(1.0)])
