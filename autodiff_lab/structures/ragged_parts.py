"""Parts of ragged tensors, by brackets, and reductions over their axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autodiff_lab.engine.convert import convert
from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.errors import InvalidArgumentError, ShapeMismatch
from autodiff_lab.ops.array.gathering import gather_axis, laid_beside
from autodiff_lab.ops.array.joining import concat
from autodiff_lab.ops.array.shaping import expand_dims, reshape
from autodiff_lab.ops.math import reductions
from autodiff_lab.structures.partition import RowPartition, Whole
from autodiff_lab.structures.ragged import RaggedTensor
from autodiff_lab.structures.ragged_making import count
from autodiff_lab.structures.segments import reduce_segments


def picked(values: Tensor | RaggedTensor, rows: Whole) -> Any:
    """The rows of these numbers, in this order."""
    if isinstance(values, RaggedTensor):
        partition, positions = values.partitions[0].picked(rows)
        return RaggedTensor(picked(values.values, positions), partition)
    return gather_axis(values, laid_beside(values, rows), axis=-values._array.ndim)


def part(x: RaggedTensor, key: Any) -> Any:
    """Rows, and parts of rows: whole numbers pick one row, slices keep the axis.

    A whole number on a ragged axis is refused: rows may be too short for it.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> x = lab.ragged.constant([[1, 2, 3], [4, 5], [6]])
    >>> print(x[0], x[1, 0], x[1:], x[:, :2])
    Tensor([1 2 3], shape=(3,), dtype=int32) Tensor(4, shape=(), dtype=int32) <RaggedTensor [[4, 5], [6]]> \
<RaggedTensor [[1, 2], [4, 5], [6]]>
    """
    keys = list(key) if isinstance(key, tuple) else [key]
    if Ellipsis in keys:
        at = keys.index(Ellipsis)
        keys[at : at + 1] = [slice(None)] * (x.ndim - len(keys) + 1)
    if len(keys) > x.ndim:
        raise InvalidArgumentError(f"Index out of range using input dim {x.ndim}; input has only {x.ndim} dims.")
    first, rest = keys[0], tuple(keys[1:])
    if isinstance(first, slice):
        rows = x if first == slice(None) else picked(x, np.arange(len(x))[first])
        return _inside(rows, rest) if rest else rows
    row = _row(x, first)
    return row[rest] if rest else row


def _row(x: RaggedTensor, index: Any) -> Any:
    try:
        at = index.__index__()
    except (AttributeError, TypeError):
        raise InvalidArgumentError(
            f"brackets: {index!r} is no index of a ragged tensor. Whole numbers, slices and "
            "... are; try lab.ragged.boolean_mask for a mask."
        ) from None
    if not -len(x) <= at < len(x):
        raise InvalidArgumentError(f"slice index {at} of dimension 0 out of bounds: the tensor has shape {x.shape}.")
    start, stop = x.partitions[0].splits[at % len(x) :][:2].tolist()
    return x.values[start:stop]


def _inside(x: RaggedTensor, keys: tuple[Any, ...]) -> Any:
    """The same part of every row."""
    first, rest = keys[0], keys[1:]
    if not isinstance(first, slice):
        raise InvalidArgumentError(
            f"brackets: {first!r} picks one element of each row, and rows of a ragged axis may be too short. "
            "Try a slice, or x.to_tensor() first."
        )
    if first != slice(None):
        partition = x.partitions[0]
        places = [np.arange(a, b)[first] for a, b in zip(partition.splits[:-1], partition.splits[1:], strict=True)]
        lengths = np.array([len(p) for p in places], np.int64)
        positions = np.concatenate([np.empty(0, np.int64), *places])
        x = RaggedTensor(picked(x.values, positions), RowPartition.from_lengths(lengths))
    return x.with_values(x.values[(slice(None), *rest)]) if rest else x


def reduced(x: RaggedTensor, name: str, axis: Any, keepdims: bool) -> Any:
    """A ragged tensor reduced over one axis or over all, by the public reduction of this name.

    Shapes: (n, None, *inner) over axis 0 -> (longest row, *inner), over axis 1 -> (n, *inner).

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> x = lab.ragged.constant([[1.0, 2.0, 3.0], [4.0, 6.0]])
    >>> print(lab.reduce_mean(x, axis=1), lab.reduce_sum(x, axis=0))
    Tensor([2. 5.], shape=(2,), dtype=float32) Tensor([5. 8. 3.], shape=(3,), dtype=float32)
    """
    if axis is None:
        whole = getattr(reductions, name)(x.flat_values)
        return reshape(whole, (1,) * x.ndim) if keepdims else whole
    try:
        at = axis.__index__()
    except (AttributeError, TypeError):
        raise InvalidArgumentError(
            f"{name}: a ragged tensor is reduced over one axis at a time, got {axis}. Try one after the other."
        ) from None
    if not -x.ndim <= at < x.ndim:
        raise InvalidArgumentError(f"{name}: axis {at} is out of bounds for shape {x.shape}")
    at %= x.ndim
    done = _reduced(x, name, at)
    return _kept(done, at) if keepdims else done


def _kept(done: Any, axis: int) -> Any:
    if axis == 0:
        if isinstance(done, RaggedTensor):
            return RaggedTensor(done, RowPartition.from_lengths(np.array([len(done)])))
        return expand_dims(done, 0)
    if isinstance(done, RaggedTensor) and axis > 1:
        return done.with_values(_kept(done.values, axis - 1))
    return (
        expand_dims(done, axis)
        if isinstance(done, Tensor)
        else RaggedTensor(done, RowPartition.from_lengths(np.ones(len(done), np.int64)))
    )


def _reduced(x: RaggedTensor, name: str, axis: int) -> Any:
    values, partition = x.values, x.partitions[0]
    if axis > 1:
        if isinstance(values, RaggedTensor):
            return x.with_values(_reduced(values, name, axis - 1))
        return x.with_values(getattr(reductions, name)(values, axis=axis - 1))
    segments = partition.row_numbers if axis else partition.places
    segment_count = len(x) if axis else int(partition.lengths.max(initial=0))
    if isinstance(values, Tensor):
        return reduce_segments(name, values, segments, segment_count)
    return _rows_reduced(name, values, segments, segment_count)


def _rows_reduced(name: str, values: RaggedTensor, segments: Whole, segment_count: int) -> RaggedTensor:
    """Rows of one segment put on top of each other: the result is as long as the longest of them."""
    if values.ragged_rank > 1:
        raise InvalidArgumentError(
            f"{name}: over this axis, rows that hold ragged rows are not reduced. Try x.to_tensor() first."
        )
    inner = values.partitions[0]
    longest = np.zeros(segment_count, np.int64)
    np.maximum.at(longest, segments, inner.lengths)
    rows = RowPartition.from_lengths(longest)
    targets = rows.splits[:-1][segments][inner.row_numbers] + inner.places
    flat = values.values
    assert isinstance(flat, Tensor)
    assert count(flat) == len(targets)
    return RaggedTensor(reduce_segments(name, flat, targets, rows.values), rows)


def joined(values: Sequence[Any], axis: Any) -> RaggedTensor:
    """Ragged tensors (and tensors) one after the other: more rows along axis 0, longer rows along axis 1.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> x, y = lab.ragged.constant([[1], [2, 3]]), lab.ragged.constant([[4, 5], []])
    >>> lab.concat([x, y], axis=0), lab.concat([x, y], axis=1)
    (<RaggedTensor [[1], [2, 3], [4, 5], []]>, <RaggedTensor [[1, 4, 5], [2, 3]]>)
    """
    parts = [v if isinstance(v, RaggedTensor) else RaggedTensor.from_tensor(v) for v in values]
    at = int(axis) % parts[0].ndim
    if at > 1:
        same = all(p.partitions[0].same(parts[0].partitions[0]) for p in parts)
        if not same:
            raise ShapeMismatch(
                f"concat: along axis {at} the rows must be equal; shapes are {[p.shape for p in parts]}"
            )
        return parts[0].with_values(concat([p.values for p in parts], axis=at - 1))
    whole = RaggedTensor(_one_after_the_other(parts), _lengths_of(parts))
    if at == 0:
        return whole
    if len({len(p) for p in parts}) > 1:
        raise ShapeMismatch(f"concat: along axis 1 there must be equally many rows, got {[len(p) for p in parts]}")
    count_of_rows = len(parts[0])
    order = np.arange(len(whole)).reshape(len(parts), count_of_rows).T.ravel()
    lengths = sum(p.partitions[0].lengths for p in parts)
    return RaggedTensor(picked(whole, order).values, RowPartition.from_lengths(np.asarray(lengths)))


def _one_after_the_other(parts: Sequence[RaggedTensor]) -> Any:
    values = [p.values for p in parts]
    if any(isinstance(v, RaggedTensor) for v in values):
        return joined(values, 0)
    return concat(values, axis=0)


def _lengths_of(parts: Sequence[RaggedTensor]) -> RowPartition:
    return RowPartition.from_lengths(np.concatenate([p.partitions[0].lengths for p in parts]))


def gathered(x: RaggedTensor, indices: Any, axis: Any) -> Any:
    """Rows by number; a matrix of numbers gives rows of rows.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.gather(lab.ragged.constant([[1], [2, 3]]), [1, 0, 1])
    <RaggedTensor [[2, 3], [1], [2, 3]]>
    """
    numbers = np.asarray(convert(indices)._array)
    if int(axis) != 0 or numbers.dtype.kind not in "iu":
        raise InvalidArgumentError(
            f"gather: rows of a ragged tensor are picked by whole numbers along axis 0, got axis "
            f"{axis} and {numbers.dtype.name} indices."
        )
    if numbers.size and not (numbers.min() >= 0 and numbers.max() < len(x)):
        raise InvalidArgumentError(f"gather: an index is not in [0, {len(x)}), the number of rows")
    if numbers.ndim == 0:
        return x[int(numbers)]
    made = picked(x, numbers.ravel())
    for length in numbers.shape[:0:-1]:
        made = RaggedTensor.from_uniform_row_length(made, length)
    return made
