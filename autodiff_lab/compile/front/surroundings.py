"""Surroundings: what a function can reach beside its arguments, and whether all of it can be guarded.

A trace takes globals, closures and attributes for what they are at that moment.  So what the code that ran can reach is
looked at before it runs: the globals that it names, its closures and defaults, and from there lists, dicts, objects,
classes, modules.  Before a compiled program runs, all of it must be what it was.  If the trace itself changed it, the
function has a side effect.  What holds state that cannot be read (an iterator, a file, a lock) is not guarded but
refused.
"""

from __future__ import annotations

import builtins
import functools
import sys
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from autodiff_lab.compile.front.codes import LIBRARIES, Code, users_frame
from autodiff_lab.compile.front.kinds import BY_NAME, CALLERS, FORMATTERS, TRUSTED, root_of
from autodiff_lab.compile.front.reach import Reach
from autodiff_lab.engine.tape import GradientTape
from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.engine.variable import Variable
from autodiff_lab.events import Place

_HABITUAL = (str, list, dict, set, Tensor, Variable, GradientTape)
"""Kinds whose attributes are taken for attributes, and not for globals that are missing."""
_INSIDES = frozenset({
    "__builtins__", "__closure__", "__code__", "__defaults__", "__globals__", "__kwdefaults__", "__self__",
    "__subclasses__", "f_builtins", "f_globals", "f_locals",
})  # fmt: skip
"""Attributes through which code gets at what is not its own."""


class Surroundings(Reach):
    """What `function` reaches, as it is now and as functions begin to run; `objects` are arguments kept as they are."""

    def __init__(self, function: Callable[..., Any], objects: list[Any]) -> None:
        super().__init__()
        self._ran: set[tuple[types.CodeType, int]] = set()
        self._known: set[types.CodeType] = set()
        self._begun: tuple[types.CodeType, int] | None = None
        self._visit("the function", function)
        for item in objects:
            self._visit("an argument", item)
        function = getattr(function, "__func__", function)
        if isinstance(function, types.FunctionType) and root_of(function.__globals__) not in TRUSTED:
            self._begun = function.__code__, id(function.__globals__)
            self._begins(function.__code__, function.__globals__)

    # --- what the rest of the front end asks ------------------------------------------------------------------------

    def known(self, code: types.CodeType) -> bool:
        """Return whether this is code of the user's: of a function that was met, or inside of one."""
        return code in self._functions or code in self._known

    def runs(self, frame: types.FrameType) -> None:
        """Examine what a user's function reaches as it begins, before it can change any of it."""
        code, scope = frame.f_code, frame.f_globals
        local = frame.f_locals
        for value in local.values():
            self.passed(value)
        if (code, id(scope)) in self._ran:
            return
        inner = code in self._known
        self._ran.add((code, id(scope)))
        self._through = _library(frame)
        if (code, id(scope)) != self._begun:
            self._begins(code, scope)
        if code not in self._functions and not inner:
            for free in code.co_freevars:
                if free in local:
                    self._visit(free, local[free])
        self._through = None

    def _begins(self, code: types.CodeType, scope: dict[str, Any]) -> None:
        self._started.add(code)
        self._code(code, scope)
        for label, owner in self._bound.pop(code, ()):
            self._visit(label, owner)
        for function in self._functions.get(code, ()):
            self._insides(function)

    def calls_ours(self, frame: types.FrameType) -> None:
        """Note that a function of ours or of NumPy's begins, which may call what it is given."""
        for value in frame.f_locals.values():
            self.passed(value)

    def passed(self, value: Any) -> None:
        """Note a value that went from one function to another, away from the code that has its name."""
        if issubclass(type(value), (types.ModuleType, types.BuiltinFunctionType)):
            self._visit("a value that is passed", value)

    def by_name_in(self, frame: types.FrameType) -> None:
        """Note that a running function looks up an attribute by a name that need not be in its code."""
        self._through = _library(frame)
        self.by_name(frame.f_code, frame.f_globals, frame.f_locals.values())
        self._through = None

    def by_name(self, code: types.CodeType, scope: dict[str, Any], local: Iterable[Any] = ()) -> None:
        """Count every attribute of an object: a name that is not in the code may be looked up."""
        for value in (*(scope.get(name) for name in code.co_names), *local):
            if issubclass(type(value), types.ModuleType) and root_of(vars(value)) not in TRUSTED:
                self._held_module = str(vars(value)["__name__"])
        if self._held_module is not None:
            self._refuse_by_name()
        elif not self._any_name:
            self._any_name = True
            for name in list(self._later):
                self._now(name)

    def heard(self) -> bool:
        """Whether a function of the user's was heard when it began; without that nothing it reaches is guarded."""
        return self._begun is None or any(code is self._begun[0] for code, _ in self._ran)

    def unchanged(self) -> bool:
        """Return whether everything is what it was; replaced by its generated form when the function is compiled."""
        return not any(True for _ in self._guards.changes())

    def serves(self, arrays: list[Any], /) -> bool:
        """Whether that is so, and each array is of a tensor passed once and not known besides; replaced as well."""
        return False

    def finish(self, count: int) -> None:
        """Write the tests, for calls with so many tensors."""
        self.serves = self._guards.written(count, [t._held for t in self.tensors.values()])
        self.unchanged = functools.partial(self.serves, [object() for _ in range(count)])

    def changes(self) -> Iterator[str]:
        """Yield what changed, in words."""
        return self._guards.changes()

    def holds(self, value: Any) -> bool:
        """Return whether this object was there before."""
        return id(value) in self._seen

    # --- code -------------------------------------------------------------------------------------------------------

    def _code(self, code: types.CodeType, scope: dict[str, Any]) -> None:
        read = Code(code)
        if root_of(scope) not in LIBRARIES:
            self._codes.append(read)
        self._known.update(read.inner)
        if not _INSIDES.isdisjoint(read.names):
            self._refuse("it looks into a function")
        if "__dict__" in read.names:
            self.by_name(code, scope)
        for name in (*read.names, *read.texts):
            if name not in self._named:
                self._named.add(name)
                self._now(name)
        for name in read.names:
            self._global(name, scope, read)
        self._missing(read, scope)
        self._unheard(read, scope)

    def _missing(self, read: Code, scope: dict[str, Any]) -> None:
        """Examine missing names: the code may make them, or catch that they are missing."""
        for name in read.names:
            if name not in read.found and name not in scope and not any(hasattr(kind, name) for kind in _HABITUAL):
                if read.catches:
                    self._guards.entry(name, scope, name)
                else:
                    self._guards.absence(name, scope, name)

    def _unheard(self, read: Code, scope: dict[str, Any]) -> None:
        """Built-in functions that another one made in C may call, where nobody hears of it."""
        if read.calls and (read.by_name or not FORMATTERS.isdisjoint(read.names)):
            self.by_name(read.code, scope)
        if read.calls and read.silent:
            self.refusals.append(read.silent[0])

    def _global(self, name: str, scope: dict[str, Any], read: Code) -> None:
        """Examine a name in the code, which may be a global, a built-in or a module, or only an attribute."""
        built_in: Any = vars(builtins)
        if name in scope:
            self._guards.entry(name, scope, name)
            self._under_a_name(name, scope[name], read)
            return
        if name in built_in:
            self._guards.entry(name, scope, name)
            self._guards.entry(name, built_in, name)
            self._under_a_name(name, built_in[name], read)
        if read.imports:
            self._imported(name, scope, read)

    def _under_a_name(self, label: str, value: Any, read: Code) -> None:
        """Examine the value of a name in the code: of a module, only the attributes that the code also names."""
        if issubclass(type(value), types.BuiltinFunctionType):
            read.by_name = read.by_name or value in BY_NAME
            found = [] if value in BY_NAME else self._apart(functools.partial(self._built_in, label, value))
            read.silent += found  # if the code calls it, that is heard
        elif not issubclass(type(value), types.ModuleType):
            self._visit(label, value)
        elif id(value) not in read.modules:
            read.modules[id(value)] = value
            fields = vars(value)
            for name in (*read.names, *read.texts, "__getattr__"):
                if name in fields:
                    read.found.add(name)
                    self._guards.entry(f"{label}.{name}", fields, name)
                    self._under_a_name(f"{label}.{name}", fields[name], read)
        if issubclass(type(value), (type, types.BuiltinFunctionType)) and value in CALLERS:
            read.calls = True

    def _imported(self, name: str, scope: dict[str, Any], read: Code) -> None:
        """Examine a name that may be an imported module; if it is an attribute's, nothing is refused."""
        for full in (name, f"{scope.get('__package__')}.{name}"):
            if full in sys.modules:
                self._guards.entry(full, sys.modules, full)
                found = self._apart(functools.partial(self._under_a_name, full, sys.modules[full], read))
                self.refusals += found if "." in name else ()


def _library(frame: types.FrameType) -> tuple[str, Place] | None:
    """Return the function of a library that the user's code called on the way to this frame, and the user's line."""
    here, through = users_frame(frame)
    return through and (through.f_code.co_qualname, (here.f_code.co_filename, here.f_lineno))
