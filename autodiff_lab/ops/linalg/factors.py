"""LU factors, packed in one matrix, and what is done with them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from autodiff_lab.engine.apply import general
from autodiff_lab.engine.convert import convert
from autodiff_lab.engine.dtypes import as_dtype
from autodiff_lab.engine.tensor import Tensor, named
from autodiff_lab.errors import InvalidArgumentError, ShapeMismatch
from autodiff_lab.kernels.arrays import ranked
from autodiff_lab.ops.array.casting import cast
from autodiff_lab.ops.array.creation import eye as identity
from autodiff_lab.ops.array.shaping import broadcast_to
from autodiff_lab.ops.docs import document
from autodiff_lab.ops.linalg.diagonals import band_part, right_hand_sides, square
from autodiff_lab.ops.linalg.products import matmul
from autodiff_lab.ops.linalg.solving import flip, lapack, triangular_solve

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import DTypeLike, IntsLike, TensorLike


def _lu(x: Any) -> Any:
    from scipy.linalg import lu_factor
    if not x.size:
        return x.copy(), np.zeros(x.shape[:-1], np.int32)
    packed = [lu_factor(m, check_finite=False) for m in x.reshape(-1, *x.shape[-2:])]
    order = np.stack([_order(p) for _, p in packed])
    return np.stack([m for m, _ in packed]).reshape(x.shape).astype(x.dtype), order.reshape(x.shape[:-1])


def _order(pivots: Any) -> Any:
    """Return row exchanges as an order of rows."""
    rows = np.arange(len(pivots), dtype=np.int32)
    for i, j in enumerate(pivots):
        rows[[i, j]] = rows[[j, i]]
    return rows


def _lu_rule(ops: Any, g: Any, out: Any, x: Any, need: tuple[int, ...]) -> list[Any]:
    packed, order = out
    n = packed.shape[-1]
    lower = ops.band_part(packed, lower=-1, upper=0)
    ones = ops.diag_part(packed, k=0) * 0 + 1
    unit = lower - ops.band_part(packed, lower=0, upper=0) + ops.diag(ones, k=0, rows=n, columns=n)
    upper = ops.band_part(packed, lower=0, upper=-1)
    h = g[0]
    low = ops.band_part(h, lower=-1, upper=0) - ops.band_part(h, lower=0, upper=0)
    high = ops.band_part(h, lower=0, upper=-1)
    left = ops.band_part(flip(ops, unit) @ low, lower=-1, upper=0)
    left = left - ops.band_part(left, lower=0, upper=0)
    inner = left + ops.band_part(high @ flip(ops, upper), lower=0, upper=-1)
    inner = ops.triangular_solve(flip(ops, unit), inner, lower=False)
    inner = flip(ops, ops.triangular_solve(upper, flip(ops, inner), lower=False))
    return [ops.unpermute(inner, order)]


unpermute = general(
    "unpermute", lambda x, order: np.take_along_axis(x, np.argsort(order, axis=-1)[..., None], axis=-2),
    lambda ops, g, out, x, order: ops.permute(g, order), None, warns=False,
    symbol="Pᵀ", latex="P^T {0}", locals_latex=("P", ""),
    sentence="puts the rows of {0} back", keeps="inputs", stacked=False,
    doc="Rows put back in order; the rule of `lu` uses it.")
permute = general(
    "permute", lambda x, order: np.take_along_axis(x, ranked(order)[..., None], axis=-2),
    lambda ops, g, out, x, order: ops.unpermute(g, order), None, warns=False,
    symbol="P", latex="P {0}", locals_latex=("P^T", ""),
    sentence="puts the rows of {0} in order", keeps="inputs", stacked=False,
    doc="Rows in a given order; the rule of `unpermute` uses it.")
lu_packed = general(
    "lu", _lu, _lu_rule, shared=True, stacked=False, symbol="LU", latex=r"\operatorname{{lu}} {0}",
    locals_latex=(r"P L^{{-T}} (\cdot) U^{{-T}}",), sentence="factors {0} into two triangles", registered="Lu",
    doc="The kernel-level LU factors; `lab.linalg.lu` is the public function.")


def lu(input: TensorLike, output_idx_type: DTypeLike = "int32", name: str | None = None) -> tuple[Tensor, Tensor]:
    kind = as_dtype(output_idx_type)
    if kind.name not in ("int32", "int64"):
        raise InvalidArgumentError(f"lu: output_idx_type must be int32 or int64, got {kind.name}.")
    packed, order = lu_packed(lapack(square(input, "lu"), "lu"))
    return named((packed, order if kind.name == "int32" else cast(order, kind)), name)


def _checked(name: str, lower_upper: Any, perm: Any) -> tuple[Tensor, Tensor]:
    x, order = square(lower_upper, name), convert(perm)
    if order._held.dtype.kind not in "iu" or order._held.shape != x._held.shape[:-1]:
        raise ShapeMismatch(f"{name}: perm must be integers of shape {x._held.shape[:-1]} for factors of shape "
                            f"{x._held.shape}, got {order.dtype.name} of shape {order._held.shape}.")
    return x, order


def lu_reconstruct(lower_upper: TensorLike, perm: IntsLike, validate_args: bool = False,
                   name: str | None = None) -> Tensor:
    x, order = _checked("lu_reconstruct", lower_upper, perm)
    lower, upper = _triangles(x)
    return unpermute(matmul(lower, upper), order, name=name)


def lu_solve(lower_upper: TensorLike, perm: IntsLike, rhs: TensorLike, validate_args: bool = False,
             name: str | None = None) -> Tensor:
    x, order = _checked("lu_solve", lower_upper, perm)
    b = right_hand_sides(convert(rhs, x), "lu_solve")
    n = x._held.shape[-1]
    if b._held.shape[-2] != n:
        raise ShapeMismatch(f"lu_solve: expected right-hand sides (*b, {n}, k) for factors of shape {x._held.shape}, "
                            f"got {b._held.shape}. Try lab.expand_dims(b, -1) for a vector.")
    lead = np.broadcast_shapes(x._held.shape[:-2], b._held.shape[:-2])
    b = b if b._held.shape[:-2] == lead else broadcast_to(b, (*lead, *b._held.shape[-2:]))
    order = order if order._held.shape[:-1] == lead else broadcast_to(order, (*lead, n))
    lower, upper = _triangles(x)
    return named(triangular_solve(upper, triangular_solve(lower, permute(b, order)), lower=False), name)


def lu_matrix_inverse(lower_upper: TensorLike, perm: IntsLike, validate_args: bool = False,
                      name: str | None = None) -> Tensor:
    x, order = _checked("lu_matrix_inverse", lower_upper, perm)
    return named(lu_solve(x, order, identity(x._held.shape[-1], dtype=x.dtype)), name)


def _triangles(packed: Tensor) -> tuple[Tensor, Tensor]:
    lower = band_part(packed, -1, 0) - band_part(packed, 0, 0) + identity(packed._held.shape[-1], dtype=packed.dtype)
    return lower, band_part(packed, 0, -1)


document((
    (lu, "LU factors packed in one matrix, and the order of its rows.", "(*b, n, n) -> (*b, n, n), (*b, n)",
     "P L⁻ᵀ (·) U⁻ᵀ", ">>> packed, order = lab.linalg.lu([[0.0, 1.0], [2.0, 0.0]])\n>>> print(order)\n"
     "Tensor([1 0], shape=(2,), dtype=int32)"),
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
), dtypes="float32, float64, complex64, complex128", raises=("shape", "dtypes", "argument", "convert"))
