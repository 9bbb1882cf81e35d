"""Rows of ragged tensors by number: `gather`, `gather_nd` and `boolean_mask` stand on one function, `picked`."""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_lab.engine.convert import convert
from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.errors import DtypeMismatch, InvalidArgumentError, ShapeMismatch
from autodiff_lab.extras.ragged.making import count
from autodiff_lab.extras.ragged.partition import RowPartition, Whole
from autodiff_lab.extras.ragged.tensor import RaggedTensor
from autodiff_lab.ops.array.gathering import gather, gather_axis, gather_nd, laid_beside
from autodiff_lab.ops.array.shaping import reshape


def picked(values: Tensor | RaggedTensor, rows: Whole) -> Any:
    """Return the rows of these numbers, in this order."""
    if isinstance(values, RaggedTensor):
        partition, positions = values.partitions[0].picked(rows)
        return RaggedTensor(picked(values.values, positions), partition)
    return gather_axis(values, laid_beside(values, rows), axis=-values._held.ndim)


def either(value: Any) -> Any:
    """Return a ragged tensor as it is, anything else as a tensor."""
    return value if isinstance(value, RaggedTensor) else convert(value)


def as_ragged(x: Any) -> RaggedTensor:
    """Return a tensor as a ragged one, its second axis fixed in length."""
    if isinstance(x, RaggedTensor):
        return x
    shape = x._held.shape
    if len(shape) < 2:
        raise ShapeMismatch(f"ragged: a tensor of shape {shape} has no rows; at least two axes are needed.")
    rows, width = shape[:2]
    return RaggedTensor(reshape(x, (rows * width, *shape[2:])), RowPartition.uniform_rows(rows, width))


def _checked(indices: Any, what: str) -> Any:
    found = either(indices)
    if not found.dtype.is_integer:
        raise DtypeMismatch(f"{what}: indices are whole numbers, got {found.dtype.name}. Try lab.cast.")
    return found


def gathered(params: Any, indices: Any, axis: Any = None, batch_dims: int = 0) -> Any:
    """Rows by number, where the values or the numbers are ragged.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.gather(lab.ragged.constant([[1], [2, 3]]), [1, 0, 1])
    <RaggedTensor [[2, 3], [1], [2, 3]]>
    >>> lab.gather([10, 20, 30], lab.ragged.constant([[2], [0, 1]]))
    <RaggedTensor [[30], [10, 20]]>
    """
    values, numbers = either(params), _checked(indices, "gather")
    batches = int(batch_dims) + (numbers.ndim if batch_dims < 0 else 0)
    at = batches if axis is None else int(axis) + (values.ndim if axis < 0 else 0)
    if not 0 <= batches <= min(numbers.ndim, values.ndim - 1) or not batches <= at < values.ndim:
        raise InvalidArgumentError(
            f"gather: axis {axis} and batch_dims {batch_dims} do not fit values of shape {values.shape} and indices "
            f"of shape {numbers.shape}."
        )
    return _gathered(values, numbers, at, batches)


def _gathered(values: Any, numbers: Any, axis: int, batches: int) -> Any:
    if isinstance(values, Tensor) and isinstance(numbers, Tensor):
        return gather(values, numbers, axis=axis, batch_dims=batches)
    if batches > 1:
        cut, chosen = as_ragged(values), as_ragged(numbers)
        if not cut.partitions[0].same(chosen.partitions[0]):
            raise ShapeMismatch(f"gather: the batches of shapes {cut.shape} and {chosen.shape} differ.")
        return cut.with_values(_gathered(cut.values, chosen.values, axis - 1, batches - 1))
    if batches == 1 and count(values) != count(numbers):
        raise ShapeMismatch(f"gather: the batches of shapes {values.shape} and {numbers.shape} differ.")
    if axis > 1:
        cut = as_ragged(values)
        if batches == 0:
            return cut.with_values(_gathered(cut.values, numbers, axis - 1, 0))
        each = picked(numbers, cut.partitions[0].row_numbers)
        return cut.with_values(_gathered(cut.values, each, axis - 1, 1))
    if axis == 0:
        return _rows_of(values, numbers, np.zeros(1, np.int64), np.full(1, count(values)))
    cut = as_ragged(values)
    partition = cut.partitions[0]
    if batches == 0:  # the same numbers for every row
        numbers = picked(_one_row(numbers), np.zeros(len(cut), np.int64))
    return _rows_of(cut.values, numbers, partition.splits[:-1], partition.lengths)


def _one_row(numbers: Any) -> Any:
    """Numbers as the only row of a batch."""
    if isinstance(numbers, Tensor):
        return reshape(numbers, (1, *numbers._held.shape))
    return RaggedTensor(numbers, RowPartition.uniform_rows(1, len(numbers)))


def _rows_of(values: Any, numbers: Any, starts: Whole, lengths: Whole) -> Any:
    """Rows by numbers that count from a start for each batch: its own, or the only one."""
    if isinstance(numbers, RaggedTensor):
        rows = np.arange(len(numbers)) if len(starts) == len(numbers) else np.zeros(len(numbers), np.int64)
        shape: tuple[int, ...] = numbers.flat_values._held.shape
        for partition in numbers.partitions:
            rows = rows[partition.row_numbers]
        flat = np.asarray(numbers.flat_values._array)
    else:
        flat = np.asarray(numbers._array)
        shape = flat.shape
        rows = np.arange(shape[0] if shape else 1) if len(starts) > 1 or shape[:1] == (1,) else np.zeros(1, np.int64)
    if len(starts) == 1:
        rows = np.zeros_like(rows)
    rows = rows.reshape(-1, *(1,) * max(flat.ndim - 1, 0)) if flat.ndim else rows[0]
    limit = lengths[rows] if rows.size else rows
    if ((flat < 0) | (flat >= limit)).any():
        raise InvalidArgumentError(
            f"gather: an index is not in [0, {int(limit.max()) if np.ndim(limit) else int(limit)}), the number of rows."
        )
    chosen = (flat + (starts[rows] if rows.size else rows)).astype(np.int64)
    made = picked(values, chosen.ravel())
    if flat.ndim == 0:
        return made[0]
    if isinstance(made, Tensor):
        made = reshape(made, (*shape, *made._held.shape[1:]))
    else:
        for size, length in zip(np.cumprod(shape)[-2::-1].tolist(), shape[:0:-1], strict=True):
            made = RaggedTensor(made, RowPartition.uniform_rows(size, length))
    for partition in reversed(numbers.partitions if isinstance(numbers, RaggedTensor) else ()):
        made = RaggedTensor(made, partition)
    return made


def gathered_nd(params: Any, indices: Any, batch_dims: int = 0) -> Any:
    """Parts by coordinates, where the values or the coordinates are ragged.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> x = lab.ragged.constant([[1], [2, 3]])
    >>> print(lab.gather_nd(x, [[1, 1], [0, 0]]))
    Tensor([3 1], shape=(2,), dtype=int32)
    """
    if batch_dims:
        raise InvalidArgumentError("gather_nd: of ragged tensors batch_dims must be 0. Try lab.gather.")
    values, places = either(params), _checked(indices, "gather_nd")
    if isinstance(places, RaggedTensor):
        if places.flat_values._held.ndim < 2:
            raise ShapeMismatch(
                f"gather_nd: rows of coordinates must all have one length, got indices of shape {places.shape}."
            )
        return places.with_flat_values(gathered_nd(values, places.flat_values))
    if isinstance(values, Tensor):
        return gather_nd(values, places)
    array = np.asarray(places._array)
    if array.ndim == 0 or not 1 <= array.shape[-1] <= values.ndim:
        raise ShapeMismatch(
            f"gather_nd: rows of 1 to {values.ndim} coordinates are needed, got indices of shape {array.shape}."
        )
    outer = array.shape[:-1]
    columns = array.reshape(-1, array.shape[-1]).T
    at, limit, rest, cut = np.zeros(columns.shape[1], np.int64), np.int64(len(values)), values, 0
    for cut, column in enumerate(columns):
        if isinstance(rest, Tensor):
            break
        _inside(column, limit, values)
        at = at + column
        if cut + 1 == len(columns):
            return _shaped(picked(rest, at), outer)
        partition = rest.partitions[0]
        at, limit, rest = partition.splits[:-1][at], partition.lengths[at], rest.values
    _inside(columns[cut], limit, values)
    inner = np.concatenate([(at + columns[cut])[None], columns[cut + 1 :]]).T
    return _shaped(gather_nd(rest, laid_beside(rest, np.ascontiguousarray(inner))), outer)


def _inside(column: Whole, limit: Any, values: RaggedTensor) -> None:
    if ((column < 0) | (column >= limit)).any():
        raise InvalidArgumentError(f"gather_nd: an index is out of bounds for the shape {values.shape}.")


def _shaped(made: Any, outer: tuple[int, ...]) -> Any:
    if isinstance(made, Tensor):
        return reshape(made, (*outer, *made._held.shape[1:]))
    if not outer:
        return made[0]
    for size, length in zip(np.cumprod(outer)[-2::-1].tolist(), outer[:0:-1], strict=True):
        made = RaggedTensor(made, RowPartition.uniform_rows(size, length))
    return made
