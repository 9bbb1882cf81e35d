"""GPU kernels run as Python, under observation: which thread touched which element, and how much memory was fetched.

The threads are those of the package's simulator, so nothing here needs a GPU.  `cuda` is what ``numba.cuda`` is on one.
"""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Callable
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from autodiff_lab.draw.threads import Touched, threads
from autodiff_lab.errors import InvalidArgumentError
from autodiff_lab.kernels.cuda.simulator import SimulatedCuda, place_in_time, shared_memory, simulate, thread_now
from autodiff_lab.lessons.pictures import Picture

SECTOR = 8
"""How many elements of 4 bytes memory delivers at once: 32 bytes."""
MANY = 64
"""The number of threads and elements beyond which a map is not drawn."""
MOST = 2**17
"""The largest number of threads: each one is a call of a Python function, and is recorded."""


class Touch(NamedTuple):
    """One access to memory: the element, the block, barriers passed, the thread, and what was written if anything."""

    element: int
    block: int
    barriers: int
    thread: int
    written: float | None


def has_race(log: list[Touch]) -> bool:
    """Return whether two threads meet at an element with no barrier between them, and one of them writes.

    Writing the same number twice is harmless.  Between blocks there is no barrier.

    Examples
    --------
    >>> has_race([Touch(0, 0, 0, 1, None), Touch(0, 0, 0, 2, 5.0)]), has_race([Touch(0, 0, 0, 1, None)] * 2)
    (True, False)
    """
    by_element: dict[int, list[Touch]] = {}
    for touch in log:
        by_element.setdefault(touch.element, []).append(touch)
    return any(_meet(one, other) for touches in by_element.values() if any(t.written is not None for t in touches)
               for one, other in combinations(dict.fromkeys(touches), 2))  # fmt: skip


def _meet(one: Touch, other: Touch) -> bool:
    apart = one.block == other.block and one.barriers != other.barriers
    return one.thread != other.thread and not apart and one.written != other.written


class _WatchedMemory:
    """Shared memory whose accesses are logged; one array for each line that asks for one, as on a GPU."""

    def __init__(self) -> None:
        self.made: list[Watched] = []

    def array(self, shape: Any, dtype: Any, alignment: Any = None) -> Any:
        """Return an array that all threads of the block see."""
        held = shared_memory(sys._getframe(1), shape, dtype)
        if held.ndim != 1:
            return held
        found = next((one for one in self.made if one.array is held), None)
        if found is None:
            found = Watched("the shared array", held)
            self.made.append(found)
        return found


class _Atomic:
    """Reads and writes of one element that no other thread comes between: the simulator runs one thread at a time."""

    @staticmethod
    def add(array: Any, index: Any, value: Any) -> Any:
        """Add to an element and return what it held; threads that meet there so do no harm to each other."""
        before = array[index]
        array[index] = before + value
        if isinstance(array, Watched):
            del array.log[-2:]
            array.log.append(Touch(operator.index(index), *place_in_time(), thread_now(), math.inf))
        return before


class _Cuda(SimulatedCuda):
    """The simulator's `numba.cuda`, with shared memory that is watched, and atomic addition."""

    shared: Any = _WatchedMemory()
    atomic = _Atomic()


cuda = _Cuda()
"""What a kernel of a lesson calls: `grid`, `threadIdx`, `blockIdx`, `blockDim`, `shared.array`, `syncthreads`, and
`atomic.add`."""


class Watched:
    """An array of one axis that records which thread touches it."""

    def __init__(self, name: str, array: np.ndarray) -> None:
        self.name, self.array, self.dtype, self.size = name, array, array.dtype, array.size
        self.shape, self.ndim = array.shape, array.ndim
        self.reads: list[tuple[int, int]] = []
        self.writes: list[tuple[int, int]] = []
        self.log: list[Touch] = []
        self.outside = 0

    def __len__(self) -> int:
        return self.size

    def _at(self, index: Any, how: str) -> int:
        try:
            place = operator.index(index)
        except TypeError:
            raise TypeError(
                f"{how} {self.name}[{index}]: a thread takes one element at a time, and its index is an "
                "integer. Try // instead of /, or a loop instead of a slice."
            ) from None
        if not 0 <= place < self.size:
            self.outside += 1
            raise IndexError(
                f"{how} {self.name}[{place}], and {self.name} has the elements 0 to {self.size - 1}. On a GPU this "
                "raises no error: it reads or overwrites whatever lies there."
            )
        return place

    def __getitem__(self, index: Any) -> Any:
        place = self._at(index, "reads")
        self.reads.append((thread_now(), place))
        self.log.append(Touch(place, *place_in_time(), thread_now(), None))
        return self.array[place]

    def __setitem__(self, index: Any, value: Any) -> None:
        place = self._at(index, "writes")
        self.writes.append((thread_now(), place))
        self.array[place] = value
        self.log.append(Touch(place, *place_in_time(), thread_now(), float(self.array[place])))


class Launch(Picture):
    """What the threads of one launch did; made by `launch`.

    Attributes
    ----------
    threads, idle : int
        Threads that were started, and those of them that touched no array.
    arrays : dict of str to numpy.ndarray
        What the arrays hold now.
    sectors : dict of str to int
        For each array, the pieces of 32 bytes that moved between memory and processor, each counted as 8 numbers of
        float32 whatever the array holds.
    races : bool
        Whether two threads met at an element with no barrier between them, and one of them wrote.
    outside : int
        How often a thread reached for an element that does not exist.
    """

    def __init__(self, blocks: int, size: int, watched: list[Watched], shared: list[Watched]) -> None:
        self_set = object.__setattr__
        self_set(self, "races", any(has_race(one.log) for one in [*watched, *shared]))
        self_set(self, "outside", sum(one.outside for one in [*watched, *shared]))
        busy = {thread for one in watched for thread, _ in one.reads + one.writes}
        self_set(self, "threads", blocks * size)
        self_set(self, "idle", blocks * size - len(busy))
        self_set(self, "arrays", {one.name: one.array for one in watched})
        self_set(self, "sectors", {one.name: sectors(one.reads, size) + sectors(one.writes, size) for one in watched})
        account = self._told(blocks, size, watched)
        touched = [Touched(one.name, one.size, frozenset(one.reads), frozenset(one.writes)) for one in watched]
        few = max([blocks * size, *(one.size for one in watched)]) <= MANY
        title = f"{blocks} block{'' if blocks == 1 else 's'} of {size} threads"
        super().__init__(account, threads(title, account, blocks, size, touched if few else [], SECTOR))

    def _told(self, blocks: int, size: int, watched: list[Watched]) -> str:
        lines = [f"{blocks} × {size} = {self.threads} threads, {self.idle} of them with nothing to do"]
        for one in watched:
            for verb, done in (("read", one.reads), ("written", one.writes)):
                if done:
                    many = len(done) / max(len({place for _, place in done}), 1)
                    left = one.size - len({place for _, place in done})
                    often = f", each {many:g} times" if many > 1 else ""
                    missing = f", {left} elements never" if left else ""
                    count = sectors(done, size)
                    lines.append(f"{one.name}: {verb} {len(done)} times{often}{missing}, in {count} sectors")
        return "\n".join(lines)

    races: bool
    outside: int
    threads: int
    idle: int
    arrays: dict[str, np.ndarray]
    sectors: dict[str, int]


def sectors(touched: list[tuple[int, int]], size: int) -> int:
    """Count the sectors that memory delivers: threads of a block run in step and share what they touch together.

    Parameters
    ----------
    touched : list of (int, int)
        Thread and element, in the order in which each thread touched them.
    size : int
        Threads of a block, all in one warp.

    Examples
    --------
    >>> sectors([(0, 0), (1, 1)], 2), sectors([(0, 0), (1, 8)], 2)
    (1, 2)
    """
    turn: dict[int, int] = {}
    together: set[tuple[int, int, int]] = set()
    for thread, element in touched:
        step = turn[thread] = turn.get(thread, -1) + 1
        together.add((thread // size, step, element // SECTOR))
    return len(together)


def launch(kernel: Callable[..., Any], blocks: int, size: int, **arrays: Any) -> Launch:
    """Run a kernel and draw which thread touched which element.

    Parameters
    ----------
    kernel : callable
        Of the arrays, in their order.
    blocks, size : int
        The grid: how many blocks, and how many threads each has.
    **arrays : array_like or number
        Arrays of one axis are copied and watched; numbers are passed on.

    Raises
    ------
    IndexError
        If a thread touches an element that does not exist.
    InvalidArgumentError
        If threads of a block wait at different barriers; or if the grid is not valid, or arrays have more than one
        axis.

    Examples
    --------
    >>> from autodiff_lab.lessons import cuda, launch
    >>> def double(x, y):
    ...     i = cuda.grid(1)
    ...     if i < x.size:
    ...         y[i] = 2 * x[i]
    >>> launch(double, 2, 4, x=np.arange(6.0), y=np.zeros(6))
    2 × 4 = 8 threads, 2 of them with nothing to do
    x: read 6 times, in 2 sectors
    y: written 6 times, in 2 sectors
    """
    if not callable(kernel):
        raise InvalidArgumentError(f"launch: a kernel is a function, got {kernel!r}. Try def kernel(x, y): ...")
    _check_grid(blocks, size)
    given: list[Any] = []
    for name, value in arrays.items():
        array = np.array(value)
        if array.ndim > 1:
            raise InvalidArgumentError(
                f"launch: {name} has shape {array.shape}, but kernels of a lesson see arrays of one axis. Try "
                f"{name}.reshape(-1); the element of row i and column j is then number i * {array.shape[-1]} + j."
            )
        given.append(Watched(name, array) if array.ndim else value)
    shared = cuda.shared.made = []
    simulate(kernel, blocks, size, given)
    return Launch(blocks, size, [one for one in given if isinstance(one, Watched)], shared)


def _check_grid(blocks: Any, size: Any) -> None:
    for name, value in (("blocks", blocks), ("size", size)):
        if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)) or value < 1:
            raise InvalidArgumentError(f"launch: {name} must be an integer of at least 1, got {value!r}.")
    if blocks * size > MOST:
        raise InvalidArgumentError(
            f"launch: {blocks:,} × {size:,} threads are quick work for a GPU but too many here, where Python runs "
            f"each of them. Try at most {MOST:,}."
        )
