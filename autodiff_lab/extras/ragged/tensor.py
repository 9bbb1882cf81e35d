"""RaggedTensor: rows of different lengths, stored as one tensor of values and a partition that cuts it into rows.

The values are an ordinary tensor (or a ragged one, if rows contain rows), so gradients flow through them as usual;
elementwise ops run on the flat values and keep the partition.  A tape accepts a ragged tensor as a source and returns a
ragged gradient.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from autodiff_lab.engine.shape import TensorShape
from autodiff_lab.engine.tensor import Operators, Tensor, named
from autodiff_lab.errors import InvalidArgumentError, NotOneTensor, ShapeMismatch
from autodiff_lab.extras.composite import source_by_values
from autodiff_lab.extras.ragged.making import RaggedMakers, count, values_of_rows
from autodiff_lab.extras.ragged.partition import RowPartition, Whole
from autodiff_lab.extras.ragged.rows import RaggedRows
from autodiff_lab.extras.segments import filler, padded
from autodiff_lab.ops.array.casting import identity
from autodiff_lab.ops.array.shaping import reshape
from autodiff_lab.ops.math.comparison import equal, not_equal

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import ShapeLike, TensorLike
    from autodiff_lab.extras.sparse.tensor import SparseTensor

_SHOWN = 1000


class RaggedTensor(RaggedMakers, RaggedRows, Operators):
    """A tensor whose rows may differ in length, created by `ragged.constant` or the ``from_`` methods.

    Attributes
    ----------
    values : Tensor or RaggedTensor
        The values of all rows, one row after another.
    flat_values : Tensor
        The innermost values.
    row_splits : Tensor
        Where rows start and end: row i goes from ``row_splits[i]`` up to ``row_splits[i + 1]``; int64.
    ragged_rank : int
        Number of ragged axes.
    shape : TensorShape
        The length of each axis; None for a ragged one.
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
    CURE = "Try x.to_tensor(), x.flat_values or lab.ragged.map_flat_values(function, x)."

    def __init__(self, values: Tensor | RaggedTensor, partition: RowPartition) -> None:
        have = count(values)
        if have != partition.values:
            raise InvalidArgumentError(f"RaggedTensor: expected {partition.values} values for these rows, got {have}.")
        if isinstance(values, RaggedTensor) and values._partition.narrow != partition.narrow:
            values, partition = values.with_row_splits_dtype("int64"), partition.as_dtype("int64")
        self._values, self._partition = values, partition

    # --- changing --------------------------------------------------------------------------------------------------

    def with_values(self, new_values: TensorLike) -> RaggedTensor:
        """Return the same rows with other values."""
        return RaggedTensor(values_of_rows(new_values), self._partition)

    def with_flat_values(self, new_values: TensorLike) -> RaggedTensor:
        """Return the same rows with other innermost values."""
        inner = self._values
        made = inner.with_flat_values(new_values) if isinstance(inner, RaggedTensor) else values_of_rows(new_values)
        return RaggedTensor(made, self._partition)

    def to_tensor(
        self, default_value: TensorLike | None = None, name: str | None = None, shape: ShapeLike | None = None
    ) -> Tensor:
        """Return the rows as a dense tensor, padded with `default_value` (0, False or the empty string).

        `shape` truncates or pads; None in it leaves an axis as long as the longest row.  Gradients reach the values
        that are kept and, summed over the padding, the default.

        Examples
        --------
        >>> import autodiff_lab as lab
        >>> print(lab.ragged.constant([[1, 2], [3]]).to_tensor())
        Tensor([[1 2]
         [3 0]], shape=(2, 2), dtype=int32)
        """
        limits = self._limits(shape)
        inner = self.flat_values._held.shape[1:]
        return named(
            padded(self.flat_values, self._positions(limits), filler(self.flat_values, default_value, inner)), name
        )

    def _limits(self, shape: Any) -> list[int | None]:
        """Return the requested lengths of `to_tensor`, None where an axis is as long as its longest row."""
        wanted = [None] * self.ndim if shape is None else TensorShape(shape).rank is None or list(TensorShape(shape))
        if wanted is True:
            wanted = [None] * self.ndim
        wanted = [None if n is None or n == -1 else int(n) for n in wanted]
        if len(wanted) != self.ndim:
            raise ShapeMismatch(f"to_tensor: expected a shape with the {self.ndim} axes of {self.shape}, got {shape}.")
        inner = wanted[self.ragged_rank + 1 :]
        have = self.flat_values._held.shape[1:]
        if any(n is not None and n != m for n, m in zip(inner, have, strict=True)):
            raise ShapeMismatch(f"to_tensor: shape {shape} does not match the inner shape {have}.")
        return wanted

    def _positions(self, limits: list[Any]) -> Whole:
        """Return the flat position of each element of the dense tensor, and the number of values for padding."""
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
        """Return nested Python lists; gradients stop here."""
        return self._listed(self.flat_values.numpy().tolist())

    def _listed(self, flat: list[Any]) -> list[Any]:
        inner = self._values._listed(flat) if isinstance(self._values, RaggedTensor) else flat
        edges = self._partition.splits.tolist()
        return [inner[a:b] for a, b in pairwise(edges)]

    def numpy(self) -> Any:
        """Return an object array with one array for each row, or a plain array if all rows have the same length."""
        if isinstance(self._values, Tensor) and self._partition.rows == 0:
            return np.zeros((0, 0, *self._values._held.shape[1:]), self._values._held.dtype)
        parts = [row.numpy() for row in self]
        if len({part.shape for part in parts}) == 1 and parts[0].dtype.kind != "O":
            return np.stack(parts)
        made = np.empty(len(parts), object)
        for i, part in enumerate(parts):
            made[i] = part
        return made

    def to_sparse(self, name: str | None = None) -> SparseTensor:
        """Return the values with their coordinates."""
        from autodiff_lab.extras.ragged.functions import to_sparse

        return named(to_sparse(self), name)

    def merge_dims(self, outer_axis: int, inner_axis: int) -> Tensor | RaggedTensor:
        """Merge the axes from `outer_axis` to `inner_axis` into one.

        Examples
        --------
        >>> import autodiff_lab as lab
        >>> lab.ragged.constant([[[1], [2, 3]], [[4]]]).merge_dims(1, 2)
        <RaggedTensor [[1, 2, 3], [4]]>
        """
        rank = self.ndim
        if not (-rank <= outer_axis < rank and -rank <= inner_axis < rank):
            raise InvalidArgumentError(
                f"merge_dims: axes {outer_axis} and {inner_axis} are out of bounds for shape {self.shape}."
            )
        outer, inner = outer_axis % rank, inner_axis % rank
        if outer > inner:
            raise InvalidArgumentError(f"merge_dims: outer_axis {outer_axis} comes after inner_axis {inner_axis}.")
        values = self._values
        if outer == inner:
            return self
        if outer > 1 or (outer == 1 and isinstance(values, Tensor)):
            return self.with_values(_merged(values, outer - 1, inner - 1))
        if outer == 1:
            assert isinstance(values, RaggedTensor)
            splits = values._partition.splits[self._partition.splits]
            return RaggedTensor(values.values, RowPartition(splits, None, self._partition.narrow)).merge_dims(
                1, inner - 1
            )
        return values if inner == 1 else _merged(values, 0, inner - 1)

    # --- parts and operators -----------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return self._partition.rows

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, key: Any) -> Any:
        from autodiff_lab.extras.ragged.parts import part

        return part(self, key)

    def __named__(self, name: str) -> RaggedTensor:
        return self.with_flat_values(identity(self.flat_values, name))

    def __lab_apply__(self, op: Any, inputs: tuple[Any, ...], params: dict[str, Any]) -> Any:
        """Run the ragged form of an op or a public function; elementwise ops run on the flat values."""
        from autodiff_lab.extras.ragged.calls import called

        return called(self, op, inputs, params)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        raise NotOneTensor(self)

    def __bool__(self) -> bool:
        raise ValueError("The truth value of a ragged tensor is ambiguous. Try lab.reduce_any(x.flat_values).")

    def __repr__(self) -> str:
        return f"<RaggedTensor {self.shown()}>"

    def shown(self, edge: int = 3) -> str:
        """Return the nested lists as text; of long lists, only the first and last `edge` items."""
        if self.flat_values._held.size <= _SHOWN and len(self) <= _SHOWN:
            return str(self._listed(self.flat_values._array.tolist()))
        parts = [_text(self, i, edge) for i in places_shown(len(self), edge)]
        return f"[{', '.join(parts)}]"


def places_shown(length: int, edge: int) -> list[int]:
    """Return the first and the last positions of a list, with -1 for those that are left out between them."""
    return list(range(length)) if length <= 2 * edge else [*range(edge), -1, *range(length - edge, length)]


def _text(x: RaggedTensor, row: int, edge: int) -> str:
    if row < 0:
        return "..."
    inner = x[row]
    if isinstance(inner, RaggedTensor):
        return inner.shown(edge) if inner.flat_values._held.size > 2 * edge else str(inner.to_list())
    array = inner._array
    if array.ndim == 0 or len(array) <= 2 * edge:
        return str(array.tolist())
    return f"[{', '.join('...' if i < 0 else str(array[i].tolist()) for i in places_shown(len(array), edge))}]"


def _merged(values: Any, outer: int, inner: int) -> Any:
    if isinstance(values, RaggedTensor):
        return values.merge_dims(outer, inner)
    shape = values._held.shape
    return reshape(values, (*shape[:outer], int(np.prod(shape[outer : inner + 1])), *shape[inner + 1 :]))


def _install_operators() -> None:
    """Copy the operators of `Tensor`: they convert their operands and so end in `__lab_apply__`."""
    for name, function in vars(Tensor).items():
        bare = name.strip("_")
        if (bare in _OPERATORS or bare.removeprefix("r") in _OPERATORS) and callable(function):
            setattr(RaggedTensor, name, function)
    for name, function in (("__eq__", equal), ("__ne__", not_equal)):
        setattr(RaggedTensor, name, function)


_OPERATORS = frozenset((
    "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "neg", "abs", "invert", "and", "or", "xor", "matmul",
    "lt", "le", "gt", "ge",
))  # fmt: skip
_install_operators()
source_by_values(RaggedTensor, lambda x: x.values, RaggedTensor.with_values)
