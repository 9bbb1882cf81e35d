"""A processor that OpenBLAS leaves to the compiler while that runs beside the program.

The threads of OpenBLAS wait for one another by spinning and yielding.  Where somebody else has the processor of one, a
product ends when the scheduler next runs that thread, milliseconds later: beside several busy processes a training
step with two threads on two processors took 54 ms, and 1.1 with one thread.  So while the background works (see
`compiler`), NumPy's OpenBLAS, and SciPy's if SciPy is there, use at most all processors but one, and afterwards as many
threads as before.
"""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import NamedTuple

from autodiff_lab.kernels.matmul.second_library import Library, loaded_with


class Threads(NamedTuple):
    """How to read and to set the number of threads of one OpenBLAS."""

    read: Callable[[], int]
    write: Callable[[int], object]


class _Lowered(NamedTuple):
    """An OpenBLAS with fewer threads than before, and both numbers."""

    threads: Threads
    before: int
    now: int


_lock = threading.Lock()
_lowered: list[_Lowered] = []
_opened: dict[str, Threads] = {}


def libraries() -> list[Threads]:
    """Return each OpenBLAS that NumPy or SciPy has loaded; none for builds with another library."""
    found = [
        library for name in ("numpy", "scipy") if name in sys.modules for library in loaded_with(sys.modules[name])
    ]
    return [_opened.get(library.path) or _opened.setdefault(library.path, _threads_of(library)) for library in found]


def _threads_of(library: Library) -> Threads:
    handle = ctypes.PyDLL(library.path)  # neither takes time, so the interpreter's lock is kept
    read, write = (
        handle[f"{library.prefix}openblas_{name}_num_threads{library.suffix}"] for name in ("get", "set")
    )  # fmt: skip
    return Threads(read, write)


def processors() -> int:
    """Return how many processors this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def leaving_a_processor() -> Generator[None]:
    """Let OpenBLAS use all processors but one, at least one, in the block; then as many threads as it did before.

    What is set meanwhile by others, such as threadpoolctl, stays.
    """
    most = max(1, processors() - 1)
    with _lock:
        is_ours = not _lowered
        if is_ours:
            _lowered.extend(_Lowered(each, n, most) for each in libraries() if (n := each.read()) > most)
            for each in _lowered:
                each.threads.write(most)
    try:
        yield
    finally:
        if is_ours:
            _restore()


def _restore() -> None:
    """Give OpenBLAS back its threads, unless somebody else has set their number since."""
    with _lock:
        for each in _lowered:
            if each.threads.read() == each.now:
                each.threads.write(each.before)
        _lowered.clear()


def _after_fork() -> None:
    """Restore the threads of a forked process, which does not wait for the compiler."""
    global _lock  # noqa: PLW0603 - a lock that another thread held is held for ever in the child
    _lock = threading.Lock()
    _restore()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
