"""The functions of ``lab.ragged``, and the longer methods of `RaggedTensor`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from autodiff_lab.engine.convert import convert, convert_to_tensor
from autodiff_lab.engine.dtypes import as_dtype
from autodiff_lab.engine.shape import as_integer, as_integers
from autodiff_lab.engine.tensor import Tensor, named, wrap
from autodiff_lab.errors import ConversionError, InvalidArgumentError, NotCallable, ShapeMismatch
from autodiff_lab.extras.ragged import shaping
from autodiff_lab.extras.ragged.broadcasting import same_rows
from autodiff_lab.extras.ragged.making import count
from autodiff_lab.extras.ragged.partition import RowPartition, integer_vector, wants_narrow
from autodiff_lab.extras.ragged.parts import picked
from autodiff_lab.extras.ragged.tensor import RaggedTensor
from autodiff_lab.extras.sparse.tensor import SparseTensor
from autodiff_lab.ops.array.shaping import reshape
from autodiff_lab.ops.checks import room

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import DTypeLike, TensorLike


def constant(
    pylist: Sequence[object],
    dtype: DTypeLike | None = None,
    ragged_rank: int | None = None,
    inner_shape: Sequence[int] | None = None,
    name: str | None = None,
    row_splits_dtype: DTypeLike | None = None,
) -> Any:
    """Create a ragged tensor from nested lists whose rows may differ in length.

    Parameters
    ----------
    pylist : nested list
        Nested lists with all numbers at the same depth.
    dtype : DType, optional
        The dtype of the values.
    ragged_rank : int, optional
        Number of ragged axes; by default, all but the first are ragged.
    inner_shape : sequence of int, optional
        Shape of the items of the innermost rows.
    row_splits_dtype : DType, optional
        int32 or int64 (default).

    Raises
    ------
    ConversionError
        If numbers are at different depths, or there is no list.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.ragged.constant([[1, 2, 3], [4, 5], [6]])
    <RaggedTensor [[1, 2, 3], [4, 5], [6]]>
    """
    depth = _depth(pylist)
    if depth == 0:
        raise ConversionError(f"ragged.constant: expected nested lists, got {pylist!r}. Try lab.constant.")
    inner = None if inner_shape is None else as_integers(inner_shape, "ragged.constant: inner_shape")
    rank = depth - 1 - len(inner or ())
    if ragged_rank is not None:
        rank = as_integer(ragged_rank, "ragged.constant: ragged_rank")
    if rank < 0 or (rank >= depth and _holds_numbers(pylist)):
        raise ConversionError(f"ragged.constant: lists of depth {depth} cannot have {rank} ragged axes.")
    rows: list[Any] = list(pylist)
    narrow = wants_narrow(row_splits_dtype)
    partitions: list[RowPartition] = []
    while len(partitions) < rank:
        if not all(_is_list(row) for row in rows):
            raise ConversionError("ragged.constant: all numbers must be at the same depth of the nested lists.")
        partitions.append(RowPartition.from_lengths(np.array([len(row) for row in rows], np.int64), narrow=narrow))
        rows = [item for row in rows for item in row]
    if any(_is_list(item) != _is_list(rows[0]) for item in rows):
        raise ConversionError("ragged.constant: all numbers must be at the same depth of the nested lists.")
    values: Any = convert_to_tensor(rows, dtype)
    if inner is not None:
        values = reshape(values, (len(rows), *inner))
    for partition in reversed(partitions):
        values = RaggedTensor(values, partition)
    return named(values, name)


def _is_list(value: Any) -> bool:
    return isinstance(value, (list, tuple)) or (isinstance(value, np.ndarray) and value.ndim > 0)


def _holds_numbers(value: Any) -> bool:
    return any(map(_holds_numbers, value)) if _is_list(value) else True


def _depth(value: Any) -> int:
    return 1 + max((_depth(item) for item in value), default=0) if _is_list(value) else 0


def map_flat_values(op: Callable[..., object], *args: object, **kwargs: object) -> Any:
    """Apply a function to the flat values of ragged tensors, keeping the rows.

    Ragged arguments, including those in lists, must have equal rows; all others are passed on unchanged.

    Raises
    ------
    ShapeMismatch
        If the rows differ, or the function does not return one result for each value.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.ragged.map_flat_values(lab.square, lab.ragged.constant([[1.0, 2.0], [3.0]]))
    <RaggedTensor [[1.0, 4.0], [9.0]]>
    """
    if not callable(op):
        raise NotCallable(f"map_flat_values: expected a function, got {op!r:.80}.")
    found: list[RaggedTensor] = []
    flat_args = [_flat(a, found) for a in args]
    flat_kwargs = {k: _flat(a, found) for k, a in kwargs.items()}
    if not found:
        return op(*args, **kwargs)
    like = found[0]
    for other in found[1:]:
        if not same_rows(other, like):
            raise ShapeMismatch(
                f"map_flat_values: the rows of ragged tensors of shapes {other.shape} and {like.shape} differ: "
                f"their splits are {other.row_splits._array.tolist()[:10]} and {like.row_splits._array.tolist()[:10]}."
            )
    flat = convert(op(*flat_args, **flat_kwargs))
    if flat._held.ndim == 0 or flat._held.shape[0] != count(like.flat_values):
        raise ShapeMismatch(
            f"map_flat_values: the function must keep the first axis, of length {count(like.flat_values)}, but it "
            f"returned shape {flat._held.shape}. For reductions, try lab.reduce_sum(x, axis=1) and similar functions."
        )
    return like.with_flat_values(flat)


def _flat(value: Any, found: list[RaggedTensor]) -> Any:
    """Replace the ragged tensors of an argument by their flat values, and append them to a list."""
    if isinstance(value, RaggedTensor):
        found.append(value)
        return value.flat_values
    if isinstance(value, (list, tuple)) and any(isinstance(item, RaggedTensor) for item in value):
        return [_flat(item, found) for item in value]
    return value


def range(
    starts: TensorLike,
    limits: TensorLike | None = None,
    deltas: TensorLike = 1,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    row_splits_dtype: DTypeLike | None = None,
) -> RaggedTensor:
    """Return rows that count from `starts` up to, but not including, `limits`.

    Shapes: starts, limits, deltas broadcast to (n) -> (n, None).

    Raises
    ------
    InvalidArgumentError
        If a delta is 0 or nan, or a row has no finite length.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.ragged.range([3, 5, 2])
    <RaggedTensor [[0, 1, 2], [0, 1, 2, 3, 4], [0, 1]]>
    """
    if limits is None:
        starts, limits = 0, starts
    arrays = [np.atleast_1d(convert(v)._array) for v in (starts, limits, deltas)]
    for array in arrays:
        if array.ndim > 1 or array.dtype.kind not in "fiu":
            raise InvalidArgumentError(
                "ragged.range: starts, limits and deltas must be numbers or vectors, got "
                f"{array.dtype} of shape {array.shape}."
            )
    if len({array.size for array in arrays} - {1}) > 1:
        raise ShapeMismatch(f"ragged.range: vectors of lengths {[array.size for array in arrays]} do not broadcast.")
    kind = np.result_type(*arrays) if dtype is None else as_dtype(dtype).dtype
    if not (abs(arrays[2]) > 0).all():
        raise InvalidArgumentError("ragged.range: deltas must be numbers other than 0.")
    total = sum(
        max(0.0, float(b - a) / float(c))
        for a, b, c in zip(*np.broadcast_arrays(*[array.astype(np.float64) for array in arrays]), strict=True)
    )
    if not (np.isfinite(arrays[0]).all() and np.isfinite(arrays[1]).all() and total < 1 << 57):
        raise InvalidArgumentError("ragged.range: the rows are infinite or do not fit into memory.")
    room(int(total), "ragged.range")
    rows = [np.arange(*items, dtype=kind) for items in zip(*np.broadcast_arrays(*arrays), strict=True)]
    lengths = np.array([len(row) for row in rows], np.int64)
    partition = RowPartition.from_lengths(lengths, narrow=wants_narrow(row_splits_dtype))
    return named(RaggedTensor(wrap(np.concatenate([np.empty(0, kind), *rows])), partition), name)


def stack(values: Sequence[TensorLike | RaggedTensor], axis: int = 0, name: str | None = None) -> RaggedTensor:
    """Stack tensors of different lengths as the rows of a ragged tensor, or along a later axis.

    Shapes: n tensors (m_i, *inner) -> (n, None, *inner).

    Raises
    ------
    InvalidArgumentError
        If the axis is out of bounds, or there are no tensors.
    ShapeMismatch
        If the ranks differ, or the rows outside the axis do.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.ragged.stack([[1, 2], [3]])
    <RaggedTensor [[1, 2], [3]]>
    """
    if not isinstance(values, (list, tuple)) or not values:
        raise InvalidArgumentError("ragged.stack: expected a list of at least one tensor.")
    return named(shaping.stack(values, axis), name)


def boolean_mask(data: TensorLike, mask: TensorLike, name: str | None = None) -> Any:
    """Return the elements where a mask is true, as ragged rows if the mask covers rows and columns.

    Shapes: data (n, m, *inner), mask (n, m) -> (n, None, *inner); a mask (n) selects rows.

    Raises
    ------
    ShapeMismatch
        If the mask and the data have different rows.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.ragged.boolean_mask([[1, 2, 3], [4, 5, 6]], [[True, False, True], [False, False, True]])
    <RaggedTensor [[1, 3], [6]]>
    """
    return named(shaping.boolean_mask(data, mask), name)


def _same_length(a: int, b: int) -> None:
    if a != b:
        raise ShapeMismatch(f"ragged: first axes of lengths {a} and {b} differ.")


def stack_dynamic_partitions(
    data: TensorLike, partitions: TensorLike, num_partitions: int, name: str | None = None
) -> RaggedTensor:
    """Group the elements of `data` into rows: row i holds those whose partition is i, in order.

    Shapes: data (n, *inner), partitions (n) -> (num_partitions, None, *inner).

    Raises
    ------
    InvalidArgumentError
        If a partition is not in [0, num_partitions).

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.ragged.stack_dynamic_partitions([10, 20, 30], [1, 0, 1], num_partitions=2)
    <RaggedTensor [[20], [10, 30]]>
    """
    numbers = integer_vector(partitions, "stack_dynamic_partitions")
    total = as_integer(num_partitions, "stack_dynamic_partitions: num_partitions", 0)
    values = data if isinstance(data, RaggedTensor) else convert(data)
    _same_length(count(values), len(numbers))
    if numbers.size and not (numbers.min() >= 0 and numbers.max() < total):
        raise InvalidArgumentError(f"stack_dynamic_partitions: a partition is not in [0, {total}).")
    order = np.argsort(numbers, kind="stable")
    lengths = np.bincount(numbers, minlength=total)
    return named(RaggedTensor(picked(values, order), RowPartition.from_lengths(lengths)), name)


def from_tensor(tensor: Tensor, lengths: Any, padding: Any, ragged_rank: int, narrow: bool) -> RaggedTensor:
    """Implement `RaggedTensor.from_tensor`."""
    array = tensor._array
    if lengths is not None and padding is not None:
        raise InvalidArgumentError("from_tensor: lengths and padding cannot be combined. Try one of them.")
    if isinstance(lengths, (list, tuple)) and lengths and all(np.ndim(part) == 1 for part in lengths):
        return _nested_lengths(tensor, list(lengths), narrow)
    if array.ndim <= ragged_rank or ragged_rank < 1:
        raise ShapeMismatch(f"from_tensor: a tensor of shape {array.shape} cannot have {ragged_rank} ragged axes.")
    rows, width = array.shape[:2]
    if ragged_rank > 1:
        if lengths is not None:
            raise InvalidArgumentError(
                "from_tensor: a vector of lengths needs ragged_rank=1. Try a list of lengths, one for each axis."
            )
        flat = reshape(tensor, (rows * width, *array.shape[2:]))
        inner = from_tensor(flat, None, padding, ragged_rank - 1, narrow)
        return RaggedTensor(inner, RowPartition.from_lengths(np.full(rows, width, np.int64), narrow=narrow))
    kept = np.full(rows, width, np.int64)
    if lengths is not None:
        kept = np.minimum(integer_vector(lengths, "from_tensor"), width)
        _same_length(len(kept), rows)
    elif padding is not None:
        fill = np.asarray(convert(padding, tensor)._array)
        if fill.shape != array.shape[2:]:
            raise ShapeMismatch(
                f"from_tensor: expected padding of shape {array.shape[2:]}, the shape of one value, got {fill.shape}."
            )
        real = np.any(np.asarray(array != fill, np.bool_), axis=tuple(np.arange(2, array.ndim))).reshape(rows, width)
        kept = np.where(real.any(axis=1), width - np.argmax(real[:, ::-1], axis=1), 0) if width else kept
    return _cut(tensor, kept, narrow)


def _cut(tensor: Tensor, kept: Any, narrow: bool) -> RaggedTensor:
    """Return the first values of each row."""
    rows, width = tensor._held.shape[:2]
    partition = RowPartition.from_lengths(kept, narrow=narrow)
    positions = partition.places + partition.row_numbers * width
    return RaggedTensor(picked(reshape(tensor, (rows * width, *tensor._held.shape[2:])), positions), partition)


def _nested_lengths(tensor: Tensor, lengths: list[Any], narrow: bool) -> RaggedTensor:
    """Return a tensor cut to lengths along several axes, outermost first."""
    width = tensor._held.shape[1] if tensor._held.ndim > 1 else 0
    kept = np.minimum(integer_vector(lengths[0], "from_tensor"), width)
    _same_length(len(kept), tensor._held.shape[0])
    made = _cut(tensor, kept, narrow)
    return made if len(lengths) == 1 else made.with_values(_nested_lengths(made.values, lengths[1:], narrow))  # type: ignore[arg-type]


def from_sparse(sparse: SparseTensor, narrow: bool = False) -> RaggedTensor:
    """Implement `RaggedTensor.from_sparse`."""
    places = sparse.indices._array
    if places.shape[1] != 2:
        raise ShapeMismatch(f"from_sparse: expected a sparse matrix, got shape {sparse.shape}.")
    partition = RowPartition.from_row_numbers(places[:, 0], int(sparse.dense_shape._array[0]), narrow)
    if not np.array_equal(partition.places, places[:, 1]):
        raise InvalidArgumentError("from_sparse: the values of each row must be at its start, without gaps.")
    return RaggedTensor(sparse.values, partition)


def to_sparse(x: RaggedTensor) -> SparseTensor:
    """Implement `RaggedTensor.to_sparse`."""
    positions = x._positions([None] * x.ndim)
    total = count(x.flat_values)
    outer = np.argwhere(positions < total)
    order = positions[positions < total]
    flat = picked(x.flat_values, order)
    inner = flat._held.shape[1:]
    if inner:
        inside = np.argwhere(np.ones(inner, np.bool_))
        outer = np.concatenate([np.repeat(outer, len(inside), axis=0), np.tile(inside, (total, 1))], axis=1)
        flat = reshape(flat, (-1,))
    return SparseTensor(outer, flat, [*positions.shape, *inner])
