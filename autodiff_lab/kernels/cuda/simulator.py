"""Kernels as Python: every thread of a block takes turns, in a fixed order, until the next barrier.

Numba's simulator gives each CUDA thread a thread of the system and polls them; here each is a greenlet, which a barrier
costs a microsecond, so that blocks of real sizes can be run.  Memory that was not set holds nan, an index beyond an
array or below zero raises, and elementary functions follow IEEE 754 in the dtype of their argument, as on a GPU.
Shuffles and votes of warps, which Numba's simulator has not, are here; all threads of a block must reach them.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from importlib import import_module
from itertools import product
from typing import Any

import numpy as np
from greenlet import getcurrent, greenlet
from numba.cuda.simulator.kernel import _push_kernel_context

kernelapi: Any = import_module("numba.cuda.simulator.kernelapi")
WARP = 32


class Mathematics:
    """Python's `math`, with the results of IEEE 754 where Python raises."""

    def __init__(self) -> None:
        import math

        for name in dir(math):
            setattr(self, name, getattr(np, _NUMPY.get(name, name), getattr(math, name)))
        for name in ("erf", "erfc", "lgamma", "gamma"):
            setattr(self, name, _special(name))


_NUMPY = {"pow": "power", "fabs": "abs", "acos": "arccos", "asin": "arcsin", "atan": "arctan", "atan2": "arctan2",
          "acosh": "arccosh", "asinh": "arcsinh", "atanh": "arctanh", "isnan": "isnan", "isinf": "isinf"}  # fmt: skip


def _special(name: str) -> Callable[..., Any]:
    from scipy import special

    return getattr(special, {"lgamma": "gammaln"}.get(name, name))


class Held(np.ndarray):
    """An array whose indices are checked as a debugger for memory would."""

    def __getitem__(self, index: Any) -> Any:
        _check(index)
        return super().__getitem__(index)

    def __setitem__(self, index: Any, value: Any) -> None:
        _check(index)
        super().__setitem__(index, value)


def _check(index: Any) -> None:
    for i in index if index.__class__ is tuple else (index,):
        if i < 0:
            raise IndexError(f"a kernel reads or writes before the start of an array: index {index}")


def held(shape: Any, dtype: Any) -> Any:
    """Memory that was not set: nan, or the largest number."""
    made: Any = np.empty(shape, dtype)
    made.fill(np.nan if made.dtype.kind in "fc" else True if made.dtype.kind == "b" else np.iinfo(made.dtype).max)
    return made.view(Held)


class _Thread(greenlet):
    """One CUDA thread."""

    threadIdx: Any  # noqa: N815 - CUDA's names
    blockIdx: Any  # noqa: N815
    thread_id: int
    block: dict[str, Any]
    block_runs: Any

    def syncthreads(self) -> None:
        """Wait for the block."""
        self.block_runs.switch()

    def exchange(self, value: Any) -> dict[int, Any]:
        """The values that all threads of the block bring here."""
        box = self.block.setdefault("box", {})
        box[self.thread_id] = value
        self.syncthreads()
        seen = dict(box)
        self.syncthreads()
        return seen

    def syncthreads_count(self, value: Any) -> int:
        """How many threads bring something true."""
        return sum(bool(v) for v in self.exchange(value).values())

    def syncthreads_and(self, value: Any) -> int:
        """Whether all do."""
        return int(all(self.exchange(value).values()))

    def syncthreads_or(self, value: Any) -> int:
        """Whether one does."""
        return int(any(self.exchange(value).values()))


def _now() -> Any:
    """The CUDA thread that runs."""
    return getcurrent()


class _Shared:
    """Shared memory of a block: one array for each place in the source that asks for one."""

    def __init__(self) -> None:
        self.made: dict[Any, Any] = {}

    def array(self, shape: Any, dtype: Any, alignment: Any = None) -> Any:
        """An array that all threads of the block see."""
        caller = sys._getframe(1)
        place = (caller.f_code, caller.f_lineno)
        if place not in self.made:
            self.made[place] = held(shape, _numpy_dtype(dtype))
        return self.made[place]


class _Local:
    def array(self, shape: Any, dtype: Any, alignment: Any = None) -> Any:
        """An array of one thread."""
        return held(shape, _numpy_dtype(dtype))


def _numpy_dtype(dtype: Any) -> Any:
    return kernelapi.numpy_support.as_dtype(dtype) if isinstance(dtype, kernelapi.types.Type) else dtype


class _Cuda(kernelapi.FakeCUDAModule):
    """What `numba.cuda` is inside a kernel."""

    def __init__(self, grid: Any, block: Any) -> None:
        super().__init__(grid, block, 0)
        self._local = _Local()

    def syncwarp(self, mask: int = 0xFFFFFFFF) -> None:
        """Wait for the block, which contains the warp."""
        _now().syncthreads()

    def _shuffled(self, value: Any, source: Callable[[int], int]) -> Any:
        thread = _now()
        seen, lane = thread.exchange(value), thread.thread_id % WARP
        other = thread.thread_id - lane + source(lane)
        return seen.get(other, value) if 0 <= source(lane) < WARP else value

    def shfl_sync(self, mask: int, value: Any, lane: int) -> Any:
        """The value of a lane."""
        return self._shuffled(value, lambda own: lane % WARP)

    def shfl_down_sync(self, mask: int, value: Any, by: int) -> Any:
        """The value of the lane so much further."""
        return self._shuffled(value, lambda own: own + by)

    def shfl_up_sync(self, mask: int, value: Any, by: int) -> Any:
        """The value of the lane so much before."""
        return self._shuffled(value, lambda own: own - by)

    def shfl_xor_sync(self, mask: int, value: Any, by: int) -> Any:
        """The value of the lane whose number differs in these bits."""
        return self._shuffled(value, lambda own: own ^ by)

    def ballot_sync(self, mask: int, value: Any) -> int:
        """A bit for each lane of the warp: whether it brings something true."""
        thread = _now()
        seen, first = thread.exchange(bool(value)), thread.thread_id // WARP * WARP
        return sum(1 << lane for lane in range(WARP) if seen.get(first + lane))


class _Threading:
    """Stands for `threading` in Numba's simulator, so that it finds the greenlet that runs."""

    def __getattr__(self, name: str) -> Any:
        return getattr(threading, name)

    def current_thread(self) -> Any:
        return _now()


kernelapi.threading = _Threading()


def _three(sizes: Any) -> tuple[int, int, int]:
    x, y, z = (*(sizes if isinstance(sizes, tuple) else (sizes,)), 1, 1)[:3]
    return int(x), int(y), int(z)


def _points(sizes: tuple[int, int, int]) -> Iterator[tuple[int, int, int]]:
    x, y, z = sizes
    return ((i, j, k) for k, j, i in product(range(z), range(y), range(x)))


def simulate(compiled: Any, blocks: Any, threads: Any, arguments: list[Any]) -> None:
    """Run a kernel, block after block.

    Raises
    ------
    IndexError
        If a thread reads or writes outside an array.
    RuntimeError
        If some threads of a block wait at a barrier that others never reach.
    """
    grid, block = _three(blocks), _three(threads)
    given = [a.view(Held) if isinstance(a, np.ndarray) else a for a in arguments]
    cuda: Any = _Cuda(grid, block)
    function = compiled.fn
    with _push_kernel_context(cuda), kernelapi.swapped_cuda_module(function, cuda), np.errstate(all="ignore"):
        for at in _points(grid):
            cuda._shared = _Shared()
            _run_block(function, kernelapi.Dim3(*at), block, given)


def _run_block(function: Any, at: Any, block: tuple[int, int, int], arguments: list[Any]) -> None:
    shared: dict[str, Any] = {}
    waiting: list[_Thread] = []
    for number, place in enumerate(_points(block)):
        thread = _Thread(function)
        thread.threadIdx, thread.blockIdx, thread.thread_id = kernelapi.Dim3(*place), at, number
        thread.block, thread.block_runs = shared, thread.parent
        waiting.append(thread)
    for thread in waiting:
        thread.switch(*arguments)
    while True:
        left = [thread for thread in waiting if not thread.dead]
        if not left:
            return
        for thread in left:
            thread.switch()
