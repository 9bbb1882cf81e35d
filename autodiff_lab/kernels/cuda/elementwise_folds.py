"""The second stage of a sum: what blocks left in memory, put together in another launch, as blocks do not wait.

Traffic: `count` rows of `columns` numbers are read once, a few MB at most, which the second-level cache still holds.
Occupancy: 256 threads, 1 or 2 kB of shared memory a block, some 30 registers; four reads under way in each thread.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autodiff_lab.kernels.cuda.array import DeviceArray
from autodiff_lab.kernels.cuda.elementwise_warps import (
    WARP,
    add,
    add_in_column,
    larger,
    largest_in_column,
    multiply,
    multiply_in_column,
    smaller,
    smallest_in_column,
)
from autodiff_lab.kernels.cuda.launching import SIMULATED, THREADS, Kernel, cuda, kernel, launch

BLOCKS = 4 if SIMULATED else 4096
"""Blocks of a grid that reduces, at most: six rounds of a large GPU, of which the last may be nearly empty; the same on
every GPU, so that sums have the same bits on all of them."""


def _fold(name: str, step: Any, in_column: Any, start: float) -> Kernel:
    """The kernel of the second stage: `count` rows of parts become one."""

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
    declare: Callable[[Callable[..., None]], Kernel] = kernel(("fused",), "T[::1], T[::1], int32, int32, T")
    return declare(fold)


FOLDS = {
    "sum": _fold("fold_sums", add, add_in_column, 0.0),
    "prod": _fold("fold_products", multiply, multiply_in_column, 1.0),
    "max": _fold("fold_largest", larger, largest_in_column, -np.inf),
    "min": _fold("fold_smallest", smaller, smallest_in_column, np.inf),
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
