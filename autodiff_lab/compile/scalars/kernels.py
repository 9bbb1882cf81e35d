"""Scalars: programs of single numbers, for which calling NumPy costs far more than the arithmetic.

A few hundred statements become straight-line code, in which repetitions are loops and count once.  Beyond that
compiling would take longer than most programs run, so an interpreter, compiled once, runs any number of ops from a
table of opcodes and operand slots.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autodiff_lab.compile.loops.source import Kernel
from autodiff_lab.compile.loops.text import constant_text, number_names
from autodiff_lab.compile.program.expressions import FUNCTIONS, expression, functions_in
from autodiff_lab.compile.program.lines import comment
from autodiff_lab.compile.program.program import Line, Program
from autodiff_lab.compile.program.regions import Region
from autodiff_lab.compile.program.rewriting import one_value
from autodiff_lab.compile.scalars.rolled import NotRolled, Roll, Writer, rename
from autodiff_lab.engine.op import REGISTRY
from autodiff_lab.kernels.base.store import load

FEWEST, FEWEST_ROLLED, MOST_STRAIGHT = 8, 40, 300
"""Fewer ops are faster with NumPy; from so many on loops are searched for; more statements are interpreted."""
MOST_ARGUMENTS, MOST_RETURNED = 60, 16
"""Numbers that a compiled function takes and returns one by one."""
INTERPRETED = [
    "add", "subtract", "multiply", "divide", "negative", "square", "squared_difference", "reciprocal", "sqrt", "rsqrt",
    "abs", "exp", "expm1", "log", "log1p", "sin", "cos", "tanh", "sigmoid", "softplus", "softsign", "maximum",
    "minimum", "relu", "positive", "not_below", "below", "log_where_positive", "reciprocal_where_positive",
    "tan", "erf", "erfc", "normal_cdf", "gelu", "gelu_tanh", "floor", "ceil", "rint", "sign", "elu", "relu6",
    "hard_sigmoid", "hard_silu", "hard_tanh", "log_sigmoid", "silu", "mish", "tanh_shrink", "squareplus",
    "sigmoid_cross_entropy", "not_zero", "divide_no_nan", "multiply_no_nan", "reciprocal_no_nan", "xlogy", "xlog1py",
    "xdivy", "identity", "pow", "power_grad", "gate",
]  # fmt: skip
"""The interpreter's ops, by opcode."""
_DOUBLES = frozenset({"sigmoid", "softplus", "normal_cdf"})
_POWERS = {"pow": "power({0}, {1})", "power_grad": "choose({1} == zero, zero, {1} * power({0}, {1} - one))"}


def scalar_kernel(region: Region, program: Program, names: dict[int, str], title: str) -> Kernel | None:
    """Compile a region of single numbers, None if NumPy is as good; `names` change where loops are found."""
    lines = list(region.lines)
    if len(lines) < FEWEST:
        return None
    outs = [line.outs[0] for line in lines if line.outs[0] in region.needed]
    if any(program.values[i].dtype != region.dtype for i in outs):
        return None
    if any(i not in program.constants and program.values[i].dtype != region.dtype for i in region.ins()):
        return None
    texts = {line.outs[0]: expression(line, program) or "" for line in lines}
    found = _rolled(region, program, outs, texts)
    backward = all(line.cause is not None for line in lines)
    if found is not None and found.statements <= MOST_STRAIGHT:
        ins, function = _compiled(found, region, program, texts)
        note = f"{len(lines)} ops compiled to straight-line code"
        if found.loops:
            rename(found, program, names)
            note = f"{len(lines)} ops compiled to {len(found.loops)} loop{'s' * (len(found.loops) > 1)}"
    elif all(map(_interpretable, lines)):
        found = Roll(lines, outs, rolls=False)
        ins, function = _interpreted(region, program, outs)
        note = f"{len(lines)} ops run by the interpreter, from a table of opcodes"
    else:
        return None
    source = "\n".join(_shown_text(found, region, program, names, texts, title))
    return Kernel(title, source, tuple(ins), tuple(outs), function, backward, note)


def _rolled(region: Region, program: Program, outs: list[int], texts: dict[int, str]) -> Roll | None:
    """Return the region as statements and loops, None where it needs more than a call can pass."""
    try:
        roll = Roll(list(region.lines), outs, rolls=len(region.lines) >= FEWEST_ROLLED, kinds=list(texts.values()))
    except NotRolled:
        roll = Roll(list(region.lines), outs, rolls=False)
    ins, _ = _inputs(roll, region, program)
    if any(program.values[i].dtype != region.dtype for values in roll.tables for i in values):
        return None
    return roll if len(ins) <= MOST_ARGUMENTS else None


def _inputs(roll: Roll, region: Region, program: Program) -> tuple[list[int], dict[int, Any]]:
    """Return the inputs that are passed one by one, and the constants that are read by name."""
    made = {line.outs[0] for line in region.lines}
    singles = [i for i in roll.singles if i not in made]
    constants = {i: one_value(program.constants[i]) for i in singles if i in program.constants}
    return [i for i in singles if i not in constants], constants


def _interpretable(line: Line) -> bool:
    return line.op.name in INTERPRETED and line.params.get("order", 1) == 1


def _number(text: str) -> str:
    """Return an expression in the type of the program: some functions compute in double precision only."""
    return text if functions_in(text).isdisjoint(_DOUBLES) else f"number({text})"


def _filled(texts: dict[int, str]) -> Callable[[Line, list[str]], str]:
    """Return a function that writes a line with its operands."""
    return lambda line, given: _number(texts[line.outs[0]].format(*given))


def _booleans(region: Region, program: Program) -> set[int]:
    return {line.outs[0] for line in region.lines if program.values[line.outs[0]].dtype.kind == "b"}


def _shown_text(
    roll: Roll, region: Region, program: Program, names: dict[int, str], texts: dict[int, str], title: str
) -> list[str]:
    """Return the text that is shown: the same statements with the user's names."""
    ins, constants = _inputs(roll, region, program)
    writer: Writer

    def say(line: Line) -> str:
        return comment(line, program, writer.names)

    writer = Writer(roll, names, _filled(texts), _booleans(region, program), say)
    text = [f"{names[i]} = {constant_text(value)}" for i, value in constants.items()]
    text += ["@njit", f"def {title}({', '.join([*(names[i] for i in ins), *writer.tables])}):"]
    text += [f"    {statement}" for statement in writer.body()]
    return [*text, f"    return {', '.join(writer.results())}"]


def _prelude(kind: str) -> list[str]:
    return [
        "from math import sqrt",
        "from numba import njit",
        f"from numpy import {kind} as number, bool_, empty, inf",
        "from autodiff_lab.kernels.maths.single import DOUBLE, ceil, choose, floor, larger, nearest, smaller",
        "zero, one, infinity = number(0), number(1), number(inf)",
    ]


def _compiled(roll: Roll, region: Region, program: Program, texts: dict[int, str]) -> tuple[list[int], Any]:
    """Compile statements and loops; return the inputs and the function."""
    kind, number = region.dtype.name, region.dtype.type
    ins, constants = _inputs(roll, region, program)
    names = number_names(region)
    writer = Writer(roll, names, _filled(texts), _booleans(region, program))
    used = sorted({f for text in set(texts.values()) for f in functions_in(text)})
    body = writer.body()
    single = len(roll.outs) <= MOST_RETURNED
    body += [f"return zero, {', '.join(writer.results())}"] if single else writer.listed("out")
    arrays = [*writer.tables, *([] if single else ["out"])]
    gives = f"Tuple(({kind}, {', '.join([kind] * len(roll.outs))}))" if single else "void"
    text = [
        *_prelude(kind),
        *(f'{f} = DOUBLE["{f}"]' for f in used),
        *(f"{names[i]} = {constant_text(value)}" for i, value in constants.items()),
        f'@njit("{gives}({", ".join([*([kind] * len(ins)), *([f"{kind}[::1]"] * len(arrays))])})", cache=CACHE,',
        '      nogil=True, error_model="numpy")',
        f"def step({', '.join([*(names[i] for i in ins), *arrays])}):",
        *(f"    {statement}" for statement in body),
    ]
    step = load("\n".join(text) + "\n").step
    if not roll.tables and single:

        def run(*given: Any) -> tuple[Any, ...]:
            return tuple([number(value) for value in step(*given)[1:]])

        return ins, run
    return _with_arrays(roll, program, ins, region.dtype, step, single)


def _with_arrays(
    roll: Roll, program: Program, ins: list[int], dtype: Any, step: Any, single: bool
) -> tuple[list[int], Any]:
    """Return the inputs and the function for a program with tables or with many results."""
    count = len(ins)
    tables = [np.array([program.constants.get(i, 0) for i in values], dtype) for values in roll.tables]
    arguments = list(dict.fromkeys(i for values in roll.tables for i in values if i not in program.constants))
    fills = [
        (n, [k for k, i in enumerate(values) if i in arguments], [arguments.index(i) for i in values if i in arguments])
        for n, values in enumerate(roll.tables)
    ]
    fills = [fill for fill in fills if fill[1]]
    total, number = len(roll.outs), dtype.type

    def run(*given: Any) -> tuple[Any, ...]:
        now = list(tables)
        for n, places, chosen in fills:
            now[n] = now[n].copy()
            now[n][places] = [given[count + k] for k in chosen]
        if single:
            return tuple([number(value) for value in step(*given[:count], *now)[1:]])
        out = np.empty(total, dtype)
        step(*given[:count], *now, out)
        return tuple(out)

    return [*ins, *arguments], run


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
        made = _POWERS.get(op) or str(REGISTRY[op].expression)
        text.append(f"        {'if' if opcode == 0 else 'elif'} op == {opcode}:")
        text.append(f"            x = {_number(made.format('a', 'b'))}")
    text += ["        else:", "            x = zero", "        v[first + k] = x"]
    return load("\n".join(text) + "\n").interpret


def _interpreted(region: Region, program: Program, outs: list[int]) -> tuple[list[int], Any]:
    constants: dict[int, Any] = {i: one_value(program.constants[i]) for i in region.ins() if i in program.constants}
    ins = [i for i in region.ins() if i not in constants]
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

    return ins, run
