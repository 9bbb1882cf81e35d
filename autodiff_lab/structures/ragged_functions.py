"""What makes ragged tensors and works on them: ``lab.ragged`` and the longer methods of `RaggedTensor`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autodiff_lab.engine.convert import convert, convert_to_tensor
from autodiff_lab.engine.dtypes import as_dtype
from autodiff_lab.engine.tensor import Tensor, wrap
from autodiff_lab.engine.variable import Variable
from autodiff_lab.errors import ConversionError, InvalidArgumentError, ShapeMismatch
from autodiff_lab.ops.array.gathering import gather_axis, laid_beside
from autodiff_lab.ops.array.joining import concat
from autodiff_lab.ops.array.shaping import reshape
from autodiff_lab.structures.partition import RowPartition, whole_vector
from autodiff_lab.structures.ragged import RaggedTensor
from autodiff_lab.structures.ragged_making import count
from autodiff_lab.structures.ragged_parts import picked
from autodiff_lab.structures.sparse import SparseTensor


def constant(
    pylist: Any,
    dtype: Any = None,
    ragged_rank: int | None = None,
    inner_shape: Any = None,
    name: str | None = None,
    row_splits_dtype: Any = None,
) -> Any:
    """A ragged tensor from nested lists whose rows may differ in length.

    Parameters
    ----------
    pylist : nested list
        All numbers at the same depth.
    dtype : DType, optional
        Of the values.
    ragged_rank : int, optional
        Number of ragged axes; all but the first are ragged if it is not given.
    inner_shape : sequence of int, optional
        Shape of what the innermost rows hold.

    Raises
    ------
    ConversionError
        If numbers stand at different depths, or are no numbers.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.ragged.constant([[1, 2, 3], [4, 5], [6]])
    <RaggedTensor [[1, 2, 3], [4, 5], [6]]>
    """
    depth = _depth(pylist)
    if depth == 0:
        raise ConversionError(f"ragged.constant: nested lists are needed, got {pylist!r}. Try lab.constant.")
    rank = depth - 1 - len(inner_shape or ()) if ragged_rank is None else ragged_rank
    if rank < 0 or (rank >= depth and _holds_numbers(pylist)):
        raise ConversionError(f"ragged.constant: lists of depth {depth} have no {rank} ragged axes.")
    rows: list[Any] = list(pylist)
    partitions: list[RowPartition] = []
    while len(partitions) < rank:
        if not all(_is_list(row) for row in rows):
            raise ConversionError("ragged.constant: all numbers must stand at the same depth of nested lists.")
        partitions.append(RowPartition.from_lengths(np.array([len(row) for row in rows], np.int64)))
        rows = [item for row in rows for item in row]
    if any(_is_list(item) != _is_list(rows[0]) for item in rows):
        raise ConversionError("ragged.constant: all numbers must stand at the same depth of nested lists.")
    values: Any = convert_to_tensor(rows, dtype)
    if inner_shape is not None:
        values = reshape(values, (len(rows), *inner_shape))
    for partition in reversed(partitions):
        values = RaggedTensor(values, partition)
    return values


def _is_list(value: Any) -> bool:
    return isinstance(value, (list, tuple)) or (isinstance(value, np.ndarray) and value.ndim > 0)


def _holds_numbers(value: Any) -> bool:
    return any(map(_holds_numbers, value)) if _is_list(value) else True


def _depth(value: Any) -> int:
    return 1 + max((_depth(item) for item in value), default=0) if _is_list(value) else 0


def map_flat_values(op: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Run a function on the flat values of ragged tensors; the rows stay as they are.

    Ragged arguments must have equal rows.  A tensor among the arguments broadcasts: one number, one that fits what the
    rows hold, or, as a column, one number for each row.

    Raises
    ------
    ShapeMismatch
        If rows differ, or a tensor does not broadcast to them.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.ragged.map_flat_values(lab.square, lab.ragged.constant([[1.0, 2.0], [3.0]]))
    <RaggedTensor [[1.0, 4.0], [9.0]]>
    """
    like = next((a for a in (*args, *kwargs.values()) if isinstance(a, RaggedTensor)), None)
    if like is None:
        return op(*args, **kwargs)
    result = op(*[_flat(a, like) for a in args], **{k: _flat(a, like) for k, a in kwargs.items()})
    flat = convert(result)
    if flat._array.ndim == 0 or flat._array.shape[0] != count(like.flat_values):
        raise ShapeMismatch(
            f"map_flat_values: the function must keep the first axis, of length {count(like.flat_values)}; it gave "
            f"shape {flat._array.shape}. Try lab.reduce_sum(x, axis=1) and its like for reductions."
        )
    return like.with_flat_values(flat)


def _flat(value: Any, like: RaggedTensor) -> Any:
    """An argument as it meets the flat values of a ragged tensor."""
    if isinstance(value, RaggedTensor):
        pairs = zip(value.partitions, like.partitions, strict=False)
        if value.ragged_rank != like.ragged_rank or not all(a.same(b) for a, b in pairs):
            raise ShapeMismatch(
                f"ragged tensors of shapes {value.shape} and {like.shape} do not have equal rows: their splits are "
                f"{value.row_splits._array.tolist()} and {like.row_splits._array.tolist()}."
            )
        return value.flat_values
    if not isinstance(value, (Tensor, Variable, np.ndarray, list)):
        return value
    tensor = convert(value, like.flat_values)
    shape, inner = tensor._array.shape, like.flat_values._array.ndim - 1
    if len(shape) <= inner or len(shape) == 0:
        return tensor
    if like.ragged_rank == 1 and len(shape) == inner + 2:
        if shape[0] in (1, len(like)) and shape[1] == 1:
            column = reshape(tensor, (shape[0], *shape[2:]))
            rows = like.partitions[0].row_numbers * (shape[0] > 1)
            return gather_axis(column, laid_beside(column, rows), axis=-column._array.ndim)
        if shape[0] == len(like) and (like.partitions[0].lengths == shape[1]).all():
            return reshape(tensor, (-1, *shape[2:]))
    raise ShapeMismatch(
        f"a tensor of shape {shape} does not broadcast to the rows of a ragged tensor of shape "
        f"{like.shape}. Try one number, a column with one number a row, or a ragged tensor."
    )


def range(
    starts: Any,
    limits: Any = None,
    deltas: Any = 1,
    dtype: Any = None,
    name: str | None = None,
    row_splits_dtype: Any = None,
) -> RaggedTensor:
    """Rows that count from `starts` up to, and without, `limits`.

    Shapes: starts, limits, deltas broadcast to (n) -> (n, None).

    Raises
    ------
    InvalidArgumentError
        If a delta is 0.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.ragged.range([3, 5, 2])
    <RaggedTensor [[0, 1, 2], [0, 1, 2, 3, 4], [0, 1]]>
    """
    if limits is None:
        starts, limits = 0, starts
    arrays = [np.atleast_1d(convert(v)._array) for v in (starts, limits, deltas)]
    kind = np.result_type(*arrays) if dtype is None else as_dtype(dtype).dtype
    if (arrays[2] == 0).any():
        raise InvalidArgumentError("ragged.range: a delta of 0 never reaches its limit")
    rows = [np.arange(*items, dtype=kind) for items in zip(*np.broadcast_arrays(*arrays), strict=True)]
    lengths = np.array([len(row) for row in rows], np.int64)
    return RaggedTensor(wrap(np.concatenate([np.empty(0, kind), *rows])), RowPartition.from_lengths(lengths))


def stack(values: Sequence[Any], axis: int = 0, name: str | None = None) -> RaggedTensor:
    """Tensors of different lengths as the rows of a ragged tensor.

    Shapes: n tensors (m_i, *inner) -> (n, None, *inner).

    Raises
    ------
    InvalidArgumentError
        If `axis` is not 0, or there is nothing to stack.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.ragged.stack([[1, 2], [3]])
    <RaggedTensor [[1, 2], [3]]>
    """
    if axis != 0 or not values:
        raise InvalidArgumentError(
            f"ragged.stack: a list of tensors is stacked along axis 0, got axis {axis} and {len(values)} tensors."
        )
    parts = [v if isinstance(v, RaggedTensor) else convert(v) for v in values]
    lengths = np.array([count(p) for p in parts], np.int64)
    return RaggedTensor(_joined(parts), RowPartition.from_lengths(lengths))


def _joined(parts: Sequence[Any]) -> Any:
    """One after the other along the first axis."""
    if not any(isinstance(p, RaggedTensor) for p in parts):
        return concat(list(parts), axis=0)
    ragged = [p if isinstance(p, RaggedTensor) else RaggedTensor.from_tensor(p) for p in parts]
    lengths = np.concatenate([p.partitions[0].lengths for p in ragged])
    return RaggedTensor(_joined([p.values for p in ragged]), RowPartition.from_lengths(lengths))


def boolean_mask(data: Any, mask: Any, name: str | None = None) -> Any:
    """The elements where a mask is true; a mask over rows and columns leaves rows of different lengths.

    Shapes: data (n, m, *inner), mask (n, m) -> (n, None, *inner); a mask (n) picks rows.

    Raises
    ------
    ShapeMismatch
        If the mask is not cut like the data.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.ragged.boolean_mask([[1, 2, 3], [4, 5, 6]], [[True, False, True], [False, False, True]])
    <RaggedTensor [[1, 3], [6]]>
    """
    chosen = mask if isinstance(mask, RaggedTensor) else convert(mask)
    if chosen.dtype.name != "bool":
        raise InvalidArgumentError(f"ragged.boolean_mask: the mask is bool, got {chosen.dtype.name}")
    values = data if isinstance(data, RaggedTensor) else convert(data)
    if chosen.ndim == 1:
        _same_length(count(values), count(chosen))
        return picked(values, np.flatnonzero(chosen._array))  # type: ignore[union-attr]
    rows = chosen if isinstance(chosen, RaggedTensor) else RaggedTensor.from_tensor(chosen)
    cut = values if isinstance(values, RaggedTensor) else RaggedTensor.from_tensor(values)
    if not rows.partitions[0].same(cut.partitions[0]):
        raise ShapeMismatch(f"ragged.boolean_mask: mask {rows.shape} and data {cut.shape} are not cut alike")
    if rows.ndim > 2:
        return cut.with_values(boolean_mask(cut.values, rows.values))
    kept = rows.flat_values._array
    lengths = np.bincount(rows.partitions[0].row_numbers[kept], minlength=len(rows))
    return RaggedTensor(picked(cut.values, np.flatnonzero(kept)), RowPartition.from_lengths(lengths))


def _same_length(a: int, b: int) -> None:
    if a != b:
        raise ShapeMismatch(f"ragged: first axes of lengths {a} and {b} do not agree")


def stack_dynamic_partitions(data: Any, partitions: Any, num_partitions: int, name: str | None = None) -> RaggedTensor:
    """Rows by number: row i holds the elements of `data` whose partition is i, in their order.

    Shapes: data (n, *inner), partitions (n) -> (num_partitions, None, *inner).

    Raises
    ------
    InvalidArgumentError
        If a number is not in [0, num_partitions).

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.ragged.stack_dynamic_partitions([10, 20, 30], [1, 0, 1], num_partitions=2)
    <RaggedTensor [[20], [10, 30]]>
    """
    numbers = whole_vector(partitions, "stack_dynamic_partitions")
    values = data if isinstance(data, RaggedTensor) else convert(data)
    _same_length(count(values), len(numbers))
    if numbers.size and not (numbers.min() >= 0 and numbers.max() < num_partitions):
        raise InvalidArgumentError(f"stack_dynamic_partitions: a number is not in [0, {num_partitions})")
    order = np.argsort(numbers, kind="stable")
    lengths = np.bincount(numbers, minlength=int(num_partitions))
    return RaggedTensor(picked(values, order), RowPartition.from_lengths(lengths))


def from_tensor(tensor: Tensor, lengths: Any, padding: Any, ragged_rank: int) -> RaggedTensor:
    """`RaggedTensor.from_tensor`."""
    array = tensor._array
    if array.ndim <= ragged_rank or ragged_rank < 1:
        raise ShapeMismatch(f"from_tensor: a tensor of shape {array.shape} has no {ragged_rank} axes to make ragged")
    if lengths is not None and padding is not None:
        raise InvalidArgumentError("from_tensor: give lengths or padding, not both")
    rows, width = array.shape[:2]
    flat = reshape(tensor, (rows * width, *array.shape[2:]))
    if ragged_rank > 1:
        if lengths is not None or padding is not None:
            raise InvalidArgumentError("from_tensor: lengths and padding are for ragged_rank=1")
        inner = from_tensor(flat, None, None, ragged_rank - 1)
        return RaggedTensor(inner, RowPartition.from_lengths(np.full(rows, width, np.int64)))
    kept = np.full(rows, width, np.int64)
    if lengths is not None:
        kept = np.minimum(whole_vector(lengths, "from_tensor"), width)
        _same_length(len(kept), rows)
    elif padding is not None:
        real = array != np.asarray(convert(padding, tensor)._array)
        real = np.any(np.asarray(real, np.bool_), axis=tuple(np.arange(2, array.ndim)), keepdims=True)
        real = real.reshape(rows, width)
        kept = np.where(real.any(axis=1), width - np.argmax(real[:, ::-1], axis=1), 0) if width else kept
    partition = RowPartition.from_lengths(kept)
    positions = partition.places + partition.row_numbers * width
    return RaggedTensor(picked(flat, positions), partition)


def from_sparse(sparse: SparseTensor) -> RaggedTensor:
    """`RaggedTensor.from_sparse`."""
    places = sparse.indices._array
    if places.shape[1] != 2:
        raise ShapeMismatch(f"from_sparse: a sparse matrix is needed, got shape {sparse.shape}")
    partition = RowPartition.from_row_numbers(places[:, 0], int(sparse.dense_shape._array[0]))
    if not np.array_equal(partition.places, places[:, 1]):
        raise InvalidArgumentError("from_sparse: the values of each row must stand at its beginning, without gaps")
    return RaggedTensor(sparse.values, partition)


def to_sparse(x: RaggedTensor) -> SparseTensor:
    """`RaggedTensor.to_sparse`."""
    positions = x._positions([None] * x.ndim)
    total = count(x.flat_values)
    outer = np.argwhere(positions < total)
    order = positions[positions < total]
    flat = picked(x.flat_values, order)
    inner = flat._array.shape[1:]
    if inner:
        inside = np.argwhere(np.ones(inner, np.bool_))
        outer = np.concatenate([np.repeat(outer, len(inside), axis=0), np.tile(inside, (total, 1))], axis=1)
        flat = reshape(flat, (-1,))
    return SparseTensor(outer, flat, [*positions.shape, *inner])
