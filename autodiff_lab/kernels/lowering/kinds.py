"""Signatures of loops, as Numba writes them: ``int32(int64, float32[:, ::1])``.

A kind is a dtype for numbers, an `ArrayKind` for arrays, an `AddressKind` for the address of numbers, a tuple of kinds,
or None for nothing.
"""

from __future__ import annotations

import ast
import functools
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir

INT1, INT8, INT32, INT64 = ir.IntType(1), ir.IntType(8), ir.IntType(32), ir.IntType(64)
FLOAT, DOUBLE, VOID = ir.FloatType(), ir.DoubleType(), ir.VoidType()
BYTES = INT8.as_pointer()
"""The address of anything."""
BOOL, LONG, REAL = np.dtype(bool), np.dtype(np.int64), np.dtype(np.float64)
"""The dtypes of Python's own numbers."""
LINE = 64
"""Bytes of a cache line: arrays that a loop allocates, and values between the steps of a sequence, begin at one."""


class ArrayKind(NamedTuple):
    """Arrays of a dtype and a rank; `layout` is ``"C"`` for rows in order, ``"F"`` for columns, ``"A"`` for any."""

    dtype: np.dtype[Any]
    rank: int
    layout: str = "C"


class AddressKind(NamedTuple):
    """The address of numbers of a dtype."""

    dtype: np.dtype[Any]


class Untranslatable(Exception):
    """Something that is not in the subset of Python that is translated here."""


def read(signature: str) -> tuple[Any, list[Any]]:
    """Return the kinds of a function's result and of its arguments.

    Raises
    ------
    Untranslatable
        If the signature names a type that is not known here.

    Examples
    --------
    >>> result, given = read("void(float32[:, ::1], int64)")
    >>> result, given[1].name, given[0].rank, given[0].layout
    (None, 'int64', 2, 'C')
    """
    node = ast.parse(signature.strip(), mode="eval").body
    if not isinstance(node, ast.Call):
        raise Untranslatable(f"the signature {signature}")
    return _kind(node.func), [_kind(argument) for argument in node.args]


def _kind(node: ast.expr) -> Any:
    match node:
        case ast.Name(id="void"):
            return None
        case ast.Name(id=name):
            return _dtype(name)
        case ast.Subscript(value=ast.Name(id=name), slice=axes):
            return ArrayKind(_dtype(name), *_layout(axes.elts if isinstance(axes, ast.Tuple) else [axes]))
        case ast.Call(func=ast.Name(id="CPointer"), args=[ast.Name(id=name)]):
            return AddressKind(_dtype(name))
        case ast.Call(func=ast.Name(id="Tuple"), args=[ast.Tuple(elts=kinds)]):
            return tuple([_kind(kind) for kind in kinds])
        case _:
            raise Untranslatable(f"the type {ast.unparse(node)}")


def _layout(axes: list[ast.expr]) -> tuple[int, str]:
    steps = [isinstance(axis, ast.Slice) and axis.step is not None for axis in axes]
    layout = "C" if steps[-1] else "F" if steps[0] else "A"
    return len(axes), layout


def _dtype(name: str) -> np.dtype[Any]:
    try:
        return np.dtype("bool" if name == "boolean" else name)
    except TypeError:
        raise Untranslatable(f"the type {name}") from None


def declared(module: ir.Module, name: str, result: Any, kinds: list[Any]) -> Any:
    """Return a function of C's or Python's, declared once in a module."""
    return module.globals.get(name) or ir.Function(module, ir.FunctionType(result, kinds), name)


def real_of(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype of the parts of a complex number."""
    return np.dtype(f"f{dtype.itemsize // 2}")


def in_register(dtype: np.dtype[Any]) -> Any:
    """Return LLVM's type of a number that is computed with.

    Raises
    ------
    Untranslatable
        If numbers of the dtype are not computed with here.
    """
    if dtype == BOOL:
        return INT1
    return in_memory(dtype)


@functools.cache
def in_memory(dtype: np.dtype[Any]) -> Any:
    """Return LLVM's type of an element of an array."""
    if dtype.kind == "c":
        return ir.LiteralStructType([in_memory(real_of(dtype))] * 2)
    if dtype.kind in "iub":
        return ir.IntType(8 * dtype.itemsize)
    if dtype.name in ("float32", "float64"):
        return FLOAT if dtype.itemsize == 4 else DOUBLE
    raise Untranslatable(f"numbers of dtype {dtype}")
