"""How the threads of a block share the entries of one place: what kernels over runs do with longer ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_lab.kernels.cuda.launching import SIMULATED, cuda
from autodiff_lab.kernels.cuda.reductions_operations import Operation

LONG = 32 if SIMULATED else 2048
"""Entries of a place beyond which several blocks share it."""


@cuda.jit(device=True)
def _element(g: Any, order: Any, slot: Any, stop: Any, base: Any, inner: Any, column: Any, nothing: Any) -> Any:
    """An element of the entry in a slot, or what changes nothing if the slot is not below `stop`."""
    return g[np.uint32((base + order[np.uint32(slot)]) * inner + column)] if slot < stop else nothing


def shared_of(operation: Operation) -> Any:
    """The device function in which `deep` threads take the entries of slots start to stop."""
    start_of, nothing, many, together, _ = operation

    @cuda.jit(device=True)
    def shared(
        g: Any, order: Any, start: Any, stop: Any, base: Any, inner: Any, column: Any, row: Any, wide: Any, deep: Any
    ) -> Any:
        state, none = start_of(g), nothing(g)
        slot = start + row if row < deep and column < inner else stop
        while slot < stop:
            state = many(
                state,
                _element(g, order, slot, stop, base, inner, column, none),
                _element(g, order, slot + deep, stop, base, inner, column, none),
                _element(g, order, slot + 2 * deep, stop, base, inner, column, none),
                _element(g, order, slot + 3 * deep, stop, base, inner, column, none),
                _element(g, order, slot + 4 * deep, stop, base, inner, column, none),
                _element(g, order, slot + 5 * deep, stop, base, inner, column, none),
                _element(g, order, slot + 6 * deep, stop, base, inner, column, none),
                _element(g, order, slot + 7 * deep, stop, base, inner, column, none),
            )
            slot += 8 * deep
        cuda.syncthreads()  # the tree's memory may still be read from the run before
        return together(g, state, cuda.threadIdx.x, row, wide, deep)

    return shared
