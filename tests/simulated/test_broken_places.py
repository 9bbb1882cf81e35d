"""Words for what does not lie, or does not fit, on a GPU."""

from collections.abc import Callable
from typing import Any

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
