"""Where windows lie: what the kernels of pooling need to know of shapes and settings, as 32-bit numbers without sign.

A thread finds its place from one flat number, which takes a division for each axis.  A division of 32 bits costs some
25 instructions, as many as the rest of a small window; so the host sends, for each divisor, a factor and a shift: the
quotient is the upper part of one product (Granlund and Montgomery, 1994).  And a thread that has found its place serves
four channels there, a quarter of all channels apart, so that neighbouring threads still have neighbouring channels.

Coordinates are those of the padded image, where nothing is negative, and neither are indices: Numba would bend a
negative one to the array's end.

Kernels of pooling with a thread for each window of four channels: largest elements, where they lie, means.

Neighbouring threads have neighbouring channels, so that a warp reads whole lines for each element of its windows.  A
thread goes through its window as through one list, two elements at a time: with four channels, eight loads are under
way together, for none of them depends on a comparison.  Behind the end of the list the last element is met again, which
changes no maximum.

Traffic, for windows of 2x2 next to each other, in bytes for an element of x in float32: 4 read and 1 written.  Windows
that overlap find each other's elements in the first cache.  Occupancy: 32 to 48 registers a thread, five to eight
blocks of 256 threads on a multiprocessor, no shared memory; 40 kB under way, where some 25 kB keep its memory busy.
"""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Any, NamedTuple

import numpy as np

from autodiff_lab.kernels.convolution.reference import Padding, Sizes, out_sizes
from autodiff_lab.kernels.cuda.launching import MOST, SIMULATED, THREADS, Kernel, cuda, kernel
from autodiff_lab.kernels.indexing.cuda_positions import divisor

CHANNELS = 4
"""How many channels a thread serves, if there are several times as many."""
FACTS = 33
"""How many numbers a kernel gets: the count of threads; channels that have a thread of their own, width, height and
depth of the array that threads share, each with factor and shift; depth, height and width of the other array; then, by
axis, window, strides, padding before the image, and a factor and a shift for each stride; then all channels, and how
many of them a thread serves."""
FACTS_TYPE = f"UniTuple(uint32, {FACTS})"
"""What Numba calls them."""
APART = 2 if SIMULATED else 8
"""Channels next to each other from which on a warp's addresses fill the 32 bytes that memory hands out at once."""
ENOUGH = 0 if SIMULATED else 1 << 17
"""Threads that fill half a GPU of the largest kind; if four channels for each left fewer, a thread serves one."""
Facts = tuple[np.uint32, ...]


class Plan(NamedTuple):
    """Facts for kernels with a thread for each window, and for each element of x; the result's shape."""

    windows: Facts
    elements: Facts
    shape: Sizes


@lru_cache(maxsize=1024)
def plan(shape: Sizes, window: Sizes, strides: Sizes, padding: Padding) -> Plan | None:
    """Return what kernels need to know; None for more than three axes, or where no window fits."""
    rank = len(window)
    outs = out_sizes(shape[1:-1], window, strides, padding, (1,) * rank)
    if rank > 3 or min(outs, default=0) < 1:
        return None
    ones, lows = (1,) * (3 - rank), (0,) * (3 - rank) + tuple(low for low, _ in padding)
    inside, outside, window, strides = ((*ones, *numbers) for numbers in (shape[1:-1], outs, window, strides))
    ends = [(o - 1) * s + k for o, s, k in zip(outside, strides, window, strict=True)]
    if max(*ends, *(n + low for n, low in zip(inside, lows, strict=True)), prod(window)) > MOST:
        return None
    made: list[Facts] = []
    for own, other in ((outside, inside), (inside, outside)):
        count = shape[0] * prod(own) * shape[-1]
        many = shape[-1] % CHANNELS == 0 and shape[-1] >= APART * CHANNELS and count >= ENOUGH * CHANNELS
        served = CHANNELS if many else 1
        facts = [count // served]
        for length in (shape[-1] // served, *reversed(own)):
            facts += [length, *divisor(max(length, 1))]
        facts += [*other, *window, *strides, *lows]
        for stride in strides:
            facts += divisor(stride)
        facts += [shape[-1], served]
        made.append(tuple(map(np.uint32, facts)))
    return Plan(made[0], made[1], (shape[0], *outs, shape[-1]))


@cuda.jit(device=True)
def quotient(i: Any, factor: Any, shift: Any) -> Any:
    """A quotient, by the reciprocal of its divisor."""
    return np.uint32(np.uint64(i) * np.uint64(factor) >> np.uint64(shift))


@cuda.jit(device=True)
def place(i: Any, facts: Any) -> Any:
    """Image, depth, height, width and first channel of a thread."""
    rest = quotient(i, facts[2], facts[3])
    channel = np.uint32(i - rest * facts[1])
    i, rest = rest, quotient(rest, facts[5], facts[6])
    width = np.uint32(i - rest * facts[4])
    i, rest = rest, quotient(rest, facts[8], facts[9])
    height = np.uint32(i - rest * facts[7])
    image = quotient(rest, facts[11], facts[12])
    return image, np.uint32(rest - image * facts[10]), height, width, channel


@cuda.jit(device=True)
def held(at: Any, stride: Any, window: Any, low: Any, length: Any) -> Any:
    """Where a window begins in the image, in padded coordinates, and how many elements of the image it holds."""
    start = np.uint32(at * stride)
    end = np.uint32(min(np.uint32(start + window), np.uint32(low + length)))
    start = np.uint32(max(start, low))
    return start, np.uint32(end - start) if end > start else np.uint32(0)


@cuda.jit(device=True)
def held_by(i: Any, facts: Any) -> Any:
    """What a thread's window holds of an image: where its first element lies, and how long it is on each axis.

    Then the first element's number in the window with its padding, and what is to be added to an element's place, to
    come to the next one: from the end of a row, and from the end of a plane.
    """
    image, depth, height, width, channel = place(i, facts)
    d, planes = held(depth, facts[19], facts[16], facts[22], facts[13])
    h, rows = held(height, facts[20], facts[17], facts[23], facts[14])
    w, columns = held(width, facts[21], facts[18], facts[24], facts[15])
    at = np.uint32(image * facts[13] + (d - facts[22]))
    at = np.uint32(np.uint32(at * facts[14] + (h - facts[23])) * facts[15] + (w - facts[24]))
    first = np.uint32((d - depth * facts[19]) * facts[17] + (h - height * facts[20]))
    first = np.uint32(first * facts[18] + (w - width * facts[21]))
    line = np.uint32((facts[15] - columns + 1) * facts[31])
    plane = np.uint32(line + (facts[14] - rows) * facts[15] * facts[31])
    return np.uint32(at * facts[31] + channel), planes, rows, columns, first, line, plane


@cuda.jit(device=True)
def windows_over(at: Any, window: Any, stride: Any, factor: Any, shift: Any, count: Any) -> Any:
    """The first of the windows that hold a padded coordinate, and the one after the last."""
    end = np.uint32(min(np.uint32(quotient(at, factor, shift) + 1), count))
    first = np.uint32(quotient(np.uint32(at - window), factor, shift) + 1) if at >= window else np.uint32(0)
    return first, end


@cuda.jit(device=True)
def thread_goal(i: Any, facts: Any) -> Any:
    """Where thread i puts the result for its first channel, and how far it is to the next ones."""
    pixel = quotient(i, facts[2], facts[3])
    return np.uint32(pixel * facts[31] + (i - pixel * facts[1])), facts[1]


KEPT = 2 * CHANNELS
"""Loads that a thread has under way together."""
INFINITY = np.inf
NOWHERE = 0xFFFFFFFF
"""The number of the largest element where there is none."""


@cuda.jit(device=True)
def next_of(at: Any, left: Any, column: Any, row: Any, held: Any, facts: Any) -> Any:
    """The next element of a window, or the last one again: its place, how many are left, its column and row.

    These are choices, not branches, so that loads stay together.
    """
    rows, columns, line, plane = held
    along, below = np.uint32(column + 1), np.uint32(row + 1)
    same_row, same_plane = along < columns, below < rows
    by = line if same_plane else plane
    by = facts[31] if same_row else by
    below = below if same_plane else np.uint32(0)
    at = np.uint32(at + (by if left > 1 else np.uint32(0)))
    left = np.uint32(left - min(left, np.uint32(1)))
    return at, left, along if same_row else np.uint32(0), row if same_row else below


@cuda.jit(device=True)
def number_of(depth: Any, row: Any, column: Any, first: Any, facts: Any) -> Any:
    """The number of an element of a window, padding counted, from its place in what the window holds."""
    return np.uint32(np.uint32(np.uint32(depth * facts[17] + row) * facts[18] + column) + first)


@cuda.jit(device=True)
def first_largest(x: Any, i: Any, facts: Any, best: Any, numbers: Any) -> Any:
    """Put the largest elements of a thread's window into best, the first of equals, and return whether there are any.

    Into numbers goes where they are in the window, padding counted.
    """
    kept = cuda.local.array(KEPT, x.dtype)
    at, planes, rows, columns, first, line, plane = held_by(i, facts)
    held, left = (rows, columns, line, plane), np.uint32(planes * rows * columns)
    some = left > 0
    for c in range(CHANNELS):
        numbers[c] = first
        best[c] = x[np.uint32(at + c * facts[1])] if some and c < facts[32] else x.dtype.type(0)
    column, row, depth = np.uint32(0), np.uint32(0), np.uint32(0)
    while left > 0:
        number = number_of(depth, row, column, first, facts)
        after, left, column, row = next_of(at, left, column, row, held, facts)
        depth = np.uint32(depth + (1 if column == 0 and row == 0 else 0))
        number_after = number_of(depth, row, column, first, facts)
        for c in range(CHANNELS):
            kept[c] = x[np.uint32(at + c * facts[1])] if c < facts[32] else best[c]
            kept[CHANNELS + c] = x[np.uint32(after + c * facts[1])] if c < facts[32] else best[c]
        for c in range(CHANNELS):
            better = (kept[c] > best[c]) | ((kept[c] != kept[c]) & (best[c] == best[c]))
            best[c] = kept[c] if better else best[c]
            numbers[c] = number if better else numbers[c]
            value = kept[CHANNELS + c]
            better = (value > best[c]) | ((value != value) & (best[c] == best[c]))  # noqa: PLR0124 - nan
            best[c] = value if better else best[c]
            numbers[c] = number_after if better else numbers[c]
        at, left, column, row = next_of(after, left, column, row, held, facts)
        depth = np.uint32(depth + (1 if column == 0 and row == 0 else 0))
    return some


def _reduced(name: str, method: str, averages: bool, doc: str) -> Kernel:
    """Make the kernel that takes the mean or the largest element of each window."""

    def reduce(x: Any, out: Any, facts: Any) -> None:
        best = cuda.local.array(CHANNELS, x.dtype)
        kept = cuda.local.array(KEPT, x.dtype)
        i = np.uint32(cuda.blockIdx.x * THREADS + cuda.threadIdx.x)
        if i < facts[0]:
            at, planes, rows, columns, _, line, plane = held_by(i, facts)
            held, left = (rows, columns, line, plane), np.uint32(planes * rows * columns)
            column, row = np.uint32(0), np.uint32(0)
            none, count = x.dtype.type(0) if averages else x.dtype.type(-INFINITY), x.dtype.type(left)
            for c in range(CHANNELS):
                best[c] = none
            while left > 0:
                after, left, column, row = next_of(at, left, column, row, held, facts)
                second = left > 0 or not averages  # the last element again changes no maximum
                for c in range(CHANNELS):
                    other = none if averages else best[c]
                    kept[c] = x[np.uint32(at + c * facts[1])] if c < facts[32] else other
                    kept[CHANNELS + c] = x[np.uint32(after + c * facts[1])] if second and c < facts[32] else other
                for c in range(CHANNELS):
                    if averages:
                        best[c] += kept[c] + kept[CHANNELS + c]
                    else:
                        best[c] = kept[c] if (kept[c] > best[c]) | (kept[c] != kept[c]) else best[c]
                        value = kept[CHANNELS + c]
                        best[c] = value if (value > best[c]) | (value != value) else best[c]  # noqa: PLR0124 - nan
                at, left, column, row = next_of(after, left, column, row, held, facts)
            goal, apart = thread_goal(i, facts)
            for c in range(CHANNELS):
                if c < facts[32]:
                    out[np.uint32(goal + c * apart)] = best[c] / count if averages else best[c]

    reduce.__name__, reduce.__doc__ = name, doc
    return kernel((method,), f"T[::1], T[::1], {FACTS_TYPE}")(reduce)


pool_largest = _reduced(
    "pool_largest", "max_pool", averages=False, doc="Largest elements of windows; -inf where a window is all padding."
)
pool_means = _reduced(
    "pool_means", "average_pool", averages=True, doc="Means of windows, padding left out; nan where nothing is left."
)


@kernel(("max_pool_input",), f"T[::1], uint8[::1], {FACTS_TYPE}", f"T[::1], uint32[::1], {FACTS_TYPE}")
def pool_places(x: Any, out: Any, facts: Any) -> None:
    """Elements of out say which elements of their windows are the largest."""
    best = cuda.local.array(CHANNELS, x.dtype)
    numbers = cuda.local.array(CHANNELS, np.uint32)
    i = np.uint32(cuda.blockIdx.x * THREADS + cuda.threadIdx.x)
    if i < facts[0]:
        some = first_largest(x, i, facts, best, numbers)
        goal, apart = thread_goal(i, facts)
        for c in range(CHANNELS):
            if c < facts[32]:
                out[np.uint32(goal + c * apart)] = out.dtype.type(numbers[c] if some else np.uint32(NOWHERE))
