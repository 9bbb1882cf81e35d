"""Values while code is written: numbers and arrays that the code computes, and objects that Python knows already.

What Python knows (functions, dtypes, constants) needs no class of its own; `lift` makes a `Number` of a constant where
the code computes with it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir

from autodiff_lab.kernels.lowering.kinds import BOOL, INT64, LONG, REAL, Untranslatable, in_register


class Number(NamedTuple):
    """A number in a register."""

    dtype: np.dtype[Any]
    value: Any


class Array(NamedTuple):
    """An array with its rows in order: where its elements begin, and its shape."""

    dtype: np.dtype[Any]
    data: Any
    shape: tuple[Any, ...]


class Range(NamedTuple):
    """What ``range`` or `unordered` returns; the step is an int of Python's if it is constant."""

    start: Number
    stop: Number
    step: Any
    independent: bool = False


def lift(thing: Any) -> Any:
    """Return a constant as a `Number`, anything else as it is."""
    if isinstance(thing, (bool, np.bool_)):
        return constant(BOOL, bool(thing))
    if isinstance(thing, int):
        return constant(LONG, thing)
    if isinstance(thing, float) and not isinstance(thing, np.generic):
        return constant(REAL, thing)
    if isinstance(thing, complex) and not isinstance(thing, np.generic):
        return constant(np.dtype(complex), thing)
    if isinstance(thing, np.generic):
        return constant(thing.dtype, thing.item())
    return thing


def constant(dtype: np.dtype[Any], value: Any) -> Number:
    """Return a constant of a dtype."""
    kind = in_register(dtype)
    if dtype.kind == "c":
        part = kind.elements[0]
        return Number(dtype, ir.Constant(kind, [ir.Constant(part, one) for one in (value.real, value.imag)]))
    return Number(dtype, ir.Constant(kind, value))


def long(value: int) -> Any:
    """Return a constant of 64 bits."""
    return ir.Constant(INT64, value)


def number(thing: Any) -> Number:
    """Return a value that must be a number.

    Raises
    ------
    Untranslatable
        If it is none.
    """
    lifted = lift(thing)
    if not isinstance(lifted, Number):
        raise Untranslatable(f"{thing!r} in the place of a number")
    return lifted


def parts(value: Any) -> list[Any]:
    """Return what a value consists of in registers, in order."""
    match value:
        case Number():
            return [value.value]
        case Array():
            return [value.data, *value.shape]
        case Range(start, stop, _):
            return [start.value, stop.value]
        case tuple():
            return [part for one in value for part in parts(one)]
        case None:
            return []
        case _:
            raise Untranslatable(f"{value!r} in a variable")


def with_parts(value: Any, new: list[Any]) -> Any:
    """Return a value like another one that consists of other parts, which are taken from the front of a list."""
    match value:
        case Number():
            return value._replace(value=new.pop(0))
        case Array():
            data = new.pop(0)
            return Array(value.dtype, data, tuple([new.pop(0) for _ in value.shape]))
        case Range(start, stop, step):
            return Range(start._replace(value=new.pop(0)), stop._replace(value=new.pop(0)), step)
        case tuple():
            return tuple([with_parts(one, new) for one in value])
        case _:
            return value


def lifted(value: Any) -> Any:
    """Return a value with all of its constants lifted."""
    return tuple([lifted(one) for one in value]) if type(value) is tuple else lift(value)


def alike(x: Any, y: Any) -> bool:
    """Return whether two values are of one kind."""
    match x, y:
        case Number(), Number():
            return bool(x.dtype == y.dtype)
        case Array(), Array():
            return bool(x.dtype == y.dtype) and len(x.shape) == len(y.shape)
        case Range(), Range():
            return isinstance(x.step, int) and x.step == y.step
        case tuple(), tuple():
            return type(x) is type(y) and len(x) == len(y) and all(map(alike, x, y))
        case _:
            return x is None and y is None
