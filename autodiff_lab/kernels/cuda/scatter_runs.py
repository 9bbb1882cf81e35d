"""Entries of each place added up, or their largest or least taken: the kernels under scattering and segments.

`scatter_order` has put the entries of a place next to each other.  A block of `runs` takes some places, with threads
side by side along their rows, and each thread two columns of four places, so that much is in flight together: where
runs begin, which entries come next, two elements of each.  Runs longer than SHORT it leaves for later, when all its
threads share each of them; and those longer than LONG to several blocks (`scatter_long`).  Every order is fixed.

Traffic: each row that is added is read once, each row of the result written once, zeros included, so that nothing is
set to zero before and nothing is read back: where every place is met once, 8 bytes an element, as a copy, and 12 bytes
a row for its run.  Atomic additions would set, read and write the result: 16 bytes an element.

Occupancy: 256 threads, 1 kB of shared memory (float32), 64 registers: 4 blocks a multiprocessor, with 8,000 elements in
flight; up to 80 registers and 3 blocks for extremes, which compare twice.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_lab.kernels.cuda.array import DeviceArray
from autodiff_lab.kernels.cuda.gathering import row_shape
from autodiff_lab.kernels.cuda.launching import THREADS, Kernel, cuda, empty, kernel, launch
from autodiff_lab.kernels.cuda.reductions_operations import MAX, MIN, SUM, Operation, added, larger, smaller
from autodiff_lab.kernels.cuda.scatter_long import long_of, pieces_of
from autodiff_lab.kernels.cuda.scatter_order import Runs
from autodiff_lab.kernels.cuda.scatter_quotients import divisor, quotient
from autodiff_lab.kernels.cuda.scatter_shared import LONG, SHORT, shares_of

ROWS = 4
"""Places of which a thread takes two columns."""
PAIRS = 2 * ROWS
SUMS_BESIDE, EXTREMES_BESIDE = 4, 3
"""Blocks that a multiprocessor runs at a time: registers enough for all loads in flight, and none spilled."""
Kernels = tuple[Kernel, Kernel, Kernel]


def _runs_of(  # noqa: C901 - a kernel whose loops are unrolled
    name: str, operation: Operation, merge: Any, blocks: int, serves: tuple[str, ...]
) -> Kernel:
    nothing, shares = operation.nothing, shares_of(operation)

    def runs(  # noqa: C901 - its loops are unrolled
        g: Any, order: Any, first: Any, made: Any, empty: Any, rows: Any, entries: Any, length: Any, multiplier: Any,
        shift: Any, inner: Any, tiles: Any,
    ) -> None:  # fmt: skip
        """Take ROWS x deep places of `rows`, which are `length` places of one piece after the other.

        Where loads should be in flight together nothing branches: what is not to be read is read from the beginning.
        """
        starts = cuda.local.array(ROWS, np.int32)
        counts = cuda.local.array(ROWS, np.int32)
        sources = cuda.local.array(ROWS, np.int32)
        elements = cuda.local.array(PAIRS, g.dtype)
        values = cuda.local.array(PAIRS, g.dtype)
        wide, deep, block, row = cuda.blockDim.x, cuda.blockDim.y, cuda.blockIdx.x, cuda.threadIdx.y
        above = np.int32(np.uint32(block) // np.uint32(tiles)) if tiles > 1 else block
        column = np.int32((block - above * tiles) * 2 * wide + cuda.threadIdx.x)
        corner = np.int32(above * ROWS * deep)
        stop = rows if column < inner else 0
        beside = np.int32(wide if column + wide < inner else 0)
        for k in range(ROWS):
            r = min(np.int32(corner + row + k * deep), np.int32(rows - 1))
            place = np.int32(r - quotient(r, multiplier, shift) * length)
            starts[k], counts[k] = first[np.uint32(place)], first[np.uint32(place + 1)]
        longest, deepest = np.int32(0), np.int32(0)
        for k in range(ROWS):
            count = np.int32(counts[k] - starts[k]) if corner + row + k * deep < stop else np.int32(-1)
            longest = max(longest, count)
            counts[k] = count if count <= SHORT else np.int32(-1)  # -1: nothing to write here
            deepest = max(deepest, counts[k])
            values[k] = values[k + ROWS] = nothing(g)
        for d in range(deepest):
            for k in range(ROWS):
                sources[k] = order[np.uint32(np.int32(starts[k] + d) if d < counts[k] else np.int32(0))]
            for k in range(ROWS):
                piece = quotient(corner + row + k * deep, multiplier, shift)
                source = np.int32((piece * entries + sources[k]) * inner + column)
                source = source if d < counts[k] else np.int32(0)
                elements[k] = g[np.uint32(source)]
                elements[k + ROWS] = g[np.uint32(source + (beside if d < counts[k] else 0))]
            for k in range(ROWS):
                values[k] = merge(values[k], elements[k]) if d < counts[k] else values[k]
                values[k + ROWS] = merge(values[k + ROWS], elements[k + ROWS]) if d < counts[k] else values[k + ROWS]
        for k in range(ROWS):
            if counts[k] >= 0:
                at = np.int32((corner + row + k * deep) * inner + column)
                made[np.uint32(at)] = values[k] if counts[k] > 0 else empty
                if beside > 0:
                    made[np.uint32(at + beside)] = values[k + ROWS] if counts[k] > 0 else empty
        if cuda.syncthreads_or(np.int32(longest > SHORT)) != 0:
            end = min(corner + ROWS * deep, rows)
            shares(g, order, first, made, corner, end, entries, length, inner, column, row, wide, deep)

    runs.__name__ = f"{name}_runs"
    sizes = "int32, int32, int32, uint32, int32, int32, int32"
    return kernel(serves, f"T[::1], int32[::1], int32[::1], T[::1], T, {sizes}", launch_bounds=(256, blocks))(runs)


def _kernels_of(name: str, operation: Operation, merge: Any, blocks: int, *serves: str) -> Kernels:
    return (
        _runs_of(name, operation, merge, blocks, serves),
        pieces_of(name, operation, serves),
        long_of(name, operation, serves),
    )


ADD = _kernels_of("add", SUM, added, SUMS_BESIDE, "scatter_axis", "scatter_nd", "segment_sum")
TAKE_MAX = _kernels_of("take_max", MAX, larger, EXTREMES_BESIDE, "segment_max")
TAKE_MIN = _kernels_of("take_min", MIN, smaller, EXTREMES_BESIDE, "segment_min")


def over_runs(
    kernels: Kernels, g: DeviceArray, runs: Runs, places: DeviceArray, pieces: int, length: int, inner: int,
    nobody: float,
) -> DeviceArray:  # fmt: skip
    """Join entries of `pieces` x (n, inner) elements by place, into pieces x (length, inner), in a row."""
    take, cut, join = kernels
    entries, rows = places.size, pieces * length
    wide, deep, tiles = row_shape(inner, 2)
    made = empty(g, (rows * inner,))
    blocks = -(-rows // (ROWS * deep)) * tiles
    sizes = rows, entries, length, *divisor(length), inner, tiles
    launch(take, blocks, (wide, deep), g, runs.order, runs.first, made, g.dtype.type(nobody), *sizes)
    if entries > LONG:
        windows = -(-entries // LONG)
        wide, deep, tiles = row_shape(inner, 1)
        parts = empty(g, (2 * pieces * windows * inner,))
        sizes = entries, length, inner, wide, deep, tiles, windows
        launch(cut, pieces * windows * tiles, THREADS, g, runs.order, runs.first, places, parts, *sizes)
        launch(join, pieces * windows * tiles, THREADS, parts, runs.order, runs.first, places, made, *sizes)
    return made
