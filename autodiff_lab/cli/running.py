"""Run a script as Python would, under `record`, whatever it does to the process around it.

A script may change its folder, close or replace the standard streams, fork, take over signals or be stopped by
one. Everything up to then is its recording; how it ended is its exit status.
"""

from __future__ import annotations

import linecache
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any, TextIO

from autodiff_lab.cli.frameworks import recorder
from autodiff_lab.recording import Recording

INTERRUPTED, TERMINATED = 130, 143
"""The exit status of a process that SIGINT or SIGTERM ended."""


class _Stopped(BaseException):
    """The script was asked to stop by SIGTERM."""


def run_recorded(
    code: Any, path: Path, arguments: Sequence[str], title: str, framework: str = "", to: Path | None = None
) -> tuple[Recording, int]:
    """Run the code of a script as ``__main__``; return its recording and the exit status that Python would give."""
    module = ModuleType("__main__")
    module.__file__ = str(path)
    module.__dict__["__builtins__"] = __builtins__
    status = 0
    recording: Recording | None = None
    with _as_main(module, path, arguments), _undisturbed(), _stopped_by_sigterm():
        try:
            with recorder(framework, title, module.__dict__, to) as recording:
                exec(code, module.__dict__)
        except SystemExit as stop:
            status = _status(stop)
        except _Stopped:
            status = TERMINATED
        except BaseException as error:  # noqa: BLE001 - an interrupt, too, leaves what was recorded
            _print_traceback(error)
            status = INTERRUPTED if isinstance(error, KeyboardInterrupt) else 1
    assert recording is not None
    return replace(recording, title=title), status


def keep_lines(path: Path, source: str) -> None:
    """Keep the lines of a script where tracebacks and recordings look for them, whatever happens to its file."""
    lines = source.splitlines(keepends=True)
    linecache.cache[str(path)] = len(source), None, lines, str(path)


@contextmanager
def _as_main(module: ModuleType, path: Path, arguments: Sequence[str]) -> Generator[None]:
    saved = sys.argv, sys.path, sys.path[:], sys.modules.get("__main__")
    sys.argv = [str(path), *arguments]
    sys.path.insert(0, str(path.resolve().parent))
    sys.modules["__main__"] = module
    try:
        yield
    finally:
        sys.argv, sys.path = saved[0], saved[1]
        sys.path[:] = saved[2]
        if saved[3] is not None:
            sys.modules["__main__"] = saved[3]


@contextmanager
def _undisturbed() -> Generator[None]:
    """Restore the previous folder and standard streams."""
    streams, folder = (sys.stdin, sys.stdout, sys.stderr), Path.cwd()
    try:
        yield
    finally:
        for stream in (sys.stdout, sys.stderr):
            with suppress(Exception):  # closed, or an object of the script's
                stream.flush()
        sys.stdin, sys.stdout, sys.stderr = streams
        with suppress(OSError):
            os.chdir(folder)
        _open_descriptors()


def _open_descriptors() -> None:
    """Reopen 0, 1 and 2 on the null device where the script closed them: no other file may become standard output."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            with suppress(OSError):
                os.open(os.devnull, os.O_RDWR)


@contextmanager
def _stopped_by_sigterm() -> Generator[None]:
    """Let SIGTERM stop the script as an exception does, unless it already has a handler; a second one kills."""
    mine = threading.current_thread() is threading.main_thread()
    if not mine or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return

    def stop(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)  # a second one kills
        raise _Stopped

    def leave() -> None:
        if signal.getsignal(signal.SIGTERM) is stop:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)

    signal.signal(signal.SIGTERM, stop)
    _at_forks(leave)
    try:
        yield
    finally:
        leave()


def _at_forks(leave: Callable[[], None]) -> None:
    """Let forked children die of SIGTERM as they would without us, once they have left our handler."""
    if not hasattr(os, "register_at_fork"):
        return

    def hold(how: int) -> None:
        signal.pthread_sigmask(how, {signal.SIGTERM})

    def released() -> None:
        leave()
        hold(signal.SIG_UNBLOCK)

    os.register_at_fork(
        before=lambda: hold(signal.SIG_BLOCK), after_in_parent=lambda: hold(signal.SIG_UNBLOCK), after_in_child=released
    )


def _status(stop: SystemExit) -> int:
    if stop.code is None or isinstance(stop.code, int):
        return stop.code or 0
    say(str(stop.code))
    return 1


def _print_traceback(error: BaseException) -> None:
    """Print the traceback as Python would: from the script on, without our frame, by the script's own hook."""
    first = error.__traceback__
    begun = error.with_traceback(first.tb_next if first is not None else None)
    with suppress(Exception):  # there may be no standard error any more
        if sys.excepthook is not sys.__excepthook__:
            sys.excepthook(type(begun), begun, begun.__traceback__)
        else:
            traceback.print_exception(begun)


def say(words: str, stream: TextIO | None = None) -> bool:
    """Print a line on standard error, or on another stream; return whether that was possible."""
    try:
        print(words, file=sys.stderr if stream is None else stream, flush=True)
    except BrokenPipeError:
        raise
    except Exception:  # noqa: BLE001 - closed, or not writable
        return False
    return True
