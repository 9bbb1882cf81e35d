"""Broadcasting of ragged tensors in elementwise ops.

Operands are broadcast to equal rows, then the op runs on their flat values.  Shapes are aligned at their last axes, as
for tensors.  An axis of fixed length 1 is repeated; every other axis must have the same length in both operands, row by
row.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autodiff_lab.engine.convert import convert
from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.engine.variable import Variable
from autodiff_lab.errors import InvalidArgumentError, ShapeMismatch
from autodiff_lab.extras.ragged.making import count
from autodiff_lab.extras.ragged.partition import RowPartition, Whole
from autodiff_lab.extras.ragged.tensor import RaggedTensor
from autodiff_lab.ops.array.gathering import gather_axis, laid_beside
from autodiff_lab.ops.array.shaping import reshape


def elementwise(apply: Callable[..., Any], inputs: tuple[Any, ...]) -> RaggedTensor:
    """Apply an op to ragged tensors and values that broadcast to them.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> x = lab.ragged.constant([[1, 2], [3]])
    >>> elementwise(lab.add, (x, lab.constant([[10], [20]])))
    <RaggedTensor [[11, 12], [23]]>
    """
    like = next((value for value in inputs if isinstance(value, RaggedTensor)), None)
    if like is None:
        raise InvalidArgumentError(
            "expected the ragged tensor as an operand, got it as another argument, such as a pattern or an axis."
        )
    operands = [_operand(value, like) for value in inputs]
    ragged = [x for x in operands if isinstance(x, RaggedTensor)]
    inner = like.flat_values._held.ndim - 1
    plain = all(
        x._held.ndim <= inner if isinstance(x, Tensor) else not isinstance(x, RaggedTensor) or same_rows(x, like)
        for x in operands
    )
    if plain:
        flat = apply(*(x.flat_values if isinstance(x, RaggedTensor) else x for x in operands))
        return max(ragged, key=lambda x: x.flat_values._held.ndim).with_flat_values(flat)
    places = [i for i, x in enumerate(operands) if isinstance(x, (RaggedTensor, Tensor))]
    flats, partitions = aligned([operands[i] for i in places])
    for i, flat in zip(places, flats, strict=True):
        operands[i] = flat
    made: Any = apply(*operands)
    for partition in reversed(partitions):
        made = RaggedTensor(made, partition)
    return made


def same_rows(a: RaggedTensor, b: RaggedTensor) -> bool:
    """Return whether two ragged tensors have the same rows on all ragged axes."""
    return a.ragged_rank == b.ragged_rank and all(p.same(q) for p, q in zip(a.partitions, b.partitions, strict=True))


def _operand(value: Any, like: RaggedTensor) -> Any:
    if isinstance(value, (RaggedTensor, Tensor)) or not isinstance(value, (Variable, np.ndarray, list, tuple)):
        return value
    return convert(value, like.flat_values)


def rows_along(x: Any, axis: int) -> int | RowPartition:
    """Return the length of a non-negative axis: an integer if it is fixed, otherwise the partition with the lengths."""
    if isinstance(x, Tensor):
        return x._held.shape[axis]
    if axis == 0:
        return len(x)
    if axis > x.ragged_rank:
        return x.flat_values._held.shape[axis - x.ragged_rank]
    partition = x.partitions[axis - 1]
    return partition if partition.uniform is None else partition.uniform


def aligned(operands: list[Any]) -> tuple[list[Tensor], list[RowPartition]]:
    """Return the flat values of operands after broadcasting, and their common rows, outermost first.

    Raises
    ------
    ShapeMismatch
        If the lengths of an axis differ.
    """
    rank = max(x.ndim for x in operands)
    ahead = [rank - x.ndim for x in operands]
    depth = max(before + x.ragged_rank for before, x in zip(ahead, operands, strict=True) if not isinstance(x, Tensor))
    narrow = all(p.narrow for x in operands if isinstance(x, RaggedTensor) for p in x.partitions)
    parents: list[Whole] = [np.zeros(1, np.int64) for _ in operands]
    partitions: list[RowPartition] = []
    for axis in range(depth + 1):
        found = [
            1 if axis < before else rows_along(x, axis - before) for before, x in zip(ahead, operands, strict=True)
        ]
        lengths, fixed = _common(found, parents, operands)
        if axis:
            partitions.append(RowPartition.from_lengths(lengths, fixed, narrow))
        inside = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        for i, rows in enumerate(found):
            starts = rows.splits[:-1][parents[i]] if isinstance(rows, RowPartition) else parents[i] * rows
            repeated = isinstance(rows, int) and rows == 1
            parents[i] = np.repeat(starts, lengths) + (0 if repeated else inside)
    flats = [_flat(x, depth - before, places) for x, before, places in zip(operands, ahead, parents, strict=True)]
    return flats, partitions


def _common(found: list[int | RowPartition], parents: list[Whole], operands: list[Any]) -> tuple[Whole, int | None]:
    """Return the length of each row of the result along an axis, and the fixed length if there is one."""
    whole = [rows for rows in found if isinstance(rows, int)]
    fixed = next((n for n in whole if n != 1), 1)
    lengths, decided = np.full(len(parents[0]), fixed, np.int64), fixed != 1
    uniform = len(whole) == len(found) or decided
    for rows, at in zip(found, parents, strict=True):
        here = rows.lengths[at] if isinstance(rows, RowPartition) else np.full(len(at), rows, np.int64)
        if isinstance(rows, int) and rows == 1:
            continue
        if decided and not np.array_equal(here, lengths):
            shapes = " and ".join(str(x.shape) for x in operands)
            raise ShapeMismatch(
                f"ragged tensors and tensors of shapes {shapes} do not broadcast: row lengths "
                f"{lengths.tolist()[:10]} and {here.tolist()[:10]} differ."
            )
        lengths, decided = here, True
    return lengths, fixed if uniform else None


def _flat(x: Any, axis: int, places: Whole) -> Tensor:
    """Return the values at some positions of an axis, after merging the axes outside it into it."""
    if axis < 0:
        return x
    flat = x.flat_values if isinstance(x, RaggedTensor) else x
    merged = axis - (x.ragged_rank if isinstance(x, RaggedTensor) else 0)
    if merged > 0:
        shape = flat._held.shape
        flat = reshape(flat, (int(np.prod(shape[: merged + 1])), *shape[merged + 1 :]))
    if len(places) == count(flat) and np.array_equal(places, np.arange(len(places))):
        return flat
    return gather_axis(flat, laid_beside(flat, places), axis=-flat._held.ndim)


def broadcast_to_rows(x: Any, like: RaggedTensor) -> Any:
    """Broadcast a tensor or ragged tensor to the rows of another one."""
    flats, partitions = aligned([x, like])
    made: Any = flats[0]
    for partition in reversed(partitions):
        made = RaggedTensor(made, partition)
    return made
