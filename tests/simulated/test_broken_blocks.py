"""Layers and losses run where their inputs are, outside blocks and inside a block for another device."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from threading import Barrier
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from tests.simulated.heard import copies

GPU, CPU = "/GPU:0", "/CPU:0"
ELSEWHERE = ((CPU, None), (GPU, None), (GPU, CPU), (CPU, GPU))
"""Where a layer and its input lie, and the block in which it is called."""
ROWS, STEPS, IMAGES = (4, 6), (4, 4, 3), (2, 4, 4, 3)
layers = lab.layers
LAYERS: dict[str, tuple[Callable[[], Any], tuple[int, ...]]] = {
    "Dense": (lambda: layers.Dense(3), ROWS),
    "Dropout": (lambda: layers.Dropout(0.5), ROWS),
    "BatchNormalization": (layers.BatchNormalization, ROWS),
    "LayerNormalization": (layers.LayerNormalization, ROWS),
    "GroupNormalization": (lambda: layers.GroupNormalization(3), ROWS),
    "PReLU": (layers.PReLU, ROWS),
    "SimpleRNN": (lambda: layers.SimpleRNN(3), STEPS),
    "GRU": (lambda: layers.GRU(3), STEPS),
    "LSTM": (lambda: layers.LSTM(3), STEPS),
    "Bidirectional": (lambda: layers.Bidirectional(layers.LSTM(3)), STEPS),
    "TimeDistributed": (lambda: layers.TimeDistributed(layers.Dense(2)), STEPS),
    "Conv1D": (lambda: layers.Conv1D(3, 2), STEPS),
    "Conv2D": (lambda: layers.Conv2D(3, 3), IMAGES),
    "Conv2DTranspose": (lambda: layers.Conv2DTranspose(3, 3), IMAGES),
    "SeparableConv2D": (lambda: layers.SeparableConv2D(3, 3), IMAGES),
    "UpSampling2D": (layers.UpSampling2D, IMAGES),
}
LOSSES = ("MeanSquaredError", "MeanAbsoluteError", "Huber", "BinaryCrossentropy", "CategoricalCrossentropy",
          "KLDivergence", "Poisson", "Hinge", "LogCosh", "CosineSimilarity")  # fmt: skip


def where() -> str:
    return lab.ones(1).device


def test_a_block_may_be_entered_again() -> None:
    """One after the other, inside itself, around functions, and by threads that share it."""
    gpu, cpu = lab.device(GPU), lab.device(CPU)
    found: list[str] = []
    with gpu as name, cpu, gpu:
        found += [str(name), where()]
    with gpu:
        with gpu, cpu:
            found.append(where())
        found.append(where())
        with lab.device(None):
            found.append(where())
    assert found == [GPU, GPU, CPU, GPU, CPU]
    assert gpu(where)() == GPU  # pyright: ignore[reportCallIssue]
    assert where() == CPU


def test_threads_share_a_block_and_nothing_else() -> None:
    gpu, both = lab.device(GPU), Barrier(2)

    def run(wait_first: bool) -> list[str]:
        if wait_first:
            both.wait()
        with gpu:
            inside = where()
            if not wait_first:
                both.wait()
        return [inside, where()]

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(run, [False, True])) == [[GPU, CPU]] * 2


def block(device: str | None) -> Any:
    return nullcontext() if device is None else lab.device(device)


@pytest.mark.parametrize("name", LAYERS)
def test_a_layer_runs_where_its_input_lies(name: str) -> None:
    """Its value and gradients lie there too, nothing is copied, and the numbers are those of the CPU."""
    make, shape = LAYERS[name]
    found: list[Any] = []
    for have, called in ELSEWHERE:
        lab.random.set_seed(1)
        with lab.device(have):
            layer, x = make(), lab.reshape(lab.linspace(-1.0, 1.0, lab.TensorShape(shape).num_elements()), shape)
            layer(x)
        lab.random.set_seed(5)
        with block(called), copies() as told, lab.GradientTape() as tape:
            tape.watch(x)
            y = layer(x, training=True) if name in ("Dropout", "BatchNormalization") else layer(x)
            total = lab.reduce_sum(y * y)
        with block(called):
            slopes = tape.gradient(total, [x, *layer.trainable_variables])
        assert not told
        assert {t.device for t in (y, *slopes)} == {have}
        found.append([float(total), float(lab.reduce_sum(abs(slopes[0])))])
    for numbers in found[1:]:
        assert numbers == pytest.approx(found[0], rel=1e-4)


@pytest.mark.parametrize("name", LOSSES)
def test_a_loss_runs_where_its_values_lie(name: str) -> None:
    found: list[float] = []
    for have, called in ELSEWHERE:
        with lab.device(have):
            truth, guess = lab.constant([[0.0, 1.0], [1.0, 0.0]]), lab.constant([[0.3, 0.7], [0.4, 0.6]])
        with block(called), copies() as told:
            loss = getattr(lab.losses, name)()(truth, guess)
        assert not told
        assert loss.device == have
        found.append(float(loss))
    assert found == pytest.approx([found[0]] * len(found), rel=1e-5)


@pytest.mark.parametrize("limits", [{"clipnorm": 0.1}, {"global_clipnorm": 0.1}, {"clipvalue": 0.1}])
def test_gradients_are_clipped_where_they_lie(limits: dict[str, float]) -> None:
    found: list[Any] = []
    for have, called in ELSEWHERE:
        with lab.device(have):
            v, w = lab.Variable([1.0, 2.0]), lab.Variable(3.0)
            slopes = [lab.constant([3.0, 4.0]), lab.constant(-1.0)]
        with block(called), copies() as told:
            lab.optimizers.Adam(0.1, **limits).apply_gradients(zip(slopes, (v, w), strict=True))
        assert not told
        assert v.device == w.device == have
        found.append([*v.numpy(), float(w)])
    for numbers in found[1:]:
        assert numbers == pytest.approx(found[0], rel=1e-5)


def test_what_ops_make_of_numbers_in_a_block_lies_on_its_device() -> None:
    """A stack of Python numbers is made there, as a list of them is; gradients go back to where the numbers lie."""
    number = lab.constant(3.0)
    with lab.device("/GPU:0"):
        made = [lab.stack([1.0, 2.0]), lab.broadcast_to(1.0, (3,)), lab.reshape(5.0, (1,)), lab.expand_dims(1.0, 0)]
        made.append(lab.one_hot(1, 3))
        with lab.GradientTape() as tape:
            tape.watch(number)
            total = lab.reduce_sum(lab.stack([number, number]).gpu() * made[0])  # tensors stay where they are
        slope = tape.gradient(total, number)
    assert [tensor.device for tensor in made] == ["/GPU:0"] * 5
    assert (float(slope), slope.device) == (3.0, "/CPU:0")
    assert lab.stack([1.0, 2.0]).device == "/CPU:0"


def test_an_array_beside_a_tensor_of_a_gpu_goes_along_into_a_compiled_function() -> None:
    """As it does into an op: it is copied, and that is told."""
    with lab.device("/GPU:0"):
        x = lab.constant([1.0, 2.0, 3.0])
    compiled = lab.function(lambda x, y: x * y + 1.0)
    with copies() as told:
        total = compiled(x, np.float32([1.0, 2.0, 3.0]))
    assert total.device == "/GPU:0"
    assert total.numpy().tolist() == [2.0, 5.0, 10.0]
    assert len(told) == 1
    assert compiled(x.cpu(), np.float32([1.0, 2.0, 3.0])).device == "/CPU:0"
    assert compiled.fallbacks == 0
