"""Arithmetic on arrays whose last axis is short, column by column.

NumPy's loop for operands that broadcast, or that do not lie in rows, is as long as the last axis: for points in three
dimensions the loop's start costs more than its three steps.  A loop down each column is as long as there are points.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

SHORT = 8
"""Elements of the last axis from which on NumPy's own loop is as quick."""
MANY = 8192
"""Elements below which NumPy is as quick."""
ndarray = np.ndarray
UFUNCS: dict[Callable[..., Any], np.ufunc] = {
    operator.add: np.add,
    operator.sub: np.subtract,
    operator.mul: np.multiply,
}
"""By Python's operator, the function of NumPy's that it calls."""
FEW_TO_ADD = 4096
"""Below this number of elements sums are NumPy's: choosing another kernel would cost more."""
FEW_IN_SHORT_ROWS = 512
"""The same where what stays is rows of less than `SHORT_ROW` elements, which NumPy adds one after another."""
SHORT_ROW = 16


def by_columns(function: Callable[[Any, Any], Any], x: Any, y: Any) -> Any:
    """Return ``function(x, y)`` of two arrays of one dtype, to the last bit, in the quicker of the two ways.

    Parameters
    ----------
    function : callable
        A key of `UFUNCS`.
    x, y : ndarray
        Of shapes that broadcast; if they do not, `function` says so.

    Examples
    --------
    >>> import operator
    >>> import numpy as np
    >>> from autodiff_lab.kernels.base.columns import by_columns
    >>> points = np.ones((100, 100, 3), np.float32)
    >>> by_columns(operator.mul, points, points[:, :1]).shape
    (100, 100, 3)
    """
    ufunc = UFUNCS.get(function)
    if x.size == 1 or y.size == 1 or x.shape[-1] >= SHORT or y.shape[-1] >= SHORT or ufunc is None:
        return function(x, y)  # what most calls come to
    if x.dtype.kind != "f" or x.dtype != y.dtype:
        return function(x, y)
    try:
        shape = np.broadcast(x, y).shape
    except ValueError:
        return function(x, y)
    width = shape[-1]
    if not 1 < width < SHORT or len(shape) < 2:
        return function(x, y)
    made = np.empty(shape, x.dtype)
    if made.size < MANY:
        return function(x, y)
    for k in range(width):
        ufunc(x[..., k if x.shape[-1] > 1 else 0], y[..., k if y.shape[-1] > 1 else 0], out=made[..., k])
    return made


def product(x: Any, y: Any) -> Any:
    """Return x times y, arrays or numbers; column by column where that is quicker."""
    if (
        x.__class__ is ndarray is y.__class__
        and x.ndim > 1 < y.ndim
        and max(x.size, y.size) >= MANY
        and x.shape[-1] < SHORT
        and not (x.shape == y.shape and x.flags.c_contiguous and y.flags.c_contiguous)
        and x.dtype == y.dtype
    ):
        return by_columns(operator.mul, x, y)
    return x * y


def sum_over_axes(x: Any, axes: tuple[int, ...], keepdims: bool) -> Any:
    """Sum over some axes; over a very short last axis, or all but a short last one, in a faster way.

    NumPy adds row to row, or up a row, with a loop as short as a row.  Rows of less than eight elements are added up
    column by column, in the order in which NumPy adds them; rows laid beside each other make the loop long.
    """
    few = axes == (-1,) and 1 < x.shape[-1] < 8
    if few and x.dtype.kind == "f" and x.size >= FEW_IN_SHORT_ROWS and x.ndim > 1 and x.__class__ is np.ndarray:
        total = x[..., 0] + x[..., 1]
        for k in range(2, x.shape[-1]):
            total += x[..., k]
        return total[..., None] if keepdims else total
    if (
        len(axes) != x.ndim - 1
        or x.size < FEW_TO_ADD
        or -1 in axes
        or not 1 < x.shape[-1] <= 64
        or not x.flags.c_contiguous
    ):
        return np.add.reduce(x, axis=axes, keepdims=keepdims, dtype=x.dtype)
    c = x.shape[-1]
    rows = x.reshape(-1, c)
    beside = 256 // c
    whole = rows.shape[0] // beside * beside
    total = np.add.reduce(rows[:whole].reshape(-1, beside * c), axis=0, dtype=x.dtype)
    total = np.add.reduce(total.reshape(beside, c), axis=0, dtype=x.dtype)
    if whole < rows.shape[0]:
        total = total + np.add.reduce(rows[whole:], axis=0, dtype=x.dtype)
    return total.reshape((1,) * len(axes) + (c,)) if keepdims else total
