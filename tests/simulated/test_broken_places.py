"""Error messages for values that are not, or do not fit, on a GPU."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from tests.simulated.heard import copies


@pytest.mark.parametrize("value", ["a", ["a", "b"], b"a"])
def test_strings_in_a_block_of_a_gpu(value: object) -> None:
    """A single one is called a string, as many are, and not by NumPy's name for it."""
    with lab.device("/GPU:0"), pytest.raises(lab.errors.DeviceError, match="strings live on the CPU only"):
        lab.constant(value)


PRINTS: dict[str, Callable[[Any], object]] = {
    "format": lambda x: f"{x:.3f}", "f-string": lambda x: f"{x}", "str": str,
}  # fmt: skip


@pytest.mark.parametrize("name", PRINTS)
def test_what_is_printed_is_a_copy_that_is_told(name: str) -> None:
    """A loop that prints its loss waits for the GPU as one that calls float does."""
    x = lab.constant(2.5).gpu()
    with copies() as told:
        PRINTS[name](x)
    assert [(t.direction, t.why) for t in told] == [("to host", "it was printed")]


def test_a_look_at_a_tensor_is_not_told() -> None:
    """Notebooks and debuggers look at tensors by themselves."""
    with copies() as told:
        repr(lab.ones(2).gpu())
    assert not told


@pytest.mark.parametrize("on", [0, 1])
def test_a_mask_of_another_device(on: int) -> None:
    """The message names the mask, and not the positions that are made of it; a list or an array may come along."""
    x, other = (lab.constant([1.0, 2.0, 3.0]), lab.constant([1.0, 2.0, 3.0]).gpu())[:: 1 - 2 * on]
    for take in (lambda: x[other > 1.5], lambda: lab.boolean_mask(x, other > 1.5)):
        with pytest.raises(lab.errors.DeviceMismatch, match=r"boolean_mask: the tensor is on .* and the mask on"):
            take()
    for mask in ([False, True, True], np.array([False, True, True]), x > 1.5):
        assert lab.boolean_mask(x, mask).numpy().tolist() == [2.0, 3.0]


def test_a_tangent_of_another_device() -> None:
    """It is refused where it is given, and not in a product that nobody wrote; lists may come along."""
    x = lab.constant([1.0, 2.0]).gpu()
    with pytest.raises(lab.errors.DeviceMismatch, match=r"a primal is on /GPU:0 and its tangent on /CPU:0"):
        lab.autodiff.ForwardAccumulator(x, lab.ones(2))
    value, tangent = lab.jvp(lambda x: x * x, [x], [[3.0, 4.0]])
    assert value.device == tangent.device == "/GPU:0"
    assert tangent.numpy().tolist() == [6.0, 16.0]


@pytest.mark.parametrize(("shape", "axis"), [((3,), 0), ((4, 3), 1), ((3, 2), -2)])
@pytest.mark.parametrize("mode", ["numpy", "auto"])
def test_an_index_out_of_range_names_its_axis_from_the_front(shape: tuple[int, ...], axis: int, mode: str) -> None:
    """Inside, axes are counted from the end, which is nobody's business."""
    with lab.device("/GPU:0"), lab.use_kernels(mode):
        x, wrong = lab.ones(shape), lab.constant([0, 9])
        with pytest.raises(lab.errors.InvalidArgumentError, match=rf"an index of axis {axis % len(shape)} is not in"):
            float(lab.reduce_sum(lab.gather(x, wrong, axis=axis)))


@pytest.mark.parametrize("make", [lab.zeros_like, lab.ones_like])
def test_zeros_and_ones_for_a_list_are_made_in_the_block(make: Callable[[Any], lab.Tensor]) -> None:
    """For a tensor they are made where it lies."""
    x = lab.ones(2)
    with lab.device("/GPU:0"):
        assert [make([1.0, 2.0]).device, make(x).device, make(x.gpu()).device] == ["/GPU:0", "/CPU:0", "/GPU:0"]
