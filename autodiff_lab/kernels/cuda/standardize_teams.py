"""Teams: threads that add up one row together, as many as the row is worth.

A team is a power of 2 of neighbouring threads: up to 32, a warp, whose threads read each other's registers in five
steps without a barrier; or a block, whose warps meet in shared memory.  Every thread comes by the same sum, in an order
that hangs on nothing but the team's size: the same bits at every run.
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
"""Elements of a row that a thread keeps in registers: 4096 for a block."""
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
        if cuda.threadIdx.x % WARP == 0:
            parts[cuda.threadIdx.x // WARP] = value
        cuda.syncthreads()
        value = parts[0]
        for warp in range(1, WARPS):
            value += parts[warp]
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


def team_bits(length: int) -> int:
    """Bits of the size of the team for rows of a length: a warp's threads keep up to 512 elements."""
    return BIG_TEAM if length > WARP * KEPT else min(max(length - 1, 0).bit_length(), 5)


def team_blocks(rows: int, bits: int) -> int:
    """Blocks of a grid with a team for each row."""
    return -(-rows * (1 << bits) // TEAM)
