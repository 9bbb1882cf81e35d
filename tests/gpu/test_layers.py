"""Layers, losses, metrics and optimizers on the GPU: outputs, gradients and steps are as on the CPU and stay there."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from tests.gpu.compare import host
from tests.gpu.place import CPU, GPU, copies, require

require()

layers, losses, metrics, optimizers = lab.layers, lab.losses, lab.metrics, lab.optimizers


def draw(*shape: int) -> np.ndarray[Any, Any]:
    """Numbers away from kinks and from each other."""
    return (np.random.default_rng(sum(shape)).permutation(int(np.prod(shape))).reshape(shape) / 7 - 2).astype("float32")


class Itself(layers.MultiHeadAttention):
    """Attention of a sequence to itself."""

    def call(self, query: Any, *args: Any, **kwargs: Any) -> Any:
        return super().call(query, query, use_causal_mask=True)


class OneStep(layers.RNN):
    """A cell called on one step of each sequence, in zeros for a state."""

    def __init__(self, cell: Any) -> None:
        super().__init__(cell, name="one")

    def call(self, inputs: Any) -> Any:
        return self.cell(inputs[:, 0], self.get_initial_state(inputs.shape[0]))[0]


LINE, ROW, IMAGE, VOLUME = (3, 5), (2, 6, 4), (2, 6, 6, 4), (1, 4, 4, 4, 2)
TABLE: dict[str, tuple[Callable[[], Any], tuple[tuple[int, ...], ...]]] = {
    "Activation": (lambda: layers.Activation("swish"), (LINE,)),
    "Add": (layers.Add, (LINE, LINE)),
    "AdditiveAttention": (layers.AdditiveAttention, (ROW, ROW)),
    "Attention": (lambda: layers.Attention(use_scale=True), (ROW, ROW)),
    "Average": (layers.Average, (LINE, LINE)),
    "AveragePooling1D": (layers.AveragePooling1D, (ROW,)),
    "AveragePooling2D": (lambda: layers.AveragePooling2D(3, 2, "same"), (IMAGE,)),
    "AveragePooling3D": (layers.AveragePooling3D, (VOLUME,)),
    "BatchNormalization": (layers.BatchNormalization, (IMAGE,)),
    "Bidirectional": (lambda: layers.Bidirectional(layers.LSTM(3)), (ROW,)),
    "Concatenate": (layers.Concatenate, (LINE, LINE)),
    "Conv1D": (lambda: layers.Conv1D(3, 3), (ROW,)),
    "Conv1DTranspose": (lambda: layers.Conv1DTranspose(3, 3, 2), (ROW,)),
    "Conv2D": (lambda: layers.Conv2D(3, 3, 2, "same", activation="tanh"), (IMAGE,)),
    "Conv2DTranspose": (lambda: layers.Conv2DTranspose(3, 3, 2), (IMAGE,)),
    "Conv3D": (lambda: layers.Conv3D(2, 2), (VOLUME,)),
    "Conv3DTranspose": (lambda: layers.Conv3DTranspose(2, 2), (VOLUME,)),
    "Cropping1D": (layers.Cropping1D, (ROW,)),
    "Cropping2D": (layers.Cropping2D, (IMAGE,)),
    "Dense": (lambda: layers.Dense(4, activation="softplus"), (LINE,)),
    "DepthwiseConv2D": (lambda: layers.DepthwiseConv2D(3, depth_multiplier=2), (IMAGE,)),
    "Dot": (layers.Dot, (LINE, LINE)),
    "Dropout": (lambda: layers.Dropout(0.5), (LINE,)),
    "ELU": (layers.ELU, (LINE,)),
    "Flatten": (layers.Flatten, (ROW,)),
    "GRU": (lambda: layers.GRU(3, return_sequences=True), (ROW,)),
    "GlobalAveragePooling2D": (layers.GlobalAveragePooling2D, (IMAGE,)),
    "GlobalMaxPooling1D": (layers.GlobalMaxPooling1D, (ROW,)),
    "GroupNormalization": (lambda: layers.GroupNormalization(2), (IMAGE,)),
    "GRUCell": (lambda: OneStep(layers.GRUCell(3)), (ROW,)),
    "Identity": (layers.Identity, (LINE,)),
    "LSTMCell": (lambda: OneStep(layers.LSTMCell(3)), (ROW,)),
    "RNN": (lambda: layers.RNN([layers.LSTMCell(3), layers.GRUCell(2)], return_sequences=True), (ROW,)),
    "SimpleRNNCell": (lambda: OneStep(layers.SimpleRNNCell(3)), (ROW,)),
    "StackedRNNCells": (lambda: OneStep(layers.StackedRNNCells([layers.GRUCell(3)])), (ROW,)),
    "LSTM": (lambda: layers.LSTM(3), (ROW,)),
    "Lambda": (lambda: layers.Lambda(lambda x: x * x), (LINE,)),
    "LayerNormalization": (layers.LayerNormalization, (LINE,)),
    "LeakyReLU": (layers.LeakyReLU, (LINE,)),
    "MaxPooling1D": (layers.MaxPooling1D, (ROW,)),
    "MaxPooling2D": (lambda: layers.MaxPooling2D(3, 2, "same"), (IMAGE,)),
    "MaxPooling3D": (layers.MaxPooling3D, (VOLUME,)),
    "Maximum": (layers.Maximum, (LINE, LINE)),
    "MultiHeadAttention": (lambda: Itself(2, 3), (ROW,)),
    "Normalization": (lambda: layers.Normalization(mean=1.0, variance=4.0), (LINE,)),
    "Rescaling": (lambda: layers.Rescaling(0.5, 1.0), (LINE,)),
    "Minimum": (layers.Minimum, (LINE, LINE)),
    "Multiply": (layers.Multiply, (LINE, LINE)),
    "PReLU": (layers.PReLU, (LINE,)),
    "Permute": (lambda: layers.Permute((2, 1)), (ROW,)),
    "RMSNormalization": (layers.RMSNormalization, (LINE,)),
    "ReLU": (lambda: layers.ReLU(6.0), (LINE,)),
    "RepeatVector": (lambda: layers.RepeatVector(3), (LINE,)),
    "Reshape": (lambda: layers.Reshape((5, 1)), (LINE,)),
    "SeparableConv2D": (lambda: layers.SeparableConv2D(3, 3), (IMAGE,)),
    "SimpleRNN": (lambda: layers.SimpleRNN(3), (ROW,)),
    "Softmax": (layers.Softmax, (LINE,)),
    "Subtract": (layers.Subtract, (LINE, LINE)),
    "TimeDistributed": (lambda: layers.TimeDistributed(layers.Dense(3)), (ROW,)),
    "UnitNormalization": (layers.UnitNormalization, (LINE,)),
    "UpSampling1D": (layers.UpSampling1D, (ROW,)),
    "UpSampling2D": (layers.UpSampling2D, (IMAGE,)),
    "Resizing": (lambda: layers.Resizing(3, 2), (IMAGE,)),
    "CenterCrop": (lambda: layers.CenterCrop(2, 2), (IMAGE,)),
    "ZeroPadding1D": (layers.ZeroPadding1D, (ROW,)),
    "ZeroPadding2D": (layers.ZeroPadding2D, (IMAGE,)),
}

NOISY: dict[str, tuple[Callable[[], Any], tuple[int, ...]]] = {
    "AlphaDropout": (lambda: layers.AlphaDropout(0.5, seed=1), LINE),
    "GaussianDropout": (lambda: layers.GaussianDropout(0.5, seed=1), LINE),
    "GaussianNoise": (lambda: layers.GaussianNoise(0.5, seed=1), LINE),
    "SpatialDropout1D": (lambda: layers.SpatialDropout1D(0.5, 1), ROW),
    "SpatialDropout2D": (lambda: layers.SpatialDropout2D(0.5, seed=1), IMAGE),
    "SpatialDropout3D": (lambda: layers.SpatialDropout3D(0.5, seed=1), VOLUME),
}


def slopes(device: str, make: Callable[[], Any], shapes: tuple[tuple[int, ...], ...], weights: list[Any]) -> list[Any]:
    """Output, and slopes of it by the inputs and the weights."""
    with lab.device(device):
        inputs = [lab.constant(draw(*shape)) for shape in shapes]
        layer = make()
        given = inputs[0] if len(inputs) == 1 else inputs
        layer(given)
        if weights:
            layer.set_weights(weights)
        weights[:] = [np.asarray(w) for w in layer.get_weights()]
        with copies() as heard, lab.GradientTape() as tape:
            tape.watch(inputs)
            out = layer(given)
            loss = lab.reduce_sum(out * out) / 2
        sources = [*inputs, *layer.trainable_variables]
        with copies() as later:
            found = tape.gradient(loss, sources)
        assert not heard + later
        assert all(g.device == device for g in found if g is not None), [g.device for g in found]
        return [out, *[g for g in found if g is not None]]


@pytest.mark.parametrize("name", sorted(TABLE))
def test_a_layer_gives_the_numbers_of_the_cpu(name: str) -> None:
    """Output and slopes by inputs and weights; nothing is copied."""
    make, shapes = TABLE[name]
    weights: list[Any] = []
    theirs = slopes(CPU, make, shapes, weights)
    for ours, expected in zip(slopes(GPU, make, shapes, weights), theirs, strict=True):
        np.testing.assert_allclose(host(ours), host(expected), 2e-5, 2e-5)


@pytest.mark.parametrize("name", sorted(NOISY))
def test_noise_in_training_is_that_of_the_cpu(name: str) -> None:
    make, shape = NOISY[name]
    found = []
    for device in (CPU, GPU):
        lab.random.set_seed(2)
        with lab.device(device):
            x = lab.constant(draw(*shape))
            with lab.GradientTape() as tape:
                tape.watch(x)
                out = make()(x, training=True)
            slope = tape.gradient(out, x)
        assert out.device == slope.device == device
        found.append((host(out), host(slope)))
    (ours, slope), (expected, theirs) = found
    assert not np.array_equal(expected, draw(*shape))
    np.testing.assert_allclose(ours, expected, 2e-5, 2e-5)
    np.testing.assert_allclose(slope, theirs, 2e-5, 2e-5)


def test_every_layer_is_in_the_table() -> None:
    """Whoever writes one writes a line here."""
    elsewhere = {"ActivationDiscarding", "Embedding", "Layer", "Sequential", "GlobalAveragePooling1D",
                 "GlobalMaxPooling2D", "Input", "InputLayer", "MaxPool1D", "MaxPool2D", "MaxPool3D"}  # fmt: skip
    assert {name for name in layers.__all__ if name[0].isupper()} - elsewhere == TABLE.keys() | NOISY.keys()


def test_an_embedding_looks_up_rows_and_adds_up_their_slopes() -> None:
    made = []
    for device in (CPU, GPU):
        with lab.device(device):
            layer = layers.Embedding(5, 3, embeddings_initializer=lambda shape, dtype=None: lab.constant(draw(5, 3)))
            with lab.GradientTape() as tape:
                out = layer(lab.constant([[0, 2], [2, 4]]))
                loss = lab.reduce_sum(out * out)
            slope = lab.convert_to_tensor(tape.gradient(loss, layer.trainable_variables)[0])
            assert (out.device, slope.device) == (device, device)
            made.append((host(out), host(slope)))
    for ours, theirs in zip(*made, strict=True):
        np.testing.assert_allclose(ours, theirs, 1e-6)


T, P = np.float32(np.abs(draw(4, 3)) / 3 + 0.05), np.float32(np.abs(draw(3, 4)).T / 4 + 0.03)
YES = np.float32(draw(4, 3) > 0)
LOSSES: dict[str, tuple[Any, Any, Any]] = {
    "BinaryCrossentropy": (losses.BinaryCrossentropy(from_logits=True), YES, P),
    "CategoricalCrossentropy": (losses.CategoricalCrossentropy(from_logits=True), T, P),
    "CosineSimilarity": (losses.CosineSimilarity(), T, P),
    "Hinge": (losses.Hinge(), YES, P),
    "Huber": (losses.Huber(0.2), T, P),
    "KLDivergence": (losses.KLDivergence(), T, P),
    "LogCosh": (losses.LogCosh(), T, P),
    "MeanAbsoluteError": (losses.MeanAbsoluteError(), T, P),
    "MeanAbsolutePercentageError": (losses.MeanAbsolutePercentageError(), T, P),
    "MeanSquaredError": (losses.MeanSquaredError(), T, P),
    "MeanSquaredLogarithmicError": (losses.MeanSquaredLogarithmicError(), T, P),
    "Poisson": (losses.Poisson(), T, P),
    "SparseCategoricalCrossentropy": (losses.SparseCategoricalCrossentropy(from_logits=True), np.arange(4) % 3, P),
    "SquaredHinge": (losses.SquaredHinge(), 2 * YES - 1, P),
}


@pytest.mark.parametrize("name", sorted(LOSSES))
def test_a_loss_and_its_slope_are_those_of_the_cpu(name: str) -> None:
    loss, true, guess = LOSSES[name]
    made = []
    for device in (CPU, GPU):
        with lab.device(device):
            t, p = lab.constant(true), lab.constant(guess)
            with copies() as heard, lab.GradientTape() as tape:
                tape.watch(p)
                value = loss(t, p)
            slope = tape.gradient(value, p)
            assert not heard
            assert (value.device, slope.device) == (device, device)
            made.append((host(value), host(slope)))
    for ours, theirs in zip(*made, strict=True):
        np.testing.assert_allclose(ours, theirs, 1e-5, 1e-6)


BASES = {"Metric", "MeanMetricWrapper"}
"""Metrics that do nothing by themselves."""


@pytest.mark.parametrize("name", sorted(n for n in dir(metrics) if n[0].isupper() and n not in BASES))
def test_a_metric_gives_the_number_of_the_cpu(name: str) -> None:
    """It counts on the CPU, in float64, and reads what it is given."""
    made = []
    for device in (CPU, GPU):
        with lab.device(device):
            metric = getattr(metrics, name)()
            true = np.arange(4) % 3 if name.startswith("Sparse") else YES
            given = (lab.constant(P),) if name in ("Mean", "Sum") else (lab.constant(true), lab.constant(P))
            metric.update_state(*given)
            made.append(float(metric.result()))
    assert made[0] == pytest.approx(made[1])


OPTIMIZERS: dict[str, Callable[[], Any]] = {
    "SGD": lambda: optimizers.SGD(0.1, momentum=0.9, nesterov=True),
    "Adam": lambda: optimizers.Adam(0.1),
    "AdamW": lambda: optimizers.AdamW(0.1, global_clipnorm=1.0),
    "Adagrad": lambda: optimizers.Adagrad(0.1, clipvalue=0.5),
    "Nadam": lambda: optimizers.Nadam(0.1),
    "Adamax": lambda: optimizers.Adamax(0.1),
    "Adadelta": lambda: optimizers.Adadelta(0.1),
    "RMSprop": lambda: optimizers.RMSprop(0.1, momentum=0.5, clipnorm=1.0),
}


@pytest.mark.parametrize("name", sorted(OPTIMIZERS))
def test_an_optimizer_takes_the_steps_of_the_cpu(name: str) -> None:
    """Four steps; the weights and what the optimizer keeps stay on the GPU, and nothing is copied."""
    made = []
    for device in (CPU, GPU):
        with lab.device(device):
            v, optimizer = lab.Variable(draw(3, 5)), OPTIMIZERS[name]()
            for _ in range(4):
                with lab.GradientTape() as tape:
                    loss = lab.reduce_sum(lab.sin(v) * v)
                slope = tape.gradient(loss, v)
                with copies() as heard:
                    optimizer.apply_gradients([(slope, v)])
                assert not heard
            assert v.device == device
            made.append(host(v.read()))
    np.testing.assert_allclose(made[1], made[0], 2e-5, 1e-6)


def test_weights_are_saved_from_one_device_and_read_on_another(tmp_path: Path) -> None:
    with lab.device(GPU):
        first = lab.Sequential([layers.Dense(4), layers.Dense(2)])
        first(lab.constant(draw(3, 5)))
        first.save_weights(tmp_path / "weights.npz")
    for device in (CPU, GPU):
        with lab.device(device):
            second = lab.Sequential([layers.Dense(4), layers.Dense(2)])
            second(lab.constant(draw(3, 5)))
            second.load_weights(tmp_path / "weights.npz")
        for a, b in zip(first.variables, second.variables, strict=True):
            assert b.device == device
            np.testing.assert_array_equal(host(a.read()), host(b.read()))
