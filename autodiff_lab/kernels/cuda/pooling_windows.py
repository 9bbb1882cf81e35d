"""Kernels of pooling with a thread for each window: largest elements, where they lie, means.

Neighbouring threads have neighbouring channels, so that a warp reads 128 bytes in a row for each element of its
windows.  A thread goes through its window as through one list, four elements at a time: four loads are under way
together, for none of them hangs on a comparison.  Behind the end of the list the last element is met again, which
changes no maximum.

Traffic, for windows of 2x2 next to each other, in bytes for an element of x in float32: 4 read and 1 written.  Windows
that overlap find each other's elements in the first cache.  Occupancy: see the report; no shared memory.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_lab.kernels.cuda.launching import THREADS, cuda, kernel
from autodiff_lab.kernels.cuda.pooling_geometry import held_by

BATCH = 4
"""Elements of a window that are read at once."""
INFINITY = np.inf


@cuda.jit(device=True)
def advance(column: Any, row: Any, columns: Any, rows: Any, step: Any, line: Any, plane: Any) -> Any:
    """How far the next element of a window lies, and its column and row; choices, not branches, keep loads together."""
    along, below = np.uint32(column + 1), np.uint32(row + 1)
    same_row, same_plane = along < columns, below < rows
    by = line if same_plane else plane
    below = below if same_plane else np.uint32(0)
    return step if same_row else by, along if same_row else np.uint32(0), row if same_row else below


@cuda.jit(device=True)
def first_largest(x: Any, i: Any, facts: Any) -> Any:
    """The place of the largest element of window i, of equals the first, and its number in the window.

    The number counts padding; it is the largest of 32 bits where the window holds nothing but padding.
    """
    at, planes, rows, columns, first, line, plane = held_by(i, facts)
    left = np.uint32(planes * rows * columns)
    none = left == 0
    found, number = at, np.uint32(0)
    best = x.dtype.type(0) if none else x[at]
    column, row, depth = np.uint32(0), np.uint32(0), np.uint32(0)
    while left > 0:
        for _ in range(BATCH):
            value = x[at]
            here = np.uint32(np.uint32(depth * facts[17] + row) * facts[18] + column)
            better = (value > best) | ((value != value) & (best == best))  # noqa: PLR0124 - nan differs from itself
            best, found, number = value if better else best, at if better else found, here if better else number
            by, column, row = advance(column, row, columns, rows, facts[1], line, plane)
            depth = np.uint32(depth + (1 if column == 0 and row == 0 else 0))
            at = np.uint32(at + (by if left > 1 else np.uint32(0)))
            left = np.uint32(left - min(left, np.uint32(1)))
    return found, np.uint32(0xFFFFFFFF) if none else np.uint32(number + first)


@kernel(("max_pool",), "T[::1], T[::1], UniTuple(uint32, 31)")
def pool_largest(x: Any, out: Any, facts: Any) -> None:
    """Element i of out becomes the largest of window i; -inf if it holds nothing but padding."""
    i = np.uint32(cuda.blockIdx.x * THREADS + cuda.threadIdx.x)
    if i < facts[0]:
        at, planes, rows, columns, _, line, plane = held_by(i, facts)
        left = np.uint32(planes * rows * columns)
        column, row = np.uint32(0), np.uint32(0)
        best = x.dtype.type(-INFINITY)
        while left > 0:
            for _ in range(BATCH):
                value = x[at]
                if value > best or value != value:  # noqa: PLR0124
                    best = value
                by, column, row = advance(column, row, columns, rows, facts[1], line, plane)
                at = np.uint32(at + (by if left > 1 else np.uint32(0)))
                left = np.uint32(left - min(left, np.uint32(1)))
        out[i] = best


@kernel(("max_pool_input",), "T[::1], uint8[::1], UniTuple(uint32, 31)", "T[::1], uint32[::1], UniTuple(uint32, 31)")
def pool_places(x: Any, numbers: Any, facts: Any) -> None:
    """Element i of numbers says which element of window i is its largest."""
    i = np.uint32(cuda.blockIdx.x * THREADS + cuda.threadIdx.x)
    if i < facts[0]:
        numbers[i] = numbers.dtype.type(first_largest(x, i, facts)[1])


@kernel(("max_pool_pick",), "T[::1], T[::1], T[::1], UniTuple(uint32, 31)")
def pool_pick(h: Any, x: Any, out: Any, facts: Any) -> None:
    """Element i of out becomes that of h where x has the largest of window i; 0 for nothing but padding."""
    i = np.uint32(cuda.blockIdx.x * THREADS + cuda.threadIdx.x)
    if i < facts[0]:
        at, number = first_largest(x, i, facts)
        out[i] = h[at] if number != np.uint32(0xFFFFFFFF) else h.dtype.type(0)


@kernel(("average_pool",), "T[::1], T[::1], UniTuple(uint32, 31)")
def pool_means(x: Any, out: Any, facts: Any) -> None:
    """Element i of out becomes the mean of window i, padding left out; nan where nothing is left."""
    i = np.uint32(cuda.blockIdx.x * THREADS + cuda.threadIdx.x)
    if i < facts[0]:
        at, planes, rows, columns, _, line, plane = held_by(i, facts)
        left = np.uint32(planes * rows * columns)
        column, row = np.uint32(0), np.uint32(0)
        count, total = x.dtype.type(left), x.dtype.type(0)
        while left > 0:
            part = x.dtype.type(0)
            for _ in range(BATCH):
                value = x[at]
                part += value if left > 0 else x.dtype.type(0)
                by, column, row = advance(column, row, columns, rows, facts[1], line, plane)
                at = np.uint32(at + (by if left > 1 else np.uint32(0)))
                left = np.uint32(left - min(left, np.uint32(1)))
            total += part
        out[i] = total / count
