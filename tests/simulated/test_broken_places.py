"""Words for what does not lie, or does not fit, on a GPU."""

import pytest

import autodiff_lab as lab


@pytest.mark.parametrize("value", ["a", ["a", "b"], b"a"])
def test_strings_in_a_block_of_a_gpu(value: object) -> None:
    """A single one is called a string, as many are, and not by NumPy's name for it."""
    with lab.device("/GPU:0"), pytest.raises(lab.errors.DeviceError, match="strings live on the CPU only"):
        lab.constant(value)
