"""Linear algebra: public functions against NumPy and SciPy, compositions against differences, and refusals."""

from typing import Any

import numpy as np
import pytest
import scipy.linalg

import autodiff_lab as lab
from autodiff_lab.kernels.matmul import factors
from autodiff_lab.testing import check_gradient
from tests.ops.samples.linalg import apart, positive
from tests.refusals import refused

L = lab.linalg
rng = np.random.default_rng(3)
A, S, T = rng.normal(size=(3, 3)), positive(rng, 3, 3), rng.normal(size=(4, 3))
B = rng.normal(size=(3, 2))
PACKED, ORDER = L.lu(lab.constant(A))

BATCH = rng.normal(size=(3, 2, 4))
VALUES = {
    "inv": (L.inv(A), np.linalg.inv(A)),
    "inv adjoint": (L.inv(A, adjoint=True), np.linalg.inv(A.T)),
    "solve": (L.solve(A, B), np.linalg.solve(A, B)),
    "solve adjoint": (L.solve(A, B, adjoint=True), np.linalg.solve(A.T, B)),
    "triangular_solve": (L.triangular_solve(S, B), scipy.linalg.solve_triangular(S, B, lower=True)),
    "triangular_solve upper": (L.triangular_solve(S, B, lower=False), scipy.linalg.solve_triangular(S, B)),
    "triangular_solve adjoint": (
        L.triangular_solve(S, B, adjoint=True),
        scipy.linalg.solve_triangular(S, B, lower=True, trans=1),
    ),
    "det": (L.det(A), np.linalg.det(A)),
    "cholesky": (L.cholesky(S), np.linalg.cholesky(S)),
    "cholesky_solve": (L.cholesky_solve(np.linalg.cholesky(S), B), np.linalg.solve(S, B)),
    "logdet": (L.logdet(S), np.linalg.slogdet(S)[1]),
    "lstsq": (L.lstsq(T, rng.normal(size=(4, 1)) * 0 + 1), np.linalg.lstsq(T, np.ones((4, 1)), rcond=None)[0]),
    "pinv": (L.pinv(T), np.linalg.pinv(T)),
    "eigvalsh": (L.eigvalsh(S), np.linalg.eigvalsh(S)),
    "expm": (L.expm(A), scipy.linalg.expm(A)),
    "logm": (L.logm(S), scipy.linalg.logm(S)),
    "sqrtm": (L.sqrtm(S), scipy.linalg.sqrtm(S)),
    "lu_solve": (L.lu_solve(PACKED, ORDER, B), np.linalg.solve(A, B)),
    "lu_matrix_inverse": (L.lu_matrix_inverse(PACKED, ORDER), np.linalg.inv(A)),
    "lu_reconstruct": (L.lu_reconstruct(PACKED, ORDER), A),
    "tensordot": (lab.tensordot(T, S, 1), np.tensordot(T, S, 1)),
    "tensordot axes": (lab.tensordot(T, T, [[0, 1], [0, 1]]), np.tensordot(T, T, [[0, 1], [0, 1]])),
    "einsum trace": (lab.einsum("ii->", A), np.trace(A)),
    "einsum implicit": (lab.einsum("ij,jk", A, B), A @ B),
    "einsum ellipsis": (lab.einsum("...i,ij->...j", T, A), T @ A),
    "norm": (lab.norm(A, axis=1), np.linalg.norm(A, axis=1)),
    "norm 1": (lab.norm(A, 1, axis=0), np.abs(A).sum(0)),
    "norm inf": (lab.norm(A, np.inf), np.abs(A).max()),
    **{
        f"norm {order} of matrices, axes {axes}": (
            lab.norm(BATCH, order, axes, keep),
            np.linalg.norm(BATCH, "fro" if order == "euclidean" else order, axes, keep),
        )
        for order in ("fro", "euclidean", 1, 2, np.inf)
        for axes in ((-2, -1), (0, 2), (2, 0))
        for keep in (False, True)
    },
    "norm 3": (lab.norm(A, 3), (np.abs(A) ** 3).sum() ** (1 / 3)),
    "set_diag": (L.set_diag(A, [1.0, 2.0, 3.0]), A - np.diag(np.diag(A)) + np.diag([1.0, 2.0, 3.0])),
    "band_part": (L.band_part(A, 0, -1), np.triu(A)),
    "trace": (L.trace(A), np.trace(A)),
    "eigh_tridiagonal": (
        L.eigh_tridiagonal(np.array([1.0, 2.0, 4.0]), np.array([0.5, 0.2])),
        scipy.linalg.eigh_tridiagonal([1.0, 2.0, 4.0], [0.5, 0.2], eigvals_only=True),
    ),
    "matrix_rank": (L.matrix_rank(T), 3),
}


@pytest.mark.parametrize("name", VALUES)
def test_values_agree_with_numpy_and_scipy(name: str) -> None:
    got, want = VALUES[name]
    np.testing.assert_allclose(got.numpy(), want, 1e-9, 1e-9)


def test_factors_multiply_to_the_matrix() -> None:
    q, r = L.qr(T)
    np.testing.assert_allclose((q @ r).numpy(), T, 1e-12, 1e-12)
    s, u, v = L.svd(T)
    np.testing.assert_allclose(((u * s) @ lab.transpose(v)).numpy(), T, 1e-12, 1e-12)
    w, x = L.eigh(S)
    np.testing.assert_allclose(((x * w) @ lab.transpose(x)).numpy(), S, 1e-12, 1e-12)


COMPOSITIONS = {
    "pinv": (L.pinv, (T,)),
    "lstsq": (L.lstsq, (T, rng.normal(size=(4, 1)))),
    "logdet": (L.logdet, (S,)),
    "lu_reconstruct": (lambda a: L.lu_reconstruct(*L.lu(a)), (A,)),
    "lu_solve": (lambda a, b: L.lu_solve(*L.lu(a), b), (A, B)),
    "tensordot": (lambda a, b: lab.tensordot(a, b, [[1, 0], [0, 1]]), (T, rng.normal(size=(3, 4, 2)))),
    "einsum with a diagonal": (lambda a, b: lab.einsum("ii,ij->j", a, b), (A, B)),
    "norm 2 of matrices": (lambda a: lab.norm(a, 2, axis=(1, 2)), (BATCH,)),
    "norm 1 of matrices": (lambda a: lab.norm(a, 1, axis=(2, 0)), (BATCH,)),
    "norm inf of matrices": (lambda a: lab.norm(a, np.inf, axis=(1, 2), keepdims=True), (BATCH,)),
    "norm of order 3": (lambda a: lab.norm(a, 3, axis=1), (A,)),
    "set_diag": (L.set_diag, (A, rng.normal(size=3))),
    "eigh_tridiagonal": (L.eigh_tridiagonal, (np.array([1.0, 2.0, 4.0]), np.array([0.5, 0.2]))),
    "tridiagonal_solve": (
        lambda u, d, low, b: L.tridiagonal_solve((u, d, low), b),
        (*rng.normal(size=(1, 3)), np.array([4.0, 5.0, 6.0]), *rng.normal(size=(1, 3)), B),
    ),
    "powers of eigenvectors": (lambda a: L.eigh(a)[1] ** 2, (apart(rng, 3),)),
}


@pytest.mark.parametrize("name", COMPOSITIONS)
@pytest.mark.parametrize("order", [1, 2])
def test_derivatives_of_compositions_agree_with_differences(name: str, order: int) -> None:
    function, inputs = COMPOSITIONS[name]
    check = check_gradient(function, *inputs, order=order)
    assert check, str(check)


SHARING = {
    "solve": (L.solve, (A, B)),
    "solve adjoint": (lambda a, b: L.solve(a, b, adjoint=True), (A, B)),
    "solve a stack": (L.solve, (A, rng.normal(size=(2, 3, 2)))),
    "solve stacks": (L.solve, (S + rng.normal(size=(2, 1, 3, 3)) / 9, rng.normal(size=(2, 3, 1)))),
    "inv": (L.inv, (S + rng.normal(size=(2, 3, 3)) / 9,)),
    "det": (L.det, (A,)),
    "slogdet": (lambda a, b: L.slogdet(a)[1] + lab.reduce_sum(L.solve(a, b) * b), (A, B)),
}


@pytest.mark.parametrize("name", SHARING)
@pytest.mark.parametrize("order", [1, 2])
def test_derivatives_by_kept_factors_agree_with_differences(name: str, order: int, monkeypatch: Any) -> None:
    monkeypatch.setattr(factors, "KEPT", 0)
    function, inputs = SHARING[name]
    check = check_gradient(function, *inputs, order=order)
    assert check, str(check)


def test_a_compiled_function_factors_a_matrix_once() -> None:
    """For a system and a determinant, and for their first and second derivatives."""

    def second(a: Any, b: Any) -> Any:
        with lab.GradientTape() as outer:
            outer.watch(a)
            with lab.GradientTape() as tape:
                tape.watch(a)
                value = L.slogdet(a)[1] + lab.reduce_sum(L.solve(a, b) * b)
            slope = tape.gradient(value, a)
            along = lab.reduce_sum(slope * slope)
        return value, slope, outer.gradient(along, a)

    n = factors.KEPT + 1
    compiled, given = lab.function(second), (rng.normal(size=(n, n)) / 6 + np.eye(n), rng.normal(size=(n, 1)))
    tensors = [lab.constant(x) for x in given]
    compiled(*tensors)
    assert str(compiled.program).count("lu_factors(") == 1
    for found, expected in zip(compiled(*tensors), second(*tensors), strict=True):
        np.testing.assert_allclose(found.numpy(), expected.numpy(), 1e-9, 1e-9)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: L.inv(T), r"inv: expected a square matrix .* got shape \(4, 3\)"),
        (lambda: L.inv([[1, 2], [3, 4]]), "inv: expected a float32, float64, complex64 or complex128 matrix"),
        (lambda: L.inv([[1.0, 1.0], [1.0, 1.0]]), "singular"),
        (lambda: L.cholesky([[1.0, 2.0], [2.0, 1.0]]), "not positive definite"),
        (lambda: L.solve(A, [1.0, 2.0, 3.0]), "float64 .matrix. and float32|expected right-hand sides"),
        (lambda: lab.einsum("ij,jk->ik", T, T), "subscript j has lengths 3 and 4"),
        (lambda: lab.einsum("ij->i", A, A), "expected 1 operands, got 2"),
        (lambda: lab.tensordot(T, T, 1), "lengths"),
        (lambda: L.cross([1.0, 2.0], [1.0, 2.0]), r"two tensors \(\*b, 3\)"),
        (lambda: lab.norm(A, ord="taxi"), "unknown ord 'taxi'"),
        (lambda: lab.norm(A, 3, axis=[0, 1]), "for matrices ord must be"),
        (lambda: lab.norm(A, -1), "positive"),
        (lambda: lab.norm(A, axis=[0, 0]), "duplicates"),
        (lambda: lab.norm(A, axis=2), "out of bounds"),
        (lambda: lab.norm([1, 2]), "int32"),
        (lambda: L.trace([1.0, 2.0]), "a matrix"),
    ],
)
def test_refusals_name_the_op_and_what_it_expects(call: object, words: str) -> None:
    with refused(lab.errors.LabError, words):
        call()  # type: ignore[operator]


def test_a_stack_of_matrices_times_one_matrix_is_one_product_forwards_and_backwards() -> None:
    """Else the gradient of the matrix would be a stack as large as the input, added up afterwards."""
    x, w = lab.constant(np.ones((5, 3, 4))), lab.constant(np.ones((4, 2)))
    with lab.record() as recording:
        with lab.GradientTape() as tape:
            tape.watch([x, w])
            y = lab.matmul(x, w)
            loss = lab.reduce_sum(y * y)
        tape.gradient(loss, [x, w])
    shapes = [tuple(recording.tensors[a.outputs[0]].snapshot.shape) for a in recording.applications if a.op == "matmul"]
    assert shapes[0] == (5, 3, 2)
    assert (5, 4, 2) not in shapes
    assert (4, 2) in shapes


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("n", [1, 2, 5])
def test_exponentials_of_stacks_are_those_of_their_matrices(n: int, dtype: str) -> None:
    draw = np.random.default_rng(5)
    sizes = np.array([1e-9, 0.1, 1.0, 3.0, 9.0, 20.0]).reshape(2, 3, 1, 1) / np.sqrt(n)
    x = (draw.normal(size=(2, 3, n, n)) * sizes).astype(dtype)
    if dtype.startswith("c"):
        x = x + 1j * x.swapaxes(-1, -2)
    found = L.expm(x).numpy()
    assert found.dtype == x.dtype
    wide = x.astype("complex128" if dtype.startswith("c") else "float64")
    for ours, matrix in zip(found.reshape(-1, n, n), wide.reshape(-1, n, n), strict=True):
        wanted = scipy.linalg.expm(matrix)
        within = np.finfo(dtype).eps * 100 * max(1, np.abs(matrix).sum())
        np.testing.assert_allclose(ours, wanted, rtol=within, atol=within * np.abs(wanted).max())


def test_exponentials_of_a_stack_have_gradients_and_bear_what_is_not_finite() -> None:
    x = 0.5 * np.random.default_rng(6).normal(size=(5, 3, 3))
    assert check_gradient(lambda x: lab.reduce_sum(L.expm(x) ** 2), x)
    x[1, 0, 2], x[3, 1, 1] = np.nan, np.inf
    kept = np.isfinite(L.expm(x).numpy()).all(axis=(1, 2))
    assert kept.tolist() == [True, False, True, False, True]
    assert L.expm(lab.zeros((0, 4, 4))).shape == (0, 4, 4)
