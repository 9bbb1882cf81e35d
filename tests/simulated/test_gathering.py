"""Gathering on a GPU against NumPy's: any axis, any row length, any dtype, positions out of range."""

from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.errors import InvalidArgumentError
from autodiff_lab.kernels.base import choose
from autodiff_lab.kernels.cuda import promises
from autodiff_lab.kernels.indexing.cuda_positions import divisor, quotient
from tests.simulated.agreement import CudaKernels, agree, declined, on_gpu

lab.gather  # noqa: B018 - loads the family, and with it the kernels


def numbers(*shape: int, dtype: str = "float32") -> np.ndarray:
    """Numbers that differ."""
    return (np.arange(np.prod(shape)) % 251).reshape(shape).astype(dtype)


def positions(count: int, *shape: int, dtype: str = "int32") -> np.ndarray:
    """Positions below `count`, some of them twice."""
    return np.random.default_rng(count).integers(0, count, size=shape).astype(dtype)


@pytest.mark.parametrize("index", ["int32", "int64", "uint8", "int16"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64", "bool", "int8", "complex64", "complex128"])
def test_any_dtypes(dtype: str, index: str) -> None:
    """Bits are copied, whatever they mean."""
    agree("gather", numbers(9, 5, dtype=dtype), positions(9, 7, dtype=index), axis=-2)
    agree("gather_nd", numbers(3, 4, 2, dtype=dtype), positions(3, 5, 2, dtype=index))


@pytest.mark.parametrize("inner", [1, 3, 8, 9, 32, 33, 100])
def test_rows_of_any_length(inner: int) -> None:
    """Rows that fill a block's width, do not, or need several blocks; more rows than a block moves."""
    agree("gather", numbers(20, inner), positions(20, 300), axis=-2)
    agree("gather", numbers(2, 6, inner), positions(6, 5), axis=-2)


@pytest.mark.parametrize("axis", [-1, -2, -3])
def test_along_any_axis(axis: int) -> None:
    """The axes of the indices stand in the place of the axis, however many they are; arrays may lie otherwise."""
    x = numbers(4, 5, 6)
    for shape in ((), (3,), (2, 3), (0,), (2, 0)):
        agree("gather", x, positions(4, *shape), axis=axis)
    agree("gather", x.transpose(2, 1, 0), positions(4, 2, 3).T, axis=axis)
    agree("gather", x[:, ::2, ::-1], positions(3, 8)[::2], axis=axis)


@pytest.mark.parametrize("lead", [0, 1, 2])
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_rows_of_coordinates(lead: int, depth: int) -> None:
    """Coordinates count from an axis on; the axes before it are gone through together."""
    x = numbers(*(3, 2, 4, 3, 5)[: lead + 3])
    at = np.stack([positions(n, 4, 2, dtype="int64") for n in x.shape[lead : lead + depth]], axis=-1)
    agree("gather_nd", x, at, lead=lead)
    agree("gather_nd", x, at[:0], lead=lead)


def test_without_elements() -> None:
    """Rows without elements, and nothing to pick, launch nothing."""
    agree("gather", np.zeros((3, 0), np.float32), positions(3, 4), axis=-2)
    agree("gather", np.zeros((0, 3), np.float32), positions(1, 0), axis=-2)
    assert declined("gather", np.zeros((3, 2), np.float16), positions(3, 4), axis=-2)
    assert declined("gather", np.zeros((3, 2), np.float32), 1, axis=-2)
    assert declined("gather_nd", numbers(3, 2), np.zeros((4, 0), np.int32))


@pytest.mark.parametrize("bad", [-1, 5, 2**31 - 1, -(2**31), 2**32 + 1])
def test_a_position_that_is_out_of_range_gives_zeros(bad: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing outside the array is read, though nobody waits for the question that is asked of the positions."""
    asked: list[Any] = []
    monkeypatch.setattr(promises, "ask", lambda memory, holds, error: asked.append((holds, error)))
    x, at = on_gpu(numbers(5, 3) + 1), on_gpu(np.array([1, bad, 4], np.int64))
    for made in (CudaKernels.gather(x, at, axis=-2), CudaKernels.gather_nd(x, at.reshape(3, 1))):
        np.testing.assert_array_equal(made.to_host(), [[4, 5, 6], [0, 0, 0], [13, 14, 15]])
        holds, error = asked.pop()
        assert not holds
        assert isinstance(error(), InvalidArgumentError)


def test_the_op_gathers_by_the_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a GPU `lab.gather` and `lab.gather_nd` launch it; on the CPU they do not."""
    launched: list[str] = []

    def watched(name: str) -> Any:
        kernel = getattr(CudaKernels, name)
        return lambda *arrays, **how: launched.append(name) or kernel(*arrays, **how)

    for name in ("gather", "gather_nd"):
        monkeypatch.setattr(choose.CHOSEN[name], "_on_gpu", watched(name))
    for device, names in (("/CPU:0", []), ("/GPU:0", ["gather", "gather_nd"])):
        with lab.use_kernels("auto"), lab.device(device):
            x, at = lab.constant([[1.0, 2.0], [3.0, 4.0]]), lab.constant([[1, 0]])
            assert lab.gather(x, at).numpy().tolist() == [[[3.0, 4.0], [1.0, 2.0]]]
            assert lab.gather_nd(x, at).numpy().tolist() == [3.0]
        assert launched == names


@pytest.mark.parametrize("d", [1, 2, 3, 7, 255, 256, 257, 1_000_003, 2**30 - 1, 2**30 + 1, 2**31 - 1])
def test_quotients_by_multiplication(d: int) -> None:
    """Rounded down as a division is, for numbers on both sides of every multiple, up to the largest."""
    multiplier, shift = divisor(d)
    last = (2**31 - 1) // d
    multiples = {*range(min(last, 300)), *(int(last * part / 97) for part in range(98)), last}
    for n in {m * d + off for m in multiples for off in (-1, 0, 1)} | {2**31 - 1}:
        if 0 <= n < 2**31:
            assert quotient(n, multiplier, shift) == n // d
