"""Filling, marking and counting rows of sparse matrices agrees with NumPy."""

from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.testing import check_gradient
from tests.refusals import refused

SEVEN = lab.SparseTensor([[0]], [7], [1])
IDS = [[1, 1, 3], [0, 1, 1]]


def test_empty_rows_are_filled_and_named() -> None:
    x = lab.SparseTensor([[0, 1], [2, 0]], [5.0, 6.0], [4, 2])
    filled, empty = lab.sparse.fill_empty_rows(x, 9.0)
    assert lab.sparse.to_dense(filled).numpy().tolist() == [[0, 5], [9, 0], [6, 0], [9, 0]]
    assert empty.numpy().tolist() == [False, True, False, True]
    check = check_gradient(
        lambda values, fill: lab.sparse.fill_empty_rows(x.with_values(values), fill)[0].values ** 2, [5.0, 6.0], 9.0
    )
    assert check, str(check)


def test_ids_become_marks() -> None:
    x = lab.SparseTensor([[0, 0], [0, 1], [1, 0]], [2, 0, 1], [2, 2])
    assert lab.sparse.to_indicator(x, 3).numpy().tolist() == [[True, False, True], [False, True, False]]


@pytest.mark.parametrize("weights", [None, [[1.0, 2.0, 4.0], [8.0, 16.0, 32.0]]])
def test_counts_agree_with_numpy(weights: Any) -> None:
    given = None if weights is None else np.ravel(weights)
    whole = lab.sparse.to_dense(lab.sparse.bincount(IDS, weights=weights, minlength=6))
    np.testing.assert_array_equal(whole, np.bincount(np.ravel(IDS), given, minlength=6))
    rows = lab.sparse.to_dense(lab.sparse.bincount(IDS, weights=weights, axis=-1))
    expected = [np.bincount(IDS[i], None if weights is None else weights[i], minlength=4) for i in range(2)]
    np.testing.assert_array_equal(rows, expected)


def test_counts_of_sparse_values_limits_and_presence() -> None:
    x = lab.SparseTensor([[0, 0], [1, 0], [1, 4]], [3, 1, 1], [3, 5])
    counted = lab.sparse.to_dense(lab.sparse.bincount(x, axis=-1))
    assert counted.numpy().tolist() == [[0, 0, 0, 1], [0, 2, 0, 0], [0, 0, 0, 0]]
    few = lab.sparse.bincount(IDS, maxlength=2, binary_output=True)
    assert lab.sparse.to_dense(few).numpy().tolist() == [1, 1]


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: lab.sparse.fill_empty_rows(lab.SparseTensor([], [], [2, 0]), 1.0), lab.errors.ShapeMismatch,
         "at least one element"),
        (lambda: lab.sparse.fill_empty_rows(lab.sparse.eye(2), [1.0, 2.0]), lab.errors.ShapeMismatch, "a scalar"),
        (lambda: lab.sparse.fill_empty_rows(lab.sparse.eye(2), "a"), lab.errors.LabError, "string|float32"),
        (lambda: lab.sparse.to_indicator(SEVEN, 3), lab.errors.InvalidArgumentError, "below 3"),
        (lambda: lab.sparse.bincount([-1]), lab.errors.InvalidArgumentError, "non-negative integers"),
        (lambda: lab.sparse.bincount([1], axis=1), lab.errors.InvalidArgumentError, "axis"),
        (lambda: lab.sparse.bincount([1], weights=[1.0, 2.0]), lab.errors.ShapeMismatch, "got 2"),
    ],
)  # fmt: skip
def test_refusals_say_why(call: Any, error: type[Exception], words: str) -> None:
    with refused(error, words):
        call()


def test_counts_have_the_dtype_of_int32_values_and_are_int64_otherwise() -> None:
    for dtype, expected in [("int32", "int32"), ("int64", "int64"), ("uint8", "int64")]:
        for more in ({}, {"axis": -1}, {"binary_output": True}):
            assert lab.sparse.bincount(lab.constant(IDS, dtype), **more).dtype.name == expected
    assert lab.sparse.bincount(IDS, weights=lab.ones((2, 3), "float64")).dtype.name == "float64"
