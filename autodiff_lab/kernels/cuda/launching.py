"""Declaring kernels and launching them: what stands between a Python function and threads on a GPU.

A kernel is declared once, with the argument types that it is compiled for; the report compiles exactly those.  Kernels
see flat, C-contiguous arrays and 32-bit sizes: an array of three axes costs a kernel some twenty registers for a shape
and strides that it does not read, and a division of 64-bit numbers costs a hundred instructions.

In the simulator (``NUMBA_ENABLE_CUDASIM=1``, or `gpus.simulate`) the same functions run as Python, in smaller blocks.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property
from importlib import import_module
from math import prod
from typing import Any

import numpy as np

from autodiff_lab.errors import InvalidArgumentError
from autodiff_lab.kernels.cuda.array import DeviceArray
from autodiff_lab.kernels.cuda.gpus import simulated


def _numba() -> Any:
    """Numba's part for CUDA; where it registers functions of arrays, it names one that NumPy 2.5 has no more."""
    found = import_module("numba.cuda")
    if not hasattr(np, "row_stack"):
        setattr(np, "row_stack", np.vstack)  # noqa: B010 - no name that NumPy has
        try:
            import_module("numba.cuda.np.arrayobj")
        finally:
            delattr(np, "row_stack")
    return found


SIMULATED = simulated()
"""Whether this process simulates a GPU."""
THREADS = 32 if SIMULATED else 256
"""Threads of a block where a kernel has no reason for another number: 8 warps, of which 8 blocks fill a multiprocessor
of 2048 threads; a power of 2, as trees of sums want it."""
cuda: Any = import_module("autodiff_lab.kernels.cuda.simulator").SimulatedCuda() if SIMULATED else _numba()
"""Numba's, under the name by which kernels call it."""
math: Any = import_module("autodiff_lab.kernels.cuda.simulator").Mathematics() if SIMULATED else import_module("math")
"""What kernels call; in the simulator it follows IEEE 754 where Python's raises."""
MOST = 2**31 - 1
"""Elements that 32-bit indices reach."""
WAVES = 32
"""Blocks for each multiprocessor of a grid whose threads stride through long arrays."""
DTYPES = ("float32", "float64")
"""What the letter T stands for in a signature."""

KERNELS: dict[str, Kernel] = {}
"""Every kernel, by its name."""


class Kernel:
    """A function for a GPU's threads.

    Attributes
    ----------
    name : str
        Of the function.
    serves : tuple of str
        Names of the kernels (`choose.CHOSEN`) whose overrides launch it.
    signatures : tuple of str
        The argument types that it is compiled for in the report, in Numba's notation.
    """

    def __init__(
        self, function: Callable[..., None], serves: tuple[str, ...], signatures: tuple[str, ...], how: dict[str, Any]
    ) -> None:
        self.name, self.function = function.__name__, function
        self.serves, self.signatures, self.how = serves, signatures, how
        self.__doc__ = function.__doc__

    @cached_property
    def compiled(self) -> Any:
        """What Numba makes of it: subscripted with a grid, it launches; in the simulator, the function."""
        return cuda.jit(**self.how)(self.function)


def kernel(serves: tuple[str, ...], *signatures: str, **how: Any) -> Callable[[Callable[..., None]], Kernel]:
    """Declare a kernel.

    Parameters
    ----------
    serves : tuple of str
        Names of the kernels (`choose.CHOSEN`) whose overrides launch it.
    *signatures : str
        Argument types, such as ``"float32[::1], int32"``.  The letter ``T`` stands for float32 and float64 in turn.
    **how
        Options of `numba.cuda.jit`, such as ``fastmath``.
    """

    def declare(function: Callable[..., None]) -> Kernel:
        each = [re.sub(r"\bT\b", t, s) for s in signatures for t in (DTYPES if re.search(r"\bT\b", s) else ("",))]
        made = KERNELS[function.__name__] = Kernel(function, serves, tuple(each), how)
        return made

    return declare


def launch(run: Kernel, blocks: int | tuple[int, ...], threads: int | tuple[int, ...], *arguments: Any) -> None:
    """Run a kernel on the GPU that holds its first array, in CuPy's current stream; return without waiting.

    Parameters
    ----------
    run : Kernel
        What runs.
    blocks, threads : int or tuple of int
        The grid and a block of it; a grid without blocks does nothing.
    *arguments : DeviceArray, int or float
        Arrays are C-contiguous; scalars are NumPy scalars where their width matters.
    """
    if 0 in (blocks if isinstance(blocks, tuple) else (blocks,)):
        return
    memory = next(a.memory for a in arguments if a.__class__ is DeviceArray)
    raw = [a.memory.argument(a.raw) if a.__class__ is DeviceArray else _narrow(a) for a in arguments]
    memory.launch(run.compiled, blocks, threads, raw)


def _narrow(value: Any) -> Any:
    """Return a Python int as 32 bits: numba would compile the kernel again, for 64, which the report has not seen."""
    return np.int32(value) if value.__class__ is int and not SIMULATED else value


def blocks_for(count: int, threads: int = THREADS) -> int:
    """Blocks of a grid with a thread for each of `count` elements."""
    return -(-count // threads)


def striding(array: DeviceArray, count: int, threads: int = THREADS) -> int:
    """Blocks of a grid whose threads stride: enough to fill the GPU, not more than the elements need."""
    return min(blocks_for(count, threads), array.memory.multiprocessors * WAVES)


def flat(array: DeviceArray) -> DeviceArray:
    """Return the elements in a row; a view where they are already."""
    return array.memory.wrap(array.memory.module.ascontiguousarray(array.raw).reshape(-1))


def empty(like: DeviceArray, shape: tuple[int, ...], dtype: Any = None) -> DeviceArray:
    """Memory on the GPU of another array, not set to anything."""
    return like.memory.empty(shape, like.dtype if dtype is None else np.dtype(dtype))


def check_size(op: str, *shapes: tuple[int, ...]) -> None:
    """Refuse arrays of more elements than 32-bit indices reach.

    Raises
    ------
    InvalidArgumentError
        If one has 2^31 elements or more.
    """
    for shape in shapes:
        if prod(shape) > MOST:
            raise InvalidArgumentError(
                f"{op}: an array of shape {shape} has {prod(shape):,} elements, and kernels on a GPU index at most "
                f"{MOST:,}. Try the op on parts of it: lab.split, then lab.concat."
            )
