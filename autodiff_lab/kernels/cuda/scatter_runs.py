"""Entries of each place added up, or their largest or least taken: the kernels under scattering and segments.

`scatter_order` has put the entries of a place next to each other.  A block of `runs` takes some places, with threads
side by side along their rows, and each thread eight places, so that eight of everything are in flight: where a run
begins, which entry comes next, an element of it.  Runs longer than SHORT it leaves for later, when all its threads
share each of them; and those longer than LONG to several blocks (`scatter_long`).  Every order is fixed.

Traffic: each row that is added is read once, each row of the result written once, zeros included, so that nothing is
set to zero before and nothing is read back: where every place is met once, 8 bytes an element, as a copy, and 12 bytes
a row for its run.  Atomic additions would set, read and write the result: 16 bytes an element.

Occupancy: 256 threads, 1 kB of shared memory (float32), at most 64 registers: 4 blocks a multiprocessor, with 8,000
elements in flight.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_lab.kernels.cuda.array import DeviceArray
from autodiff_lab.kernels.cuda.gathering import row_shape
from autodiff_lab.kernels.cuda.launching import SIMULATED, THREADS, Kernel, cuda, empty, kernel, launch
from autodiff_lab.kernels.cuda.reductions_operations import MAX, MIN, SUM, Operation, added, larger, smaller
from autodiff_lab.kernels.cuda.scatter_long import long_of, pieces_of
from autodiff_lab.kernels.cuda.scatter_order import Runs
from autodiff_lab.kernels.cuda.scatter_shared import LONG, shared_of

BATCH = 8
"""Places that a thread takes."""
SHORT = 4 if SIMULATED else 16
"""Entries of a place that its threads add one after the other."""
Kernels = tuple[Kernel, Kernel, Kernel]


def _runs_of(  # noqa: C901 - a kernel whose loops are unrolled
    name: str, operation: Operation, merge: Any, serves: tuple[str, ...]
) -> Kernel:
    nothing, shared = operation.nothing, shared_of(operation)

    @cuda.jit(device=True)
    def shares(
        g: Any, order: Any, first: Any, made: Any, corner: Any, end: Any, entries: Any, length: Any, inner: Any,
        column: Any, row: Any, wide: Any, deep: Any,
    ) -> None:  # fmt: skip
        """Take the runs of middle length among places corner to end, one after the other, with all threads."""
        for r in range(corner, end):
            piece = np.int32(np.uint32(r) // np.uint32(length))
            place = r - piece * length
            start, stop = first[np.uint32(place)], first[np.uint32(place + 1)]
            if stop - start > SHORT and stop - start <= LONG:
                value = shared(g, order, start, stop, piece * entries, inner, column, row, wide, deep)
                if row == 0 and column < inner:
                    made[np.uint32(r * inner + column)] = value

    def runs(  # noqa: C901 - loops over what a thread holds are unrolled
        g: Any, order: Any, first: Any, made: Any, empty: Any, rows: Any, entries: Any, length: Any, inner: Any,
        wide: Any, deep: Any, tiles: Any,
    ) -> None:  # fmt: skip
        """Take BATCH x deep places of `rows`, which are `length` places of one piece after the other."""
        starts = cuda.local.array(BATCH, np.int32)
        counts = cuda.local.array(BATCH, np.int32)
        sources = cuda.local.array(BATCH, np.int32)
        values = cuda.local.array(BATCH, g.dtype)
        t, block = cuda.threadIdx.x, np.uint32(cuda.blockIdx.x)
        above = np.int32(block // np.uint32(tiles))
        row = np.int32(np.uint32(t) // np.uint32(wide))
        column = (np.int32(block) - above * tiles) * wide + t - row * wide
        corner = above * BATCH * deep
        stop = rows if row < deep and column < inner else 0
        longest, deepest = 0, 0
        for k in range(BATCH):
            r = corner + row + k * deep
            starts[k], counts[k], values[k] = 0, -1, nothing(g)  # -1: nothing to write here
            if r < stop:
                place = r - np.int32(np.uint32(r) // np.uint32(length)) * length
                starts[k] = first[np.uint32(place)]
                count = first[np.uint32(place + 1)] - starts[k]
                longest = max(longest, count)
                counts[k] = count if count <= SHORT else -1
                deepest = max(deepest, counts[k])
        for d in range(deepest):
            for k in range(BATCH):
                sources[k] = -1
                if d < counts[k]:
                    piece = np.int32(np.uint32(corner + row + k * deep) // np.uint32(length))
                    sources[k] = (piece * entries + order[np.uint32(starts[k] + d)]) * inner + column
            for k in range(BATCH):
                if sources[k] >= 0:
                    values[k] = merge(values[k], g[np.uint32(sources[k])])
        for k in range(BATCH):
            if counts[k] >= 0:
                made[np.uint32((corner + row + k * deep) * inner + column)] = values[k] if counts[k] > 0 else empty
        if cuda.syncthreads_or(np.int32(longest > SHORT)) != 0:
            end = min(corner + BATCH * deep, rows)
            shares(g, order, first, made, corner, end, entries, length, inner, column, row, wide, deep)

    runs.__name__ = f"{name}_runs"
    sizes = ", int32" * 7
    return kernel(serves, f"T[::1], int32[::1], int32[::1], T[::1], T{sizes}")(runs)


def _kernels_of(name: str, operation: Operation, merge: Any, *serves: str) -> Kernels:
    return (
        _runs_of(name, operation, merge, serves),
        pieces_of(name, operation, serves),
        long_of(name, operation, serves),
    )


ADD = _kernels_of("add", SUM, added, "scatter_axis", "scatter_nd", "segment_sum")
TAKE_MAX = _kernels_of("take_max", MAX, larger, "segment_max")
TAKE_MIN = _kernels_of("take_min", MIN, smaller, "segment_min")


def over_runs(
    kernels: Kernels, g: DeviceArray, runs: Runs, places: DeviceArray, pieces: int, length: int, inner: int,
    nobody: float,
) -> DeviceArray:  # fmt: skip
    """Join entries of `pieces` x (n, inner) elements by place, into pieces x (length, inner), in a row."""
    take, cut, join = kernels
    entries, rows = places.size, pieces * length
    wide, deep, tiles = row_shape(inner)
    made = empty(g, (rows * inner,))
    blocks = -(-rows // (BATCH * deep)) * tiles
    launch(
        take, blocks, THREADS, g, runs.order, runs.first, made, g.dtype.type(nobody), rows, entries, length, inner,
        wide, deep, tiles,
    )  # fmt: skip
    if entries > LONG:
        windows = -(-entries // LONG)
        parts = empty(g, (2 * pieces * windows * inner,))
        sizes = entries, length, inner, wide, deep, tiles, windows
        launch(cut, pieces * windows * tiles, THREADS, g, runs.order, runs.first, places, parts, *sizes)
        launch(join, pieces * windows * tiles, THREADS, parts, runs.order, runs.first, places, made, *sizes)
    return made
