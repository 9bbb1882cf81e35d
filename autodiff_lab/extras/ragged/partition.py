"""RowPartition: how a list of values is cut into rows, as NumPy integers.

Only `splits` is stored: row i goes from ``splits[i]`` up to ``splits[i + 1]``, and row lengths and row numbers are
computed from it.  A partition is not a tensor: gradients pass through values, never through row lengths.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from autodiff_lab.engine.convert import convert
from autodiff_lab.engine.dtypes import as_dtype
from autodiff_lab.engine.tensor import Tensor, named, wrap
from autodiff_lab.errors import DtypeMismatch, InvalidArgumentError
from autodiff_lab.events.listener import tell_peek
from autodiff_lab.ops.checks import axis_from_end, room

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import DTypeLike, TensorLike

Whole = np.ndarray[Any, np.dtype[np.int64]]


def integer_vector(value: Any, what: str) -> Whole:
    """Return a vector of integers from an argument."""
    tensor = convert(value)
    tell_peek(tensor, what)
    array = np.asarray(tensor._array)
    if array.ndim != 1 or (array.dtype.kind not in "iu" and array.size):
        raise InvalidArgumentError(f"{what}: expected a vector of integers, got {value!r}.")
    return array.astype(np.int64)


def integer(value: Any, what: str) -> int:
    """Return one integer from an argument, which may be a tensor."""
    array = np.asarray(convert(value)._array)
    if array.ndim or array.dtype.kind not in "iu":
        raise InvalidArgumentError(f"{what} must be an integer, got {value!r}.")
    return int(array)


def axis_of(axis: Any, rank: int, what: str) -> int:
    """Return an axis as a non-negative integer.

    Examples
    --------
    >>> axis_of(-1, 3, "split")
    2
    """
    return axis_from_end(axis, rank, what) % rank


def wants_narrow(dtype: Any) -> bool:
    """Return whether a dtype of splits is int32; the only other one is int64, the default.

    Examples
    --------
    >>> wants_narrow("int32"), wants_narrow(None)
    (True, False)
    """
    name = "int64" if dtype is None else as_dtype(dtype).name
    if name not in ("int32", "int64"):
        raise DtypeMismatch(f"row_splits: expected dtype int32 or int64, got {name}.")
    return name == "int32"


def is_narrow(value: Any) -> bool:
    """Return whether the splits or lengths of an argument are an int32 tensor or array."""
    return getattr(getattr(value, "dtype", None), "name", "") == "int32"


class RowPartition:
    """Where the rows of a ragged axis begin and end.

    Parameters
    ----------
    splits : numpy.ndarray of int64
        One more entry than there are rows; starts with 0 and never decreases.
    uniform : int, optional
        The length of every row, if it is part of the shape.
    narrow : bool
        Whether splits and lengths are shown to users as int32 rather than int64; internally they are always int64.
    """

    __slots__ = ("narrow", "splits", "uniform")

    def __init__(self, splits: Whole, uniform: int | None = None, narrow: bool = False) -> None:
        if splits.size == 0 or splits[0] != 0 or (np.diff(splits) < 0).any():
            raise InvalidArgumentError(
                f"row_splits: splits must start with 0 and never decrease, got {splits.tolist()}. Try from_row_lengths."
            )
        self.splits = splits
        self.uniform = uniform
        self.narrow = narrow

    @classmethod
    def from_lengths(cls, lengths: Whole, uniform: int | None = None, narrow: bool = False) -> RowPartition:
        """Return a partition into rows of these lengths."""
        if (lengths < 0).any():
            raise InvalidArgumentError(f"row_lengths: a row cannot have a negative length, got {lengths.tolist()}.")
        return cls(np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64), uniform, narrow)

    @classmethod
    def uniform_rows(cls, rows: int, length: int, narrow: bool = False) -> RowPartition:
        """Return a partition into rows of one length, which is part of the shape."""
        return cls(np.arange(rows + 1) * length, length, narrow)

    @classmethod
    def from_row_numbers(cls, rows: Whole, count: int | None = None, narrow: bool = False) -> RowPartition:
        """Return a partition from the row number of each value; the numbers never decrease."""
        if rows.size and (rows[0] < 0 or (np.diff(rows) < 0).any()):
            raise InvalidArgumentError(
                f"value_rowids: row numbers must be sorted and not negative, got {rows.tolist()}."
            )
        least = int(rows[-1]) + 1 if rows.size else 0
        if count is not None and count < least:
            raise InvalidArgumentError(f"value_rowids: found row {least - 1}, but nrows is {count}.")
        number = room(least if count is None else count, "value_rowids: rows")
        return cls.from_lengths(np.bincount(rows, minlength=number), narrow=narrow)

    def shown(self, numbers: Whole) -> Tensor:
        """Return splits, lengths or row numbers in the dtype that users see."""
        return wrap(numbers.astype(np.int32) if self.narrow else numbers)

    def as_dtype(self, dtype: Any) -> RowPartition:
        """Return the same rows with splits shown in int32 or int64."""
        return RowPartition(self.splits, self.uniform, wants_narrow(dtype))

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.splits) - 1

    @property
    def values(self) -> int:
        """Number of values in all rows."""
        return int(self.splits[-1])

    @property
    def lengths(self) -> Whole:
        """Length of each row."""
        return np.diff(self.splits)

    @property
    def row_numbers(self) -> Whole:
        """The row number of each value."""
        return np.repeat(np.arange(self.rows), self.lengths)

    @property
    def places(self) -> Whole:
        """The position of each value in its row."""
        return np.arange(self.values) - np.repeat(self.splits[:-1], self.lengths)

    def same(self, other: RowPartition) -> bool:
        """Return whether two partitions have the same rows."""
        return self is other or np.array_equal(self.splits, other.splits)

    def picked(self, rows: Whole) -> tuple[RowPartition, Whole]:
        """Return the partition with only these rows, in this order, and the positions of their values."""
        lengths = self.lengths[rows]
        chosen = RowPartition.from_lengths(lengths, self.uniform, self.narrow)
        return chosen, chosen.places + np.repeat(self.splits[:-1][rows], lengths)


def row_splits_to_segment_ids(splits: TensorLike, name: str | None = None, out_type: DTypeLike | None = None) -> Tensor:
    """Return the row number of each value, given where the rows start and end.

    Shapes: splits (n + 1) -> (number of values).  Dtypes: integers to `out_type`, or to the dtype of the splits.

    Raises
    ------
    InvalidArgumentError
        If the splits do not start with 0, or decrease.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.ragged.row_splits_to_segment_ids([0, 3, 3, 5]))
    Tensor([0 0 0 2 2], shape=(5,), dtype=int64)
    """
    partition = RowPartition(integer_vector(splits, "row_splits_to_segment_ids"), narrow=is_narrow(splits))
    return named((partition if out_type is None else partition.as_dtype(out_type)).shown(partition.row_numbers), name)


def segment_ids_to_row_splits(
    segment_ids: TensorLike, num_segments: int | None = None, out_type: DTypeLike | None = None, name: str | None = None
) -> Tensor:
    """Return where rows start and end, given the sorted row numbers of the values.

    Shapes: segment_ids (v) -> (number of rows + 1).  Dtypes: integers to `out_type`, or to the dtype of the ids.

    Raises
    ------
    InvalidArgumentError
        If the numbers are not sorted, or one is not below `num_segments`.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.ragged.segment_ids_to_row_splits([0, 0, 2]))
    Tensor([0 2 2 3], shape=(4,), dtype=int64)
    """
    rows = integer_vector(segment_ids, "segment_ids_to_row_splits")
    count = None if num_segments is None else integer(num_segments, "segment_ids_to_row_splits: num_segments")
    partition = RowPartition.from_row_numbers(rows, count, is_narrow(segment_ids))
    return named((partition if out_type is None else partition.as_dtype(out_type)).shown(partition.splits), name)
