"""Signatures whose program is being made: calls run eagerly until it is ready, and both ways are timed.

The background builds the code of a program, and another process its machine code: see `kernels.base.elsewhere`.  What
the user's calls take is measured meanwhile, and so are the first calls of the program: each call runs once, one way or
the other, so that nothing happens twice.  If the program seems slower, both ways are timed again in turns, as another
process may have kept the machine busy since the eager calls.  If it is, calls run eagerly, and after some of them both
ways are timed again: a machine that was busy at the first comparison must not decide for good.
"""

from __future__ import annotations

import logging
import sys
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import numpy as np

from autodiff_lab.compile.front.entry import Compiled
from autodiff_lab.engine.convert import convert_to_tensor
from autodiff_lab.errors import InvalidArgumentError
from autodiff_lab.kernels.base import compiler
from autodiff_lab.kernels.base.choose import IN_USE, numba_is_there

TRIES = 7
"""Calls of either way that are timed, of which the quickest counts."""
MOST = 6
"""In how many pairs of calls, one of either way after the other, the program must be slower as well."""
MARGIN = 1.1
"""How many times as long the program must take for calls to run eagerly."""
REST = 100
"""Eager calls after a comparison that the program lost until the next one; four times as many after each."""
AFTER = 0.005
"""Seconds of work for which the background rests after a trace, for which the calls waited."""
PATIENCE = 1.0
"""Seconds of waiting after which a line says what for."""
_LOG = logging.getLogger("autodiff_lab")


def in_background() -> bool:
    """Return whether calls go on while a program is compiled; not if every choice is fixed."""
    return not compiler.waits() and IN_USE["mode"] == "auto" and numba_is_there() and not compiler.ending()


class Waiting:
    """A signature whose program is being made.

    Parameters
    ----------
    make : callable
        Returns the entry; may run several times.
    """

    def __init__(self, make: Callable[[], Compiled]) -> None:
        self._make = make
        self.entry: Compiled | None = None
        self.error: Exception | None = None
        self.done = threading.Event()

    def start(self, ready: Callable[[], None]) -> None:
        """Ask the background to make the program, and to call `ready` afterwards."""
        compiler.ask(lambda: self._work(ready))

    def _work(self, ready: Callable[[], None]) -> None:
        compiler.pause(AFTER)
        try:
            self.entry = import_module("autodiff_lab.kernels.base.elsewhere").made(self._make)
        except Exception as error:  # noqa: BLE001 - the call that it belongs to has long returned
            self.error = error
        del self._make
        ready()
        self.done.set()

    def meanwhile(self, run: Callable[[], Any]) -> Any:
        """Serve a call op by op, and lend the background a share of the time that it took."""
        begin = time.perf_counter()
        result = run()
        compiler.lend(time.perf_counter() - begin)
        return result

    def wait(self, name: str) -> None:
        """Wait until the program is ready."""
        if self.done.is_set():
            return
        compiler.hurry()
        try:
            with progress(name):
                self.done.wait()
        finally:
            compiler.relax()


class Trial:
    """The first calls of a program with one quick key, some of which run eagerly, for comparison."""

    def __init__(self, of: Waiting | Compiled) -> None:
        self._of = of
        self.slower = False
        self.settled = False
        self._rest = 0  # calls until the next comparison
        self._pause = REST
        self._eager: list[float] = []
        self._compiled: list[float] = []
        self._in_turns = False  # whether all of the calls that are timed alternate
        self.verdict = ""

    @property
    def entry(self) -> Compiled | None:
        """The program, once there is one."""
        return self._of if isinstance(self._of, Compiled) else self._of.entry

    def call(self, arrays: list[Any], eagerly: Callable[[], Any]) -> tuple[bool, Any]:
        """Run a call one way or the other; False if the program cannot serve it."""
        entry = self.entry
        if self._rest:
            self._rest -= 1
            return True, eagerly()
        begin = time.perf_counter()
        if entry is None or (len(self._eager) < TRIES and len(self._eager) <= len(self._compiled)):
            if isinstance(self._of, Waiting) and self._of.error is not None:
                return False, None
            result = eagerly()
            took = time.perf_counter() - begin
            self._note(self._eager, took)
            if entry is None:
                compiler.lend(took)
            return True, result
        if not entry.serves(arrays):
            return False, None
        done, result = entry.call(arrays)
        if done:
            self._note(self._compiled, time.perf_counter() - begin)
            self._settle()
        return done, result

    def _note(self, times: list[float], seconds: float) -> None:
        if len(times) < TRIES:
            times.append(seconds)
        elif seconds < times[-1]:
            times[-1] = min(times)
            times[0] = seconds

    def _settle(self) -> None:
        if len(self._compiled) < TRIES or len(self._eager) < TRIES:
            return
        compiled, eager = min(self._compiled), min(self._eager)
        slower = compiled > MARGIN * eager
        pairs = zip(self._compiled, self._eager, strict=True)
        if not slower or self._in_turns:
            self.settled = True
            if self.entry is not None:
                self.entry.compared = True
            self.slower = slower and sum(one > MARGIN * other for one, other in pairs) >= MOST
            self.verdict = f"{1e3 * compiled:.3g} ms a call, {1e3 * eager:.3g} ms eagerly"
            self._rest, self._pause = self._pause, 4 * self._pause
        self._eager, self._compiled, self._in_turns = [], [], True

    def report(self, name: str) -> str:
        """Return why calls run eagerly; the first time, log it."""
        why = f"its program measured slower on this machine: {self.verdict}"
        if self._pause == 4 * REST:
            _LOG.warning("%s runs eagerly: %s. Both are timed again after %d calls", name, why, self._rest)
        return why


def example_of(value: Any) -> Any:
    """Return a tensor of ones for a `TensorSpec`, anything else as it is.

    Raises
    ------
    InvalidArgumentError
        If a length is open.
    """
    # Only who has one has imported its module, which is not part of the core.
    specs = sys.modules.get("autodiff_lab.extras.tensor_spec")
    if specs is None or not isinstance(value, specs.TensorSpec):
        return value
    if not value.shape.is_fully_defined():
        raise InvalidArgumentError(f"compile: {value} has an open length. Give every length, or a tensor.")
    return convert_to_tensor(np.ones([n or 0 for n in value.shape], value.dtype.as_numpy_dtype))


@contextmanager
def progress(name: str) -> Generator[None]:
    """Print a line if the block takes longer than a second."""
    timer = threading.Timer(PATIENCE, lambda: sys.stderr.write(f"autodiff_lab: compiling {name} ...\n"))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
