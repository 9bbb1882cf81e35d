"""Groups of threads that take a row together: which threads they are, and the sums and maxima that they make.

A group of 2^bits threads takes a row: a few lanes of a warp where it is short, up to a block of 512 threads where it is
long.  Neighbouring threads take neighbouring elements.  A shuffle gives a thread the value of another thread of its
warp; five of them, each over half the distance of the one before, join 32 values, and every thread has the result.
Above a warp the parts meet in shared memory.  The order is always the same, so the bits are too.  What a thread reads
it keeps in registers, 8 elements at most, so that rows of up to 4,096 elements are read once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autodiff_lab.kernels.cuda.array import DeviceArray
from autodiff_lab.kernels.cuda.launching import MOST, SIMULATED, THREADS, cuda, kernel, launch, math

WARP = 32
ALL = 0xFFFFFFFF
"""The mask of a shuffle in which every lane takes part."""
LOWEST_DOUBLE, LOWEST_SINGLE = -1.7976931348623157e308, -3.4028234663852886e38


def _in_group(step: Any) -> Any:
    """Make what joins the values that the threads of a group bring; every one of them gets the result.

    Parts are shared memory for 32 values; all threads of the block must come here.
    """

    @cuda.jit(device=True)
    def join(value: Any, parts: Any, bits: Any) -> Any:
        apart = min(1 << bits, WARP) >> 1
        while apart > 0:
            value = step(value, cuda.shfl_xor_sync(ALL, value, apart))
            apart >>= 1
        if bits > 5:
            thread, apart = cuda.threadIdx.x & 1023, 1 << (bits - 5)
            parts[thread >> 5] = value
            cuda.syncthreads()
            value = parts[((thread >> bits) << (bits - 5)) + (thread & (apart - 1))]
            cuda.syncthreads()  # or a quick warp would overwrite parts while a slow one reads them
            apart >>= 1
            while apart > 0:
                value = step(value, cuda.shfl_xor_sync(ALL, value, apart))
                apart >>= 1
        return value

    return join


@cuda.jit(device=True)
def add(x: Any, y: Any) -> Any:
    """Return x + y."""
    return x + y


@cuda.jit(device=True)
def larger(x: Any, y: Any) -> Any:
    """Return the larger of two numbers; x where y is nan."""
    return max(x, y)


group_sum, group_largest = _in_group(add), _in_group(larger)
"""The sum, and the largest, of what the threads of a group bring; for the largest none of it may be nan."""


@cuda.jit(device=True)
def lowest(like: Any) -> Any:
    """The lowest finite number of an array's dtype: a first guess at a maximum, from which exp(-inf - guess) is 0."""
    low = like.dtype.type(LOWEST_DOUBLE)
    return like.dtype.type(LOWEST_SINGLE) if math.isinf(low) else low


KEPT = 2 if SIMULATED else 8
"""Elements of a row that a thread keeps in registers."""
MOST_THREADS = 64 if SIMULATED else 512
"""Threads of a block, at most: each may use 128 registers then."""
TOGETHER = 128 if SIMULATED else THREADS
"""Threads of a block in which several groups of more than a warp take a row each."""
MOST_STEP = 2047
"""A mask for the number of threads of a row; by it the compiler knows that no index is negative."""


class RowKernel:
    """A kernel over rows, each taken by a group of threads."""

    def __init__(self, run: Callable[..., None], serves: tuple[str, ...], signatures: tuple[str, ...]) -> None:
        self.kernel = kernel(serves, *signatures, launch_bounds=MOST_THREADS)(run)

    def launch(self, rows: int, length: int, *arguments: Any) -> None:
        """Run it with the arguments, then rows, length and twice the logarithm of the threads of a row."""
        lanes = 1
        while lanes < MOST_THREADS and length > KEPT * lanes:
            lanes *= 2
        threads, bits = max(lanes, TOGETHER if lanes > WARP else THREADS), lanes.bit_length() - 1
        launch(self.kernel, -(-rows * lanes // threads), threads, *arguments, rows, length, bits, bits)


def row_kernel(serves: tuple[str, ...], *signatures: str) -> Callable[[Callable[..., None]], RowKernel]:
    """Declare a kernel over rows.

    Its last four arguments are int32: rows, length and twice the logarithm of the threads a row; the compiler does not
    know that they are the same, or it would hold the addresses that it read until it writes, two registers each.
    """
    types = tuple([f"{s}, int32, int32, int32, int32" for s in signatures])
    return lambda run: RowKernel(run, serves, types)


@cuda.jit(device=True)
def place(rows: Any, length: Any, bits: Any) -> Any:
    """The row of a thread, where its first element lies, and how many it takes, 2^bits apart.

    Masks tell the compiler that no index is negative; it would look for those that count from the end.
    """
    lanes = (1 << bits) & MOST_STEP
    lane = cuda.threadIdx.x & (lanes - 1) & 1023
    row = cuda.blockIdx.x * (cuda.blockDim.x >> bits) + (cuda.threadIdx.x >> bits)
    count = ((length - lane + lanes - 1) >> bits) if row < rows else 0
    return row & MOST, ((row * length) & MOST) + lane, count


def as_rows(x: DeviceArray, axis: int) -> tuple[DeviceArray, int, int]:
    """Return the elements with `axis` last and in a row, the number of rows and their length."""
    moved = x if axis == -1 else x.memory.wrap(x.memory.module.moveaxis(x.raw, axis, -1))
    flat = x.memory.wrap(x.memory.module.ascontiguousarray(moved.raw).reshape(-1))
    length = x.shape[axis]
    return flat, (x.size // length if length else 0), length


def from_rows(flat: DeviceArray, shape: tuple[int, ...], axis: int) -> DeviceArray:
    """Return an array of `shape` whose elements lie in `flat` with `axis` last."""
    if axis == -1:
        return flat.reshape(shape)
    moved = list(shape)
    moved.append(moved.pop(axis))
    return flat.memory.wrap(flat.memory.module.moveaxis(flat.raw.reshape(moved), -1, axis))
