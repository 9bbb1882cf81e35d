"""Segments on a GPU: rows that share a number are added up, or their largest or least taken.

They are scattering by another name: the same runs, the same kernels, the same traffic (`scatter_order`,
`scatter_runs`).  Rows whose number is negative or too large are left out; a segment without rows is what the op says.
"""

from __future__ import annotations

from typing import Any

from autodiff_lab.kernels.cuda.array import DeviceArray
from autodiff_lab.kernels.cuda.launching import check_size
from autodiff_lab.kernels.cuda.scatter import joined
from autodiff_lab.kernels.cuda.scatter_positions import positions_of
from autodiff_lab.kernels.cuda.scatter_runs import ADD, TAKE_MAX, TAKE_MIN, Kernels


def _by_segment(name: str, kernels: Kernels, x: DeviceArray, ids: Any, count: int, empty: float) -> Any:
    if x.dtype.char not in "fd":
        return NotImplemented
    places = positions_of(ids, (count,))
    if places is None or ids.ndim != 1:
        return NotImplemented
    shape = (count, *x.shape[1:])
    check_size(name, x.shape, shape)
    return joined(kernels, x, places, shape, 0, count, empty)


def segment_sum(x: DeviceArray, ids: Any, count: int) -> Any:
    """Add rows up by segment, as `reference.scatter.segment_sum`."""
    return _by_segment("segment_sum", ADD, x, ids, count, 0)


def segment_max(x: DeviceArray, ids: Any, count: int, empty: float) -> Any:
    """Largest of the rows of each segment, nan if one is, as `reference.scatter.segment_max`."""
    return _by_segment("segment_max", TAKE_MAX, x, ids, count, empty)


def segment_min(x: DeviceArray, ids: Any, count: int, empty: float) -> Any:
    """Least of the rows of each segment, as `segment_max`."""
    return _by_segment("segment_min", TAKE_MIN, x, ids, count, empty)
