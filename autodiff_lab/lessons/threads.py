"""GPU kernels run as Python, under observation: which thread touched which element, and how much memory was fetched.

The threads are those of the package's simulator, so nothing here needs a GPU.  `cuda` is what ``numba.cuda`` is on one.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from autodiff_lab.draw.threads import Touched, threads
from autodiff_lab.errors import InvalidArgumentError
from autodiff_lab.kernels.cuda.simulator import SimulatedCuda, simulate, thread_now
from autodiff_lab.lessons.pictures import Picture

cuda = SimulatedCuda()
"""What a kernel of a lesson calls: `grid`, `threadIdx`, `blockIdx`, `blockDim`, `shared.array`, `syncthreads`."""
SECTOR = 8
"""How many elements of 4 bytes memory delivers at once: 32 bytes."""
MANY = 64
"""The number of threads and elements beyond which a map is not drawn."""
MOST = 2**17
"""The largest number of threads: each one is a call of a Python function, and is recorded."""


class Watched:
    """An array of one axis that records which thread touches it."""

    def __init__(self, name: str, array: np.ndarray) -> None:
        self.name, self.array, self.dtype, self.size = name, array, array.dtype, array.size
        self.shape, self.ndim = array.shape, array.ndim
        self.reads: list[tuple[int, int]] = []
        self.writes: list[tuple[int, int]] = []

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
            raise IndexError(
                f"{how} {self.name}[{place}], and {self.name} has the elements 0 to {self.size - 1}. On a GPU this "
                "raises no error: it reads or overwrites whatever lies there."
            )
        return place

    def __getitem__(self, index: Any) -> Any:
        place = self._at(index, "reads")
        self.reads.append((thread_now(), place))
        return self.array[place]

    def __setitem__(self, index: Any, value: Any) -> None:
        place = self._at(index, "writes")
        self.writes.append((thread_now(), place))
        self.array[place] = value


class Launch(Picture):
    """What the threads of one launch did; made by `launch`.

    Attributes
    ----------
    threads, idle : int
        Threads that were started, and those of them that touched no array.
    arrays : dict of str to numpy.ndarray
        What the arrays hold now.
    sectors : dict of str to int
        For each array, the pieces of 32 bytes that moved between memory and processor.
    """

    def __init__(self, blocks: int, size: int, watched: list[Watched]) -> None:
        self_set = object.__setattr__
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
    simulate(kernel, blocks, size, given)
    return Launch(blocks, size, [one for one in given if isinstance(one, Watched)])


def _check_grid(blocks: Any, size: Any) -> None:
    for name, value in (("blocks", blocks), ("size", size)):
        if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)) or value < 1:
            raise InvalidArgumentError(f"launch: {name} must be an integer of at least 1, got {value!r}.")
    if blocks * size > MOST:
        raise InvalidArgumentError(
            f"launch: {blocks:,} × {size:,} threads are quick work for a GPU but too many here, where Python runs "
            f"each of them. Try at most {MOST:,}."
        )
