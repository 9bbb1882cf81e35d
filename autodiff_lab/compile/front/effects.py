"""Effects: observe every call that a function makes while it is traced, and refuse what may do more than compute.

This is the only module that takes part in how Python runs the user's code.  It has to: a program may stand for a
function only if the function does nothing else, and what a helper of a library does (read a clock, open a file, append
to a log) is visible neither in the function's text nor in the objects that it reaches.  Python reports calls to
`sys.setprofile` and to nothing else that works in every version and leaves the code as it is.  So for the time of one
trace a profiler listens in this thread; if another one is active already, the function stays eager.

Functions of the user and of libraries that the user's code calls are handed to `Surroundings`, which examines them as
it does the traced one: by their code objects, because those are what Python reports.  A built-in function must be known
to be pure.  So the effects of a library are found where they end: in a lock, a file, a clock.  Our own code and what
it calls, to compile a kernel for instance, is not examined; in an op of ours on tensors, and in a sweep through our own
rules, where nothing else can run, the profiler rests until the trace has noted the op.
"""

from __future__ import annotations

import gc
import sys
import types
from functools import partial
from threading import get_ident
from typing import Any, Self

from autodiff_lab.compile.front.frames import library_call, users_frame
from autodiff_lab.compile.front.kinds import BY_NAME, PACKAGE, is_numpys, pure, reads_attributes, root_of
from autodiff_lab.compile.front.surroundings import Surroundings
from autodiff_lab.compile.front.trace import Refusal, Trace
from autodiff_lab.engine.op import REGISTRY
from autodiff_lab.engine.silence import how_numpy_warns
from autodiff_lab.engine.tape import GradientTape
from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.engine.variable import Variable
from autodiff_lab.events.listener import place_now, sinks_now

_OURS, _THEIRS, _NUMPY, _BEHIND = range(4)  # ours, the user's or a library's, NumPy's, and what ours calls
_HELD = (Tensor, Variable)
_APPLYING = frozenset(id(REGISTRY[name].apply.__code__) for name in ("sin", "add", "transpose"))
"""The code that runs every op of one input, of two, and of any number: each call of it comes to the trace.

It is found by its id, as the hash of a code object is computed from all of its constants each time.
"""


class Effects:
    """A block in which the calls of this thread are observed.

    Attributes
    ----------
    refusals : list of Refusal
        Calls that may do more than compute.
    """

    def __init__(self, around: Surroundings, trace: Trace) -> None:
        self.refusals: list[Refusal] = []
        self._trace = trace
        self._around = around
        self._stack = [_OURS]
        self._roots: dict[int, tuple[str, types.CodeType]] = {}  # by the id of the code, which lives as long
        self._collecting = False
        self._thread = get_ident()
        self._applying: types.FrameType | None = None  # the op in which the profiler rests, until it returns
        self._plain: dict[Any, bool] = {}  # by op, whether its kernel is ours
        self._sinks: Any = None  # those that are known to be ours
        self._warns: Any = None
        self._modules = 0

    def __enter__(self) -> Self:
        # The garbage collector may run any code at any time, also between these lines, and says when.
        gc.callbacks.append(self._collector_stops)
        gc.callbacks.insert(0, self._collector_starts)
        self._collecting = False
        self._warns = how_numpy_warns()
        self._modules = len(sys.modules)
        sys.setprofile(self._observe)
        self._trace.rest, self._trace.observe = partial(sys.setprofile, None), partial(sys.setprofile, self._observe)
        return self

    def __exit__(self, *error: object) -> None:
        self._trace.observe = None
        sys.setprofile(None)
        gc.callbacks.remove(self._collector_starts)
        gc.callbacks.remove(self._collector_stops)
        if self._applying is not None and not self._trace.refusals:  # it ended before the trace noted it
            self.refusals.append(Refusal("an op raised an error, after which its calls could not be observed", None))
        if how_numpy_warns() is not self._warns:
            self.refusals.append(Refusal("it changes how NumPy warns, which a program would not repeat", None))

    def imports(self) -> bool:
        """Return whether modules were imported meanwhile, which the next call finds there."""
        return len(sys.modules) > self._modules

    def _collector_starts(self, phase: str, about: Any) -> None:
        if phase == "start" and get_ident() == self._thread:
            self._collecting = True

    def _collector_stops(self, phase: str, about: Any) -> None:
        if phase == "stop" and get_ident() == self._thread:
            self._collecting = False

    def _observe(self, frame: types.FrameType, event: str, called: Any) -> None:  # noqa: C901 - one call less each
        if self._collecting:
            return
        if self._applying is not None:
            if frame is self._applying and event == "return":
                self._applying = None
        elif event == "call" and id(frame.f_code) in _APPLYING and self._is_plain(frame.f_locals):
            self._applying = frame
            sys.setprofile(None)
        elif event == "call":
            caller, kind = self._stack[-1], self._kind(frame)
            self._stack.append(kind)
            if kind == _THEIRS:
                self._around.begins(frame.f_code, frame.f_globals, frame.f_locals, partial(library_call, frame))
            elif caller == _THEIRS:  # a function of ours or of NumPy's, which may call what it is given
                self._around.pass_on(frame.f_locals.values())
        elif event == "return":
            if len(self._stack) > 1 and self._stack.pop() == _THEIRS:
                self._around.pass_on((called,))
        elif event == "c_call" and self._stack[-1] in (_THEIRS, _NUMPY):
            self._calls(frame, called)
        elif event == "c_call" and called is print and self._stack[-1] == _OURS:
            self.refusals.append(Refusal("print() is called, which a program would not repeat", place_now()))

    def _is_plain(self, local: dict[str, Any]) -> bool:
        """Return whether an op of ours is applied to tensors, and only ours hears of it."""
        sinks = sinks_now()
        if sinks is not self._sinks:
            if self._trace not in sinks or not all(s is self._trace or s.__class__ is GradientTape for s in sinks):
                return False  # nobody would say that the op has ended
            self._sinks = sinks
        op = local["op"]
        plain = self._plain.get(op)
        if plain is None:
            module = getattr(op.kernel, "__module__", None) or type(op.kernel).__module__
            plain = self._plain[op] = module.partition(".")[0] in (PACKAGE, "numpy", "_operator")
        inputs = local["inputs"] if "inputs" in local else (local["x"], local.get("y", local["x"]))
        return plain and all(x.__class__ in _HELD for x in inputs)

    def _kind(self, frame: types.FrameType) -> int:
        code, caller = frame.f_code, self._stack[-1]
        found = self._roots.get(id(code))
        if found is None:
            found = self._roots[id(code)] = root_of(frame.f_globals), code
        root = found[0]
        if root == PACKAGE:
            return _OURS
        if caller in (_OURS, _BEHIND):
            return _THEIRS if self._around.known(code) else _BEHIND
        return _NUMPY if root == "numpy" else _THEIRS

    def _calls(self, frame: types.FrameType, called: Any) -> None:
        if pure(called):
            if self._stack[-1] == _THEIRS and (called in BY_NAME or reads_attributes(called)):
                through, local = library_call(frame), frame.f_locals.values()
                self._around.looks_up_names(frame.f_code, frame.f_globals, local, through)
            return
        if self._stack[-1] == _THEIRS or not is_numpys(called):
            here, through = users_frame(frame)
            name = _name(called)
            said = f"{name}() is called" if through is None else f"{through.f_code.co_qualname}() calls {name}()"
            place = (here.f_code.co_filename, here.f_lineno)
            self.refusals.append(Refusal(f"{said}, which a program would not repeat", place))


def _name(called: Any) -> str:
    owner, name = getattr(called, "__self__", None), getattr(called, "__name__", "a built-in function")
    if owner is None or getattr(owner, "__name__", "") == "builtins":
        return name
    return f"{owner.__name__ if isinstance(owner, (types.ModuleType, type)) else type(owner).__name__}.{name}"
