"""Surroundings: what a function sees beside its arguments, and whether it changed.

A trace takes globals, closures and attributes for what they are at that moment.  So they are guarded: before a compiled
program runs, the names that the function uses, and the lists, dicts and objects behind them, must hold the very values
that they held then.  If they do not, the function is traced again.  If the trace itself changed them, the function has
a side effect, and is not compiled.
"""

from __future__ import annotations

import collections
import enum
import functools
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from autodiff_lab.compile.effects import Doubt, foreign, names_in
from autodiff_lab.engine.dtypes import DType
from autodiff_lab.engine.shape import TensorShape
from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.engine.variable import Variable

_PLAIN = (
    Tensor, Variable, DType, TensorShape, int, float, complex, str, bytes, type(None), np.generic, np.dtype,
    types.BuiltinFunctionType,
)  # fmt: skip
_LARGEST = 2000


class _Name:
    """How to look at a global name."""

    def __init__(self, scope: dict[str, Any], name: str) -> None:
        self.scope, self.name = scope, name

    def __call__(self) -> tuple[Any, ...]:
        return (self.scope.get(self.name),)


class _Bytes:
    """How to look at the numbers of a small array."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __call__(self) -> tuple[Any, ...]:
        return (self.array.tobytes(),)


class Surroundings:
    """What `function` sees, as it is now; `objects` are arguments that are kept as they are.

    Attributes
    ----------
    unchanged : callable
        Whether every part holds the very values that it held.
    complete : bool
        Whether all of it could be looked at.
    doubt : Doubt
        Whether some of it could do more than compute.
    """

    def __init__(self, function: Callable[..., Any], objects: list[Any]) -> None:
        self._parts: list[tuple[str, Any, Any]] = []  # a name, how to look, what was there
        self._seen: set[int] = set()
        self.complete = True
        self.doubt = Doubt()
        self._visit("the function", function)
        for item in objects:
            self._visit("an argument", item)
        self.unchanged = self._written()

    def _written(self) -> Callable[[], bool]:
        """The check as one expression: it runs before every call of a compiled function."""
        scope: dict[str, Any] = {"id": id, "map": map}
        tests: list[str] = []
        for n, (_, look, held) in enumerate(self._parts):
            scope[f"look{n}"], scope[f"held{n}"] = look, held
            if isinstance(look, _Name):
                scope[f"scope{n}"], scope[f"held{n}"] = look.scope, held[0] if held else scope
                tests.append(f"scope{n}.get({look.name!r}) is held{n}")
            elif isinstance(look, _Bytes):
                scope[f"look{n}"], scope[f"held{n}"] = look.array, held[0]
                tests.append(f"look{n}.tobytes() == held{n}")
            else:  # what was held is kept alive by its part, so that its ids are not used again
                scope[f"held{n}"] = [*map(id, held)]
                tests.append(f"[*map(id, look{n}())] == held{n}")
        text = f"lambda: {' and '.join(tests) or 'True'}"
        return eval(text, scope)

    def changes(self) -> Iterator[str]:
        """What changed, in words."""
        for name, look, held in self._parts:
            if not _identical(look(), held):
                yield name

    def _visit(self, name: str, value: Any) -> None:
        if isinstance(value, types.BuiltinFunctionType):
            self.doubt.note_value(value)
        if isinstance(value, _PLAIN) or id(value) in self._seen:
            return
        self._seen.add(id(value))
        if len(self._seen) > _LARGEST:
            self.complete = False
        else:
            next(look for kinds, look in _LOOKS if isinstance(value, kinds))(self, name, value)

    def _method(self, name: str, value: Any) -> None:
        self._visit(name, value.__func__)
        self._visit(name, value.__self__)

    def _partial(self, name: str, value: Any) -> None:
        self._sequence(name, (value.func, *value.args))
        self._visit(name, value.keywords)

    def _sequence(self, name: str, value: Any) -> None:
        self._container(name, value, lambda: tuple(value))

    def _dict(self, name: str, value: Any) -> None:
        self._container(name, value, lambda: (*value, *value.values()))

    def _inner_module(self, name: str, value: Any) -> None:
        if not foreign(value.__name__):
            self.doubt.note_unknown()

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

    def _array(self, name: str, value: Any) -> None:
        """An array that Python code may read numbers from; a large one is data, which enters as an argument."""
        if value.size <= _LARGEST and value.dtype.kind in "biufc":
            look = _Bytes(value)
            self._parts.append((f"{name} (array)", look, look()))

    def _object(self, name: str, value: Any) -> None:
        kind = type(value)
        held = getattr(value, "__dict__", None)
        if isinstance(held, dict) and _watched(kind):
            fields: dict[str, Any] = held
            self._parts.append((f"an attribute of {name} ({kind.__name__})", lambda: tuple(fields.values()),
                                tuple(fields.values())))  # fmt: skip
            for key, item in list(fields.items()):
                self._visit(f"{name}.{key}", item)
        elif foreign(kind.__module__):
            wrapped = getattr(value, "__wrapped__", None)
            if isinstance(wrapped, types.FunctionType):  # a compiled function, and whatever else stands for another
                self._visit(name, wrapped)
            elif not isinstance(value, (np.ufunc, range, slice)):
                self.doubt.note_unknown()
        if not foreign(kind.__module__):
            self._fields(name, value, tuple(key for cls in kind.__mro__ for key in vars(cls).get("__slots__", ())))
        self._visit(name, kind)

    def _class(self, name: str, kind: type) -> None:
        """What a class of the user's holds beside its methods, and what its methods see."""
        for cls in kind.__mro__:
            if foreign(cls.__module__) or isinstance(cls, enum.EnumMeta):
                continue
            held = {key: item for key, item in vars(cls).items() if not key.startswith("__") and _data(item)}
            self._fields(cls.__name__, cls, tuple(held))
            for item in vars(cls).values():
                for part in ("fget", "__func__", "func"):
                    item = getattr(item, part, item)
                if isinstance(item, types.FunctionType):
                    self._visit(name, item)

    def _fields(self, name: str, holder: Any, keys: tuple[str, ...]) -> None:
        """Attributes of an object or a class, by their names."""
        if keys:

            def look() -> tuple[Any, ...]:
                return tuple([getattr(holder, key, None) for key in keys])

            self._parts.append((f"an attribute of {name}", look, look()))
            for key, item in zip(keys, look(), strict=True):
                self._visit(f"{name}.{key}", item)

    def _function(self, name: str, function: types.FunctionType) -> None:
        wrapped = getattr(function, "__wrapped__", None)
        if foreign(function.__module__):
            if wrapped is not None:  # one of our decorators around the user's function
                self._visit("a function", wrapped)
                for cell in function.__closure__ or ():
                    self._cell("a closure", cell)
            return
        self.doubt.note_code(function.__code__)
        scope = function.__globals__
        for used in sorted(names_in(function.__code__)):
            if used in scope:
                value = scope[used]
                self._parts.append((used, _Name(scope, used), (value,)))
                if isinstance(value, types.ModuleType) and not foreign(value.__name__):
                    self._module(value, function.__code__)
                else:
                    self._visit(used, value)
        for free, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            self._cell(free, cell)
        for value in (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()):
            self._visit("a default", value)

    def _module(self, module: types.ModuleType, code: types.CodeType) -> None:
        fields = vars(module)
        for name in sorted(names_in(code)):
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


_LOOKS: tuple[tuple[Any, Callable[[Surroundings, str, Any], None]], ...] = (
    (type, Surroundings._class),
    (types.FunctionType, Surroundings._function),
    (types.MethodType, Surroundings._method),
    (functools.partial, Surroundings._partial),
    ((list, tuple, set, frozenset, collections.deque), Surroundings._sequence),
    (dict, Surroundings._dict),
    (np.random.Generator, Surroundings._generator),
    (types.ModuleType, Surroundings._inner_module),
    (np.ndarray, Surroundings._array),
    (object, Surroundings._object),
)
"""How to look at what: the first that fits."""
_HOLDERS = frozenset({("types", "SimpleNamespace"), ("argparse", "Namespace")})


def _watched(kind: type) -> bool:
    """Whether the attributes of an object are looked at; a library's are not, but for ours that users change."""
    module = kind.__module__
    ours = module.startswith("autodiff_lab.layers") or (module, kind.__name__) in _HOLDERS
    return ours or not foreign(module)


def _data(item: Any) -> bool:
    """Whether a class holds this as a value: no method, property or slot."""
    return not hasattr(item, "__get__") and not isinstance(item, type)


def _identical(now: tuple[Any, ...], then: tuple[Any, ...]) -> bool:
    pairs = zip(now, then, strict=False)
    return len(now) == len(then) and all(a is b or (a.__class__ is bytes and a == b) for a, b in pairs)
