"""Softmax and its logarithm on a GPU, and their gradients, against NumPy's: along any axis, at any length."""

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.kernels.softmax.cuda import FEW_ROWS, LONG_ROW
from tests.simulated.agreement import CudaKernels, agree, declined, on_gpu

lab.nn.softmax  # noqa: B018 - loads the family, and with it the kernels

NAMES, SLOPES = ("softmax", "log_softmax"), ("softmax_grad", "log_softmax_grad")
LENGTHS = (1, 2, 3, 9, 31, 33, 65, 128, 129, 200, 257, 290)
"""For a few lanes of a warp, a warp, a block of two warps; all of a row kept, and part of it."""


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("length", LENGTHS)
def test_rows_of_any_length(length: int, dtype: str) -> None:
    """Each way of splitting a row among threads gives the reference's values and gradients."""
    random = np.random.default_rng(length)
    x = random.normal(size=(3, length)).astype(dtype) * 3
    g = random.normal(size=(3, length)).astype(dtype)
    agree("softmax", x, axis=-1)
    agree("log_softmax", x, axis=-1)
    probabilities = np.exp(x) / np.exp(x).sum(-1, keepdims=True)
    agree("softmax_grad", g, probabilities, axis=-1, tolerance=1e-5 if dtype == "float32" else 1e-14)
    agree("log_softmax_grad", g, np.log(probabilities), axis=-1, tolerance=2e-5 if dtype == "float32" else 2e-14)


@pytest.mark.parametrize("name", NAMES + SLOPES)
@pytest.mark.parametrize("axis", [-1, -2, -3])
def test_along_any_axis(axis: int, name: str) -> None:
    """The axis is moved to the end and back, of arrays that lie turned round in memory too."""
    x = np.random.default_rng(0).normal(size=(6, 5, 4)).astype(np.float32).T
    agree(name, *((x, -x[::-1]) if name in SLOPES else (x,)), axis=axis)


@pytest.mark.parametrize("name", NAMES + SLOPES)
def test_no_rows(name: str) -> None:
    """Without elements nothing is launched."""
    nothing = np.zeros((0, 5), np.float32)
    agree(name, *((nothing, nothing) if name in SLOPES else (nothing,)), axis=-1)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("length", [3, 300])
def test_values_that_are_not_finite(length: int, name: str) -> None:
    """A nan or inf makes its row nan and no other; -inf counts for nothing, unless the row has nothing else."""
    x = np.random.default_rng(0).normal(size=(6, length)).astype(np.float32)
    x[0, 1], x[1, -1], x[2, 0], x[3] = np.nan, np.inf, -np.inf, -np.inf
    x[4, : length - 1] = -np.inf
    agree(name, x, axis=-1)


@pytest.mark.parametrize("length", [3, 300])
def test_large_values_do_not_overflow(length: int) -> None:
    """The largest element is taken from each before its exponential, below the range of float32 as well."""
    x = np.random.default_rng(0).normal(size=(2, length)) * 1e300
    agree("softmax", x, axis=-1)
    agree("softmax", np.full((2, length), -1e300), axis=-1)


def test_what_is_left_to_the_reference() -> None:
    """There is no kernel for integers, none for two shapes, and none for one row of millions."""
    assert declined("softmax", np.zeros((2, 2), np.int32), axis=-1)
    assert declined("softmax_grad", np.zeros((2, 2, 2)), np.zeros((2, 2)), axis=-1)
    assert declined("log_softmax", np.zeros((FEW_ROWS - 1, LONG_ROW + 1), np.float32), axis=-1)


def test_the_same_bits_at_every_run() -> None:
    """Sums are taken in one order."""
    x = on_gpu(np.random.default_rng(0).normal(size=(2, 300)).astype(np.float32))
    one, two = (CudaKernels.softmax(x, axis=-1).to_host() for _ in range(2))
    assert one.tobytes() == two.tobytes()
