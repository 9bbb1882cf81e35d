"""Tiles of lines: a stretch of each that a group of threads copies to shared memory, and back.

Neighbouring threads copy neighbouring elements; afterwards each works on 8 consecutive ones.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_lab.kernels.cuda.launching import MOST, SIMULATED, cuda
from autodiff_lab.kernels.cuda.rows import MOST_STEP

ITEMS = 2 if SIMULATED else 8
"""Elements that a thread takes of a tile."""
BLOCK = 64 if SIMULATED else 256
"""Threads of a block."""
TILE = BLOCK * ITEMS
ROOM = TILE + TILE // 32
"""Shared memory for a tile: a gap after every 32 elements, so that threads 8 elements apart meet different banks."""


@cuda.jit(device=True)
def gapped(i: Any) -> Any:
    """Where element i of a tile lies in shared memory."""
    return i + (i >> 5)


@cuda.jit(device=True)
def quotient(n: Any, d: Any) -> Any:
    """N // d, of numbers that 31 bits hold: a division of 64-bit numbers costs a hundred instructions."""
    return np.int64(np.uint32(n) // np.uint32(d))


@cuda.jit(device=True)
def load_tile(
    x: Any, line: Any, length: Any, held: Any, own: Any, base: Any, stop: Any, bits: Any, reverse: Any
) -> None:
    """Copy a tile of a line to a group's place in shared memory; positions count from the end that is scanned first."""
    lanes = (1 << bits) & MOST_STEP
    lane = cuda.threadIdx.x & (lanes - 1) & 1023
    for k in range(ITEMS):
        i = k * lanes + lane
        if base + i < stop:
            at = length - 1 - base - i if reverse else base + i
            held[gapped(own + i)] = x[(line * length + at) & MOST]


@cuda.jit(device=True)
def store_tile(
    made: Any, line: Any, length: Any, held: Any, own: Any, base: Any, stop: Any, bits: Any, exclusive: Any,
    none: Any, reverse: Any,
) -> None:  # fmt: skip
    """Copy a tile to its line, or where `exclusive` is 1 to one place further, with nothing at the first."""
    lanes = (1 << bits) & MOST_STEP
    lane = cuda.threadIdx.x & (lanes - 1) & 1023
    if exclusive and base + lane == 0 and stop > 0:
        made[(line * length + (length - 1 if reverse else 0)) & MOST] = none
    for k in range(ITEMS):
        i = k * lanes + lane
        to = base + i + exclusive
        if base + i < stop and to < length:
            at = length - 1 - to if reverse else to
            made[(line * length + at) & MOST] = held[gapped(own + i)]
