"""Rows that go to the same place added up, or their largest or least taken: the kernels under scattering and segments.

A stable sort puts the entries of a place next to each other, a run, in an order of their own; `first` says where the
run of each place begins.  A block of `runs` takes some places, with neighbouring threads along their rows, and each
thread two columns of four places, so that much is in flight together: where runs begin, which entries come next, two
elements of each.  Runs longer than SHORT it leaves for later, when all its threads share each of them; and those longer
than LONG to several blocks: one for every LONG slots, and one for each such run, which puts the pieces together.  A
window of LONG slots sees at most two such runs, the one of its first slot and the one of its last; so there is room for
two pieces a window, and a run finds its own again by counting windows.  Every order is fixed.

Traffic: each row that is added is read once, each row of the result written once, zeros included, so that nothing is
set to zero before and nothing is read back: where every place is met once, 8 bytes an element, as a copy, and 12 bytes
a row for its run.  Sorting 32-bit numbers with 64-bit companions takes four passes of 24 bytes an entry and some 30
more.  Memory limits.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from autodiff_lab.kernels.cuda.array import DeviceArray
from autodiff_lab.kernels.cuda.launching import SIMULATED, THREADS, Kernel, blocks_for, cuda, empty, kernel, launch
from autodiff_lab.kernels.indexing.cuda_positions import divisor, picked, quotient, row_shape
from autodiff_lab.kernels.maths.cuda_folds import add, larger, smaller
from autodiff_lab.kernels.reductions.cuda_kernels import MAX, MIN, SUM, Operation, seat

SERVES = ("scatter_axis", "scatter_nd", "segment_sum", "segment_max", "segment_min")
LONG = 32 if SIMULATED else 2048
"""Entries of a place beyond which several blocks share it."""
SHORT = 4 if SIMULATED else 16
"""Entries of a place up to which its threads take them one after the other."""
SIGNATURE = "T[::1], int32[::1], int32[::1], int32[::1], T[::1]" + ", int32" * 7
"""Of the kernels of long runs."""


class Runs(NamedTuple):
    """Entries by place.

    Attributes
    ----------
    order : DeviceArray
        Entries, those of a place next to each other; what goes nowhere is left out or stands first.
    first : DeviceArray
        For each place, and once more at the end, where its run begins.
    """

    order: DeviceArray
    first: DeviceArray


@kernel(SERVES, "int32[::1], int32[::1], int32, int32")
def find_starts(sorted_places: Any, first: Any, entries: Any, length: Any) -> None:
    """Where the run of each place begins among sorted places: a binary search a thread."""
    place = cuda.grid(1)
    if place <= length:
        low, high = 0, entries
        while low < high:
            middle = (low + high) >> 1
            if sorted_places[np.uint32(middle)] < place:
                low = middle + 1
            else:
                high = middle
        first[np.uint32(place)] = low


def sorted_runs(places: DeviceArray, length: int) -> Runs:
    """Sort entries by place: 32-bit places below `length`, negative ones for entries that go nowhere."""
    memory, entries = places.memory, places.size
    with memory.using():
        order = memory.wrap(memory.module.argsort(places.raw, kind="stable").astype(np.int32))
    first = empty(places, (length + 1,))
    by_place = picked(places, order, 1, entries, 1)
    launch(find_starts, blocks_for(length + 1), THREADS, by_place, first, entries, length)
    return Runs(order, first)


def shared_of(operation: Operation) -> Any:
    """Return the device function in which `deep` threads take the entries of slots start to stop."""
    start_of, nothing, many, together, _ = operation

    @cuda.jit(device=True)
    def shared(
        g: Any, order: Any, start: Any, stop: Any, base: Any, inner: Any, column: Any, row: Any, wide: Any, deep: Any
    ) -> Any:
        sources = cuda.local.array(8, np.int32)
        elements = cuda.local.array(8, g.dtype)
        place = cuda.threadIdx.y * cuda.blockDim.x + cuda.threadIdx.x  # of a block of one row or of several
        state, none = start_of(g), nothing(g)
        slot = start + row if row < deep and column < inner else stop
        while slot < stop:
            for k in range(8):
                sources[k] = order[np.uint32(min(slot + k * deep, stop - 1))]
            for k in range(8):
                elements[k] = g[np.uint32((base + sources[k]) * inner + column)]
            for k in range(8):
                elements[k] = elements[k] if slot + k * deep < stop else none
            state = many(state, elements)
            slot += 8 * deep
        cuda.syncthreads()  # the tree's memory may still be read from the run before
        return together(g, state, place, row, wide, deep)

    return shared


def medium_runs_of(operation: Operation) -> Any:
    """The device function in which a block takes those of its places that are met between SHORT and LONG times."""
    shared = shared_of(operation)

    @cuda.jit(device=True)
    def medium_runs(
        g: Any, order: Any, first: Any, made: Any, corner: Any, end: Any, entries: Any, length: Any, inner: Any,
        column: Any, row: Any, wide: Any, deep: Any,
    ) -> None:  # fmt: skip
        """Take the runs of middle length among places corner to end, one after the other, with all threads."""
        for r in range(corner, end):
            piece = np.int32(np.uint32(r) // np.uint32(length))
            place = r - piece * length
            start, stop = first[np.uint32(place)], first[np.uint32(place + 1)]
            if stop - start > SHORT and stop - start <= LONG:
                for side in range(2):
                    at = column + side * wide
                    value = shared(g, order, start, stop, piece * entries, inner, at, row, wide, deep)
                    if row == 0 and at < inner:
                        made[np.uint32(r * inner + at)] = value

    return medium_runs


def pieces_of(name: str, operation: Operation, serves: tuple[str, ...]) -> Kernel:
    """Return the kernel that takes the pieces of long runs, window by window."""
    shared = shared_of(operation)

    def pieces_of_runs(
        g: Any, order: Any, first: Any, places: Any, parts: Any, entries: Any, length: Any, inner: Any, wide: Any,
        deep: Any, tiles: Any, windows: Any,
    ) -> None:  # fmt: skip
        """In LONG slots, take what belongs to the long run of the first, and to that of the last, if it is another."""
        above, row, column = seat(wide, tiles)
        piece = np.int32(np.uint32(above) // np.uint32(windows))
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
    return kernel(serves, SIGNATURE)(pieces_of_runs)


@cuda.jit(device=True)
def _part(parts: Any, window: Any, i: Any, count: Any, lead: Any, inner: Any, column: Any, nothing: Any) -> Any:
    """Piece i of a long run; the first may be what its window saw last, the others are what theirs saw first."""
    at = 2 * (window + i) + (lead if i == 0 else 0)
    return parts[np.uint32(at * inner + column)] if i < count else nothing


def long_of(name: str, operation: Operation, serves: tuple[str, ...]) -> Kernel:
    """Return the kernel that puts the pieces of long runs together."""
    start_of, nothing, many, together, _ = operation

    def long_runs(
        parts: Any, order: Any, first: Any, places: Any, made: Any, entries: Any, length: Any, inner: Any, wide: Any,
        deep: Any, tiles: Any, windows: Any,
    ) -> None:  # fmt: skip
        """Put the pieces of the long run together that begins in this block's window, if one does."""
        elements = cuda.local.array(8, parts.dtype)
        above, row, column = seat(wide, tiles)
        piece = np.int32(np.uint32(above) // np.uint32(windows))
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
            for k in range(8):
                elements[k] = _part(parts, above, i + k * deep, count, lead, inner, column, none)
            state = many(state, elements)
            i += 8 * deep
        state = together(parts, state, cuda.threadIdx.x, row, wide, deep)
        if row == 0 and column < inner:
            made[np.uint32((piece * length + place) * inner + column)] = state

    long_runs.__name__ = f"{name}_long_runs"
    return kernel(serves, SIGNATURE)(long_runs)


ROWS = 4
"""Places of which a thread takes two columns."""
PAIRS = 2 * ROWS
SUMS_BESIDE, EXTREMES_BESIDE = 4, 3
"""Blocks that a multiprocessor runs at a time: registers enough for all loads in flight, and none spilled."""
Kernels = tuple[Kernel, Kernel, Kernel]


def _runs_of(name: str, operation: Operation, merge: Any, blocks: int, serves: tuple[str, ...]) -> Kernel:  # noqa: C901 - a kernel
    nothing, medium_runs = operation.nothing, medium_runs_of(operation)

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
            medium_runs(g, order, first, made, corner, end, entries, length, inner, column, row, wide, deep)

    runs.__name__ = f"{name}_runs"
    sizes = "int32, int32, int32, uint32, int32, int32, int32"
    return kernel(serves, f"T[::1], int32[::1], int32[::1], T[::1], T, {sizes}", launch_bounds=(256, blocks))(runs)


def _kernels_of(name: str, operation: Operation, merge: Any, blocks: int, *serves: str) -> Kernels:
    return (
        _runs_of(name, operation, merge, blocks, serves),
        pieces_of(name, operation, serves),
        long_of(name, operation, serves),
    )


ADD = _kernels_of("add", SUM, add, SUMS_BESIDE, "scatter_axis", "scatter_nd", "segment_sum")
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
