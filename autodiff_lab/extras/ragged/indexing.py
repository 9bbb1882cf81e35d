"""Parts of ragged tensors, by brackets."""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_lab.engine.convert import convert
from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.engine.variable import Variable
from autodiff_lab.errors import InvalidArgumentError
from autodiff_lab.extras.ragged.partition import RowPartition
from autodiff_lab.extras.ragged.parts import picked
from autodiff_lab.extras.ragged.tensor import RaggedTensor


def part(x: RaggedTensor, key: Any) -> Any:
    """Rows, and parts of rows: integers pick one row, slices keep the axis, None makes a new one.

    An integer on a ragged axis inside is refused: rows may be too short for it.

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
        raise InvalidArgumentError("brackets: ... stands at most once between brackets.")
    if named > x.ndim:
        raise InvalidArgumentError(f"Index out of range using input dim {x.ndim}; input has only {x.ndim} dims.")
    if dots:
        keys[dots[0] : dots[0] + 1] = [slice(None)] * (x.ndim - named)
    return _part(x, keys)


def _key(key: Any) -> Any:
    """Return an integer, a slice of integers, None or an ellipsis; tensors and arrays of one number are read."""
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
        f"brackets: {value!r} is not an index of a ragged tensor. Whole numbers, slices, None and ... are; "
        "try lab.ragged.boolean_mask for a mask, lab.gather for several rows."
    )


def _part(x: Any, keys: list[Any]) -> Any:
    if not isinstance(x, RaggedTensor):
        return x[tuple(keys)] if keys else x
    if not keys:
        return x
    first, rest = keys[0], keys[1:]
    if first is None:
        inner = _part(x, rest)
        rows = inner._held.shape[0] if isinstance(inner, Tensor) and inner._held.ndim else 0
        if isinstance(inner, Tensor):
            return inner[None]
        rows = len(inner)
        return RaggedTensor(inner, RowPartition.uniform_rows(1, rows, x.partitions[0].narrow))
    if isinstance(first, slice):
        rows_kept = x if first == slice(None) else picked(x, np.arange(len(x))[_step(first)])
        return _inside(rows_kept, rest)
    if not -len(x) <= first < len(x):
        raise InvalidArgumentError(f"slice index {first} of dimension 0 out of bounds: the tensor has shape {x.shape}.")
    start, stop = x.partitions[0].splits[first % len(x) :][:2].tolist()
    return _part(x.values[start:stop], rest)


def _step(key: slice) -> slice:
    if key.step == 0:
        raise InvalidArgumentError("brackets: a slice cannot have a step of 0.")
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
            f"brackets: {first} picks one element of each row, and rows of a ragged axis may be too short. "
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
