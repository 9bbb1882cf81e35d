"""Scattering on a GPU against NumPy's: any axis, positions that occur never, once or often."""

from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.kernels.cuda import promises
from autodiff_lab.kernels.indexing import cuda_runs as scatter_runs
from tests.simulated.agreement import CudaKernels, agree, declined, on_gpu

lab.gather  # noqa: B018 - loads the family, and with it the kernels


def normal(*shape: int, dtype: str = "float32") -> np.ndarray:
    """Numbers around 0."""
    return np.random.default_rng(sum(shape)).normal(size=shape).astype(dtype)


def places(count: int, *shape: int, dtype: str = "int32") -> np.ndarray:
    """Positions below `count`."""
    return np.random.default_rng(count).integers(0, count, size=shape).astype(dtype)


@pytest.mark.slow(keep=8)
@pytest.mark.parametrize("index", ["int32", "int64", "uint8"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("inner", [1, 3, 9, 33])
def test_rows_of_any_length(inner: int, dtype: str, index: str) -> None:
    """Places met never, once and several times; rows that fill a block's width, do not, or need several."""
    g = normal(60, inner, dtype=dtype)
    agree("scatter_axis", g, places(50, 60, dtype=index), axis=-2, length=50)
    agree("scatter_axis", g, np.random.default_rng(0).permutation(60).astype(index), axis=-2, length=60)


@pytest.mark.parametrize("axis", [-1, -2, -3])
def test_along_any_axis(axis: int) -> None:
    """The axes of the indices stand in the place of the axis, however many they are; arrays may lie otherwise."""
    for shape in ((7,), (2, 3), (0,)):
        whole = [4, 5, 6]
        whole[axis : len(whole) + axis + 1] = shape
        agree("scatter_axis", normal(*whole), places(8, *shape), axis=axis, length=8)
    g = normal(6, 5, 4).transpose(2, 1, 0)
    agree("scatter_axis", g, places(3, 2 * g.shape[axis])[::2], axis=axis, length=3)


@pytest.mark.parametrize(("met", "inner"), [(4, 1), (5, 20), (32, 5), (33, 1), (33, 20), (64, 5), (65, 9), (300, 5)])
def test_places_met_often(inner: int, met: int) -> None:
    """Entries that a thread, a block or several blocks add up, side by side with places met once or never."""
    for shift in (0, 40):
        at = np.concatenate([np.arange(shift) % 9, np.full(met, 9), [11, 12, 9, 11]]).astype(np.int32)
        at = np.random.default_rng(0).permutation(at)
        agree("scatter_axis", normal(len(at), inner), at, axis=-2, length=14, tolerance=2e-5)


def test_several_places_met_often_in_several_pieces() -> None:
    """Long runs that begin and end anywhere in a window, for every piece before the axis."""
    for lengths in ((70, 32, 33, 1, 40), (32, 64, 96), (33, 31, 40), (1, 200, 1)):
        at = np.random.default_rng(0).permutation(np.repeat(np.arange(len(lengths)), lengths)).astype(np.int32)
        agree("scatter_axis", normal(3, len(at), 5), at, axis=-2, length=len(lengths) + 1, tolerance=2e-5)


@pytest.mark.parametrize("lead", [0, 1, 2])
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_rows_of_coordinates(lead: int, depth: int) -> None:
    """Coordinates say the place; axes before are gone through together."""
    shape, stack = (3, 4, 5), (2, 3)[:lead]
    at = np.stack([places(n, 40, dtype="int64") for n in shape[:depth]], axis=-1)
    agree("scatter_nd", normal(*stack, 40, *shape[depth:]), at, shape=shape, tolerance=2e-5)
    agree("scatter_nd", normal(*stack, 8, 5, *shape[depth:]), at.reshape(8, 5, depth), shape=shape, tolerance=2e-5)


def test_without_elements() -> None:
    """Zeros without entries; nothing without places or row elements."""
    agree("scatter_axis", normal(0, 3), places(1, 0), axis=-2, length=4)
    agree("scatter_axis", normal(5, 0), places(4, 5), axis=-2, length=4)
    agree("scatter_nd", normal(0, 3), np.zeros((0, 1), np.int32), shape=(2, 3))
    assert declined("scatter_nd", normal(2), np.zeros((2, 0), np.int32), shape=())
    assert declined("scatter_axis", np.ones((2, 3), np.int32), places(4, 2), axis=-2, length=4)
    assert declined("scatter_axis", normal(3), 1, axis=-1, length=4)


def test_values_that_are_not_numbers() -> None:
    """A nan or an infinity spoils the places where it is added, and no others."""
    g = normal(80, 3)
    g[5, 0], g[60, 1], g[61, 1] = np.nan, np.inf, -np.inf
    agree("scatter_axis", g, np.where(np.arange(80) < 50, 1, np.arange(80) % 6), axis=-2, length=6, tolerance=2e-5)


@pytest.mark.parametrize("bad", [-1, 4, 2**31 - 1, -(2**31), 2**32 + 1])
def test_what_is_out_of_range_adds_nothing(bad: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing outside the array is written, though nobody waits for the question that is asked of coordinates."""
    asked: list[Any] = []
    monkeypatch.setattr(promises, "ask", lambda memory, holds, error: asked.append(holds))
    at = on_gpu(np.array([1, bad, 3, 1, bad], np.int64))
    g = on_gpu(np.arange(1.0, 11.0, dtype=np.float32).reshape(5, 2))
    expected = [[0, 0], [8, 10], [0, 0], [5, 6]]
    np.testing.assert_array_equal(CudaKernels.scatter_axis(g, at, axis=-2, length=4).to_host(), expected)
    made = CudaKernels.scatter_nd(g, at.reshape(5, 1), shape=(4, 2))
    np.testing.assert_array_equal(made.to_host(), expected)
    assert not asked.pop()


def test_only_what_is_out_of_range() -> None:
    """Zeros, where every entry goes nowhere."""
    made = CudaKernels.scatter_axis(on_gpu(normal(100, 2)), on_gpu(np.full(100, -1)), axis=-2, length=3)
    np.testing.assert_array_equal(made.to_host(), np.zeros((3, 2)))


@pytest.mark.parametrize("hot", [64, 65, 300])
def test_runs_are_in_the_order_of_their_entries(hot: int) -> None:
    """Whatever their length: entries of a place come as they came, so that sums are the same bits."""
    at = np.concatenate([np.arange(20), np.full(hot, 3), np.full(hot, 8), [19, 0, 3]])
    at = np.random.default_rng(0).permutation(at).astype(np.int32)
    order, first = (a.to_host() for a in scatter_runs.sorted_runs(on_gpu(at), 21))
    np.testing.assert_array_equal(order, np.argsort(at, kind="stable"))
    np.testing.assert_array_equal(first, np.searchsorted(np.sort(at), np.arange(22)))


def test_the_simulated_gpu_takes_every_way() -> None:
    """What the tests above rely on: that their sizes lie on both sides of every limit."""
    assert scatter_runs.SHORT == 4
    assert scatter_runs.LONG == 32
