"""Reductions over segments: values that share a number are reduced to one.

Ragged axes and the axes of sparse tensors are both reduced so.  The values of each segment become one row of a
rectangle, filled up with what changes nothing (1 for a product), and the row is reduced by the ordinary op; gradients
therefore follow its rule, ties in a maximum included.  Sums are added up in place.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.errors import InvalidArgumentError
from autodiff_lab.ops.array.casting import cast
from autodiff_lab.ops.array.gathering import gather_axis, laid_beside, scatter_nd
from autodiff_lab.ops.array.joining import concat
from autodiff_lab.ops.array.shaping import reshape
from autodiff_lab.ops.math import reductions
from autodiff_lab.ops.math.arithmetic import divide


def neutral(name: str, dtype: np.dtype[Any]) -> Any:
    """The number that changes nothing in a reduction."""
    if name in ("reduce_max", "reduce_min"):
        if dtype.kind == "f":
            return dtype.type(-np.inf if name == "reduce_max" else np.inf)
        limits = np.iinfo(dtype)
        return dtype.type(limits.min if name == "reduce_max" else limits.max)
    return dtype.type({"reduce_prod": 1, "reduce_any": False, "reduce_all": True}[name])


def padded(values: Tensor, positions: np.ndarray[Any, Any], fill: Any) -> Tensor:
    """A rectangle of values by position, with `fill` where the position is the number of values.

    Shapes: values (v, *inner), positions (*p) -> (*p, *inner); fill broadcasts to inner.
    """
    inner = values._array.shape[1:]
    filler = np.broadcast_to(np.asarray(fill, values._array.dtype), inner)
    longer = concat([values, laid_beside(values, filler[None])], axis=0)
    return gather_axis(longer, laid_beside(longer, positions), axis=-longer._array.ndim)


def positions_of(segments: np.ndarray[Any, Any], count: int) -> np.ndarray[Any, Any]:
    """Positions of the values of each segment, a row each, filled up with the number of values."""
    lengths = np.bincount(segments, minlength=count)
    order = np.argsort(segments, kind="stable")
    places = np.arange(len(segments)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    made = np.full((count, int(lengths.max(initial=0))), len(segments))
    made[segments[order], places] = order
    return made


def reduce_segments(name: str, values: Tensor, segments: np.ndarray[Any, Any], count: int) -> Tensor:
    """Reduce the values of each segment, by the reduction of that public name.

    Shapes: values (v, *inner), segments (v) of numbers below `count` -> (count, *inner).

    Raises
    ------
    InvalidArgumentError
        If segments cannot be reduced so.
    """
    if name == "reduce_mean":
        total = reduce_segments("reduce_sum", values, segments, count)
        lengths = np.bincount(segments, minlength=count).astype(np.float64)
        shape = (count,) + (1,) * (values._array.ndim - 1)
        return divide(total, cast(reshape(laid_beside(total, lengths), shape), total.dtype))
    if name == "reduce_sum":  # rows of a rectangle would waste memory where few segments are long
        return scatter_nd(laid_beside(values, segments[:, None]), values, (count, *values._array.shape[1:]))
    reduce = getattr(reductions, name, None)
    if reduce is None or name not in _KNOWN:
        raise InvalidArgumentError(
            f"{name}: rows of different lengths are not reduced so; {', '.join(_KNOWN)} are. Try x.to_tensor() first."
        )
    fill = neutral(name, values._array.dtype)
    return reduce(padded(values, positions_of(segments, count), fill), axis=1)


_KNOWN = ("reduce_sum", "reduce_mean", "reduce_prod", "reduce_max", "reduce_min", "reduce_any", "reduce_all")
