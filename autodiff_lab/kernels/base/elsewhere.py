"""Machine code that a process of its own compiles, while this one goes on.

The compiler is written in Python: a thread that runs it holds the lock of the interpreter for seconds.  So the thread
in the background (see `compiler`) sends what is missing to a child process, `workshop`, with a low priority, and waits
for the answer, which costs nothing.  The child writes machine code to the cache folder and sends it back as well, so
that a folder that is full or read-only does not matter.  It stays for a few seconds for the next job.  If the
interpreter ends first, the child finishes its job for the next process.  Where no process can be started, or one ends
early, the thread compiles by itself, after one warning.
"""

from __future__ import annotations

import logging
import os
import pickle
import select
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from autodiff_lab.kernels.base import compiler, native, store

STAYS = 30.0
"""Seconds after which a child ends that hears nothing, should this process not end it (see `compiler.IDLE`)."""
_LOG = logging.getLogger("autodiff_lab")
_START = """\
import os
answers = os.dup(1)
os.dup2(2, 1)
if hasattr(os, "nice"):
    os.nice(5)
from autodiff_lab.kernels.base.workshop import main
main({stays}, answers)
"""
"""What the child runs.

Nothing that is printed gets between the answers, not even by a module that is imported.  Imports take as long as some
programs, so its priority is low before they begin.
"""
_LENGTH = 8
"""Bytes that say how long a message is."""
_state: dict[str, Any] = {"child": None, "refused": False}
T = TypeVar("T")


class Override(NamedTuple):
    """The override of a kernel for a dtype, and calls of a class that it is to be measured for, if any are given."""

    name: str
    reference: Callable[..., Any]
    override: str
    dtype: Any
    given: list[Any]
    params: dict[str, Any]


Wish = str | Override
"""A generated text, or an override."""


class Lost(Exception):
    """The child is not there, and why."""


def made(make: Callable[[], T]) -> T:
    """Return what a function makes that loads machine code; what is missing is compiled by the child first.

    For the thread in the background, as it waits.

    Parameters
    ----------
    make : callable
        May run several times.
    """
    native.get_ready()
    store.get_ready()
    for _ in range(2):  # what is measured may ask for more
        with compiler.listing() as wishes:
            result = make()
        if not wishes:
            return result
        if not have_made(wishes):
            break
    return make()


def have_made(wishes: list[Wish]) -> bool:
    """Have the child compile and measure; return whether it did, even if a part of it failed."""
    if _state["refused"] or compiler.ending():
        return False
    try:
        _child().do(list(dict.fromkeys(filter(None, map(_packed, wishes)))))
    except (compiler.Ended, Lost, OSError, EOFError, MemoryError, ValueError, pickle.PickleError) as error:
        close()
        if not compiler.ending():
            _state["refused"] = True
            _LOG.warning(
                "Compiled functions are compiled in this process from now on, which slows it down meanwhile, because "
                "no other one does it: %s",
                str(error) or type(error).__name__,
            )
        return False
    return True


def _packed(wish: Wish) -> bytes:
    """Return a wish as bytes; none if it holds something of the user's that another process cannot know."""
    try:
        return pickle.dumps(wish)
    except (pickle.PickleError, TypeError, AttributeError):
        return b""


def _child() -> _Child:
    child = _state["child"]
    if child is None or child.process.poll() is not None:
        close()
        child = _state["child"] = _Child()
    return child


class _Child:
    """The process, and messages to and from it: each is its length and a pickle."""

    def __init__(self) -> None:
        if not sys.executable or getattr(sys, "frozen", False) or sys.platform in ("emscripten", "wasi"):
            raise Lost("there is no Python to start")
        paths = os.pathsep.join(path or str(Path.cwd()) for path in sys.path)
        self.stop, self.end_of_stop = os.pipe()  # written to when the parent no longer waits
        self.process = subprocess.Popen(
            [sys.executable, "-c", _START.format(stays=STAYS)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0,
            env={**os.environ, "PYTHONPATH": paths, "PYTHONSAFEPATH": "1", "AUTODIFF_LAB_COMPILE": "wait"},
        )  # fmt: skip

    def do(self, wishes: list[bytes]) -> None:
        """Send wishes, and take what comes back until all are done."""
        send(self.process.stdin, wishes)
        while True:
            with compiler.resting():
                what, *rest = receive(self)
            if what == "code":
                name, data = rest
                store.RECEIVED[name] = data
            elif what == "measured":
                import_module("autodiff_lab.kernels.base.measuring").learn(*rest)
            else:
                return

    def read(self, size: int) -> bytes:
        """Return so many bytes of an answer, fewer only at its end."""
        stream: Any = self.process.stdout
        data = b""
        while len(data) < size:
            if sys.platform != "win32" and self.stop in select.select([stream, self.stop], [], [])[0]:
                raise Lost("the interpreter ends")
            part = stream.read(size - len(data))
            if not part:
                break
            data += part
        return data

    def leave(self) -> None:
        """Let the process finish what it does, and end after that; whoever waits for it goes on."""
        if sys.platform == "win32":
            self.process.kill()
        self.process.returncode = 0  # it is not waited for
        os.write(self.end_of_stop, b"!")

    def end(self) -> None:
        """Stop the process, and wait until it has ended."""
        for stream in (self.process.stdin, self.process.stdout):
            with suppress(OSError):
                stream.close()  # type: ignore[union-attr]
        for number in (self.stop, self.end_of_stop):
            os.close(number)
        self.process.kill()
        self.process.wait()


def send(stream: Any, message: Any) -> None:
    """Write a message."""
    data = pickle.dumps(message)
    stream.write(len(data).to_bytes(_LENGTH, "little") + data)
    stream.flush()


def receive(stream: Any) -> Any:
    """Read a message.

    Raises
    ------
    EOFError
        If the other side has ended.
    """
    head = stream.read(_LENGTH)
    data = stream.read(int.from_bytes(head, "little")) if len(head) == _LENGTH else b""
    if not data:
        raise EOFError("the process ended early")
    return pickle.loads(data)  # noqa: S301 - from a process that we started, or that started us


def close() -> None:
    """End the child, if there is one; what it compiles is not finished."""
    child, _state["child"] = _state["child"], None
    if child is not None:
        child.end()


def _leave() -> None:
    child, _state["refused"] = _state["child"], True
    if child is not None:
        child.leave()


def _after_fork() -> None:
    """Forget the child in a forked process: it belongs to the parent."""
    child, _state["child"] = _state["child"], None
    if child is not None:
        child.process.returncode = 0  # so that it is not waited for here


compiler.AT_END.append(_leave)
compiler.WHEN_IDLE.append(close)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
