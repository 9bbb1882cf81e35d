"""Scattering on a GPU: the gradients of gathering, rows added up by position or by rows of coordinates.

Positions become 32-bit places (`scatter_positions`), entries are put into runs by place (`scatter_order`), and runs are
added up (`scatter_runs`): the traffic of each is told there.  A position that is out of range adds nothing, as in
TensorFlow on a GPU, where one could raise only by waiting.

With rows of 128 floats at places that are met once, memory sees 1024 bytes a row for the rows themselves and some 50
for their order.  Without `determinism.required` entries of one place are added in whatever order threads come, which
saves the launches that rank them.
"""

from __future__ import annotations

from math import prod
from typing import Any

from autodiff_lab.kernels.cuda.array import DeviceArray
from autodiff_lab.kernels.cuda.launching import THREADS, check_size, flat
from autodiff_lab.kernels.cuda.scatter_order import runs
from autodiff_lab.kernels.cuda.scatter_positions import positions_of
from autodiff_lab.kernels.cuda.scatter_runs import ADD, ROWS, Kernels, over_runs
from autodiff_lab.kernels.reference.scatter import check_columns


def joined(
    kernels: Kernels,
    g: DeviceArray,
    places: DeviceArray,
    shape: tuple[int, ...],
    lead: int,
    length: int,
    empty: Any = 0,
) -> DeviceArray:
    """Join rows of g by place into an array of `shape`, whose axes from `lead` on are places and their rows."""
    pieces = prod(shape[:lead])
    if not prod(shape) or not places.size:
        made = g.memory.empty(shape, g.dtype)
        made.raw.fill(empty)
        return made
    inner = prod(shape) // (pieces * length)
    check_size("scatter", (pieces * length + ROWS * THREADS, inner))  # threads look at places beyond the last
    return over_runs(kernels, flat(g), runs(places, length), places, pieces, length, inner, empty).reshape(shape)


def scatter_axis(g: DeviceArray, indices: Any, axis: int, length: int) -> Any:
    """Add elements up along a negative axis, as `reference.scatter.scatter_axis`; out of range adds nothing."""
    if g.dtype.char not in "fd":
        return NotImplemented
    places = positions_of(indices, (length,))
    if places is None:
        return NotImplemented
    lead = g.ndim + axis + 1 - indices.ndim
    shape = (*g.shape[:lead], length, *g.shape[lead + indices.ndim :])
    check_size("scatter_axis", g.shape, shape)
    return joined(ADD, g, places, shape, lead, length)


def scatter_nd(g: DeviceArray, indices: Any, shape: tuple[int, ...]) -> Any:
    """Add elements up by rows of coordinates, as `reference.scatter.scatter_nd`; what is out of range adds nothing."""
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
    return joined(ADD, g, places, whole, lead, prod(shape[:depth]))
