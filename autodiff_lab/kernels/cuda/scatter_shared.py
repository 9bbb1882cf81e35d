"""How the threads of a block share the entries of one place: what kernels over runs do with longer ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_lab.kernels.cuda.launching import SIMULATED, cuda
from autodiff_lab.kernels.cuda.reductions_operations import Operation

LONG = 32 if SIMULATED else 2048
"""Entries of a place beyond which several blocks share it."""
SHORT = 4 if SIMULATED else 16
"""Entries of a place up to which its threads take them one after the other."""


def shared_of(operation: Operation) -> Any:
    """The device function in which `deep` threads take the entries of slots start to stop."""
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
            state = many(
                state, elements[0], elements[1], elements[2], elements[3], elements[4], elements[5], elements[6],
                elements[7],
            )  # fmt: skip
            slot += 8 * deep
        cuda.syncthreads()  # the tree's memory may still be read from the run before
        return together(g, state, place, row, wide, deep)

    return shared


def shares_of(operation: Operation) -> Any:
    """The device function in which a block takes those of its places that are met between SHORT and LONG times."""
    shared = shared_of(operation)

    @cuda.jit(device=True)
    def shares(
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

    return shares
