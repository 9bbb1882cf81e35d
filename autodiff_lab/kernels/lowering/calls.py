"""What calls of Python's, NumPy's and the C library's functions become in lowered code."""

from __future__ import annotations

import ast
import builtins
import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir

from autodiff_lab.kernels.lowering.arithmetic import Arithmetic, unified
from autodiff_lab.kernels.lowering.kinds import BOOL, LONG, REAL, Untranslatable, declared
from autodiff_lab.kernels.lowering.values import Array, Number, Range, constant, number

_INTRINSIC = {
    "exp": "llvm.exp", "log": "llvm.log", "log2": "llvm.log2", "log10": "llvm.log10", "sin": "llvm.sin",
    "cos": "llvm.cos", "sqrt": "llvm.sqrt", "fabs": "llvm.fabs", "pow": "llvm.pow",
}  # fmt: skip
_IN_C = (
    "log1p", "expm1", "erf", "erfc", "tan", "asin", "acos", "atan", "asinh", "acosh", "atanh", "sinh", "cosh", "tanh",
    "lgamma", "atan2",
)  # fmt: skip
Call = Callable[[Arithmetic, list[Any]], Any]


def of_mathematics(name: str) -> Call:
    """Return what writes a function of `math`, in the precision of its arguments."""

    def write(a: Arithmetic, args: list[Any]) -> Number:
        given = [number(one) for one in args]
        dtype = functools.reduce(unified, [one.dtype for one in given])
        dtype = dtype if dtype.kind == "f" else REAL
        values = [a.cast(one, dtype).value for one in given]
        if name in _INTRINSIC:
            return Number(dtype, a.call(_INTRINSIC[name], *values))
        kind, named = values[0].type, name + ("f" if dtype.itemsize == 4 else "")
        function = declared(a.b.module, named, kind, [kind] * len(values))
        function.attributes.add("nounwind")
        return Number(dtype, a.b.call(function, values))

    return write


def _minmax(op: ast.cmpop) -> Call:
    """Return what writes ``min`` or ``max``: a later argument is taken only if it compares so with an earlier one."""

    def write(a: Arithmetic, args: list[Any]) -> Number:
        found = number(args[0])
        for one in map(number, args[1:]):
            dtype = unified(found.dtype, one.dtype)
            now, new = a.cast(found, dtype), a.cast(one, dtype)
            found = a.chosen(a.compare(op, new, now), new, now)
        return found

    return write


def _range(a: Arithmetic, args: list[Any]) -> Range:
    given = [a.cast(number(one), LONG) for one in args]
    start, stop = (constant(LONG, 0), given[0]) if len(given) == 1 else given[:2]
    step: Any = given[2] if len(given) == 3 else constant(LONG, 1)
    if isinstance(step.value, ir.Constant):
        step = int(step.value.constant)
    return Range(start, stop, step)


def _complex(a: Arithmetic, args: list[Any]) -> Number:
    re, im = map(number, args)
    dtype = np.dtype(np.float32) if re.dtype == im.dtype == np.float32 else REAL
    return a.complex(a.cast(re, dtype), a.cast(im, dtype))


def _test(written: Callable[[Arithmetic, Number], Any]) -> Call:
    """Return what writes a test of a float, which integers never pass."""

    def write(a: Arithmetic, args: list[Any]) -> Number:
        (x,) = map(number, args)
        return Number(BOOL, written(a, x)) if x.dtype.kind == "f" else constant(BOOL, False)

    return write


_is_nan = _test(lambda a, x: a.b.fcmp_unordered("uno", x.value, x.value))


def _is_infinite(a: Arithmetic, x: Number) -> Any:
    return a.compare(ast.Eq(), a.size(x), constant(x.dtype, math.inf))


def _rounded(name: str) -> Call:
    def write(a: Arithmetic, args: list[Any]) -> Number:
        x = number(args[0])
        return a.cast(Number(x.dtype, a.call(name, x.value)), LONG) if x.dtype.kind == "f" else a.cast(x, LONG)

    return write


WRITTEN: dict[Any, Call] = {
    builtins.abs: lambda a, args: a.size(number(args[0])),
    builtins.min: _minmax(ast.Lt()),
    builtins.max: _minmax(ast.Gt()),
    builtins.range: _range,
    builtins.divmod: lambda a, args: tuple([a.binary(op, *map(number, args)) for op in (ast.FloorDiv(), ast.Mod())]),
    builtins.int: lambda a, args: a.cast(number(args[0]), LONG),
    builtins.float: lambda a, args: a.cast(number(args[0]), REAL),
    builtins.bool: lambda a, args: a.cast(number(args[0]), BOOL),
    builtins.complex: _complex,
    math.isnan: _is_nan,
    math.isinf: _test(_is_infinite),
    math.floor: _rounded("llvm.floor"),
    math.ceil: _rounded("llvm.ceil"),
    **{getattr(math, name): of_mathematics(name) for name in (*_INTRINSIC, *_IN_C)},
    **{getattr(np, name): of_mathematics(name) for name in ("sqrt", "exp", "log", "sin", "cos")},
    np.isnan: _is_nan,
    np.abs: lambda a, args: a.size(number(args[0])),
}
"""What writes a call, by the function that is called."""
KNOWN = (np.finfo, np.iinfo, np.dtype)
"""What is called at once, when the code is written."""


def call(a: Arithmetic, function: Any, args: list[Any]) -> Any:
    """Write a call of a function that is not made of code of ours; return its result.

    Raises
    ------
    Untranslatable
        If it is none of those that are known.
    """
    if isinstance(function, type) and issubclass(function, np.generic):
        (x,) = args
        return a.cast(number(x), np.dtype(function))
    if function in KNOWN or isinstance(function, functools.partial):  # the latter is a method of a number
        return function(*args)
    write = WRITTEN.get(function)
    if write is None:
        raise Untranslatable(f"a call of {getattr(function, '__qualname__', function)}")
    return write(a, args)


def attribute(a: Arithmetic, thing: Any, name: str) -> Any:
    """Return an attribute of a value.

    Raises
    ------
    Untranslatable
        If it is none of those that are known.
    """
    if not isinstance(thing, (Array, Number)):
        return getattr(thing, name)
    found = (_OF_ARRAYS if isinstance(thing, Array) else _OF_NUMBERS).get(name)
    if found is None or (name in ("real", "imag") and thing.dtype.kind != "c"):
        raise Untranslatable(f"the attribute {name}")
    return found(a, thing)


def _size(a: Arithmetic, array: Array) -> Number:
    total = array.shape[0]
    for length in array.shape[1:]:
        total = a.b.mul(total, length)
    return Number(LONG, total)


_OF_ARRAYS: dict[str, Callable[[Arithmetic, Any], Any]] = {
    "size": _size,
    "shape": lambda a, x: tuple([Number(LONG, length) for length in x.shape]),
    "ndim": lambda a, x: len(x.shape),
    "dtype": lambda a, x: x.dtype,
    "itemsize": lambda a, x: x.dtype.itemsize,
    "ctypes": lambda a, x: Number(LONG, a.b.ptrtoint(x.data, ir.IntType(64))),
}
_OF_NUMBERS: dict[str, Callable[[Arithmetic, Any], Any]] = {
    "dtype": lambda a, x: x.dtype,
    "real": lambda a, x: a.parts(x)[0],
    "imag": lambda a, x: a.parts(x)[1],
    "data": lambda a, x: x,  # of ``array.ctypes``
    "conjugate": lambda a, x: functools.partial(_conjugate, a, x),
}


def _conjugate(a: Arithmetic, x: Number) -> Number:
    if x.dtype.kind != "c":
        return x
    re, im = a.parts(x)
    return a.complex(re, a.negative(im))
