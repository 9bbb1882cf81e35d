"""When the compiler runs: in one thread at a time, mostly in the background, and never across a fork.

Jobs of the background are done by a thread, which leaves machine code that has to be compiled to a child process (see
`elsewhere`): the compiler is written in Python, and a thread that runs it holds the interpreter's lock.  What the
thread does itself it does in pieces of two milliseconds, with a pause after each (`breathe`).

A process that forks while another of its threads compiles leaves the child with locks that are never released:
Python's, of modules that are half imported, and those of the compiler. Our own locks could be made again there, these
cannot; so a fork waits for the compiler. At exit the background finishes its current job and drops the rest: a
compiler must not run while the interpreter shuts down. A forked child starts without jobs.
"""

from __future__ import annotations

import atexit
import os
import threading
import time
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import Any

WAYS = ("background", "wait")
WORK, REST = 0.002, 3.0
"""Seconds of processor time that the background works before it rests, and how many times as long it rests.

It counts what the thread computes: waiting for the interpreter's lock is not work, and is long enough as it is.
"""
LENT, LOAN = 0.25, 0.005
"""What part of the time of calls is lent to the background while it computes for them, and the most seconds at a time.

A program that only runs Python never lets another thread have the interpreter before it must, every 5 milliseconds, and
the background asks for it again after each file that it reads: that took a minute where 0.1 seconds were needed.
"""
_LEAST_LOAN = 0.0005  # seconds; shorter sleeps take longer than they say
INSTANT, APART = 0.0001, 0.01
"""Seconds of a pause that lets in a thread that asks for the interpreter, and between two of them."""
_way = os.environ.get("AUTODIFF_LAB_COMPILE") or None
if _way not in (None, *WAYS):
    raise ValueError(f"AUTODIFF_LAB_COMPILE={_way!r} is unknown. Try one of {WAYS}.")


def waits() -> bool:
    """Return whether calls wait for the compiler instead of being answered without it.

    The environment decides.  Where it says nothing, calls wait in a process that may use one core only: another process
    would compile there at the expense of the calls that it is meant to spare, and take many times as long.
    """
    if _way is not None:
        return _way == "wait"
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return cores == 1


class NotYet(Exception):
    """Machine code is not there, and the block of `listing` says that it is not to be compiled here."""


class Ended(BaseException):
    """The interpreter ends, and a job in the background with it."""


class _Here(threading.local):
    """What a thread does: the list of what it would have compiled, and since when a job of the background works."""

    wishes: list[Any] | None = None
    since: float | None = None


_HERE = _Here()


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
"""Held while a compiler is imported, compiles, or loads machine code."""
LONGEST_WAIT = 60.0
"""Seconds that a fork waits; then it goes ahead, because a fork that never returns is worse."""
_held: list[bool] = []
_background: dict[str, Any] = {}
"""The queue of jobs and the thread that does them, once a job was asked for."""
_state: dict[str, Any] = {"ends": False, "hurried": 0, "computes": False, "rests until": 0.0, "owed": 0.0,
                          "works": False, "pause at": 0.0}  # fmt: skip
IDLE = 5.0
"""Seconds without a job after which the background ends what it keeps for the next one."""
NEEDED = (
    "concurrent.futures.thread", "logging", "hashlib", "json", "subprocess", "autodiff_lab.kernels.base.store",
    "autodiff_lab.kernels.base.elsewhere", "autodiff_lab.kernels.matmul.giving_way",
)  # fmt: skip
"""Modules that jobs need, in an order in which none takes long."""
WHEN_IDLE: list[Callable[[], None]] = []
"""What is called then."""
AT_END: list[Callable[[], None]] = []
"""What lets the job that is being done end early, when the interpreter does."""


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


def active() -> bool:
    """Return whether a job was asked for before, so that what jobs need is there, or soon will be."""
    return "thread" in _background


def ending() -> bool:
    """Return whether the interpreter is shutting down, so that a long job should stop."""
    return bool(_state["ends"])


@contextmanager
def listing() -> Generator[list[Any]]:
    """In the block, list machine code that is not there, instead of compiling it; yields the list."""
    wishes: list[Any] = []
    _HERE.wishes = wishes
    try:
        yield wishes
    finally:
        _HERE.wishes = None


def wishes() -> list[Any] | None:
    """Return the list of the block of `listing` that this thread is in, None outside of one."""
    return _HERE.wishes


def wish(what: Any) -> None:
    """Add to the list of the block of `listing` that this thread is in."""
    if _HERE.wishes is not None:
        _HERE.wishes.append(what)


def hurry() -> None:
    """Let jobs of the background work without pauses while somebody waits for them."""
    _state["hurried"] += 1


def relax() -> None:
    """Undo `hurry`."""
    _state["hurried"] -= 1


def lend(seconds: float) -> None:
    """Let the background have a share of the time that a call took, if it has something to compute.

    A thread whose rest is over may ask for the interpreter's lock in vain for a long time: it has to wait 5 ms again
    each time that the program gives the lock up and takes it back, as NumPy does.  So the clock says when rests end.
    """
    if not _state["computes"]:
        let_in()
        return
    if time.perf_counter() < _state["rests until"]:
        return
    owed = _state["owed"] = _state["owed"] + LENT * seconds
    if owed >= _LEAST_LOAN:
        begin = time.perf_counter()
        time.sleep(min(owed, LOAN))
        # To get the interpreter back may take five milliseconds more, which later calls need not lend again.
        _state["owed"] = min(owed, LOAN) - (time.perf_counter() - begin)


def let_in() -> None:
    """Pause for an instant now and then while a job is not done, in case the background asks for the interpreter.

    A new job, or the answer of the process that compiles, wakes the thread, which cannot say so before it has the lock.
    It waited for seconds where the program let go of the lock and took it back all the time.
    """
    if not _state["works"] and ("jobs" not in _background or _background["jobs"].empty()):
        return
    now = time.perf_counter()
    if now >= _state["pause at"]:
        _state["pause at"] = now + APART
        time.sleep(INSTANT)


@contextmanager
def resting() -> Generator[None]:
    """In the block the background waits for something and needs no time of the interpreter's."""
    _state["computes"] = False
    try:
        yield
    finally:
        _state["computes"] = _HERE.since is not None


def breathe() -> None:
    """Pause, in the background, if this job has worked for a while: the program's own threads need the interpreter."""
    since = _HERE.since
    if since is None:
        return
    if _state["ends"]:
        raise Ended
    worked = time.thread_time() - since
    if worked >= WORK and not _state["hurried"]:
        rest = min(REST * worked, 0.05)
        _state["rests until"] = time.perf_counter() + rest
        time.sleep(rest)
        _HERE.since = time.thread_time()


def pause(seconds: float) -> None:
    """Rest, in the background, as if this job had worked for so many seconds: a call has, before it asked for it."""
    if _HERE.since is not None:
        _HERE.since = time.thread_time() - seconds
        breathe()


def import_gently(names: Iterable[str]) -> None:
    """Import modules that are there one after the other, in the background with pauses, and while no fork waits."""
    for name in names:
        with suppress(ImportError), COMPILING:
            import_module(name)
        breathe()


def wait() -> None:
    """Wait until every job asked for so far is done."""
    done = threading.Event()
    ask(done.set)
    done.wait()


def _work(jobs: Any) -> None:
    empty = import_module("queue").Empty
    while True:
        try:
            job = jobs.get(timeout=IDLE)
        except empty:
            for end in WHEN_IDLE:
                end()
            job = jobs.get()
        if job is None or _state["ends"]:
            return
        _HERE.since, _state["computes"], _state["works"] = time.thread_time(), True, True
        with suppress(Exception, Ended):  # a job that fails must not stop those after it
            import_gently(NEEDED)
            with import_module("autodiff_lab.kernels.matmul.giving_way").leaving_a_processor():
                job()
        _state["computes"] = _state["works"] = False


def _end() -> None:
    _state["ends"] = True
    for end in AT_END:
        end()
    if "thread" in _background:
        _background["jobs"].put(None)
        _background["thread"].join()


def _before_fork() -> None:
    _held.append(COMPILING.lock.acquire(timeout=LONGEST_WAIT))


def _after_fork() -> None:
    if _held.pop():
        COMPILING.lock.release()


def _forget() -> None:
    _background.clear()
    _state["computes"] = _state["works"] = False


atexit.register(_end)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
