"""Matrix products."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from numpy import ndarray

from autodiff_lab.engine.apply import binary
from autodiff_lab.engine.convert import convert_pair, handed
from autodiff_lab.engine.shape import flag
from autodiff_lab.engine.tensor import Tensor, named
from autodiff_lab.engine.variable import Variable
from autodiff_lab.errors import InvalidArgumentError, NotOneTensor
from autodiff_lab.kernels.matmul.blas import matmul as multiply
from autodiff_lab.ops.array.casting import cast
from autodiff_lab.ops.array.shaping import expand_dims, matrix_transpose, squeeze, swapped
from autodiff_lab.ops.docs import doc

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import DTypeLike, TensorLike


def _flip(ops: Any, x: Any) -> Any:
    return ops.transpose(x, perm=swapped(len(x.shape)))


def _column(ops: Any, x: Any) -> Any:
    return ops.reshape(x, shape=(*x.shape, 1))


def _row(ops: Any, x: Any) -> Any:
    shape = tuple(x.shape)
    return ops.reshape(x, shape=(*shape[:-1], 1, shape[-1]))


def _matmul_rule_x(ops: Any, g: Any, out: Any, x: Any, y: Any) -> Any:
    """Return g yᵀ; vectors are treated as matrices of one row or column."""
    if g.__class__ is ndarray and g.ndim >= 2 == y.ndim <= x.ndim:  # most products, by the shortest way
        return ops.matmul(g, y.T)
    if len(y.shape) == 1:
        return _column(ops, g) * y if len(g.shape) else g * y
    if len(x.shape) == 1:
        product = ops.matmul(_row(ops, g), _flip(ops, y))
        return ops.reshape(product, shape=(*product.shape[:-2], product.shape[-1]))
    if len(y.shape) == 2 == len(x.shape) and len(g.shape) > 2:
        return _folded(ops, g, _flip(ops, y))
    return ops.matmul(g, _flip(ops, y))


def _matmul_rule_y(ops: Any, g: Any, out: Any, x: Any, y: Any) -> Any:
    """Return xᵀ g."""
    if g.__class__ is ndarray and g.ndim == x.ndim >= 2 == y.ndim:
        if g.ndim > 2:  # one product over all rows
            x, g = _as_rows(ops, x), _as_rows(ops, g)
        return ops.matmul(x.T, g)
    if len(x.shape) == 1:
        if len(y.shape) == 1:
            return _column(ops, g) * x if len(g.shape) else g * x
        return ops.matmul(_column(ops, x), _row(ops, g))
    if len(y.shape) == 1:
        if len(x.shape) == 2:
            return ops.matmul(g, x)
        product = ops.matmul(_flip(ops, x), _column(ops, g))
        return ops.reshape(product, shape=tuple(product.shape[:-1]))
    if len(y.shape) == 2 < len(x.shape) == len(g.shape):  # one product over all rows, not a stack to be added up
        return ops.matmul(_flip(ops, _as_rows(ops, x)), _as_rows(ops, g))
    return ops.matmul(_flip(ops, x), g)


def _as_rows(ops: Any, x: Any) -> Any:
    """Return the rows of a stack of matrices as one matrix."""
    shape = tuple(x.shape)
    return ops.reshape(x, shape=(math.prod(shape[:-1]), shape[-1]))


def _folded(ops: Any, g: Any, matrix: Any) -> Any:
    """Return a stack of matrices times one matrix as a single product: far fewer calls into BLAS."""
    product = ops.matmul(_as_rows(ops, g), matrix)
    return ops.reshape(product, shape=(*g.shape[:-1], product.shape[-1]))


matmul_two = binary(
    "matmul", multiply, _matmul_rule_x, _matmul_rule_y, elementwise=False,
    symbol="@", latex="{0} {1}", locals_latex=("{1}^T", "{0}^T"), sentence="multiplies the matrices {0} and {1}",
    keeps="other input", registered="MatMul", operator="matmul",
    doc="The kernel-level matrix product; `lab.matmul` and the operator @ are its public forms.")


def matmul(a: TensorLike, b: TensorLike, transpose_a: bool = False, transpose_b: bool = False, adjoint_a: bool = False,
           adjoint_b: bool = False, a_is_sparse: bool = False, b_is_sparse: bool = False,
           output_type: DTypeLike | None = None,
           grad_a: bool = False, grad_b: bool = False, name: str | None = None) -> Tensor:
    if transpose_a is transpose_b is adjoint_a is adjoint_b is False and output_type is None:
        return matmul_two(a, b, name=name)
    transpose_a, transpose_b, adjoint_a, adjoint_b = (
        flag(v, "matmul: transpose and adjoint flags") for v in (transpose_a, transpose_b, adjoint_a, adjoint_b))
    if output_type is None and not (transpose_a or transpose_b or adjoint_a or adjoint_b):
        return matmul_two(a, b, name=name)
    if (transpose_a and adjoint_a) or (transpose_b and adjoint_b):
        raise InvalidArgumentError("matmul: a matrix can be transposed or replaced by its adjoint, not both.")
    if not isinstance(a, (Tensor, Variable)) or not isinstance(b, (Tensor, Variable)):
        try:
            a, b = convert_pair(matmul_two.op, a, b)  # type: ignore[attr-defined]
        except NotOneTensor as met:
            how = {"transpose_a": transpose_a, "transpose_b": transpose_b, "adjoint_a": adjoint_a,
                   "adjoint_b": adjoint_b, "output_type": output_type}
            return named(handed(met, matmul, (a, b), **how), name)
    if output_type is not None:
        a, b = cast(a, output_type), cast(b, output_type)
    if transpose_a or adjoint_a:
        a = matrix_transpose(a, conjugate=adjoint_a)
    if transpose_b or adjoint_b:
        b = matrix_transpose(b, conjugate=adjoint_b)
    return matmul_two(a, b, name=name)


matmul.__doc__ = doc(
    "Matrix product over the last two axes; leading axes broadcast. If asked, a and b are first transposed or replaced "
    "by their adjoints, and cast to output_type.",
    shapes="a (*b, m, k), b (*b, k, n) -> (*b, m, n)", dtypes="any number, both the same",
    derivative="g bᵀ for a, aᵀ g for b", raises=("shape", "dtypes", "argument", "convert"),
    notes="a_is_sparse, b_is_sparse, grad_a and grad_b are read by other engines; here they change nothing.",
    example=">>> print(lab.matmul([[1.0, 2.0]], [[3.0], [4.0]]))\nTensor([[11.]], shape=(1, 1), dtype=float32)")


def matvec(a: TensorLike, b: TensorLike, transpose_a: bool = False, adjoint_a: bool = False, a_is_sparse: bool = False,
           b_is_sparse: bool = False, name: str | None = None) -> Tensor:
    a, b = convert_pair(matmul_two.op, a, b)  # type: ignore[attr-defined]
    if b._held.ndim == 1:
        return named(matmul(a, b, transpose_a, adjoint_a=adjoint_a), name)
    return named(squeeze(matmul(a, expand_dims(b, -1), transpose_a, adjoint_a=adjoint_a), -1), name)


matvec.__doc__ = doc(
    "A matrix times a vector.", shapes="a (*b, m, k), b (*b, k) -> (*b, m)", dtypes="any number, both the same",
    derivative="g bᵀ for a, aᵀ g for b", raises=("shape", "dtypes", "convert"),
    example=">>> print(lab.linalg.matvec([[1.0, 2.0]], [3.0, 4.0]))\nTensor([11.], shape=(1,), dtype=float32)")
