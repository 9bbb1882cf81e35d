"""Every function of linear algebra, by dtype and shape: values against NumPy and SciPy, gradients against differences.

A gradient is compared along random directions, first and second order, so that a case costs a few calls however many
elements it has.  Eigenvectors and singular vectors are defined up to a phase, and a basis of a null space up to a
rotation: the functions here are independent of that choice.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.linalg

import autodiff_lab as lab

L = lab.linalg
SQUARE = [(3, 3), (1, 1), (2, 3, 3)]
ANY = [*SQUARE, (4, 2), (2, 4), (2, 3, 2), (2, 2, 3)]
EMPTY = [(0, 0), (2, 0, 0), (0, 3, 3)]
EMPTY_ANY = [*EMPTY, (0, 3), (3, 0), (2, 0, 3), (2, 3, 0)]
DTYPES = ["float32", "float64", "complex64", "complex128"]


def adjoint(x: np.ndarray) -> np.ndarray:
    return np.conj(np.swapaxes(x, -1, -2))


def drawn(seed: int, shape: tuple[int, ...], dtype: str) -> np.ndarray:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=shape)
    return (x + 1j * rng.normal(size=shape) if dtype.startswith("c") else x).astype(dtype)


def near_identity(x: np.ndarray) -> np.ndarray:
    """A matrix with distinct eigenvalues and singular values, away from 0 and from the negative axis."""
    m, n = x.shape[-2:]
    spread = np.zeros((m, n))
    k = min(m, n)
    spread[range(k), range(k)] = 2 + 1.5 * np.arange(k)
    return (0.4 * x + spread).astype(x.dtype)


def positive(x: np.ndarray) -> np.ndarray:
    x = near_identity(x)
    return (x @ adjoint(x)).astype(x.dtype)


def hermitian(x: np.ndarray) -> np.ndarray:
    x = near_identity(x)
    return ((x + adjoint(x)) / 2).astype(x.dtype)


def each(function: Callable[[np.ndarray], Any], x: np.ndarray) -> np.ndarray:
    flat = [function(m) for m in x.reshape(int(np.prod(x.shape[:-2])), *x.shape[-2:])]
    return np.array(flat, x.dtype).reshape(*x.shape[:-2], *np.shape(function(x[(0,) * (x.ndim - 2)])))


def spectrum(w: Any, power: float) -> Any:
    """A smooth function of each value that tells them apart."""
    return lab.reduce_sum(lab.pow(w, power), -1)


def of_eigenvectors(a: Any) -> Any:
    w, v = L.eigh(a)
    weight = lab.cast(w * w, v.dtype)
    return L.matmul(v * lab.expand_dims(weight, -2), v, adjoint_b=True)


def of_general_eigenvectors(a: Any) -> Any:
    w, v = L.eig(a)
    return L.matmul(v * lab.expand_dims(w * w, -2), L.inv(v))


def of_singular_vectors(a: Any) -> Any:
    s, u, v = L.svd(a)
    return L.matmul(u * lab.expand_dims(lab.cast(s * s, u.dtype), -2), v, adjoint_b=True)


def of_null_space(a: Any) -> Any:
    _, u, v = L.svd(a, full_matrices=True)
    k = min(a.shape[-2:])
    rest, beside = u[..., :, k:], v[..., :, k:]
    return lab.concat([lab.reshape(L.matmul(p, p, adjoint_b=True), [-1]) for p in (rest, beside)], 0)


def of_complement(a: Any) -> Any:
    q, r = L.qr(a, full_matrices=True)
    k = min(a.shape[-2:])
    rest = q[..., :, k:]
    projector = L.matmul(rest, rest, adjoint_b=True)
    return lab.concat([lab.reshape(x, [-1]) for x in (projector, q[..., :, :k], r)], 0)


def qr_pair(a: Any) -> Any:
    return lab.concat([lab.reshape(x, [-1]) for x in L.qr(a)], 0)


def joined(*parts: Any) -> Any:
    """Tensors of one dtype or its real kin as one vector."""
    wide = next((p.dtype for p in parts if p.dtype.is_complex), parts[0].dtype)
    return lab.concat([lab.reshape(lab.cast(p, wide), [-1]) for p in parts], 0)


def solved(kind: str) -> Callable[[Any], Any]:
    """A system whose right-hand side depends on the matrix too, so that both gradients are in what is compared."""

    def run(a: Any) -> Any:
        b = (a * a)[..., :, :2]
        if kind == "solve":
            return L.solve(a, b) + L.solve(a, b, adjoint=True)
        if kind == "lower":
            return L.triangular_solve(a, b) + L.triangular_solve(a, b, adjoint=True)
        if kind == "upper":
            return L.triangular_solve(a, b, lower=False) + L.triangular_solve(a, b, lower=False, adjoint=True)
        if kind == "lu":
            return L.lu_solve(*L.lu(a), b)
        if kind == "tridiagonal":
            return L.tridiagonal_solve(a, b, diagonals_format="matrix")
        if kind == "lstsq slow":
            return L.lstsq(a, b, fast=False)
        return L.lstsq(a, b, l2_regularizer=0.3 if kind == "ridge" else 0.0)

    return run


def by_numpy(kind: str) -> Callable[[np.ndarray], np.ndarray]:
    def run(a: np.ndarray) -> np.ndarray:
        b = (a * a)[..., :, :2]
        both = [a, adjoint(a)]
        if kind == "solve":
            return np.linalg.solve(both[0], b) + np.linalg.solve(both[1], b)
        if kind in ("lower", "upper"):
            cut = np.tril(a) if kind == "lower" else np.triu(a)
            return np.linalg.solve(cut, b) + np.linalg.solve(adjoint(cut), b)
        if kind == "lu":
            return np.linalg.solve(a, b)
        if kind == "tridiagonal":
            return np.linalg.solve(np.triu(np.tril(a, 1), -1), b)
        if kind == "ridge":
            n = a.shape[-1]
            return np.linalg.solve(adjoint(a) @ a + 0.3 * np.eye(n), adjoint(a) @ b)
        return np.linalg.pinv(a) @ b

    return run


Case = tuple[Callable[[Any], Any], Callable[[np.ndarray], Any] | None, Callable[[np.ndarray], np.ndarray], list[Any]]
CASES: dict[str, Case] = {
    "inv": (L.inv, np.linalg.inv, near_identity, SQUARE),
    "inv adjoint": (lambda a: L.inv(a, adjoint=True), lambda a: np.linalg.inv(adjoint(a)), near_identity, SQUARE),
    "det": (L.det, np.linalg.det, near_identity, SQUARE),
    "slogdet": (lambda a: joined(*L.slogdet(a)), None, near_identity, SQUARE),
    "logdet": (L.logdet, lambda a: np.linalg.slogdet(a)[1], positive, SQUARE),
    "cholesky": (L.cholesky, np.linalg.cholesky, positive, SQUARE),
    "cholesky_solve": (
        lambda a: L.cholesky_solve(L.cholesky(a), a[..., :, :1]),
        lambda a: np.linalg.solve(a, a[..., :, :1]),
        positive,
        SQUARE,
    ),
    "eigvalsh": (lambda a: spectrum(L.eigvalsh(a), 1.5), None, hermitian, SQUARE),
    "eigh": (of_eigenvectors, lambda a: a @ a, hermitian, SQUARE),
    "eigvals": (lambda a: lab.reduce_sum(L.eigvals(a) ** 2, -1), None, near_identity, SQUARE),
    "eig": (of_general_eigenvectors, lambda a: a @ a, near_identity, SQUARE),
    "expm": (L.expm, lambda a: each(scipy.linalg.expm, a), lambda x: x, SQUARE),
    "logm": (L.logm, lambda a: each(scipy.linalg.logm, a), positive, SQUARE),
    "sqrtm": (L.sqrtm, lambda a: each(scipy.linalg.sqrtm, a), positive, SQUARE),
    "lu": (lambda a: L.lu(a)[0], None, near_identity, SQUARE),
    "lu_reconstruct": (lambda a: L.lu_reconstruct(*L.lu(a)), lambda a: a, near_identity, SQUARE),
    "lu_matrix_inverse": (lambda a: L.lu_matrix_inverse(*L.lu(a)), np.linalg.inv, near_identity, SQUARE),
    **{f"solve: {kind}": (solved(kind), by_numpy(kind), near_identity, SQUARE) for kind in ("solve", "lower", "upper")},
    **{f"solve: {kind}": (solved(kind), by_numpy(kind), near_identity, SQUARE) for kind in ("lu", "tridiagonal")},
    **{
        f"solve: {kind}": (solved(kind), by_numpy(kind), near_identity, ANY)
        for kind in ("lstsq", "lstsq slow", "ridge")
    },
    "qr": (qr_pair, None, near_identity, ANY),
    "qr, full": (of_complement, None, near_identity, ANY),
    "singular values": (
        lambda a: spectrum(L.svd(a, compute_uv=False), 1.5),
        lambda a: (np.linalg.svd(a, compute_uv=False) ** 1.5).sum(-1),
        near_identity,
        ANY,
    ),
    "svd": (of_singular_vectors, None, near_identity, ANY),
    "svd, full": (of_null_space, None, near_identity, ANY),
    "pinv": (L.pinv, np.linalg.pinv, near_identity, ANY),
    "norm 2": (lambda a: lab.norm(a, 2, axis=[-2, -1]), lambda a: np.linalg.norm(a, 2, (-2, -1)), near_identity, ANY),
    "norm": (
        lambda a: lab.math.real(lab.norm(a, axis=[-2, -1])),
        lambda a: np.linalg.norm(a, axis=(-2, -1)),
        near_identity,
        ANY,
    ),
    "adjoint": (L.adjoint, adjoint, lambda x: x, ANY),
    "matmul": (
        lambda a: L.matmul(a, a, adjoint_a=True) @ L.matmul(a, a, transpose_a=True),
        lambda a: (adjoint(a) @ a) @ (np.swapaxes(a, -1, -2) @ a),
        lambda x: x,
        ANY,
    ),
    "matvec": (
        lambda a: L.matvec(a, a[..., :, 0], adjoint_a=True),
        lambda a: (adjoint(a) @ a[..., :, :1])[..., 0],
        lambda x: x,
        ANY,
    ),
    "einsum": (
        lambda a: lab.einsum("...ij,...kj,...kl->...il", a, a, a),
        lambda a: a @ np.swapaxes(a, -1, -2) @ a,
        lambda x: x,
        ANY,
    ),
    "tensordot": (
        lambda a: lab.tensordot(a, a, [[-1], [-1]]),
        lambda a: np.tensordot(a, a, [[-1], [-1]]),
        lambda x: x,
        ANY,
    ),
    "trace": (L.trace, lambda a: np.trace(a, axis1=-2, axis2=-1), lambda x: x, ANY),
    "band_part": (lambda a: L.band_part(a, 1, 0) * a, lambda a: np.tril(np.triu(a, -1)) * a, lambda x: x, ANY),
    "tridiagonal_matmul": (
        lambda a: L.tridiagonal_matmul(a, a, diagonals_format="matrix"),
        lambda a: np.triu(np.tril(a, 1), -1) @ a,
        lambda x: x,
        SQUARE,
    ),
}
CALLS = [(name, shape) for name, case in CASES.items() for shape in case[3]]
WIDTH = {"complex64": "complex128", "float32": "float64"}


def sample(name: str, shape: tuple[int, ...], dtype: str) -> np.ndarray:
    return CASES[name][2](drawn(len(name) + 7 * len(shape), shape, dtype))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("name", "shape"), CALLS)
def test_values_agree_with_numpy_and_scipy(name: str, shape: tuple[int, ...], dtype: str) -> None:
    function, reference, *_ = CASES[name]
    x = sample(name, shape, dtype)
    got = function(lab.constant(x)).numpy()
    wide = x.astype(WIDTH.get(dtype, dtype))
    want = np.asarray(reference(wide)) if reference else function(lab.constant(wide)).numpy()
    assert got.shape == want.shape
    assert np.finfo(got.dtype).eps == np.finfo(x.dtype).eps
    exact = dtype.endswith(("64", "128")) and dtype != "complex64"
    np.testing.assert_allclose(got, want, *((1e-9, 1e-9) if exact else (3e-3, 3e-3)))


def loss(value: Any) -> Any:
    """A real number that depends on both parts of each element."""
    flat = lab.reshape(value, [-1])
    weights = np.cos(np.arange(flat.shape[0]) + 0.5)
    real = lab.math.real(flat)
    total = lab.reduce_sum(real * weights + 0.1 * real * real)
    if value.dtype.is_complex:
        imag = lab.math.imag(flat)
        total = total + lab.reduce_sum(imag * (weights - 0.2) + 0.2 * imag * real)
    return total


def along(gradient: Any, direction: np.ndarray) -> Any:
    """What a step in a direction changes, by the convention that a gradient is ∂L/∂x + i·∂L/∂y."""
    return lab.reduce_sum(lab.math.real(lab.math.conj(gradient) * direction))


@pytest.mark.slow(keep=60)
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize(("name", "shape"), CALLS)
def test_gradients_agree_with_differences(name: str, shape: tuple[int, ...], dtype: str) -> None:
    function = CASES[name][0]
    x = sample(name, shape, dtype)
    direction, other = drawn(3, shape, dtype), drawn(4, shape, dtype)
    if CASES[name][2] in (positive, hermitian):
        direction, other = direction + adjoint(direction), other + adjoint(other)

    def slope(point: Any) -> Any:
        with lab.GradientTape() as tape:
            tape.watch(point)
            value = loss(function(point))
        return along(tape.gradient(value, point), direction)

    z = lab.constant(x)
    with lab.GradientTape() as tape:
        tape.watch(z)
        first = slope(z)
    second = float(along(tape.gradient(first, z), other))
    step = 1e-5
    moved = [float(loss(function(lab.constant(x + sign * step * direction)))) for sign in (1, -1)]
    assert float(first) == pytest.approx((moved[0] - moved[1]) / (2 * step), 2e-6, 2e-6)
    slopes = [float(slope(lab.constant(x + sign * step * other))) for sign in (1, -1)]
    assert second == pytest.approx((slopes[0] - slopes[1]) / (2 * step), 1e-5, 1e-5)


def shapes(value: Any) -> Any:
    return [tuple(x.shape) for x in value] if isinstance(value, (tuple, list)) else tuple(value.shape)


NO_COLUMNS: dict[str, Callable[[Any], Any]] = {
    "inv": L.inv, "det": L.det, "slogdet": L.slogdet, "cholesky": L.cholesky, "logdet": L.logdet, "expm": L.expm,
    "logm": L.logm, "sqrtm": L.sqrtm, "lu": L.lu, "eigh": L.eigh, "eigvalsh": L.eigvalsh, "eig": L.eig,
    "solve": lambda a: L.solve(a, a[..., :, :1]), "triangular_solve": lambda a: L.triangular_solve(a, a[..., :, :2]),
    "cholesky_solve": lambda a: L.cholesky_solve(a, a), "tridiagonal_solve": lambda a: L.tridiagonal_solve(
        a, a, diagonals_format="matrix"), "tridiagonal_matmul": lambda a: L.tridiagonal_matmul(
        a, a, diagonals_format="matrix"), "lu_solve": lambda a: L.lu_solve(*L.lu(a), a),
    "lu_matrix_inverse": lambda a: L.lu_matrix_inverse(*L.lu(a)),
}  # fmt: skip
NO_ELEMENTS: dict[str, Callable[[Any], Any]] = {
    "qr": L.qr, "qr full": lambda a: L.qr(a, full_matrices=True), "svd": L.svd,
    "svd full": lambda a: L.svd(a, full_matrices=True), "pinv": L.pinv, "matrix_rank": L.matrix_rank,
    "diag_part": L.diag_part, "trace": L.trace, "diag": L.diag, "adjoint": L.adjoint,
    "lstsq": lambda a: L.lstsq(a, a), "lstsq slow": lambda a: L.lstsq(a, a, fast=False),
    "norm": lambda a: lab.norm(a, axis=[-2, -1]), "band_part": lambda a: L.band_part(a, 0, 0),
    "tensor_diag": L.tensor_diag, "matmul": lambda a: L.matmul(a, a, adjoint_a=True),
    "einsum": lambda a: lab.einsum("...ij,...ij->...i", a, a), "tensordot": lambda a: lab.tensordot(a, a, [[-1], [-1]]),
}  # fmt: skip
WANTED: dict[str, Callable[[Any], Any]] = {
    "det": lambda a: np.ones(a.shape[:-2]), "trace": lambda a: np.zeros(a.shape[:-2]),
    "norm": lambda a: np.zeros(a.shape[:-2]), "logdet": lambda a: np.zeros(a.shape[:-2]),
    "matrix_rank": lambda a: np.zeros(a.shape[:-2]), "pinv": lambda a: np.zeros((*a.shape[:-2], *a.shape[:-3:-1])),
    "lstsq": lambda a: np.zeros((*a.shape[:-2], a.shape[-1], a.shape[-1])),
    "qr full": lambda a: (np.zeros((*a.shape[:-1], a.shape[-2])) + np.eye(a.shape[-2]), np.zeros(a.shape)),
}  # fmt: skip


@pytest.mark.parametrize("dtype", ["float32", "complex128"])
@pytest.mark.parametrize(
    ("name", "shape"),
    [(name, s) for name in NO_COLUMNS for s in EMPTY] + [(name, s) for name in NO_ELEMENTS for s in EMPTY_ANY],
)
def test_empty_matrices_have_results_and_gradients(name: str, shape: tuple[int, ...], dtype: str) -> None:
    function = {**NO_COLUMNS, **NO_ELEMENTS}[name]
    x = lab.constant(np.zeros(shape, dtype))
    with lab.GradientTape() as tape:
        tape.watch(x)
        y = function(x)
    if name in WANTED and (not x.shape[-1] or not x.shape[-2]):
        want = WANTED[name](x)
        for got, expected in zip(y, want, strict=True) if isinstance(want, tuple) else [(y, want)]:
            np.testing.assert_allclose(abs(got.numpy()), expected)
    one = L.eye(2, batch_shape=shape[:-2], dtype=dtype) if len(shape) > 2 else L.eye(2, dtype=dtype)
    assert len(shapes(y)) == len(shapes(function(one))) or isinstance(y, lab.Tensor)
    if isinstance(y, lab.Tensor) and not y.dtype.is_integer:
        gradient = tape.gradient(y, x)
        assert gradient is None or gradient.shape == x.shape
