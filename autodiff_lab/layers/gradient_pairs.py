"""Pairs of a gradient and a variable, as `apply_gradients` takes them: checked, with a warning if one is missing."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Any

from autodiff_lab.engine.convert import convert
from autodiff_lab.engine.dtypes import DIFFERENTIABLE
from autodiff_lab.engine.indexed_slices import IndexedSlices
from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.engine.variable import Variable
from autodiff_lab.errors import DtypeMismatch, InvalidArgumentError, ShapeMismatch
from autodiff_lab.ops.array.casting import cast
from autodiff_lab.ops.array.creation import zeros_like
from autodiff_lab.ops.array.gathering import gather, scatter_nd
from autodiff_lab.ops.array.joining import concat
from autodiff_lab.ops.array.selection import argsort
from autodiff_lab.ops.math.cumulative import cumsum
from autodiff_lab.ops.math.segments import unsorted_segment_sum

_logger = logging.getLogger("autodiff_lab")


def _pair(item: Any) -> tuple[Any, Variable]:
    """Check one of the pairs that `apply_gradients` takes; common mistakes are a missing zip and the wrong order."""
    if isinstance(item, (tuple, list)) and len(item) == 2 and isinstance(item[1], Variable):
        return item[0], item[1]
    told = [type(part).__name__ for part in item] if isinstance(item, (tuple, list)) else type(item).__name__
    raise InvalidArgumentError(
        f"apply_gradients: expected pairs of a gradient and a variable, got {told}. Try "
        "optimizer.apply_gradients(zip(gradients, variables))."
    )


def _whole(gradient: Any, v: Variable, rows: bool) -> Any:
    """Return a gradient as a tensor, or as slices if `rows`; those without a dense shape are rows of the variable."""
    if gradient.__class__ is not IndexedSlices:
        return convert(gradient)
    gradient = gradient if gradient.shape.is_fully_defined() else gradient.with_shape(v._held.shape)
    same = gradient.dtype == v.dtype and gradient.shape == v._held.shape and gradient.device == v.device
    return gradient if rows and same else convert(gradient)


def listed_pairs(grads_and_vars: Any) -> list[Any]:
    """Return pairs as a list; what is not iterable becomes its only item, to be refused."""
    if isinstance(grads_and_vars, (Variable, Tensor)) or not isinstance(grads_and_vars, Iterable):
        return [grads_and_vars]
    return grads_and_vars if isinstance(grads_and_vars, list) else list(grads_and_vars)


def steps_to_take(grads_and_vars: Any, rows: bool = False) -> list[tuple[Any, Variable]]:
    """Return the pairs that have a gradient, checked and as tensors, slices as they are if `rows`; log the others."""
    given = [_pair(item) for item in listed_pairs(grads_and_vars)]
    pairs = [(_whole(g, v, rows), v) for g, v in given if g is not None]
    if not pairs:
        raise InvalidArgumentError(
            "apply_gradients: all gradients are None. Is the loss computed inside the tape, from these "
            "variables? Try tape.explain(loss, variable)."
        )
    if len(pairs) < len(given):
        _logger.warning(
            "apply_gradients: the gradient of %s is None, so it is not changed. Try tape.explain(loss, variable).",
            ", ".join(v.name for g, v in given if g is None),
        )
    for tensor, v in pairs:
        if v._held.dtype not in DIFFERENTIABLE:
            raise DtypeMismatch(
                f"apply_gradients: {v.name} is {v.dtype.name}, and a gradient step would be truncated. "
                "Try lab.Variable(..., dtype=lab.float32)."
            )
        if tensor.__class__ is IndexedSlices:
            continue
        kind = tensor._held.dtype.kind
        if kind in "bO" or (kind == "c" and v._held.dtype.kind != "c"):
            raise DtypeMismatch(
                f"apply_gradients: the gradient of {v.name} is {tensor.dtype.name}, the variable {v.dtype.name}. Try "
                f"lab.cast(gradient, lab.{v.dtype.name})."
            )
        if tensor._held.shape != v._held.shape:
            raise ShapeMismatch(
                f"apply_gradients: the gradient of {v.name} has shape {tensor._held.shape}, the variable "
                f"{v._held.shape}. Are gradients and variables in the same order?"
            )
        v._beside(tensor)
    return pairs


def added_by_row(slices: IndexedSlices) -> Tensor:
    """Return for each of the slices the sum of all that have its index.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(added_by_row(lab.IndexedSlices([[1.0], [2.0], [5.0]], [7, 3, 7])))
    Tensor([[6.] [2.] [6.]], shape=(3, 1), dtype=float32)
    """
    at, count = slices.indices, slices.indices._held.size
    if count < 2:
        return slices.values
    order = argsort(at, stable=True)
    rising = gather(at, order)
    new = cumsum(cast(rising[1:] != rising[:-1], "int64"))  # counts the indices that came before
    place = scatter_nd(order[:, None], concat([zeros_like(new[:1]), new], 0), [count])
    return gather(unsorted_segment_sum(slices.values, place, count), place)
