"""Which entries go to which place, and in which order: what every scattering kernel reads.

Entries of one place stand next to each other in an order of their own, a run; `first` says where the run of each place
begins.  Two ways lead there:

Counting: entries are counted by place (`count_places`), counts are added up, every entry takes a slot of its run in
whatever order threads come (`take_slots`), and, where an order is required, finds its rank among the entries of its
run (`rank_within_runs`).  A run of more than HOT entries would be long at that: its entries are read again, in order,
by a block for every SLICE of them (`count_hot`, `place_hot`).

Sorting: CuPy's stable sort of the places, whose time does not hang on how entries are spread, and two binary searches
a place.

Traffic, beside the rows that are added up: counting reads and writes some 40 bytes an entry and 12 a place, in six or
seven launches; sorting 32-bit numbers with 64-bit companions takes four passes of 24 bytes and some 30 more, and waits
for the GPU.  With rows of 128 floats, which are 1024 bytes a row to read and to write, and every place met once, that
is 5 % against 12 %.  Many entries a place meet in the counters, so that counting is for up to AVERAGE entries a place.
Atomic operations are on whole numbers only, which add up to the same in any order.

Occupancy: 256 threads, at most 34 registers and no shared memory; 56 and 1 kB in `place_hot`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from autodiff_lab.kernels.cuda import determinism
from autodiff_lab.kernels.cuda.array import DeviceArray
from autodiff_lab.kernels.cuda.gathering import picked
from autodiff_lab.kernels.cuda.launching import SIMULATED, THREADS, blocks_for, cuda, empty, kernel, launch

SERVES = ("scatter_axis", "scatter_nd", "segment_sum", "segment_max", "segment_min")
AVERAGE = 4
"""Entries a place up to which they are counted."""
COUNTED = 2**22
"""Entries up to which they are counted: a hot place reads all of them again."""
HOT = 64 if SIMULATED else 4096
"""Entries of a place up to which each looks at all others to find its rank."""
SLICE = 16 if SIMULATED else 1024
"""Entries of a hot place for each block that puts them in order."""


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


@kernel(SERVES, "int32[::1], int32[::1], int32")
def count_places(places: Any, counts: Any, entries: Any) -> None:
    """Count the entries of each place, one position further, so that running sums say where runs begin."""
    i = cuda.grid(1)
    if i < entries and places[np.uint32(i)] >= 0:
        cuda.atomic.add(counts, places[np.uint32(i)] + 1, 1)


@kernel(SERVES, "int32[::1], int32[::1], int32[::1], int32[::1], int32")
def take_slots(places: Any, counts: Any, first: Any, slots: Any, entries: Any) -> None:
    """Put each entry into a slot of its run that no other takes; counts come down to 0."""
    i = cuda.grid(1)
    if i < entries and places[np.uint32(i)] >= 0:
        place = places[np.uint32(i)]
        left = cuda.atomic.add(counts, place + 1, -1)
        slots[np.uint32(first[np.uint32(place)] + left - 1)] = i


@kernel(SERVES, "int32[::1], int32[::1], int32[::1], int32[::1], int32")
def rank_within_runs(places: Any, first: Any, slots: Any, order: Any, length: Any) -> None:
    """Put the entries of runs that are not hot in order: a thread for each slot counts those that come before."""
    i = cuda.grid(1)
    if i >= first[np.uint32(length)]:
        return
    entry = slots[np.uint32(i)]
    place = places[np.uint32(entry)]
    start, stop = first[np.uint32(place)], first[np.uint32(place + 1)]
    if stop - start <= HOT:
        rank = start
        for other in range(start, stop):
            rank += 1 if slots[np.uint32(other)] < entry else 0
        order[np.uint32(rank)] = entry


@cuda.jit(device=True)
def _hot_slice(places: Any, first: Any, slots: Any, entries: Any, length: Any) -> Any:
    """The place whose run holds this block's slot, where its blocks begin, and the entries that the block looks at.

    Place -1 stands for: not hot.
    """
    slot = cuda.blockIdx.x * SLICE
    if slot >= first[np.uint32(length)]:
        return -1, 0, 0, 0
    place = places[np.uint32(slots[np.uint32(slot)])]
    start, stop = first[np.uint32(place)], first[np.uint32(place + 1)]
    if stop - start <= HOT:
        return -1, 0, 0, 0
    lead = (start + SLICE - 1) // SLICE
    blocks = (stop - 1) // SLICE - lead + 1
    mine = cuda.blockIdx.x - lead
    return place, lead, entries * mine // blocks, entries * (mine + 1) // blocks


@cuda.jit(device=True)
def _before(found: Any, t: Any) -> Any:
    """How many the threads before this one found, and how many all did."""
    sums = cuda.shared.array(THREADS, np.int32)
    sums[t] = found
    cuda.syncthreads()
    by = 1
    while by < THREADS:
        more = sums[t - by] if t >= by else 0
        cuda.syncthreads()
        sums[t] += more
        cuda.syncthreads()
        by *= 2
    before, total = sums[t] - found, sums[THREADS - 1]
    cuda.syncthreads()
    return before, total


@kernel(SERVES, "int32[::1], int32[::1], int32[::1], int32[::1], int32, int32")
def count_hot(places: Any, first: Any, slots: Any, hits: Any, entries: Any, length: Any) -> None:
    """Count the entries of a hot place among those that this block looks at."""
    t = cuda.threadIdx.x
    place, _, i, stop = _hot_slice(places, first, slots, entries, length)
    if place < 0:
        return
    found = 0
    i += t
    while i < stop:
        found += 1 if places[np.uint32(i)] == place else 0
        i += THREADS
    _, total = _before(found, t)
    if t == 0:
        hits[cuda.blockIdx.x] = total


@kernel(SERVES, "int32[::1], int32[::1], int32[::1], int32[::1], int32[::1], int32, int32")
def place_hot(places: Any, first: Any, slots: Any, hits: Any, order: Any, entries: Any, length: Any) -> None:
    """Put the entries of a hot place in order: those that this block looks at, after those of the blocks before."""
    t = cuda.threadIdx.x
    place, lead, i, stop = _hot_slice(places, first, slots, entries, length)
    if place < 0:
        return
    found, block = 0, lead + t
    while block < cuda.blockIdx.x:
        found += hits[np.uint32(block)]
        block += THREADS
    _, total = _before(found, t)
    at = first[np.uint32(place)] + total
    while i < stop:
        mine = i + 8 * t
        found = 0
        for k in range(8):
            found += 1 if mine + k < stop and places[np.uint32(mine + k)] == place else 0
        before, total = _before(found, t)
        slot = at + before
        for k in range(8):
            if mine + k < stop and places[np.uint32(mine + k)] == place:
                order[np.uint32(slot)] = mine + k
                slot += 1
        at += total
        i += 8 * THREADS


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


def runs(places: DeviceArray, length: int) -> Runs:
    """Entries by place: 32-bit places below `length`, negative ones for entries that go nowhere."""
    entries = places.size
    if entries <= min(AVERAGE * length, COUNTED):
        return _counted(places, entries, length)
    return _sorted(places, entries, length)


def _counted(places: DeviceArray, entries: int, length: int) -> Runs:
    memory, blocks = places.memory, blocks_for(entries)
    counts = memory.zeros((length + 1,), np.int32)
    launch(count_places, blocks, THREADS, places, counts, entries)
    with memory.using():
        first = memory.wrap(memory.module.cumsum(counts.raw, dtype=np.int32))
    slots = empty(places, (entries,))
    launch(take_slots, blocks, THREADS, places, counts, first, slots, entries)
    if not determinism.required():
        return Runs(slots, first)
    order = empty(places, (entries,))
    launch(rank_within_runs, blocks, THREADS, places, first, slots, order, length)
    if entries > HOT:
        blocks = blocks_for(entries, SLICE)
        hits = empty(places, (blocks,))
        launch(count_hot, blocks, THREADS, places, first, slots, hits, entries, length)
        launch(place_hot, blocks, THREADS, places, first, slots, hits, order, entries, length)
    return Runs(order, first)


def _sorted(places: DeviceArray, entries: int, length: int) -> Runs:
    memory = places.memory
    with memory.using():
        order = memory.wrap(memory.module.argsort(places.raw, kind="stable").astype(np.int32))
    first = empty(places, (length + 1,))
    by_place = picked(places, order, 1, entries, 1)
    launch(find_starts, blocks_for(length + 1), THREADS, by_place, first, entries, length)
    return Runs(order, first)
