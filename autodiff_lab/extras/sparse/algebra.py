"""Arithmetic of sparse tensors: sums, maximum and minimum, matrix products, softmax over the stored values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from autodiff_lab.engine.convert import alone, convert, convert_to_tensor
from autodiff_lab.engine.tensor import Tensor, named
from autodiff_lab.errors import DtypeMismatch, InvalidArgumentError, ShapeMismatch
from autodiff_lab.extras.families.sparse import sparse_matmul
from autodiff_lab.extras.segments import filler, padded, reduce_segments
from autodiff_lab.extras.sparse.functions import retain, sparse, to_dense
from autodiff_lab.extras.sparse.tensor import SparseTensor, flat_places
from autodiff_lab.ops.array.casting import cast, stop_gradient
from autodiff_lab.ops.array.gathering import gather, gather_axis, laid_beside
from autodiff_lab.ops.array.joining import concat
from autodiff_lab.ops.array.shaping import matrix_transpose
from autodiff_lab.ops.math import arithmetic
from autodiff_lab.ops.math.complex_numbers import conj
from autodiff_lab.ops.math.exponential import exp
from autodiff_lab.ops.math.reductions import reduce_sum

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import DTypeLike, ShapeLike, TensorLike


def add(a: TensorLike, b: TensorLike, threshold: TensorLike = 0) -> Any:
    """Add two tensors, at least one of them sparse; the sum is dense if the other is.

    Sums smaller than `threshold` in absolute value are dropped from a sparse sum; a value at coordinates that only one
    operand stores is kept.
    Shapes: a (*s), b (*s) -> (*s).  Dtypes: any number, both the same.  Derivative: 1 for either.

    Raises
    ------
    ShapeMismatch
        If the shapes differ.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> x = lab.SparseTensor([[0], [2]], [5, 6], [3])
    >>> print(lab.sparse.to_dense(lab.sparse.add(x, x)))
    Tensor([10  0 12], shape=(3,), dtype=int32)
    """
    if not (isinstance(a, SparseTensor) and isinstance(b, SparseTensor)):
        dense = [to_dense(x, validate_indices=False) if isinstance(x, SparseTensor) else convert(x) for x in (a, b)]
        if not (isinstance(a, SparseTensor) or isinstance(b, SparseTensor)):
            raise InvalidArgumentError("sparse.add: expected at least one SparseTensor. Try lab.add.")
        return arithmetic.add(dense[0], dense[1])
    _alike(a, b, "add")
    places = np.concatenate([flat_places(a), flat_places(b)])
    present, segments = np.unique(places, return_inverse=True)
    values = reduce_segments("reduce_sum", concat([a.values, b.values], axis=0), segments, len(present))
    total = SparseTensor(np.stack(np.unravel_index(present, a._shape), axis=1), values, a._shape)
    least = convert(threshold)._array
    if least.ndim or least.dtype.kind not in "iufV":
        raise InvalidArgumentError(f"sparse.add: threshold must be a real number, got {threshold!r}.")
    small = np.abs(values._array) < least
    return retain(total, ~(small & (np.bincount(segments, minlength=len(present)) > 1))) if least > 0 else total


def _alike(a: SparseTensor, b: SparseTensor, what: str) -> None:
    if a.shape != b.shape:
        raise ShapeMismatch(f"sparse.{what}: shapes {a.shape} and {b.shape} differ.")
    if a.dtype != b.dtype:
        raise DtypeMismatch(f"sparse.{what}: dtypes {a.dtype.name} and {b.dtype.name} differ. Try lab.cast.")


def _extreme(a: Any, b: Any, what: str) -> SparseTensor:
    a, b = sparse(a, what), sparse(b, what)
    _alike(a, b, what)
    if a.dtype.is_complex or a.dtype.name == "bool":
        raise DtypeMismatch(f"sparse.{what}: expected a real dtype, got {a.dtype.name}, which has no order.")
    present = np.union1d(flat_places(a), flat_places(b))
    sides: list[Tensor] = []
    for x in (a, b):
        positions = np.full(len(present), len(x._indices))
        positions[np.searchsorted(present, flat_places(x))] = np.arange(len(x._indices))
        sides.append(padded(x.values, positions, filler(x.values, None, ())))
    places = np.stack(np.unravel_index(present, a._shape), axis=1)
    return SparseTensor(places, getattr(arithmetic, what)(*sides), a._shape)


def maximum(sp_a: SparseTensor, sp_b: SparseTensor, name: str | None = None) -> SparseTensor:
    """Return the elementwise maximum; an element that is not stored counts as 0.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> x, y = lab.SparseTensor([[0]], [-5], [3]), lab.SparseTensor([[2]], [6], [3])
    >>> print(lab.sparse.maximum(x, y).values)
    Tensor([0 6], shape=(2,), dtype=int32)
    """
    return named(_extreme(sp_a, sp_b, "maximum"), name)


def minimum(sp_a: SparseTensor, sp_b: SparseTensor, name: str | None = None) -> SparseTensor:
    """Return the elementwise minimum; an element that is not stored counts as 0.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> x, y = lab.SparseTensor([[0]], [-5], [3]), lab.SparseTensor([[2]], [6], [3])
    >>> print(lab.sparse.minimum(x, y).values)
    Tensor([-5  0], shape=(2,), dtype=int32)
    """
    return named(_extreme(sp_a, sp_b, "minimum"), name)


def sparse_dense_matmul(
    sp_a: SparseTensor, b: TensorLike, adjoint_a: bool = False, adjoint_b: bool = False, name: str | None = None
) -> Tensor:
    """Multiply two matrices, one of them sparse; the result is dense.

    Shapes: (m, k), (k, n) -> (m, n), after transposing the matrices marked as adjoint.
    Dtypes: any number, both the same.  Derivative: for a value of `sp_a` at (i, k) the product of row i of the upstream
    gradient with row k of `b`; for `b` the transposed sparse matrix times the upstream gradient.

    Raises
    ------
    ShapeMismatch
        If an operand is not a matrix, or their inner sizes differ.
    DtypeMismatch
        If the dtypes differ.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> x = lab.SparseTensor([[0, 1]], [2.0], [2, 2])
    >>> print(lab.sparse.sparse_dense_matmul(x, [[1.0], [3.0]]))
    Tensor([[6.]
     [0.]], shape=(2, 1), dtype=float32)
    """
    if isinstance(b, SparseTensor) and not isinstance(sp_a, SparseTensor):
        flipped = sparse_dense_matmul(b, sp_a, adjoint_a=not adjoint_b, adjoint_b=not adjoint_a)
        return named(matrix_transpose(flipped, conjugate=True), name)
    x = sparse(sp_a, "sparse_dense_matmul")
    dense = convert(b, x.values)
    if x.ndim != 2 or dense._held.ndim != 2:
        raise ShapeMismatch(
            f"sparse.sparse_dense_matmul: expected two matrices, got shapes {x.shape} and "
            f"{dense.shape}. Try lab.expand_dims for a vector."
        )
    if x.dtype != dense.dtype:
        raise DtypeMismatch(
            f"sparse.sparse_dense_matmul: dtypes {x.dtype.name} and {dense.dtype.name} differ. Try lab.cast."
        )
    places, (rows, columns) = x.indices._array, x._shape
    values, is_complex = x.values, x.dtype.is_complex
    if adjoint_a:
        places, rows, columns = places[:, ::-1], columns, rows
        values = conj(values) if is_complex else values
    if adjoint_b:
        dense = matrix_transpose(conj(dense) if is_complex else dense)
    if dense._held.shape[0] != columns:
        raise ShapeMismatch(
            f"sparse.sparse_dense_matmul: inner sizes {columns} and {dense._held.shape[0]} differ. "
            "Try adjoint_a=True or adjoint_b=True."
        )
    return sparse_matmul(values, dense, laid_beside(dense, np.ascontiguousarray(places)), rows=rows, name=name)


def sampled_addmm(
    indices: TensorLike,
    values: TensorLike,
    dense_shape: ShapeLike,
    mat1: TensorLike,
    mat2: TensorLike,
    beta: TensorLike = 1.0,
    alpha: TensorLike = 1.0,
    output_type: DTypeLike = "float32",
) -> tuple[Tensor, Tensor, Tensor]:
    """Compute ``alpha`` times a matrix product, at some coordinates only, plus ``beta`` times the values there.

    Shapes: indices (*b, n, 2), values (*b, n), mat1 (*b, m, k), mat2 (*b, k, n) -> indices, values, dense_shape.
    Dtypes: floating, to `output_type`.  Derivative: that of the product, at these coordinates.

    Raises
    ------
    ShapeMismatch
        If the shapes do not match.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> _, values, _ = lab.sparse.sampled_addmm([[0, 1]], [0.5], [1, 2], [[1.0, 2.0]], [[3.0, 4.0], [5.0, 6.0]])
    >>> print(values)
    Tensor([16.5], shape=(1,), dtype=float32)
    """
    left, right, there = alone(convert(mat1)), alone(convert(mat2)), alone(convert(values))
    where = convert_to_tensor(indices)
    places, batch = np.asarray(where._array), left._held.ndim - 2
    shapes = [t._held.shape for t in (where, there, left, right)]
    fits = (
        batch >= 0 and places.ndim == batch + 2 and places.shape[-1] == 2 and places.dtype.kind in "iu"
        and shapes[1] == shapes[0][:-1] and len(shapes[3]) == batch + 2 and shapes[2][-1] == shapes[3][-2]
        and len({shape[:batch] for shape in shapes}) == 1
    )  # fmt: skip
    if not fits:
        raise ShapeMismatch(
            "sparse.sampled_addmm: expected indices (*b, n, 2), values (*b, n), mat1 (*b, m, k) and mat2 (*b, k, n), "
            f"got shapes {', '.join(map(str, shapes))}."
        )
    rows = gather(left, laid_beside(left, places[..., 0]), axis=batch, batch_dims=batch)
    columns = gather(matrix_transpose(right), laid_beside(right, places[..., 1]), axis=batch, batch_dims=batch)
    found = arithmetic.add(
        arithmetic.multiply(reduce_sum(rows * columns, axis=-1), alpha), arithmetic.multiply(there, beta)
    )
    return where, cast(found, output_type), convert(dense_shape)


def softmax(sp_input: SparseTensor, name: str | None = None) -> SparseTensor:
    """Compute the softmax along the last axis over the stored values only.

    Shapes: (*s, n) -> (*s, n).  Dtypes: floating.  Derivative: that of the softmax of each row's values.

    Raises
    ------
    ShapeMismatch
        If there are fewer than two axes.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> x = lab.SparseTensor([[0, 0], [0, 2]], [1.0, 1.0], [2, 3])
    >>> print(lab.sparse.softmax(x).values)
    Tensor([0.5 0.5], shape=(2,), dtype=float32)
    """
    x = sparse(sp_input, "softmax")
    if x.ndim < 2:
        raise ShapeMismatch(f"sparse.softmax: expected at least two axes, got shape {x.shape}.")
    rows = np.ravel_multi_index(tuple(x.indices._array[:, :-1].T), x._shape[:-1])
    present, segments = np.unique(rows, return_inverse=True)
    count, back = len(present), laid_beside(x.values, segments)
    largest = reduce_segments("reduce_max", stop_gradient(x.values), segments, count)
    raised = exp(x.values - gather_axis(largest, back, axis=-1))
    total = reduce_segments("reduce_sum", raised, segments, count)
    return named(x.with_values(raised / gather_axis(total, back, axis=-1)), name)
