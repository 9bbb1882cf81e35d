"""Columns: stacks of cotangents for the Jacobians of a batch, each of which is nonzero in one column only.

`batch_jacobian` begins with n cotangents of shape (b, n), the k-th of which is 1 in column k of every row: only n · b
of the n · b · n elements are nonzero.  Elementwise rules preserve this.  A sum over the row or a product with a matrix
gives a full stack, at an n-th of the cost.  See `structured` for what rules are given.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from autodiff_lab.transforms.structured import ELEMENTWISE, RULES, Structured, checked, elementwise, usable


class Columns(Structured):
    """A stack (n, *lead, n) that is zero where its first and its last position differ.

    Attributes
    ----------
    value : array
        What is there where they are equal, (*lead, n).
    flat : bool
        Whether all axes but the last are merged into one, as in products with matrices.
    """

    __slots__ = ("flat", "value")

    def __init__(self, value: Any, flat: bool = False) -> None:
        count = value.shape[-1]
        self.shape = (math.prod(value.shape), count) if flat else (count, *value.shape)
        self.value, self.flat = value, flat

    @property
    def dtype(self) -> np.dtype[Any]:
        """Element type."""
        return self.value.dtype

    def whole(self) -> np.ndarray[Any, Any]:
        """Make the stack as an array."""
        return in_columns(self.value, self.shape)


def in_columns(value: Any, shape: tuple[int, ...]) -> Any:
    """Place the columns (*lead, n) in a stack (n, *lead, n) of zeros, and reshape it."""
    whole = np.zeros((value.shape[-1], *value.shape), value.dtype)
    np.einsum("k...k->...k", whole)[...] = value
    return whole.reshape(shape)


# --- rules: what ops make of columns; None where they need the whole stack -------------------------------------------


def _fits(value: tuple[int, ...], other: tuple[int, ...]) -> bool:
    """Return whether an operand has at most the shape of a cotangent."""
    pairs = zip(other[::-1], value[::-1], strict=False)
    return len(other) <= len(value) and all(n in (1, m) for n, m in pairs)


def _add(ops: Any, x: Any, y: Any) -> Any:
    alike = x.__class__ is y.__class__ is Columns and x.shape == y.shape and x.dtype == y.dtype
    return Columns(x.value + y.value) if alike else None


def _negative(ops: Any, g: Any) -> Any:
    return Columns(-g.value)


def _reshape(ops: Any, g: Any, shape: tuple[int, ...]) -> Any:
    """Keep the first axis and the last one, or make one of all but the last and go back."""
    count = g.value.shape[-1]
    if len(shape) < 2 or shape[-1] != count:
        return None
    if shape[0] == count:
        return Columns(ops.reshape(g.value, shape=shape[1:]))
    return Columns(g.value, flat=True) if len(shape) == 2 else None


def _sum(ops: Any, g: Any, axes: tuple[int, ...], keepdims: bool) -> Any:
    """Sum over other axes than the last, or over that too, in which one element of each cotangent is not zero."""
    rank = g.ndim - 1
    if any(not -rank <= axis < 0 for axis in axes):
        return None
    inner = tuple([axis for axis in axes if axis != -1])
    value = ops.sum(g.value, axes=inner, keepdims=keepdims) if inner else g.value
    if len(inner) == len(axes):
        return Columns(value)
    turned = _turned(ops, checked(ops, value))
    return turned.reshape((*turned.shape, 1)) if keepdims else turned


def _turned(ops: Any, value: Any) -> Any:
    """Put the last axis first."""
    rank = len(value.shape)
    return value if rank < 2 else ops.transpose(value, perm=(-1, *range(-rank, -1)))


def _matmul(ops: Any, x: Any, y: Any) -> Any:
    """Multiply by a matrix, of which each cotangent takes one row, times a number for each row of the batch."""
    if x.__class__ is not Columns or len(y.shape) != 2 or y.dtype != x.dtype or not usable(ops, y):
        return None
    turned, (count, columns) = _turned(ops, checked(ops, x.value)), y.shape
    inner = (1,) * (len(turned.shape) - 1)
    product = turned.reshape((*turned.shape, 1)) * y.reshape((count, *inner, columns))
    return product.reshape((x.shape[0], columns)) if x.flat else product


_RULES: dict[str, Callable[..., Any]] = {
    "add": _add, "matmul": _matmul, "negative": _negative, "reshape": _reshape, "sum": _sum,
    **{name: elementwise(name, Columns, _fits) for name in ELEMENTWISE},
}  # fmt: skip


def _of_columns(name: str, rule: Callable[..., Any]) -> Callable[..., Any]:
    def apply(ops: Any, *given: Any, **params: Any) -> Any:
        for one in given:
            if isinstance(one, Columns):
                if one.flat and name not in ("matmul", "reshape"):
                    return None
            elif isinstance(one, Structured):
                return None
        return rule(ops, *given, **params)

    return apply


for _name, _rule in _RULES.items():
    RULES.setdefault(_name, []).append(_of_columns(_name, _rule))
