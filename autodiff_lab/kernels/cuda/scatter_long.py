"""Runs of more than LONG entries: a block for every LONG slots, and one for each such run to put the pieces together.

A window of LONG slots sees at most two such runs, the one of its first slot and the one of its last; so there is room
for two pieces a window, and a run finds its own again by counting windows.

Traffic: the rows of long runs are read once; pieces, a row for some LONG, are written and read.  Where no run is long
every block ends after three loads.  Occupancy: 256 threads, 1 kB of shared memory (float32), at most 56 registers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_lab.kernels.cuda.launching import Kernel, cuda, kernel
from autodiff_lab.kernels.cuda.reductions_operations import Operation
from autodiff_lab.kernels.cuda.scatter_shared import LONG, shared_of


def pieces_of(name: str, operation: Operation, serves: tuple[str, ...]) -> Kernel:
    """The kernel that takes the pieces of long runs, window by window."""
    shared = shared_of(operation)

    def pieces_of_runs(
        g: Any, order: Any, first: Any, places: Any, parts: Any, entries: Any, length: Any, inner: Any, wide: Any,
        deep: Any, tiles: Any, windows: Any,
    ) -> None:  # fmt: skip
        """In LONG slots, take what belongs to the long run of the first, and to that of the last, if it is another."""
        t, block = cuda.threadIdx.x, np.uint32(cuda.blockIdx.x)
        above = np.int32(block // np.uint32(tiles))
        piece = np.int32(np.uint32(above) // np.uint32(windows))
        row = np.int32(np.uint32(t) // np.uint32(wide))
        column = (np.int32(block) - above * tiles) * wide + t - row * wide
        corner = (above - piece * windows) * LONG
        end = min(corner + LONG, entries)
        seen = -1
        for last in range(2):
            slot = end - 1 if last else corner
            if slot >= first[0] and slot < first[np.uint32(length)]:
                place = places[np.uint32(order[np.uint32(slot)])]
                start, stop = first[np.uint32(place)], first[np.uint32(place + 1)]
                if place != seen and stop - start > LONG:
                    seen = place
                    value = shared(
                        g, order, max(start, corner), min(stop, end), piece * entries, inner, column, row, wide, deep
                    )
                    if row == 0 and column < inner:
                        parts[np.uint32((2 * above + last) * inner + column)] = value

    pieces_of_runs.__name__ = f"{name}_pieces_of_runs"
    sizes = ", int32" * 7
    return kernel(serves, f"T[::1], int32[::1], int32[::1], int32[::1], T[::1]{sizes}")(pieces_of_runs)


@cuda.jit(device=True)
def _part(parts: Any, window: Any, i: Any, count: Any, lead: Any, inner: Any, column: Any, nothing: Any) -> Any:
    """Piece i of a long run; the first may be what its window saw last, the others are what theirs saw first."""
    at = 2 * (window + i) + (lead if i == 0 else 0)
    return parts[np.uint32(at * inner + column)] if i < count else nothing


def long_of(name: str, operation: Operation, serves: tuple[str, ...]) -> Kernel:
    """The kernel that puts the pieces of long runs together."""
    start_of, nothing, many, together, _ = operation

    def long_runs(
        parts: Any, order: Any, first: Any, places: Any, made: Any, entries: Any, length: Any, inner: Any, wide: Any,
        deep: Any, tiles: Any, windows: Any,
    ) -> None:  # fmt: skip
        """Put the pieces of the long run together that begins in this block's window, if one does."""
        t, block = cuda.threadIdx.x, np.uint32(cuda.blockIdx.x)
        above = np.int32(block // np.uint32(tiles))
        piece = np.int32(np.uint32(above) // np.uint32(windows))
        row = np.int32(np.uint32(t) // np.uint32(wide))
        column = (np.int32(block) - above * tiles) * wide + t - row * wide
        window = above - piece * windows
        slot = min((window + 1) * LONG, entries) - 1
        if slot < first[0] or slot >= first[np.uint32(length)]:
            return
        place = places[np.uint32(order[np.uint32(slot)])]
        start, stop = first[np.uint32(place)], first[np.uint32(place + 1)]
        if stop - start <= LONG or start < window * LONG:
            return
        state, none = start_of(parts), nothing(parts)
        lead = 0 if start == window * LONG else 1
        count = (stop - 1) // LONG - window + 1
        i = row if row < deep and column < inner else count
        while i < count:
            state = many(
                state,
                _part(parts, above, i, count, lead, inner, column, none),
                _part(parts, above, i + deep, count, lead, inner, column, none),
                _part(parts, above, i + 2 * deep, count, lead, inner, column, none),
                _part(parts, above, i + 3 * deep, count, lead, inner, column, none),
                _part(parts, above, i + 4 * deep, count, lead, inner, column, none),
                _part(parts, above, i + 5 * deep, count, lead, inner, column, none),
                _part(parts, above, i + 6 * deep, count, lead, inner, column, none),
                _part(parts, above, i + 7 * deep, count, lead, inner, column, none),
            )
            i += 8 * deep
        state = together(parts, state, t, row, wide, deep)
        if row == 0 and column < inner:
            made[np.uint32((piece * length + place) * inner + column)] = state

    long_runs.__name__ = f"{name}_long_runs"
    sizes = ", int32" * 7
    return kernel(serves, f"T[::1], int32[::1], int32[::1], int32[::1], T[::1]{sizes}")(long_runs)
