"""Segments on a GPU against NumPy's: sums and extremes, sorted and unsorted ids, empty segments."""

import numpy as np
import pytest

import autodiff_lab as lab
from tests.simulated.agreement import agree, declined

lab.math.segment_sum  # noqa: B018 - loads the family, and with it the kernels
EXTREMES = ("segment_max", "segment_min")


def normal(*shape: int, dtype: str = "float32") -> np.ndarray:
    """Numbers around 0."""
    return np.random.default_rng(sum(shape)).normal(size=shape).astype(dtype)


def ids(count: int, rows: int, dtype: str = "int64") -> np.ndarray:
    """Numbers of segments, of which the last has no rows."""
    return np.random.default_rng(count).integers(0, max(count - 1, 1), size=rows).astype(dtype)


@pytest.mark.slow(keep=6)
@pytest.mark.parametrize("index", ["int32", "int64"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(), (1,), (5,), (2, 3), (40,)])
def test_rows_of_any_shape(shape: tuple[int, ...], dtype: str, index: str) -> None:
    """Segments of no, one and several rows."""
    x, at = normal(30, *shape, dtype=dtype), ids(12, 30, index)
    agree("segment_sum", x, at, count=12)
    agree("segment_sum", x, np.sort(at), count=12)
    for name in EXTREMES:
        agree(name, x, at, count=12, empty=0.0)
        agree(name, x, np.sort(at), count=12, empty=-np.inf)


@pytest.mark.parametrize("rows", [33, 100, 200])
def test_long_segments(rows: int) -> None:
    """Rows that a block or several blocks share."""
    for count in (2, 4):
        x, at = normal(rows, 3), ids(count, rows)
        agree("segment_sum", x, at, count=count, tolerance=2e-5)
        for name in EXTREMES:
            agree(name, x, at, count=count, empty=7.0)


@pytest.mark.parametrize("name", EXTREMES)
@pytest.mark.parametrize("rows", [10, 130])
def test_values_that_are_not_numbers(name: str, rows: int) -> None:
    """A nan is the extreme of its segment wherever it stands, and infinities are numbers."""
    x = normal(rows, 3)
    x[0, 0], x[-1, 1], x[rows // 2, 2], x[1] = np.nan, np.nan, np.nan, np.inf
    x[2] = -np.inf
    agree(name, x, np.arange(rows) % 2, count=3, empty=0.0)
    agree(name, np.full((rows, 2), -np.inf, np.float32), np.zeros(rows, np.int64), count=1, empty=0.0)
    agree(name, np.full((rows, 2), np.inf, np.float32), np.zeros(rows, np.int64), count=1, empty=0.0)


def test_without_elements() -> None:
    """Segments without rows are what the op says; no segments, or rows without elements, launch nothing."""
    for name in EXTREMES:
        agree(name, normal(0, 3), ids(1, 0), count=4, empty=2.5)
        agree(name, normal(4, 0), ids(3, 4), count=3, empty=2.5)
        assert declined(name, np.ones((3, 2), np.int32), ids(2, 3), count=2, empty=0)
    agree("segment_sum", normal(0, 3), ids(1, 0), count=4)
    agree("segment_sum", normal(0, 3), ids(1, 0), count=0)
    assert declined("segment_sum", np.ones((3, 2), np.complex64), ids(2, 3), count=2)
