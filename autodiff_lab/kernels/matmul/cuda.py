"""Matrix products: the library's where CuPy can load it, else a kernel of ours.

On a GPU products are the work of cuBLAS, which CuPy calls; nothing here is faster.  Where cuBLAS is not installed
(`cuda.library`) `product_tiles` takes over: a block computes 16 x 16 numbers of the result, one a thread, and its
threads share what they read.

Traffic: without tiles every number of x is read n times and every one of y m times.  Tiles of 16 read them n/16 and
m/16 times, 4 bytes for 2·16 operations.  Occupancy: 5 or more blocks of 256 threads on a multiprocessor, which wait for
shared memory, 2 reads for each multiplication.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from autodiff_lab.kernels.cuda.array import DeviceArray
from autodiff_lab.kernels.cuda.launching import SIMULATED, blocks_for, check_size, cuda, empty, flat, kernel, launch
from autodiff_lab.kernels.cuda.library import library_works

TILE = 4 if SIMULATED else 16
"""Rows and columns of a tile of `product_tiles`, whose block has a thread for each number of it."""
MOST_STACKED = 65535
"""Blocks along the second axis of a grid; longer stacks take several launches."""


@kernel(("matmul",), "T[::1], T[::1], T[::1], int32, int32, int32, int32, int32")
def product_tiles(x: Any, y: Any, out: Any, m: Any, k: Any, n: Any, x_step: Any, y_step: Any) -> None:
    """Of each matrix of a stack, out (m, n) = x (m, k) @ y (k, n), a tile of it for each block.

    A matrix of x begins x_step after the one before it, or all are the same where x_step is 0; y likewise.
    """
    x_tile = cuda.shared.array((TILE, TILE), x.dtype)
    y_tile = cuda.shared.array((TILE, TILE), x.dtype)
    across, down = cuda.threadIdx.x, cuda.threadIdx.y
    tiles = (n + TILE - 1) // TILE
    row = cuda.blockIdx.x // tiles * TILE + down
    column = cuda.blockIdx.x % tiles * TILE + across
    matrix = cuda.blockIdx.y
    x_first, y_first = matrix * x_step, matrix * y_step
    nothing = x.dtype.type(0)
    total = nothing
    for start in range(0, k, TILE):
        # Each thread brings one number of x and one of y; outside the matrices there are zeros.
        x_there, y_there = row < m and start + across < k, column < n and start + down < k
        x_tile[down, across] = x[x_first + row * k + start + across] if x_there else nothing
        y_tile[down, across] = y[y_first + (start + down) * n + column] if y_there else nothing
        cuda.syncthreads()  # all of the tile is there
        for step in range(TILE):
            total += x_tile[down, step] * y_tile[step, across]
        cuda.syncthreads()  # it is not needed any more
    if row < m and column < n:
        out[(matrix * m + row) * n + column] = total


def matmul(x: DeviceArray, y: DeviceArray) -> Any:
    """Multiply x by y where no library does it, as `blas.product`."""
    return NotImplemented if library_works(x.memory) else by_kernel(x, y)


def by_kernel(x: DeviceArray, y: DeviceArray) -> Any:
    """Multiply x by y by our kernel.

    Parameters
    ----------
    x, y : DeviceArray
        Of one dtype, float32 or float64; vectors, matrices or stacks of matrices, which broadcast.

    Returns
    -------
    DeviceArray or NotImplemented
        The same bits at every run; NotImplemented for other dtypes, and for shapes that do not go together.
    """
    if x.dtype != y.dtype or x.dtype.char not in "fd" or not (x.ndim and y.ndim):
        return NotImplemented
    left, right = x.shape if x.ndim > 1 else (1, *x.shape), y.shape if y.ndim > 1 else (*y.shape, 1)
    if left[-1] != right[-2]:
        return NotImplemented
    try:
        stack = np.broadcast_shapes(left[:-2], right[:-2])
    except ValueError:
        return NotImplemented
    shape = (*stack, *x.shape[-2:-1], *(y.shape[-1:] if y.ndim > 1 else ()))
    check_size("matmul", left, right, shape)
    out = empty(x, shape)
    if out.size:
        _multiply(_Stack(x.reshape(left), stack), _Stack(y.reshape(right), stack), out.reshape(-1))
    return out


class _Stack:
    """Matrices behind each other in memory; `step` is the way from one to the next, 0 if one stands for all."""

    def __init__(self, x: DeviceArray, stack: tuple[int, ...]) -> None:
        lead = x.shape[:-2]
        self.count, (self.rows, self.columns) = prod(stack), x.shape[-2:]
        self.step = 0 if prod(lead) == 1 else self.rows * self.columns
        whole = x.memory.module.broadcast_to(x.raw, (*stack, *x.shape[-2:])) if self.step and lead != stack else x.raw
        self.numbers = flat(x.memory.wrap(whole))

    def after(self, first: int) -> DeviceArray:
        """Return the numbers from a matrix on."""
        return self.numbers[first * self.step :]


def _multiply(x: _Stack, y: _Stack, out: DeviceArray) -> None:
    m, k, n, count, x_step = x.rows, x.columns, y.columns, x.count, x.step
    if not y.step:  # many matrices times one are a single matrix of all their rows, unless one stands for all
        m, count, x_step = (m * count, 1, 0) if x_step else (m, count, x_step)
    blocks = blocks_for(m, TILE) * blocks_for(n, TILE)
    for first in range(0, count, MOST_STACKED):
        grid = blocks, min(count - first, MOST_STACKED)
        arguments = x.after(first), y.after(first), out[first * m * n :], m, k, n, x_step, y.step
        launch(product_tiles, grid, (TILE, TILE), *arguments)
