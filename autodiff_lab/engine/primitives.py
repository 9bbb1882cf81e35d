"""The ops that a sweep itself needs: addition of contributions, and the three that fit a gradient to its input.

They are ops like any other, declared here because the engine may not import the catalogue.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from autodiff_lab.engine.apply import binary, general
from autodiff_lab.kernels.base.choose import ELSEWHERE, IN_USE, chosen
from autodiff_lab.kernels.base.columns import FEW_TO_ADD, FEW_TO_ONE, MOST_UNASKED, sum_by_product, sum_over_axes
from autodiff_lab.kernels.base.halves import as_float32, is_half
from autodiff_lab.kernels.base.order import FEW, reshaped

add = binary(
    "add",
    operator.add,
    lambda ops, g, out, x, y: g,
    lambda ops, g, out, x, y: g,
    symbol="+",
    latex="{0} + {1}",
    locals_latex=("1", "1"),
    sentence="adds {0} and {1}",
    expression="{0} + {1}",
    keeps="nothing",
    registered="AddV2",
    operator="add",
    doc="""Sum of two tensors, elementwise with broadcasting.

    Shapes: x (*s), y (*t) -> broadcast of s and t.  Dtypes: any number, both the same.
    Derivative: 1 for either input; broadcast axes are summed.

    Raises
    ------
    ShapeMismatch
        If the shapes do not broadcast.
    DtypeMismatch
        If the dtypes differ.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.add([1.0, 2.0], 3.0))
    Tensor([4. 5.], shape=(2,), dtype=float32)
    """,
)


def stack(g: Any, out: Any) -> tuple[int, ...]:
    """Return the leading axes of a stacked cotangent that the output does not have."""
    return tuple(g.shape[: len(g.shape) - len(out.shape)])


def _reshape(x: Any, shape: tuple[int, ...]) -> Any:
    plain = x.size < FEW or x.__class__ is not np.ndarray
    out = x.reshape(shape) if plain else reshaped(x, shape)
    return out if shape else out[()]


def _broadcast(x: Any, shape: tuple[int, ...]) -> Any:
    if x.size == 1 and x.ndim <= len(shape) and shape and x.dtype.kind in "fciub" and x.__class__ not in ELSEWHERE:
        return np.ndarray(shape, x.dtype, x, 0, (0,) * len(shape))  # a tenth of the time of `broadcast_to`
    if x.__class__ is np.ndarray and x.ndim == len(shape) and x.flags.c_contiguous and x.dtype.kind == "f":
        steps = tuple([s if n == m else 0 if n == 1 else -1 for n, m, s in zip(x.shape, shape, x.strides, strict=True)])
        if -1 not in steps and x.size:
            return np.ndarray(shape, x.dtype, x, 0, steps)
    return np.broadcast_to(x, shape)[()]


reshape_to = general(
    "reshape",
    _reshape,
    lambda ops, g, out, x, shape: ops.reshape(g, shape=stack(g, out) + tuple(x.shape)),
    warns=False,
    symbol="reshape",
    latex=r"\operatorname{{reshape}}({0})",
    locals_latex=(r"\operatorname{{reshape}}",),
    sentence="arranges {0} in another shape",
    keeps="nothing",
    registered="Reshape",
    doc="The kernel-level reshape; `lab.reshape` is the public function.",
)

broadcast = general(
    "broadcast_to",
    _broadcast,
    lambda ops, g, out, x, shape: g,
    warns=False,
    symbol="broadcast",
    latex=r"\operatorname{{broadcast}}({0})",
    locals_latex=(r"\textstyle\sum",),
    sentence="repeats {0} along new or single axes",
    keeps="nothing",
    registered="BroadcastTo",
    expression="{0}",
    doc="The kernel-level broadcast; `lab.broadcast_to` is the public function.",
)


@lru_cache(4096)
def kept_shape(shape: tuple[int, ...], axes: tuple[int, ...]) -> tuple[int, ...]:
    """Return a shape with the reduced axes, which are negative, at length 1."""
    rank = len(shape)
    return tuple([1 if i - rank in axes else n for i, n in enumerate(shape)])


def _sum_rule(ops: Any, g: Any, out: Any, x: Any, axes: tuple[int, ...], keepdims: bool) -> Any:
    if keepdims or not axes or isinstance(g, np.generic):
        return g  # the sweep spreads numbers, and axes of size 1
    return ops.reshape(g, shape=stack(g, out) + kept_shape(tuple(x.shape), axes))


_sum_of_many = chosen("sum", sum_over_axes, "reductions.sum_over")


def _sum(x: Any, axes: tuple[int, ...], keepdims: bool) -> Any:
    if x.itemsize == 2 and is_half(x.dtype):
        return as_float32(_sum, x, axes=axes, keepdims=keepdims)
    few = FEW_TO_ONE if len(axes) == x.ndim and x.__class__ is np.ndarray else FEW_TO_ADD
    if x.size < few and IN_USE["mode"] != "numba":
        return sum_over_axes(x, axes, keepdims)
    total = sum_by_product(x, axes, keepdims, MOST_UNASKED) if x.__class__ is np.ndarray else None
    return _sum_of_many(x, axes=axes, keepdims=keepdims) if total is None else total


_sum.prepare = _sum_of_many.prepare  # type: ignore[attr-defined]
sum_over = general(
    "sum",
    _sum,
    _sum_rule,
    warns=False,
    symbol="Σ",
    latex=r"\sum {0}",
    locals_latex=("1",),
    sentence="adds up the elements of {0}",
    keeps="nothing",
    registered="Sum",
    doc="The kernel-level sum over negative axes; `lab.reduce_sum` is the public function.",
)


def negative_axes(axis: int | Sequence[int] | None, rank: int) -> tuple[int, ...]:
    """Return axes counted from the end, sorted, so that rules also work for stacked cotangents."""
    if axis is None:
        return tuple(range(-rank, 0))
    axes = (axis,) if isinstance(axis, int) else axis
    found: list[int] = []
    for a in axes:
        a = operator.index(a)
        if not -rank <= a < rank:
            raise ValueError(f"axis {a} is out of bounds for a tensor of rank {rank}")
        found.append(a - rank if a >= 0 else a)
    if len(set(found)) != len(found):
        raise ValueError(f"axes {tuple(axes)} contain duplicates")
    return tuple(sorted(found))
