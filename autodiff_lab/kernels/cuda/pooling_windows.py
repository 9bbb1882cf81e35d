"""Kernels of pooling with a thread for each window of four channels: largest elements, where they lie, means.

Neighbouring threads have neighbouring channels, so that a warp reads whole lines for each element of its windows.  A
thread goes through its window as through one list, two elements at a time: with four channels, eight loads are under
way together, for none of them hangs on a comparison.  Behind the end of the list the last element is met again, which
changes no maximum.

Traffic, for windows of 2x2 next to each other, in bytes for an element of x in float32: 4 read and 1 written.  Windows
that overlap find each other's elements in the first cache.  Occupancy: 32 to 48 registers a thread, five to eight
blocks of 256 threads on a multiprocessor, no shared memory; 40 kB under way, where some 25 kB keep its memory busy.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_lab.kernels.cuda.launching import THREADS, cuda, kernel
from autodiff_lab.kernels.cuda.pooling_geometry import CHANNELS, FACTS_TYPE, held_by, thread_goal

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
def first_largest(x: Any, i: Any, facts: Any, best: Any, found: Any, numbers: Any) -> Any:
    """Put the largest elements of a thread's window into best, of equals the first, and say whether there are any.

    Their places go into found, and into numbers where they are in the window, padding counted.
    """
    kept = cuda.local.array(KEPT, x.dtype)
    at, planes, rows, columns, first, line, plane = held_by(i, facts)
    held, left = (rows, columns, line, plane), np.uint32(planes * rows * columns)
    some = left > 0
    for c in range(CHANNELS):
        found[c], numbers[c] = np.uint32(at + c * facts[1]), first
        best[c] = x[found[c]] if some and c < facts[32] else x.dtype.type(0)
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
            found[c] = np.uint32(at + c * facts[1]) if better else found[c]
            numbers[c] = number if better else numbers[c]
            value = kept[CHANNELS + c]
            better = (value > best[c]) | ((value != value) & (best[c] == best[c]))  # noqa: PLR0124 - nan
            best[c] = value if better else best[c]
            found[c] = np.uint32(after + c * facts[1]) if better else found[c]
            numbers[c] = number_after if better else numbers[c]
        at, left, column, row = next_of(after, left, column, row, held, facts)
        depth = np.uint32(depth + (1 if column == 0 and row == 0 else 0))
    return some


@kernel(("max_pool",), f"T[::1], T[::1], {FACTS_TYPE}")
def pool_largest(x: Any, out: Any, facts: Any) -> None:
    """Elements of out become the largest of their windows; -inf where these hold nothing but padding."""
    best = cuda.local.array(CHANNELS, x.dtype)
    kept = cuda.local.array(KEPT, x.dtype)
    i = np.uint32(cuda.blockIdx.x * THREADS + cuda.threadIdx.x)
    if i < facts[0]:
        at, planes, rows, columns, _, line, plane = held_by(i, facts)
        held, left = (rows, columns, line, plane), np.uint32(planes * rows * columns)
        column, row = np.uint32(0), np.uint32(0)
        for c in range(CHANNELS):
            best[c] = x.dtype.type(-INFINITY)
        while left > 0:
            after, left, column, row = next_of(at, left, column, row, held, facts)
            for c in range(CHANNELS):
                kept[c] = x[np.uint32(at + c * facts[1])] if c < facts[32] else best[c]
                kept[CHANNELS + c] = x[np.uint32(after + c * facts[1])] if c < facts[32] else best[c]
            for c in range(CHANNELS):
                best[c] = kept[c] if (kept[c] > best[c]) | (kept[c] != kept[c]) else best[c]
                value = kept[CHANNELS + c]
                best[c] = value if (value > best[c]) | (value != value) else best[c]  # noqa: PLR0124 - nan
            at, left, column, row = next_of(after, left, column, row, held, facts)
        goal, apart = thread_goal(i, facts)
        for c in range(CHANNELS):
            if c < facts[32]:
                out[np.uint32(goal + c * apart)] = best[c]


@kernel(("max_pool_input",), f"T[::1], uint8[::1], {FACTS_TYPE}", f"T[::1], uint32[::1], {FACTS_TYPE}")
def pool_places(x: Any, out: Any, facts: Any) -> None:
    """Elements of out say which elements of their windows are the largest."""
    best = cuda.local.array(CHANNELS, x.dtype)
    found = cuda.local.array(CHANNELS, np.uint32)
    numbers = cuda.local.array(CHANNELS, np.uint32)
    i = np.uint32(cuda.blockIdx.x * THREADS + cuda.threadIdx.x)
    if i < facts[0]:
        some = first_largest(x, i, facts, best, found, numbers)
        goal, apart = thread_goal(i, facts)
        for c in range(CHANNELS):
            if c < facts[32]:
                out[np.uint32(goal + c * apart)] = out.dtype.type(numbers[c] if some else np.uint32(NOWHERE))


@kernel(("max_pool_pick",), f"T[::1], T[::1], T[::1], {FACTS_TYPE}")
def pool_pick(h: Any, x: Any, out: Any, facts: Any) -> None:
    """Elements of out become those of h where x has the largest of their windows; 0 for nothing but padding."""
    best = cuda.local.array(CHANNELS, x.dtype)
    found = cuda.local.array(CHANNELS, np.uint32)
    numbers = cuda.local.array(CHANNELS, np.uint32)
    i = np.uint32(cuda.blockIdx.x * THREADS + cuda.threadIdx.x)
    if i < facts[0]:
        some = first_largest(x, i, facts, best, found, numbers)
        for c in range(CHANNELS):
            best[c] = h[found[c]] if some and c < facts[32] else h.dtype.type(0)
        goal, apart = thread_goal(i, facts)
        for c in range(CHANNELS):
            if c < facts[32]:
                out[np.uint32(goal + c * apart)] = best[c]


@kernel(("average_pool",), f"T[::1], T[::1], {FACTS_TYPE}")
def pool_means(x: Any, out: Any, facts: Any) -> None:
    """Elements of out become the means of their windows, padding left out; nan where nothing is left."""
    totals = cuda.local.array(CHANNELS, x.dtype)
    kept = cuda.local.array(KEPT, x.dtype)
    i = np.uint32(cuda.blockIdx.x * THREADS + cuda.threadIdx.x)
    if i < facts[0]:
        at, planes, rows, columns, _, line, plane = held_by(i, facts)
        held, left = (rows, columns, line, plane), np.uint32(planes * rows * columns)
        column, row = np.uint32(0), np.uint32(0)
        zero, count = x.dtype.type(0), x.dtype.type(left)
        for c in range(CHANNELS):
            totals[c] = zero
        while left > 0:
            after, left, column, row = next_of(at, left, column, row, held, facts)
            for c in range(CHANNELS):
                kept[c] = x[np.uint32(at + c * facts[1])] if c < facts[32] else zero
                kept[CHANNELS + c] = x[np.uint32(after + c * facts[1])] if left > 0 and c < facts[32] else zero
            for c in range(CHANNELS):
                totals[c] += kept[c] + kept[CHANNELS + c]
            at, left, column, row = next_of(after, left, column, row, held, facts)
        goal, apart = thread_goal(i, facts)
        for c in range(CHANNELS):
            if c < facts[32]:
                out[np.uint32(goal + c * apart)] = totals[c] / count
