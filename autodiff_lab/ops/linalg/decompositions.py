"""Decompositions: QR, eigenvalues, singular values, LU; real dtypes.

Their derivatives divide by differences of eigenvalues or singular values, so they are infinite where two coincide.
What vectors do there is undefined, but the values have derivatives all the same: an adjoint of 0 stays 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_lab.engine.apply import general
from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.errors import InvalidArgumentError
from autodiff_lab.events import tell_peek
from autodiff_lab.kernels.arrays import eye, ranked
from autodiff_lab.kernels.hosted import hosted
from autodiff_lab.ops.array.shaping import expand_dims, matrix_transpose
from autodiff_lab.ops.docs import doc
from autodiff_lab.ops.linalg.diagonals import matrix, square
from autodiff_lab.ops.linalg.products import matmul
from autodiff_lab.ops.linalg.solving import flip, raised, real, symmetric


def _gaps(w: Any) -> Any:
    """One over the difference of each pair of values, 0 on the diagonal: (..., n) -> (..., n, n)."""
    difference = w[..., None, :] - w[..., :, None]
    diagonal = eye(w.shape[-1], w, np.bool_)
    return np.where(diagonal, w.dtype.type(0), 1 / np.where(diagonal, w.dtype.type(1), difference))


def _gaps_rule(ops: Any, g: Any, out: Any, w: Any) -> Any:
    share = g * out * out
    return ops.sum(share, axes=(-1,), keepdims=False) - ops.sum(share, axes=(-2,), keepdims=False)


inverse_gaps = general(
    "inverse_gaps", _gaps, _gaps_rule, symbol="1/Δ", latex=r"\frac{{1}}{{{0}_j - {0}_i}}",
    locals_latex=(r"\frac{{\pm 1}}{{({0}_j - {0}_i)^2}}",), sentence="takes one over the differences of {0}",
    keeps="output", stacked=False, doc="One over differences of values; the rules of `eigh` and `svd` use it.")


def _eigh_rule(ops: Any, g: Any, out: Any, x: Any, need: tuple[int, ...]) -> list[Any]:
    """Giles, "Collected matrix derivative results" (2008), 3.1."""
    w, v = out
    inner = ops.multiply_no_nan(ops.inverse_gaps(w), flip(ops, v) @ g[1])
    n = w.shape[-1]
    inner = inner + ops.diag(g[0], k=0, rows=n, columns=n)
    whole = v @ inner @ flip(ops, v)
    return [0.5 * (whole + flip(ops, whole))]


def _eigh(x: Any) -> Any:
    w, v = np.linalg.eigh(symmetric(x))
    return w, v


eigh_pair = general(
    "eigh", _eigh, _eigh_rule, shared=True, stacked=False, symbol="eigh", latex=r"\operatorname{{eigh}} {0}",
    locals_latex=(r"V(\cdot)V^T",), sentence="takes eigenvalues and eigenvectors of the symmetric {0}",
    registered="SelfAdjointEigV2", doc="The kernel-level symmetric eigenproblem; `lab.linalg.eigh`.")


def _qr(x: Any) -> Any:
    q, r = np.linalg.qr(x)
    return q, r


def _copy_lower(ops: Any, m: Any) -> Any:
    """The lower triangle of m, mirrored."""
    lower = ops.band_part(m, lower=-1, upper=0)
    strict = lower - ops.band_part(m, lower=0, upper=0)
    return lower + flip(ops, strict)


def _qr_rule(ops: Any, g: Any, out: Any, x: Any, need: tuple[int, ...]) -> list[Any]:
    """Walter & Lehmann, "Algorithmic differentiation of linear algebra functions" (2010); rows >= columns."""
    q, r = out
    inner = r @ flip(ops, g[1]) - flip(ops, g[0]) @ q
    left = g[0] + q @ _copy_lower(ops, inner)
    return [flip(ops, ops.triangular_solve(r, flip(ops, left), lower=False))]


qr_pair = general(
    "qr", _qr, _qr_rule, shared=True, stacked=False, symbol="QR", latex=r"\operatorname{{qr}} {0}",
    locals_latex=(r"(\cdot)R^{{-T}}",), sentence="factors {0} into orthonormal columns and a triangle",
    registered="Qr", doc="The kernel-level reduced QR; `lab.linalg.qr` is the public function.")


def _svd(x: Any) -> Any:
    u, s, vt = np.linalg.svd(x, full_matrices=False)
    return s, u, np.swapaxes(vt, -1, -2).copy()


def _svd_rule(ops: Any, g: Any, out: Any, x: Any, need: tuple[int, ...]) -> list[Any]:
    """Townsend, "Differentiating the singular value decomposition" (2016), eq. 24."""
    s, u, v = out
    gs, gu, gv = g
    n = s.shape[-1]
    gaps = ops.inverse_gaps(s * s)
    row = ops.reshape(s, shape=(*s.shape[:-1], 1, n))
    column = raised(s, ops, 1)
    ut, vt = flip(ops, u), flip(ops, v)
    by_u = ops.multiply_no_nan(gaps, ut @ gu - flip(ops, gu) @ u) * row
    by_v = column * ops.multiply_no_nan(gaps, vt @ gv - flip(ops, gv) @ v)
    whole = u @ (by_u + by_v + ops.diag(gs, k=0, rows=n, columns=n)) @ vt
    whole = whole + ops.multiply_no_nan(1 / row, gu - u @ (ut @ gu)) @ vt
    return [whole + u @ flip(ops, ops.multiply_no_nan(1 / row, gv - v @ (vt @ gv)))]


svd_triple = general(
    "svd", _svd, _svd_rule, shared=True, stacked=False, symbol="SVD", latex=r"\operatorname{{svd}} {0}",
    locals_latex=(r"U(\cdot)V^T",), sentence="takes singular values and vectors of {0}", registered="Svd",
    doc="The kernel-level reduced SVD; `lab.linalg.svd` is the public function.")


def _lu(x: Any) -> Any:
    from scipy.linalg import lu_factor
    flat = x.reshape(-1, *x.shape[-2:])
    packed = [lu_factor(m) for m in flat]
    order = np.stack([_order(p) for _, p in packed]) if packed else np.zeros((0, x.shape[-1]), np.int64)
    return (np.stack([m for m, _ in packed]).reshape(x.shape).astype(x.dtype), order.reshape(x.shape[:-1]))


def _order(pivots: Any) -> Any:
    """Row exchanges as an order of rows."""
    rows = np.arange(len(pivots))
    for i, j in enumerate(pivots):
        rows[[i, j]] = rows[[j, i]]
    return rows


def _lu_rule(ops: Any, g: Any, out: Any, x: Any, need: tuple[int, ...]) -> list[Any]:
    packed, order = out
    n = packed.shape[-1]
    lower = ops.band_part(packed, lower=-1, upper=0)
    unit = lower - ops.band_part(packed, lower=0, upper=0) + eye(n, packed if ops.raw else packed._array)
    upper = ops.band_part(packed, lower=0, upper=-1)
    share = g[0]
    low = ops.band_part(share, lower=-1, upper=0) - ops.band_part(share, lower=0, upper=0)
    high = ops.band_part(share, lower=0, upper=-1)
    left = ops.band_part(flip(ops, unit) @ low, lower=-1, upper=0)
    left = left - ops.band_part(left, lower=0, upper=0)
    inner = left + ops.band_part(high @ flip(ops, upper), lower=0, upper=-1)
    inner = ops.triangular_solve(flip(ops, unit), inner, lower=False)
    inner = flip(ops, ops.triangular_solve(upper, flip(ops, inner), lower=False))
    return [ops.unpermute(inner, order)]


unpermute = general(
    "unpermute", lambda x, order: np.take_along_axis(x, np.argsort(order, axis=-1)[..., None], axis=-2),
    lambda ops, g, out, x, order: ops.permute(g, order), None, symbol="Pᵀ", latex="P^T {0}", locals_latex=("P", ""),
    sentence="puts the rows of {0} back", keeps="inputs", stacked=False,
    doc="Rows put back in order; the rule of `lu` uses it.")
permute = general(
    "permute", lambda x, order: np.take_along_axis(x, ranked(order)[..., None], axis=-2),
    lambda ops, g, out, x, order: ops.unpermute(g, order), None, symbol="P", latex="P {0}", locals_latex=("P^T", ""),
    sentence="puts the rows of {0} in order", keeps="inputs", stacked=False,
    doc="Rows in a given order; the rule of `unpermute` uses it.")
lu_packed = general(
    "lu", hosted("lu", _lu), _lu_rule, shared=True, stacked=False, symbol="LU", latex=r"\operatorname{{lu}} {0}",
    locals_latex=(r"P L^{{-T}} (\cdot) U^{{-T}}",), sentence="factors {0} into two triangles", registered="Lu",
    doc="The kernel-level LU factors; `lab.linalg.lu` is the public function.")


def eigh(tensor: Any, name: str | None = None) -> tuple[Tensor, Tensor]:
    return eigh_pair(real(square(tensor, "eigh"), "eigh"))


def eigvalsh(tensor: Any, name: str | None = None) -> Tensor:
    return eigh(tensor)[0]


def qr(input: Any, full_matrices: bool = False, name: str | None = None) -> tuple[Tensor, Tensor]:
    x = real(matrix(input, "qr"), "qr")
    if full_matrices or x._array.shape[-2] < x._array.shape[-1]:
        raise InvalidArgumentError(f"qr: only the reduced form of a matrix with at least as many rows as columns is "
                                   f"here, got shape {x._array.shape}. Try the transpose.")
    return qr_pair(x)


def svd(tensor: Any, full_matrices: bool = False, compute_uv: bool = True, name: str | None = None) -> Any:
    x = real(matrix(tensor, "svd"), "svd")
    if full_matrices:
        raise InvalidArgumentError("svd: only the reduced form is here. Try full_matrices=False.")
    found = svd_triple(x)
    return found if compute_uv else found[0]


def pinv(a: Any, rcond: float | None = None, name: str | None = None) -> Tensor:
    from autodiff_lab.ops.array.gathering import where
    x = real(matrix(a, "pinv"), "pinv")
    s, u, v = svd(x)
    limit = (10 * max(x._array.shape[-2:]) * np.finfo(x._array.dtype).eps) if rcond is None else rcond
    kept = s > limit * np.max(s._array, axis=-1, keepdims=True)
    inverse = where(kept, 1.0 / where(kept, s, 1.0), 0.0)
    return matmul(v * expand_dims(inverse, -2), u, transpose_b=True)


def matrix_rank(a: Any, tol: Any = None, name: str | None = None) -> Tensor:
    from autodiff_lab.engine.tensor import wrap
    x = real(matrix(a, "matrix_rank"), "matrix_rank")
    tell_peek(x, "matrix_rank")
    return wrap(np.asarray(np.linalg.matrix_rank(x._array, tol=tol)).astype(np.int32)[()])


def lu(input: Any, name: str | None = None) -> tuple[Tensor, Tensor]:
    return lu_packed(real(square(input, "lu"), "lu"))


def lu_reconstruct(lower_upper: Any, perm: Any, name: str | None = None) -> Tensor:
    lower, upper = _triangles(square(lower_upper, "lu_reconstruct"))
    return unpermute(matmul(lower, upper), perm)


def lu_solve(lower_upper: Any, perm: Any, rhs: Any, name: str | None = None) -> Tensor:
    from autodiff_lab.ops.linalg.solving import triangular_solve
    lower, upper = _triangles(square(lower_upper, "lu_solve"))
    return triangular_solve(upper, triangular_solve(lower, permute(rhs, perm)), lower=False)


def lu_matrix_inverse(lower_upper: Any, perm: Any, name: str | None = None) -> Tensor:
    from autodiff_lab.ops.array.creation import eye
    x = square(lower_upper, "lu_matrix_inverse")
    return lu_solve(x, perm, eye(x._array.shape[-1], dtype=x.dtype))


def _triangles(packed: Tensor) -> tuple[Tensor, Tensor]:
    from autodiff_lab.ops.array.creation import eye
    from autodiff_lab.ops.linalg.diagonals import band_part
    lower = band_part(packed, -1, 0) - band_part(packed, 0, 0) + eye(packed._array.shape[-1], dtype=packed.dtype)
    return lower, band_part(packed, 0, -1)


def adjoint(matrix: Any, name: str | None = None) -> Tensor:
    return matrix_transpose(matrix, conjugate=True)


_RAISES = ("shape", "dtypes", "argument", "convert")
_GAP = "; infinite where two of them coincide"
for _function, _words, _shapes, _derivative, _example in (
    (eigh, "Eigenvalues, ascending, and eigenvectors of a symmetric matrix.", "(*b, n, n) -> (*b, n), (*b, n, n)",
     "Giles (2008)" + _GAP, ">>> print(lab.linalg.eigh([[2.0, 0.0], [0.0, 1.0]])[0])\nTensor([1. 2.], shape=(2,), "
     "dtype=float32)"),
    (eigvalsh, "Eigenvalues, ascending, of a symmetric matrix.", "(*b, n, n) -> (*b, n)", "V diag(g) Vᵀ",
     ">>> print(lab.linalg.eigvalsh([[2.0, 0.0], [0.0, 1.0]]))\nTensor([1. 2.], shape=(2,), dtype=float32)"),
    (qr, "Orthonormal columns Q and an upper triangle R with Q R = A.", "(*b, m, n) -> (*b, m, n), (*b, n, n), m ≥ n",
     "Walter & Lehmann (2010)", ">>> q, r = lab.linalg.qr([[3.0], [4.0]])\n>>> print(abs(round(float(r[0, 0]), 4)))\n"
     "5.0"),
    (svd, "Singular values, descending, left and right singular vectors: s, u, v with u diag(s) vᵀ = A.",
     "(*b, m, n) -> (*b, k), (*b, m, k), (*b, n, k), k = min(m, n)", "Townsend (2016)" + _GAP,
     ">>> print(lab.linalg.svd([[3.0, 0.0], [0.0, 2.0]], compute_uv=False))\nTensor([3. 2.], shape=(2,), "
     "dtype=float32)"),
    (pinv, "The Moore-Penrose inverse.", "(*b, m, n) -> (*b, n, m)", "that of the singular values" + _GAP,
     ">>> print(lab.linalg.pinv([[2.0], [0.0]]))\nTensor([[0.5 0. ]], shape=(1, 2), dtype=float32)"),
    (matrix_rank, "The number of singular values that are not negligible.", "(*b, m, n) -> (*b)",
     "none: a step function", ">>> print(lab.linalg.matrix_rank([[1.0, 2.0], [2.0, 4.0]]))\nTensor(1, shape=(), "
     "dtype=int32)"),
    (lu, "LU factors packed in one matrix, and the order of its rows.", "(*b, n, n) -> (*b, n, n), (*b, n)",
     "P L⁻ᵀ (·) U⁻ᵀ", ">>> packed, order = lab.linalg.lu([[0.0, 1.0], [2.0, 0.0]])\n>>> print(order)\n"
     "Tensor([1 0], shape=(2,), dtype=int64)"),
    (lu_reconstruct, "The matrix that LU factors came from.", "(*b, n, n), (*b, n) -> (*b, n, n)", "of the product",
     ">>> print(lab.linalg.lu_reconstruct(*lab.linalg.lu([[0.0, 1.0], [2.0, 0.0]])))\nTensor([[0. 1.]\n [2. 0.]], "
     "shape=(2, 2), dtype=float32)"),
    (lu_solve, "The solution of a system by its LU factors.", "(*b, n, n), (*b, n), (*b, n, k) -> (*b, n, k)",
     "that of two triangular systems",
     ">>> print(lab.linalg.lu_solve(*lab.linalg.lu([[0.0, 1.0], [2.0, 0.0]]), [[1.0], [2.0]]))\nTensor([[1.]\n [1.]], "
     "shape=(2, 1), dtype=float32)"),
    (lu_matrix_inverse, "The inverse by LU factors.", "(*b, n, n), (*b, n) -> (*b, n, n)",
     "that of two triangular systems",
     ">>> print(lab.linalg.lu_matrix_inverse(*lab.linalg.lu([[0.0, 1.0], [2.0, 0.0]])))\nTensor([[0.  0.5]\n "
     "[1.  0. ]], shape=(2, 2), dtype=float32)"),
    (adjoint, "The conjugate transpose: the last two axes swapped, and complex numbers conjugated.",
     "(*b, m, n) -> (*b, n, m)",
     "1 for every element", ">>> print(lab.linalg.adjoint([[1, 2]]))\nTensor([[1]\n [2]], shape=(2, 1), dtype=int32)"),
):
    _function.__doc__ = doc(_words, shapes=_shapes, dtypes="float32, float64", derivative=_derivative,
                            example=_example, raises=_RAISES)
