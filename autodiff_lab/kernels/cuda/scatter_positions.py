"""Positions: indices of any whole dtype, or rows of coordinates, as what kernels of gathering and scattering take.

Rows of coordinates become one number each, the place of their row in memory; a coordinate that is out of range makes it
-1, which gathers zeros and is left out where something is added.

Traffic: a coordinate is read and the position so far read and written, 12 bytes a coordinate of 32 bits; nothing beside
the rows that are moved.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_lab.kernels.cuda.array import DeviceArray
from autodiff_lab.kernels.cuda.launching import THREADS, cuda, empty, flat, kernel, launch, striding


@kernel(
    ("gather_nd", "scatter_nd", "scatter_axis", "segment_sum", "segment_max", "segment_min"),
    "int32[::1], int32[::1], int32, int32, int32, int32",
    "int64[::1], int32[::1], int32, int32, int32, int32",
)
def fold_coordinate(indices: Any, positions: Any, count: Any, depth: Any, at: Any, length: Any) -> None:
    """Add coordinate `at` of `depth` to positions: a thread for each position, and on by the size of the grid."""
    i = cuda.grid(1)
    while i < count:
        index = indices[np.uint32(i * depth + at)]
        before = positions[np.uint32(i)] if at > 0 else np.int32(0)
        good = index >= 0 and index < length and before >= 0
        positions[np.uint32(i)] = before * length + index if good else -1
        i += cuda.gridsize(1)


def taken_as_positions(indices: Any) -> DeviceArray | None:
    """Indices in a row, in 32 or 64 bits; None if they are none, or not on a GPU."""
    if indices.__class__ is not DeviceArray or indices.dtype.kind not in "iu":
        return None
    if indices.dtype in (np.int32, np.int64):
        return flat(indices)
    return flat(indices.astype(np.int64))  # a uint64 beyond 2^63 becomes negative, which is out of range too


def positions_of(indices: Any, lengths: tuple[int, ...]) -> DeviceArray | None:
    """Rows of coordinates (*s, k) into axes of k lengths as 32-bit positions in a row; None without coordinates."""
    coordinates = taken_as_positions(indices)
    if coordinates is None or not lengths:
        return None
    count, depth = coordinates.size // len(lengths), len(lengths)
    positions = empty(coordinates, (count,), np.int32)
    for at, length in enumerate(lengths):
        launch(fold_coordinate, striding(positions, count), THREADS, coordinates, positions, count, depth, at, length)
    return positions
