"""Batching of dataset elements, and the rows of tensors as elements."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from autodiff_lab.engine.convert import convert, convert_to_tensor, is_composite
from autodiff_lab.engine.tensor import Tensor, wrap
from autodiff_lab.errors import InvalidArgumentError, ShapeMismatch
from autodiff_lab.extras.ragged.functions import stack as stack_rows
from autodiff_lab.extras.ragged.tensor import RaggedTensor
from autodiff_lab.extras.state import kept, structure_of
from autodiff_lab.ops.random import uniform


def rows_of(leaf: Any) -> Sequence[Any]:
    """Return the rows of a tensor, possibly ragged, as elements of a dataset."""
    if isinstance(leaf, RaggedTensor):
        bare = leaf.with_flat_values(wrap(kept(leaf.flat_values, "dataset")))
        return _Rows(len(bare), bare.__getitem__)
    array = kept(leaf, "dataset")
    if array.ndim == 0:
        raise ShapeMismatch(
            "from_tensor_slices: expected tensors with at least one axis, got a scalar. Try Dataset.from_tensors."
        )
    return _Rows(len(array), lambda index: wrap(array[index]))


class _Rows(Sequence[Any]):
    """Rows that are created on access."""

    def __init__(self, count: int, row: Callable[[Any], Any]) -> None:
        self._count, self._row = count, row

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: Any) -> Any:
        return self._row(index)


Stack = Callable[[list[list[Any]]], list[Any]]


def stacked(columns: list[list[Any]]) -> list[Any]:
    """Stack each column into one tensor with a new first axis."""
    return [
        stack_rows(column) if isinstance(column[0], RaggedTensor) else _stack([t._array for t in column])
        for column in columns
    ]


def _stack(arrays: list[Any]) -> Tensor:
    shapes = {array.shape for array in arrays}
    if len(shapes) > 1:
        raise ShapeMismatch(f"batch: expected elements of equal shape, got shapes {sorted(shapes)}. Try padded_batch.")
    return wrap(np.stack(arrays))


def batched(elements: Iterator[Any], size: int, drop: bool, stack: Stack = stacked) -> Iterator[Any]:
    """Yield batches of elements; the last may be smaller, or is dropped."""
    batch: list[Any] = []
    for element in elements:
        batch.append(element)
        if len(batch) == size:
            yield _together(batch, stack)
            batch = []
    if batch and not drop:
        yield _together(batch, stack)


def _together(batch: list[Any], stack: Stack) -> Any:
    rebuild = structure_of(batch[0])[1]
    rows = [structure_of(element)[0] for element in batch]
    return rebuild(stack([list(column) for column in zip(*rows, strict=True)]))


def padded_batch(shapes: Any, fills: Any) -> Stack:
    """Return a function that stacks elements after padding them to the longest, or to given shapes."""

    def stack(columns: list[list[Tensor]]) -> list[Tensor]:
        limits = _for_each(shapes, len(columns))
        values = _for_each(fills, len(columns))
        return [
            _padded([t._array for t in column], limit, fill)
            for column, limit, fill in zip(columns, limits, values, strict=True)
        ]

    return stack


def _for_each(given: Any, count: int) -> list[Any]:
    """Return one setting for each column; a single one applies to all."""
    if isinstance(given, tuple) and len(given) == count and count > 1:
        return list(given)
    return [given] * count


def _padded(arrays: list[Any], limit: Any, fill: Any) -> Tensor:
    longest = np.max([array.shape for array in arrays], axis=0).astype(int) if arrays[0].ndim else np.array([], int)
    if limit is not None:
        longest = np.array([n if m is None or m == -1 else m for n, m in zip(longest, limit, strict=True)], int)
    dtype = arrays[0].dtype
    value = (b"" if dtype.kind == "O" else 0) if fill is None else convert(fill)._array
    made = np.full((len(arrays), *longest), value, dtype)
    for i, array in enumerate(arrays):
        if (np.array(array.shape) > longest).any():
            raise ShapeMismatch(
                f"padded_batch: an element of shape {array.shape} does not fit into shape {tuple(longest)}."
            )
        made[(i, *(slice(n) for n in array.shape))] = array
    return wrap(made)


def ragged_stacked(row_splits_dtype: Any) -> Stack:
    """Return a function that stacks elements as the rows of ragged tensors; scalars become a dense tensor."""

    def stack(columns: list[list[Any]]) -> list[Any]:
        return [_ragged(column) for column in columns]

    def _ragged(column: list[Any]) -> Any:
        if isinstance(column[0], Tensor) and column[0]._held.ndim == 0:
            return _stack([t._array for t in column])
        return stack_rows(column).with_row_splits_dtype(row_splits_dtype)

    return stack


def seed_of(seed: int | None) -> int:
    """Return a seed as an integer, drawn from the global generator if it is None."""
    return int(float(uniform(())) * 2**24) if seed is None else int(seed)


def call(function: Callable[..., Any], element: Any) -> Any:
    """Call a function with an element; the parts of a tuple become its arguments."""
    plain = isinstance(element, tuple) and not hasattr(element, "_make")
    return function(*element) if plain else function(element)


def as_element(value: Any, dtypes: list[Any] | None = None) -> Any:
    """Convert the result of a user's function to an element, with tensors as its leaves."""
    leaves, rebuild = structure_of(value)
    wanted = [None] * len(leaves) if dtypes is None else dtypes
    if len(wanted) != len(leaves):
        raise InvalidArgumentError(
            f"from_generator: expected {len(wanted)} values, one for each dtype, got {len(leaves)}."
        )
    made = [
        leaf if is_composite(leaf) else convert_to_tensor(leaf, dtype)
        for leaf, dtype in zip(leaves, wanted, strict=True)
    ]
    return rebuild(made)
