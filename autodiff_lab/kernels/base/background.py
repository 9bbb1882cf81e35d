"""The background: one thread that compiles what kernels ask for, while NumPy answers.

At exit it finishes the loop that it is at and leaves the rest: a compiler must not run while the process takes itself
apart.  A forked child starts with nothing asked for.
"""

from __future__ import annotations

import atexit
import os
import queue
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

_jobs: queue.SimpleQueue[Callable[[], Any] | None] = queue.SimpleQueue()
_thread: dict[str, threading.Thread] = {}
_state = {"ends": False}


def ask(job: Callable[[], Any]) -> None:
    """Do a job in the background, after those asked for before it."""
    if _state["ends"]:
        return
    _jobs.put(job)
    if "worker" not in _thread:
        worker = _thread["worker"] = threading.Thread(target=_work, daemon=True, name="autodiff_lab compiler")
        worker.start()


def wait() -> None:
    """Wait until everything asked for so far is done."""
    done = threading.Event()
    ask(done.set)
    done.wait()


def _work() -> None:
    while True:
        job = _jobs.get()
        if job is None or _state["ends"]:
            return
        with suppress(Exception):  # a job that fails must not keep those after it from being done
            job()


def _end() -> None:
    _state["ends"] = True
    worker = _thread.get("worker")
    if worker is not None:
        _jobs.put(None)
        worker.join()


def _after_fork() -> None:
    global _jobs  # noqa: PLW0603
    _jobs = queue.SimpleQueue()
    _thread.clear()


atexit.register(_end)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
