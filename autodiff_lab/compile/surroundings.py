"""Surroundings: what a function sees beside its arguments, and whether it changed.

A trace takes globals, closures and attributes for what they are at that moment.  So they are guarded: before a compiled
program runs, the names that the function uses, and the lists, dicts and objects behind them, must hold the very values
that they held then.  If they do not, the function is traced again.  If the trace itself changed them, the function has
a side effect, and is not compiled.
"""

from __future__ import annotations

import gc
import operator
import random
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any, Self

import numpy as np

from autodiff_lab.engine.dtypes import DType
from autodiff_lab.engine.shape import TensorShape
from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.engine.variable import Variable

_PLAIN = (
    Tensor, Variable, DType, TensorShape, int, float, complex, str, bytes, type(None), np.generic, np.ndarray, np.dtype,
    type, types.BuiltinFunctionType,
)  # fmt: skip
_LARGEST = 2000
_OURS = ("autodiff_lab", "numpy", "builtins")


def _foreign(module: str | None) -> bool:
    """Whether code of this module is a library's, whose insides are not watched."""
    root = (module or "").partition(".")[0]
    return root in _OURS or root in sys.stdlib_module_names


class _Name:
    """How to look at a global name."""

    def __init__(self, scope: dict[str, Any], name: str) -> None:
        self.scope, self.name = scope, name

    def __call__(self) -> tuple[Any, ...]:
        return (self.scope.get(self.name),)


class Surroundings:
    """What `function` sees, as it is now; `objects` are arguments that are kept as they are.

    Attributes
    ----------
    unchanged : callable
        Whether every part holds the very values that it held.
    complete : bool
        Whether all of it could be looked at.
    """

    def __init__(self, function: Callable[..., Any], objects: list[Any]) -> None:
        self._parts: list[tuple[str, Any, Any]] = []  # a name, how to look, what was there
        self._seen: set[int] = set()
        self.complete = True
        self._visit("the function", function)
        for item in objects:
            self._visit("an argument", item)
        self.unchanged = self._written()

    def _written(self) -> Callable[[], bool]:
        """The check as one expression: it runs before every call of a compiled function."""
        scope: dict[str, Any] = {"same": _identical}
        tests: list[str] = []
        for n, (_, look, held) in enumerate(self._parts):
            scope[f"look{n}"], scope[f"held{n}"] = look, held
            if isinstance(look, _Name):
                scope[f"scope{n}"], scope[f"held{n}"] = look.scope, held[0] if held else scope
                tests.append(f"scope{n}.get({look.name!r}) is held{n}")
            else:
                tests.append(f"same(look{n}(), held{n})")
        text = f"lambda: {' and '.join(tests) or 'True'}"
        return eval(text, scope)

    def changes(self) -> Iterator[str]:
        """What changed, in words."""
        for name, look, held in self._parts:
            if not _identical(look(), held):
                yield name

    def _visit(self, name: str, value: Any) -> None:
        if isinstance(value, _PLAIN) or id(value) in self._seen:
            return
        self._seen.add(id(value))
        if len(self._seen) > _LARGEST:
            self.complete = False
        elif isinstance(value, types.FunctionType):
            self._function(value)
        elif isinstance(value, types.MethodType):
            self._visit(name, value.__func__)
            self._visit(name, value.__self__)
        elif isinstance(value, (list, tuple, set, frozenset)):
            self._container(name, value, lambda: tuple(value))
        elif isinstance(value, dict):
            self._container(name, value, lambda: (*value, *value.values()))
        elif isinstance(value, np.random.Generator):
            self._generator(name, value)
        elif not isinstance(value, types.ModuleType):
            self._object(name, value)

    def _container(self, name: str, value: Any, look: Callable[[], tuple[Any, ...]]) -> None:
        items = look()
        if not isinstance(value, (tuple, frozenset)):
            self._parts.append((f"{name} ({type(value).__name__})", look, items))
        if len(items) > _LARGEST:
            self.complete = False
            return
        for item in items:
            self._visit(name, item)

    def _generator(self, name: str, value: np.random.Generator) -> None:
        def look() -> tuple[Any, ...]:
            return (sys.intern(str(value.bit_generator.state)),)

        self._parts.append((name, look, look()))

    def _object(self, name: str, value: Any) -> None:
        held = getattr(value, "__dict__", None)
        if isinstance(held, dict) and not _foreign_object(value):
            fields: dict[str, Any] = held
            self._parts.append((f"an attribute of {name} ({type(value).__name__})", lambda: tuple(fields.values()),
                                tuple(fields.values())))  # fmt: skip
            for key, item in list(fields.items()):
                self._visit(f"{name}.{key}", item)
        for cls in type(value).__mro__:
            if not _foreign(cls.__module__):
                for method in list(vars(cls).values()):
                    if isinstance(method, types.FunctionType):
                        self._visit(name, method)

    def _function(self, function: types.FunctionType) -> None:
        wrapped = getattr(function, "__wrapped__", None)
        if _foreign(function.__module__):
            if wrapped is not None:  # one of our decorators around the user's function
                self._visit("a function", wrapped)
                for cell in function.__closure__ or ():
                    self._cell("a closure", cell)
            return
        scope = function.__globals__
        for name in sorted(_names(function.__code__)):
            if name in scope:
                value = scope[name]
                self._parts.append((name, _Name(scope, name), (value,)))
                self._visit(name, value)
                if isinstance(value, types.ModuleType) and not _foreign(value.__name__):
                    self._module(value, function.__code__)
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            self._cell(name, cell)
        for value in (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()):
            self._visit("a default", value)

    def _module(self, module: types.ModuleType, code: types.CodeType) -> None:
        fields = vars(module)
        for name in sorted(_names(code)):
            if name in fields:
                value = fields[name]
                self._parts.append((f"{module.__name__}.{name}", _Name(fields, name), (value,)))
                self._visit(f"{module.__name__}.{name}", value)

    def _cell(self, name: str, cell: Any) -> None:
        def look() -> tuple[Any, ...]:
            try:
                return (cell.cell_contents,)
            except ValueError:  # not assigned yet
                return ()

        held = look()
        self._parts.append((name, look, held))
        for value in held:
            self._visit(name, value)


def _foreign_object(value: Any) -> bool:
    """Whether an object's insides are a library's; layers and optimizers are ours, and users change them."""
    module = type(value).__module__
    ours = module.startswith("autodiff_lab.layers")
    return _foreign(module) and not ours


def _identical(now: tuple[Any, ...], then: tuple[Any, ...]) -> bool:
    return len(now) == len(then) and all(map(operator.is_, now, then))


def _names(code: types.CodeType) -> set[str]:
    """The global names that a function uses, inner functions included."""
    found = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            found |= _names(constant)
    return found


def _random_states() -> tuple[Any, ...]:
    """What the generators behind `random` and `numpy.random` will draw next."""
    state: Any = np.random.get_state(legacy=False)  # noqa: NPY002 - users call it, so it is watched
    return random.getstate(), state["state"]["key"].tobytes(), state["state"]["pos"]


class Effects:
    """Notes, while a function is traced, the calls of the user's code that do something beside computing."""

    def __init__(self) -> None:
        self.found: list[tuple[str, tuple[str, int] | None]] = []
        self._alone = False
        self._drawn: Any = None

    def __enter__(self) -> Self:
        self._drawn = _random_states()
        self._alone = sys.getprofile() is None  # a profiler that measures this run is not disturbed
        if self._alone:
            sys.setprofile(self._hear)
        return self

    def __exit__(self, *error: object) -> None:
        if self._alone:
            sys.setprofile(None)
        if not self.found and self._drawn != _random_states():
            self.found.append(("random numbers are drawn", None))

    def _hear(self, frame: types.FrameType, event: str, called: Any) -> None:
        if event == "c_call" and not self.found:
            reason = _effect(called)
            if reason is not None and not _foreign(frame.f_globals.get("__name__")) and not _collecting(frame):
                self.found.append((reason, (frame.f_code.co_filename, frame.f_lineno)))


def _collecting(frame: types.FrameType | None) -> bool:
    """Whether a frame runs because Python collects garbage, which may happen in the middle of anything."""
    callbacks = {getattr(callback, "__code__", None) for callback in gc.callbacks}
    while frame is not None:
        if frame.f_code in callbacks:
            return True
        frame = frame.f_back
    return False


_EFFECTS = frozenset({"print", "input", "open", "breakpoint"})
_CLOCKS = frozenset({"time", "datetime", "posix", "nt", "secrets", "select", "_socket"})
_FILES = frozenset({"write", "read", "readline", "readlines", "writelines"})


def _effect(called: Any) -> str | None:
    name = getattr(called, "__name__", "")
    owner = getattr(called, "__self__", None)
    if name in _EFFECTS and getattr(owner, "__name__", "") in ("builtins", "io", "_io"):
        return f"{name}() is called"
    if isinstance(owner, types.ModuleType):
        return f"{owner.__name__}.{name}() is called" if owner.__name__ in _CLOCKS else None
    kind = type(owner).__module__
    if kind in ("random", "_random") or kind.startswith("numpy.random"):
        return f"random numbers are drawn by {name}()"
    if name in ("now", "utcnow", "today") and isinstance(owner, type):
        return f"{owner.__name__}.{name}() is called"
    return f"a file is used by {name}()" if kind in ("_io", "io") and name in _FILES else None
