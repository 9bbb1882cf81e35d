"""RaggedShape: what `lab.shape` gives of a ragged tensor, for which a list of lengths would not do."""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_lab.engine.dtypes import DType, as_dtype
from autodiff_lab.engine.shape import TensorShape
from autodiff_lab.engine.tensor import Tensor, wrap
from autodiff_lab.errors import InvalidArgumentError
from autodiff_lab.extras.ragged.partition import RowPartition
from autodiff_lab.extras.ragged.tensor import RaggedTensor


class RaggedShape:
    """The lengths of the axes of a ragged tensor: a number each, or the rows of a ragged axis.

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
        """Number of axes that are kept as rows."""
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
        """Return whether an axis has one length."""
        return not isinstance(self.static_lengths()[axis], tuple)

    def static_lengths(self, ragged_lengths: bool = True) -> list[Any]:
        """Return the length of each axis; of a ragged one those of its rows, or None."""
        rows = self._partitions[0].rows if self._partitions else self._inner[0]
        middle = [
            p.uniform if p.uniform is not None else tuple(p.lengths.tolist()) if ragged_lengths else None
            for p in self._partitions
        ]
        return [rows, *middle, *self._inner[1:]]

    def to_shape(self) -> TensorShape:
        """Return the lengths that are fixed, None for the others."""
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
