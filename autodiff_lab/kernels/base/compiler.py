"""When the compiler runs: in one thread at a time, mostly a thread in the background, and never across a fork.

A process that forks while another of its threads compiles leaves the child with locks that are never released:
Python's, of modules that are half imported, and those of the compiler. Our own locks could be made again there, these
cannot; so a fork waits for the compiler. At exit the background finishes its current job and drops the rest: a
compiler must not run while the interpreter shuts down. A forked child starts without jobs.
"""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from typing import Any


class _Compiling:
    """A lock that its holder may take again; a fork waits for it."""

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


COMPILING = _Compiling()
"""Held while Numba is imported, compiles, or loads machine code."""
LONGEST_WAIT = 60.0
"""Seconds that a fork waits; then it goes ahead, because a fork that never returns is worse."""
_held: list[bool] = []
_background: dict[str, Any] = {}
"""The queue of jobs and the thread that does them, once a job was asked for."""
_state = {"ends": False}


def ask(job: Callable[[], Any]) -> None:
    """Do a job in the background, after those that were asked for before."""
    if _state["ends"]:
        return
    if "thread" not in _background:
        _background["jobs"] = import_module("queue").SimpleQueue()  # here, so that the package imports quickly
        thread = threading.Thread(target=_work, args=[_background["jobs"]], daemon=True, name="autodiff_lab compiler")
        _background["thread"] = thread
        thread.start()
    _background["jobs"].put(job)


def ending() -> bool:
    """Return whether the interpreter is shutting down, so that a long job should stop."""
    return _state["ends"]


def wait() -> None:
    """Wait until every job asked for so far is done."""
    done = threading.Event()
    ask(done.set)
    done.wait()


def _work(jobs: Any) -> None:
    while True:
        job = jobs.get()
        if job is None or _state["ends"]:
            return
        with suppress(Exception):  # a job that fails must not stop those after it
            job()


def _end() -> None:
    _state["ends"] = True
    if "thread" in _background:
        _background["jobs"].put(None)
        _background["thread"].join()


def _before_fork() -> None:
    _held.append(COMPILING.lock.acquire(timeout=LONGEST_WAIT))


def _after_fork() -> None:
    if _held.pop():
        COMPILING.lock.release()


atexit.register(_end)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_background.clear)
