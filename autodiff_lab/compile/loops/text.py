"""The text of a fused loop: a `Region` as one loop over memory, in the subset of Python that is compiled.

The loop runs over blocks of one long row, or over rows if an input or a reduction is split.  Inside a block sums may be
reordered; between blocks they are added in double precision.  The text has numbered names, so that cached machine code
does not depend on the user's names; `with_names` puts those in for what is shown.
"""

from __future__ import annotations

import math
import re
from collections.abc import Container, Iterable, Mapping
from typing import Any, NamedTuple

from autodiff_lab.compile.loops.parts import Level, Parts, crossing_values
from autodiff_lab.compile.loops.strided import Strided
from autodiff_lab.compile.program.expressions import FUNCTIONS, angle, called_in
from autodiff_lab.compile.program.lines import comment
from autodiff_lab.compile.program.program import Line, Program
from autodiff_lab.compile.program.regions import WIDE, Region

BLOCK = 1024
"""Elements of a block: long enough for vectors, short enough for exact sums and for the L1 cache."""
LONGEST_ROW = 4096
"""Longer rows are processed in blocks, whose sums are added in double precision."""
CHUNKS = 16
"""Number of parts into which the rows of a large loop are split if it sums over rows."""
_MADE_OF = "add_up, ceil, choose, floor, greatest, half, larger, least, multiply_up, nearest, smaller"
START = {"sum": "zero", "mean": "zero", "prod": "one", "max": "-infinity", "min": "infinity"}
STEP = {
    "sum": "add_up({}, {})", "mean": "add_up({}, {})", "prod": "multiply_up({}, {})", "max": "greatest({}, {})",
    "min": "least({}, {})",
}  # fmt: skip
FOLD = {"sum": "{} + {}", "mean": "{} + {}", "prod": "{} * {}", "max": "greatest({}, {})", "min": "least({}, {})"}
_WIDE_START = {"sum": "0.0", "mean": "0.0", "prod": "1.0"}
_POLAR = {"absolute": "absolute", "direction": "direction", "exponential": "wave", "quotient": "quotient"}
"""Functions of complex numbers, and what they are called among those for vectors."""
_NUMBERED = re.compile(r"(?<![A-Za-z0-9])v\d+(?![A-Za-z0-9])")


class Argument(NamedTuple):
    """An argument of a loop: its name there, its type as Numba writes it, and what the wrapper passes."""

    name: str
    type: str
    given: str


class Writer:
    """Writes the text of one loop; `strided` are operands that it reads in the memory of others.

    `puts` are results whose rows it adds up by position, each with the op that does so.
    """

    count, width = "last", "columns"
    """What the text calls the number of rows and of columns."""

    def __init__(
        self,
        region: Region,
        program: Program,
        parts: Parts,
        strided: Mapping[int, Strided],
        puts: Mapping[int, Line] | None = None,
    ) -> None:
        self.region, self.program, self.parts, self.strided = region, program, parts, strided
        self.puts = puts or {}
        self.names = names = number_names(region)
        bases = dict.fromkeys(one.base for one in strided.values() if one.base not in names)
        names.update({base: f"base{n}" for n, base in enumerate(bases)})
        positions = [one.positions for one in strided.values()] + [line.ins[1] for line in self.puts.values()]
        known = dict.fromkeys(i for i in positions if i is not None and i not in names)
        names.update({i: f"rows{n}" for n, i in enumerate(known)})
        self.outs = {i: f"out_{names[i]}" for i in parts.stored}
        crossing = crossing_values(parts)
        stored = self.outs.keys() - self.puts.keys()
        self.crossing = [i for i in crossing if i not in stored]  # outputs are read back from where they are stored
        self.reread = {i: f"{self.outs[i]}_r[i]" for i in crossing if i in stored}
        self.flat = region.split is None
        self.blocked = not self.flat and region.columns > LONGEST_ROW
        # threads share the loop, unless two of them might add to one row
        self.wide = math.prod(region.shape) >= WIDE and (self.flat or region.rows >= 2) and not self.puts
        self.chunked = self.wide and bool(parts.over_rows)  # each thread sums its own chunks of rows
        self.rows, self.columns = region.rows, region.columns
        if self.flat:  # blocks of one long row count as rows
            self.rows, self.columns = -(-math.prod(region.shape) // BLOCK), BLOCK
        self.per = -(-self.rows // CHUNKS)

    def arguments(self) -> list[Argument]:
        """Return the arguments after the range of rows, which comes first."""
        parts, names, values, kind = self.parts, self.names, self.program.values, self.region.dtype.name
        made = [Argument("columns", "int64", str(self.columns))]
        if self.chunked:
            made.append(Argument("per", "int64", str(self.per)))
        for i in parts.arrays:
            base = self.strided[i].base if i in self.strided else i
            made.append(Argument(names[i], f"{self._type(i)}[::1]", f"flat({names[base]})"))
        made += [Argument(f"{names[i]}_at", "int64[::1]", f"{names[i]}_at") for i in (*self.strided, *self.puts)]
        for i in parts.single:
            made.append(Argument(names[i], self._type(i), names[i] + (".reshape(())[()]" if values[i].shape else "")))
        for i in parts.all_stored:
            given = names[i] if len(values[i].shape) == 1 else f"{names[i]}.reshape(-1)"
            made.append(Argument(f"out_{names[i]}", f"{self._type(i)}[::1]", given))
        for name in map(self.name, parts.over_rows):
            made.append(Argument(f"out_{name}", f"{kind}[::1]", f"{name}.reshape(-1)"))
        for name in map(self.name, parts.all_totals if self.wide else []):
            made.append(Argument(f"sums_{name}", "float64[::1]", f"sums_{name}"))
        return made

    def module(self) -> str:
        """Return the module that is compiled and cached."""
        kind = self.region.dtype.name
        totals = [] if self.wide else [kind] * len(self.parts.all_totals)
        result = f"Tuple((int32, {', '.join(totals)}))" if totals else "int32"
        types = ", ".join(["int64", "int64", *(one.type for one in self.arguments())])
        compiled = f'@compiled("{result}({types})"{self.options()})'
        return "\n".join([*self.head(), compiled, *self.text()]) + "\n"

    def options(self) -> str:
        """Return the options of the loop: its turns are independent, and it may allocate arrays."""
        return f", independent=True{', _nrt=True' if self.crossing else ''}"

    def head(self) -> list[str]:
        """Return the imports and constants of the module."""
        kind, parts = self.region.dtype.name, self.parts
        return [*preamble(kind, parts.texts.values()), f"block = {BLOCK}", *constant_rows(parts.constants, self.names)]

    def text(self) -> list[str]:
        """Return the function ``loop``."""
        arguments = ["first", "last", *(one.name for one in self.arguments())]
        results = ["far", *([] if self.wide else map(self.total, self.parts.all_totals))]
        body = [*self.body(), f"return {', '.join(results)}"]
        return [f"def loop({', '.join(arguments)}):", *indented(body)]

    def body(self) -> list[str]:
        """Return what the function does before it returns."""
        names, parts = self.names, self.parts
        body = ["far = int32(0)"]
        if self.flat:
            body.append(f"length = {names[parts.whole[0]] if parts.whole else next(iter(self.outs.values()))}.size")
        body += self._totals_started()
        body += [f"{names[i]}_s = empty(columns, {self.number_of(i)})" for i in self.crossing]
        return [*body, "for r in range(first, last):", *indented(self._row())]

    def shown(self) -> list[str]:
        """Return the text that is shown."""
        return self.text()

    def _totals_started(self) -> list[str]:
        totals = [] if self.wide else self.parts.all_totals
        return [f"total_{self.name(line)} = {_total_start(line)}" for line in totals]

    def _row(self) -> list[str]:
        """Write what is done for one row or block."""
        parts, names = self.parts, self.names
        body = ["low = r * columns"]
        if self.flat:
            body.append("size = min(columns, length - low)")
        if not self.blocked:
            end = "size" if self.flat else "columns"
            body += [f"{names[i]}_r = {self._row_of(i)}" for i in self.strided]
            arrays = [*(names[i] for i in parts.whole if i not in self.strided)]
            arrays += [out for i, out in self.outs.items() if i not in self.puts]
            body += [f"{array}_r = {array}[low : low + {end}]" for array in arrays]
            for i in self.puts:
                to = f"{names[i]}_at[r] * columns"
                body.append(f"{self.outs[i]}_r = {self.outs[i]}[{to} : {to} + columns]")
        if self.chunked:
            body.append("chunk = r // per * columns")
            body += [f"out_{n}_c = out_{n}[chunk : chunk + columns]" for n in map(self.name, parts.over_rows)]
        body += [f"{names[i]}_i = {names[i]}[r]" for i in parts.column]
        for level in parts.levels:
            body += self._level(level)
        body += [f"out_{names[i]}[r] = {names[i]}_i" for i in parts.row_stored]
        return body + [self._totalled(line, f"{names[line.ins[0]]}_i") for line in parts.row_totals]

    def _row_of(self, value: int) -> str:
        """Return the expression of a row of an operand that is read where it lies."""
        name, one = self.names[value], self.strided[value]
        start = one.start(f"{name}_at")
        return f"{name}[{start} : {start} + {one.end()}]"

    def _level(self, level: Level) -> list[str]:
        """Write numbers of the row, then the passes over its elements, then what becomes of the reductions."""
        now = self._outer()
        body = [row for line in level.row_lines for row in self._statement(line, now, {})]
        reductions = [line for line in level.reductions if line not in self.parts.over_rows]
        start = [f"part_{self.name(line)} = {START[line.op.name]}" for line in reductions]
        passes = self._passes(level)
        if not self.blocked:
            size = "size" if self.flat else "columns"
            body += start
            for inside in passes:
                body += [f"for i in range({size}):", *indented(inside)]
            return body + [self._reduced(line, f"part_{self.name(line)}") for line in reductions]
        if not passes:
            return body
        body += [f"whole_{self.name(line)} = {_total_start(line)}" for line in reductions]
        body += ["for b in range(0, columns, block):", "    e = min(b + block, columns)"]
        inner = self._slices() + start
        for inside in passes:
            inner += ["for i in range(e - b):", *indented(inside)]
        for name, line in zip(map(self.name, reductions), reductions, strict=True):
            inner.append(f"whole_{name} = {FOLD[line.op.name].format(f'whole_{name}', f'part_{name}')}")
        return [*body, *indented(inner), *(self._reduced(line, f"whole_{self.name(line)}") for line in reductions)]

    def _outer(self) -> dict[int, str]:
        """Return what is known before an inner loop: numbers of the row, and numbers common to all rows."""
        known = {i: f"{self.names[i]}_i" for i in [*self.parts.column, *self.region.row_values]}
        return known | {i: self.names[i] for i in [*self.parts.single, *self.parts.constants]}

    def _slices(self) -> list[str]:
        """Return the block of each array that the passes touch."""
        names = self.names
        text: list[str] = []
        for i in self.parts.whole:
            start = self.strided[i].start(f"{names[i]}_at") if i in self.strided else "low"
            text.append(f"{names[i]}_r = {names[i]}[{start} + b : {start} + e]")
        text += [f"{names[i]}_r = {names[i]}[b:e]" for i in self.parts.row]
        text += [f"{names[i]}_t = {names[i]}_s[b:e]" for i in self.crossing]
        for i, out in self.outs.items():
            start = f"{names[i]}_at[r] * columns" if i in self.puts else "low"
            text.append(f"{out}_r = {out}[{start} + b : {start} + e]")
        rows = map(self.name, self.parts.over_rows)
        return text + [f"out_{n}_b = out_{n}{'_c' if self.chunked else ''}[b:e]" for n in rows]

    def _reduced(self, line: Line, value: str) -> str:
        """Write what becomes of the reduction of a row."""
        if line in self.parts.over_columns:
            divided = f" / number({self.width})" if line.op.name == "mean" else ""
            return f"{self.name(line)}_i = number({value}){divided}"
        return self._totalled(line, value)

    def _totalled(self, line: Line, value: str) -> str:
        """Write how the result of a row is added to a total."""
        name = self.name(line)
        if self.wide:
            return f"sums_{name}[r] = {value}"
        return f"total_{name} = {FOLD[line.op.name].format(f'total_{name}', value)}"

    def total(self, line: Line) -> str:
        """Return the reduction of everything that a line computes, as a number."""
        count = math.prod(self.program.values[line.ins[0]].shape)
        return f"number(total_{self.name(line)})" + (f" / number({count})" if line.op.name == "mean" else "")

    def name(self, line: Line) -> str:
        """Return the name of the result of a line."""
        return self.names[line.outs[0]]

    def number_of(self, value: int) -> str:
        """Return the name of the dtype of a value, in the module."""
        dtype = self.program.values[value].dtype
        return "bool_" if dtype.kind == "b" else dtype.name if dtype.kind == "c" else "number"

    def _type(self, value: int) -> str:
        return element_type(self.region, self.program, value)

    def _passes(self, level: Level) -> list[list[str]]:
        """Write the bodies of the inner loops."""
        parts, names = self.parts, self.names
        reductions: dict[int, list[Line]] = {}
        for line in level.reductions:
            reductions.setdefault(line.ins[0], []).append(line)
        kept = {i: f"{names[i]}_{'t' if self.blocked else 's'}[i]" for i in self.crossing}
        arrays = {i: f"{names[i]}_r[i]" for i in parts.whole}
        arrays |= {i: one.element(f"{names[i]}_r") for i, one in self.strided.items()}
        arrays |= {i: f"{names[i]}{'_r' if self.blocked else ''}[i]" for i in parts.row}
        arrays |= {i: arrays[source] for i, source in parts.aliases.items()}
        made: list[list[str]] = []
        for lines in level.passes:
            text: list[str] = []
            now = self._outer()
            for line in lines:
                text += self._statement(line, now, arrays | kept | self.reread)
                out = line.outs[0]
                if out in self.outs:
                    before = f"{self.outs[out]}_r[i] + " if out in self.puts else ""
                    text.append(f"{self.outs[out]}_r[i] = {before}{now[out]}")
                if out in kept:
                    text.append(f"{kept[out]} = {now[out]}")
                text += [self._step(one, now[out]) for one in reductions.get(out, [])]
            made.append(text)
        return made

    def _statement(self, line: Line, now: dict[int, str], arrays: dict[int, str], at: str = "i") -> list[str]:
        text: list[str] = []
        expression = self.parts.texts[line.outs[0]]
        for n, i in enumerate(line.ins):
            if i not in now and f"{{{n}}}" in expression:
                now[i] = f"{self.names[i]}_{at}"
                text.append(f"{now[i]} = {arrays[i]}")
        given = [now.get(i, "") for i in line.ins]
        out = now[line.outs[0]] = f"{self.name(line)}_{at}"
        text.append(f"{out} = {expression.format(*given)}")
        if angle(line):
            text.append(f"far |= int32(is_far({given[0]}))")
        elif "exponential" in expression:
            text.append(f"far |= int32(is_far({given[0]}.imag))")
        return text

    def _step(self, line: Line, value: str) -> str:
        name = self.name(line)
        if line in self.parts.over_rows:
            target = f"out_{name}{'_b' if self.blocked else '_c' if self.chunked else ''}[i]"
            return f"{target} = {FOLD[line.op.name].format(target, value)}"
        return f"part_{name} = {STEP[line.op.name].format(f'part_{name}', value)}"


def _total_start(line: Line) -> str:
    return _WIDE_START.get(line.op.name) or START[line.op.name]


# --- what the texts of CPU and GPU have in common ---------------------------------------------------------------------


def number_names(region: Region) -> dict[int, str]:
    """Return names that depend on the structure alone: v0, v1, ..."""
    return {i: f"v{n}" for n, i in enumerate([*region.ins(), *(line.outs[0] for line in region.all)])}


def element_type(region: Region, program: Program, value: int) -> str:
    """Return the type of an element of a value, as Numba writes it."""
    dtype = program.values[value].dtype
    return "boolean" if dtype.kind == "b" else dtype.name if dtype.kind == "c" else region.dtype.name


def preamble(kind: str, texts: Iterable[str]) -> list[str]:
    """Return the imports of a module for the CPU, and the elementary functions that its expressions call."""
    family, far = ("SINGLE", "is_far") if kind == "float32" else ("VECTOR_DOUBLE", "is_far_double as is_far")
    called = {f for text in texts for f in called_in(text)}
    parts, of_complex = ("single", "complex64") if kind == "float32" else ("double", "complex128")
    polar = [f"{parts}_{how} as {name}" for name, how in _POLAR.items() if name in called]
    return [
        "from math import sqrt",
        f"from numpy import {kind} as number, {of_complex}, bool_, empty, inf, int32",
        *([f"from autodiff_lab.kernels.maths.polar import {', '.join(polar)}"] if polar else []),
        f"from autodiff_lab.kernels.maths.single import {family}, {far}, {_MADE_OF}",
        "zero, one, infinity = number(0), number(1), number(inf)",
        *(f'{name} = {family}["{name}"]' for name in sorted(FUNCTIONS & called)),
    ]


def constant_rows(constants: dict[int, Any], names: dict[int, str]) -> list[str]:
    """Return the statements that name constants."""
    return [f"{names[i]} = {_constant_text(value)}" for i, value in constants.items()]


def _constant_text(value: Any) -> str:
    """Return a constant as an expression that gives the same bits."""
    if value.dtype.kind == "b":
        return repr(bool(value))
    if value.dtype.kind == "c":
        return f"{value.dtype.name}(complex({_constant_text(value.real)}, {_constant_text(value.imag)}))"
    plain = float(value)
    return f"number({plain!r})" if math.isfinite(plain) else f'number(float("{plain}"))'


def with_names(
    rows: list[str],
    region: Region,
    program: Program,
    names: dict[int, str],
    taken: Container[str] = (),
    strided: Mapping[int, Strided] | None = None,
    puts: Mapping[int, Line] | None = None,
) -> list[str]:
    """Replace numbered names by the user's, and append the comment of each op to its statement.

    Names that are `taken` by the text itself get an underscore; rows of `strided` operands say which op takes them, and
    those of `puts` which op adds them up.
    """
    numbers = number_names(region)
    called = {number: f"{names[i]}_" if names[i] in taken else names[i] for i, number in numbers.items()}
    lines = region.lines + region.row_lines
    said = {f"{called[numbers[line.outs[0]]]}_i": comment(line, program, names) for line in lines}
    for value, one in (strided or {}).items():
        said[f"{called[numbers[value]]}_r"] = comment(one.lines[-1], program, names) if one.lines else ""
    said |= {f"out_{called[numbers[value]]}_r": comment(line, program, names) for value, line in (puts or {}).items()}
    made: list[str] = []
    for row in rows:
        text = _NUMBERED.sub(lambda found: called[found[0]], row)
        words = said.pop(text.strip().partition(" = ")[0], None)
        made.append(f"{text.ljust(52)}  # {words}" if words else text)
    return made


def indented(rows: Iterable[str]) -> list[str]:
    """Return the rows indented by one level."""
    return [f"    {row}" for row in rows]
