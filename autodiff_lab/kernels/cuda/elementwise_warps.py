"""How threads fold what they found: those of a row, of a column, or all of a block, always in the same order.

Inside a warp values are exchanged by shuffles, between warps through shared memory: the same bits at every run.
"""

from __future__ import annotations

from typing import Any

from autodiff_lab.kernels.cuda.launching import THREADS, cuda, math

WARP = 32
ALL = 0xFFFFFFFF
"""The mask of a shuffle in which every thread of a warp takes part."""


@cuda.jit(device=True)
def larger(x: Any, y: Any) -> Any:
    """The larger of two numbers; nan if one is."""
    return x if x >= y or math.isnan(x) else y


@cuda.jit(device=True)
def smaller(x: Any, y: Any) -> Any:
    """The smaller of two numbers; nan if one is."""
    return x if x <= y or math.isnan(x) else y


@cuda.jit(device=True)
def add(x: Any, y: Any) -> Any:
    """Write x + y."""
    return x + y


@cuda.jit(device=True)
def multiply(x: Any, y: Any) -> Any:
    """Write x·y."""
    return x * y


def _in_row(step: Any) -> Any:
    """How the threads of a row, which are neighbours along x, fold what they found; every one of them gets it."""

    @cuda.jit(device=True)
    def fold(value: Any, held: Any) -> Any:
        width = cuda.blockDim.x
        apart = min(width, WARP) // 2
        while apart > 0:
            value = step(value, cuda.shfl_xor_sync(ALL, value, apart))
            apart //= 2
        if width > WARP:
            warps, lane = width // WARP, cuda.threadIdx.x
            first = cuda.threadIdx.y * warps
            if lane % WARP == 0:
                held[first + lane // WARP] = value
            cuda.syncthreads()
            value = held[first]
            for other in range(1, warps):
                value = step(value, held[first + other])
            cuda.syncthreads()  # or a quick warp would overwrite what a slow one reads
        return value

    return fold


def _in_block(step: Any) -> Any:
    """How all threads of a block fold what they found; every one of them gets it."""

    @cuda.jit(device=True)
    def fold(value: Any, held: Any) -> Any:
        apart = WARP // 2
        while apart > 0:
            value = step(value, cuda.shfl_xor_sync(ALL, value, apart))
            apart //= 2
        thread = cuda.threadIdx.y * cuda.blockDim.x + cuda.threadIdx.x
        if thread % WARP == 0:
            held[thread // WARP] = value
        cuda.syncthreads()
        value = held[0]
        for other in range(1, THREADS // WARP):
            value = step(value, held[other])
        cuda.syncthreads()
        return value

    return fold


def _in_column(step: Any) -> Any:
    """How the threads of a column, which lie along y, fold what they found; the first of them gets it."""

    @cuda.jit(device=True)
    def fold(value: Any, held: Any) -> Any:
        width, lane = cuda.blockDim.x, cuda.threadIdx.y
        place = lane * width + cuda.threadIdx.x
        held[place] = value
        cuda.syncthreads()
        apart = cuda.blockDim.y // 2
        while apart > 0:
            if lane < apart:
                held[place] = step(held[place], held[place + apart * width])
            cuda.syncthreads()
            apart //= 2
        value = held[place]
        cuda.syncthreads()
        return value

    return fold


add_in_row, multiply_in_row, largest_in_row, smallest_in_row = map(_in_row, (add, multiply, larger, smaller))
add_in_block, multiply_in_block, largest_in_block, smallest_in_block = map(_in_block, (add, multiply, larger, smaller))
add_in_column, multiply_in_column, largest_in_column, smallest_in_column = map(
    _in_column, (add, multiply, larger, smaller)
)
