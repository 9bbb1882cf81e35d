"""Passes: rewritings of a Program that do not change a bit of its results.

The trace folds constants, as it knows which values depend on no input.  Passes apply identities that are exact in
floating point (a product with 1, a double minus, ...), merge common subexpressions, and drop unused lines.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_lab.compile.program.lines import JUDGING
from autodiff_lab.compile.program.program import Line, Program
from autodiff_lab.kernels.base.compiler import breathe
from autodiff_lab.kernels.cuda.array import DeviceArray

COMMUTATIVE = frozenset({"add", "multiply", "equal", "not_equal", "logical_and", "logical_or"})
_LARGEST_SEARCHED = 10_000_000


def simplify(program: Program) -> Program:
    """Apply all passes."""
    uniform = {i: value for i, array in program.constants.items() if (value := one_value(array)) is not None}
    same: dict[int, int] = {}
    seen: dict[Any, tuple[int, ...]] = {}
    made: dict[int, Line] = {}
    constants = _merged(program, same, uniform)
    lines: list[Line] = []
    for line in program.lines:
        breathe()
        if not same.keys().isdisjoint(line.ins):
            line = line._replace(ins=tuple([same.get(i, i) for i in line.ins]))
        line = _direct(line, made)
        twin = _unneeded(line, program, uniform, made)
        if twin is not None:
            same[line.outs[0]] = same.get(twin, twin)
            continue
        key = _key(line, program)
        first = seen.setdefault(key, line.outs)
        if first is not line.outs:
            same.update(zip(line.outs, first, strict=True))
            continue
        lines.append(line)
        made.update(dict.fromkeys(line.outs, line))
    constants = {i: _spread(array, uniform.get(i)) for i, array in constants.items()}
    return without_dead(program.with_lines(lines, same, constants))


def one_value(array: Any) -> Any:
    """Return the one value that all elements of a constant have, bit for bit, None if they differ."""
    if array.__class__ is DeviceArray:
        return _one_value_there(array)
    if array.shape == ():
        return array
    if array.size == 0 or array.size > _LARGEST_SEARCHED or array.dtype.kind not in "fiubc":
        return None
    first = array.flat[0]
    if array.dtype.kind == "c":
        return None if one_value(array.real) is None or one_value(array.imag) is None else first
    if all(s == 0 or n == 1 for s, n in zip(array.strides, array.shape, strict=True)):
        return first
    alike = bool((array == first).all()) and (first != 0 or bool((np.signbit(array) == np.signbit(first)).all()))
    return first if alike else None


def _one_value_there(array: Any) -> Any:
    """Return the same for a constant on a GPU, of which one element is fetched."""
    raw = array.raw
    if raw.size == 0 or raw.dtype.kind not in "fiub":
        return None
    row = array.memory.module.ascontiguousarray(raw).reshape(-1)
    bits = row.view(f"u{raw.dtype.itemsize}")
    return array.memory.download(row[:1])[0] if bool((bits == bits[0]).all()) else None


def _spread(array: Any, value: Any) -> Any:
    """Return a constant on a GPU whose elements are all alike as one broadcast number on the CPU."""
    if array.__class__ is not DeviceArray or value is None or not array.ndim:
        return array
    return np.broadcast_to(value, array.shape)


def _merged(program: Program, same: dict[int, int], uniform: dict[int, Any]) -> dict[int, Any]:
    """Merge constants with the same bits, if they are small or all their elements are alike."""
    seen: dict[Any, int] = {}
    kept: dict[int, Any] = {}
    for i, array in program.constants.items():
        there = array.__class__ is DeviceArray
        small = array.size <= 1000
        host = array.to_host() if there and small else array
        place = array.memory if there else None
        alike = () if small else (uniform[i].tobytes(),) if i in uniform else (i,)
        bits = (np.asarray(host).tobytes(),) if small else alike
        key = (array.shape, str(array.dtype), place, small, *bits)
        first = seen.setdefault(key, i)
        if first is i:
            kept[i] = array
        else:
            same[i] = first
    return kept


def _key(line: Line, program: Program) -> Any:
    ins = tuple(sorted(line.ins)) if line.op.name in COMMUTATIVE else line.ins
    params = tuple([(k, hashable(v)) for k, v in sorted(line.params.items())]) if line.params else ()
    return id(line.op.kernel), line.op.name, ins, params


def hashable(value: Any) -> Any:
    """Return what distinguishes a parameter from others."""
    if isinstance(value, np.ndarray):
        return str(value.dtype), value.shape, value.tobytes()
    if isinstance(value, (list, tuple)):
        return value.__class__, tuple(map(hashable, value))
    return value.__class__, repr(value)


def _same_kind(program: Program, i: int, out: int) -> bool:
    a, b = program.values[i], program.values[out]
    return a.shape == b.shape and a.dtype == b.dtype and a.memory is b.memory


def _direct(line: Line, made: dict[int, Line]) -> Line:
    """Merge a reshape of a reshape into one."""
    inner = made.get(line.ins[0]) if line.op.name == "reshape" else None
    return line._replace(ins=inner.ins) if inner is not None and inner.op.name == "reshape" else line


def _unneeded(line: Line, program: Program, uniform: dict[int, Any], made: dict[int, Line]) -> int | None:
    """Return the value that a line merely repeats, else None."""
    if len(line.outs) != 1:
        return None
    twin = None
    if line.op.name in _REPEATING:
        twin = line.ins[0]
    elif line.op.name == "negative":
        inner = made.get(line.ins[0])
        twin = inner.ins[0] if inner is not None and inner.op.name == "negative" else None
    elif line.op.name == "transpose":
        inner = made.get(line.ins[0])
        if _is_in_order(line.params["perm"]):
            twin = line.ins[0]
        elif inner is not None and inner.op.name == "transpose" and _turns_back(inner, line):
            twin = inner.ins[0]
    elif line.op.name in _NEUTRAL:
        number, either = _NEUTRAL[line.op.name]
        x, y = line.ins
        twin = x if _is_number(uniform, y, number) else y if either and _is_number(uniform, x, number) else None
    return twin if twin is not None and _same_kind(program, twin, line.outs[0]) else None


def _turns_back(inner: Line, outer: Line) -> bool:
    """Return whether a transpose undoes another one."""
    within, perm = inner.params["perm"], outer.params["perm"]
    return len(within) == len(perm) and _is_in_order(tuple(within[axis] for axis in perm))


def _is_in_order(perm: tuple[int, ...]) -> bool:
    """Return whether a permutation leaves every axis where it is."""
    return all(axis % len(perm) == i for i, axis in enumerate(perm))


_REPEATING = frozenset({"identity", "stop_gradient", "reshape", "broadcast_to", "cast"})
"""Ops that change nothing if shape and dtype stay."""
_NEUTRAL = {"multiply": (1.0, True), "divide": (1.0, False), "add": (-0.0, True), "subtract": (0.0, False)}
"""By op, the second operand that changes nothing, and whether the first may be it too; ``-0.0 + 0.0`` is 0.0."""


def _is_number(uniform: dict[int, Any], i: int, number: float) -> bool:
    """Return whether a value is a constant number, with the sign of a zero."""
    value = uniform.get(i)
    if value is None or value != number:
        return False
    if value.dtype.kind == "c":  # a product with 1 + 0j mixes the parts, which counts where one is infinite
        return number == 0 and np.signbit(value.real) == np.signbit(value.imag) == np.signbit(number)
    return number != 0 or value.dtype.kind in "iu" or np.signbit(value) == np.signbit(number)


def without_dead(program: Program) -> Program:
    """Return the program without lines and constants on which no output depends."""
    live = set(program.outputs)
    kept: list[Line] = []
    for line in reversed(program.lines):
        if not live.isdisjoint(line.outs) or (line.cause is None and line.op.name in JUDGING):
            live.update(line.ins)
            kept.append(line)
    constants = {i: a for i, a in program.constants.items() if i in live}
    return program.with_lines(reversed(kept), {}, constants)
