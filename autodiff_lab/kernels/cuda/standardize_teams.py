"""Teams: threads that add up one row together, as many as the row is worth.

A team is a power of 2 of neighbouring threads: up to 32, a warp, whose threads read each other's registers in five
steps without a barrier; or several warps, which meet in shared memory, and at most a block.  Every thread comes by the
same sum, in an order that hangs on nothing but the team's size: the same bits at every run.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_lab.kernels.cuda.launching import SIMULATED, cuda

WARP = 32
TEAM = 64 if SIMULATED else 256
"""Threads of a block of teams; two warps show in the simulator what eight do."""
WARPS = TEAM // WARP
KEPT = 16
"""Elements of a row that a thread keeps in registers: 512 for a warp, 4096 for a block."""
BIG_TEAM = TEAM.bit_length() - 1
"""Bits of the size of the largest team."""
_EVERY_LANE = 0xFFFFFFFF


@cuda.jit(device=True)
def team_sum(value: Any, parts: Any, bits: Any) -> Any:
    """The sum of the values of a team of 2^bits threads; all threads of the block must come here."""
    for step in range(5):
        if step < bits:
            value += cuda.shfl_xor_sync(_EVERY_LANE, value, 1 << step)
    if bits > 5:
        warp = np.uint32(cuda.threadIdx.x // WARP)
        if cuda.threadIdx.x % WARP == 0:
            parts[warp] = value
        cuda.syncthreads()
        warps = np.uint32(1 << (bits - 5))
        warp = np.uint32(warp - warp % warps)
        value = parts[warp]
        for other in range(1, WARPS):
            if other < warps:
                value += parts[np.uint32(warp + other)]
        cuda.syncthreads()  # or a quick warp would overwrite a part while a slow one reads it
    return value


@cuda.jit(device=True)
def team_row(bits: Any, rows: Any) -> Any:
    """The row of this thread's team, whether it is there, and the thread's place in the team.

    A team beyond the last row goes through that again and writes nothing, for its warp's shuffles need all lanes.
    """
    thread = np.uint32(cuda.blockIdx.x * TEAM + cuda.threadIdx.x)
    row = np.uint32(thread >> bits)
    lane = np.uint32(thread & ((1 << bits) - 1))
    return np.uint32(min(row, np.uint32(rows - 1))), row < rows, lane


def team_bits(length: int, kept: int = KEPT) -> int:
    """Bits of the size of the team for rows of a length, of which a thread is to keep so many elements."""
    if length <= WARP:
        return max(length - 1, 0).bit_length()
    return min(max(-(-length // kept) - 1, WARP - 1).bit_length(), BIG_TEAM)


def team_blocks(rows: int, bits: int) -> int:
    """Blocks of a grid with a team for each row."""
    return -(-rows * (1 << bits) // TEAM)
