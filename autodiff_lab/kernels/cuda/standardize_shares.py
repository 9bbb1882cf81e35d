"""The shares of scale and offset in a cotangent of rows: sums over rows, column by column.

The means and roots of the rows are there already (`standardize_rows.slope_rows`), so that one more pass reads x and the
cotangent once: 8 bytes an element in float32.  A thread stays with its column, and goes through the rows of a piece;
then a team of threads for each column adds up its pieces, in a fixed order.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_lab.kernels.cuda.array import DeviceArray
from autodiff_lab.kernels.cuda.launching import cuda, empty, kernel, launch
from autodiff_lab.kernels.cuda.standardize_columns import columns
from autodiff_lab.kernels.cuda.standardize_pieces import AT_ONCE, BLOCK, column_of
from autodiff_lab.kernels.cuda.standardize_teams import TEAM, WARPS, team_bits, team_blocks, team_row, team_sum


@kernel(("normalize_slope",), "T[::1], T[::1], T[::1], T[::1], UniTuple(uint32, 7)")
def share_rows(g: Any, x: Any, facts: Any, measures: Any, sizes: Any) -> None:
    """Sums over the rows of a piece: of cotangents with standardized elements, and of cotangents."""
    of_scale = cuda.shared.array(BLOCK, x.dtype)
    of_offset = cuda.shared.array(BLOCK, x.dtype)
    kept = cuda.local.array(AT_ONCE, x.dtype)
    given = cuda.local.array(AT_ONCE, x.dtype)
    _, column, row, end, deep, there = column_of(sizes)
    zero = x.dtype.type(0)
    products, total = zero, zero
    step = np.uint32(deep * sizes[1])
    at = np.uint32(row * sizes[1] + column)
    while there and row < end:
        part, more = zero, zero
        for k in range(AT_ONCE):
            inside = np.uint32(row + k * deep) < end
            kept[k] = x[np.uint32(at + k * step)] if inside else zero
            given[k] = g[np.uint32(at + k * step)] if inside else zero
        for k in range(AT_ONCE):
            own = np.uint32(row + k * deep)
            if own < end:
                part += given[k] * ((kept[k] - facts[own]) * facts[np.uint32(sizes[0] + own)])
            more += given[k]
        products, total = products + part, total + more
        row = np.uint32(row + AT_ONCE * deep)
        at = np.uint32(at + AT_ONCE * step)
    thread = np.uint32(cuda.threadIdx.x)
    lane = np.uint32(thread // sizes[4])
    of_scale[thread], of_offset[thread] = products, total
    span = deep
    while span > 1:
        half = np.uint32((span + 1) // 2)
        cuda.syncthreads()
        if np.uint32(lane + half) < span:
            other = np.uint32(thread + half * sizes[4])
            of_scale[thread] += of_scale[other]
            of_offset[thread] += of_offset[other]
        span = half
    if there and lane == 0:
        own = np.uint32(np.uint32(cuda.blockIdx.x) // sizes[3] * sizes[1] + column)
        measures[own] = of_scale[thread]
        measures[np.uint32(measures.size // 2 + own)] = of_offset[thread]


@kernel(("normalize_slope",), "T[::1], T[::1], uint32, uint32, uint32")
def add_pieces(measures: Any, made: Any, pieces: Any, width: Any, bits: Any) -> None:
    """Element i of made becomes the sum of its pieces; columns of the scale come first, then those of the offset."""
    parts = cuda.shared.array(WARPS, measures.dtype)
    own, there, lane = team_row(bits, np.uint32(made.size))
    which = np.uint32(own // width)
    first = np.uint32(np.uint32(which * pieces) * width + (own - which * width))
    total = measures.dtype.type(0)
    i = lane
    while i < pieces:
        total += measures[np.uint32(first + i * width)]
        i = np.uint32(i + (1 << bits))
    total = team_sum(total, parts, bits)
    if there and lane == 0:
        made[own] = total


def shares_of_rows(
    g: DeviceArray, x: DeviceArray, facts: DeviceArray, rows: int, length: int
) -> tuple[DeviceArray, DeviceArray]:
    """The shares of scale and offset, (length) each, from means and roots of rows of flat arrays."""
    how = columns((1, rows, length), 1, x.memory.multiprocessors)
    measures, made = empty(x, (2 * how.pieces * length,)), empty(x, (2 * length,))
    launch(share_rows, how.blocks, BLOCK, g, x, facts, measures, how.facts)
    bits = team_bits(how.pieces)
    sizes = map(np.uint32, (how.pieces, length, bits))
    launch(add_pieces, team_blocks(2 * length, bits), TEAM, measures, made, *sizes)
    return made[:length], made[length:]
