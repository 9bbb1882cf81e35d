"""How threads fold what they found: those of a row, of a column, or all of a block, always in the same order.

Inside a warp values are exchanged by shuffles, between warps through shared memory: the same bits at every run.

The second stage of a sum: what blocks left in memory, put together in another launch, as blocks do not wait.

Traffic: `count` rows of `columns` numbers are read once, a few MB at most, which the second-level cache still holds.
Occupancy: 256 threads, 1 or 2 kB of shared memory a block, some 30 registers; four reads under way in each thread.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_lab.kernels.cuda.array import DeviceArray
from autodiff_lab.kernels.cuda.groups import ALL, WARP, add
from autodiff_lab.kernels.cuda.launching import SIMULATED, THREADS, Kernel, cuda, kernel, launch, math


@cuda.jit(device=True)
def larger(x: Any, y: Any) -> Any:
    """The larger of two numbers; nan if one is."""
    return x if x >= y or math.isnan(x) else y


@cuda.jit(device=True)
def smaller(x: Any, y: Any) -> Any:
    """The smaller of two numbers; nan if one is."""
    return x if x <= y or math.isnan(x) else y


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
    """Return how all threads of a block fold what they found; every one of them gets it."""

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
    """Return how the threads of a column, which lie along y, fold what they found; the first of them gets it."""

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


STEPS = {"add": add, "multiply": multiply, "largest": larger, "smallest": smaller}
IN_PLACES: dict[str, Any] = {
    f"{word}_in_{place}": made(step)
    for word, step in STEPS.items()
    for place, made in (("row", _in_row), ("column", _in_column), ("block", _in_block))
}
"""The device functions that fold, by their names in generated text, such as ``add_in_row``."""
BLOCKS = 4 if SIMULATED else 4096
"""Blocks of a grid that reduces, at most: six rounds of a large GPU, of which the last may be nearly empty; the same on
every GPU, so that sums have the same bits on all of them."""


def _fold(name: str, word: str, start: float) -> Kernel:
    """Return the kernel of the second stage: `count` rows of parts become one."""
    step, in_column = STEPS[word], IN_PLACES[f"{word}_in_column"]

    def fold(parts: Any, made: Any, count: Any, columns: Any, divisor: Any) -> None:
        """Fold the rows of parts into one, and divide it."""
        held = cuda.shared.array(THREADS, parts.dtype)
        column = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
        value, height = parts.dtype.type(start), cuda.blockDim.y
        if column < columns:
            row = cuda.threadIdx.y
            while row + 3 * height < count:  # four reads under way
                at = row * columns + column
                a, b = parts[at], parts[at + height * columns]
                c, d = parts[at + 2 * height * columns], parts[at + 3 * height * columns]
                value = step(value, step(step(a, b), step(c, d)))
                row += 4 * height
            while row < count:
                value = step(value, parts[row * columns + column])
                row += height
        value = in_column(value, held)
        if column < columns and cuda.threadIdx.y == 0:
            made[column] = value / divisor

    fold.__name__ = name
    return kernel(("fused",), "T[::1], T[::1], int32, int32, T")(fold)


FOLDS = {
    "sum": _fold("fold_sums", "add", 0.0),
    "prod": _fold("fold_products", "multiply", 1.0),
    "max": _fold("fold_largest", "largest", -np.inf),
    "min": _fold("fold_smallest", "smallest", np.inf),
}
FOLDS["mean"] = FOLDS["sum"]
"""The kernels of the second stage, by the name of the reduction."""


def folded(op: str, parts: DeviceArray, made: DeviceArray, count: int, columns: int, divisor: int) -> None:
    """Fold `count` rows of parts into the elements of `made`, and divide them by `divisor`."""
    width = 1
    while width < columns and width < min(WARP, THREADS):
        width *= 2
    number = parts.dtype.type
    launch(
        FOLDS[op], -(-columns // width), (width, THREADS // width), parts, made, np.int32(count), np.int32(columns),
        number(divisor),
    )  # fmt: skip
