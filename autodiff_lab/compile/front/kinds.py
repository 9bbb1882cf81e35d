"""Kinds: classes whose state Python can read exactly, and built-in functions that only compute.

Everything here is a list of what is *allowed*.  Any other class may hold state, and any other function have effects,
that nothing here can observe; a function that reaches one runs eagerly.
"""

from __future__ import annotations

import builtins
import cmath
import collections
import functools
import itertools
import math
import operator
import string
import types
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import numpy as np

from autodiff_lab.engine.dtypes import DType
from autodiff_lab.engine.op import REGISTRY, Op
from autodiff_lab.engine.shape import TensorShape
from autodiff_lab.engine.silence import HOW_NUMPY_WARNS
from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.events import TensorLeft

_multiarray: Any = import_module(f"{type(np.sin).__module__}._core._multiarray_umath")
PACKAGE = __name__.partition(".")[0]
TRUSTED = (PACKAGE, "numpy")
_OPS = (f"{PACKAGE}.ops.", f"{PACKAGE}.engine.primitives")
_POINTER = 8
_REGISTRY = import_module("_abc")
"""The implementation of abstract classes; registrations with them change a token, which is guarded."""
FIXED: frozenset[type] = frozenset({
    type(None), bool, int, float, complex, str, bytes, range, type(...), type(NotImplemented), Tensor, DType,
    TensorShape, np.dtype, np.ufunc, type(np.sum), types.CodeType, types.GenericAlias, types.UnionType,
    types.GetSetDescriptorType, types.MemberDescriptorType, types.WrapperDescriptorType,
    type(vars(TensorLeft)["how"]), type(vars(Iterator)["_abc_impl"]),
})  # fmt: skip
"""Kinds whose objects never change."""
_CONTAINERS: tuple[type, ...] = (
    collections.OrderedDict, collections.defaultdict, dict, list, tuple, set, frozenset, collections.deque, np.ndarray,
)  # fmt: skip
_NUMBERS: tuple[type, ...] = (bool, int, float, complex, str, bytes)
SOLID: tuple[type, ...] = (*_CONTAINERS, *_NUMBERS, types.SimpleNamespace, type, object)
"""Classes written in C whose whole state can be read; a class written in Python adds attributes to one of them."""
_ERRORS = tuple(e for e in vars(builtins).values() if isinstance(e, type) and issubclass(e, BaseException))
MAKERS: frozenset[type] = frozenset({
    *SOLID, *_ERRORS, range, slice, enumerate, zip, reversed, super, property, staticmethod, classmethod, np.dtype,
    types.GenericAlias, *(kind for kind in vars(itertools).values() if isinstance(kind, type)), operator.itemgetter,
})  # fmt: skip
"""Classes written in C that a function may call: they create an object and do nothing else."""
CALLERS: frozenset[Any] = frozenset({
    map, filter, sorted, min, max, iter, functools.reduce, functools.partial, collections.defaultdict,
    itertools.accumulate, itertools.dropwhile, itertools.filterfalse, itertools.groupby, itertools.starmap,
    itertools.takewhile,
})  # fmt: skip
"""Callables that call their arguments, unobserved if those are built-in functions."""
BY_NAME: frozenset[Any] = frozenset({getattr, setattr, delattr, hasattr, vars, dir})
"""Functions that look up an attribute by a name that need not be in the code."""
FORMATTERS = frozenset({"format", "format_map"})
"""Methods of a string whose fields may name attributes: ``"{0.rate}"``."""


def _some(module: Any, names: str) -> Iterator[Any]:
    return (getattr(module, name) for name in names.split())


_PURE: frozenset[Any] = frozenset({
    *CALLERS, *BY_NAME,
    *_some(builtins, "abs all any ascii bin callable chr divmod format hash hex isinstance issubclass len next oct ord "
           "pow repr round sum __build_class__"),
    *(f for m in (math, cmath, operator) for f in vars(m).values() if isinstance(f, types.BuiltinFunctionType)),
    *_some(_REGISTRY, "_abc_instancecheck _abc_subclasscheck _abc_init"),
    *_some(np, "arange array asanyarray asarray ascontiguousarray asfortranarray fromiter promote_types zeros"),
    itertools.tee,
})  # fmt: skip
_ARRAY_METHODS = frozenset({
    "all", "any", "argmax", "argmin", "argpartition", "argsort", "astype", "clip", "conj", "conjugate", "copy",
    "cumprod", "cumsum", "diagonal", "dot", "fill", "flatten", "item", "max", "mean", "min", "nonzero", "partition",
    "prod", "ravel", "repeat", "reshape", "resize", "round", "searchsorted", "sort", "squeeze", "std", "sum",
    "swapaxes", "take", "tobytes", "tolist", "trace", "transpose", "var", "view",
})  # fmt: skip
_NUMPYS = frozenset(
    getattr(_multiarray, name, None)
    for name in ("bincount", "c_einsum", "compare_chararrays", "dragon4_positional", "dragon4_scientific", "empty",
                 "format_longfloat", "interp", "interp_complex", "normalize_axis_index", "_make_extobj",
                 "_monotonicity", "_place", "_populate_finfo_constants", "_unique_hash", "correlate")
)  # fmt: skip
_NUMPYS_KINDS = frozenset(getattr(_multiarray, name, None) for name in ("nditer", "_array_converter"))


def is_numpys(called: Any) -> bool:
    """Return whether NumPy's own Python code may call this built-in function or method."""
    owner = getattr(called, "__self__", None)
    if owner is None or isinstance(owner, types.ModuleType):
        return called in _NUMPYS
    wraps = isinstance(owner, np.ndarray) and called.__name__ == "__array_wrap__"
    return wraps or type(owner) in _NUMPYS_KINDS or owner is HOW_NUMPY_WARNS


def root_of(scope: dict[str, Any]) -> str:
    """Return the package that code with these globals belongs to."""
    return str(scope.get("__name__")).partition(".")[0]


def ours(kind: type) -> bool:
    """Return whether a class is this package's."""
    return str(kind.__module__).partition(".")[0] == PACKAGE


def trusted(kind: type) -> bool:
    """Return whether a class belongs to a package whose code is not examined: any of its attributes may matter."""
    return str(kind.__module__).partition(".")[0] in TRUSTED and kind not in (np.ndarray, np.dtype)


def harmless(kind: type) -> bool:
    """Return whether a call of a class does nothing but create an object, or call its arguments."""
    return kind in MAKERS or kind in CALLERS or ours(kind)


def foundation(kind: type) -> type | None:
    """Return the class written in C to which a class adds attributes; None if it holds more than can be read.

    An object has room for exactly what its class declares: slots, a dict and weak references.  A larger one, or one
    with methods written in C, holds something else.

    Examples
    --------
    >>> import io
    >>> class Point: ...
    >>> foundation(Point), foundation(io.StringIO)
    (<class 'object'>, None)
    """
    while kind not in SOLID and kind not in _ERRORS:
        base, declared = kind.__base__, vars(kind)
        if ours(kind) and base is not None:
            kind = base
            continue
        if base is None or not kind.__flags__ & 1 << 9:  # not a class written in Python
            return None
        slots = sum(type(item) is types.MemberDescriptorType for item in declared.values())
        links = (kind.__weakrefoffset__ > 0) - (base.__weakrefoffset__ > 0)
        dicts = (kind.__dictoffset__ > 0) - (base.__dictoffset__ > 0)
        in_c = any(type(item) is types.MethodDescriptorType for item in declared.values())
        room = base.__basicsize__ + _POINTER * (slots + links + dicts)
        if in_c or kind.__basicsize__ != room or kind.__itemsize__ != base.__itemsize__:
            return None
        if any(foundation(other) is None for other in kind.__bases__[1:] if other is not base):
            return None
        kind = base
    return kind


def reads_attributes(called: Any) -> bool:
    """Return whether this is a method of a format string with a field that reads an attribute or item.

    Examples
    --------
    >>> reads_attributes("{0.rate}".format), reads_attributes("{:.2f}".format)
    (True, False)
    """
    text = getattr(called, "__self__", None)
    return isinstance(text, str) and called.__name__ in FORMATTERS and _looks_inside(text)


def _looks_inside(text: str) -> bool:
    try:
        fields = list(string.Formatter().parse(text))
    except ValueError:
        return False
    return any(not {".", "["}.isdisjoint(name or "") or _looks_inside(how or "") for _, name, how, _ in fields)


def pure(called: Any) -> bool:
    """Return whether this built-in function or method only computes, or changes the object that it belongs to."""
    owner = getattr(called, "__self__", None)
    if owner is None or isinstance(owner, types.ModuleType):
        return called in _PURE
    if isinstance(owner, type):  # `dict.fromkeys`, `object.__new__`
        return owner in MAKERS or ours(owner) or foundation(owner) is not None
    kind = type(owner)
    if isinstance(owner, (np.ndarray, np.generic)):
        return called.__name__ in _ARRAY_METHODS
    if kind in FIXED or isinstance(owner, (*_ERRORS, types.GeneratorType, type({}.keys()), type({}.items()),
                                          type({}.values()))):  # fmt: skip
        return True
    return ours(kind) or foundation(kind) is not None


_BUILT_IN = [
    (name, kind)
    for name, kind in vars(builtins).items()
    if isinstance(kind, type) or (isinstance(kind, types.BuiltinFunctionType) and pure(kind))
]


def replaced() -> bool:
    """Return whether a built-in function that compiling uses has been replaced."""
    now = vars(builtins)
    for name, kind in _BUILT_IN:  # noqa: SIM110 - `any` is one of them
        if now[name] is not kind:
            return True
    return False


def run_our_rules(entries: list[Any]) -> bool:
    """Return whether a sweep through entries runs rules of our ops alone; others may call functions of the user's."""
    ops: dict[int, Op] = {id(entry[0]): entry[0] for entry in entries}
    for op in ops.values():
        rules = op.rules if isinstance(op.rules, tuple) else (op.rules,)
        if REGISTRY.get(op.name) is not op:
            return False
        if any(callable(rule) and not str(rule.__module__).startswith(_OPS) for rule in rules):
            return False
    return True
