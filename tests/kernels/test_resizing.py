"""Resizing in compiled loops agrees with NumPy over methods, sizes, layouts and special values."""

from typing import Any

import numpy as np
import pytest

from autodiff_lab.kernels.base import threads
from autodiff_lab.kernels.base.choose import use_kernels
from autodiff_lab.kernels.resizing.reference import taps, transposed
from autodiff_lab.testing import check_gradient
from tests.kernels.agreement import DTYPES, TOLERANCE, agree, declined, layouts
from tests.kernels.overrides import compiled, kernel
from tests.ops.resampling import METHODS, matrix
from tests.ops.samples import samples

pytest.importorskip("numba", reason="the extra 'jit' is not installed, so there is nothing to compare")
NAMES = ("resize", "resize_input")
assert all(map(kernel, NAMES))  # which loads them


def dense(first: np.ndarray, weights: np.ndarray, n: int) -> np.ndarray:
    """Return taps as a matrix with a row for each pixel that is made."""
    made = np.zeros((len(first), n))
    np.add.at(made, (np.arange(len(first))[:, None], first[:, None] + np.arange(weights.shape[1])), weights)
    return made


@pytest.mark.parametrize("antialias", [False, True])
@pytest.mark.parametrize("method", METHODS)
def test_weights_are_those_of_the_formula_and_their_transpose(method: str, antialias: bool) -> None:
    smooth = antialias and method not in ("nearest", "area")
    for n in (1, 2, 3, 5, 8, 13, 24):
        for m in (1, 2, 4, 7, 8, 11, 48):
            how = (n, m, method, antialias, np.dtype(np.float64))
            expected = matrix(n, m, method, smooth)
            np.testing.assert_allclose(dense(*taps(*how), n), expected, atol=1e-12)
            np.testing.assert_allclose(dense(*transposed(*how), m), expected.T, atol=1e-12)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("method", METHODS)
def test_random_shapes(method: str, dtype: str) -> None:
    rng = np.random.default_rng(len(method))
    for _ in range(12):
        shape = (*rng.integers(1, 4, rng.integers(0, 3)), *rng.integers(1, 20, 2), int(rng.choice([1, 3, 17])))
        height, width = (int(n) for n in rng.integers(1, 30, 2))
        x = rng.standard_normal(shape).astype(dtype)
        how: dict[str, Any] = {"height": height, "width": width, "method": method, "antialias": bool(rng.integers(2))}
        for name in NAMES:
            agree(name, x, tolerance=20 * TOLERANCE[dtype], **how)


@pytest.mark.parametrize("name", NAMES)
def test_layouts_and_values_that_are_not_finite(name: str) -> None:
    x = np.random.default_rng(1).standard_normal((2, 5, 4, 3))
    x[0, 1, 1], x[1, 2, 3], x[1, 4, 0] = np.nan, np.inf, -np.inf
    for _, given in layouts(x):
        agree(name, given, height=7, width=3, method="bicubic", antialias=False, tolerance=1e-13)


@pytest.mark.parametrize("name", NAMES)
def test_what_is_empty_is_left_to_numpy(name: str) -> None:
    assert declined(name, np.zeros((0, 2, 2, 1)), height=3, width=3, method="bilinear", antialias=False)


@pytest.mark.parametrize("name", NAMES)
def test_the_number_of_threads_changes_no_bit(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.random.default_rng(2).standard_normal((1, 90, 120, 8)).astype("f4")
    results = []
    for count in (1, 3):
        monkeypatch.setattr(threads, "thread_count", lambda count=count: count)
        results.append(compiled(name, x, height=200, width=150, method="lanczos3", antialias=False))
    np.testing.assert_array_equal(*results)


@pytest.mark.parametrize("name", NAMES)
def test_derivatives_of_both_orders_agree_with_differences(name: str) -> None:
    with use_kernels("numba"):
        for sample in samples(name):
            assert check_gradient(sample, *sample.inputs)
            assert check_gradient(sample, *sample.inputs, order=2)
