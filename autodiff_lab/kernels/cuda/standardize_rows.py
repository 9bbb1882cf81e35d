"""Rows brought to mean 0 and variance 1: a team of threads for each row (`standardize_teams`).

Two passes over a row in registers, the mean first, then squares about it, so that nothing cancels.  Rows of up to 4096
elements stay in registers; what is longer is read again for each pass, from the caches as long as the rows that are
under way fit there.

Traffic: one pass to read and one to write, 8 bytes an element in float32.  Occupancy, in float32 on sm_90: 56 registers
a thread, four blocks of 256 threads on a multiprocessor, sixteen loads under way in each thread: 64 kB, where some
25 kB keep the memory of a multiprocessor busy.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_lab.kernels.cuda.array import DeviceArray
from autodiff_lab.kernels.cuda.launching import cuda, empty, kernel, launch, math
from autodiff_lab.kernels.cuda.standardize_teams import (
    KEPT,
    TEAM,
    WARP,
    WARPS,
    team_bits,
    team_blocks,
    team_row,
    team_sum,
)


@cuda.jit(device=True)
def first_of(row: Any, lane: Any, length: Any, bits: Any) -> Any:
    """Where a thread begins, in the array and in its row, how much of the row is left there, and how far it goes on.

    A warp keeps 512 elements that lie in a row, so that a thread's are 32 apart: the hardware adds that for nothing.
    """
    start = np.uint32((lane >> 5) * (KEPT * WARP) + (lane & 31))
    wide = KEPT << 5 if bits < 5 else KEPT << bits
    left = np.int32(np.int32(length) - np.int32(start))
    return np.uint64(np.uint32(row * length + start)), np.uint64(start), left, np.int32(wide)


@cuda.jit(device=True)
def mean_and_squares(x: Any, kept: Any, parts: Any, at: Any, left: Any, wide: Any, count: Any, bits: Any) -> Any:
    """The mean of a row, and the sum of the squared distances from it; the team keeps what it can of the row."""
    zero = x.dtype.type(0)
    total = zero
    for k in range(KEPT):
        kept[k] = x[at + np.uint64(k * WARP)] if k * WARP < left else zero
        total += kept[k]
    further, more = at + np.uint64(wide), np.int32(left - wide)
    while more > 0:
        part = zero
        for k in range(KEPT):
            part += x[further + np.uint64(k * WARP)] if k * WARP < more else zero
        total += part
        further, more = further + np.uint64(wide), np.int32(more - wide)
    mean = team_sum(total, parts, bits) / count
    total = zero
    for k in range(KEPT):
        away = kept[k] - mean if k * WARP < left else zero
        total += away * away
    further, more = at + np.uint64(wide), np.int32(left - wide)
    while more > 0:
        part = zero
        for k in range(KEPT):
            away = x[further + np.uint64(k * WARP)] - mean if k * WARP < more else zero
            part += away * away
        total += part
        further, more = further + np.uint64(wide), np.int32(more - wide)
    return mean, team_sum(total, parts, bits)


@kernel(("moments",), "T[::1], T[::1], T[::1], uint32, uint32, uint32")
def moments_rows(x: Any, means: Any, variances: Any, rows: Any, length: Any, bits: Any) -> None:
    """Mean and variance of each row."""
    parts = cuda.shared.array(WARPS, x.dtype)
    kept = cuda.local.array(KEPT, x.dtype)
    row, there, lane = team_row(bits, rows)
    at, _, left, wide = first_of(row, lane, length, bits)
    count = x.dtype.type(length)
    mean, squares = mean_and_squares(x, kept, parts, at, left, wide, count, bits)
    if there and lane == 0:
        means[row] = mean
        variances[row] = squares / count


@kernel(("standardize", "normalize"), "T[::1], T[::1], T[::1], T[::1], T, uint32, uint32, uint32, uint32")
def standardize_rows(
    x: Any, scale: Any, offset: Any, made: Any, epsilon: Any, scaled: Any, rows: Any, length: Any, bits: Any
) -> None:
    """(x - mean) / √(variance + epsilon) of each row, times the scale and plus the offset where it is scaled."""
    parts = cuda.shared.array(WARPS, x.dtype)
    kept = cuda.local.array(KEPT, x.dtype)
    row, there, lane = team_row(bits, rows)
    at, own, left, wide = first_of(row, lane, length, bits)
    count = x.dtype.type(length)
    mean, squares = mean_and_squares(x, kept, parts, at, left, wide, count, bits)
    root = x.dtype.type(1) / math.sqrt(squares / count + epsilon)
    left = left if there else np.int32(0)
    while left > 0:
        for k in range(KEPT):
            kept[k] = (kept[k] - mean) * root
        if scaled != 0:  # before anything is written, so that all loads are under way together
            for k in range(KEPT):
                if k * WARP < left:
                    kept[k] = kept[k] * scale[own + np.uint64(k * WARP)] + offset[own + np.uint64(k * WARP)]
        for k in range(KEPT):
            if k * WARP < left:
                made[at + np.uint64(k * WARP)] = kept[k]
        at, own, left = at + np.uint64(wide), own + np.uint64(wide), np.int32(left - wide)
        if left > 0:
            for k in range(KEPT):
                kept[k] = x[at + np.uint64(k * WARP)] if k * WARP < left else mean


def row_sizes(rows: int, length: int) -> tuple[int, Any]:
    """Blocks of a grid, and what kernels are told: rows, their length, and the bits of the size of a team."""
    bits = team_bits(length)
    return team_blocks(rows, bits), tuple(map(np.uint32, (rows, length, bits)))


def moments_of_rows(x: DeviceArray, rows: int, length: int) -> tuple[DeviceArray, DeviceArray]:
    """Means and variances of rows of a flat array."""
    means, variances = empty(x, (rows,)), empty(x, (rows,))
    blocks, sizes = row_sizes(rows, length)
    launch(moments_rows, blocks, TEAM, x, means, variances, *sizes)
    return means, variances


def rows_standardized(
    x: DeviceArray, scaling: tuple[DeviceArray, DeviceArray] | None, epsilon: float, rows: int, length: int
) -> DeviceArray:
    """Rows of a flat array brought to mean 0 and variance 1, then scaled if a scale and an offset are given."""
    made, (blocks, sizes) = empty(x, x.shape), row_sizes(rows, length)
    small, scaled = x.dtype.type(epsilon), np.uint32(scaling is not None)
    launch(standardize_rows, blocks, TEAM, x, *(scaling or (x, x)), made, small, scaled, *sizes)
    return made
