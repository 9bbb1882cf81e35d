"""Parts of ragged tensors: indexing, `gather` and `gather_nd`, all built on one function, `picked`."""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_lab.engine.convert import convert
from autodiff_lab.engine.shape import as_integer
from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.engine.variable import Variable
from autodiff_lab.errors import DtypeMismatch, InvalidArgumentError, ShapeMismatch
from autodiff_lab.extras.ragged.making import count
from autodiff_lab.extras.ragged.partition import RowPartition, Whole
from autodiff_lab.extras.ragged.tensor import RaggedTensor
from autodiff_lab.ops.array.gathering import gather, gather_axis, gather_nd, laid_beside
from autodiff_lab.ops.array.shaping import reshape


def picked(values: Tensor | RaggedTensor, rows: Whole) -> Any:
    """Return the rows with these numbers, in this order."""
    if isinstance(values, RaggedTensor):
        partition, positions = values.partitions[0].picked(rows)
        return RaggedTensor(picked(values.values, positions), partition)
    return gather_axis(values, laid_beside(values, rows), axis=-values._held.ndim)


def either(value: Any) -> Any:
    """Return a ragged tensor unchanged, anything else as a tensor."""
    return value if isinstance(value, RaggedTensor) else convert(value)


def as_ragged(x: Any) -> RaggedTensor:
    """Return a tensor as a ragged one whose second axis has a fixed length."""
    if isinstance(x, RaggedTensor):
        return x
    shape = x._held.shape
    if len(shape) < 2:
        raise ShapeMismatch(f"ragged: expected a tensor with at least two axes, got shape {shape}.")
    rows, width = shape[:2]
    return RaggedTensor(reshape(x, (rows * width, *shape[2:])), RowPartition.uniform_rows(rows, width))


def _checked(indices: Any, what: str) -> Any:
    found = either(indices)
    if not found.dtype.is_integer:
        raise DtypeMismatch(f"{what}: expected integer indices, got {found.dtype.name}. Try lab.cast.")
    return found


def gathered(params: Any, indices: Any, axis: Any = None, batch_dims: int = 0) -> Any:
    """Gather rows by number, where the values or the indices are ragged.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.gather(lab.ragged.constant([[1], [2, 3]]), [1, 0, 1])
    <RaggedTensor [[2, 3], [1], [2, 3]]>
    >>> lab.gather([10, 20, 30], lab.ragged.constant([[2], [0, 1]]))
    <RaggedTensor [[30], [10, 20]]>
    """
    values, numbers = either(params), _checked(indices, "gather")
    batches = as_integer(batch_dims, "gather: batch_dims")
    batches += numbers.ndim if batches < 0 else 0
    at = batches if axis is None else as_integer(axis, "gather: axis")
    at += values.ndim if at < 0 else 0
    if not 0 <= batches <= min(numbers.ndim, values.ndim - 1) or not batches <= at < values.ndim:
        raise InvalidArgumentError(
            f"gather: axis {axis} and batch_dims {batch_dims} are out of bounds for values of shape {values.shape} and "
            f"indices of shape {numbers.shape}."
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
    """Return indices as the only row of a batch."""
    if isinstance(numbers, Tensor):
        return reshape(numbers, (1, *numbers._held.shape))
    return RaggedTensor(numbers, RowPartition.uniform_rows(1, len(numbers)))


def _rows_of(values: Any, numbers: Any, starts: Whole, lengths: Whole) -> Any:
    """Return rows by numbers that count from the start of each batch, or from the only start."""
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
    made = _shaped(made, tuple(shape))
    for partition in reversed(numbers.partitions if isinstance(numbers, RaggedTensor) else ()):
        made = RaggedTensor(made, partition)
    return made


def gathered_nd(params: Any, indices: Any, batch_dims: int = 0) -> Any:
    """Gather parts by coordinates, where the values or the coordinates are ragged.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> x = lab.ragged.constant([[1], [2, 3]])
    >>> print(lab.gather_nd(x, [[1, 1], [0, 0]]))
    Tensor([3 1], shape=(2,), dtype=int32)
    """
    if as_integer(batch_dims, "gather_nd: batch_dims"):
        raise InvalidArgumentError(
            f"gather_nd: batch_dims must be 0 for ragged tensors, got {batch_dims}. Try lab.gather."
        )
    values, places = either(params), _checked(indices, "gather_nd")
    if isinstance(places, RaggedTensor):
        if places.flat_values._held.ndim < 2:
            raise ShapeMismatch(
                f"gather_nd: all rows of coordinates must have the same length, got indices of shape {places.shape}."
            )
        return places.with_flat_values(gathered_nd(values, places.flat_values))
    if isinstance(values, Tensor):
        return gather_nd(values, places)
    array = np.asarray(places._array)
    if array.ndim == 0 or not 1 <= array.shape[-1] <= values.ndim:
        raise ShapeMismatch(
            f"gather_nd: expected rows of 1 to {values.ndim} coordinates, got indices of shape {array.shape}."
        )
    outer = array.shape[:-1]
    columns = array.reshape(-1, array.shape[-1]).T
    at, limit, rest, cut = np.zeros(columns.shape[1], np.int64), np.int64(len(values)), values, 0
    for cut, column in enumerate(columns):
        if isinstance(rest, Tensor):
            break
        _check_inside(column, limit, values)
        at = at + column
        if cut + 1 == len(columns):
            return _shaped(picked(rest, at), outer)
        partition = rest.partitions[0]
        at, limit, rest = partition.splits[:-1][at], partition.lengths[at], rest.values
    _check_inside(columns[cut], limit, values)
    inner = np.concatenate([(at + columns[cut])[None], columns[cut + 1 :]]).T
    return _shaped(gather_nd(rest, laid_beside(rest, np.ascontiguousarray(inner))), outer)


def _check_inside(column: Whole, limit: Any, values: RaggedTensor) -> None:
    if ((column < 0) | (column >= limit)).any():
        raise InvalidArgumentError(f"gather_nd: an index is out of bounds for shape {values.shape}.")


def _shaped(made: Any, outer: tuple[int, ...]) -> Any:
    """Return rows with their first axis replaced by axes of fixed length."""
    if isinstance(made, Tensor):
        return reshape(made, (*outer, *made._held.shape[1:]))
    if not outer:
        return made[0]
    for size, length in zip(np.cumprod(outer)[-2::-1].tolist(), outer[:0:-1], strict=True):
        made = RaggedTensor(made, RowPartition.uniform_rows(size, length))
    return made


def part(x: RaggedTensor, key: Any) -> Any:
    """Return rows and parts of rows: an integer selects one row, a slice keeps the axis, None inserts a new one.

    An integer is not allowed on an inner ragged axis, because a row may be too short for it.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> x = lab.ragged.constant([[1, 2, 3], [4, 5], [6]])
    >>> print(x[0], x[1, 0], x[1:], x[:, :2])
    Tensor([1 2 3], shape=(3,), dtype=int32) Tensor(4, shape=(), dtype=int32) <RaggedTensor [[4, 5], [6]]> \
<RaggedTensor [[1, 2], [4, 5], [6]]>
    """
    keys = [_key(k) for k in (key if isinstance(key, (tuple, list)) else (key,))]
    named = sum(k is not None and k is not Ellipsis for k in keys)
    dots = [at for at, k in enumerate(keys) if k is Ellipsis]
    if len(dots) > 1:
        raise InvalidArgumentError("indexing: ... may appear at most once.")
    if named > x.ndim:
        raise InvalidArgumentError(f"Index out of range using input dim {x.ndim}; input has only {x.ndim} dims.")
    if dots:
        keys[dots[0] : dots[0] + 1] = [slice(None)] * (x.ndim - named)
    return _part(x, keys)


def _key(key: Any) -> Any:
    """Return an integer, a slice of integers, None or an ellipsis, and convert scalar tensors to integers."""
    if key is None or key is Ellipsis:
        return key
    if isinstance(key, slice):
        return slice(*(None if n is None else _number(n) for n in (key.start, key.stop, key.step)))
    return _number(key)


def _number(value: Any) -> int:
    if isinstance(value, (Tensor, Variable)):
        array = np.asarray(convert(value)._array)
        if array.ndim == 0 and array.dtype.kind in "iu":
            return int(array)
    elif not isinstance(value, (bool, np.bool_)) and hasattr(value, "__index__"):
        return value.__index__()
    raise InvalidArgumentError(
        f"indexing: expected integers, slices, None or ..., got {value!r}. "
        "Try lab.ragged.boolean_mask for a mask, lab.gather for several rows."
    )


def _part(x: Any, keys: list[Any]) -> Any:
    if not isinstance(x, RaggedTensor):
        return x[tuple(keys)] if keys else x
    if not keys:
        return x
    first, rest = keys[0], keys[1:]
    if first is None:
        inner = _part(x, rest)
        if isinstance(inner, Tensor):
            return inner[None]
        return RaggedTensor(inner, RowPartition.uniform_rows(1, len(inner), x.partitions[0].narrow))
    if isinstance(first, slice):
        rows_kept = x if first == slice(None) else picked(x, np.arange(len(x))[_step(first)])
        return _inside(rows_kept, rest)
    if not -len(x) <= first < len(x):
        raise InvalidArgumentError(f"slice index {first} of dimension 0 out of bounds: the tensor has shape {x.shape}.")
    start, stop = x.partitions[0].splits[first % len(x) :][:2].tolist()
    return _part(x.values[start:stop], rest)


def _step(key: slice) -> slice:
    if key.step == 0:
        raise InvalidArgumentError("indexing: a slice cannot have a step of 0.")
    return key


def _inside(x: Any, keys: list[Any]) -> Any:
    """Return the same part of every row."""
    if not keys:
        return x
    if not isinstance(x, RaggedTensor):
        return x[(slice(None), *keys)]
    first, rest, partition = keys[0], keys[1:], x.partitions[0]
    if first is None:
        return RaggedTensor(_inside(x, rest), RowPartition.uniform_rows(len(x), 1, partition.narrow))
    if isinstance(first, slice):
        return _columns(x, first).with_values(_inside(_columns(x, first).values, rest))
    if partition.uniform is None:
        raise InvalidArgumentError(
            f"indexing: index {first} on a ragged axis, whose rows may be too short. "
            "Try a slice, or x.to_tensor() first."
        )
    if not -partition.uniform <= first < partition.uniform:
        raise InvalidArgumentError(f"slice index {first} of dimension 1 out of bounds: the tensor has shape {x.shape}.")
    return _inside(picked(x.values, partition.splits[:-1] + first % partition.uniform), rest)


def _columns(x: RaggedTensor, key: slice) -> RaggedTensor:
    """Return a slice of every row."""
    if key == slice(None):
        return x
    partition = x.partitions[0]
    _step(key)
    edges = zip(partition.splits[:-1].tolist(), partition.splits[1:].tolist(), strict=True)
    places = [np.arange(a, b)[key] for a, b in edges]
    lengths = np.array([len(p) for p in places], np.int64)
    uniform = None if partition.uniform is None else len(range(partition.uniform)[key])
    positions = np.concatenate([np.empty(0, np.int64), *places])
    return RaggedTensor(picked(x.values, positions), RowPartition.from_lengths(lengths, uniform, partition.narrow))
