"""Surroundings: what a function can reach besides its arguments, and whether all of it can be guarded.

A trace takes globals, closures and attributes as they are at that moment.  So everything that code can reach is
examined before the code runs: the globals that it names, its closures and defaults, and from there lists, dicts,
objects, classes and modules.  Before each call of a compiled program all of it must be unchanged.  If the trace itself
changed it, the function has a side effect.  Objects whose state cannot be read (an iterator, a file, a lock) are
refused.
"""

from __future__ import annotations

import builtins
import functools
import sys
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from autodiff_lab.compile.front.codes import Code
from autodiff_lab.compile.front.frames import LIBRARIES, Through
from autodiff_lab.compile.front.kinds import BY_NAME, CALLERS, FORMATTERS, TRUSTED, root_of
from autodiff_lab.compile.front.reach import Reach
from autodiff_lab.engine.tape import GradientTape
from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.engine.variable import Variable

_HABITUAL = (str, list, dict, set, Tensor, Variable, GradientTape)
"""Classes whose attributes count as attributes, and not as missing globals."""
_INSIDES = frozenset({
    "__builtins__", "__closure__", "__code__", "__defaults__", "__globals__", "__kwdefaults__", "__self__",
    "__subclasses__", "f_builtins", "f_globals", "f_locals",
})  # fmt: skip
"""Attributes through which code inspects functions and frames."""


class Surroundings(Reach):
    """What `function` reaches, now and as functions begin to run; `objects` are arguments that count by identity."""

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
            self._start(function.__code__, function.__globals__)

    # --- what the rest of the front end calls -----------------------------------------------------------------------

    def known(self, code: types.CodeType) -> bool:
        """Return whether this code belongs to a function that was reached, or is nested in one."""
        return code in self._functions or code in self._known

    def begins(
        self, code: types.CodeType, scope: dict[str, Any], local: dict[str, Any], through: Callable[[], Through]
    ) -> None:
        """Examine what a function reaches as it begins, before it can change any of it.

        `through` finds the library function that the user's code called, and the user's line, for messages.
        """
        self.pass_on(local.values())
        if (code, id(scope)) in self._ran:
            return
        inner = code in self._known
        self._ran.add((code, id(scope)))
        self._through = through()
        if (code, id(scope)) != self._begun:
            self._start(code, scope)
        if code not in self._functions and not inner:
            for free in code.co_freevars:
                if free in local:
                    self._visit(free, local[free])
        self._through = None

    def _start(self, code: types.CodeType, scope: dict[str, Any]) -> None:
        self._started.add(code)
        self._code(code, scope)
        for label, owner in self._bound.pop(code, ()):
            self._visit(label, owner)
        for function in self._functions.get(code, ()):
            self._insides(function)

    def pass_on(self, values: Iterable[Any]) -> None:
        """Examine values that went from one function to another, away from the code that names them."""
        for value in values:
            if issubclass(type(value), (types.ModuleType, types.BuiltinFunctionType)):
                self._visit("a value that is passed", value)

    def looks_up_names(
        self, code: types.CodeType, scope: dict[str, Any], local: Iterable[Any] = (), through: Through = None
    ) -> None:
        """Examine every attribute of every object from here on: running code looks up names that it may compute."""
        before, self._through = self._through, through or self._through
        for value in (*(scope.get(name) for name in code.co_names), *local):
            if issubclass(type(value), types.ModuleType) and root_of(vars(value)) not in TRUSTED:
                self._held_module = str(vars(value)["__name__"])
        if self._held_module is not None:
            self._refuse_by_name()
        elif not self._any_name:
            self._any_name = True
            for name in list(self._later):
                self._now(name)
        self._through = before

    def observed(self) -> bool:
        """Return whether the function was observed as it began; otherwise nothing that it reaches is guarded."""
        return self._begun is None or any(code is self._begun[0] for code, _ in self._ran)

    def unchanged(self) -> bool:
        """Return whether everything is as it was; `finish` puts its generated form here."""
        return not any(True for _ in self._guards.changes())

    def serves(self, arrays: list[Any], /) -> bool:
        """Return the same, and whether no array belongs to two tensors or to one known otherwise; replaced as well."""
        return False

    def finish(self, count: int) -> None:
        """Generate the test for calls with `count` tensors."""
        self.serves = self._guards.written(count, [t._held for t in self.tensors.values()])
        self.unchanged = functools.partial(self.serves, [object() for _ in range(count)])

    def changes(self) -> Iterator[str]:
        """Yield descriptions of what changed."""
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
            self._refuse("it inspects the insides of a function")
        if "__dict__" in read.names:
            self.looks_up_names(code, scope)
        for name in (*read.names, *read.texts):
            if name not in self._named:
                self._named.add(name)
                self._now(name)
        for name in read.names:
            self._global(name, scope, read)
        self._missing(read, scope)
        self._unobserved(read, scope)

    def _missing(self, read: Code, scope: dict[str, Any]) -> None:
        """Guard missing names: the code may create them, or catch the error."""
        for name in read.names:
            if name not in read.found and name not in scope and not any(hasattr(kind, name) for kind in _HABITUAL):
                if read.catches:
                    self._guards.entry(name, scope, name)
                else:
                    self._guards.absence(name, scope, name)

    def _unobserved(self, read: Code, scope: dict[str, Any]) -> None:
        """Examine built-in functions that another one, written in C, may call unobserved."""
        if read.calls and (read.by_name or not FORMATTERS.isdisjoint(read.names)):
            self.looks_up_names(read.code, scope)
        if read.calls and read.silent:
            self.refusals.append(read.silent[0])

    def _global(self, name: str, scope: dict[str, Any], read: Code) -> None:
        """Examine a name in the code: a global, a built-in or a module, or only an attribute."""
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
            read.silent += found  # a call by the code itself is observed
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
        """Examine a name that may be an imported module; if it may be an attribute, nothing is refused."""
        for full in (name, f"{scope.get('__package__')}.{name}"):
            if full in sys.modules:
                self._guards.entry(full, sys.modules, full)
                found = self._apart(functools.partial(self._under_a_name, full, sys.modules[full], read))
                self.refusals += found if "." in name else ()
