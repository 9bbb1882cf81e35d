"""Matrices with three diagonals: products, systems, and eigenvalues of symmetric ones.

However the diagonals are handed over, they are packed into the rows of one tensor (*b, 3, n): superdiagonal, diagonal,
subdiagonal, where the last element of the first and the first of the last are not part of the matrix.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from autodiff_lab.engine.apply import apply_op, general
from autodiff_lab.engine.convert import convert, convert_pair
from autodiff_lab.engine.op import Op
from autodiff_lab.engine.shape import flag
from autodiff_lab.engine.tensor import Tensor, named
from autodiff_lab.errors import InvalidArgumentError, ShapeMismatch
from autodiff_lab.events.listener import heard, tell_peek, trace_now
from autodiff_lab.kernels.arrays import on_gpu
from autodiff_lab.kernels.matmul.triangular import solve_tridiagonal
from autodiff_lab.ops.array.casting import cast
from autodiff_lab.ops.array.joining import pad_axis, slice_axis, stack
from autodiff_lab.ops.array.shaping import broadcast_to, expand_dims, matrix_transpose, squeeze
from autodiff_lab.ops.checks import dtypes_unequal, one_of
from autodiff_lab.ops.docs import document
from autodiff_lab.ops.linalg.decompositions import eigh
from autodiff_lab.ops.linalg.diagonals import diag, diag_part, square
from autodiff_lab.ops.linalg.solving import lapack
from autodiff_lab.ops.math.complex_numbers import conj, real

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import TensorLike

FORMATS = ("compact", "sequence", "matrix")


def _row(ops: Any, packed: Any, i: int) -> Any:
    return ops.slice_axis(packed, axis=-2, start=i, stop=i + 1)


def _ahead(ops: Any, x: Any, axis: int) -> Any:
    """Return each element's successor, 0 for the last."""
    n = x.shape[axis]
    return ops.pad_axis(ops.slice_axis(x, axis=axis, start=min(1, n), stop=n), axis=axis, before=0, after=min(1, n))


def _behind(ops: Any, x: Any, axis: int) -> Any:
    """Return each element's predecessor, 0 for the first."""
    n = x.shape[axis]
    return ops.pad_axis(ops.slice_axis(x, axis=axis, start=0, stop=max(n - 1, 0)), axis=axis, before=min(1, n), after=0)


def _turned(ops: Any, packed: Any) -> Any:
    """Return the diagonals of the transpose."""
    if packed.__class__ is np.ndarray:
        turned = np.zeros(packed.shape, packed.dtype)
        turned[..., 0, :-1], turned[..., 1, :] = packed[..., 2, 1:], packed[..., 1, :]
        turned[..., 2, 1:] = packed[..., 0, :-1]
        return turned
    above, below = _ahead(ops, _row(ops, packed, 2), -1), _behind(ops, _row(ops, packed, 0), -1)
    return ops.concat(above, _row(ops, packed, 1), below, axis=-2)


def _of_rows(ops: Any, g: Any, x: Any) -> Any:
    """Return Σ g·x along rows (*b, n, k) for the diagonals of a matrix that g and x belong to the sides of."""
    if g.__class__ is x.__class__ is np.ndarray:
        sums = np.zeros((*g.shape[:-2], 3, g.shape[-2]), g.dtype)
        np.add.reduce(g[..., :-1, :] * x[..., 1:, :], axis=-1, out=sums[..., 0, :-1])
        np.add.reduce(g * x, axis=-1, out=sums[..., 1, :])
        np.add.reduce(g[..., 1:, :] * x[..., :-1, :], axis=-1, out=sums[..., 2, 1:])
        return sums
    n, one = x.shape[-2], min(1, x.shape[-2])
    first, last = ({"axis": -2, "start": start, "stop": n - one + start} for start in (0, one))
    above = ops.sum(ops.slice_axis(g, **first) * ops.slice_axis(x, **last), axes=(-1,), keepdims=False)
    below = ops.sum(ops.slice_axis(g, **last) * ops.slice_axis(x, **first), axes=(-1,), keepdims=False)
    diagonals = (ops.pad_axis(above, axis=-1, before=0, after=one), ops.sum(g * x, axes=(-1,), keepdims=False),
                 ops.pad_axis(below, axis=-1, before=one, after=0))
    return ops.concat(*(ops.reshape(s, shape=(*s.shape[:-1], 1, s.shape[-1])) for s in diagonals), axis=-2)


def _solve_rule(ops: Any, g: Any, out: Any, packed: Any, b: Any, need: tuple[int, ...]) -> list[Any]:
    """T⁻ᵀ·g for b, and minus that times the solution for the diagonals."""
    z = ops.tridiagonal_solve(_turned(ops, packed), g)
    return [z if i else -_of_rows(ops, z, out) for i in need]


solve_three = general(
    "tridiagonal_solve", solve_tridiagonal, _solve_rule, shared=True,
    stacked=False, symbol="T⁻¹b", latex="{0}^{{-1}} {1}", locals_latex=("-{0}^{{-T}} (\\cdot) x^T", "{0}^{{-T}}"),
    sentence="solves the tridiagonal system {0} x = {1}", registered="TridiagonalSolve",
    doc="The kernel-level solution of a tridiagonal system; `lab.linalg.tridiagonal_solve` is the public function.")


def _packed(diagonals: Any, form: str, like: Any, what: str) -> Tensor:
    """Return the three diagonals as one tensor (*b, 3, n)."""
    one_of(form, FORMATS, f"{what}: diagonals_format")
    if form == "compact":
        x = convert(diagonals, like)
        if x._held.ndim < 2 or x._held.shape[-2] != 3:
            raise ShapeMismatch(f"{what}: expected diagonals (*b, 3, n), got shape {x._held.shape}. Try "
                                "diagonals_format='sequence' for three tensors, or 'matrix'.")
        return x
    if form == "matrix":
        x = square(convert(diagonals, like), what)
        n = x._held.shape[-1]
        middle = diag_part(x)
        if n < 2:
            return stack([middle * 0, middle, middle * 0], -2)
        above, below = diag_part(x, k=1), diag_part(x, k=-1)
        return stack([pad_axis(above, axis=-1, before=0, after=1), middle,
                      pad_axis(below, axis=-1, before=1, after=0)], -2)
    parts = [convert(d, like) for d in diagonals]
    if len(parts) != 3 or not all(p._held.ndim for p in parts):
        raise ShapeMismatch(f"{what}: expected three diagonals (*b, n), got {[p._held.shape for p in parts]}.")
    n = parts[1]._held.shape[-1]
    for i, before in ((0, 0), (2, 1)):
        length = parts[i]._held.shape[-1]
        if length == n - 1:
            parts[i] = pad_axis(parts[i], axis=-1, before=before, after=1 - before)
        elif length != n:
            raise ShapeMismatch(f"{what}: beside a diagonal of length {n} the others must have length {n} or {n - 1}, "
                                f"got {[p._held.shape for p in parts]}.")
    lead = np.broadcast_shapes(*(p._held.shape[:-1] for p in parts))
    return stack([p if p._held.shape[:-1] == lead else broadcast_to(p, (*lead, n)) for p in parts], -2)


def _multiply(packed: Any, b: Any) -> Any:
    above, middle, below = (packed[..., i, :, None] for i in range(3))
    total = middle * b
    total[..., :-1, :] += above[..., :-1, :] * b[..., 1:, :]
    total[..., 1:, :] += below[..., 1:, :] * b[..., :-1, :]
    return total


def _multiply_rule(ops: Any, g: Any, out: Any, packed: Any, b: Any, need: tuple[int, ...]) -> list[Any]:
    product = _multiply if ops.raw else _multiplied
    return [product(_turned(ops, packed), g) if i else _of_rows(ops, g, b) for i in need]


_AT_ONCE = Op("tridiagonal_matmul", _multiply, _multiply_rule, None, stacked=False, warns=False,
              sentence="multiplies {1} by the tridiagonal matrix {0}")
"""A product where nobody hears of ops one by one; programs and recordings are made of those in `_multiplied`."""


def _sides(packed: Tensor, b: Tensor, what: str) -> None:
    """Check that diagonals and right-hand sides (*b, n, k) go together."""
    lapack(packed, what)
    if b._held.dtype != packed._held.dtype:
        raise dtypes_unequal(what, diagonals=packed, rhs=b)
    wanted = (*packed._held.shape[:-2], packed._held.shape[-1])
    if b._held.shape[:-1] != wanted:
        raise ShapeMismatch(f"{what}: expected right-hand sides ({', '.join(map(str, wanted))}, k) for diagonals of "
                            f"shape {packed._held.shape}, got {b._held.shape}.")


def _like(diagonals: Any, rhs: Any) -> Tensor:
    """Return the right-hand side as a tensor, in the dtype of the diagonals if those are tensors and it is not."""
    first = diagonals[0] if isinstance(diagonals, (list, tuple)) and len(diagonals) else diagonals
    return convert_pair(solve_three.op, first, rhs)[1]  # type: ignore[attr-defined]


def tridiagonal_matmul(diagonals: TensorLike, rhs: TensorLike, diagonals_format: str = "compact",
                       name: str | None = None) -> Tensor:
    b = _like(diagonals, rhs)
    packed = _packed(diagonals, diagonals_format, b, "tridiagonal_matmul")
    _sides(packed, b, "tridiagonal_matmul")
    if trace_now() is None and not heard() and not on_gpu(packed._held) and not on_gpu(b._held):
        return named(apply_op(_AT_ONCE, (packed, b), {}), name)
    return named(_multiplied(packed, b), name)


def _multiplied(packed: Tensor, b: Tensor) -> Tensor:
    above, middle, below = (matrix_transpose(slice_axis(packed, axis=-2, start=i, stop=i + 1)) for i in range(3))
    n = b._held.shape[-2]
    if n < 2:
        return middle * b
    upper = slice_axis(above, axis=-2, start=0, stop=n - 1) * slice_axis(b, axis=-2, start=1, stop=n)
    lower = slice_axis(below, axis=-2, start=1, stop=n) * slice_axis(b, axis=-2, start=0, stop=n - 1)
    return pad_axis(upper, axis=-2, before=0, after=1) + middle * b + pad_axis(lower, axis=-2, before=1, after=0)


def tridiagonal_solve(diagonals: TensorLike, rhs: TensorLike, diagonals_format: str = "compact",
                      transpose_rhs: bool = False,
                      conjugate_rhs: bool = False, name: str | None = None, partial_pivoting: bool = True,
                      perturb_singular: bool = False) -> Tensor:
    transpose_rhs, conjugate_rhs, partial_pivoting, perturb_singular = (
        flag(value, "tridiagonal_solve: every flag")
        for value in (transpose_rhs, conjugate_rhs, partial_pivoting, perturb_singular)
    )
    if perturb_singular and not partial_pivoting:
        raise InvalidArgumentError("tridiagonal_solve: perturb_singular requires partial_pivoting.")
    b = _like(diagonals, rhs)
    packed = _packed(diagonals, diagonals_format, b, "tridiagonal_solve")
    vector = b._held.ndim == packed._held.ndim - 1
    if vector:
        b = expand_dims(conj(b) if conjugate_rhs else b, -1)
    elif transpose_rhs:
        b = matrix_transpose(b, conjugate=conjugate_rhs)
    elif conjugate_rhs:
        b = conj(b)
    _sides(packed, b, "tridiagonal_solve")
    x = solve_three(packed, b)
    return named(squeeze(x, -1) if vector else x, name)


def _selected(w: Tensor, select: str, select_range: Any) -> slice | None:
    """Return the positions of the selected eigenvalues among all in ascending order."""
    if select == "a":
        return None
    if select not in ("i", "v"):
        raise InvalidArgumentError(f"eigh_tridiagonal: select must be 'a', 'i' or 'v', got {select!r}.")
    if select_range is None or len(select_range) != 2 or select_range[0] > select_range[1]:
        raise InvalidArgumentError(f"eigh_tridiagonal: select_range must be a pair in ascending order, got "
                                   f"{select_range!r}.")
    low, high = select_range
    if select == "i":
        return slice(max(int(low), 0), max(int(high) + 1, 0))
    tell_peek(w, "eigh_tridiagonal")
    values = np.asarray(w._array)
    return slice(*np.searchsorted(values, [low, high], "right").tolist())


def eigh_tridiagonal(alpha: TensorLike, beta: TensorLike, eigvals_only: bool = True, select: str = "a",
                     select_range: TensorLike | None = None,
                     tol: TensorLike | None = None, name: str | None = None) -> Any:
    middle, off = convert(alpha), convert(beta)
    n = middle._held.shape[-1] if middle._held.ndim else 0
    if middle._held.ndim != 1 or off._held.shape != (max(n - 1, 0),):
        raise ShapeMismatch(f"eigh_tridiagonal: expected alpha (n) and beta (n - 1), got shapes {middle._held.shape} "
                            f"and {off._held.shape}.")
    if middle._held.dtype != off._held.dtype:
        raise dtypes_unequal("eigh_tridiagonal", alpha=middle, beta=off)
    whole = diag(cast(real(middle), middle.dtype) if middle.dtype.is_complex else middle)
    if n > 1:
        whole = whole + diag(conj(off), k=1) + diag(off, k=-1)
    w, v = eigh(whole)
    w = real(w)  # the dtype that TensorFlow gives here, unlike that of `eigh`
    at = _selected(w, select, select_range)
    if at is not None:
        w, v = w[at], v[:, at]
    return named(w if eigvals_only else (w, v), name)


_THREE = "diagonals (*b, 3, n), rhs (*b, n, k) -> (*b, n, k)"
_FORMATS = ("diagonals_format: 'compact' is one tensor (*b, 3, n) of superdiagonal, diagonal and subdiagonal, where "
            "the last element of the first and the first of the last are not read; 'sequence' is three tensors "
            "(*b, n), the outer ones of n or n - 1 elements; 'matrix' is (*b, n, n).")
document((
    (tridiagonal_matmul, "A tridiagonal matrix times a matrix.", _THREE, "that of the products of its elements",
     ">>> print(lab.linalg.tridiagonal_matmul([[1.0, 0.0], [2.0, 2.0], [0.0, 1.0]], [[1.0], [1.0]]))\n"
     "Tensor([[3.]\n [3.]], shape=(2, 1), dtype=float32)", _FORMATS),
    (tridiagonal_solve, "The solution of a tridiagonal system, by elimination with exchanged rows; nan where the "
     "matrix is singular.", _THREE + ", or rhs (*b, n) -> (*b, n)", "that of `solve`, on the diagonals",
     ">>> print(lab.linalg.tridiagonal_solve([[1.0, 0.0], [2.0, 2.0], [0.0, 1.0]], [3.0, 3.0]))\n"
     "Tensor([1. 1.], shape=(2,), dtype=float32)",
     _FORMATS + " Rows are exchanged whatever partial_pivoting says: without that the result is less accurate."),
    (eigh_tridiagonal, "Eigenvalues of a symmetric (Hermitian) tridiagonal matrix: all, or those that select='i' names "
     "by position or select='v' by value, in the half-open interval (low, high].", "(n), (n - 1) -> (n)",
     "that of `eigh`",
     ">>> print(lab.linalg.eigh_tridiagonal([1.0, 2.0], [0.0]))\nTensor([1. 2.], shape=(2,), dtype=float32)",
     "`tol` is not read: the eigenvalues are as accurate as their dtype allows."),
), columns="summary shapes derivative example notes", dtypes="float32, float64, complex64, complex128",
   raises=("shape", "dtypes", "argument", "convert"))
