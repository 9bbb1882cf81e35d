"""Blocks: stacks with one cotangent for each example of a batch, which is zero but for that example's own part.

The derivatives of n losses, one for each example, with respect to activations (n, *s) fill n · n parts of the shape s,
of which n matter.  An op that treats each example by itself makes of the parts what its rule makes of one cotangent for
all of them; where examples meet, in the gradients of weights, n derivatives come out.  So per-example gradients cost
about as much as the gradient of the sum (I. Goodfellow, Efficient per-example gradient computations, 2015,
arXiv:1510.01799).  See `structured` for what rules are given.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from autodiff_lab.transforms.bands import Bands
from autodiff_lab.transforms.structured import ELEMENTWISE, RULES, Structured, checked, elementwise, usable


class Blocks(Structured):
    """A stack (n, n, *s) that is zero where its first two positions differ.

    Attributes
    ----------
    value : array
        What is there where they are equal, (n, *s).
    flat : bool
        Whether the first two axes are one, of n · n, as products with matrices have it.
    """

    __slots__ = ("flat", "value")

    def __init__(self, value: Any, flat: bool = False) -> None:
        count, *inner = value.shape
        self.shape = (count * count, *inner) if flat else (count, count, *inner)
        self.value, self.flat = value, flat

    @property
    def dtype(self) -> np.dtype[Any]:
        """Element type."""
        return self.value.dtype

    def whole(self) -> np.ndarray[Any, Any]:
        """Make the stack as an array."""
        return in_blocks(self.value, shape=self.shape)


def in_blocks(value: Any, shape: tuple[int, ...]) -> Any:
    """Put the parts (n, *s) into a stack (n, n, *s) of zeros, which is given a shape."""
    whole = np.zeros((value.shape[0], *value.shape), value.dtype)
    each = np.arange(value.shape[0])
    whole[each, each] = value
    return whole.reshape(shape)


def _as_blocks(stack: Any) -> Any:
    """Return the blocks that a stack is, an array itself, None for a stack of another kind."""
    if stack.__class__ is not Bands:
        return None if isinstance(stack, Structured) and stack.__class__ is not Blocks else stack
    piece, (count, *inner) = stack.pieces[0], stack.shape
    diagonal = len(stack.pieces) == 1 and not piece.offset and piece.length == count
    if not diagonal or not inner or inner[0] != count or math.prod(inner) != count:
        return None
    return Blocks(piece.value.reshape(tuple(inner)))


def _fits(value: tuple[int, ...], other: tuple[int, ...]) -> bool:
    """Return whether an operand broadcasts example by example."""
    try:
        made = np.broadcast_shapes(value, other)
    except ValueError:
        return False
    return len(made) == len(value) and made[0] == value[0]


def _add(ops: Any, x: Any, y: Any) -> Any:
    alike = x.__class__ is y.__class__ is Blocks and x.shape == y.shape and x.dtype == y.dtype
    return Blocks(x.value + y.value) if alike else None


def _negative(ops: Any, g: Any) -> Any:
    return Blocks(-g.value)


def _reshape(ops: Any, g: Any, shape: tuple[int, ...]) -> Any:
    """Keep the first two axes, or make one of them and go back."""
    count, inner = g.value.shape[0], math.prod(g.value.shape[1:])
    for flat, rest in ((False, shape[2:]), (True, shape[1:])):
        if shape == ((count * count, *rest) if flat else (count, count, *rest)) and math.prod(rest) == inner:
            return Blocks(ops.reshape(g.value, shape=(count, *rest)), flat)
    return None


def _transpose(ops: Any, g: Any, perm: tuple[int, ...]) -> Any:
    rank = g.ndim - 1
    if len(perm) > rank or any(axis >= 0 for axis in perm) or (len(perm) == rank and perm[0] != -rank):
        return None
    return Blocks(ops.transpose(g.value, perm=perm))


def _broadcast(ops: Any, g: Any, shape: tuple[int, ...]) -> Any:
    if len(shape) != g.ndim or shape[:2] != g.shape[:2]:
        return None
    return Blocks(ops.broadcast_to(g.value, shape=shape[1:]))


def _sum(ops: Any, g: Any, axes: tuple[int, ...], keepdims: bool) -> Any:
    """Sum within the examples, or over them, of which one is not zero."""
    rank = g.ndim - 1
    if any(not -rank <= axis < 0 for axis in axes):
        return None
    inner = tuple([axis for axis in axes if axis != -rank])
    value = ops.sum(g.value, axes=inner, keepdims=keepdims) if inner else g.value
    if len(inner) == len(axes):
        return Blocks(value)
    value = checked(ops, value)
    return value.reshape((value.shape[0], 1, *value.shape[1:])) if keepdims else value


def _matmul(ops: Any, x: Any, y: Any) -> Any:
    """Multiply the examples by a matrix, or a matrix with a column for each example by them."""
    if x.__class__ is y.__class__:
        return None
    left = x.__class__ is Blocks
    g, matrix = (x, y) if left else (y, x)
    value = g.value
    if len(matrix.shape) != 2 or matrix.dtype != g.dtype or not usable(ops, matrix):
        return None
    if left:
        return Blocks(ops.matmul(value, matrix), g.flat) if len(value.shape) > 1 else None
    if len(value.shape) != 2 or g.flat:
        return None
    count, rows, columns = value.shape[0], matrix.shape[0], value.shape[1]
    return checked(ops, matrix.T.reshape((count, rows, 1)) * value.reshape((count, 1, columns)))


def _row_by_row(name: str) -> Callable[..., Any]:
    """Make the rule of the gradient of an op along the last axes, whose inputs have a row for each example."""

    def rule(ops: Any, g: Any, *others: Any, **params: Any) -> Any:
        if g.__class__ is not Blocks or any(isinstance(other, Structured) for other in others):
            return None
        axes = params.get("axes", (params.get("axis", -1),))
        rank = max(len(getattr(other, "shape", ())) for other in others)
        count = g.shape[0]
        along = all(tuple(getattr(other, "shape", ()))[:1] == (count,) for other in others)
        if not along or any(not -rank < axis < 0 for axis in axes) or not usable(ops, *others):
            return None
        return Blocks(getattr(ops, name)(g.value, *others, **params))

    return rule


BY_EXAMPLE = frozenset({
    "broadcast_to", "log_softmax", "mean", "softmax", "softmax_cross_entropy", "sparse_softmax_cross_entropy", "sum",
})  # fmt: skip
"""Ops, beside those whose rules leave bands what they are, that mostly treat each example by itself."""
_ROWS = ("log_softmax_grad", "softmax_cross_entropy_grad", "softmax_grad", "sparse_softmax_cross_entropy_grad")
_RULES: dict[str, Callable[..., Any]] = {
    "add": _add, "broadcast_to": _broadcast, "matmul": _matmul, "negative": _negative, "reshape": _reshape, "sum": _sum,
    "transpose": _transpose,
    **{name: elementwise(name, Blocks, _fits) for name in ELEMENTWISE},
    **{name: _row_by_row(name) for name in _ROWS},
}  # fmt: skip
_OF_FLAT = ("matmul", "reshape")
"""Ops whose rules also take blocks whose two leading axes are one."""


def _of_blocks(name: str, rule: Callable[..., Any]) -> Callable[..., Any]:
    def apply(ops: Any, *given: Any, **params: Any) -> Any:
        found = [_as_blocks(one) for one in given]
        if any(one is None or (one.__class__ is Blocks and one.flat and name not in _OF_FLAT) for one in found):
            return None
        return rule(ops, *found, **params)

    return apply


for _name, _rule in _RULES.items():
    RULES.setdefault(_name, []).append(_of_blocks(_name, _rule))
