"""Sums and maxima that the threads of a group make together, by shuffles and, above a warp, shared memory.

A shuffle gives a thread the value of another one of its warp; five of them, each over half the distance of the one
before, join 32 values, and every thread has the result.  Groups are those of `rows`.
"""

from __future__ import annotations

from typing import Any

from autodiff_lab.kernels.cuda.launching import cuda, math

WARP = 32
ALL = 0xFFFFFFFF
"""The mask of a shuffle in which every lane takes part."""
LOWEST_DOUBLE, LOWEST_SINGLE = -1.7976931348623157e308, -3.4028234663852886e38


@cuda.jit(device=True)
def group_sum(value: Any, parts: Any, bits: Any) -> Any:
    """The sum of what the threads of a group bring; every one of them gets it.

    Parts are shared memory for 32 values; all threads of the block must come here.
    """
    step = min(1 << bits, WARP) >> 1
    while step > 0:
        value += cuda.shfl_xor_sync(ALL, value, step)
        step >>= 1
    if bits > 5:
        thread, step = cuda.threadIdx.x & 1023, 1 << (bits - 5)
        parts[thread >> 5] = value
        cuda.syncthreads()
        value = parts[((thread >> bits) << (bits - 5)) + (thread & (step - 1))]
        cuda.syncthreads()  # or a quick warp would overwrite parts while a slow one reads them
        step >>= 1
        while step > 0:
            value += cuda.shfl_xor_sync(ALL, value, step)
            step >>= 1
    return value


@cuda.jit(device=True)
def group_largest(value: Any, parts: Any, bits: Any) -> Any:
    """The largest of what the threads of a group bring, none of it nan; otherwise as `group_sum`."""
    step = min(1 << bits, WARP) >> 1
    while step > 0:
        value = larger(value, cuda.shfl_xor_sync(ALL, value, step))
        step >>= 1
    if bits > 5:
        thread, step = cuda.threadIdx.x & 1023, 1 << (bits - 5)
        parts[thread >> 5] = value
        cuda.syncthreads()
        value = parts[((thread >> bits) << (bits - 5)) + (thread & (step - 1))]
        cuda.syncthreads()
        step >>= 1
        while step > 0:
            value = larger(value, cuda.shfl_xor_sync(ALL, value, step))
            step >>= 1
    return value


@cuda.jit(device=True)
def larger(x: Any, y: Any) -> Any:
    """The larger of two numbers; x where y is nan."""
    return max(x, y)


@cuda.jit(device=True)
def lowest(like: Any) -> Any:
    """The lowest finite number of an array's dtype: a first guess at a maximum, from which exp(-inf - guess) is 0."""
    low = like.dtype.type(LOWEST_DOUBLE)
    return like.dtype.type(LOWEST_SINGLE) if math.isinf(low) else low
