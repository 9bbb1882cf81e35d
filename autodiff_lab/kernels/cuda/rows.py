"""What kernels over rows share: sums and maxima that the threads of one block make together.

A block's threads leave their parts in shared memory, and a tree adds them up in a fixed order: the same numbers in the
same order at every run, so the same bits.  A tree of 256 parts takes 8 steps with a barrier each, some 0.3 microseconds
that the reading of a row hides as soon as other blocks run beside it.
"""

from __future__ import annotations

from typing import Any

from autodiff_lab.kernels.cuda.array import DeviceArray
from autodiff_lab.kernels.cuda.launching import THREADS, cuda, math


@cuda.jit(device=True)
def add_up(parts: Any, lane: Any) -> Any:
    """The sum of the parts that the threads of a block left in shared memory; every thread gets it."""
    cuda.syncthreads()
    half = THREADS // 2
    while half > 0:
        if lane < half:
            parts[lane] += parts[lane + half]
        cuda.syncthreads()
        half //= 2
    total = parts[0]
    cuda.syncthreads()  # or a quick thread would overwrite parts[0] while a slow one reads it
    return total


@cuda.jit(device=True)
def largest(parts: Any, lane: Any) -> Any:
    """The largest of the parts, nan if one is; every thread gets it."""
    cuda.syncthreads()
    half = THREADS // 2
    while half > 0:
        if lane < half:
            other = parts[lane + half]
            if other > parts[lane] or math.isnan(other):
                parts[lane] = other
        cuda.syncthreads()
        half //= 2
    best = parts[0]
    cuda.syncthreads()
    return best


def as_rows(x: DeviceArray, axis: int) -> tuple[DeviceArray, int, int]:
    """The elements with `axis` last and in a row, the number of rows and their length."""
    moved = x if axis == -1 else x.memory.wrap(x.memory.module.moveaxis(x.raw, axis, -1))
    flat = x.memory.wrap(x.memory.module.ascontiguousarray(moved.raw).reshape(-1))
    length = x.shape[axis]
    return flat, (x.size // length if length else 0), length


def from_rows(flat: DeviceArray, shape: tuple[int, ...], axis: int) -> DeviceArray:
    """An array of `shape` whose elements lie in `flat` with `axis` last."""
    if axis == -1:
        return flat.reshape(shape)
    moved = list(shape)
    moved.append(moved.pop(axis))
    return flat.memory.wrap(flat.memory.module.moveaxis(flat.raw.reshape(moved), -1, axis))
