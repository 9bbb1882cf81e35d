"""Constructors of ragged tensors, from values and a description of their rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from autodiff_lab.engine.convert import alone, convert
from autodiff_lab.engine.tensor import Tensor, named
from autodiff_lab.errors import InvalidArgumentError, ShapeMismatch
from autodiff_lab.extras.ragged.partition import RowPartition, integer, integer_vector, is_narrow, wants_narrow

if TYPE_CHECKING:
    from autodiff_lab.extras.ragged.tensor import RaggedTensor
    from autodiff_lab.extras.sparse.tensor import SparseTensor


def values_of_rows(value: Any) -> Tensor | RaggedTensor:
    """Return the values of rows: a ragged tensor, or anything that converts to a tensor with at least one axis."""
    if isinstance(value, RaggedMakers):
        return value  # type: ignore[return-value]
    tensor = alone(convert(value))
    if tensor._held.ndim == 0:
        raise ShapeMismatch("RaggedTensor: expected values with at least one axis to cut into rows, got a scalar.")
    return tensor


def count(values: Tensor | RaggedTensor) -> int:
    """Return the length of the first axis."""
    if isinstance(values, Tensor) and not values._held.ndim:
        raise ShapeMismatch("expected a tensor with rows, got a scalar.")
    return values._held.shape[0] if isinstance(values, Tensor) else len(values)


def _nested(make: Callable[..., Any], values: Any, *axes: Any) -> Any:
    """Return rows of rows: `make` is called with the arguments of each ragged axis, innermost first."""
    for arguments in reversed(list(zip(*axes, strict=True))):
        values = make(values, *arguments)
    return values


class RaggedMakers:
    """The class methods of `RaggedTensor` that construct one."""

    __slots__ = ()

    def __init__(self, values: Tensor | RaggedTensor, partition: RowPartition) -> None:
        raise NotImplementedError

    @classmethod
    def from_row_splits(cls, values: Any, row_splits: Any, name: str | None = None, validate: bool = True) -> Self:
        """Return a ragged tensor, given where its rows start and end.

        Examples
        --------
        >>> import autodiff_lab as lab
        >>> lab.RaggedTensor.from_row_splits([3, 1, 4], [0, 2, 3])
        <RaggedTensor [[3, 1], [4]]>
        """
        splits = integer_vector(row_splits, "from_row_splits")
        return named(cls(values_of_rows(values), RowPartition(splits, narrow=is_narrow(row_splits))), name)

    @classmethod
    def from_row_lengths(cls, values: Any, row_lengths: Any, name: str | None = None, validate: bool = True) -> Self:
        """Return a ragged tensor, given the lengths of its rows.

        Examples
        --------
        >>> import autodiff_lab as lab
        >>> lab.RaggedTensor.from_row_lengths([3, 1, 4], [1, 2])
        <RaggedTensor [[3], [1, 4]]>
        """
        lengths = integer_vector(row_lengths, "from_row_lengths")
        return named(
            cls(values_of_rows(values), RowPartition.from_lengths(lengths, narrow=is_narrow(row_lengths))), name
        )

    @classmethod
    def from_value_rowids(
        cls, values: Any, value_rowids: Any, nrows: Any = None, name: str | None = None, validate: bool = True
    ) -> Self:
        """Return a ragged tensor, given the sorted row numbers of its values; `nrows` may add empty rows at the end.

        Examples
        --------
        >>> import autodiff_lab as lab
        >>> lab.RaggedTensor.from_value_rowids([3, 1, 4], [0, 0, 2])
        <RaggedTensor [[3, 1], [], [4]]>
        """
        rows = integer_vector(value_rowids, "from_value_rowids")
        count = None if nrows is None else integer(nrows, "from_value_rowids: nrows")
        return named(
            cls(values_of_rows(values), RowPartition.from_row_numbers(rows, count, is_narrow(value_rowids))), name
        )

    @classmethod
    def from_row_starts(cls, values: Any, row_starts: Any, name: str | None = None, validate: bool = True) -> Self:
        """Return a ragged tensor, given where each row starts."""
        made = values_of_rows(values)
        starts = integer_vector(row_starts, "from_row_starts")
        return named(cls(made, RowPartition(np.append(starts, count(made)), narrow=is_narrow(row_starts))), name)

    @classmethod
    def from_row_limits(cls, values: Any, row_limits: Any, name: str | None = None, validate: bool = True) -> Self:
        """Return a ragged tensor, given where each row ends."""
        limits = integer_vector(row_limits, "from_row_limits")
        return named(
            cls(values_of_rows(values), RowPartition(np.append(0, limits), narrow=is_narrow(row_limits))), name
        )

    @classmethod
    def from_uniform_row_length(
        cls, values: Any, uniform_row_length: Any, nrows: Any = None, validate: bool = True, name: str | None = None
    ) -> Self:
        """Return a ragged tensor whose rows all have the same length.

        Examples
        --------
        >>> import autodiff_lab as lab
        >>> lab.RaggedTensor.from_uniform_row_length([1, 2, 3, 4], 2).shape
        TensorShape([2, 2])
        """
        made = values_of_rows(values)
        length = integer(uniform_row_length, "from_uniform_row_length: uniform_row_length")
        if length < 0:
            raise InvalidArgumentError(f"from_uniform_row_length: expected a length of at least 0, got {length}.")
        if nrows is not None:
            rows = integer(nrows, "from_uniform_row_length: nrows")
        else:
            rows = count(made) // length if length else 0
        if rows * length != count(made):
            raise InvalidArgumentError(
                f"from_uniform_row_length: {rows} rows of length {length} cannot hold {count(made)} values."
            )
        return named(cls(made, RowPartition.uniform_rows(rows, length, is_narrow(uniform_row_length))), name)

    @classmethod
    def from_nested_row_splits(
        cls, flat_values: Any, nested_row_splits: Any, name: str | None = None, validate: bool = True
    ) -> Self:
        """Return rows of rows, given the splits of each ragged axis, outermost first."""
        return named(_nested(cls.from_row_splits, flat_values, nested_row_splits), name)

    @classmethod
    def from_nested_row_lengths(
        cls, flat_values: Any, nested_row_lengths: Any, name: str | None = None, validate: bool = True
    ) -> Self:
        """Return rows of rows, given the row lengths of each ragged axis, outermost first."""
        return named(_nested(cls.from_row_lengths, flat_values, nested_row_lengths), name)

    @classmethod
    def from_nested_value_rowids(
        cls,
        flat_values: Any,
        nested_value_rowids: Any,
        nested_nrows: Any = None,
        name: str | None = None,
        validate: bool = True,
    ) -> Self:
        """Return rows of rows, given the row numbers of each ragged axis, outermost first.

        Examples
        --------
        >>> import autodiff_lab as lab
        >>> lab.RaggedTensor.from_nested_value_rowids([1, 2, 3], [[0, 0], [0, 0, 1]])
        <RaggedTensor [[[1, 2], [3]]]>
        """
        numbers = list(nested_value_rowids)
        rows = [None] * len(numbers) if nested_nrows is None else list(nested_nrows)
        if len(rows) != len(numbers):
            raise InvalidArgumentError(
                f"from_nested_value_rowids: expected one nrows for each list of row numbers, got {len(rows)} for "
                f"{len(numbers)}."
            )
        return named(_nested(cls.from_value_rowids, flat_values, numbers, rows), name)

    @classmethod
    def from_tensor(
        cls,
        tensor: Any,
        lengths: Any = None,
        padding: Any = None,
        ragged_rank: int = 1,
        name: str | None = None,
        row_splits_dtype: Any = None,
    ) -> RaggedTensor:
        """Return the rows of a tensor, cut to `lengths` or stripped of the `padding` at their ends.

        Examples
        --------
        >>> import autodiff_lab as lab
        >>> lab.RaggedTensor.from_tensor([[1, 2, 0], [3, 0, 0]], padding=0)
        <RaggedTensor [[1, 2], [3]]>
        """
        from autodiff_lab.extras.ragged.functions import from_tensor

        narrow = wants_narrow(row_splits_dtype)
        return named(from_tensor(alone(convert(tensor)), lengths, padding, int(ragged_rank), narrow), name)

    @classmethod
    def from_sparse(cls, st_input: SparseTensor, name: str | None = None, row_splits_dtype: Any = None) -> RaggedTensor:
        """Return the rows of a sparse matrix whose values are at the start of each row, without gaps."""
        from autodiff_lab.extras.ragged.functions import from_sparse

        return named(from_sparse(st_input, wants_narrow(row_splits_dtype)), name)
