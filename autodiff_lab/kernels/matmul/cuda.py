"""Matrix products: the library's where CuPy can load it, else two kernels of ours.

On a GPU products are cuBLAS's work, which CuPy calls; nothing here is faster.  Where cuBLAS is not installed
(`products_library`) these kernels take over.  `product_tiles` is the one to read: a block computes 16 x 16 numbers of
the result, one a thread, and shares what it reads.  `product_blocks` does the same with 64 numbers a thread.

Traffic: without tiles every number of x is read n times and every one of y m times.  Tiles of 16 read them n/16 and
m/16 times, 4 bytes for 2·16 operations; blocks of 128 once for 2·128.  Occupancy:
`product_tiles` runs 5 or more blocks of 256 threads on a multiprocessor and waits for shared memory, 2 reads for each
multiplication.  `product_blocks` has 64 sums and 16 factors of each thread in up to 128 registers, so that 2 blocks of
256 threads fit; 10 reads of shared memory for 64 multiplications leave the arithmetic units some two thirds of their
time.  In float64 there is room for one block.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from autodiff_lab.kernels.cuda.array import DeviceArray
from autodiff_lab.kernels.cuda.launching import (
    SIMULATED,
    Kernel,
    blocks_for,
    check_size,
    cuda,
    empty,
    flat,
    kernel,
    launch,
)
from autodiff_lab.kernels.cuda.library import library_works

TILE = 4 if SIMULATED else 16
"""Rows and columns of a tile of `product_tiles`, whose block has a thread for each number of it."""
RUN = 2 if SIMULATED else 4
"""Neighbouring rows of a thread of `product_blocks`: 16 bytes of float32, one read of shared memory."""
EACH = 2 * RUN
"""Rows and columns that a thread computes: RUN rows in either half of its block's, columns SIDE apart."""
SIDE = 4 if SIMULATED else 16
"""Rows and columns of the square in which the threads of its block stand."""
BLOCK = SIDE * EACH
"""Rows and columns of the result that its block computes."""
HALF = BLOCK // 2
PADDED = BLOCK + RUN
"""Numbers between the rows of a slice of x that is written down its columns, so that writes meet different banks."""
DEPTH = 8
"""How many numbers of each row and column its block holds in shared memory at a time."""
THREADS = SIDE * SIDE
LOADS = BLOCK * DEPTH // THREADS
"""Numbers that each thread brings of either matrix."""
X_ROWS, Y_ROWS = THREADS // DEPTH, THREADS // BLOCK
"""Rows between them."""
BLOCKS_PAY = 2
"""Blocks of `product_blocks` for each multiprocessor from which on it runs; smaller results are spread in tiles."""
MOST_STACKED = 65535
"""Blocks along the second axis of a grid; longer stacks take several launches."""
SIGNATURE = "T[::1], T[::1], T[::1], int32, int32, int32, int32, int32"


@kernel(("matmul",), SIGNATURE)
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
        cuda.syncthreads()  # nobody needs it any more
    if row < m and column < n:
        out[(matrix * m + row) * n + column] = total


@kernel(("matmul",), SIGNATURE)
def product_blocks(  # noqa: C901 - loops over what a thread holds are unrolled
    x: Any, y: Any, out: Any, m: Any, k: Any, n: Any, x_step: Any, y_step: Any
) -> None:
    """The same; each thread computes EACH x EACH numbers, in rows beside each other and columns SIDE apart."""
    x_slice = cuda.shared.array((DEPTH, PADDED), x.dtype, alignment=16)
    y_slice = cuda.shared.array((DEPTH, BLOCK), x.dtype)
    totals = cuda.local.array((EACH, EACH), x.dtype)
    x_now = cuda.local.array(EACH, x.dtype)
    y_now = cuda.local.array(EACH, x.dtype)
    thread = cuda.threadIdx.x
    across, down = thread % SIDE, thread // SIDE * RUN
    blocks = (n + BLOCK - 1) // BLOCK
    first_row = cuda.blockIdx.x // blocks * BLOCK
    first_column = cuda.blockIdx.x % blocks * BLOCK
    x_row, x_column = thread // DEPTH, thread % DEPTH  # what this thread brings of a slice, and X_ROWS further down
    y_row, y_column = thread // BLOCK, thread % BLOCK
    matrix = cuda.blockIdx.y
    x_at = matrix * x_step + (first_row + x_row) * k + x_column
    y_at = matrix * y_step + y_row * n + first_column + y_column
    nothing = x.dtype.type(0)
    for i in range(EACH):
        for j in range(EACH):
            totals[i, j] = nothing
    for start in range(0, k, DEPTH):
        for load in range(LOADS):
            there = first_row + x_row + load * X_ROWS < m and start + x_column < k
            x_slice[x_column, x_row + load * X_ROWS] = x[x_at + load * X_ROWS * k] if there else nothing
            there = first_column + y_column < n and start + y_row + load * Y_ROWS < k
            y_slice[y_row + load * Y_ROWS, y_column] = y[y_at + load * Y_ROWS * n] if there else nothing
        cuda.syncthreads()
        for step in range(DEPTH):
            for i in range(RUN):
                x_now[i] = x_slice[step, down + i]
                x_now[RUN + i] = x_slice[step, HALF + down + i]
            for j in range(EACH):
                y_now[j] = y_slice[step, across + j * SIDE]
            for i in range(EACH):
                for j in range(EACH):
                    totals[i, j] += x_now[i] * y_now[j]
        cuda.syncthreads()
        x_at += DEPTH
        y_at += DEPTH * n
    for i in range(EACH):
        row = first_row + i // RUN * HALF + down + i % RUN
        for j in range(EACH):
            column = first_column + across + j * SIDE
            if row < m and column < n:
                out[(matrix * m + row) * n + column] = totals[i, j]


def matmul(x: DeviceArray, y: DeviceArray) -> Any:
    """Multiply x by y where no library does it, as `blas.by_library`."""
    return NotImplemented if library_works(x.memory) else by_kernels(x, y)


def by_kernels(x: DeviceArray, y: DeviceArray, run: Kernel | None = None) -> Any:
    """Multiply x by y by a kernel of ours: that of large blocks where there are enough of them for the whole GPU.

    Parameters
    ----------
    x, y : DeviceArray
        Of one dtype, float32 or float64; vectors, matrices or stacks of matrices, which broadcast.
    run : Kernel, optional
        `product_tiles` or `product_blocks`.

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
        _multiply(_Stack(x.reshape(left), stack), _Stack(y.reshape(right), stack), out.reshape(-1), run)
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


def _multiply(x: _Stack, y: _Stack, out: DeviceArray, run: Kernel | None) -> None:
    m, k, n, count, x_step = x.rows, x.columns, y.columns, x.count, x.step
    if not y.step:  # many matrices times one are a single matrix of all their rows, unless one stands for all
        m, count, x_step = (m * count, 1, 0) if x_step else (m, count, x_step)
    blocks = blocks_for(m, BLOCK) * blocks_for(n, BLOCK)
    if run is None:
        run = product_blocks if blocks * count >= BLOCKS_PAY * out.memory.multiprocessors else product_tiles
    if run is product_tiles:
        blocks = blocks_for(m, TILE) * blocks_for(n, TILE)
    for first in range(0, count, MOST_STACKED):
        grid = blocks, min(count - first, MOST_STACKED)
        arguments = x.after(first), y.after(first), out[first * m * n :], m, k, n, x_step, y.step
        if run is product_tiles:
            launch(product_tiles, grid, (TILE, TILE), *arguments)
        else:
            launch(product_blocks, grid, THREADS, *arguments)
