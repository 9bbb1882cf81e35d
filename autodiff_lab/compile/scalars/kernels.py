"""Scalars: programs of single numbers, for which calling NumPy costs far more than the arithmetic.

A few hundred statements become straight-line code, in which repetitions are loops and count once.  Beyond that
compiling would take longer than most programs run, so an interpreter, compiled once, runs any number of ops from a
table of opcodes and operand slots.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from autodiff_lab.compile.loops.source import Kernel
from autodiff_lab.compile.loops.text import constant_rows, indented, number_names
from autodiff_lab.compile.program.expressions import FUNCTIONS, expression, functions_in
from autodiff_lab.compile.program.lines import comment
from autodiff_lab.compile.program.program import Line, Program
from autodiff_lab.compile.program.regions import Region
from autodiff_lab.compile.program.reroll import find_loops
from autodiff_lab.compile.program.rewriting import one_value
from autodiff_lab.compile.scalars.picked import picked_together
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
_MADE_OF = "DOUBLE, SINGLE, ceil, choose, floor, half, larger, nearest, smaller"
_OF_EITHER = frozenset({"floor_divide", "remainder"})
"""Functions whose quotient is rounded as numbers of the program are."""
_POWERS = {"pow": "power({0}, {1})", "power_grad": "choose({1} == zero, zero, {1} * power({0}, {1} - one))"}


def scalar_kernel(region: Region, program: Program, names: dict[int, str], title: str) -> Kernel | None:
    """Compile a region of single numbers, None if NumPy is as good; `names` change where loops are found."""
    lines = list(region.lines)
    if len(lines) < FEWEST:
        return None
    outs = [line.outs[0] for line in lines if line.outs[0] in region.needed]
    given = [i for i in region.ins() if i not in program.constants]
    if any(program.values[i].dtype != region.dtype for i in [*outs, *given]):
        return None
    texts = {line.outs[0]: expression(line, program) or "" for line in lines}
    try:
        roll = Roll(lines, outs, find_loops(lines, list(texts.values())) if len(lines) >= FEWEST_ROLLED else [])
    except NotRolled:
        roll = Roll(lines, outs, [])
    scalars = _Scalars(region, program, roll, texts)
    if scalars.fits and roll.statements <= MOST_STRAIGHT:
        ins, function = scalars.compiled()
        note = f"{len(lines)} ops compiled to straight-line code"
        if roll.loops:
            rename(roll, program, names)
            note = f"{len(lines)} ops compiled to {len(roll.loops)} loop{'s' * (len(roll.loops) > 1)}"
    elif all(map(_interpretable, lines)):
        scalars = _Scalars(region, program, Roll(lines, outs, []), texts)
        ins, function = _interpreted(region, program, outs)
        note = f"{len(lines)} ops run by the interpreter, from a table of opcodes"
    else:
        return None
    ins, function = picked_together(ins, function, program)
    backward = all(line.cause is not None for line in lines)
    return Kernel(title, scalars.shown(names, title), tuple(ins), tuple(outs), function, backward, note)


def _interpretable(line: Line) -> bool:
    return line.op.name in INTERPRETED and line.params.get("order", 1) == 1


def _number(text: str) -> str:
    """Return an expression in the type of the program: some functions compute in double precision only."""
    return text if functions_in(text).isdisjoint(_DOUBLES) else f"number({text})"


def _prelude(kind: str) -> list[str]:
    return [
        "from math import sqrt",
        f"from numpy import {kind} as number, bool_, empty, inf",
        f"from autodiff_lab.kernels.maths.single import {_MADE_OF}",
        "zero, one, infinity = number(0), number(1), number(inf)",
    ]


def _functions(kind: str, names: Iterable[str]) -> list[str]:
    """Return the lines that bind functions."""
    single = _OF_EITHER if kind == "float32" else frozenset[str]()
    return [f'{name} = {"SINGLE" if name in single else "DOUBLE"}["{name}"]' for name in names]


class _Scalars:
    """A region of single numbers with its loops, to be compiled and to be shown.

    Attributes
    ----------
    ins : list of int
        Inputs that are passed one by one.
    constants : dict of int to number
        Constants that are read by name.
    fits : bool
        Whether a call can pass all that it needs.
    """

    def __init__(self, region: Region, program: Program, roll: Roll, texts: dict[int, str]) -> None:
        self.region, self.program, self.roll, self.texts = region, program, roll, texts
        made = {line.outs[0] for line in region.lines}
        singles = [i for i in roll.singles if i not in made]
        self.constants = {i: one_value(program.constants[i]) for i in singles if i in program.constants}
        self.ins = [i for i in singles if i not in self.constants]
        tabled = all(program.values[i].dtype == region.dtype for values in roll.tables for i in values)
        self.fits = tabled and len(self.ins) <= MOST_ARGUMENTS

    def _writer(self, names: dict[int, str], say: Callable[[Line], str] | None = None) -> Writer:
        lines, values, texts = self.region.lines, self.program.values, self.texts
        booleans = {line.outs[0] for line in lines if values[line.outs[0]].dtype.kind == "b"}
        return Writer(self.roll, names, lambda line, given: _number(texts[line.outs[0]].format(*given)), booleans, say)

    def shown(self, names: dict[int, str], title: str) -> str:
        """Return the text with the user's names and with comments."""
        writer = self._writer(names, lambda line: comment(line, self.program, writer.names))
        head = f"def {title}({', '.join([*(names[i] for i in self.ins), *writer.tables])}):"
        body = [*writer.body(), f"return {', '.join(writer.results())}"]
        return "\n".join([*constant_rows(self.constants, names), "@njit", head, *indented(body)])

    def compiled(self) -> tuple[list[int], Any]:
        """Compile the text with numbered names; return all inputs and the function."""
        kind, roll, names = self.region.dtype.name, self.roll, number_names(self.region)
        writer = self._writer(names)
        used = sorted({f for text in set(self.texts.values()) for f in functions_in(text)})
        body = writer.body()
        single = len(roll.outs) <= MOST_RETURNED
        body += [f"return zero, {', '.join(writer.results())}"] if single else writer.listed("out")
        arrays = [*writer.tables, *([] if single else ["out"])]
        gives = f"Tuple(({kind}, {', '.join([kind] * len(roll.outs))}))" if single else "void"
        types = ", ".join([*([kind] * len(self.ins)), *([f"{kind}[::1]"] * len(arrays))])
        text = [
            *_prelude(kind),
            *_functions(kind, used),
            *constant_rows(self.constants, names),
            f'@compiled("{gives}({types})"{", _nrt=True" if roll.kept else ""})',
            f"def step({', '.join([*(names[i] for i in self.ins), *arrays])}):",
            *indented(body),
        ]
        step, number = load("\n".join(text) + "\n").step, self.region.dtype.type
        if roll.tables or not single:
            return self._with_arrays(step, single)

        def run(*given: Any) -> tuple[Any, ...]:
            return tuple([number(value) for value in step(*given)[1:]])

        return self.ins, run

    def _with_arrays(self, step: Any, single: bool) -> tuple[list[int], Any]:
        """Return the inputs and the function for a program with tables or with many results."""
        known, dtype, given_tables = self.program.constants, self.region.dtype, self.roll.tables
        count, total, number = len(self.ins), len(self.roll.outs), dtype.type
        tables = [np.array([known.get(i, 0) for i in values], dtype) for values in given_tables]
        order = {i: n for n, i in enumerate(dict.fromkeys(i for t in given_tables for i in t if i not in known))}
        fills = [
            (n, [k for k, i in enumerate(values) if i in order], [order[i] for i in values if i in order])
            for n, values in enumerate(given_tables)
        ]
        fills = [fill for fill in fills if fill[1]]

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

        return [*self.ins, *order], run


def _interpreter(kind: str) -> Any:
    text = [
        *_prelude(kind),
        *_functions(kind, sorted(FUNCTIONS)),
        f'@compiled("void(int32[:, ::1], {kind}[::1], int64)")',
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
    codes = {op: n for n, op in enumerate(INTERPRETED)}
    code = np.array([[codes[line.op.name], slots[line.ins[0]], slots[line.ins[-1]]] for line in region.lines], np.int32)
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
