"""Turns: one thread at a time imports the compiler or runs it, and a fork waits for its turn.

A process that forks while another of its threads compiles leaves the child with locks that nobody will open: Python's,
of modules half imported, and those of the compiler.  Our own locks could be made again there, these cannot.
"""

from __future__ import annotations

import os
import threading
from importlib import import_module


class _Turn:
    """A lock that its holder may take again."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self._forks_wait = False

    def __enter__(self) -> None:
        if not self._forks_wait:
            self._let_forks_wait()
        self.lock.acquire()

    def __exit__(self, *error: object) -> None:
        self.lock.release()

    def _let_forks_wait(self) -> None:
        # What is registered last waits first: a fork must not hold the locks of these modules while it waits for a
        # compiler that needs them.
        self._forks_wait = True
        for name in ("concurrent.futures.thread", "logging"):
            import_module(name)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork)


COMPILING = _Turn()
"""Held while Numba is imported, compiles, or loads machine code."""
LONGEST_WAIT = 60.0
"""Seconds that a fork waits; beyond that it goes ahead, for a fork that never comes is worse."""
_held: list[bool] = []


def _before_fork() -> None:
    _held.append(COMPILING.lock.acquire(timeout=LONGEST_WAIT))


def _after_fork() -> None:
    if _held.pop():
        COMPILING.lock.release()
