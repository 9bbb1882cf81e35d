"""Matrices of two and three rows: every order in which elimination may exchange rows, and what has no inverse."""

import itertools
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.kernels.matmul import factors, little, tiny
from tests.kernels.agreement import agree, declined

assert lab.linalg.inv  # the families of these kernels load


def orders(n: int, dtype: str) -> Any:
    """Return a stack with a dominant element of each column in each possible row, a few of each."""
    rng = np.random.default_rng(4)
    large = np.concatenate([4 * np.eye(n)[list(rows)][None] for rows in itertools.permutations(range(n))] * 5)
    return (large * rng.choice([-1, 1], size=large.shape) + rng.normal(size=large.shape) / 2).astype(dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n", [2, 3])
def test_all_orders_of_rows_agree(n: int, dtype: str) -> None:
    pytest.importorskip("numba", reason="overrides need Numba")
    x, near = orders(n, dtype), 1e-5 if dtype == "float32" else 1e-12
    b = np.random.default_rng(5).normal(size=(*x.shape[:-1], 4)).astype(dtype)
    for left in (x, x.swapaxes(-1, -2)):
        agree("inverse_all", left, tolerance=near)
        agree("determinant_all", left, tolerance=near)
        for right in (b, b[..., :1], b.swapaxes(-1, -2).copy().swapaxes(-1, -2)):
            agree("solve_all", left, right, tolerance=near)


@pytest.mark.parametrize("n", [2, 3])
def test_compiled_functions_take_them_too(n: int) -> None:
    x = lab.constant(orders(n, "float64"))
    b = lab.ones([x.shape[0], n, 2], dtype=lab.float64)

    @lab.function
    def compiled(x: Any, b: Any) -> Any:
        return lab.linalg.inv(x) + 1.0, lab.linalg.det(x) + 1.0, lab.linalg.solve(x, b) + 1.0, *lab.linalg.slogdet(x)

    assert compiled.compile(x, b), compiled.why()
    assert not compiled.skipped
    sign, logarithm = np.linalg.slogdet(x.numpy())
    expected = [np.linalg.inv(x.numpy()) + 1, np.linalg.det(x.numpy()) + 1, np.linalg.solve(x.numpy(), b.numpy()) + 1]
    for found, right in zip(compiled(x, b), [*expected, sign, logarithm], strict=True):
        np.testing.assert_allclose(found, right, 1e-12, 1e-12)


@pytest.mark.parametrize("n", [2, 3])
def test_a_matrix_without_an_inverse_is_left_to_numpy_wherever_it_lies(n: int) -> None:
    pytest.importorskip("numba", reason="overrides need Numba")
    for place in (0, 3):
        for fault in (np.zeros((n, n)), np.ones((n, n)), np.eye(n) * np.nan, np.diag([1.0] * (n - 1) + [np.nan])):
            x = np.stack([np.eye(n)] * 4)
            x[place] = fault
            assert declined("inverse_all", x)
            assert declined("determinant_all", x)
            assert declined("solve_all", x, np.ones((4, n, 1)))
    assert factors.inverse(-2 * np.stack([np.eye(n)] * 4)).tolist() == [(np.eye(n) * -0.5 + 0).tolist()] * 4


def test_larger_ones_are_eliminated_in_arrays() -> None:
    shared = {"determinant", "determinant_log", "determinant_sign", "inverse", "solve"}
    assert shared <= set(vars(tiny)) & set(vars(little))
