"""Scalars: programs of single numbers, where calling NumPy costs far more than the arithmetic.

Up to some hundred ops become straight-line code.  Beyond that compiling would take longer than most programs run, so
one interpreter, compiled once for all, runs any number of ops from a table of opcodes and operand slots.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_lab.compile.expressions import EXPRESSIONS, FUNCTIONS
from autodiff_lab.compile.lines import comment
from autodiff_lab.compile.loops import constant_text, number_names
from autodiff_lab.compile.passes import one_value
from autodiff_lab.compile.program import Program
from autodiff_lab.compile.regions import Region
from autodiff_lab.compile.source import Kernel
from autodiff_lab.kernels.store import load

FEWEST, MOST_STRAIGHT = 8, 300
"""Fewer ops are quicker with NumPy; more are interpreted."""
_DOUBLES = ("sigmoid", "softplus")  # these compute in double whatever they are given

INTERPRETED = [
    "add", "subtract", "multiply", "divide", "negative", "square", "squared_difference", "reciprocal", "sqrt", "rsqrt",
    "abs", "exp", "expm1", "log", "log1p", "sin", "cos", "tanh", "sigmoid", "softplus", "softsign", "maximum",
    "minimum", "relu", "positive", "not_below", "below", "log_where_positive", "reciprocal_where_positive",
]  # fmt: skip
"""The interpreter's ops, by opcode."""


def scalar_kernel(
    region: Region, program: Program, needed: set[int], names: dict[int, str], title: str
) -> Kernel | None:
    """Compile a region of single numbers, None where NumPy does as well."""
    if len(region.lines) < FEWEST:
        return None
    constants: dict[int, Any] = {i: one_value(program.constants[i]) for i in region.ins() if i in program.constants}
    ins = [i for i in region.ins() if i not in constants]
    outs = [line.outs[0] for line in region.lines if line.outs[0] in needed]
    if any(program.values[i].dtype != region.dtype for i in [*ins, *outs]):
        return None
    shown = _straight_text(region, constants, ins, outs, names, title, program)
    if len(region.lines) <= MOST_STRAIGHT:
        function = _straight(region, constants, ins, outs)
        note = f"{len(region.lines)} ops compiled to straight-line code"
    elif all(line.op.name in INTERPRETED for line in region.lines):
        function = _interpreted(region, constants, ins, outs)
        note = f"{len(region.lines)} ops run by the interpreter, from a table of opcodes"
    else:
        return None
    backward = all(line.cause is not None for line in region.lines)
    return Kernel(title, "\n".join(shown), tuple(ins), tuple(outs), function, backward, note)


def _expression(op: str, given: list[str]) -> str:
    text = EXPRESSIONS[op].format(*given)
    return f"number({text})" if op in _DOUBLES else text


def _body(region: Region, names: dict[int, str]) -> list[tuple[str, int]]:
    return [
        (f"{names[line.outs[0]]} = {_expression(line.op.name, [names[i] for i in line.ins])}", n)
        for n, line in enumerate(region.lines)
    ]


def _straight_text(
    region: Region, constants: dict[int, Any], ins: list[int], outs: list[int], names: dict[int, str], title: str,
    program: Program,
) -> list[str]:  # fmt: skip
    """What is shown: the same statements with the user's names."""
    text = [f"{names[i]} = {constant_text(value)}" for i, value in constants.items()]
    text += ["@njit", f"def {title}({', '.join(names[i] for i in ins)}):"]
    backward: bool | None = None
    for statement, n in _body(region, names):
        line = region.lines[n]
        if (line.cause is not None) != backward:
            backward = line.cause is not None
            text.append(f"    # {'backward' if backward else 'forward'}")
        text.append(f"    {statement.ljust(40)}  # {comment(line, program, names)}")
    return [*text, f"    return {', '.join(names[i] for i in outs)}"]


def _prelude(kind: str) -> list[str]:
    return [
        "from math import sqrt",
        "from numba import njit",
        f"from numpy import {kind} as number",
        "from autodiff_lab.kernels.jit.vector_maths import DOUBLE, choose, larger, smaller",
        "zero, one = number(0), number(1)",
    ]


def _straight(region: Region, constants: dict[int, Any], ins: list[int], outs: list[int]) -> Any:
    kind = region.dtype.name
    names = number_names(region)
    used = sorted({f for line in region.lines for f in FUNCTIONS if f"{f}(" in EXPRESSIONS[line.op.name]})
    types = f"Tuple(({kind}, {', '.join([kind] * len(outs))}))({', '.join([kind] * len(ins))})"
    text = [
        *_prelude(kind),
        *(f'{f} = DOUBLE["{f}"]' for f in used),
        *(f"{names[i]} = {constant_text(value)}" for i, value in constants.items()),
        f'@njit("{types}", cache=CACHE, nogil=True, error_model="numpy")',
        f"def step({', '.join(names[i] for i in ins)}):",
        *(f"    {statement}" for statement, _ in _body(region, names)),
        f"    return zero, {', '.join(names[i] for i in outs)}",
    ]
    step, number = load("\n".join(text) + "\n").step, region.dtype.type

    def run(*arrays: Any) -> tuple[Any, ...]:
        return tuple([number(value) for value in step(*arrays)[1:]])

    return run


def _interpreter(kind: str) -> Any:
    text = [
        *_prelude(kind),
        *(f'{f} = DOUBLE["{f}"]' for f in sorted(FUNCTIONS)),
        f'@njit("void(int32[:, ::1], {kind}[::1], int64)", cache=CACHE, nogil=True, error_model="numpy")',
        "def interpret(code, v, first):",
        "    for k in range(code.shape[0]):",
        "        op, a, b = code[k, 0], v[code[k, 1]], v[code[k, 2]]",
    ]
    for opcode, op in enumerate(INTERPRETED):
        text.append(f"        {'if' if opcode == 0 else 'elif'} op == {opcode}:")
        text.append(f"            x = {_expression(op, ['a', 'b'])}")
    text += ["        else:", "            x = zero", "        v[first + k] = x"]
    return load("\n".join(text) + "\n").interpret


def _interpreted(region: Region, constants: dict[int, Any], ins: list[int], outs: list[int]) -> Any:
    slots = {i: n for n, i in enumerate([*ins, *constants, *(line.outs[0] for line in region.lines)])}
    opcodes = {op: n for n, op in enumerate(INTERPRETED)}
    code = np.array(
        [[opcodes[line.op.name], slots[line.ins[0]], slots[line.ins[-1]]] for line in region.lines], np.int32
    )
    start = np.zeros(len(slots), region.dtype)
    for i, value in constants.items():
        start[slots[i]] = value
    interpret, count, first = _interpreter(region.dtype.name), len(ins), len(ins) + len(constants)
    places = [slots[i] for i in outs]

    def run(*arrays: Any) -> tuple[Any, ...]:
        v = start.copy()
        v[:count] = arrays
        interpret(code, v, first)
        return tuple([v[p] for p in places])

    return run
