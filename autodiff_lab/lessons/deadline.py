"""A deadline for a learner's code: what does not come to an end is interrupted, and nothing else is.

In the main thread an alarm of the operating system does it, which also ends a `time.sleep` and arithmetic with huge
integers; it is set only where no program uses the alarm, and taken back at once. Elsewhere a timer raises an exception
in the thread at its next line of Python. In a browser, where Python has neither, there is no deadline.
"""

from __future__ import annotations

import _thread
import ctypes
import random
import signal
import sys
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any

SECONDS = 5.0
"""What the learner's code may take in one check, all calls together."""
AGAIN = 0.0007
"""Seconds until code that has caught the interruption is interrupted once more: so few that it is caught in the act of
catching, outside the ``try``."""
SOON = (7e-6, 7e-5)
"""Seconds until an alarm that a destructor lost rings once more, at least and at most. They are drawn at random: at a
fixed interval, the alarm can meet each turn of a loop in the same destructor, for minutes. Elsewhere so short an
interval would interrupt what cleans up after the interruption."""
SHORTEST = 0.05
"""Seconds that a call gets even if the calls before it have used up everything."""

_random = random.Random()
_left: ContextVar[list[float] | None] = ContextVar("autodiff_lab_seconds_left", default=None)


class TooLong(BaseException):
    """Ends code that has reached its deadline. Not an `Exception`, so that ``except Exception`` lets it pass."""


@contextmanager
def share_seconds(seconds: float = SECONDS) -> Generator[None]:
    """Share a number of seconds among all calls of `within_deadline` in this block, at most what an outer block has."""
    outer = _left.get()
    most = seconds if outer is None else min(seconds, outer[0])
    left = [most]
    token = _left.set(left)
    try:
        yield
    finally:
        _left.reset(token)
        if outer is not None:
            outer[0] -= most - left[0]


def within_deadline(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function, and interrupt it when its seconds are over.

    Raises
    ------
    TooLong
        If it was interrupted. Whatever else the function raises is passed on.

    Examples
    --------
    >>> within_deadline(lambda x: x + 1, 2)
    3
    """
    left = _left.get() or [SECONDS]
    began = time.monotonic()
    try:
        watch = _watch(max(left[0], SHORTEST))
        with watch:
            return _call(watch, function, arguments)
    finally:
        left[0] -= time.monotonic() - began


def _watch(seconds: float) -> _Alarm | _Timed:
    main = threading.current_thread() is threading.main_thread()
    alarm = getattr(signal, "SIGALRM", None)
    free = main and alarm is not None and signal.getsignal(alarm) is signal.SIG_DFL
    return _Alarm(seconds) if free and signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0) else _Timed(seconds)


def _call(watch: _Alarm | _Timed, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """Call a function; only while it runs may an alarm raise."""
    watch.inside = True
    try:
        return function(*arguments)
    finally:
        watch.inside = False


class _Alarm:
    """Interrupts the main thread by an alarm; its handler runs in the main thread, so nothing can arrive too late.

    The alarm rings again and again, and may ring while it is being taken back. There it must not raise: the alarm would
    go on ringing. It may also ring in a destructor, which no exception leaves; nothing is said of that.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self.inside = self._rang = False

    def __enter__(self) -> None:
        self._hook, sys.unraisablehook = sys.unraisablehook, self._lost
        self._before = signal.signal(signal.SIGALRM, self._ring)
        signal.setitimer(signal.ITIMER_REAL, self._seconds, AGAIN)

    def _ring(self, number: int, frame: Any) -> None:
        if self.inside and frame.f_code is not _Alarm._lost.__code__:  # what is raised there is printed
            self._rang = True
            raise TooLong

    def _lost(self, lost: sys.UnraisableHookArgs) -> None:
        """Report what a destructor raised, unless it was the alarm; no alarm may raise meanwhile."""
        inside, self.inside = self.inside, False
        try:
            if not issubclass(lost.exc_type, TooLong):
                self._hook(lost)
            elif inside:
                signal.setitimer(signal.ITIMER_REAL, _random.uniform(*SOON), AGAIN)
        finally:
            self.inside = inside

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, self._before)
        sys.unraisablehook = self._hook
        if self._rang and error is None:  # and the code caught it
            raise TooLong


class _Timed:
    """Interrupts the thread that entered it, again and again until the thread leaves, and never afterwards."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._lock = threading.Lock()
        self._thread = threading.get_ident()
        self.inside = self._sent = self._over = False
        self._timer: threading.Timer | None = None

    def __enter__(self) -> None:
        timer = threading.Timer(self._seconds, self._ring)
        timer.daemon = True
        with suppress(RuntimeError):  # this Python has no threads
            timer.start()
            self._timer = timer

    def _ring(self) -> None:
        while True:
            with self._lock:
                if self._over:
                    return
                self._sent = True
                _interrupt(self._thread)
            time.sleep(AGAIN)

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        arrived = isinstance(error, (KeyboardInterrupt, TooLong))
        while True:
            try:
                self._leave(wait=not arrived)
                break
            except (KeyboardInterrupt, TooLong):
                arrived = True
        if self._sent:
            raise TooLong from None

    def _leave(self, wait: bool) -> None:
        """Let no more interruptions be sent, and wait for one that is on its way to arrive here."""
        with self._lock:
            self._over = True
        if self._timer is not None:
            self._timer.cancel()
        for _ in range(20 if self._sent and wait else 2):
            time.sleep(0.005 if self._sent else 0.0)


def _interrupt(thread: int) -> None:
    """Raise `KeyboardInterrupt` in the main thread as Ctrl+C does, or `TooLong` where Ctrl+C means something else."""
    if thread == threading.main_thread().ident and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        _thread.interrupt_main()
        return
    api = getattr(ctypes, "pythonapi", None)
    if api is not None:
        api.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(TooLong))
