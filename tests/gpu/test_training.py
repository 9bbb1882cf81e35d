"""Training on the GPU: a small dense and a small convolutional network train as on the CPU, in both modes."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from tests.gpu.compare import host
from tests.gpu.place import CPU, GPU, MODES, copies, require

require()

layers = lab.layers
RNG = np.random.default_rng(5)
FLAT, IMAGES = RNG.normal(size=(24, 6)).astype("float32"), RNG.normal(size=(8, 6, 6, 2)).astype("float32")
NETWORKS: dict[str, tuple[Callable[[], Any], np.ndarray[Any, Any]]] = {
    "dense": (
        lambda: lab.Sequential(
            [layers.Dense(8, activation="relu"), layers.LayerNormalization(), layers.Dense(3, activation="tanh"),
             layers.Dense(3)]
        ),
        FLAT,
    ),
    "convolutional": (
        lambda: lab.Sequential(
            [layers.Conv2D(4, 3, activation="relu"), layers.BatchNormalization(), layers.MaxPool2D(2),
             layers.Flatten(), layers.Dense(3)]
        ),
        IMAGES,
    ),
}  # fmt: skip


def trained(device: str, mode: str, name: str, weights: list[Any]) -> tuple[list[float], list[Any], list[Any]]:
    """Losses of three steps over batches, the weights at the end, and what was copied in a step."""
    make, data = NETWORKS[name]
    classes = np.arange(len(data)) % 3
    half = len(data) // 2
    with lab.device(device), lab.use_kernels(mode):
        model, optimizer = make(), lab.optimizers.Adam(0.01)
        model(lab.constant(data[:half]))
        if weights:
            model.set_weights(weights)
        weights[:] = [np.array(w) for w in model.get_weights()]
        losses, heard = [], []
        for step in range(3):
            rows = slice(0, half) if step % 2 else slice(half, None)
            x, y = lab.constant(data[rows]), lab.constant(classes[rows])
            with copies() as now:
                with lab.GradientTape() as tape:
                    scores = model(x, training=True) if name == "convolutional" else model(x)
                    each = lab.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=scores)
                    loss = lab.reduce_mean(each)
                slopes = tape.gradient(loss, model.trainable_variables)
                optimizer.apply_gradients(zip(slopes, model.trainable_variables, strict=True))
            heard += now
            losses.append(float(loss))
        return losses, [host(v.read()) for v in model.variables], heard


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", sorted(NETWORKS))
def test_a_network_learns_as_on_the_cpu(name: str, mode: str) -> None:
    """Every loss, and the weights after all steps; no step copies anything."""
    weights: list[Any] = []
    losses, ends, _ = trained(CPU, "numpy", name, weights)
    on_gpu, ends_on_gpu, heard = trained(GPU, mode, name, weights)
    np.testing.assert_allclose(on_gpu, losses, 1e-4)
    for ours, theirs in zip(ends_on_gpu, ends, strict=True):
        np.testing.assert_allclose(ours, theirs, 2e-3, 2e-4)
    assert not heard


def test_batches_of_a_dataset_are_made_on_the_device_of_the_block() -> None:
    dataset = lab.data.Dataset.from_tensor_slices((FLAT, np.arange(len(FLAT)))).batch(8)
    with lab.device(GPU):
        seen = [(lab.convert_to_tensor(x) * 1, host(y)) for x, y in dataset]
    assert len(seen) == 3
    for k, (x, y) in enumerate(seen):
        np.testing.assert_array_equal(host(x), FLAT[8 * k : 8 * k + 8])
        np.testing.assert_array_equal(y, np.arange(8 * k, 8 * k + 8))
