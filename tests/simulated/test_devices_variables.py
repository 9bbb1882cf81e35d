"""Variables, layers and optimizers on a GPU: they keep their device, and train as on the CPU."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from tests.simulated.heard import copies


def variable() -> lab.Variable:
    return lab.Variable([1.0, 2.0, 3.0], name="v").move_to("/GPU:0")


def test_a_variable_keeps_its_device() -> None:
    """Whatever is assigned: values of Python and NumPy are copied to it, and that is told."""
    v = variable()
    for value in ([4.0, 5.0, 6.0], np.array([4.0, 5.0, 6.0], np.float32), lab.constant([4.0, 5.0, 6.0]).gpu()):
        with copies() as told:
            v.assign(value)
        assert v.device == "/GPU:0"
        assert v.numpy().tolist() == [4.0, 5.0, 6.0]
        assert len(told) == (not isinstance(value, lab.Tensor))
    v.assign_add([1.0, 1.0, 1.0]).assign_sub(v)
    assert (v.device, v.numpy().tolist()) == ("/GPU:0", [0.0, 0.0, 0.0])
    v[1:].assign([7.0, 8.0])
    v.scatter_nd_update([[0]], [9.0])
    assert (v.device, v.numpy().tolist()) == ("/GPU:0", [9.0, 7.0, 8.0])


def test_a_tensor_of_another_device_is_not_assigned() -> None:
    """In either direction; the message names the variable and what to try."""
    with pytest.raises(lab.errors.DeviceMismatch, match=r"(?s)f32\[3\] on /CPU:0 .* v:0, .* /GPU:0.*Try x\.gpu\(\)"):
        variable().assign(lab.ones(3))
    with pytest.raises(lab.errors.DeviceMismatch, match=r"Try x\.cpu\(\), or v\.move_to\('/GPU:0'\)"):
        lab.Variable([1.0, 2.0]).assign_add(lab.ones(2).gpu())
    assert lab.Variable(1.0).move_to("GPU:0").assign(lab.constant(2.0)).device == "/GPU:0"


def test_a_variable_is_not_moved_while_a_tape_holds_a_read_of_it() -> None:
    """Neither an open tape nor a closed one that has not given its gradient; its value stays where it was."""
    v = variable()
    with lab.GradientTape(persistent=True) as tape:
        y = lab.reduce_sum(v * v)
        with pytest.raises(lab.errors.TapeMisused, match=r"a tape has recorded a read of the variable v:0 on /GPU:0"):
            v.move_to("/CPU:0")
    with pytest.raises(lab.errors.TapeMisused, match="Try moving it before the tape's block"):
        v.move_to("/CPU:0")
    assert tape.gradient(y, v).device == v.device == "/GPU:0"
    del tape
    assert v.move_to("/CPU:0").device == "/CPU:0"


def test_a_variable_is_moved_after_its_tape_has_given_the_gradient() -> None:
    """A one-shot tape holds nothing then; nor does one that read another value."""
    v = variable()
    with lab.GradientTape() as tape:
        y = lab.reduce_sum(v * v)
    tape.gradient(y, v)
    assert v.move_to("/CPU:0").device == "/CPU:0"
    with lab.GradientTape() as waiting:
        lab.reduce_sum(v)
    v.assign([0.0, 0.0, 0.0])
    assert v.move_to("/GPU:0").device == "/GPU:0"
    assert waiting.watched_variables() == (v,)


OPTIMIZERS: dict[str, Callable[[], Any]] = {
    "SGD": lambda: lab.optimizers.SGD(0.1),
    "momentum": lambda: lab.optimizers.SGD(0.1, momentum=0.9, nesterov=True, clipnorm=0.5),
    "Adam": lambda: lab.optimizers.Adam(0.01),
    "AdamW": lambda: lab.optimizers.AdamW(0.01),
    "RMSprop": lambda: lab.optimizers.RMSprop(0.01, momentum=0.5),
    "Adagrad": lambda: lab.optimizers.Adagrad(0.1, global_clipnorm=1.0),
    "Nadam": lambda: lab.optimizers.Nadam(0.1),
    "Adamax": lambda: lab.optimizers.Adamax(0.1),
    "Adadelta": lambda: lab.optimizers.Adadelta(0.1),
}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_optimizers_take_the_steps_of_the_cpu(name: str) -> None:
    """What they keep lies beside the variable, the count of steps on the CPU, where it is read; nothing is copied."""
    ends = []
    for device in ("/CPU:0", "/GPU:0"):
        v, optimizer = lab.Variable([1.0, -2.0, 3.0]).move_to(device), OPTIMIZERS[name]()
        with copies() as told:
            for _ in range(3):
                with lab.GradientTape() as tape:
                    loss = lab.reduce_sum(v * v)
                optimizer.apply_gradients([(tape.gradient(loss, v), v)])
        assert not told
        assert v.device == device
        assert {slot.device for slot in optimizer.variables[1:]} <= {device}
        assert optimizer.iterations.device == "/CPU:0"
        ends.append(v.numpy())
    np.testing.assert_allclose(ends[1], ends[0], rtol=1e-6)


def test_a_gradient_of_another_device_is_refused() -> None:
    """As an assignment would be."""
    with pytest.raises(lab.errors.DeviceMismatch):
        lab.optimizers.SGD(0.1).apply_gradients([(lab.ones(3), variable())])


def model() -> Any:
    return lab.Sequential([
        lab.layers.Dense(8, activation="relu", kernel_initializer=lab.initializers.VarianceScaling(seed=1)),
        lab.layers.Dropout(0.5, seed=1),
        lab.layers.BatchNormalization(),
        lab.layers.Dense(1, kernel_initializer=lab.initializers.VarianceScaling(seed=2)),
    ])  # fmt: skip


def test_a_model_trains_as_on_the_cpu_and_copies_nothing() -> None:
    """Its weights are made where its first input lies; a loss that is read at the end is the one copy."""
    x = np.random.default_rng(0).normal(size=(6, 3)).astype(np.float32)
    losses = []
    for device in ("/CPU:0", "/GPU:0"):
        with lab.device(device):
            inputs, wanted = lab.constant(x), lab.constant(x[:, :1])
        lab.random.set_seed(1)
        net, optimizer, loss = model(), lab.optimizers.Adam(0.05), lab.constant(0.0)
        with copies() as told:
            for _ in range(3):
                with lab.GradientTape() as tape:
                    loss = lab.reduce_mean((net(inputs, training=True) - wanted) ** 2)
                gradients = tape.gradient(loss, net.trainable_variables)
                optimizer.apply_gradients(zip(gradients, net.trainable_variables, strict=True))
        assert not told
        assert {v.device for v in net.variables} == {device}
        losses.append(float(loss))
    assert losses[1] == pytest.approx(losses[0], rel=1e-5)


def test_a_model_moves_as_a_whole(tmp_path: Any) -> None:
    """And is saved from a GPU and loaded to one."""
    net = model()
    net(lab.ones((2, 3)))
    before = [v.numpy() for v in net.variables]
    net.move_to("/GPU:0")
    assert {v.device for v in net.variables} == {"/GPU:0"}
    net.save_weights(tmp_path / "weights.npz")
    net.variables[0].assign_add(net.variables[0])
    net.load_weights(tmp_path / "weights.npz")
    assert {v.device for v in net.variables} == {"/GPU:0"}
    for old, v in zip(before, net.variables, strict=True):
        np.testing.assert_array_equal(old, v.numpy())


def test_a_block_on_a_gpu_makes_weights_there() -> None:
    """Also those of a model that is called with tensors of the CPU only later."""
    with lab.device("/GPU:0"):
        layer = lab.layers.Dense(2, input_shape=(3,))
        layer.build((1, 3))
    assert {v.device for v in layer.variables} == {"/GPU:0"}
