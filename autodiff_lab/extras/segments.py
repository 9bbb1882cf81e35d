"""Reductions over segments: values with the same segment number are reduced to one.

The axes of ragged and sparse tensors are both reduced this way, with `math.unsorted_segment_sum` and related ops, which
also define the result of an empty segment: 0, 1, or the smallest or largest value of the dtype.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_lab.engine.convert import convert
from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.errors import DtypeMismatch, InvalidArgumentError, ShapeMismatch
from autodiff_lab.ops.array.casting import cast
from autodiff_lab.ops.array.gathering import gather_axis, laid_beside
from autodiff_lab.ops.array.joining import concat
from autodiff_lab.ops.array.shaping import broadcast_to, expand_dims, reshape
from autodiff_lab.ops.math import reductions
from autodiff_lab.ops.math import segments as by_segment
from autodiff_lab.ops.math.arithmetic import divide


def filler(values: Tensor, default: Any, inner: tuple[int, ...]) -> Tensor:
    """Return the value for empty places: a default that gradients reach, or 0, False or the empty string."""
    if default is None:
        array = values._array
        return laid_beside(values, np.full(inner, b"" if array.dtype.kind == "O" else 0, array.dtype))
    fill = convert(default, values)
    if fill._held.dtype != values._held.dtype:
        raise DtypeMismatch(
            f"default_value: expected {values.dtype.name}, the dtype of the values, got {fill.dtype.name}. Try "
            "lab.cast."
        )
    have = fill._held.shape
    if len(have) > len(inner) or any(n not in (1, m) for n, m in zip(have[::-1], inner[::-1], strict=False)):
        raise ShapeMismatch(f"default_value: shape {have} does not broadcast to {inner}, the shape of one value.")
    if fill is not default and fill.device != values.device:
        fill = fill.cpu() if values.device == "/CPU:0" else laid_beside(values, fill._array)
    return fill if have == inner else broadcast_to(fill, inner)


def padded(values: Tensor, positions: np.ndarray[Any, Any], fill: Tensor) -> Tensor:
    """Return the values at positions, with `fill` where the position is the number of values.

    Shapes: values (v, *inner), positions (*p), fill (*inner) -> (*p, *inner).
    """
    longer = concat([values, expand_dims(fill, 0)], axis=0)
    return gather_axis(longer, laid_beside(longer, positions), axis=-longer._held.ndim, dense=True)


def positions_of(segments: np.ndarray[Any, Any], count: int) -> np.ndarray[Any, Any]:
    """Return the positions of the values of each segment, one row each, padded with the number of values."""
    lengths = np.bincount(segments, minlength=count)
    order = np.argsort(segments, kind="stable")
    places = np.arange(len(segments)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    made = np.full((count, int(lengths.max(initial=0))), len(segments))
    made[segments[order], places] = order
    return made


def reduce_segments(name: str, values: Tensor, segments: np.ndarray[Any, Any], count: int) -> Tensor:
    """Reduce the values of each segment with the public reduction of this name.

    Shapes: values (v, *inner), segments (v) of integers below `count` -> (count, *inner).

    Raises
    ------
    InvalidArgumentError
        If there is no segment form of this reduction.
    """
    if name == "reduce_mean":
        total = reduce_segments("reduce_sum", values, segments, count)
        lengths = np.bincount(segments, minlength=count).astype(np.float64)
        shape = (count,) + (1,) * (values._held.ndim - 1)
        return divide(total, cast(reshape(laid_beside(total, lengths), shape), total.dtype))
    if name not in _KNOWN:
        raise InvalidArgumentError(
            f"{name}: not available for rows of different lengths; expected one of {', '.join(_KNOWN)}. "
            "Try x.to_tensor() first."
        )
    if name in ("reduce_any", "reduce_all"):
        fill = laid_beside(values, np.full(values._held.shape[1:], name == "reduce_all"))
        return getattr(reductions, name)(padded(values, positions_of(segments, count), fill), axis=1)
    reduce = getattr(by_segment, f"unsorted_segment_{name.removeprefix('reduce_')}")
    return reduce(values, laid_beside(values, segments), count)


_KNOWN = ("reduce_sum", "reduce_mean", "reduce_prod", "reduce_max", "reduce_min", "reduce_any", "reduce_all")
