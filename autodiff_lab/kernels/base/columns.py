"""Arithmetic on two arrays whose last axis is short, column by column.

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
