"""Threads: the ranges of one loop run on a small pool of our own.

Kernels release the interpreter's lock, so plain Python threads share their work.  Numba's own threading layers abort
when two threads enter at once, or leave a forked child without workers; this pool does neither: a child makes its own,
and a kernel that is called from within the pool works alone.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

_MOST = 256
_pool: dict[str, ThreadPoolExecutor] = {}
_lock = threading.Lock()
_here = threading.local()


def thread_count() -> int:
    """Return how many threads a kernel may use.

    It is ``AUTODIFF_LAB_THREADS`` if that is set, else ``OMP_NUM_THREADS``, else the number of processors that the
    process may run on.

    Examples
    --------
    >>> from autodiff_lab.kernels.base.threads import thread_count
    >>> thread_count() >= 1
    True
    """
    for name in ("AUTODIFF_LAB_THREADS", "OMP_NUM_THREADS"):
        given = os.environ.get(name, "")
        if given.isdecimal() and int(given):
            return int(given)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def spread(run: Callable[[int, int], Any], size: int, least: int = 1) -> list[Any]:
    """Call ``run(low, high)`` in parallel over ranges that make up ``[0, size)``; return the results in order.

    Parameters
    ----------
    run : callable
        Must release the interpreter's lock for most of its time.
    size : int
        Number of items: rows, images, elements.
    least : int
        Items below which another thread does not pay; starting its part costs about 20 microseconds.

    Raises
    ------
    Exception
        Whatever the first range to fail raised, once all have ended.

    Examples
    --------
    >>> from autodiff_lab.kernels.base.threads import spread
    >>> sum(spread(lambda low, high: high - low, 1000))
    1000
    """
    few = size < 2 * least or getattr(_here, "inside", False)  # checked first: counting threads takes microseconds
    parts = 1 if few else min(thread_count(), size // least)
    if parts == 1:
        return [run(0, size)]
    bounds = [size * n // parts for n in range(parts + 1)]
    try:
        futures = [_workers().submit(_inside, run, bounds[n], bounds[n + 1]) for n in range(1, parts)]
    except RuntimeError:  # the interpreter is shutting down
        return [run(0, size)]
    try:
        first = run(0, bounds[1])
    finally:
        ends = [(future.exception(), future) for future in futures]  # no thread may write into arrays that are released
    for error, _ in ends:
        if error is not None:
            raise error
    return [first, *(future.result() for _, future in ends)]


def _inside(run: Callable[[int, int], Any], low: int, high: int) -> Any:
    _here.inside = True
    return run(low, high)


def _workers() -> ThreadPoolExecutor:
    pool = _pool.get("workers")
    if pool is None:
        from concurrent.futures import ThreadPoolExecutor

        with _lock:
            pool = _pool.get("workers")
            if pool is None:
                # An upper bound: the pool starts a thread only where none is idle.
                pool = _pool["workers"] = ThreadPoolExecutor(_MOST, thread_name_prefix="autodiff_lab")
    return pool


def _after_fork() -> None:
    """In the child the threads of the pool are gone, and a lock may be held for ever."""
    global _lock  # noqa: PLW0603
    _lock = threading.Lock()
    _pool.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
