"""Watching: while a function is traced, every look of our own code at the values of an array is noted.

An op reads arrays, and so does the engine; that is what a trace hears of.  Any other code that looks at the values
takes a decision that a program would not take again: a loop that counts, an assertion, a branch.  No list of such
places could be kept complete, so the array of a tensor has two names.  Code that asks for its shape or dtype alone, or
whose reads a trace hears of in other ways, says so by reading ``_held``.  Whoever reads ``_array`` is taken to look,
and for the length of a trace the slot gives way to a property that notes it.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from typing import Any

from autodiff_lab.compile.kinds import PACKAGE, root_of
from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.engine.variable import Variable
from autodiff_lab.events import trace_now

_SLOTS: dict[type, Any] = {cls: cls.__dict__["_array"] for cls in (Tensor, Variable)}
_lock = threading.Lock()
_state = {"watchers": 0}


class Watch:
    """A block in which looks at arrays are told to the trace of the thread that looks."""

    def __enter__(self) -> None:
        with _lock:
            _state["watchers"] += 1
            if _state["watchers"] == 1:
                for cls, slot in _SLOTS.items():
                    cls._array = property(_reader(slot), slot.__set__)  # type: ignore[attr-defined]

    def __exit__(self, *error: object) -> None:
        with _lock:
            _state["watchers"] -= 1
            if _state["watchers"] == 0:
                for cls, slot in _SLOTS.items():
                    cls._array = slot  # type: ignore[attr-defined]


def _reader(slot: Any) -> Callable[[Any], Any]:
    get = slot.__get__

    def read(holder: Any) -> Any:
        trace = trace_now()
        if trace is not None and not trace.refusals:
            trace.note_look(holder, _asked())
        return get(holder)

    return read


def _asked() -> str:
    """The function of ours that the user's code called, for the words of a refusal."""
    frame, name = sys._getframe(2), "an op"  # pyright: ignore[reportPrivateUsage]
    while frame is not None and root_of(frame.f_globals) == PACKAGE:
        if "<locals>" not in frame.f_code.co_qualname:  # a decorator's wrapper goes by its own name, which nobody knows
            name = frame.f_code.co_name.strip("_")
        if name == "call":  # of a layer, a loss or a metric, which the user knows by its class
            name = type(frame.f_locals.get("self")).__name__
        frame = frame.f_back
    return name


def _after_fork() -> None:
    """In the child no other thread is left that traces."""
    global _lock  # noqa: PLW0603
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
