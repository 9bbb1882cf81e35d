"""Creating, rearranging and reducing sparse tensors: ``lab.sparse``.

Functions that move values do so with an op on the values (`gather`, `scatter_nd`), so gradients flow back.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from autodiff_lab.engine.convert import convert, convert_to_tensor
from autodiff_lab.engine.dtypes import as_dtype
from autodiff_lab.engine.shape import as_integers, flag
from autodiff_lab.engine.tensor import Tensor, named
from autodiff_lab.errors import InvalidArgumentError, NotCallable, ShapeMismatch
from autodiff_lab.extras.ragged.partition import axis_of, integer, integer_vector
from autodiff_lab.extras.segments import filler, padded
from autodiff_lab.extras.sparse.tensor import Places, SparseTensor, flat_places, reduced
from autodiff_lab.ops.array.creation import as_shape, ones
from autodiff_lab.ops.array.gathering import gather_axis, gather_nd, laid_beside
from autodiff_lab.ops.array.joining import concat as concat_dense

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import DTypeLike, IntsLike, ShapeLike, TensorLike


def sparse(value: Any, what: str) -> SparseTensor:
    """Return a sparse tensor, or raise an error that names the function."""
    if isinstance(value, SparseTensor):
        return value
    raise InvalidArgumentError(
        f"sparse.{what}: expected a SparseTensor, got {type(value).__name__}. Try lab.sparse.from_dense(x)."
    )


def taken(values: Tensor, positions: Places) -> Tensor:
    """Return the values at these positions, in this order."""
    return gather_axis(values, laid_beside(values, positions), axis=-1)


def from_dense(tensor: TensorLike, name: str | None = None) -> SparseTensor:
    """Create a sparse tensor from the elements of a tensor that are not 0.

    Shapes: tensor (*s) -> (*s).  Dtypes: any.  Derivative: 1 for the elements that are not 0.

    Raises
    ------
    ShapeMismatch
        If the tensor is a scalar.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.sparse.from_dense([[0, 7], [0, 0]]).indices)
    Tensor([[0 1]], shape=(1, 2), dtype=int64)
    """
    x = convert(tensor)
    array = np.asarray(x._array)
    if array.ndim == 0:
        raise ShapeMismatch("sparse.from_dense: expected a tensor with at least one axis, got a scalar.")
    places = np.argwhere(array != (b"" if array.dtype.kind == "O" else 0)).astype(np.int64)
    return named(SparseTensor(places, gather_nd(x, laid_beside(x, places)), array.shape), name)


def to_dense(
    sp_input: SparseTensor,
    default_value: TensorLike | None = None,
    validate_indices: bool = True,
    name: str | None = None,
) -> Tensor:
    """Return the dense tensor, with `default_value` (0, False or the empty string) where no value is stored.

    Shapes: (*s) -> (*s).  Dtypes: any.  Derivative: 1 for the values; for the default the sum over the elements that it
    fills.

    Raises
    ------
    InvalidArgumentError
        If coordinates are repeated or out of order and `validate_indices` is True.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.sparse.to_dense(lab.SparseTensor([[0], [2]], [5, 6], [3]), default_value=-1))
    Tensor([ 5 -1  6], shape=(3,), dtype=int32)
    """
    x = sparse(sp_input, "to_dense")
    places = flat_places(x)
    if validate_indices and (np.diff(places) <= 0).any():
        row = int(np.argmax(np.diff(places) <= 0)) + 1
        row_text = f"sparse.to_dense: indices[{row}] = {x.indices._array[row].tolist()}"
        if places[row] == places[row - 1]:
            raise InvalidArgumentError(
                f"{row_text} is repeated. Try lab.scatter_nd(x.indices, x.values, x.shape), which adds repeated values."
            )
        raise InvalidArgumentError(f"{row_text} is out of order. Try lab.sparse.reorder(x).")
    fill = filler(x.values, default_value, ())
    positions = np.full(int(np.prod(x._shape)), len(places))
    positions[places] = np.arange(len(places))
    return named(padded(x.values, positions.reshape(x._shape), fill), name)


def reorder(sp_input: SparseTensor, name: str | None = None) -> SparseTensor:
    """Sort the elements by coordinates, in row-major order.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.sparse.reorder(lab.SparseTensor([[1], [0]], [5, 6], [2])).values)
    Tensor([6 5], shape=(2,), dtype=int32)
    """
    x = sparse(sp_input, "reorder")
    order = np.argsort(flat_places(x), kind="stable")
    return named(SparseTensor(x.indices._array[order], taken(x.values, order), x._shape), name)


def transpose(sp_input: SparseTensor, perm: Sequence[int] | None = None, name: str | None = None) -> SparseTensor:
    """Permute the axes, or reverse them if `perm` is not given; the result is in row-major order.

    Raises
    ------
    InvalidArgumentError
        If `perm` is not a permutation of the axes.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.sparse.transpose(lab.SparseTensor([[0, 1]], [5], [2, 3])).dense_shape)
    Tensor([3 2], shape=(2,), dtype=int64)
    """
    x = sparse(sp_input, "transpose")
    order = list(range(x.ndim))[::-1] if perm is None else [int(a) for a in as_integers(perm, "sparse.transpose: perm")]
    if sorted(order) != list(range(x.ndim)):
        raise InvalidArgumentError(f"sparse.transpose: perm must be a permutation of the {x.ndim} axes, got {order}.")
    return named(reorder(SparseTensor(x.indices._array[:, order], x.values, [x.shape[a] for a in order])), name)


def reshape(sp_input: SparseTensor, shape: ShapeLike, name: str | None = None) -> SparseTensor:
    """Return the same elements, in row-major order, in another shape; one length may be -1.

    Raises
    ------
    ShapeMismatch
        If the sizes of the shapes differ.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.sparse.reshape(lab.SparseTensor([[0, 1]], [5], [2, 3]), [3, 2]).indices)
    Tensor([[0 1]], shape=(1, 2), dtype=int64)
    """
    x = sparse(sp_input, "reshape")
    size = int(np.prod(x._shape))
    wanted = [int(n) for n in as_integers(shape, "sparse.reshape: shape")]
    if wanted.count(-1) > 1 or min(wanted, default=0) < -1:
        raise InvalidArgumentError(
            f"sparse.reshape: expected non-negative lengths, at most one of them -1, got {wanted}."
        )
    if wanted.count(-1) == 1:
        rest = int(np.prod([n for n in wanted if n != -1]))
        wanted[wanted.index(-1)] = size // rest if rest else 0
    if int(np.prod(wanted)) != size:
        raise ShapeMismatch(f"sparse.reshape: cannot reshape {size} elements to shape {wanted}.")
    return named(SparseTensor(np.stack(np.unravel_index(flat_places(x), wanted), axis=1), x.values, wanted), name)


def expand_dims(sp_input: SparseTensor, axis: int | None = None, name: str | None = None) -> SparseTensor:
    """Insert an axis of length 1, as the last if `axis` is not given.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.sparse.expand_dims(lab.SparseTensor([[1]], [5], [2]), 0).shape
    TensorShape([1, 2])
    """
    x = sparse(sp_input, "expand_dims")
    at = axis_of(-1 if axis is None else axis, x.ndim + 1, "sparse.expand_dims")
    shape = [*x.shape[:at], 1, *x.shape[at:]]
    return named(SparseTensor(np.insert(x.indices._array, at, 0, axis=1), x.values, shape), name)


def eye(
    num_rows: int, num_columns: int | None = None, dtype: DTypeLike = "float32", name: str | None = None
) -> SparseTensor:
    """Return a sparse matrix with ones on the diagonal.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.sparse.to_dense(lab.sparse.eye(2)))
    Tensor([[1. 0.]
     [0. 1.]], shape=(2, 2), dtype=float32)
    """
    lines, columns = as_shape([num_rows, num_rows if num_columns is None else num_columns])
    places = np.repeat(np.arange(min(lines, columns))[:, None], 2, axis=1)
    return named(SparseTensor(places, ones(len(places), as_dtype(dtype)), [lines, columns]), name)


def concat(
    axis: int, sp_inputs: Sequence[Any], expand_nonconcat_dims: bool = False, name: str | None = None
) -> SparseTensor:
    """Concatenate sparse tensors along an axis.

    Raises
    ------
    ShapeMismatch
        If they differ along another axis and `expand_nonconcat_dims` is False.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> x = lab.SparseTensor([[0]], [5], [2])
    >>> print(lab.sparse.to_dense(lab.sparse.concat(0, [x, x])))
    Tensor([5 0 5 0], shape=(4,), dtype=int32)
    """
    parts = [sparse(x, "concat") for x in (sp_inputs if isinstance(sp_inputs, (list, tuple)) else [sp_inputs])]
    if not parts or len({x.ndim for x in parts}) > 1:
        raise ShapeMismatch(
            f"sparse.concat: expected tensors of equal rank, got shapes {[tuple(x._shape) for x in parts]}."
        )
    at = axis_of(axis, parts[0].ndim, "sparse.concat")
    shapes = np.array([x._shape for x in parts], np.int64)
    others = np.delete(shapes, at, axis=1)
    if (others != others[0]).any() and not expand_nonconcat_dims:
        raise ShapeMismatch(
            f"sparse.concat: shapes {shapes.tolist()} differ outside axis {at}. Try expand_nonconcat_dims=True."
        )
    starts = np.cumsum(shapes[:, at]) - shapes[:, at]
    places = np.concatenate(
        [x.indices._array + start * (np.arange(x.ndim) == at) for x, start in zip(parts, starts, strict=True)]
    )
    whole = shapes.max(axis=0)
    whole[at] = shapes[:, at].sum()
    return named(reorder(SparseTensor(places, concat_dense([x.values for x in parts], axis=0), whole)), name)


def slice(sp_input: SparseTensor, start: TensorLike, size: TensorLike, name: str | None = None) -> SparseTensor:
    """Return the part of this `size` from `start` on, truncated at the end of the tensor.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.sparse.slice(lab.SparseTensor([[0], [3]], [5, 6], [4]), [2], [2]).indices)
    Tensor([[1]], shape=(1, 1), dtype=int64)
    """
    x = sparse(sp_input, "slice")
    first = integer_vector(start, "sparse.slice: start")
    if len(first) != x.ndim or len(as_shape(size)) != x.ndim or (first < 0).any():
        raise InvalidArgumentError(
            f"sparse.slice: expected a non-negative start and a size for each axis of shape {x.shape}."
        )
    length = np.clip(np.array(x._shape) - first, 0, np.array(as_shape(size), np.int64))
    moved = x.indices._array - first
    kept = np.flatnonzero(((moved >= 0) & (moved < length)).all(axis=1))
    return named(SparseTensor(moved[kept], taken(x.values, kept), length), name)


def split(sp_input: SparseTensor, num_split: int, axis: int, name: str | None = None) -> list[SparseTensor]:
    """Split into equal parts along an axis; the first parts are longer by 1 if the length is not a multiple.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> [part.shape for part in lab.sparse.split(lab.SparseTensor([[0]], [5], [3]), 2, 0)]
    [TensorShape([2]), TensorShape([1])]
    """
    x = sparse(sp_input, "split")
    at, count = axis_of(axis, x.ndim, "sparse.split"), integer(num_split, "sparse.split: num_split")
    if not 1 <= count <= max(x._shape[at], 1):
        raise InvalidArgumentError(f"sparse.split: axis {axis} of shape {x.shape} cannot be split into {count} parts.")
    lengths = [len(part) for part in np.array_split(np.arange(x._shape[at]), count)]
    starts = np.cumsum([0, *lengths])
    whole = np.array(x._shape, np.int64)
    return named(
        [
            slice(x, np.where(np.arange(x.ndim) == at, begin, 0), np.where(np.arange(x.ndim) == at, length, whole))
            for begin, length in zip(starts, lengths, strict=False)
        ],
        name,
    )


def retain(sp_input: SparseTensor, to_retain: TensorLike) -> SparseTensor:
    """Keep the values for which a mask is true.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.sparse.retain(lab.SparseTensor([[0], [2]], [5, 6], [3]), [False, True]).values)
    Tensor([6], shape=(1,), dtype=int32)
    """
    x = sparse(sp_input, "retain")
    mask = np.asarray(convert_to_tensor(to_retain, "bool")._array)
    if mask.shape != x.values._held.shape:
        raise ShapeMismatch(
            f"sparse.retain: expected a bool for each of the {len(x._indices)} values, got shape {mask.shape}."
        )
    kept = np.flatnonzero(mask)
    return SparseTensor(x.indices._array[kept], taken(x.values, kept), x._shape)


def reset_shape(sp_input: SparseTensor, new_shape: ShapeLike | None = None) -> SparseTensor:
    """Return the same elements in a larger shape, or in the smallest one that contains them.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.sparse.reset_shape(lab.SparseTensor([[1, 0]], [5], [4, 4])).shape
    TensorShape([2, 1])
    """
    x = sparse(sp_input, "reset_shape")
    least = x.indices._array.max(axis=0, initial=-1) + 1
    wanted = least if new_shape is None else as_shape(new_shape)
    if len(wanted) != x.ndim or (np.asarray(wanted) < (0 if new_shape is None else np.array(x._shape))).any():
        raise ShapeMismatch(
            f"sparse.reset_shape: expected a shape at least as large as {x.shape} along every axis, got {list(wanted)}."
        )
    return SparseTensor(x.indices._array, x.values, wanted)


def map_values(op: Callable[..., Any], *args: Any, **kwargs: Any) -> SparseTensor:
    """Apply a function to the values; sparse arguments must have equal coordinates.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.sparse.map_values(lab.add, lab.SparseTensor([[1]], [5.0], [2]), 1.0).values)
    Tensor([6.], shape=(1,), dtype=float32)
    """
    if not callable(op):
        raise NotCallable(f"sparse.map_values: expected a function, got {op!r:.80}.")
    found = [a for a in (*args, *kwargs.values()) if isinstance(a, SparseTensor)]
    if not found:
        return op(*args, **kwargs)
    like = found[0]
    if any(x.shape != like.shape or not np.array_equal(x.indices._array, like.indices._array) for x in found):
        raise ShapeMismatch("sparse.map_values: the coordinates or shapes of the sparse arguments differ.")

    def values(argument: Any) -> Any:
        return argument.values if isinstance(argument, SparseTensor) else argument

    return like.with_values(op(*[values(a) for a in args], **{k: values(a) for k, a in kwargs.items()}))


def reduce_sum(
    sp_input: SparseTensor,
    axis: IntsLike | None = None,
    keepdims: bool = False,
    output_is_sparse: bool = False,
    name: str | None = None,
) -> Any:
    """Sum over axes, by default all; the result is dense unless `output_is_sparse`.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.sparse.reduce_sum(lab.SparseTensor([[0, 0], [0, 1]], [2.0, 3.0], [2, 2]), axis=1))
    Tensor([5. 0.], shape=(2,), dtype=float32)
    """
    keep = flag(keepdims, "reduce_sum: keepdims")
    return named(reduced("reduce_sum", sparse(sp_input, "reduce_sum"), axis, keep, output_is_sparse), name)


def reduce_max(
    sp_input: SparseTensor,
    axis: IntsLike | None = None,
    keepdims: bool = False,
    output_is_sparse: bool = False,
    name: str | None = None,
) -> Any:
    """Return the largest of the stored values over axes, 0 where there are none.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.sparse.reduce_max(lab.SparseTensor([[0, 0], [0, 1]], [-2.0, -3.0], [2, 2]), axis=1))
    Tensor([-2.  0.], shape=(2,), dtype=float32)
    """
    keep = flag(keepdims, "reduce_max: keepdims")
    return named(reduced("reduce_max", sparse(sp_input, "reduce_max"), axis, keep, output_is_sparse), name)
