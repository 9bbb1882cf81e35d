"""Decompositions: QR, eigenvalues, singular values.

Their derivatives divide by differences of eigenvalues or singular values, so they are infinite where two coincide.
What vectors do there is undefined, but the values have derivatives all the same: an adjoint of 0 stays 0.  Adjoints
travel conjugated; the rules here conjugate theirs first and what they give last, and are those of the literature
between.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from autodiff_lab.engine.apply import general
from autodiff_lab.engine.convert import convert
from autodiff_lab.engine.shape import flag
from autodiff_lab.engine.tensor import Tensor, named, wrap
from autodiff_lab.errors import DtypeMismatch, InvalidArgumentError, ShapeMismatch
from autodiff_lab.events.listener import tell_peek
from autodiff_lab.kernels.arrays import eye, on_gpu
from autodiff_lab.kernels.matmul import factors
from autodiff_lab.ops.array.shaping import matrix_transpose
from autodiff_lab.ops.checks import broadcasts, floats
from autodiff_lab.ops.docs import document
from autodiff_lab.ops.linalg.diagonals import matrix, square
from autodiff_lab.ops.linalg.solving import adjoint_of, conjugated, flip, lapack, raised, widened
from autodiff_lab.ops.math.complex_numbers import is_complex, widen

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import TensorLike


def _gaps(w: Any) -> Any:
    """Return one over the difference of each pair of values, 0 on the diagonal: (..., n) -> (..., n, n)."""
    difference = w[..., None, :] - w[..., :, None]
    diagonal = eye(w.shape[-1], w, np.bool_)
    return np.where(diagonal, w.dtype.type(0), 1 / np.where(diagonal, w.dtype.type(1), difference))


def _gaps_rule(ops: Any, g: Any, out: Any, w: Any) -> Any:
    scaled = g * out * out
    return ops.sum(scaled, axes=(-1,), keepdims=False) - ops.sum(scaled, axes=(-2,), keepdims=False)


inverse_gaps = general(
    "inverse_gaps", _gaps, _gaps_rule, symbol="1/Δ", latex=r"\frac{{1}}{{{0}_j - {0}_i}}",
    locals_latex=(r"\frac{{\pm 1}}{{({0}_j - {0}_i)^2}}",), sentence="takes one over the differences of {0}",
    keeps="output", stacked=False, doc="One over differences of values; the rules of `eigh` and `svd` use it.")


def _as_row(ops: Any, w: Any) -> Any:
    """Return values as rows, to multiply columns: (..., n) -> (..., 1, n)."""
    return ops.reshape(w, shape=(*w.shape[:-1], 1, w.shape[-1]))


def _is_zero(ops: Any, *adjoints: Any) -> bool:
    """Return whether the adjoints of vectors are known to be 0, as where only the values are used."""
    return ops.raw and not any(on_gpu(g) or g.any() for g in adjoints)


def _eigh_rule(ops: Any, g: Any, out: Any, x: Any, need: tuple[int, ...]) -> list[Any]:
    """Giles, "Collected matrix derivative results" (2008), 3.1; of the lower triangle, as nothing else is read."""
    w, v = out
    turned = adjoint_of(ops, v)
    if _is_zero(ops, g[1]):
        whole = (v * widened(ops, _as_row(ops, g[0]), v)) @ turned
    else:
        gaps = widened(ops, ops.inverse_gaps(w), v)
        inner = ops.multiply_no_nan(gaps, turned @ conjugated(ops, g[1]))
        n = w.shape[-1]
        inner = inner + widened(ops, ops.diag(g[0], k=0, rows=n, columns=n), v)
        whole = v @ inner @ turned
    lower = ops.band_part(whole + adjoint_of(ops, whole), lower=-1, upper=0)
    return [conjugated(ops, lower - 0.5 * ops.band_part(lower, lower=0, upper=0))]


eigh_pair = general(
    "eigh", factors.eigh, _eigh_rule, shared=True, stacked=False, symbol="eigh", latex=r"\operatorname{{eigh}} {0}",
    locals_latex=(r"V(\cdot)V^T",), sentence="takes eigenvalues and eigenvectors of the symmetric {0}",
    registered="SelfAdjointEigV2", doc="The kernel-level symmetric eigenproblem; `lab.linalg.eigh`.")


def _thin_rule(ops: Any, gq: Any, gr: Any, q: Any, r: Any) -> Any:
    """Walter & Lehmann, "Algorithmic differentiation of linear algebra functions" (2010); rows >= columns.

    LAPACK makes the diagonal of R real, which takes up the imaginary diagonal of the complex case.
    """
    inner = r @ adjoint_of(ops, gr) - adjoint_of(ops, gq) @ q
    lower = ops.band_part(inner, lower=-1, upper=0)
    middle = ops.band_part(inner, lower=0, upper=0)
    if is_complex(inner):
        middle_kept = ops.widen(ops.real_part(middle))
    else:
        middle_kept = middle
    strict = lower - middle
    left = gq + q @ (strict + adjoint_of(ops, strict) + middle_kept)
    return adjoint_of(ops, ops.triangular_solve(r, adjoint_of(ops, left), lower=False))


def _qr_rule(ops: Any, g: Any, out: Any, x: Any, need: tuple[int, ...], full: bool) -> list[Any]:
    """Rows beyond the columns of Q that span A: they turn against what those do; columns beyond are products with Q."""
    q, r = out
    gq, gr = conjugated(ops, g[0]), conjugated(ops, g[1])
    rows, columns = x.shape[-2:]
    k = min(rows, columns)
    if q.shape[-1] > k:
        beyond, g_beyond = _columns(ops, q, k, rows), _columns(ops, gq, k, rows)
        q, gq, r, gr = _columns(ops, q, 0, k), _columns(ops, gq, 0, k), _rows(ops, r, 0, k), _rows(ops, gr, 0, k)
        gq = gq - beyond @ (adjoint_of(ops, g_beyond) @ q)
    if columns == k:
        return [conjugated(ops, _thin_rule(ops, gq, gr, q, r))]
    rest = _columns(ops, gr, k, columns)
    wide = _columns(ops, x, k, columns) @ adjoint_of(ops, rest)
    first = _thin_rule(ops, gq + wide, _columns(ops, gr, 0, k), q, _columns(ops, r, 0, k))
    return [conjugated(ops, ops.concat(first, q @ rest, axis=-1))]


def _columns(ops: Any, x: Any, start: int, stop: int) -> Any:
    return ops.slice_axis(x, axis=-1, start=start, stop=stop)


def _rows(ops: Any, x: Any, start: int, stop: int) -> Any:
    return ops.slice_axis(x, axis=-2, start=start, stop=stop)


qr_pair = general(
    "qr", factors.qr, _qr_rule, shared=True, stacked=False, symbol="QR", latex=r"\operatorname{{qr}} {0}",
    locals_latex=(r"(\cdot)R^{{-T}}",), sentence="factors {0} into orthonormal columns and a triangle",
    registered="Qr", doc="The kernel-level QR; `lab.linalg.qr` is the public function.")


def _svd_rule(ops: Any, g: Any, out: Any, x: Any, need: tuple[int, ...], full: bool) -> list[Any]:
    """Townsend, "Differentiating the singular value decomposition" (2016), eq. 24.

    Vectors beyond the singular values span a space that turns against what the others do; that gives the derivative of
    what does not depend on the basis that was chosen in it.
    """
    s, u, v = out
    gs, gu, gv = g[0], conjugated(ops, g[1]), conjugated(ops, g[2])
    n = s.shape[-1]
    if _is_zero(ops, gu, gv):
        u, v = _columns(ops, u, 0, n), _columns(ops, v, 0, n)
        return [conjugated(ops, (u * widened(ops, _as_row(ops, gs), u)) @ adjoint_of(ops, v))]
    u, gu, beside_u = _parted(ops, u, gu, n)
    v, gv, beside_v = _parted(ops, v, gv, n)
    ut, vt = adjoint_of(ops, u), adjoint_of(ops, v)
    row = widened(ops, _as_row(ops, s), u)
    column = widened(ops, raised(s, ops, 1), u)
    gaps = widened(ops, ops.inverse_gaps(s * s), u)
    along_u, along_v = ut @ gu, vt @ gv
    inner = ops.multiply_no_nan(gaps, along_u - adjoint_of(ops, along_u)) * row
    inner = inner + column * ops.multiply_no_nan(gaps, along_v - adjoint_of(ops, along_v))
    middle = widened(ops, gs, u)
    if is_complex(u):  # the two vectors of a singular value turn against each other; how far together is arbitrary
        turn = ops.imaginary_part(ops.diag_part(along_u, k=0)) - ops.imaginary_part(ops.diag_part(along_v, k=0))
        middle = middle + 0.5j * ops.widen(ops.multiply_no_nan(1 / s, turn))
    inner = inner + ops.diag(middle, k=0, rows=n, columns=n)
    whole = u @ inner @ vt
    # Vectors that span the whole space do not leave it: what rounding leaves of 0 must not be divided by s.
    if u.shape[-2] > n:
        whole = whole + ops.multiply_no_nan(1 / row, gu - u @ along_u - beside_u) @ vt
    if v.shape[-2] > n:
        whole = whole + u @ adjoint_of(ops, ops.multiply_no_nan(1 / row, gv - v @ along_v - beside_v))
    return [conjugated(ops, whole)]


def _parted(ops: Any, x: Any, g: Any, n: int) -> tuple[Any, Any, Any]:
    """Return the first n vectors, their adjoint, and what the adjoint of the others adds to it, with the sign changed.

    The others stay perpendicular to the first: where those move by d, they move by -x dᴴ others.
    """
    rows = x.shape[-1]
    if rows == n:
        return x, g, x * 0
    others, g_others = _columns(ops, x, n, rows), _columns(ops, g, n, rows)
    x, g = _columns(ops, x, 0, n), _columns(ops, g, 0, n)
    return x, g, others @ (adjoint_of(ops, g_others) @ x)


svd_triple = general(
    "svd", factors.svd, _svd_rule, shared=True, stacked=False, symbol="SVD", latex=r"\operatorname{{svd}} {0}",
    locals_latex=(r"U(\cdot)V^T",), sentence="takes singular values and vectors of {0}", registered="Svd",
    doc="The kernel-level SVD; `lab.linalg.svd` is the public function.")


def _pinv(x: Any, rcond: Any) -> Any:
    """By the singular values above `rcond` times the largest, which may be one number for each matrix."""
    if not x.size:
        return np.swapaxes(x, -1, -2).copy()
    u, s, vt = np.linalg.svd(x, full_matrices=False)
    kept = s > rcond * s.max(axis=-1, keepdims=True)
    inverse = np.where(kept, 1 / np.where(kept, s, s.dtype.type(1)), s.dtype.type(0))
    flipped = np.swapaxes(vt, -1, -2) * inverse[..., None, :] @ np.swapaxes(u, -1, -2)
    return (np.conj(flipped) if x.dtype.kind == "c" else flipped).astype(x.dtype)


def _pinv_rule(ops: Any, g: Any, out: Any, x: Any, rcond: Any) -> Any:
    """Golub & Pereyra, "The differentiation of pseudo-inverses" (1973); smooth where the rank stays what it is.

    What is outside the range is left after a second projection only: the first one leaves rounding errors that the
    square of the inverse has made large, of a contribution that is 0 where the rank is full.
    """
    p, turned = out, adjoint_of(ops, out)
    h = conjugated(ops, g)
    other = adjoint_of(ops, h)
    whole = -(turned @ h @ turned)
    left, right = other @ p @ turned, turned @ p @ other
    for _ in range(2):
        left, right = left - x @ (p @ left), right - (right @ p) @ x
    whole = whole + left + right
    return conjugated(ops, whole)


pseudoinverse = general(
    "pinv", _pinv, _pinv_rule, stacked=False, symbol="⁺", latex="{0}^+",
    locals_latex=("-{0}^{{+T}} (\\cdot) {0}^{{+T}}",), sentence="takes the pseudoinverse of {0}",
    registered="PseudoInverse", doc="The kernel-level pseudoinverse; `lab.linalg.pinv` is the public function.")


def eigh(tensor: TensorLike, name: str | None = None) -> tuple[Tensor, Tensor]:
    w, v = eigh_pair(lapack(square(tensor, "eigh"), "eigh"))
    return named((widen(w) if is_complex(v) else w, v), name)


def eigvalsh(tensor: TensorLike, name: str | None = None) -> Tensor:
    return named(eigh(tensor)[0], name)


def qr(input: TensorLike, full_matrices: bool = False, name: str | None = None) -> tuple[Tensor, Tensor]:
    return qr_pair(lapack(matrix(input, "qr"), "qr"), full=flag(full_matrices, "qr: full_matrices"), name=name)


def svd(tensor: TensorLike, full_matrices: bool = False, compute_uv: bool = True, name: str | None = None) -> Any:
    full_matrices, compute_uv = flag(full_matrices, "svd: full_matrices"), flag(compute_uv, "svd: compute_uv")
    found = svd_triple(lapack(matrix(tensor, "svd"), "svd"), full=full_matrices and compute_uv)
    return named(found if compute_uv else found[0], name)


def pinv(a: TensorLike, rcond: TensorLike | None = None, validate_args: bool = False,
         name: str | None = None) -> Tensor:
    x = lapack(matrix(a, "pinv"), "pinv")
    if rcond is None:
        return pseudoinverse(x, rcond=float(10 * max(x._held.shape[-2:]) * np.finfo(x._held.dtype).eps), name=name)
    limit = np.asarray(convert(rcond)._array)
    if limit.dtype.kind not in "fiuV":
        raise InvalidArgumentError(f"pinv: rcond must be a number, got {rcond!r:.80}.")
    return pseudoinverse(x, rcond=limit[..., None].tolist() if limit.ndim else float(limit), name=name)


def matrix_rank(a: TensorLike, tol: TensorLike | None = None, validate_args: bool = False,
                name: str | None = None) -> Tensor:
    x = lapack(matrix(a, "matrix_rank"), "matrix_rank")
    tell_peek(x, "matrix_rank")
    if not x._held.size:
        return named(wrap(np.zeros(x._held.shape[:-2], np.int32)[()]), name)
    limit = None if tol is None else np.asarray(floats(tol, "matrix_rank: tol", allow_complex=False)._array)
    if limit is not None and not broadcasts(limit.shape, x._held.shape[:-2]):
        raise ShapeMismatch(f"matrix_rank: tol must broadcast to shape {x._held.shape[:-2]}, got {limit.shape}.")
    return named(wrap(np.asarray(np.linalg.matrix_rank(x._array, tol=limit)).astype(np.int32)[()]), name)


def adjoint(matrix: TensorLike, name: str | None = None) -> Tensor:
    return named(matrix_transpose(matrix, conjugate=True), name)


_RAISES = ("shape", "dtypes", "argument", "convert")
_GAP = "; infinite where two of them coincide"
document((
    (eigh, "Eigenvalues, ascending, and eigenvectors of a symmetric (Hermitian) matrix; only its lower triangle is "
     "read. The values have the dtype of the matrix, as in TensorFlow.",
     "(*b, n, n) -> (*b, n), (*b, n, n)",
     "Giles (2008), of the lower triangle" + _GAP,
     ">>> print(lab.linalg.eigh([[2.0, 0.0], [0.0, 1.0]])[0])\nTensor([1. 2.], shape=(2,), "
     "dtype=float32)"),
    (eigvalsh, "Eigenvalues, ascending, of a symmetric (Hermitian) matrix.", "(*b, n, n) -> (*b, n)", "V diag(g) Vᵀ",
     ">>> print(lab.linalg.eigvalsh([[2.0, 0.0], [0.0, 1.0]]))\nTensor([1. 2.], shape=(2,), dtype=float32)"),
    (qr, "Orthonormal columns Q and an upper triangle R with Q R = A.",
     "(*b, m, n) -> (*b, m, k), (*b, k, n), k = min(m, n), "
     "or (*b, m, m), (*b, m, n) with full_matrices",
     "Walter & Lehmann (2010); of the columns of Q beyond n, of what does not depend on how they were chosen",
     ">>> q, r = lab.linalg.qr([[3.0], [4.0]])\n>>> print(abs(round(float(r[0, 0]), 4)))\n"
     "5.0"),
    (svd, "Singular values, descending, left and right singular vectors: s, u, v with u diag(s) vᴴ = A."
     " With full_matrices u and v are square.",
     "(*b, m, n) -> (*b, k), (*b, m, k), (*b, n, k), k = min(m, n)", "Townsend (2016)" + _GAP,
     ">>> print(lab.linalg.svd([[3.0, 0.0], [0.0, 2.0]], compute_uv=False))\nTensor([3. 2.], shape=(2,), "
     "dtype=float32)"),
    (pinv, "The Moore-Penrose inverse.", "(*b, m, n) -> (*b, n, m)",
     "Golub & Pereyra (1973), where the rank stays what it is",
     ">>> print(lab.linalg.pinv([[2.0], [0.0]]))\nTensor([[0.5 0. ]], shape=(1, 2), dtype=float32)"),
    (matrix_rank, "The number of singular values that are not negligible.", "(*b, m, n) -> (*b)",
     "none: a step function", ">>> print(lab.linalg.matrix_rank([[1.0, 2.0], [2.0, 4.0]]))\nTensor(1, shape=(), "
     "dtype=int32)"),
    (adjoint, "The conjugate transpose: the last two axes swapped, and complex numbers conjugated.",
     "(*b, m, n) -> (*b, n, m)",
     "1 for every element", ">>> print(lab.linalg.adjoint([[1, 2]]))\nTensor([[1]\n [2]], shape=(2, 1), dtype=int32)"),
), dtypes="float32, float64, complex64, complex128", raises=_RAISES)


def _eig(x: Any) -> Any:
    wide = np.complex64 if x.dtype in (np.float32, np.complex64) else np.complex128
    if not np.isfinite(x).all():  # LAPACK refuses them; here nan goes in and nan comes out
        return np.full(x.shape[:-1], np.nan, wide), np.full(x.shape, np.nan, wide)
    w, v = np.linalg.eig(x)
    return w.astype(wide), v.astype(wide)


def _eig_rule(ops: Any, g: Any, out: Any, x: Any, need: tuple[int, ...]) -> list[Any]:
    """Boeddeker et al., "On the computation of complex-valued gradients" (2017), eq. 4.77; vectors have length 1.

    Where values coincide a vector has no derivative; the values have theirs all the same.
    """
    w, v = out
    n = w.shape[-1]
    vt = flip(ops, v)
    inner = vt @ g[1]
    along = ops.widen(ops.real_part(ops.diag_part(inner, k=0)))
    length = (vt @ ops.conj(v)) * ops.reshape(along, shape=(*along.shape[:-1], 1, n))
    inner = ops.multiply_no_nan(ops.inverse_gaps(w), inner - length)
    inner = inner + ops.diag(g[0], k=0, rows=n, columns=n)
    contribution = ops.solve(vt, inner @ vt)
    return [contribution if is_complex(x) else ops.real_part(contribution)]


eig_pair = general(
    "eig", _eig, _eig_rule, shared=True, stacked=False, symbol="eig", latex=r"\operatorname{{eig}} {0}",
    locals_latex=(r"V^{{-T}}(\cdot)V^T",), sentence="takes eigenvalues and eigenvectors of {0}", registered="Eig",
    doc="The kernel-level eigenproblem of any square matrix; `lab.linalg.eig`.")


def eig(tensor: TensorLike, name: str | None = None) -> tuple[Tensor, Tensor]:
    x = square(convert(tensor), "eig")
    if x._held.dtype.kind not in "cf" or x._held.dtype.itemsize < 4:
        raise DtypeMismatch(f"eig: expected a complex, float32 or float64 matrix, got {x.dtype.name}. Try lab.cast.")
    return eig_pair(x, name=name)


def eigvals(tensor: TensorLike, name: str | None = None) -> Tensor:
    return named(eig(tensor)[0], name)


document((
    (eig, "Eigenvalues in no order, and eigenvectors of length 1, of a square matrix; complex.",
     "(*b, n, n) -> (*b, n), (*b, n, n)",
     "Boeddeker et al. (2017); that of the vectors for what does not depend on their phase, and nan where two values "
     "coincide",
     ">>> print(lab.linalg.eig([[0.0, -1.0], [1.0, 0.0]])[0])\nTensor([0.+1.j 0.-1.j], shape=(2,), dtype=complex64)"),
    (eigvals, "Eigenvalues of a square matrix in no order; complex.", "(*b, n, n) -> (*b, n)", "V⁻ᵀ diag(g) Vᵀ",
     ">>> print(lab.linalg.eigvals([[2.0, 1.0], [0.0, 3.0]]))\n"
     "Tensor([2.+0.j 3.+0.j], shape=(2,), dtype=complex64)"),
), dtypes="float32, float64, complex", domain="matrices that can be diagonalised",
   raises=("shape", "dtypes", "convert"))
