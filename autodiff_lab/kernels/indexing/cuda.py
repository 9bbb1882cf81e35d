"""Scattering and segments on a GPU: rows added up by position, by rows of coordinates, or by segment.

Positions become 32-bit places (`cuda_positions`), entries are sorted into runs by place, and runs are added up
(`cuda_runs`).  A position that is out of range adds nothing, as in TensorFlow on a GPU, where one could raise only by
waiting; a segment without rows is what the op says.  Sums are made in the same order at every run.
"""

from __future__ import annotations

from math import prod
from typing import Any

from autodiff_lab.kernels.cuda.array import DeviceArray
from autodiff_lab.kernels.cuda.launching import THREADS, check_size, flat
from autodiff_lab.kernels.indexing.cuda_positions import gather, gather_nd, positions_of
from autodiff_lab.kernels.indexing.cuda_runs import ADD, ROWS, TAKE_MAX, TAKE_MIN, Kernels, over_runs, sorted_runs
from autodiff_lab.kernels.indexing.reference import check_columns

__all__ = ["gather", "gather_nd", "scatter_axis", "scatter_nd", "segment_max", "segment_min", "segment_sum"]


def joined(
    kernels: Kernels, g: DeviceArray, places: DeviceArray, shape: tuple[int, ...], lead: int, length: int, empty: Any
) -> DeviceArray:
    """Join rows of g by place into an array of `shape`, whose axes from `lead` on are places and their rows."""
    pieces = prod(shape[:lead])
    if not prod(shape) or not places.size:
        made = g.memory.empty(shape, g.dtype)
        made.raw.fill(empty)
        return made
    inner = prod(shape) // (pieces * length)
    check_size("scatter", (pieces * length + ROWS * THREADS, inner))  # threads look at places beyond the last
    return over_runs(kernels, flat(g), sorted_runs(places, length), places, pieces, length, inner, empty).reshape(shape)


def scatter_axis(g: DeviceArray, indices: Any, axis: int, length: int) -> Any:
    """Add elements up along a negative axis, as `reference.scatter_axis`; out of range adds nothing."""
    if g.dtype.char not in "fd":
        return NotImplemented
    places = positions_of(indices, (length,))
    if places is None:
        return NotImplemented
    lead = g.ndim + axis + 1 - indices.ndim
    shape = (*g.shape[:lead], length, *g.shape[lead + indices.ndim :])
    check_size("scatter_axis", g.shape, shape)
    return joined(ADD, g, places, shape, lead, length, 0)


def scatter_nd(g: DeviceArray, indices: Any, shape: tuple[int, ...]) -> Any:
    """Add elements up by rows of coordinates, as `reference.scatter_nd`; what is out of range adds nothing."""
    if g.dtype.char not in "fd" or indices.__class__ is not DeviceArray or not indices.shape[-1]:
        return NotImplemented
    check_columns(indices, tuple(shape), "scatter_nd")
    depth = indices.shape[-1]
    lead = g.ndim - (indices.ndim - 1) - (len(shape) - depth)
    whole = (*g.shape[:lead], *shape)
    check_size("scatter_nd", g.shape, whole)
    places = positions_of(indices, tuple(shape[:depth]))
    if places is None:
        return NotImplemented
    return joined(ADD, g, places, whole, lead, prod(shape[:depth]), 0)


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
    """Add rows up by segment, as `reference.segment_sum`."""
    return _by_segment("segment_sum", ADD, x, ids, count, 0)


def segment_max(x: DeviceArray, ids: Any, count: int, empty: float) -> Any:
    """Largest of the rows of each segment, nan if one is, as `reference.segment_max`."""
    return _by_segment("segment_max", TAKE_MAX, x, ids, count, empty)


def segment_min(x: DeviceArray, ids: Any, count: int, empty: float) -> Any:
    """Least of the rows of each segment, as `segment_max`."""
    return _by_segment("segment_min", TAKE_MIN, x, ids, count, empty)
