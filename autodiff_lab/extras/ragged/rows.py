"""What a ragged tensor says about itself: its values, its rows and their lengths, its shape."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from autodiff_lab.engine.dtypes import DType, as_dtype
from autodiff_lab.engine.shape import TensorShape
from autodiff_lab.engine.tensor import Tensor, named, wrap
from autodiff_lab.errors import InvalidArgumentError
from autodiff_lab.extras.ragged.partition import RowPartition, wants_narrow

if TYPE_CHECKING:
    from autodiff_lab.extras.ragged.tensor import RaggedTensor


class RaggedRows:
    """The properties and queries of `RaggedTensor`; none of them changes anything."""

    __slots__ = ()
    if TYPE_CHECKING:
        _partition: RowPartition
        _values: Any

        with_values: Callable[[Any], RaggedTensor]

    @property
    def values(self) -> Tensor | RaggedTensor:
        """The rows one after the other."""
        return self._values

    @property
    def flat_values(self) -> Tensor:
        """The innermost values."""
        values = self._values
        return values.flat_values if isinstance(values, RaggedRows) else values

    @property
    def row_splits(self) -> Tensor:
        """Where rows begin and end."""
        return self._partition.shown(self._partition.splits)

    @property
    def partitions(self) -> tuple[RowPartition, ...]:
        """How each ragged axis is cut, outermost first."""
        inner = self._values.partitions if isinstance(self._values, RaggedRows) else ()
        return (self._partition, *inner)

    @property
    def nested_row_splits(self) -> tuple[Tensor, ...]:
        """The splits of each ragged axis, outermost first."""
        return tuple(partition.shown(partition.splits) for partition in self.partitions)

    def nested_row_lengths(self, name: str | None = None) -> tuple[Tensor, ...]:
        """Return the row lengths of each ragged axis, outermost first."""
        return named(tuple(partition.shown(partition.lengths) for partition in self.partitions), name)

    def nested_value_rowids(self, name: str | None = None) -> tuple[Tensor, ...]:
        """For each ragged axis, outermost first, the number of the row that each value is in."""
        return named(tuple(partition.shown(partition.row_numbers) for partition in self.partitions), name)

    @property
    def ragged_rank(self) -> int:
        """Number of ragged axes."""
        return len(self.partitions)

    @property
    def uniform_row_length(self) -> Tensor | None:
        """The length of every row where that is fixed, else None."""
        length = self._partition.uniform
        return None if length is None else self._partition.shown(np.int64(length))  # type: ignore[arg-type]

    @property
    def shape(self) -> TensorShape:
        """Length of each axis; None for a ragged one."""
        return TensorShape((self._partition.rows, self._partition.uniform, *tuple(self._values.shape)[1:]))

    @property
    def dtype(self) -> DType:
        """Element type."""
        return self.flat_values.dtype

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    def get_shape(self) -> TensorShape:
        """Length of each axis, as a method."""
        return self.shape

    def consumers(self) -> list[Any]:
        """Return the operations that take this tensor; empty, as operations run at once here."""
        return []

    def nrows(self, out_type: Any = None, name: str | None = None) -> Tensor:
        """Number of rows, in `out_type` or the dtype of the splits."""
        kind = (
            np.dtype("int32" if self._partition.narrow else "int64") if out_type is None else as_dtype(out_type).dtype
        )
        return named(wrap(kind.type(self._partition.rows)), name)

    def row_lengths(self, axis: int = 1, name: str | None = None) -> Tensor | RaggedTensor:
        """Length of each row; of the rows within rows for a higher axis."""
        if axis == 0:
            return named(self.nrows(), name)
        at = axis + self.ndim if axis < 0 else axis
        if at == 1:
            return named(self._partition.shown(self._partition.lengths), name)
        if not 1 < at < self.ndim:
            raise InvalidArgumentError(f"row_lengths: axis {axis} is out of bounds for the shape {self.shape}.")
        if isinstance(self._values, RaggedRows):
            return named(self.with_values(self._values.row_lengths(at - 1)), name)
        shape = self._values._held.shape
        lengths = np.full(shape[: at - 1], shape[at - 1], np.int64)
        return named(self.with_values(self._partition.shown(lengths)), name)

    def row_starts(self, name: str | None = None) -> Tensor:
        """Return where each row begins."""
        return named(self._partition.shown(self._partition.splits[:-1]), name)

    def row_limits(self, name: str | None = None) -> Tensor:
        """Return where each row ends."""
        return named(self._partition.shown(self._partition.splits[1:]), name)

    def value_rowids(self, name: str | None = None) -> Tensor:
        """For each value the number of its row."""
        return named(self._partition.shown(self._partition.row_numbers), name)

    def bounding_shape(self, axis: Any = None, name: str | None = None, out_type: Any = None) -> Tensor:
        """Shape of the smallest rectangle that holds all rows, in `out_type` or the dtype of the splits.

        Examples
        --------
        >>> import autodiff_lab as lab
        >>> print(lab.ragged.constant([[1, 2, 3], [4]]).bounding_shape())
        Tensor([2 3], shape=(2,), dtype=int64)
        """
        shape = np.array(self._bounds(), np.int64)
        found = shape if axis is None else shape[np.asarray(axis)]
        kind = self._partition if out_type is None else self._partition.as_dtype(out_type)
        return named(kind.shown(found), name)

    def _bounds(self) -> list[int]:
        inner = self._values
        rest = inner._bounds()[1:] if isinstance(inner, RaggedRows) else inner._held.shape[1:]
        return [self._partition.rows, int(self._partition.lengths.max(initial=0)), *rest]

    def with_row_splits_dtype(self, dtype: Any) -> Self:
        """Return the same rows with splits of another dtype, int32 or int64.

        Examples
        --------
        >>> import autodiff_lab as lab
        >>> lab.ragged.constant([[1], [2, 3]]).with_row_splits_dtype(lab.int32).row_splits.dtype.name
        'int32'
        """
        narrow = wants_narrow(dtype)
        inner = self._values.with_row_splits_dtype(dtype) if isinstance(self._values, RaggedRows) else self._values
        partition = self._partition
        made: Any = type(self)
        return made(inner, RowPartition(partition.splits, partition.uniform, narrow))
