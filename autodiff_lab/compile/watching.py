"""Watching: while a function is traced, every read of a tensor's array by our own code is looked at.

An op reads arrays, and so does the engine; that is what a trace hears of.  Any other code that looks at more of an
array than its shape and dtype takes a decision by value that a program would not take again: a loop that counts, an
assertion, a branch.  No list of such places could be kept complete, so the attribute itself is watched: for the length
of a trace the slot that holds the array gives way to a property, which asks who reads and what for.
"""

from __future__ import annotations

import dis
import itertools
import os
import sys
import threading
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.engine.variable import Variable
from autodiff_lab.events import trace_now

_STATIC = frozenset({"shape", "dtype", "ndim", "size", "nbytes", "itemsize", "memory", "__class__"})
_ASK_WHERE = frozenset({"on_gpu", "beside", "zeros_beside", "device_of"})
"""Functions that ask of their first argument where it lies."""
_ROOT = Path(__file__).parent.parent
_TRUSTED = tuple(
    str(_ROOT / name)
    for name in ("engine", "events", "compile", "transforms/surgery.py", "transforms/custom.py",
                 "transforms/recompute.py", "transforms/functional.py", "transforms/jacobians.py")
)  # fmt: skip
"""The engine itself, and transforms that only wrap an array again: the trace knows the value by its array."""
_SLOTS: dict[type, Any] = {cls: cls.__dict__["_array"] for cls in (Tensor, Variable)}
_answers: dict[tuple[types.CodeType, int], bool] = {}
_lock = threading.Lock()
_state = {"watchers": 0}


class Watch:
    """A block in which reads of arrays are told to the trace of the thread that reads."""

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
            frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
            if not _harmless(frame.f_code, frame.f_lasti):
                trace.note_look(holder, frame.f_code.co_name.strip("_"))
        return get(holder)

    return read


def _harmless(code: types.CodeType, at: int) -> bool:
    """Whether the instruction of `code` at this offset takes only the shape or the dtype of the array it reads."""
    key = (code, at)
    found = _answers.get(key)
    if found is None:
        found = _answers[key] = code.co_filename.startswith(_TRUSTED) or _takes_shape(code, at)
    return found


def _takes_shape(code: types.CodeType, at: int) -> bool:
    instructions = [i for i in dis.get_instructions(code) if i.opname not in ("CACHE", "EXTENDED_ARG", "NOP")]
    for n, (here, after) in enumerate(itertools.pairwise(instructions)):
        if here.offset == at:
            if here.argval == "_array":
                if n >= 2 and instructions[n - 2].argval in _ASK_WHERE:  # `on_gpu(x._array)`: it is the first argument
                    return True
                return after.opname in ("LOAD_ATTR", "LOAD_METHOD") and after.argval in _STATIC
            return "hasattr" in code.co_names and "getattr" not in code.co_names  # a call that asks for the attribute
    return False


def _after_fork() -> None:
    """In the child no other thread is left that traces."""
    global _lock  # noqa: PLW0603
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
