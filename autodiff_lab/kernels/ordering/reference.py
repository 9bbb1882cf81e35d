"""The order of elements, the largest ones of each row, and where values belong in sorted rows.

Equal elements keep the order in which they stand, as in TensorFlow, and nan counts as larger than all numbers.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autodiff_lab.kernels.arrays import zeros
from autodiff_lab.kernels.checks import real_only

FEW = 4096
"""Elements below which all of them are ordered in less time than the calls take that find the largest."""


def argsort_along(x: Any, axis: int, descending: bool) -> Any:
    """Return the positions that sort x along an axis, as int32."""
    real_only("sort", x)
    if not descending:
        return np.argsort(x, axis, kind="stable").astype(np.int32)
    if x.ndim == 1:  # as below, without NumPy's own Python
        return (len(x) - 1 - x[::-1].argsort(kind="stable")[::-1]).astype(np.int32)
    if x.dtype.kind == "f" and x.__class__ is np.ndarray and x.size and not np.isnan(x).any():
        return np.argsort(-x, axis, kind="stable").astype(np.int32)
    order = np.flip(np.argsort(np.flip(x, axis), axis, kind="stable"), axis)  # the first of equal ones stays first
    return (x.shape[axis] - 1 - order).astype(np.int32)


def top_positions(x: Any, k: int) -> Any:
    """Return the positions (*s, k) of the largest elements of each row of x (*s, n), largest first, as int32.

    Long rows are not ordered: a partition finds the least number that belongs to the k largest.
    """
    length = x.shape[-1]
    if x.__class__ is not np.ndarray or x.dtype.kind not in "fiu" or x.size < FEW or not 0 < 4 * k <= length:
        return argsort_along(x, -1, True)[..., :k]
    rows = x.reshape(-1, length)
    edge = np.partition(rows, length - k, axis=1)[:, length - k, None]
    kept = ~(rows < edge)  # nan with them
    if x.dtype.kind == "f" and np.isnan(edge).any():
        return argsort_along(x, -1, True)[..., :k]
    count = np.count_nonzero(kept, axis=1, keepdims=True)
    if (count > k).any():  # of elements that equal the least, the first ones
        equal = rows == edge
        spare = count - np.count_nonzero(equal, axis=1, keepdims=True)
        kept &= ~equal | (np.cumsum(equal, axis=1) <= k - spare)
    found = np.nonzero(kept)[1].reshape(-1, k)
    order = argsort_along(np.take_along_axis(rows, found, 1), -1, True)
    return np.take_along_axis(found, order, 1).astype(np.int32).reshape(*x.shape[:-1], k)


def search_rows(rows: Any, values: Any, side: Any) -> Any:
    """Find where values (*s, n) belong in sorted rows (*s, m): before equal elements, or after them.

    As with NumPy, nan belongs after all numbers.
    """
    if rows.ndim == 1:
        return np.searchsorted(rows, values, side).astype(np.int64)
    lead = rows.shape[:-1]
    flat, wanted = (v.reshape(math.prod(lead), v.shape[-1]) for v in (rows, values))
    found = [np.searchsorted(row, value, side) for row, value in zip(flat, wanted, strict=True)]
    made = np.stack(found) if found else zeros((0,), values, np.int64)
    return made.astype(np.int64).reshape(*lead, values.shape[-1])
