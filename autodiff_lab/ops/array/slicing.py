"""Slices by numbers instead of brackets, and tensors dealt out to parts and laid together again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from autodiff_lab.engine.convert import convert
from autodiff_lab.engine.namespace import RECORDING
from autodiff_lab.engine.shape import as_integer, as_integers, listed
from autodiff_lab.engine.tensor import Tensor, named, wrap
from autodiff_lab.errors import InvalidArgumentError, ShapeMismatch
from autodiff_lab.events.listener import tell_made, tell_peek, trace_now, unheard, values_in_trace
from autodiff_lab.kernels.arrays import beside, on_gpu
from autodiff_lab.ops.array.casting import cast
from autodiff_lab.ops.array.gathering import gather_axis, positions_of
from autodiff_lab.ops.array.indexing import getitem
from autodiff_lab.ops.array.joining import concat
from autodiff_lab.ops.array.shaping import reshape
from autodiff_lab.ops.checks import room
from autodiff_lab.ops.docs import document
from autodiff_lab.ops.structured import structured

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import IntsLike, TensorLike

_slice = slice  # the public function below takes the name


def slice(input_: TensorLike, begin: TensorLike, size: TensorLike, name: str | None = None) -> Tensor:
    x = convert(input_)
    first, lengths, shape = as_integers(begin, "slice: begin"), as_integers(size, "slice: size"), x._held.shape
    if not len(first) == len(lengths) == len(shape):
        raise ShapeMismatch(f"slice: begin and size must have a number for each of the {len(shape)} axes, got {first} "
                            f"and {lengths}.")
    lengths = tuple(n - b if k == -1 else k for b, k, n in zip(first, lengths, shape, strict=True))
    if any(not 0 <= b <= b + k <= n for b, k, n in zip(first, lengths, shape, strict=True)):
        raise InvalidArgumentError(f"slice: begin {first} and size {lengths} are out of bounds for shape {shape}.")
    return named(getitem(x, tuple(_slice(b, b + k) for b, k in zip(first, lengths, strict=True))), name)


def strided_slice(input_: TensorLike, begin: TensorLike, end: TensorLike, strides: IntsLike | None = None,
                  begin_mask: int = 0, end_mask: int = 0,
                  ellipsis_mask: int = 0, new_axis_mask: int = 0, shrink_axis_mask: int = 0,
                  var: TensorLike | None = None,
                  name: str | None = None) -> Tensor:
    x = convert(input_)
    first, last = as_integers(begin, "strided_slice: begin"), as_integers(end, "strided_slice: end")
    steps = (1,) * len(first) if strides is None else as_integers(strides, "strided_slice: strides")
    if not len(first) == len(last) == len(steps):
        raise ShapeMismatch(f"strided_slice: begin, end and strides must have one length, got {first}, {last}, "
                            f"{steps}.")
    if 0 in steps:
        raise InvalidArgumentError(f"strided_slice: strides must not be 0, got {steps}.")
    begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask = (
        as_integer(mask, "strided_slice: every mask")
        for mask in (begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask))
    index: list[Any] = []
    for i, (b, e, step) in enumerate(zip(first, last, steps, strict=True)):
        bit = 1 << i
        if ellipsis_mask & bit:
            index.append(Ellipsis)
        elif new_axis_mask & bit:
            index.append(None)
        elif shrink_axis_mask & bit:
            index.append(b)
        else:
            index.append(_slice(None if begin_mask & bit else b, None if end_mask & bit else e, step))
    return named(getitem(x, tuple(index)), name)


@structured(2)
def dynamic_partition(data: TensorLike, partitions: TensorLike, num_partitions: int,
                      name: str | None = None) -> list[Tensor]:
    x, numbers = convert(data), convert(partitions)
    traced = trace_now() is not None and not on_gpu(numbers._held) and not on_gpu(x._held)
    parts = np.asarray(values_in_trace(numbers) if traced else numbers._array)
    num_partitions = room(as_integer(num_partitions, "dynamic_partition: num_partitions"), "dynamic_partition")
    if parts.dtype.kind not in "iu" or x._held.shape[:parts.ndim] != parts.shape:
        raise ShapeMismatch(f"dynamic_partition: partitions must be integers whose shape {parts.shape} the shape "
                            f"{x._held.shape} of data begins with.")
    if parts.size and not 0 <= parts.min() <= parts.max() < num_partitions:
        raise InvalidArgumentError(f"dynamic_partition: partitions must be in [0, {num_partitions}), got "
                                   f"{int(parts.min())} to {int(parts.max())}.")
    flat = reshape(x, (parts.size, *x._held.shape[parts.ndim:])) if parts.ndim != 1 else x
    axis = -flat._held.ndim
    if traced:
        places = _places_in_trace(numbers, parts, num_partitions)
    else:
        places = [wrap(beside(x._held, np.flatnonzero(parts.ravel() == i))) for i in range(num_partitions)]
    return named([gather_axis(flat, at, axis=axis, dense=True) for at in places], name)


def _places_in_trace(numbers: Tensor, parts: Any, count: int) -> list[Tensor]:
    """Return where each number stands; a call in which parts have other lengths does not fit the program."""
    with unheard():
        flat = cast(reshape(numbers, (parts.size,)), "int64")
        tell_peek(RECORDING.all((flat >= 0) & (flat < count), axes=(-1,), keepdims=False), "bool")
        chosen = [RECORDING.equal(flat, convert(i, flat)) for i in range(count)]
        return [positions_of(mask, int(np.count_nonzero(parts == i))) for i, mask in enumerate(chosen)]


def dynamic_stitch(indices: TensorLike, data: TensorLike, name: str | None = None) -> Tensor:
    places = [np.asarray(convert(i)._array) for i in listed(indices, "dynamic_stitch: indices")]
    parts = [convert(d) for d in listed(data, "dynamic_stitch: data")]
    if not parts or len(places) != len(parts):
        raise InvalidArgumentError(f"dynamic_stitch: got {len(places)} lists of indices for {len(parts)} tensors.")
    inner = parts[0]._held.shape[places[0].ndim:]
    for at, part in zip(places, parts, strict=True):
        if part._held.shape != (*at.shape, *inner):
            raise ShapeMismatch(f"dynamic_stitch: data must have shape {(*at.shape, *inner)} for indices of shape "
                                f"{at.shape}, got {part._held.shape}.")
    flat = concat([reshape(p, (at.size, *inner)) for at, p in zip(places, parts, strict=True)], 0)
    order = np.concatenate([at.ravel() for at in places])
    if order.size and (order.dtype.kind not in "iu" or order.min() < 0):
        raise InvalidArgumentError("dynamic_stitch: indices must be non-negative integers.")
    there = np.unique(order)
    if there.size and int(there[-1]) >= there.size:
        missing = int(np.argmax(there != np.arange(there.size)))
        raise InvalidArgumentError(f"dynamic_stitch: index {missing} is missing.")
    source = np.zeros(there.size, np.int64)
    source[order.astype(np.int64)] = np.arange(len(order))  # of two parts for one place the later one stays
    return gather_axis(flat, tell_made(wrap(beside(flat._held, source))), axis=-flat._held.ndim, dense=True, name=name)


_BACK = "1 for what is taken, 0 for the rest"
document((
    (slice, "A block that begins at coordinates and has a size; -1 means up to the end.",
     "input_ (*s), begin (rank), size (rank) -> size",
     ">>> print(lab.slice([[1, 2, 3], [4, 5, 6]], [0, 1], [-1, 2]))\n"
     "Tensor([[2 3]\n [5 6]], shape=(2, 2), dtype=int32)"),
    (strided_slice, "A slice as brackets give it; bit i of a mask is about entry i.",
     "input_ (*s), begin, end, strides (k)",
     ">>> print(lab.strided_slice([1, 2, 3, 4], [3], [0], [-2]))\nTensor([4 2], shape=(2,), dtype=int32)"),
    (dynamic_partition, "Elements dealt out to numbered parts.",
     "data (*p, *s), partitions (*p) -> num_partitions times (n_i, *s)",
     ">>> print(lab.dynamic_partition([1.0, 2.0, 3.0], [1, 0, 1], 2)[1])\nTensor([1. 3.], shape=(2,), dtype=float32)"),
    (dynamic_stitch, "Parts laid together by position; of two for one place the later one stays.",
     "indices, each (*i), data, each (*i, *s) -> (largest index + 1, *s)",
     ">>> print(lab.dynamic_stitch([[1], [0, 2]], [[20.0], [10.0, 30.0]]))\n"
     "Tensor([10. 20. 30.], shape=(3,), dtype=float32)"),
), columns="summary shapes example", dtypes="any", derivative=_BACK, raises=("shape", "argument", "convert"))
