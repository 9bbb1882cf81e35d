"""Reach: everything that can be reached from a value, and how each kind of object is guarded.

Objects whose state can be read are guarded; any others are refused.  Functions are examined when they run, and
attributes when code that runs names them: a model has methods that save and print, and a step that calls none of them
should not be refused because of them.
"""

from __future__ import annotations

import abc
import functools
import types
from collections import defaultdict, deque
from collections.abc import Callable
from typing import Any

import numpy as np

from autodiff_lab.compile.front.codes import Code, line_of
from autodiff_lab.compile.front.frames import Through
from autodiff_lab.compile.front.guards import Guards
from autodiff_lab.compile.front.kinds import BY_NAME, FIXED, TRUSTED, foundation, harmless, ours, pure, root_of, trusted
from autodiff_lab.compile.front.trace import Refusal
from autodiff_lab.engine.op import Op
from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.engine.variable import Variable

_LARGEST = 2000
_LARGEST_ARRAY = 2**22
"""Bytes of the largest array that each call compares with a copy: those of 4 MiB take 0.2 ms."""
_SEQUENCES = (list, tuple, set, frozenset, deque)
_OBJECTS = set("O->?")
_PLAIN_META = (type, abc.ABCMeta)
_QUIET = (types.FunctionType, types.BuiltinFunctionType, types.GetSetDescriptorType, types.MemberDescriptorType,
          str, type(None), bool, types.WrapperDescriptorType)  # fmt: skip


class Reach:
    """Everything that was examined, with its guards.

    Attributes
    ----------
    refusals : list of Refusal
        What cannot be guarded, or may have effects.
    tensors : dict
        Tensors that the user's code can reach, by their ids.
    """

    def __init__(self) -> None:
        self.refusals: list[Refusal] = []
        self.tensors: dict[int, Tensor] = {}
        self._guards = Guards()
        self._seen: dict[int, Any] = {}  # what was examined, kept alive so that ids are not reused
        self._named: set[str] = set()  # every name in code that ran
        self._any_name = False  # whether attributes are looked up by names that are not in the code
        self._later: defaultdict[str, list[Callable[[], None]]] = defaultdict(list)  # attributes of objects
        self._later_in_modules: defaultdict[str, list[Callable[[], None]]] = defaultdict(list)
        self._functions: defaultdict[types.CodeType, list[types.FunctionType]] = defaultdict(list)
        self._bound: defaultdict[types.CodeType, list[tuple[str, Any]]] = defaultdict(list)
        self._started: set[types.CodeType] = set()
        self._codes: list[Code] = []
        self._held_module: str | None = None
        self._through: Through = None

    # --- attributes by their names, and refusals ---------------------------------------------------------------------

    def _now(self, name: str) -> None:
        for look in (*self._later.pop(name, ()), *self._later_in_modules.pop(name, ())):
            look()

    def _attribute(self, name: str, look: Callable[[], None]) -> None:
        """Examine an attribute as soon as code that runs names it."""
        if self._any_name or name in self._named:
            look()
        else:
            self._later[name].append(look)

    def _apart(self, look: Callable[[], None]) -> list[Refusal]:
        """Return what an examination would refuse."""
        refusals, self.refusals = self.refusals, []
        look()
        found, self.refusals = self.refusals, refusals
        return found

    def _refuse_by_name(self) -> None:
        self._refuse(f"an attribute is looked up by a computed name, and may be one of the module {self._held_module}")

    # --- values -----------------------------------------------------------------------------------------------------

    def _visit(self, label: str, value: Any) -> None:
        """Examine a value, and what can be reached from it."""
        kind = type(value)
        if kind is np.ufunc and set("".join(value.types)) <= _OBJECTS:
            self._opaque(label, value)  # it may wrap any function
        of_a_gpu = kind is not Tensor and issubclass(kind, Tensor) and hasattr(kind, "__lab_apply__")
        if kind is Tensor or of_a_gpu:
            self.tensors[id(value)] = value
        is_number = issubclass(kind, np.generic) and not issubclass(kind, np.void)
        if of_a_gpu or kind in FIXED or is_number or id(value) in self._seen:
            return
        self._seen[id(value)] = value
        if len(self._seen) > _LARGEST:
            if len(self._seen) == _LARGEST + 1:
                self.refusals.append(Refusal("it reaches more objects than can be guarded", None))
            return
        look = _LOOKS.get(kind)
        if look is not None:
            look(self, label, value)
        elif issubclass(kind, type):
            self._class(label, value)
        elif issubclass(kind, types.ModuleType):
            self._module(label, value)
        else:
            self._object(label, value)

    def _opaque(self, label: str, value: Any) -> None:
        kind = type(value).__name__
        article = "an" if kind[0] in "aeiouAEIO" else "a"
        what = f"the class {value.__qualname__}" if issubclass(type(value), type) else f"{article} {kind}"
        self._refuse(f"it uses {label} ({what}), whose state cannot be guarded", label)

    def _refuse(self, reason: str, label: str = "") -> None:
        if self._through is not None:
            name, place = self._through
            reason = f"{name}() is called: {reason}"
        else:
            place = line_of(self._codes[-1], label) if self._codes else None  # the latest code of the user's
        self.refusals.append(Refusal(reason, place))

    def _built_in(self, label: str, value: Any) -> None:
        owner = value.__self__
        before = len(self.refusals)
        if owner is not None and not isinstance(owner, (types.ModuleType, type)):
            self._visit(label, owner)
        if (value in BY_NAME or not pure(value)) and len(self.refusals) == before:
            self._refuse(f"it uses {label}, which may have side effects", label)

    def _function(self, label: str, function: types.FunctionType) -> None:
        if root_of(function.__globals__) not in TRUSTED:
            self._functions[function.__code__].append(function)
            self._fields(label, function, function.__dict__)  # attributes can be read and set without a call
            if function.__code__ in self._started:
                self._insides(function)
            return
        if "__wrapped__" in function.__dict__:
            self._visit(label, function.__dict__["__wrapped__"])
        for cell in function.__closure__ or ():  # our decorators may hold functions of the user's
            try:
                held = cell.cell_contents
            except ValueError:
                continue
            for item in held if isinstance(held, (tuple, list)) else (held,):
                if issubclass(type(item), (types.FunctionType, types.MethodType, functools.partial, Variable)) or not (
                    type(item).__module__ == "builtins" or issubclass(type(item), (Op, type)) or not ours(type(item))
                ):
                    self._visit(label, item)

    def _insides(self, function: types.FunctionType) -> None:
        label = function.__qualname__
        self._guards.attribute(f"the code of {label}", function, "__code__")
        for part in ("__defaults__", "__kwdefaults__"):
            if getattr(function, part) is not None:  # without them all arguments were given: new ones are not used
                self._guards.attribute(f"{part} of {label}", function, part)
        if function.__kwdefaults__:
            self._guards.fields(f"the defaults of {label}", function.__kwdefaults__)
        for free, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            for value in self._guards.cell(free, cell):
                self._visit(free, value)
        for value in (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()):
            self._visit("a default", value)

    def _method(self, label: str, value: Any) -> None:
        self._visit(label, value.__func__)
        if not isinstance(value.__func__, types.FunctionType) or value.__func__.__code__ in self._started:
            self._visit(label, value.__self__)
        else:  # the object of a method matters when it runs
            self._bound[value.__func__.__code__].append((label, value.__self__))

    def _wrapper(self, label: str, value: Any) -> None:
        for name in _WRAPPED[type(value)]:
            self._visit(label, getattr(value, name))
        if type(value) is functools.partial:
            self._fields(label, value, vars(value))

    def _module(self, label: str, module: types.ModuleType) -> None:
        """Examine a module that is passed around: any name in any code may be one of its attributes."""
        fields = vars(module)
        if root_of(fields) not in TRUSTED:
            self._held_module = module.__name__
            if self._any_name:
                self._refuse_by_name()

        def look(name: str) -> None:
            self._guards.entry(f"{label}.{name}", fields, name)
            self._visit(f"{label}.{name}", fields.get(name))

        for name in list(fields):
            if name in self._named or name == "__getattr__":
                look(name)
            else:
                self._later_in_modules[name].append(functools.partial(look, name))

    # --- objects and classes ----------------------------------------------------------------------------------------

    def _object(self, label: str, value: Any) -> None:
        kind = type(value)
        base = foundation(kind)
        if issubclass(kind, Variable):
            self._guards.attribute(f"{label}.trainable", value, "trainable")
            self._guards.attribute(f"{label}.name", value, "name")
            self._guards.attribute(f"{label}.constraint", value, "constraint")
            self._visit(f"{label}.constraint", value.constraint)
        elif base is None or base is type or issubclass(base, BaseException):
            self._opaque(label, value)
            return
        elif base is not object:
            self._content(label, value, base)
        mine = ours(kind)
        if kind.__flags__ & 1 << 9 and not mine:
            self._guards.kind(f"the class of {label}", value)
            self._visit(kind.__name__, kind)
        fields = _dict_of(value)
        if fields is not None:
            self._fields(label, value, fields, any(map(trusted, kind.__mro__)), trusted(kind))
        self._slots(label, value, kind)

    def _fields(
        self, label: str, owner: Any, fields: dict[str, Any], at_once: bool = False, strict: bool = True
    ) -> None:
        """Examine attributes in a dict; `at_once` if our code may read them, whatever their names.

        If that is not `strict`, what cannot be guarded is refused only when code that runs names it.
        """
        self._guards.own_fields(f"an attribute of {label}", owner, fields)
        for name, value in list(fields.items()):
            look = functools.partial(self._visit, f"{label}.{name}", value)
            if not at_once:
                self._attribute(str(name), look)
                continue
            named, self.tensors = self.tensors, {}
            found = self._apart(look)
            named, self.tensors = self.tensors, named
            self._attribute(str(name), functools.partial(self.tensors.update, named))
            if strict:
                self.refusals += found
            elif found:
                self._attribute(str(name), functools.partial(self.refusals.extend, found))

    def _slots(self, label: str, value: Any, kind: type) -> None:
        shown = getattr(kind, "_guarded", None)
        found = [
            (name, item)
            for cls in kind.__mro__
            if cls not in (Variable, object)
            for name, item in vars(cls).items()
            if type(item) is types.MemberDescriptorType and (shown is None or name in shown)
        ]
        if not found or foundation(kind) is None:
            return

        self._guards.slots(f"an attribute of {label}", value, found)
        for name, item in found:
            try:
                held = item.__get__(value)
            except AttributeError:
                continue
            see = functools.partial(self._visit, f"{label}.{name}", held)
            see() if trusted(kind) else self._attribute(name, see)

    def _content(self, label: str, value: Any, base: Any) -> None:
        named, kind = f"{label} ({type(value).__name__})", type(value)
        if base is np.ndarray:
            if value.dtype.hasobject:
                self._opaque(label, value)
            elif value.nbytes > _LARGEST_ARRAY:
                what = f"an array of shape {value.shape}, larger than {_LARGEST_ARRAY >> 20} MiB"
                way = "pass it as an argument or convert it to a tensor outside the function"
                self._refuse(f"it uses {label}, {what}: {way}", label)
            else:
                self._guards.content(f"{label} (array)", value)
                for name in () if value.base is None else ("base", "as_strided"):  # ways from a view to the whole array
                    self._attribute(name, functools.partial(self._visit, f"{label}.base", value.base))
        elif issubclass(base, dict):
            if kind is dict:
                self._guards.mapped(named, value)
            else:
                self._guards.items(named, lambda: [*base.keys(value), *base.values(value)])
            if base.__name__ == "defaultdict":
                self._guards.attribute(label, value, "default_factory")
                self._visit(label, value.default_factory)
            for key, item in base.items(value):
                self._visit(label, key)
                self._visit(f"{label}[{key!r}]" if type(key) in (str, int) else label, item)
        elif base in _SEQUENCES:
            self._sequence(label, named, value, base)

    def _proxy(self, label: str, value: types.MappingProxyType[Any, Any]) -> None:
        """Examine a read-only view of a dict, such as the metadata of a field of a dataclass."""
        self._guards.items(f"{label} (mappingproxy)", lambda: [*value, *value.values()])
        for key, item in value.items():
            self._visit(label, key)
            self._visit(f"{label}[{key!r}]" if type(key) in (str, int) else label, item)

    def _row(self, label: str, value: np.void) -> None:
        """Examine a row of a structured array, which shares its memory and is writable, unlike other NumPy scalars."""
        if value.dtype.hasobject:
            self._opaque(label, value)
        else:
            self._guards.content(f"{label} (array)", value)

    def _sequence(self, label: str, named: str, value: Any, base: Any) -> None:
        kind: Any = type(value)
        if kind is list:
            self._guards.listed(named, value)
        elif base not in (tuple, frozenset):
            self._guards.items(named, lambda: [*base.__iter__(value)])
        for n, item in enumerate(base.__iter__(value)):
            self._visit(label if base in (set, frozenset) else f"{label}[{n}]", item)

    def _class(self, label: str, kind: type) -> None:
        if harmless(kind):
            return
        if issubclass(kind, np.generic) and kind is not np.datetime64:  # which knows what time it is
            return
        if foundation(kind) is None:
            self._opaque(label, kind)
            return
        if isinstance(kind, abc.ABCMeta):
            self._guards.registrations()
        if type(kind) not in _PLAIN_META:
            self._visit(type(kind).__name__, type(kind))
        self._guards.attribute(f"the bases of {label}", kind, "__mro__")
        self._guards.kind(f"the class of {label}", kind)
        for cls in kind.__mro__:
            if cls is kind:
                self._members(cls)
            else:
                self._visit(cls.__name__, cls)

    def _members(self, cls: type) -> None:
        members = vars(cls)
        self._guards.fields(f"an attribute of {cls.__name__}", members)
        for name in members.get("__match_args__", ()):
            self._named.add(name)
            self._now(name)
        for name, item in list(members.items()):
            kind = type(item)
            label = f"{cls.__name__}.{name}"
            if kind in _AT_ONCE or (name.startswith("__") and callable(item)):
                self._visit(label, item)
            elif kind not in _QUIET:
                self._attribute(name, functools.partial(self._visit, label, item))


_AT_ONCE = (types.FunctionType, types.BuiltinFunctionType, property, staticmethod, classmethod,
            functools.cached_property)  # fmt: skip
_WRAPPED: dict[type, tuple[str, ...]] = {
    functools.partial: ("func", "args", "keywords"), slice: ("start", "stop", "step"),
    property: ("fget", "fset", "fdel"), staticmethod: ("__func__",), classmethod: ("__func__",),
    functools.cached_property: ("func",),
}  # fmt: skip
"""Classes that do nothing but hold other objects, and in which attributes."""
_LOOKS: dict[type, Callable[[Reach, str, Any], None]] = {
    types.FunctionType: Reach._function,
    types.BuiltinFunctionType: Reach._built_in,
    types.MethodType: Reach._method,
    types.ModuleType: Reach._module,
    types.MappingProxyType: Reach._proxy,
    np.void: Reach._row,
    **dict.fromkeys(_WRAPPED, Reach._wrapper),
}
"""How to examine objects of exactly these classes."""


def _dict_of(value: Any) -> dict[str, Any] | None:
    try:
        found = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return None
    return found if isinstance(found, dict) else None
