"""Elements picked by position along an axis, or by rows of coordinates."""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_lab.errors import InvalidArgumentError
from autodiff_lab.kernels.arrays import on_gpu
from autodiff_lab.kernels.checks import check_positions
from autodiff_lab.kernels.reference.scatter import check_columns, pointed


def gather(x: Any, indices: Any, axis: int) -> Any:
    """Pick elements of an axis; the axes of the indices stand in its place.

    Raises
    ------
    InvalidArgumentError
        If an index is out of range; on a GPU when a result is next read.
    """
    if on_gpu(indices):
        check_positions(indices, x.shape[axis], f"gather: an index of axis {axis % x.ndim} is not in")
    elif np.size(indices) and (np.min(indices) < 0 or np.max(indices) >= x.shape[axis]):
        bad = next(int(i) for i in np.ravel(indices) if not 0 <= i < x.shape[axis])
        raise InvalidArgumentError(f"gather: index {bad} is not in [0, {x.shape[axis]}), the length of the axis")
    taken = np.take(x, indices, axis=axis)
    return taken if isinstance(taken, bytes) else taken[()]  # NumPy gives up the string of an array of strings


def gather_nd(x: Any, indices: Any, lead: int = 0) -> Any:
    """Pick elements by rows of coordinates, which count from axis `lead` on.

    Raises
    ------
    InvalidArgumentError
        If there are more coordinates than axes, or one is out of range.
    """
    check_columns(indices, np.shape(x)[lead:], "gather_nd")
    x, at = pointed(x, indices, lead)
    return x[at]
