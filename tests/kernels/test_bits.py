"""Elements kept by their bits, and the largest taken out one by one: what NumPy's slower ways give, to the bit."""

from itertools import product
from typing import Any

import numpy as np
import pytest

from autodiff_lab.kernels.indexing.reference import choose_elements
from autodiff_lab.ops.array.selection import best_positions, order_along
from autodiff_lab.ops.linalg.diagonals import band

DTYPES = ["f4", "f8", "f2", "i4", "i8", "u4", "u8", "i1", "c8", "?"]
SHAPES = [(40, 50), (50,), (40, 1), ()]


def kernel_of(function: Any) -> Any:
    """Return the NumPy kernel of an op."""
    return function.op.kernel


def _numbers(shape: tuple[int, ...], dtype: str) -> Any:
    """Return numbers with special values among them."""
    draw = np.random.default_rng(len(shape))
    x = draw.standard_normal(shape).astype(dtype)
    if x.dtype.kind == "f" and x.ndim:
        for value in (np.nan, np.inf, -np.inf, -0.0, 0.0):
            x[draw.random(shape) < 0.05] = value
    return x


def _same(found: Any, wanted: Any) -> None:
    assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
    assert found.tobytes() == wanted.tobytes()


@pytest.mark.parametrize("dtype", DTYPES)
def test_elements_are_chosen_as_numpy_does(dtype: str) -> None:
    kind = np.dtype(dtype).type
    numbers = [kind(0), *([kind(-0.0)] if kind(0).dtype.kind == "f" else [])]
    for first, second, where in product(SHAPES, repeat=3):
        x, condition = _numbers(first, dtype), np.asarray(np.random.default_rng(3).random(where) < 0.5)
        for y in (_numbers(second, dtype), *numbers):
            for one, other in ((x, y), (y, x)):
                _same(choose_elements(one, other, condition), np.where(condition, one, other)[()])


@pytest.mark.parametrize("dtype", DTYPES)
def test_bands_are_cut_out_as_numpy_does(dtype: str) -> None:
    for shape in ((5, 7), (7, 5), (3, 4, 4), (0, 3), (130, 140)):
        for x in (_numbers(shape, dtype), np.swapaxes(_numbers(shape, dtype), -1, -2)):
            for low, high in product((-1, 0, 1, 3, 10**10), (-1, 0, 2, 10**12)):
                below = x if low < 0 else np.triu(x, -min(low, 1000))
                wanted = below if high < 0 else np.tril(below, min(high, 1000))
                _same(kernel_of(band)(x, lower=low, upper=high), wanted)


@pytest.mark.parametrize("dtype", [dtype for dtype in DTYPES if dtype[0] in "fiu"])
def test_the_largest_are_found_in_the_order_of_a_stable_sort(dtype: str) -> None:
    draw = np.random.default_rng(4)
    for shape in ((40, 50), (3000,), (4, 600), (2, 3, 500)):
        x = _numbers(shape, dtype)
        few = draw.integers(0, 3, shape).astype(dtype)  # many are equal
        low = np.where(draw.random(shape) < 0.99, -np.inf, x).astype(dtype) if x.dtype.kind == "f" else few
        for numbers, k in product((x, few, low), (1, 2, 5, 8)):
            ordered = kernel_of(order_along)(numbers, axis=-1, descending=True)
            _same(kernel_of(best_positions)(numbers, k=k), np.ascontiguousarray(ordered[..., :k]))
