"""Arrays wherever they live: what a kernel written for NumPy makes is made on the GPU of its operands.

NumPy's functions go where their operands are; those that take no array, such as `numpy.zeros`, cannot know.  Kernels
call these in their place.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_lab.kernels.cuda.array import DeviceArray

ARRAYS = (np.ndarray, DeviceArray)
"""Classes of what has elements; values of rank 0 on the CPU are NumPy scalars."""


def on_gpu(x: Any) -> bool:
    """Whether an array lives on a GPU."""
    return x.__class__ is DeviceArray


def ranked(x: Any) -> Any:
    """A NumPy scalar, or what is no array yet, as an array; arrays as they are."""
    return x if x.__class__ is DeviceArray else np.asarray(x)


def contiguous(x: Any) -> Any:
    """An array whose elements lie in memory in the order of its axes: itself or a copy."""
    if x.__class__ is not DeviceArray:
        return np.ascontiguousarray(x)
    memory = x.memory
    return memory.wrap(memory.guarded(lambda: memory.module.ascontiguousarray(x.raw), x.nbytes))


def beside(x: Any, host: Any) -> Any:
    """An array that our own code made on the CPU, copied to where x lives; told, as it is a copy nobody asked for."""
    if x.__class__ is not DeviceArray or host.__class__ is DeviceArray:
        return host
    return x.memory.uploaded(np.asarray(host), "positions and weights are worked out on the CPU")


def zeros(shape: tuple[int, ...], like: Any, dtype: Any = None) -> Any:
    """Zeros where another array lives, of its dtype unless told."""
    if like.__class__ is DeviceArray:
        return like.memory.zeros(tuple(shape), like.dtype if dtype is None else dtype)
    return np.zeros(shape, like.dtype if dtype is None else dtype)


def empty(shape: tuple[int, ...], like: Any, dtype: Any = None) -> Any:
    """Memory that is not set to anything."""
    if like.__class__ is DeviceArray:
        return like.memory.empty(tuple(shape), like.dtype if dtype is None else dtype)
    return np.empty(shape, like.dtype if dtype is None else dtype)


def full(shape: tuple[int, ...], value: Any, like: Any, dtype: Any = None) -> Any:
    """One value everywhere."""
    if like.__class__ is not DeviceArray:
        return np.full(shape, value, like.dtype if dtype is None else dtype)
    made = empty(shape, like, dtype)
    made.raw.fill(value)
    return made


def arange(count: int, like: Any, dtype: Any = np.int64) -> Any:
    """The whole numbers below `count`."""
    if like.__class__ is not DeviceArray:
        return np.arange(count, dtype=dtype)
    memory = like.memory
    size = int(count) * np.dtype(dtype).itemsize
    return memory.wrap(memory.guarded(lambda: memory.module.arange(count, dtype=dtype), size))


def eye(rows: int, like: Any, dtype: Any = None) -> Any:
    """The unit matrix."""
    if like.__class__ is not DeviceArray:
        return np.eye(rows, dtype=like.dtype if dtype is None else dtype)
    made = zeros((rows, rows), like, dtype)
    made.reshape(-1).raw[:: rows + 1] = 1
    return made
