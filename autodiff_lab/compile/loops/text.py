"""Fused loops: a `Region` becomes one loop over memory, compiled by Numba.

The loop goes over blocks of a long row, or over the rows where an input or a reduction is split.  Inside a block sums
may be reordered; between blocks they are added in double.  Text is written twice: with numbered names, which is what is
compiled and cached, so that names do not matter; and with the user's names, which is what is shown.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autodiff_lab.compile.loops.parts import Level, Parts, crossing_values
from autodiff_lab.compile.program.expressions import angle, functions_in
from autodiff_lab.compile.program.program import Line, Program
from autodiff_lab.compile.program.regions import Region

BLOCK = 1024
"""Elements of a block: long enough for vectors, short enough for exact sums and for the first cache."""
LONGEST_ROW = 4096
"""Rows longer than this are gone over in blocks, and their sums added up in double."""
WIDE = 65_536
"""Elements from which on a loop is a range of blocks or rows, which threads can share."""
_MADE_OF = "add_up, ceil, choose, floor, greatest, larger, least, multiply_up, nearest, smaller"
_START = {"sum": "zero", "mean": "zero", "prod": "one", "max": "-infinity", "min": "infinity"}
_STEP = {
    "sum": "add_up({}, {})", "mean": "add_up({}, {})", "prod": "multiply_up({}, {})", "max": "greatest({}, {})",
    "min": "least({}, {})",
}  # fmt: skip
_FOLD = {"sum": "{} + {}", "mean": "{} + {}", "prod": "{} * {}", "max": "greatest({}, {})", "min": "least({}, {})"}
_WIDE_START = {"sum": "0.0", "mean": "0.0", "prod": "1.0"}


def is_wide(region: Region) -> bool:
    """Return whether threads share the loop."""
    return math.prod(region.shape) >= WIDE and (region.split is None or region.rows >= 2)


def sizes(region: Region) -> tuple[int, int]:
    """Return how many rows the loop goes over and how long they are; blocks of one long row count as rows."""
    if region.split is None:
        return -(-math.prod(region.shape) // BLOCK), BLOCK
    return region.rows, region.columns


class Writer:
    """Writes the text of one loop with given names."""

    def __init__(self, region: Region, program: Program, parts: Parts, names: dict[int, str]) -> None:
        self.region, self.program, self.parts, self.names = region, program, parts, names
        self.angles = any(map(angle, region.lines))
        self.outs = {i: f"out_{names[i]}" for i in parts.stored}
        crossing = crossing_values(parts)
        self.crossing = [i for i in crossing if i not in self.outs]  # what is stored anyway is read from there
        self.reread = {i: f"{self.outs[i]}_r[i]" for i in crossing if i in self.outs}
        self.flat = region.split is None
        self.blocked = not self.flat and region.columns > LONGEST_ROW
        self.wide = is_wide(region)

    def arguments(self) -> list[str]:
        """Return the names of the arguments, in their order."""
        parts, names = self.parts, self.names
        made = [names[i] for i in [*parts.whole, *parts.row, *parts.column, *parts.single]]
        made += [*self.outs.values(), *(f"out_{names[i]}" for i in parts.row_stored)]
        made += [f"out_{names[line.outs[0]]}" for line in parts.over_rows]
        if self.wide:
            made += [f"sums_{names[line.outs[0]]}" for line in parts.all_totals]
        return ["first", "last", "columns", *(["per"] if self.chunked else []), *made]

    @property
    def chunked(self) -> bool:
        """Whether sums over rows are taken of some rows each, so that threads do not meet."""
        return self.wide and bool(self.parts.over_rows)

    def text(self, title: str) -> list[str]:
        """Return the function."""
        names, parts = self.names, self.parts
        body = ["far = int32(0)"]
        if self.flat:
            body.append(f"length = {self._first_array()}.size")
        if not self.wide:
            body += [f"total_{self._name(line)} = {self._total_start(line)}" for line in parts.all_totals]
        body += [f"{names[i]}_s = empty(columns, {self._kind(i)})" for i in self.crossing]
        body += ["for r in range(first, last):", *(f"    {row}" for row in self._row())]
        results = ["far"]
        if not self.wide:
            results += [self._total(line) for line in parts.all_totals]
        body.append(f"return {', '.join(results)}")
        return [f"def {title}({', '.join(self.arguments())}):", *(f"    {row}" for row in body)]

    def _row(self) -> list[str]:
        """Return what is done for one row or block."""
        parts, names = self.parts, self.names
        body = ["low = r * columns"]
        if self.flat:
            body.append("size = min(columns, length - low)")
        if not self.blocked:
            end = "size" if self.flat else "columns"
            body += [f"{names[i]}_r = {names[i]}[low : low + {end}]" for i in parts.whole]
            body += [f"{out}_r = {out}[low : low + {end}]" for out in self.outs.values()]
        if self.chunked:
            body.append("chunk = r // per * columns")
            body += [f"out_{n}_c = out_{n}[chunk : chunk + columns]" for n in map(self._name, parts.over_rows)]
        body += [f"{names[i]}_i = {names[i]}[r]" for i in parts.column]
        for level in parts.levels:
            body += self._level(level)
        body += [f"out_{names[i]}[r] = {names[i]}_i" for i in parts.row_stored]
        body += [self._totalled(line, f"{names[line.ins[0]]}_i") for line in parts.row_totals]
        return body

    def _level(self, level: Level) -> list[str]:
        """Numbers of the row first, then the passes over its elements, then what was reduced."""
        now = self._outer()
        body = [row for line in level.row_lines for row in self._statement(line, now, {})]
        reductions = [line for line in level.reductions if line not in self.parts.over_rows]
        start = [f"part_{self._name(line)} = {_START[line.op.name]}" for line in reductions]
        passes = self._passes(level)
        if not self.blocked:
            size = "size" if self.flat else "columns"
            body += start
            for inside in passes:
                body += [f"for i in range({size}):", *(f"    {row}" for row in inside)]
            return body + [row for line in reductions for row in self._reduced(line, f"part_{self._name(line)}")]
        if not passes:
            return body
        body += [f"whole_{self._name(line)} = {self._total_start(line)}" for line in reductions]
        body += ["for b in range(0, columns, block):", "    e = min(b + block, columns)"]
        inner = self._slices() + start
        for inside in passes:
            inner += ["for i in range(e - b):", *(f"    {row}" for row in inside)]
        for line in reductions:
            name = self._name(line)
            inner.append(f"whole_{name} = {_FOLD[line.op.name].format(f'whole_{name}', f'part_{name}')}")
        body += [f"    {row}" for row in inner]
        return body + [row for line in reductions for row in self._reduced(line, f"whole_{self._name(line)}")]

    def _outer(self) -> dict[int, str]:
        """Return what is known before an inner loop: numbers of the row, and numbers for all."""
        known = {i: f"{self.names[i]}_i" for i in [*self.parts.column, *self.region.row_values]}
        return known | {i: self.names[i] for i in [*self.parts.single, *self.parts.constants]}

    def _slices(self) -> list[str]:
        """Return the block of each array that the passes touch."""
        names = self.names
        text = [f"{names[i]}_r = {names[i]}[low + b : low + e]" for i in self.parts.whole]
        text += [f"{names[i]}_r = {names[i]}[b:e]" for i in self.parts.row]
        text += [f"{names[i]}_t = {names[i]}_s[b:e]" for i in self.crossing]
        text += [f"{out}_r = {out}[low + b : low + e]" for out in self.outs.values()]
        rows = [self._name(line) for line in self.parts.over_rows]
        text += [f"out_{n}_b = out_{n}{'_c' if self.chunked else ''}[b:e]" for n in rows]
        return text

    def _reduced(self, line: Line, value: str) -> list[str]:
        """Return what becomes of the reduction of a row."""
        if line in self.parts.over_columns:
            count = " / number(columns)" if line.op.name == "mean" else ""
            return [f"{self._name(line)}_i = number({value}){count}"]
        return [self._totalled(line, value)]

    def _totalled(self, line: Line, value: str) -> str:
        """Hand on what a row adds to a total."""
        name = self._name(line)
        if self.wide:
            return f"sums_{name}[r] = {value}"
        return f"total_{name} = {_FOLD[line.op.name].format(f'total_{name}', value)}"

    def _name(self, line: Line) -> str:
        return self.names[line.outs[0]]

    def _first_array(self) -> str:
        return self.names[self.parts.whole[0]] if self.parts.whole else next(iter(self.outs.values()))

    def _total_start(self, line: Line) -> str:
        return _WIDE_START.get(line.op.name) or _START[line.op.name]

    def _total(self, line: Line) -> str:
        name = f"number(total_{self._name(line)})"
        if line.op.name == "mean":
            return f"{name} / number({math.prod(self.program.values[line.ins[0]].shape)})"
        return name

    def _kind(self, value: int) -> str:
        return "bool_" if self.program.values[value].dtype.kind == "b" else "number"

    def _passes(self, level: Level) -> list[list[str]]:
        """Return the insides of the inner loops."""
        parts, names = self.parts, self.names
        reductions: dict[int, list[Line]] = {}
        for line in level.reductions:
            reductions.setdefault(line.ins[0], []).append(line)
        kept = {i: f"{names[i]}_{'t' if self.blocked else 's'}[i]" for i in self.crossing}
        outer = self._outer()
        arrays = {i: f"{names[i]}_r[i]" for i in parts.whole}
        arrays |= {i: f"{names[i]}{'_r' if self.blocked else ''}[i]" for i in parts.row}
        arrays |= {i: arrays[source] for i, source in parts.aliases.items()}
        made: list[list[str]] = []
        for lines in level.passes:
            text: list[str] = []
            now = dict(outer)
            for line in lines:
                text += self._statement(line, now, arrays | kept | self.reread)
                out = line.outs[0]
                if out in self.outs:
                    text.append(f"{self.outs[out]}_r[i] = {now[out]}")
                if out in kept:
                    text.append(f"{kept[out]} = {now[out]}")
                text += [self._step(one, now[out]) for one in reductions.get(out, [])]
            made.append(text)
        return made

    def _statement(self, line: Line, now: dict[int, str], arrays: dict[int, str]) -> list[str]:
        text: list[str] = []
        expression = self.parts.texts[line.outs[0]]
        for n, i in enumerate(line.ins):
            if i not in now and f"{{{n}}}" in expression:
                now[i] = f"{self.names[i]}_i"
                text.append(f"{now[i]} = {arrays[i]}")
        given = [now.get(i, "") for i in line.ins]
        out = now[line.outs[0]] = f"{self.names[line.outs[0]]}_i"
        text.append(f"{out} = {expression.format(*given)}")
        if angle(line):
            text.append(f"far |= int32(is_far({given[0]}))")
        return text

    def _step(self, line: Line, value: str) -> str:
        name = self._name(line)
        if line in self.parts.over_rows:
            target = f"out_{name}{'_b' if self.blocked else '_c' if self.chunked else ''}[i]"
            return f"{target} = {_FOLD[line.op.name].format(target, value)}"
        return f"part_{name} = {_STEP[line.op.name].format(f'part_{name}', value)}"


def number_names(region: Region) -> dict[int, str]:
    """Return the names that depend on the structure alone."""
    return {i: f"v{n}" for n, i in enumerate([*region.ins(), *(line.outs[0] for line in region.all)])}


def module_text(region: Region, program: Program, parts: Parts) -> str:
    """Return the module that is compiled and cached."""
    kind = "float32" if region.dtype == np.float32 else "float64"
    names = number_names(region)
    used = sorted({f for text in parts.texts.values() for f in functions_in(text)})
    family, far = ("SINGLE", "is_far") if kind == "float32" else ("VECTOR_DOUBLE", "is_far_double as is_far")
    head = [
        "from math import sqrt",
        "from numba import njit",
        f"from numpy import {kind} as number, bool_, empty, inf, int32",
        f"from autodiff_lab.kernels.maths.single import {family}, {far}, {_MADE_OF}",
        f"zero, one, infinity, block = number(0), number(1), number(inf), {BLOCK}",
        *(f'{name} = {family}["{name}"]' for name in used),
        *(f"{names[i]} = {constant_text(value)}" for i, value in parts.constants.items()),
        f'@njit("{signature(region, program, parts)}", cache=CACHE, nogil=True, error_model="numpy")',
    ]
    return "\n".join([*head, *Writer(region, program, parts, names).text("loop")]) + "\n"


def constant_text(value: Any) -> str:
    """Return a constant as an expression that gives the same bits."""
    if value.dtype.kind == "b":
        return repr(bool(value))
    plain = float(value)
    return f"number({plain!r})" if math.isfinite(plain) else f'number(float("{plain}"))'


def signature(region: Region, program: Program, parts: Parts) -> str:
    """Return the Numba types of the arguments, in their order."""
    kind = "float32" if region.dtype == np.float32 else "float64"
    wide = is_wide(region)

    def element(i: int) -> str:
        return "boolean" if program.values[i].dtype.kind == "b" else kind

    given = ["int64"] * (4 if wide and parts.over_rows else 3)
    given += [f"{element(i)}[::1]" for i in [*parts.whole, *parts.row, *parts.column]]
    given += [element(i) for i in parts.single]
    given += [f"{element(i)}[::1]" for i in [*parts.stored, *parts.row_stored]]
    given += [f"{kind}[::1]"] * len(parts.over_rows)
    given += ["float64[::1]"] * (len(parts.all_totals) if wide else 0)
    result = "int32"
    if parts.all_totals and not wide:
        result = f"Tuple((int32, {', '.join([kind] * len(parts.all_totals))}))"
    return f"{result}({', '.join(given)})"
