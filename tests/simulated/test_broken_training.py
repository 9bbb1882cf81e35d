"""Training that changes device midway: an optimizer's state follows its variables."""

import pytest

import autodiff_lab as lab
from tests.simulated.heard import copies

GPU, CPU = "/GPU:0", "/CPU:0"
OPTIMIZERS = {
    "Adam": lab.optimizers.Adam, "momentum": lambda rate: lab.optimizers.SGD(rate, momentum=0.9),
    "RMSprop": lab.optimizers.RMSprop, "Adagrad": lab.optimizers.Adagrad,
}  # fmt: skip


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_the_state_of_an_optimizer_follows_a_variable_that_moved(name: str) -> None:
    """Steps on two devices and back give what they give on one, and none of them copies."""
    stayed, moved = lab.Variable([1.0, 2.0]), lab.Variable([1.0, 2.0])
    still, optimizer = OPTIMIZERS[name](0.1), OPTIMIZERS[name](0.1)
    for device in (CPU, GPU, GPU, CPU):
        moved.move_to(device)
        still.apply_gradients([(lab.constant([0.5, -1.0]), stayed)])
        with lab.device(device):
            gradient = lab.constant([0.5, -1.0])
        with copies() as told:
            optimizer.apply_gradients([(gradient, moved)])
        assert not told
        assert {slot.device for slot in optimizer.variables if slot is not optimizer.iterations} == {device}
    assert moved.numpy() == pytest.approx(stayed.numpy(), rel=1e-6)


def test_a_compiled_step_goes_on_where_its_variable_went() -> None:
    """With the state that it had there: the losses are those of a program that stays."""
    stays, moves = program([CPU] * 6, compiled=False), program([CPU, CPU, GPU, GPU, CPU, CPU], compiled=True)
    assert moves == pytest.approx(stays, rel=1e-6)


def program(devices: list[str], compiled: bool) -> list[float]:
    """The losses of a few steps, each on the device that is named for it."""
    v, optimizer = lab.Variable([1.0, 2.0]), lab.optimizers.Adam(0.1)

    def step(x: lab.Tensor) -> lab.Tensor:
        with lab.GradientTape() as tape:
            loss = lab.reduce_sum((v - x) ** 2)
        optimizer.apply_gradients([(tape.gradient(loss, v), v)])
        return loss

    run = lab.function(step) if compiled else step
    losses: list[float] = []
    for device in devices:
        v.move_to(device)
        with lab.device(device):
            x = lab.zeros(2)
        with copies() as told:
            loss = run(x)
        assert not told
        assert loss.device == v.device == device
        losses.append(float(loss))
    assert int(optimizer.iterations) == len(devices)
    assert getattr(run, "fallbacks", 0) == 0
    return losses


def model() -> lab.Sequential:
    return lab.Sequential([lab.layers.Dense(4, activation="relu"), lab.layers.BatchNormalization(), lab.layers.GRU(2)])


def test_a_model_may_be_moved_before_it_has_weights() -> None:
    """They are made where it was moved to, also inside a block of another device."""
    moved = model().move_to(GPU)
    with lab.device(CPU):
        moved(lab.ones((2, 3, 3)).gpu())
    assert {v.device for v in moved.variables} == {GPU}
    assert len(moved.variables) == 9


def test_a_model_goes_to_no_device_that_is_not_there() -> None:
    """Also where nothing has to be moved yet."""
    with pytest.raises(lab.errors.DeviceError, match="'cuda' is not the name of a device"):
        model().move_to("cuda")


def test_a_model_that_a_tape_has_read_is_not_half_moved() -> None:
    stays = model()
    stays(lab.ones((1, 3, 3)))
    last = stays.variables[-1]
    with lab.GradientTape() as tape:
        loss = lab.reduce_sum(last * 2.0)
        with pytest.raises(lab.errors.TapeMisused, match="move_to"):
            stays.move_to(GPU)
    assert {v.device for v in stays.variables} == {CPU}
    assert tape.gradient(loss, last).device == CPU
    stays.move_to(GPU)
    assert {v.device for v in stays.variables} == {GPU}
