"""The properties of ragged tensors: values, rows and their lengths, and `RaggedShape`, the result of `lab.shape`."""

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
    """The properties and queries of `RaggedTensor`."""

    __slots__ = ()
    if TYPE_CHECKING:
        _partition: RowPartition
        _values: Any

        with_values: Callable[[Any], RaggedTensor]

    @property
    def values(self) -> Tensor | RaggedTensor:
        """The values of all rows, one row after another."""
        return self._values

    @property
    def flat_values(self) -> Tensor:
        """The innermost values."""
        values = self._values
        return values.flat_values if isinstance(values, RaggedRows) else values

    @property
    def row_splits(self) -> Tensor:
        """Where rows start and end."""
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
        """Return the row number of each value, for each ragged axis, outermost first."""
        return named(tuple(partition.shown(partition.row_numbers) for partition in self.partitions), name)

    @property
    def ragged_rank(self) -> int:
        """Number of ragged axes."""
        return len(self.partitions)

    @property
    def uniform_row_length(self) -> Tensor | None:
        """The length of every row if it is fixed, otherwise None."""
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
        """Return the length of each axis."""
        return self.shape

    def consumers(self) -> list[Any]:
        """Return the operations that use this tensor: always an empty list, since operations run eagerly."""
        return []

    def nrows(self, out_type: Any = None, name: str | None = None) -> Tensor:
        """Return the number of rows, in `out_type` or the dtype of the splits."""
        kind = (
            np.dtype("int32" if self._partition.narrow else "int64") if out_type is None else as_dtype(out_type).dtype
        )
        return named(wrap(kind.type(self._partition.rows)), name)

    def row_lengths(self, axis: int = 1, name: str | None = None) -> Tensor | RaggedTensor:
        """Return the length of each row, or of each inner row for a higher axis."""
        if axis == 0:
            return named(self.nrows(), name)
        at = axis + self.ndim if axis < 0 else axis
        if at == 1:
            return named(self._partition.shown(self._partition.lengths), name)
        if not 1 < at < self.ndim:
            raise InvalidArgumentError(f"row_lengths: axis {axis} is out of bounds for shape {self.shape}.")
        if isinstance(self._values, RaggedRows):
            return named(self.with_values(self._values.row_lengths(at - 1)), name)
        shape = self._values._held.shape
        lengths = np.full(shape[: at - 1], shape[at - 1], np.int64)
        return named(self.with_values(self._partition.shown(lengths)), name)

    def row_starts(self, name: str | None = None) -> Tensor:
        """Return where each row starts."""
        return named(self._partition.shown(self._partition.splits[:-1]), name)

    def row_limits(self, name: str | None = None) -> Tensor:
        """Return where each row ends."""
        return named(self._partition.shown(self._partition.splits[1:]), name)

    def value_rowids(self, name: str | None = None) -> Tensor:
        """Return the row number of each value."""
        return named(self._partition.shown(self._partition.row_numbers), name)

    def bounding_shape(self, axis: Any = None, name: str | None = None, out_type: Any = None) -> Tensor:
        """Return the shape of the smallest tensor that holds all rows, in `out_type` or the dtype of the splits.

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


class RaggedShape:
    """The shape of a ragged tensor: for each axis a length or, if it is ragged, the lengths of its rows.

    Parameters
    ----------
    row_partitions : sequence of RowPartition
        How the axes from the second on are cut, outermost first.
    inner_shape : sequence of int
        The shape of the flat values.
    dtype : DType
        int32 or int64.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> shape = lab.shape(lab.ragged.constant([[1, 2], [3]]))
    >>> shape, int(shape[0]), shape.rank, shape.is_uniform(1)
    (<RaggedShape lengths=[2, (2, 1)] num_row_partitions=1>, 2, 2, False)
    """

    __slots__ = ("_dtype", "_inner", "_partitions")

    def __init__(self, row_partitions: Any, inner_shape: Any, dtype: Any = "int64") -> None:
        self._partitions: tuple[RowPartition, ...] = tuple(row_partitions)
        self._inner = tuple(int(n) for n in inner_shape)
        self._dtype = as_dtype(dtype)

    @classmethod
    def from_tensor(cls, x: RaggedTensor, dtype: Any = "int64") -> RaggedShape:
        """Return the shape of a ragged tensor."""
        return cls(x.partitions, x.flat_values._held.shape, dtype)

    @property
    def dtype(self) -> DType:
        """The dtype of lengths."""
        return self._dtype

    @property
    def rank(self) -> int:
        """Number of axes."""
        return len(self._partitions) + len(self._inner)

    @property
    def num_row_partitions(self) -> int:
        """Number of row partitions, one for each axis that is stored as rows."""
        return len(self._partitions)

    @property
    def row_partitions(self) -> tuple[RowPartition, ...]:
        """How the axes from the second on are cut."""
        return self._partitions

    @property
    def inner_shape(self) -> Tensor:
        """The shape of the flat values."""
        return wrap(np.array(self._inner, self._dtype.dtype))

    @property
    def inner_rank(self) -> int:
        """Number of axes of the flat values."""
        return len(self._inner)

    def is_uniform(self, axis: int) -> bool:
        """Return whether an axis has a single length."""
        return not isinstance(self.static_lengths()[axis], tuple)

    def static_lengths(self, ragged_lengths: bool = True) -> list[Any]:
        """Return the length of each axis; for a ragged axis the lengths of its rows, or None."""
        rows = self._partitions[0].rows if self._partitions else self._inner[0]
        middle = [
            p.uniform if p.uniform is not None else tuple(p.lengths.tolist()) if ragged_lengths else None
            for p in self._partitions
        ]
        return [rows, *middle, *self._inner[1:]]

    def to_shape(self) -> TensorShape:
        """Return the length of each axis, None for ragged ones."""
        return TensorShape(self.static_lengths(ragged_lengths=False))

    def __getitem__(self, axis: int) -> Tensor:
        found = self.static_lengths()[axis]
        if isinstance(found, tuple):
            raise InvalidArgumentError(
                f"shape: axis {axis} is ragged, with rows of lengths {found}. Try x.row_lengths({axis})."
            )
        return wrap(self._dtype.dtype.type(found))

    def __len__(self) -> int:
        return self.rank

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RaggedShape) and self.static_lengths() == other.static_lengths()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        lengths = ", ".join(str(n) for n in self.static_lengths())
        return f"<RaggedShape lengths=[{lengths}] num_row_partitions={self.num_row_partitions}>"
