"""Factorizations by LAPACK: what they multiply to, for every dtype, alone and in stacks, and their errors."""

from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.kernels.base.choose import use_kernels
from autodiff_lab.kernels.matmul import factors
from tests.kernels.agreement import agree, declined

assert lab.linalg.triangular_solve  # the families of these kernels load
DTYPES = ("float32", "float64", "complex64", "complex128")
# Matrices alone, stacks of matrices too small for LAPACK to be called for each, and of larger ones.
STACKS = [((), 5), ((), 33), ((3,), 4), ((2, 3), 17)]
CASES = [(dtype, stack, n) for dtype in DTYPES for stack, n in STACKS]


def draw(dtype: str, *shape: int) -> Any:
    rng = np.random.default_rng(0)
    x = rng.normal(size=shape)
    return (x + 1j * rng.normal(size=shape) if dtype[0] == "c" else x).astype(dtype)


def turned(x: Any) -> Any:
    return np.conj(np.swapaxes(x, -1, -2))


def close(found: Any, expected: Any, n: int) -> None:
    assert found.dtype == expected.dtype
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, atol=100 * n * np.finfo(expected.dtype).eps, rtol=0)


@pytest.mark.parametrize(("dtype", "stack", "n"), CASES)
def test_the_cholesky_factor_times_its_adjoint_is_the_matrix(dtype: str, stack: tuple[int, ...], n: int) -> None:
    x = draw(dtype, *stack, n, n) / n
    x = x @ turned(x) + np.eye(n, dtype=dtype)
    found = factors.cholesky(x.copy())
    close(found @ turned(found), x, n)
    np.testing.assert_array_equal(found, np.tril(found))
    assert np.all(np.diagonal(found, axis1=-2, axis2=-1).real > 0)


@pytest.mark.parametrize(("dtype", "stack", "n"), CASES)
def test_the_inverse_times_the_matrix_is_the_identity(dtype: str, stack: tuple[int, ...], n: int) -> None:
    x = draw(dtype, *stack, n, n) / n + np.eye(n, dtype=dtype)
    before = x.copy()
    close(factors.inverse(x) @ x, np.broadcast_to(np.eye(n, dtype=dtype), x.shape), n)
    np.testing.assert_array_equal(x, before)


@pytest.mark.parametrize(("dtype", "stack", "n"), CASES)
def test_lu_factors_serve_what_needs_them(dtype: str, stack: tuple[int, ...], n: int) -> None:
    x = draw(dtype, *stack, n, n) / n + np.eye(n, dtype=dtype)[::-1]
    lu = factors.lu(x)
    stacked = draw(dtype, 2, *stack, n, 3)
    for transposed in (False, True):
        for b in (stacked, stacked[0], stacked[0, ..., :1]):
            expected = np.linalg.solve(np.swapaxes(x, -1, -2) if transposed else x, b)
            close(factors.solve(x, b, *lu, transposed=transposed), expected, n)
            close(factors.solve(x, b, transposed=transposed), expected, n)
    close(factors.inverse(x, *lu), np.linalg.inv(x), n)
    close(factors.determinant(x, *lu), np.linalg.det(x), n)
    for found, expected in zip(factors.slogdet(x, *lu), np.linalg.slogdet(x), strict=True):
        close(found, expected.astype(found.dtype), n)


@pytest.mark.parametrize(("dtype", "full"), [(dtype, full) for dtype in DTYPES for full in (False, True)])
def test_orthonormal_columns_and_a_triangle_make_up_the_matrix(dtype: str, full: bool) -> None:
    for shape in ((5, 5), (33, 4), (4, 33), (1, 1), (3, 5, 4)):
        x = draw(dtype, *shape)
        q, r = factors.qr(x, full)
        for found, expected in zip((q, r), np.linalg.qr(x, "complete" if full else "reduced"), strict=True):
            close(found, expected, 40)


@pytest.mark.parametrize(("dtype", "stack", "n"), CASES)
def test_eigenvalues_and_vectors_make_up_the_lower_triangle(dtype: str, stack: tuple[int, ...], n: int) -> None:
    x = draw(dtype, *stack, n, n) / n
    x = x + turned(x)
    w, v = factors.eigh(np.tril(x) + 7 * np.triu(np.ones((n, n), dtype), 1))
    assert np.all(np.diff(w, axis=-1) >= 0)
    assert w.dtype == x.real.dtype
    close(v * w[..., None, :].astype(dtype) @ turned(v), x, n)
    close(turned(v) @ v, np.broadcast_to(np.eye(n, dtype=dtype), x.shape), n)


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize(("dtype", "stack", "n"), CASES)
def test_singular_values_and_vectors_make_up_the_matrix(dtype: str, stack: tuple[int, ...], n: int,
                                                        full: bool) -> None:  # fmt: skip
    for shape in ((n, n), (n + 2, n), (n, n + 3)):
        x = draw(dtype, *stack, *shape)
        k = min(shape)
        s, u, v = factors.svd(x, full)
        assert s.dtype == x.real.dtype
        assert (u.shape[-1], v.shape[-1]) == (shape if full else (k, k))
        assert np.all(np.diff(s, axis=-1) <= 0)
        close(u[..., :k] * s[..., None, :].astype(dtype) @ turned(v[..., :k]), x, 3 * n)
        close(turned(u) @ u, np.broadcast_to(np.eye(u.shape[-1], dtype=dtype), (*stack, *[u.shape[-1]] * 2)), n)
        close(turned(v) @ v, np.broadcast_to(np.eye(v.shape[-1], dtype=dtype), (*stack, *[v.shape[-1]] * 2)), n)


@pytest.mark.parametrize("layout", ["fortran", "strided", "read-only"])
def test_arrays_of_every_layout_are_left_as_they_are(layout: str) -> None:
    x = draw("float64", 20, 20)
    x = x @ x.T + np.eye(20)
    given = {"fortran": np.asfortranarray(x), "strided": np.repeat(x, 2, 1)[:, ::2], "read-only": x.copy()}[layout]
    given.flags.writeable = layout != "read-only"
    np.testing.assert_allclose(factors.inverse(given), np.linalg.inv(x), 1e-6, 1e-8)
    np.testing.assert_allclose(factors.eigh(given)[0], np.linalg.eigvalsh(x), 1e-8)
    np.testing.assert_allclose(factors.svd(given, False)[0], np.linalg.svd(x, compute_uv=False), 1e-8)
    np.testing.assert_array_equal(given, x)


@pytest.mark.parametrize("n", [3, 20])
def test_what_has_no_factors_is_an_error_and_nothing_hangs(n: int) -> None:
    with pytest.raises(np.linalg.LinAlgError, match="not positive definite"):
        factors.cholesky(-np.eye(n))
    with pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
        factors.inverse(np.zeros((n, n)))
    zero, lu = np.zeros((n, n)), factors.lu(np.zeros((n, n)))
    for function in (factors.inverse, lambda x, *lu: factors.solve(x, x, *lu)):
        with pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
            function(zero, *lu)
    huge = np.diag([1e200, 1e200, 1e-200, 1e-200])
    with np.errstate(all="ignore"):
        assert factors.determinant(zero, *lu) == 0
        assert [float(part) for part in factors.slogdet(zero, *lu)] == [0, -np.inf]
        assert factors.determinant(huge, *factors.lu(huge)) == pytest.approx(1)
    with pytest.raises(np.linalg.LinAlgError):
        factors.svd(np.full((n, n), np.nan), False)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("lower", [True, False])
def test_triangular_systems_of_a_stack_agree_in_every_layout(lower: bool, dtype: str) -> None:
    pytest.importorskip("numba", reason="overrides need Numba")
    rng = np.random.default_rng(8)
    for stack, n, k in (((5,), 3, 4), ((2, 3), 6, 1), ((70,), 8, 50), ((4,), 1, 3), ((2,), 30, 2)):
        a = (rng.normal(size=(*stack, n, n)) / n + 2 * np.eye(n)).astype(dtype)
        b = rng.normal(size=(*stack, n, k)).astype(dtype)
        for left in (a, a.swapaxes(-1, -2), a[..., ::-1, ::-1]):
            for right in (b, b.swapaxes(-1, -2).copy().swapaxes(-1, -2), b[..., ::-1]):
                agree("solve_stack", left, right, lower=lower, tolerance=1e-5 if dtype == "float32" else 1e-12)
    a[:, 0, 0] = 0
    agree("solve_stack", a, b, lower=lower)
    assert declined("solve_stack", a, b[0], lower=lower)
    assert declined("solve_stack", a[0], b, lower=lower)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_stacks_of_small_matrices_agree_in_every_layout(dtype: str) -> None:
    pytest.importorskip("numba", reason="overrides need Numba")
    rng, near = np.random.default_rng(9), 1e-5 if dtype == "float32" else 1e-12
    for stack, n, k in (((5,), 3, 4), ((2, 3), 6, 1), ((300,), 8, 5), ((4,), 1, 3), ((2,), 15, 2)):
        a = (rng.normal(size=(*stack, n, n)) / n + np.eye(n)[::-1] * 2).astype(dtype)  # rows must be exchanged
        b = rng.normal(size=(*stack, n, k)).astype(dtype)
        for left in (a, a.swapaxes(-1, -2), a[..., ::-1, ::-1]):
            agree("inverse_all", left, tolerance=near)
            agree("determinant_all", left, tolerance=near * 2.0**n)
            for right in (b, b.swapaxes(-1, -2).copy().swapaxes(-1, -2), b[..., ::-1]):
                agree("solve_all", left, right, tolerance=near)


def test_stacks_with_a_singular_matrix_are_left_to_numpy() -> None:
    pytest.importorskip("numba", reason="overrides need Numba")
    a, b = np.stack([np.eye(3), np.ones((3, 3))]), np.ones((2, 3, 1))
    assert declined("solve_all", a, b)
    assert declined("solve_all", a, b[0])
    assert declined("inverse_all", a)
    assert declined("determinant_all", np.full_like(a, np.nan))
    for function in (lambda: factors.solve(a, b), lambda: factors.inverse(a)):
        with use_kernels("numba"), pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
            function()
    with use_kernels("numba"):
        assert factors.determinant(a).tolist() == [1, 0]
