"""RowPartition: how a list of values is cut into rows, as plain NumPy numbers.

The one form kept is `splits`, where row i goes from ``splits[i]`` up to ``splits[i + 1]``; row lengths and row numbers
of values are worked out from it.  A partition is not a tensor: gradients pass through values, never through row
lengths.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_lab.engine.convert import convert
from autodiff_lab.engine.dtypes import as_dtype
from autodiff_lab.engine.tensor import Tensor, named, wrap
from autodiff_lab.errors import DtypeMismatch, InvalidArgumentError
from autodiff_lab.events import tell_peek

Whole = np.ndarray[Any, np.dtype[np.int64]]


def whole_vector(value: Any, what: str) -> Whole:
    """Return a vector of integers from what a user gave."""
    tensor = convert(value)
    tell_peek(tensor, what)
    array = np.asarray(tensor._array)
    if array.ndim != 1 or (array.dtype.kind not in "iu" and array.size):
        raise InvalidArgumentError(f"{what}: a vector of whole numbers is needed, got {value!r}")
    return array.astype(np.int64)


def whole_number(value: Any, what: str) -> int:
    """Return one integer from what a user gave, a tensor included."""
    array = np.asarray(convert(value)._array)
    if array.ndim or array.dtype.kind not in "iu":
        raise InvalidArgumentError(f"{what}: a whole number is needed, got {value!r}")
    return int(array)


def wants_narrow(dtype: Any) -> bool:
    """Return whether a dtype of splits is int32; int64 is the other one, and the default.

    Examples
    --------
    >>> wants_narrow("int32"), wants_narrow(None)
    (True, False)
    """
    name = "int64" if dtype is None else as_dtype(dtype).name
    if name not in ("int32", "int64"):
        raise DtypeMismatch(f"row_splits: their dtype is int32 or int64, got {name}.")
    return name == "int32"


def is_narrow(value: Any) -> bool:
    """Return whether splits or lengths that a user gave are an int32 tensor or array."""
    return getattr(getattr(value, "dtype", None), "name", "") == "int32"


class RowPartition:
    """Where the rows of a ragged axis begin and end.

    Parameters
    ----------
    splits : numpy.ndarray of int64
        One more than there are rows; begins with 0 and never falls.
    uniform : int, optional
        The length that every row has, if that is known for the rows to come too.
    narrow : bool
        Whether a user sees splits and lengths as int32; they are int64 otherwise, and always inside.
    """

    __slots__ = ("narrow", "splits", "uniform")

    def __init__(self, splits: Whole, uniform: int | None = None, narrow: bool = False) -> None:
        if splits.size == 0 or splits[0] != 0 or (np.diff(splits) < 0).any():
            raise InvalidArgumentError(
                f"row_splits: they begin with 0 and never fall, got {splits.tolist()}. Try from_row_lengths."
            )
        self.splits = splits
        self.uniform = uniform
        self.narrow = narrow

    @classmethod
    def from_lengths(cls, lengths: Whole, uniform: int | None = None, narrow: bool = False) -> RowPartition:
        """Rows of these lengths."""
        if (lengths < 0).any():
            raise InvalidArgumentError(f"row_lengths: a row cannot have a negative length, got {lengths.tolist()}")
        return cls(np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64), uniform, narrow)

    @classmethod
    def uniform_rows(cls, rows: int, length: int, narrow: bool = False) -> RowPartition:
        """Rows of one length, which is part of the shape."""
        return cls(np.arange(rows + 1) * length, length, narrow)

    @classmethod
    def from_row_numbers(cls, rows: Whole, count: int | None = None, narrow: bool = False) -> RowPartition:
        """Rows that hold the values with their number; the numbers never fall."""
        if rows.size and (rows[0] < 0 or (np.diff(rows) < 0).any()):
            raise InvalidArgumentError(f"value_rowids: they are sorted and not negative, got {rows.tolist()}")
        least = int(rows[-1]) + 1 if rows.size else 0
        if count is not None and count < least:
            raise InvalidArgumentError(f"value_rowids: row {least - 1} is named, but nrows is {count}")
        return cls.from_lengths(np.bincount(rows, minlength=least if count is None else count), narrow=narrow)

    def shown(self, numbers: Whole) -> Tensor:
        """Splits, lengths or row numbers as a user sees them."""
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
        """For each value, the number of its row."""
        return np.repeat(np.arange(self.rows), self.lengths)

    @property
    def places(self) -> Whole:
        """For each value, its place in its row."""
        return np.arange(self.values) - np.repeat(self.splits[:-1], self.lengths)

    def same(self, other: RowPartition) -> bool:
        """Return whether two partitions cut in the same way."""
        return self is other or np.array_equal(self.splits, other.splits)

    def picked(self, rows: Whole) -> tuple[RowPartition, Whole]:
        """Return the partition that has only these rows, in this order, and the positions of their values."""
        lengths = self.lengths[rows]
        chosen = RowPartition.from_lengths(lengths, self.uniform, self.narrow)
        return chosen, chosen.places + np.repeat(self.splits[:-1][rows], lengths)


def row_splits_to_segment_ids(splits: Any, name: str | None = None, out_type: Any = None) -> Tensor:
    """For each value the number of its row, from where the rows begin and end.

    Shapes: splits (n + 1) -> (number of values).  Dtypes: integers to `out_type`, or to the dtype of the splits.

    Raises
    ------
    InvalidArgumentError
        If the splits do not begin with 0, or fall.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.ragged.row_splits_to_segment_ids([0, 3, 3, 5]))
    Tensor([0 0 0 2 2], shape=(5,), dtype=int64)
    """
    partition = RowPartition(whole_vector(splits, "row_splits_to_segment_ids"), narrow=is_narrow(splits))
    return named((partition if out_type is None else partition.as_dtype(out_type)).shown(partition.row_numbers), name)


def segment_ids_to_row_splits(
    segment_ids: Any, num_segments: int | None = None, out_type: Any = None, name: str | None = None
) -> Tensor:
    """Return where rows begin and end, from the row numbers of sorted values.

    Shapes: segment_ids (v) -> (number of rows + 1).  Dtypes: integers to `out_type`, or to the dtype of the ids.

    Raises
    ------
    InvalidArgumentError
        If the numbers are not sorted, or name a row that `num_segments` leaves no room for.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.ragged.segment_ids_to_row_splits([0, 0, 2]))
    Tensor([0 2 2 3], shape=(4,), dtype=int64)
    """
    rows = whole_vector(segment_ids, "segment_ids_to_row_splits")
    count = None if num_segments is None else whole_number(num_segments, "segment_ids_to_row_splits")
    partition = RowPartition.from_row_numbers(rows, count, is_narrow(segment_ids))
    return named((partition if out_type is None else partition.as_dtype(out_type)).shown(partition.splits), name)
