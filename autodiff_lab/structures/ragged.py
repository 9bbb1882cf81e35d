"""RaggedTensor: rows of different lengths, kept as one tensor of values and a partition that cuts it into rows.

Values are an ordinary tensor (or a ragged one, where rows hold rows), so gradients flow through them as anywhere; ops
that work element by element run on the flat values and leave the partition as it is.  A tape takes a ragged tensor as
a source and gives a ragged gradient.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from autodiff_lab.engine.convert import convert
from autodiff_lab.engine.dtypes import DType
from autodiff_lab.engine.shape import TensorShape
from autodiff_lab.engine.tensor import Operators, Tensor, wrap
from autodiff_lab.errors import InvalidArgumentError, NotOneTensor, ShapeMismatch
from autodiff_lab.ops.array.shaping import reshape
from autodiff_lab.ops.math.comparison import equal, not_equal
from autodiff_lab.structures.composite import source_by_values
from autodiff_lab.structures.partition import RowPartition, Whole
from autodiff_lab.structures.ragged_making import RaggedMakers, count, values_of_rows
from autodiff_lab.structures.segments import padded

if TYPE_CHECKING:
    from autodiff_lab.structures.sparse import SparseTensor

_SHOWN = 1000


class RaggedTensor(RaggedMakers, Operators):
    """A tensor with an axis along which rows differ in length; made by `ragged.constant` or the ``from_`` methods.

    Attributes
    ----------
    values : Tensor or RaggedTensor
        The rows one after the other.
    flat_values : Tensor
        The innermost values.
    row_splits : Tensor
        Where rows begin and end: row i goes from ``row_splits[i]`` up to ``row_splits[i + 1]``; int64.
    ragged_rank : int
        Number of ragged axes.
    shape : TensorShape
        None stands for the length of a ragged axis.
    dtype : DType
        Element type.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> x = lab.RaggedTensor.from_row_lengths([1.0, 2.0, 3.0], [2, 0, 1])
    >>> x
    <RaggedTensor [[1.0, 2.0], [], [3.0]]>
    >>> print(x.shape, x.row_splits)
    (3, None) Tensor([0 2 2 3], shape=(4,), dtype=int64)
    >>> x * 10
    <RaggedTensor [[10.0, 20.0], [], [30.0]]>
    >>> print(lab.reduce_sum(x, axis=1))
    Tensor([3. 0. 3.], shape=(3,), dtype=float32)
    """

    __slots__ = ("__weakref__", "_partition", "_values")
    __array_priority__ = 100
    __hash__ = object.__hash__
    CURE = "Try x.to_tensor() for a rectangle, x.flat_values, or lab.ragged.map_flat_values(function, x)."

    def __init__(self, values: Tensor | RaggedTensor, partition: RowPartition) -> None:
        have = count(values)
        if have != partition.values:
            raise InvalidArgumentError(
                f"RaggedTensor: the rows hold {partition.values} values together, but {have} are given."
            )
        self._values, self._partition = values, partition

    # --- looking ---------------------------------------------------------------------------------------------------

    @property
    def values(self) -> Tensor | RaggedTensor:
        """The rows one after the other."""
        return self._values

    @property
    def flat_values(self) -> Tensor:
        """The innermost values."""
        values = self._values
        return values.flat_values if isinstance(values, RaggedTensor) else values

    @property
    def row_splits(self) -> Tensor:
        """Where rows begin and end."""
        return wrap(self._partition.splits)

    @property
    def partitions(self) -> tuple[RowPartition, ...]:
        """How each ragged axis is cut, outermost first."""
        inner = self._values.partitions if isinstance(self._values, RaggedTensor) else ()
        return (self._partition, *inner)

    @property
    def nested_row_splits(self) -> tuple[Tensor, ...]:
        """The splits of each ragged axis, outermost first."""
        return tuple(wrap(partition.splits) for partition in self.partitions)

    @property
    def ragged_rank(self) -> int:
        """Number of ragged axes."""
        return len(self.partitions)

    @property
    def uniform_row_length(self) -> int | None:
        """The length of every row where that is fixed, else None."""
        return self._partition.uniform

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

    def nrows(self, out_type: Any = None, name: str | None = None) -> Tensor:
        """Number of rows; int64."""
        return wrap(np.int64(self._partition.rows))

    def row_lengths(self, axis: int = 1, name: str | None = None) -> Tensor | RaggedTensor:
        """Length of each row; of the rows within rows for a higher axis."""
        if axis == 1:
            return wrap(self._partition.lengths)
        if axis < 1 or not isinstance(self._values, RaggedTensor):
            raise InvalidArgumentError(f"row_lengths: axis {axis} is not ragged; the shape is {self.shape}")
        return RaggedTensor(self._values.row_lengths(axis - 1), self._partition)

    def row_starts(self, name: str | None = None) -> Tensor:
        """Where each row begins."""
        return wrap(self._partition.splits[:-1])

    def row_limits(self, name: str | None = None) -> Tensor:
        """Where each row ends."""
        return wrap(self._partition.splits[1:])

    def value_rowids(self, name: str | None = None) -> Tensor:
        """For each value the number of its row."""
        return wrap(self._partition.row_numbers)

    def bounding_shape(self, axis: int | None = None, name: str | None = None, out_type: Any = None) -> Tensor:
        """Shape of the smallest rectangle that holds all rows; int64."""
        inner = self._values
        rest = inner.bounding_shape()._array[1:] if isinstance(inner, RaggedTensor) else inner._array.shape[1:]
        shape = np.array([self._partition.rows, int(self._partition.lengths.max(initial=0)), *rest], np.int64)
        return wrap(shape if axis is None else shape[axis])

    # --- changing --------------------------------------------------------------------------------------------------

    def with_values(self, new_values: Any) -> RaggedTensor:
        """The same rows with other values."""
        return RaggedTensor(values_of_rows(new_values), self._partition)

    def with_flat_values(self, new_values: Any) -> RaggedTensor:
        """The same rows with other innermost values."""
        inner = self._values
        made = inner.with_flat_values(new_values) if isinstance(inner, RaggedTensor) else values_of_rows(new_values)
        return RaggedTensor(made, self._partition)

    def to_tensor(self, default_value: Any = None, name: str | None = None, shape: Any = None) -> Tensor:
        """The rows as a rectangle, filled up with `default_value` (0, False or the empty string).

        `shape` cuts or widens the rectangle; None in it leaves an axis as long as it must be.  Gradients reach the
        values that are in the rectangle.

        Examples
        --------
        >>> import autodiff_lab as lab
        >>> print(lab.ragged.constant([[1, 2], [3]]).to_tensor())
        Tensor([[1 2]
         [3 0]], shape=(2, 2), dtype=int32)
        """
        array = self.flat_values._array
        if default_value is None:
            fill = b"" if array.dtype.kind == "O" else array.dtype.type(0)
        else:
            fill = np.asarray(convert(default_value, self.flat_values)._array)
        limits = [None] * self.ndim if shape is None else list(shape)
        if len(limits) != self.ndim:
            raise ShapeMismatch(f"to_tensor: shape {shape} has not the {self.ndim} axes of {self.shape}.")
        inner = limits[self.ragged_rank + 1 :]
        if any(n is not None and n != m for n, m in zip(inner, array.shape[1:], strict=True)):
            raise ShapeMismatch(f"to_tensor: shape {shape} does not agree with the inner shape {array.shape[1:]}.")
        return padded(self.flat_values, self._positions(limits), fill)

    def _positions(self, limits: list[Any]) -> Whole:
        """For each place of the rectangle the position of its flat value, or their number where there is none."""
        partition, total = self._partition, count(self.flat_values)
        rows = partition.rows if limits[0] is None else limits[0]
        width = int(partition.lengths.max(initial=0)) if limits[1] is None else limits[1]
        numbers, places = partition.row_numbers, partition.places
        keep = (numbers < rows) & (places < width)
        if isinstance(self._values, RaggedTensor):
            inside = self._values._positions([None, *limits[2:]])
        else:
            inside = np.arange(total)
        made = np.full((rows, width, *inside.shape[1:]), total)
        made[numbers[keep], places[keep]] = inside[keep]
        return made

    def to_list(self) -> list[Any]:
        """Nested Python lists; the values leave the tape."""
        return self._listed(self.flat_values.numpy().tolist())

    def _listed(self, flat: list[Any]) -> list[Any]:
        inner = self._values._listed(flat) if isinstance(self._values, RaggedTensor) else flat
        edges = self._partition.splits.tolist()
        return [inner[a:b] for a, b in pairwise(edges)]

    def numpy(self) -> Any:
        """An array of arrays, one for each row; a plain array if all rows have one length."""
        parts = [row.numpy() for row in self]
        if len({part.shape for part in parts}) == 1 and parts[0].dtype.kind != "O":
            return np.stack(parts)
        made = np.empty(len(parts), object)
        for i, part in enumerate(parts):
            made[i] = part
        return made

    def to_sparse(self, name: str | None = None) -> SparseTensor:
        """The values with their coordinates."""
        from autodiff_lab.structures.ragged_functions import to_sparse

        return to_sparse(self)

    def merge_dims(self, outer_axis: int, inner_axis: int) -> Tensor | RaggedTensor:
        """Rows within rows made one: axes from `outer_axis` to `inner_axis` become a single one.

        Examples
        --------
        >>> import autodiff_lab as lab
        >>> lab.ragged.constant([[[1], [2, 3]], [[4]]]).merge_dims(1, 2)
        <RaggedTensor [[1, 2, 3], [4]]>
        """
        rank = self.ndim
        outer, inner = outer_axis % rank, inner_axis % rank
        if outer == inner:
            return self
        if outer > 0:
            values = self._values
            if outer == 1 and isinstance(values, RaggedTensor):
                merged: Any = RaggedTensor(
                    values.values, RowPartition(values._partition.splits[self._partition.splits])
                )
                return merged.merge_dims(1, inner - 1)
            raise InvalidArgumentError(f"merge_dims: axes {outer} to {inner} of {self.shape} are not ragged")
        if inner == 1:
            return self._values
        if isinstance(self._values, RaggedTensor):
            return self._values.merge_dims(0, inner - 1)
        array = self._values._array
        return reshape(self._values, (-1, *array.shape[inner:]))

    # --- parts and operators -----------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return self._partition.rows

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, key: Any) -> Any:
        from autodiff_lab.structures.ragged_parts import part

        return part(self, key)

    def __composite__(self, apply: Callable[..., Any], inputs: tuple[Any, ...]) -> RaggedTensor:
        """Run an op that works element by element on the flat values."""
        from autodiff_lab.structures.ragged_functions import map_flat_values

        return map_flat_values(apply, *inputs)

    def __reduced__(self, name: str, axis: Any, keepdims: bool) -> Any:
        """Reduce over axes, by the public reduction of this name."""
        from autodiff_lab.structures.ragged_parts import reduced

        return reduced(self, name, axis, keepdims)

    def __joined__(self, values: Any, axis: Any) -> Any:
        """Put this and others one after the other, along the rows or inside them."""
        from autodiff_lab.structures.ragged_parts import joined

        return joined(values, axis)

    def __gathered__(self, indices: Any, axis: Any) -> Any:
        """Pick rows by number."""
        from autodiff_lab.structures.ragged_parts import gathered

        return gathered(self, indices, axis)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        raise NotOneTensor(self)

    def __bool__(self) -> bool:
        raise ValueError("The truth value of a ragged tensor is ambiguous. Try lab.reduce_any(x.flat_values).")

    def __repr__(self) -> str:
        flat = self.flat_values._array
        if flat.size > _SHOWN:
            return f"<RaggedTensor shape={self.shape}, dtype={self.dtype.name}>"
        return f"<RaggedTensor {self._listed(flat.tolist())}>"


def _install_operators() -> None:
    """The operators of a tensor: they convert their operands and so hand themselves to `__composite__`."""
    for name, function in vars(Tensor).items():
        if name.strip("_").removeprefix("r") in _OPERATORS and callable(function):
            setattr(RaggedTensor, name, function)
    for name, function in (("__eq__", equal), ("__ne__", not_equal)):
        setattr(RaggedTensor, name, function)


_OPERATORS = (
    "add",
    "sub",
    "mul",
    "truediv",
    "floordiv",
    "mod",
    "pow",
    "neg",
    "abs",
    "invert",
    "and",
    "or",
    "xor",
    "lt",
    "le",
    "gt",
    "ge",
)
_install_operators()
source_by_values(RaggedTensor, lambda x: x.values, RaggedTensor.with_values)
