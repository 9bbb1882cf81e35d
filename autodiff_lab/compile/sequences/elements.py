"""Steps of one elementwise op whose operands lie in any way beside each other, as (n, 1, k) and (1, m, k) do.

Fused loops read whole arrays, rows and columns.  A step reads each operand along strides of its own, of 0 where it
is repeated.  Whether elements of the innermost loop follow each other is part of the text, for LLVM to see it.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from autodiff_lab.compile.loops.text import indented, preamble
from autodiff_lab.compile.program.expressions import OF_COMPLEX, angle, expression, of_parts
from autodiff_lab.compile.program.layouts import MOST_AXES, dense_strides
from autodiff_lab.compile.program.program import Line, Program
from autodiff_lab.compile.program.regions import SHORT, WIDE, fusible


class Elements(NamedTuple):
    """The text of a step, and its numbers: the lengths of loops, then the strides of each operand."""

    text: str
    numbers: tuple[int, ...]


_QUOTIENTS = {"floordiv": "number(int64({0}) // by)", "floormod": "number(int64({0}) % by)"}
"""Of integers: `by` is the divisor; 0 is for NumPy's kernel to refuse, and -1 overflows."""
_OF_INTEGERS = frozenset({
    "abs", "add", "clip", "equal", "greater", "greater_equal", "less", "less_equal", "maximum", "minimum", "multiply",
    "negative", "not_equal", "subtract", "where", *_QUOTIENTS,
})  # fmt: skip
"""Ops that have the same results in NumPy and in compiled code for integers of 32 and of 64 bits."""


def joins_alone(line: Line, program: Program) -> bool:
    """Return whether a step can compute a line that is in no fused loop."""
    shapes = [program.values[i].shape for i in (*line.outs, *line.ins)]
    discrete = _of_integers(line, program) or _of_complex(line, program)
    if not (discrete or (shapes[0] and fusible(line, program))):  # loops take single real numbers
        return False
    if not takes_few_loops(shapes, [dense_strides(shape) for shape in shapes[1:]]):
        return False
    return math.prod(shapes[0]) < WIDE or in_short_rows(line, program)


def takes_few_loops(shapes: list[tuple[int, ...]], strides: list[tuple[int, ...]]) -> bool:
    """Return whether a step has loops enough for a result and operands of these shapes, which have these strides."""
    spread = [_spread(shape, own, shapes[0]) for shape, own in zip(shapes[1:], strides, strict=True)]
    return len(_collapsed(shapes[0], spread)[0]) <= MOST_AXES


def _of_integers(line: Line, program: Program) -> bool:
    """Return whether an op of integers is one that a step computes."""
    values = [program.values[i] for i in (*line.outs, *line.ins)]
    kinds = {value.dtype.name for value in values} - {"bool"}
    plain = all(value.memory is None and 0 not in value.shape for value in values)
    return line.op.name in _OF_INTEGERS and len(kinds) == 1 and kinds <= {"int32", "int64"} and plain


def _of_complex(line: Line, program: Program) -> bool:
    """Return whether an op of complex numbers, or of their parts, is one that a step computes."""
    values = [program.values[i] for i in (*line.outs, *line.ins)]
    sizes = {value.dtype.itemsize // (1 + (value.dtype.kind == "c")) for value in values}
    kinds = {value.dtype.kind for value in values}
    plain = all(value.memory is None and 0 not in value.shape for value in values)
    return line.op.name in OF_COMPLEX and "c" in kinds <= {"c", "f"} and sizes in ({4}, {8}) and plain


def in_short_rows(line: Line, program: Program) -> bool:
    """Return whether operands are repeated along different axes, so that only short rows lie in one piece."""
    shape, *given = (program.values[i].shape for i in (*line.outs, *line.ins))
    spread = [(1,) * (len(shape) - len(own)) + own for own in given if own]
    run, repeated = 1, None
    for k in reversed(range(len(shape))):
        now = [own[k] == 1 for own in spread]
        if shape[k] > 1 and repeated not in (None, now):
            return run <= SHORT
        if shape[k] > 1:
            run, repeated = run * shape[k], now
    return False


def elements_of(line: Line, program: Program, strides: list[tuple[int, ...]]) -> Elements:
    """Return the step of a line whose operands have these strides, in elements."""
    values = [program.values[i] for i in (*line.outs, *line.ins)]
    shape = values[0].shape
    spread = [_spread(v.shape, s, shape) for v, s in zip(values[1:], strides, strict=True)]
    lengths, along = _collapsed(shape, spread)
    kinds = [value.dtype.name for value in values]
    text = _text(line, program, kinds, [steps[-1] for steps in along])
    return Elements(text, (*lengths, *(step for steps in along for step in steps)))


def _spread(shape: tuple[int, ...], strides: tuple[int, ...], whole: tuple[int, ...]) -> tuple[int, ...]:
    """Return the strides of an operand over the axes of the result."""
    own = tuple(0 if n == 1 else s for n, s in zip(shape, strides, strict=True))
    return (0,) * (len(whole) - len(shape)) + own


def _collapsed(shape: tuple[int, ...], spread: list[tuple[int, ...]]) -> tuple[list[int], list[list[int]]]:
    """Return the lengths of four loops and the strides of each operand there; axes that may be one loop are."""
    lengths: list[int] = []
    along: list[list[int]] = [[] for _ in spread]
    for k in range(len(shape) - 1, -1, -1):
        if shape[k] == 1:
            continue
        if lengths and all(own[k] == mine[0] * lengths[0] for own, mine in zip(spread, along, strict=True)):
            lengths[0] *= shape[k]
            continue
        lengths.insert(0, shape[k])
        for own, mine in zip(spread, along, strict=True):
            mine.insert(0, own[k])
    more = MOST_AXES - len(lengths)
    return [1] * more + lengths, [[0] * more + mine for mine in along]


def _text(line: Line, program: Program, kinds: list[str], last: list[int]) -> str:
    is_complex = any(kind.startswith("complex") for kind in kinds)
    number = next((kind for kind in kinds if kind != "bool"), "float32")
    own = _QUOTIENTS.get(line.op.name) if number.startswith("int") else None
    found, turned = own or expression(line, program) or "", angle(line)
    names = [kind if is_complex else "bool_" if kind == "bool" else "number" for kind in kinds]
    sizes = [np.dtype(kind).itemsize for kind in kinds]
    count = len(last)
    first = 1 + count  # of the slots with numbers
    outer = [
        f"begin = ((i * slots[{first + 1}] + j) * slots[{first + 2}] + k) * n",
        f"out = at(slots[0] + {sizes[0]} * begin, n, {names[0]})",
    ]
    inner: list[str] = []
    for m in range(count):
        at = first + MOST_AXES * (m + 1)
        where = f"slots[{m + 1}] + {sizes[m + 1]} * (i * slots[{at}] + j * slots[{at + 1}] + k * slots[{at + 2}])"
        if last[m] == 0:
            outer.append(f"v{m} = at({where}, 1, {names[m + 1]})[0]")
        elif last[m] == 1:
            outer.append(f"x{m} = at({where}, n, {names[m + 1]})")
            inner.append(f"v{m} = x{m}[l]")
        else:
            outer.append(f"x{m} = {where}")
            inner.append(f"v{m} = at(x{m} + {sizes[m + 1]} * l * slots[{at + 3}], 1, {names[m + 1]})[0]")
    if own:
        inner += ["by = int64(v1)", "far |= int32(by == 0) | int32(by == -1)", "by = choose(by == -1, one64, by)"]
    inner.append(f"out[l] = {found.format(*(f'v{m}' for m in range(count)))}")
    inner += ["far |= int32(is_far(v0))"] if turned else []
    body = [*outer, "for l in range(n):", *indented(inner)]
    for depth, turn in ((2, "k"), (1, "j"), (0, "i")):
        body = [f"for {turn} in range(slots[{first + depth}]):", *indented(body)]
    integers = [
        f"from numpy import {number} as number, bool_, int32, int64",
        "from autodiff_lab.kernels.maths.single import choose, larger, smaller",
        "zero, one, one64 = number(0), number(1), int64(1)",
    ]
    parts = "single" if "complex64" in kinds else "double"
    complex_ = [
        *["from math import atan2"] * ("atan2" in found),
        f"from numpy import {', '.join(sorted({*kinds, 'int32'}))}, {of_parts(np.dtype(number))} as number",
        *(
            f"from autodiff_lab.kernels.maths.polar import {parts}_{name} as {name}"
            for name in ("absolute", "direction", "exponential", "quotient")
            if name in found
        ),
        "zero = number(0)",
    ]
    return "\n".join([
        *(complex_ if is_complex else integers if number.startswith("int") else preamble(number, [found])),
        "from autodiff_lab.kernels.base.pointers import STEP, at",
        "@addressed(STEP, independent=True)",
        "def step(slots):",
        *indented([f"n, far = slots[{first + 3}], int32(0)", *body, "return far"]),
    ]) + "\n"  # fmt: skip
