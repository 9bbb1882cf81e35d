"""Effects: every call that a function makes while it is traced, and whether it could do more than compute.

The interpreter tells a profiler of each function that begins and each built-in one that is called.  A function of the
user's, or of a library that the user's code calls, is looked at as the traced one is; a built-in one must be known to
compute and do nothing else.  So what a helper of the standard library does is found where it ends: in a lock, a file, a
clock.  Our own code, and what it calls to compile a kernel, is not listened to.
"""

from __future__ import annotations

import gc
import sys
import types
from threading import get_ident
from typing import Any, Self

from autodiff_lab.compile.front.codes import users_frame
from autodiff_lab.compile.front.kinds import BY_NAME, NUMPYS, NUMPYS_KINDS, PACKAGE, pure, reads_attributes, root_of
from autodiff_lab.compile.front.surroundings import Surroundings
from autodiff_lab.compile.front.trace import Refusal
from autodiff_lab.events import place_now

_OURS, _THEIRS, _NUMPY, _BEHIND = range(4)  # ours, the user's or a library's, NumPy's, and what ours calls


class Effects:
    """A block in which the calls of this thread are heard.

    Attributes
    ----------
    refusals : list of Refusal
        What was called that may do more than compute.
    deaf : bool
        Whether another profiler listens, so that nothing can be said.
    """

    def __init__(self, around: Surroundings) -> None:
        self.refusals: list[Refusal] = []
        self.deaf = False
        self._around = around
        self._stack = [_OURS]
        self._roots: dict[types.CodeType, str] = {}
        self._collecting = False
        self._thread = get_ident()

    def __enter__(self) -> Self:
        self.deaf = sys.getprofile() is not None
        if not self.deaf:
            # The collector may run anything at any time, and says when. It may do so between these two lines as well.
            gc.callbacks.append(self._collector_stops)
            gc.callbacks.insert(0, self._collector_starts)
            self._collecting = False
            sys.setprofile(self._hear)
        return self

    def __exit__(self, *error: object) -> None:
        if not self.deaf:
            sys.setprofile(None)
            gc.callbacks.remove(self._collector_starts)
            gc.callbacks.remove(self._collector_stops)

    def _collector_starts(self, phase: str, about: Any) -> None:
        if phase == "start" and get_ident() == self._thread:
            self._collecting = True

    def _collector_stops(self, phase: str, about: Any) -> None:
        if phase == "stop" and get_ident() == self._thread:
            self._collecting = False

    def _hear(self, frame: types.FrameType, event: str, called: Any) -> None:
        if self._collecting:
            return
        if event == "call":
            caller, kind = self._stack[-1], self._kind(frame)
            self._stack.append(kind)
            if kind == _THEIRS:
                self._around.runs(frame)
            elif caller == _THEIRS:
                self._around.calls_ours(frame)
        elif event == "return":
            if len(self._stack) > 1 and self._stack.pop() == _THEIRS:
                self._around.passed(called)
        elif event == "c_call" and self._stack[-1] in (_THEIRS, _NUMPY):
            self._calls(frame, called)
        elif event == "c_call" and called is print and self._stack[-1] == _OURS:
            self.refusals.append(Refusal("print() is called, which a program would not do again", place_now()))

    def _kind(self, frame: types.FrameType) -> int:
        code, caller = frame.f_code, self._stack[-1]
        root = self._roots.get(code)
        if root is None:
            root = self._roots[code] = root_of(frame.f_globals)
        if root == PACKAGE:
            return _OURS
        if caller in (_OURS, _BEHIND):
            return _THEIRS if self._around.known(code) else _BEHIND
        return _NUMPY if root == "numpy" else _THEIRS

    def _calls(self, frame: types.FrameType, called: Any) -> None:
        if pure(called):
            if self._stack[-1] == _THEIRS and (called in BY_NAME or reads_attributes(called)):
                self._around.by_name_in(frame)
        elif self._stack[-1] == _THEIRS or not (
            called in NUMPYS or type(getattr(called, "__self__", None)) in NUMPYS_KINDS
        ):
            self._note(_name(called), frame)

    def _note(self, name: str, frame: types.FrameType) -> None:
        here, through = users_frame(frame)
        said = f"{name}() is called" if through is None else f"{through.f_code.co_qualname}() calls {name}()"
        place = (here.f_code.co_filename, here.f_lineno)
        self.refusals.append(Refusal(f"{said}, which a program would not do again", place))


def _name(called: Any) -> str:
    owner, name = getattr(called, "__self__", None), getattr(called, "__name__", "a built-in function")
    if owner is None or getattr(owner, "__name__", "") == "builtins":
        return name
    if isinstance(owner, (types.ModuleType, type)):
        return f"{owner.__name__}.{name}"
    return f"{type(owner).__name__}.{name}"
