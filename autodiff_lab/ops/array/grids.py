"""Grids and blocks: meshgrid, masks of sequences, shapes that broadcast, space cut into batches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from autodiff_lab.engine.convert import convert, whole
from autodiff_lab.engine.devices import beside, placed
from autodiff_lab.engine.dtypes import public
from autodiff_lab.engine.namespace import RECORDING
from autodiff_lab.engine.primitives import broadcast
from autodiff_lab.engine.shape import TensorShape, as_integers
from autodiff_lab.engine.tensor import Tensor, named, wrap
from autodiff_lab.errors import InvalidArgumentError, ShapeMismatch
from autodiff_lab.events.listener import tell_made, trace_now, values_in_trace
from autodiff_lab.kernels.arrays import on_gpu
from autodiff_lab.ops.array.casting import cast, identity
from autodiff_lab.ops.array.repeating import pad
from autodiff_lab.ops.array.shaping import expand_dims, reshape, transpose
from autodiff_lab.ops.array.slicing import slice
from autodiff_lab.ops.checks import not_integers, one_of, room
from autodiff_lab.ops.docs import document

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import DTypeLike, IntsLike, ShapeLike, TensorLike


def meshgrid(*args: TensorLike, indexing: str = "xy", name: str | None = None) -> list[Tensor]:
    one_of(indexing, ("xy", "ij"), "meshgrid: indexing")
    lines = [convert(a) for a in args]
    order = list(range(len(lines)))
    if indexing == "xy" and len(lines) > 1:
        order[0], order[1] = 1, 0
    shape = [0] * len(lines)
    for line, at in zip(lines, order, strict=True):
        if line._held.ndim > 1:
            raise ShapeMismatch(f"meshgrid: expected vectors, got shape {line._held.shape}.")
        shape[at] = line._held.size
    grids: list[Tensor] = []
    for line, at in zip(lines, order, strict=True):
        along = [1] * len(lines)
        along[at] = line._held.size
        grids.append(broadcast(reshape(line, along), shape=tuple(shape)))
    return named(grids, name)


def sequence_mask(lengths: TensorLike, maxlen: TensorLike | None = None, dtype: DTypeLike = "bool",
                  name: str | None = None) -> Tensor:
    given = convert(lengths)
    traced = trace_now() is not None and given._held.dtype.kind in "iu" and not on_gpu(given._held)
    counts = np.asarray(values_in_trace(given) if traced else given._array)
    if counts.size and counts.dtype.kind not in "iu":
        raise not_integers(public(counts.dtype), "sequence_mask: lengths")
    if traced and maxlen is None and counts.size:
        maxlen = RECORDING.max(given, axes=tuple(range(-counts.ndim, 0)), keepdims=False)
    width = int(counts.max(initial=0)) if maxlen is None else whole(maxlen, "sequence_mask: maxlen")
    room(width * max(counts.size, 1), "sequence_mask: maxlen")
    if traced:
        places = tell_made(wrap(np.arange(width)))
        return named(cast(places < expand_dims(cast(given, places.dtype), -1), dtype), name)
    with beside(given):
        return named(cast(tell_made(wrap(placed(np.arange(width) < counts[..., None]))), dtype), name)


def broadcast_static_shape(shape_x: ShapeLike, shape_y: ShapeLike) -> TensorShape:
    first, second = (as_integers(s, "broadcast_static_shape: lengths") for s in (shape_x, shape_y))
    try:
        return TensorShape(np.broadcast_shapes(first, second))
    except ValueError:
        raise ShapeMismatch(f"broadcast_static_shape: shapes {first} and {second} do not broadcast.") from None


def broadcast_dynamic_shape(shape_x: ShapeLike, shape_y: ShapeLike) -> Tensor:
    shape = [length for length in broadcast_static_shape(shape_x, shape_y) if length is not None]
    if max(shape, default=0) >= 1 << 31:
        raise InvalidArgumentError(f"broadcast_dynamic_shape: lengths must fit into int32, got {shape}.")
    return tell_made(wrap(np.asarray(shape, np.int32)))


def ensure_shape(x: TensorLike, shape: ShapeLike, name: str | None = None) -> Tensor:
    tensor, wanted = convert(x), TensorShape(shape)
    if not wanted.is_compatible_with(tensor._held.shape):
        raise ShapeMismatch(f"ensure_shape: expected shape {wanted}, got {tensor._held.shape}.")
    return named(identity(tensor), name)


def _blocks(x: Tensor, block_shape: Any, pairs: Any, what: str) -> tuple[tuple[int, ...], np.ndarray[Any, Any]]:
    blocks = as_integers(block_shape, f"{what}: block_shape")
    rows = np.asarray(convert(pairs)._array)
    if x._held.ndim < 1 + len(blocks) or rows.shape != (len(blocks), 2) or min(blocks, default=1) < 1:
        raise ShapeMismatch(f"{what}: a block of shape {blocks} requires {len(blocks)} axes after the batch and a pair "
                            f"of numbers for each, got a tensor of shape {x._held.shape} and {rows.tolist()}.")
    return blocks, rows


def space_to_batch(input: TensorLike, block_shape: IntsLike, paddings: TensorLike, name: str | None = None) -> Tensor:
    x = convert(input)
    blocks, rows = _blocks(x, block_shape, paddings, "space_to_batch")
    count = len(blocks)
    x = pad(x, [[0, 0], *rows.tolist(), *[[0, 0]] * (x._held.ndim - 1 - count)])
    batch, space, rest = x._held.shape[0], x._held.shape[1:1 + count], x._held.shape[1 + count:]
    if any(n % b for n, b in zip(space, blocks, strict=True)):
        raise ShapeMismatch(f"space_to_batch: the padded lengths {space} must be multiples of the block shape "
                            f"{blocks}.")
    cut = [v for n, b in zip(space, blocks, strict=True) for v in (n // b, b)]
    inside, outside = range(2, 2 + 2 * count, 2), range(1, 1 + 2 * count, 2)
    parts = transpose(reshape(x, (batch, *cut, *rest)),
                      (*inside, 0, *outside, *range(1 + 2 * count, 1 + 2 * count + len(rest))))
    lengths = [n // b for n, b in zip(space, blocks, strict=True)]
    return named(reshape(parts, (batch * int(np.prod(blocks)), *lengths, *rest)), name)


def batch_to_space(input: TensorLike, block_shape: IntsLike, crops: TensorLike, name: str | None = None) -> Tensor:
    x = convert(input)
    blocks, rows = _blocks(x, block_shape, crops, "batch_to_space")
    count, shape = len(blocks), x._held.shape
    size = int(np.prod(blocks))
    if shape[0] % size:
        raise ShapeMismatch(f"batch_to_space: the batch size {shape[0]} must be a multiple of the block size {size}.")
    space, rest = shape[1:1 + count], shape[1 + count:]
    between = [v for i in range(count) for v in (count + 1 + i, i)]
    parts = transpose(reshape(x, (*blocks, shape[0] // size, *space, *rest)),
                      (count, *between, *range(2 * count + 1, 2 * count + 1 + len(rest))))
    whole = reshape(parts, (shape[0] // size, *[n * b for n, b in zip(space, blocks, strict=True)], *rest))
    lengths = [n * b - int(r.sum()) for n, b, r in zip(space, blocks, rows, strict=True)]
    return named(slice(whole, [0, *rows[:, 0].tolist(), *[0] * len(rest)], [shape[0] // size, *lengths, *rest]), name)


_NONE = "none: the result depends on no values"
document((
    (meshgrid, "Coordinates of a grid, one tensor for each axis; the first two axes swapped unless indexing='ij'.",
     "vectors (n_i) -> as many grids", "sums over the axes that were added",
     ">>> print(lab.meshgrid([1, 2, 3], [4, 5])[1])\nTensor([[4 4 4]\n [5 5 5]], shape=(2, 3), dtype=int32)"),
    (sequence_mask, "True for the first places of each row, as many as lengths says.", "lengths (*s) -> (*s, maxlen)",
     _NONE, ">>> print(lab.sequence_mask([1, 2]))\nTensor([[ True False]\n [ True  True]], shape=(2, 2), dtype=bool)"),
    (broadcast_static_shape, "The shape to which two shapes broadcast.", "two shapes -> a TensorShape", _NONE,
     ">>> print(lab.broadcast_static_shape([2, 1], [3]))\n(2, 3)"),
    (broadcast_dynamic_shape, "The shape to which two shapes broadcast, as a tensor.", "two shapes -> (rank)", _NONE,
     ">>> print(lab.broadcast_dynamic_shape([2, 1], [3]))\nTensor([2 3], shape=(2,), dtype=int32)"),
    (ensure_shape, "The same tensor, if it has a shape; None stands for any length.", "x (*s) -> (*s)", "1",
     ">>> print(lab.ensure_shape([1.0, 2.0], [None]))\nTensor([1. 2.], shape=(2,), dtype=float32)"),
    (space_to_batch, "Space cut into blocks, the elements of which become batches; padded with zeros first.",
     "input (b, *space, *s), block_shape (m), paddings (m, 2)", "1 for every element, rearranged back",
     ">>> print(lab.space_to_batch([[1, 2, 3, 4]], [2], [[0, 0]]))\n"
     "Tensor([[1 3]\n [2 4]], shape=(2, 2), dtype=int32)"),
    (batch_to_space, "What `space_to_batch` did, undone, and the edges cropped.",
     "input (b, *space, *s), block_shape (m), crops (m, 2)", "1 for every element kept, rearranged back",
     ">>> print(lab.batch_to_space([[1, 3], [2, 4]], [2], [[0, 0]]))\nTensor([[1 2 3 4]], shape=(1, 4), dtype=int32)"),
), dtypes="any", raises=("shape", "argument", "convert"))
