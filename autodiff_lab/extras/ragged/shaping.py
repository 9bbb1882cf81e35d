"""Shape functions of ragged tensors: adding, removing, repeating, reversing, joining and splitting axes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from autodiff_lab.engine.convert import convert
from autodiff_lab.engine.shape import as_integers
from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.errors import DtypeMismatch, InvalidArgumentError, ShapeMismatch
from autodiff_lab.extras.ragged.making import count
from autodiff_lab.extras.ragged.partition import RowPartition, Whole, axis_of
from autodiff_lab.extras.ragged.parts import as_ragged, either, picked
from autodiff_lab.extras.ragged.tensor import RaggedTensor
from autodiff_lab.ops.array import shaping
from autodiff_lab.ops.array.joining import concat as concat_dense
from autodiff_lab.ops.array.joining import stack as stack_dense


def from_lengths_of(lengths: Whole, like: RowPartition | None = None) -> RowPartition:
    """Return a partition into rows of these lengths, with the splits dtype of another partition."""
    return RowPartition.from_lengths(np.asarray(lengths, np.int64), narrow=like is not None and like.narrow)


def expand_dims(x: Any, axis: Any) -> Any:
    """Insert an axis of length 1.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.expand_dims(lab.ragged.constant([[1, 2], [3]]), 0).shape
    TensorShape([1, 2, None])
    """
    if isinstance(x, Tensor):
        return shaping.expand_dims(x, axis)
    at, narrow = axis_of(axis, x.ndim + 1, "expand_dims"), x.partitions[0].narrow
    if at == 0:
        return RaggedTensor(x, RowPartition.uniform_rows(1, len(x), narrow))
    if at == 1:
        return RaggedTensor(x, RowPartition.uniform_rows(len(x), 1, narrow))
    return x.with_values(expand_dims(x.values, at - 1))


def squeeze(x: RaggedTensor, axis: Any = None) -> Any:
    """Remove axes of length 1, which must be given.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.squeeze(lab.ragged.constant([[1], [2]]), axis=1))
    Tensor([1 2], shape=(2,), dtype=int32)
    """
    if axis is None:
        raise InvalidArgumentError("squeeze: the axes of a ragged tensor must be given. Try axis=[...].")
    axes = {axis_of(a, x.ndim, "squeeze") for a in as_integers(axis, "squeeze: axis")}
    for a in axes:
        lengths = np.array([len(x)]) if a == 0 else x.partitions[a - 1].lengths if a <= x.ragged_rank else np.ones(1)
        if (lengths != 1).any():
            raise ShapeMismatch(f"squeeze: axis {a} of shape {x.shape} must have length 1 in all rows.")
    inner = [a - x.ragged_rank for a in axes if a > x.ragged_rank]
    made: Any = shaping.squeeze(x.flat_values, inner) if inner else x.flat_values
    left = [p for a, p in enumerate(x.partitions, 1) if a not in axes]
    if left and 0 in axes:
        left = left[1:]
    for partition in reversed(left):
        made = RaggedTensor(made, partition)
    return shaping.squeeze(made, [0]) if set(range(x.ragged_rank + 1)) <= axes else made


def tile(x: RaggedTensor, multiples: Any) -> Any:
    """Repeat a ragged tensor along its axes.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.tile(lab.ragged.constant([[1, 2], [3]]), [1, 2])
    <RaggedTensor [[1, 2, 1, 2], [3, 3]]>
    """
    times = as_integers(multiples, "tile: multiples")
    if len(times) != x.ndim or min(times) < 0:
        raise InvalidArgumentError(f"tile: expected {x.ndim} non-negative multiples, got {times}.")
    made: Any = x
    for axis in reversed(range(x.ndim)):
        made = _repeated(made, times[axis], axis)
    return made


def _repeated(x: Any, times: int, axis: int) -> Any:
    if axis == 0:
        return picked(x, np.tile(np.arange(count(x)), times))
    if isinstance(x, Tensor):
        from autodiff_lab.ops.array.repeating import tile as tile_dense

        return tile_dense(x, [times if a == axis else 1 for a in range(x.ndim)])
    partition = x.partitions[0]
    if axis > 1:
        return x.with_values(_repeated(x.values, times, axis - 1))
    longer = from_lengths_of(partition.lengths * times, partition)
    rows = longer.row_numbers
    places = longer.places % np.maximum(partition.lengths[rows], 1) + partition.splits[:-1][rows]
    return RaggedTensor(picked(x.values, places), longer)


def reverse(x: RaggedTensor, axis: Any) -> RaggedTensor:
    """Reverse axes; ragged ones row by row.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.reverse(lab.ragged.constant([[1, 2], [3, 4, 5]]), [1])
    <RaggedTensor [[2, 1], [5, 4, 3]]>
    """
    axes = {axis_of(a, x.ndim, "reverse") for a in as_integers(axis, "reverse: axis")}
    keys = [slice(None, None, -1) if a in axes else slice(None) for a in range(max(axes, default=-1) + 1)]
    return x[tuple(keys)] if keys else x


def split(x: RaggedTensor, num_or_size_splits: Any, axis: Any = 0, num: int | None = None) -> list[Any]:
    """Split into equal parts, or parts of given sizes, along an axis that is not ragged.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.split(lab.ragged.constant([[1, 2], [3]]), 2)
    [<RaggedTensor [[1, 2]]>, <RaggedTensor [[3]]>]
    """
    at = axis_of(axis, x.ndim, "split")
    sizes = list(as_integers(num_or_size_splits, "split: num_or_size_splits"))
    single = np.ndim(num_or_size_splits) == 0
    if single and sizes[0] == 1:
        return [x]
    length = x.shape[at]
    if length is None:
        raise InvalidArgumentError(f"split: axis {at} of shape {x.shape} is ragged, so it cannot be split.")
    if single:
        if sizes[0] < 1 or length % sizes[0]:
            raise InvalidArgumentError(
                f"split: axis {at} of length {length} does not split into {sizes[0]} equal parts."
            )
        sizes = [length // sizes[0]] * sizes[0]
    if sum(sizes) != length or min(sizes, default=0) < 0 or num not in (None, len(sizes)):
        raise InvalidArgumentError(f"split: sizes {sizes} do not add up to {length}.")
    ahead = (slice(None),) * at
    return [x[(*ahead, slice(a, b))] for a, b in pairwise(np.cumsum([0, *sizes]).tolist())]


def concat(values: Sequence[Any], axis: Any) -> Any:
    """Concatenate ragged tensors (and tensors): more rows along axis 0, longer rows along axis 1.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> x, y = lab.ragged.constant([[1], [2, 3]]), lab.ragged.constant([[4, 5], []])
    >>> lab.concat([x, y], axis=0), lab.concat([x, y], axis=1)
    (<RaggedTensor [[1], [2, 3], [4, 5], []]>, <RaggedTensor [[1, 4, 5], [2, 3]]>)
    """
    parts = _alike(values, "concat")
    at = axis_of(axis, parts[0].ndim, "concat")
    return parts[0] if len(parts) == 1 else _concat(parts, at)


def _alike(values: Sequence[Any], what: str) -> list[Any]:
    """Return operands of equal rank and dtype."""
    first = next((v for v in values if isinstance(v, RaggedTensor)), None)
    like = None if first is None else first.flat_values
    parts = [v if isinstance(v, RaggedTensor) else convert(v, like) for v in values]
    if not parts:
        raise InvalidArgumentError(f"{what}: the list is empty. Try at least one tensor.")
    if len({p.ndim for p in parts}) > 1:
        raise ShapeMismatch(f"{what}: the ranks differ; shapes are {[tuple(p.shape) for p in parts]}.")
    if len({p.dtype for p in parts}) > 1:
        raise DtypeMismatch(f"{what}: the dtypes differ: {', '.join(p.dtype.name for p in parts)}. Try lab.cast.")
    return parts


def _concat(parts: list[Any], at: int) -> Any:
    if all(isinstance(p, Tensor) for p in parts):
        return concat_dense(parts, axis=at)
    parts = [as_ragged(p) for p in parts]
    narrow = all(p.partitions[0].narrow for p in parts)
    lengths = [p.partitions[0].lengths for p in parts]
    if at > 1:
        _same_rows(parts, at)
        return parts[0].with_values(_concat([p.values for p in parts], at - 1))
    if at == 0:
        rows = RowPartition.from_lengths(np.concatenate(lengths), narrow=narrow)
        return RaggedTensor(_concat([p.values for p in parts], 0), rows)
    if len({len(p) for p in parts}) > 1:
        raise ShapeMismatch(
            f"concat: along axis 1, all tensors must have the same number of rows, got {[len(p) for p in parts]}."
        )
    order = np.arange(len(parts) * len(parts[0])).reshape(len(parts), -1).T.ravel()
    rows = RowPartition.from_lengths(np.asarray(np.sum(lengths, axis=0, dtype=np.int64)), narrow=narrow)
    return RaggedTensor(picked(_concat(parts, 0), order).values, rows)


def _same_rows(parts: list[RaggedTensor], at: int) -> None:
    if not all(p.partitions[0].same(parts[0].partitions[0]) for p in parts):
        raise ShapeMismatch(f"concat: along axis {at}, the rows must be equal; got shapes {[p.shape for p in parts]}.")


def stack(values: Sequence[Any], axis: Any = 0) -> Any:
    """Stack ragged tensors (and tensors) along a new axis; their lengths may differ.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> x = lab.ragged.constant([[1], [2, 3]])
    >>> lab.stack([x, x], axis=1)
    <RaggedTensor [[[1], [1]], [[2, 3], [2, 3]]]>
    """
    parts = _alike(values, "stack")
    rank = parts[0].ndim
    at = axis_of(axis, rank + 1, "stack")
    if rank == 0:
        return stack_dense(parts)
    if at == 0:
        whole = concat_dense(parts, 0) if rank == 1 else _concat([as_ragged(p) for p in parts], 0)
        return RaggedTensor(whole, from_lengths_of(np.array([count(p) for p in parts])))
    if all(isinstance(p, Tensor) for p in parts) and at >= rank - 1:
        return stack_dense(parts, axis=at)
    parts = [as_ragged(p) for p in parts]
    if at > 1:
        _same_rows(parts, at)
        return parts[0].with_values(stack([p.values for p in parts], at - 1))
    joined = _concat([_each_alone(p) for p in parts], 1)
    return RaggedTensor(joined.values, RowPartition(joined.partitions[0].splits, None, joined.partitions[0].narrow))


def _each_alone(x: RaggedTensor) -> RaggedTensor:
    """Return each row as a row of one row."""
    return RaggedTensor(x, from_lengths_of(np.ones(len(x), np.int64), x.partitions[0]))


def reshape(x: RaggedTensor, shape: Any) -> Tensor:
    """Return the flat values in another shape, without the rows."""
    rows: Any = x.values
    while isinstance(rows, RaggedTensor):
        rows = rows.values
    return shaping.reshape(rows, shape)


def boolean_mask(data: Any, mask: Any, axis: Any = None) -> Any:
    """Return the elements where a mask is true, as ragged rows if the mask covers rows and columns."""
    if axis is not None:
        raise InvalidArgumentError(f"boolean_mask: expected axis=None for a ragged tensor, got {axis}.")
    chosen, values = either(mask), either(data)
    if chosen.dtype.name != "bool":
        raise InvalidArgumentError(f"ragged.boolean_mask: mask must be bool, got {chosen.dtype.name}.")
    if chosen.ndim == 0 or chosen.ndim > values.ndim:
        raise ShapeMismatch(
            f"ragged.boolean_mask: a mask of shape {chosen.shape} does not match data of shape {values.shape}."
        )
    if chosen.ndim == 1:
        if count(values) != count(chosen):
            raise ShapeMismatch(f"ragged.boolean_mask: the mask has {count(chosen)} rows, the data {count(values)}.")
        return picked(values, np.flatnonzero(chosen._array))
    rows, cut = as_ragged(chosen), as_ragged(values)
    if not rows.partitions[0].same(cut.partitions[0]):
        raise ShapeMismatch(
            f"ragged.boolean_mask: a mask of shape {rows.shape} and data of shape {cut.shape} have different rows."
        )
    if rows.ndim > 2:
        return RaggedTensor(boolean_mask(cut.values, rows.values), _plain(cut.partitions[0]))
    kept = rows.flat_values._array
    lengths = np.bincount(rows.partitions[0].row_numbers[kept], minlength=len(rows))
    return RaggedTensor(picked(cut.values, np.flatnonzero(kept)), from_lengths_of(lengths, cut.partitions[0]))


def _plain(partition: RowPartition) -> RowPartition:
    """Return the same rows without a fixed length."""
    return RowPartition(partition.splits, None, partition.narrow)
