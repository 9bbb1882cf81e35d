"""Kernels as Python: every thread of a block takes turns, in a fixed order, until the next barrier.

Numba's simulator gives each CUDA thread a thread of the system and polls them; here each is a greenlet, which a barrier
costs a microsecond, so that blocks of real sizes can be run.  Memory that was not set holds nan, an index beyond an
array or below zero raises, and elementary functions follow IEEE 754 in the dtype of their argument, as on a GPU.
Shuffles of warps are here too; all threads of a block must reach them.  What no kernel calls is not here.

Kernels find what stands for `numba.cuda` under the name `launching.cuda`.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextvars import copy_context
from importlib import import_module
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from autodiff_lab.errors import InvalidArgumentError, MissingPackage

WARP = 32


class Three(NamedTuple):
    """A place in a grid or a block, or the size of one."""

    x: int
    y: int
    z: int


class Mathematics:
    """Python's `math`, with the results of IEEE 754 where Python raises."""

    def __init__(self) -> None:
        math = import_module("math")
        for name in dir(math):
            setattr(self, name, getattr(np, _NUMPY.get(name, name), getattr(math, name)))
        for name in ("erf", "erfc", "lgamma", "gamma"):
            setattr(self, name, _special(name))


_NUMPY = {"pow": "power", "fabs": "abs", "acos": "arccos", "asin": "arcsin", "atan": "arctan", "atan2": "arctan2",
          "acosh": "arccosh", "asinh": "arcsinh", "atanh": "arctanh", "isnan": "isnan", "isinf": "isinf"}  # fmt: skip


def _special(name: str) -> Callable[..., Any]:
    return getattr(import_module("scipy.special"), {"lgamma": "gammaln"}.get(name, name))


class Held(np.ndarray):
    """An array whose indices are checked as a debugger for memory would."""

    def __getitem__(self, index: Any) -> Any:
        if index.__class__ is tuple or index < 0:  # most are numbers, and half the time of a kernel is spent here
            _check(index)
        return np.ndarray.__getitem__(self, index)

    def __setitem__(self, index: Any, value: Any) -> None:
        if index.__class__ is tuple or index < 0:
            _check(index)
        np.ndarray.__setitem__(self, index, value)


def _check(index: Any) -> None:
    if index.__class__ is not tuple or min(index, default=0) < 0:
        raise IndexError(f"a kernel reads or writes before the start of an array: index {index}")


def held(shape: Any, dtype: Any) -> Any:
    """Memory that was not set: nan, or the largest number."""
    made: Any = np.empty(shape, dtype)
    made.fill(np.nan if made.dtype.kind in "fc" else True if made.dtype.kind == "b" else np.iinfo(made.dtype).max)
    return made.view(Held)


class _Thread:
    """One CUDA thread."""

    def __init__(self, place: Three, number: int, block: _Block, body: Any) -> None:
        self.place, self.number, self.block, self.body = place, number, block, body
        self.barriers = self.exchanges = 0

    def wait(self) -> None:
        """Let the others of the block come to the barrier."""
        self.barriers += 1
        self.body.parent.switch()

    def exchange(self, value: Any) -> dict[int, Any]:
        """Return the values that all threads of the block bring here, by number; read them before the next exchange.

        Two boxes take turns, so that a single barrier will do: nobody fills a box again before all have come to the
        exchange between, and so have read what they wanted of it.
        """
        box = self.block.boxes[self.exchanges % 2]
        self.exchanges += 1
        box[self.number] = value
        self.wait()
        return box

    def read_lane(self, value: Any, lane: int) -> Any:
        """Return what a lane of the thread's warp brings, or the thread's own value where the warp has not got it."""
        seen = self.exchange(value)
        return seen.get(self.number - self.number % WARP + lane, value) if 0 <= lane < WARP else value


class _Block:
    """What the threads of a block share."""

    def __init__(self, at: Three, size: Three, grid: Three) -> None:
        self.at, self.size, self.grid = at, size, grid
        self.boxes: tuple[dict[int, Any], dict[int, Any]] = {}, {}
        self.shared: dict[Any, Any] = {}


_current: list[Any] = [None]
_ONE_LAUNCH = threading.RLock()


def _now() -> Any:
    """Return the CUDA thread that runs."""
    if _current[0] is None:
        raise InvalidArgumentError(
            "cuda: this runs outside of a kernel. Try a launch of the function that it stands in."
        )
    return _current[0]


def thread_now() -> int:
    """Return the number of the CUDA thread that runs, counted through the blocks of a grid."""
    thread = _now()
    at, grid, size = thread.block.at, thread.block.grid, thread.block.size
    return (at.x + grid.x * (at.y + grid.y * at.z)) * (size.x * size.y * size.z) + thread.number


def place_in_time() -> tuple[int, int]:
    """Return the number of the block that runs, and how many barriers its running thread has passed."""
    thread = _now()
    at, grid = thread.block.at, thread.block.grid
    return at.x + grid.x * (at.y + grid.y * at.z), thread.barriers


def shared_memory(caller: Any, shape: Any, dtype: Any) -> Any:
    """Return the array of a block for the place in the source that asks for one."""
    place, made = (caller.f_code, caller.f_lineno, caller.f_lasti), _now().block.shared
    if place not in made:
        made[place] = held(shape, _numpy_dtype(dtype))
    return made[place]


class _Shared:
    """Shared memory of a block: one array for each place in the source that asks for one."""

    def array(self, shape: Any, dtype: Any, alignment: Any = None) -> Any:
        """Return an array that all threads of the block see."""
        return shared_memory(sys._getframe(1), shape, dtype)


class _Local:
    def array(self, shape: Any, dtype: Any, alignment: Any = None) -> Any:
        """Return an array of one thread."""
        return held(shape, _numpy_dtype(dtype))


def _numpy_dtype(dtype: Any) -> Any:
    """NumPy's name of a type of Numba."""
    return dtype if isinstance(dtype, (np.dtype, type)) else np.dtype(str(dtype).replace("boolean", "bool"))


class SimulatedCuda:
    """What `numba.cuda` is inside a kernel, and its decorator `jit`."""

    shared, local = _Shared(), _Local()
    threadIdx = property(lambda self: _now().place)  # noqa: N815 - CUDA's names
    blockIdx = property(lambda self: _now().block.at)  # noqa: N815
    blockDim = property(lambda self: _now().block.size)  # noqa: N815
    gridDim = property(lambda self: _now().block.grid)  # noqa: N815

    def jit(self, function: Any = None, **how: Any) -> Any:
        """Leave a function as it is."""
        return function if function is not None else lambda given: given

    def grid(self, axes: int) -> Any:
        """Return where this thread is in the whole grid."""
        thread = _now()
        at = [b * n + t for b, n, t in zip(thread.block.at, thread.block.size, thread.place, strict=True)]
        return at[0] if axes == 1 else tuple(at[:axes])

    def gridsize(self, axes: int) -> Any:
        """Return how many threads the grid has along each axis."""
        block = _now().block
        sizes = [n * m for n, m in zip(block.size, block.grid, strict=True)]
        return sizes[0] if axes == 1 else tuple(sizes[:axes])

    def syncthreads(self) -> None:
        """Wait for the block."""
        _now().wait()

    def syncthreads_or(self, value: Any) -> int:
        """Return whether one does."""
        return int(any(_now().exchange(value).values()))

    def shfl_sync(self, mask: int, value: Any, lane: int) -> Any:
        """Return the value of a lane."""
        thread = _now()
        return thread.read_lane(value, lane % WARP)

    def shfl_up_sync(self, mask: int, value: Any, by: int) -> Any:
        """Return the value of the lane so much before."""
        thread = _now()
        return thread.read_lane(value, thread.number % WARP - by)

    def shfl_xor_sync(self, mask: int, value: Any, by: int) -> Any:
        """Return the value of the lane whose number differs in these bits."""
        thread = _now()
        return thread.read_lane(value, thread.number % WARP ^ by)

    def fma(self, a: Any, b: Any, c: Any) -> Any:
        """A·b + c; rounded twice here and once on a GPU."""
        return a * b + c


def _three(sizes: Any) -> Three:
    x, y, z = (*(sizes if isinstance(sizes, tuple) else (sizes,)), 1, 1)[:3]
    return Three(int(x), int(y), int(z))


def _points(sizes: Three) -> Iterator[Three]:
    return (Three(i, j, k) for k, j, i in product(range(sizes.z), range(sizes.y), range(sizes.x)))


def simulate(function: Callable[..., None], blocks: Any, threads: Any, arguments: list[Any]) -> None:
    """Run a kernel, block after block.

    Raises
    ------
    IndexError
        If a thread reads or writes outside an array.
    InvalidArgumentError
        If some threads of a block wait at a barrier that others never reach, or the block is larger than a GPU's.
    """
    grid, size = _three(blocks), _three(threads)
    if size.x * size.y * size.z > 1024:
        raise InvalidArgumentError(f"{function.__name__}: a block of {tuple(size)} has more than 1024 threads.")
    given = [a.view(Held) if isinstance(a, np.ndarray) else a for a in arguments]
    make = _greenlet()
    with _ONE_LAUNCH, np.errstate(all="ignore"):
        try:
            for at in _points(grid):
                _run_block(make, function, _Block(at, size, grid), given)
        finally:
            _current[0] = None


def _run_block(make: Any, function: Any, block: _Block, arguments: list[Any]) -> None:
    threads = [_Thread(place, number, block, make(function)) for number, place in enumerate(_points(block.size))]
    for thread in threads:
        thread.body.gr_context = copy_context()  # what NumPy does at a division by zero depends on it
    _go_on(threads, *arguments)
    while not all(thread.body.dead for thread in threads):
        _check_barrier(function, threads)
        _go_on(threads)


def _greenlet() -> Any:
    try:
        return import_module("greenlet").greenlet
    except ImportError:
        raise MissingPackage.of("The simulated GPU", "greenlet", "lab") from None


def _go_on(threads: list[_Thread], *arguments: Any) -> None:
    """Run threads to their next barrier, one after the other; an error says which thread it was."""
    for thread in threads:
        _current[0] = thread
        try:
            thread.body.switch(*arguments)
        except Exception as error:
            error.add_note(f"in thread {_shown(thread.place)} of block {_shown(thread.block.at)}")
            raise


def _shown(place: Three) -> str:
    """Return a place, without the axes that are not used."""
    return str(place.x) if place.y == place.z == 0 else str(tuple(place))


def _check_barrier(function: Callable[..., None], threads: list[_Thread]) -> None:
    """All threads of a block must come to one barrier: on a GPU those that do not make the result undefined."""
    places = {None if thread.body.dead else _barrier(thread) for thread in threads}
    if len(places) > 1:
        lines = ", ".join("its end" if line is None else f"line {line}" for line in sorted(places, key=str))
        raise InvalidArgumentError(
            f"{function.__name__}: threads of one block wait at different places ({lines}). Every thread must reach "
            "each cuda.syncthreads(): try a condition around what they do between barriers, instead of a return."
        )


def _barrier(thread: _Thread) -> int:
    """Return the line at which a thread waits."""
    frame: Any = thread.body.gr_frame
    while frame.f_code.co_filename == __file__:
        frame = frame.f_back
    return frame.f_lineno
