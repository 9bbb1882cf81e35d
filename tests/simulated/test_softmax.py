"""Softmax on a GPU against NumPy's, along any axis, at any length."""

import numpy as np
import pytest

import autodiff_lab as lab
from tests.simulated.agreement import SIZES, agree, declined

lab.nn.softmax  # noqa: B018 - loads the family, and with it the kernels


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("length", SIZES)
def test_rows_of_any_length(length: int, dtype: str) -> None:
    """A row shorter than a block, as long, and longer."""
    x = np.random.default_rng(0).normal(size=(3, length)).astype(dtype) * 3
    g = np.random.default_rng(1).normal(size=(3, length)).astype(dtype)
    agree("softmax", x, axis=-1)
    agree("softmax_slope", g, x, axis=-1)


@pytest.mark.parametrize("axis", [-1, -2, -3])
def test_along_any_axis(axis: int) -> None:
    """The axis is moved to the end and back."""
    x = np.random.default_rng(0).normal(size=(4, 5, 6)).astype(np.float32)
    agree("softmax", x, axis=axis)
    agree("softmax_slope", x, x, axis=axis)


def test_no_rows() -> None:
    """Without elements nothing is launched."""
    agree("softmax", np.zeros((0, 5), np.float32), axis=-1)


def test_values_that_are_not_numbers() -> None:
    """A nan makes its row nan, and no other."""
    x = np.array([[1, np.nan, 2], [1, 2, 3]], np.float32)
    agree("softmax", x, axis=-1)


def test_whole_numbers_are_left_to_the_reference() -> None:
    """There is no kernel for integers."""
    assert declined("softmax", np.zeros((2, 2), np.int32), axis=-1)
