"""Fused loops: a `Region` becomes one loop over memory, compiled by Numba.

The loop goes over blocks of a row, or over the rows where an input or a sum is split.  Inside a block the sums may be
reordered; between blocks they are added in double.  Text is written twice: with numbered names, which is what is
compiled and cached, so that names do not matter; and with the user's names, which is what is shown.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from autodiff_lab.compile.expressions import ANGLES, expression, functions_in
from autodiff_lab.compile.passes import one_value
from autodiff_lab.compile.program import Line, Program
from autodiff_lab.compile.regions import Region, layout, summed

BLOCK = 1024
"""Elements of a block: long enough for vectors, short enough for exact sums and for the first cache."""


_MADE_OF = "add_up, ceil, choose, floor, larger, nearest, smaller"


class Parts(NamedTuple):
    """What a loop reads and writes, by the way it lies in the loop."""

    whole: list[int]
    row: list[int]
    column: list[int]
    single: list[int]
    constants: dict[int, Any]
    stored: list[int]
    row_sums: list[Line]
    column_sums: list[Line]
    totals: list[Line]


def parts_of(region: Region, program: Program, needed: set[int]) -> Parts:
    """Sort what a loop reads and writes; `needed` are the values that something outside uses."""
    parts = Parts([], [], [], [], {}, [], [], [], [])
    for i in region.ins():
        array = program.constants.get(i)
        value = None if array is None else one_value(array)
        if value is not None:
            parts.constants[i] = value
            continue
        found = layout(program.values[i].shape, region.shape)
        how = found[0] if isinstance(found, tuple) else found
        {"whole": parts.whole, "single": parts.single, "row": parts.row, "column": parts.column}[str(how)].append(i)
    parts.stored.extend(line.outs[0] for line in region.lines if line.outs[0] in needed)
    for line in region.sums:
        found = summed(line, program)
        how = found[0] if isinstance(found, tuple) else found
        {"single": parts.totals, "row": parts.row_sums, "column": parts.column_sums}[str(how)].append(line)
    return parts


def split_sizes(region: Region) -> tuple[int, int] | None:
    """Rows and columns, None where the loop is over one long row."""
    if region.split is None:
        return None
    return math.prod(region.shape[: region.split]), math.prod(region.shape[region.split :])


class Writer:
    """Writes the text of one loop with given names."""

    def __init__(self, region: Region, program: Program, parts: Parts, names: dict[int, str]) -> None:
        self.region, self.program, self.parts, self.names = region, program, parts, names
        self.angles = any(line.op.name in ANGLES for line in region.lines)
        self.outs = {i: f"out_{names[i]}" for i in parts.stored}
        self.texts = texts_of(region, program)
        self.segments = segments_of(region, self.texts)
        self.crossing = crossing_values(self.segments)

    def text(self, title: str) -> list[str]:
        """The function."""
        parts, names = self.parts, self.names
        split = self.region.split is not None
        sums = [names[line.outs[0]] for line in parts.totals]
        arrays = [*parts.whole, *parts.row, *parts.column, *parts.single]
        arguments = [*(names[i] for i in arrays), *self.outs.values()]
        arguments += [f"out_{names[line.outs[0]]}" for line in [*parts.row_sums, *parts.column_sums]]
        head = [f"def {title}({', '.join(['rows', 'columns', *arguments])}):"]
        body = ["far = int32(0)", *(f"total_{name} = 0.0" for name in sums)]
        body += [f"{names[i]}_s = empty(columns, {self._kind(i)})" for i in self.crossing]
        body += ["for r in range(rows):", "    low = r * columns"]
        size = "columns"
        if not split:
            body.append("    size = min(columns, length - low)")
            body.insert(0, f"length = {self._first_array()}.size")
            size = "size"
        body += [f"    {names[i]}_r = {names[i]}[low : low + {size}]" for i in parts.whole]
        body += [f"    {out}_r = {out}[low : low + {size}]" for out in self.outs.values()]
        body += [f"    {names[i]}_i = {names[i]}[r]" for i in parts.column]
        body += [f"    part_{name} = zero" for name in self._running()]
        for inside in self._passes():
            body += [f"    for i in range({size}):", *(f"        {line}" for line in inside)]
        body += [f"    total_{name} += part_{name}" for name in sums]
        body += [f"    out_{names[line.outs[0]]}[r] = part_{names[line.outs[0]]}" for line in parts.column_sums]
        body.append(f"return {', '.join(['far', *(self._total(line) for line in parts.totals)])}")
        return [*head, *(f"    {line}" for line in body)]

    def _first_array(self) -> str:
        return self.names[self.parts.whole[0]] if self.parts.whole else next(iter(self.outs.values()))

    def _running(self) -> list[str]:
        return [self.names[line.outs[0]] for line in [*self.parts.totals, *self.parts.column_sums]]

    def _total(self, line: Line) -> str:
        name = f"number(total_{self.names[line.outs[0]]})"
        if line.op.name == "mean":
            return f"{name} / number({math.prod(self.region.shape)})"
        return name

    def _kind(self, value: int) -> str:
        return "bool_" if self.program.values[value].dtype.kind == "b" else "number"

    def _passes(self) -> list[list[str]]:
        """Write the inner loops, with at most one costly function each.

        More than that keeps the processor from overlapping the work on neighbours.  What a later loop needs is kept
        in the first cache meanwhile.
        """
        parts, names = self.parts, self.names
        sums = {line.ins[0]: [] for line in self.region.sums}
        for line in self.region.sums:
            sums[line.ins[0]].append(line)
        kept = {i: f"{names[i]}_s[i]" for i in self.crossing}
        outer = {i: f"{names[i]}_i" for i in parts.column} | {i: names[i] for i in [*parts.single, *parts.constants]}
        arrays = {i: f"{names[i]}_r[i]" for i in parts.whole} | {i: f"{names[i]}[i]" for i in parts.row}
        made: list[list[str]] = []
        for segment in self.segments:
            text: list[str] = []
            now = dict(outer)
            for line in segment:
                text += self._statement(line, now, arrays | kept)
                out = line.outs[0]
                if out in self.outs:
                    text.append(f"{self.outs[out]}_r[i] = {now[out]}")
                if out in kept:
                    text.append(f"{kept[out]} = {now[out]}")
                text += [self._sum_step(line, now[out]) for line in sums.get(out, [])]
            made.append(text)
        return made

    def _statement(self, line: Line, now: dict[int, str], arrays: dict[int, str]) -> list[str]:
        text: list[str] = []
        for i in line.ins:
            if i not in now:
                now[i] = f"{self.names[i]}_i"
                text.append(f"{now[i]} = {arrays[i]}")
        given = [now[i] for i in line.ins]
        out = now[line.outs[0]] = f"{self.names[line.outs[0]]}_i"
        text.append(f"{out} = {self.texts[line.outs[0]].format(*given)}")
        if self.angles and line.op.name in ANGLES:
            text.append(f"far |= int32(is_far({given[0]}))")
        return text

    def _sum_step(self, line: Line, value: str) -> str:
        name = self.names[line.outs[0]]
        if line in self.parts.row_sums:
            return f"out_{name}[i] += {value}"
        return f"part_{name} = add_up(part_{name}, {value})"


def texts_of(region: Region, program: Program) -> dict[int, str]:
    """The expression of each elementwise line, by the value that it makes."""
    return {line.outs[0]: expression(line, program) or "" for line in region.lines}


def segments_of(region: Region, texts: dict[int, str]) -> list[list[Line]]:
    """The lines in runs with one costly function each; a sine and a cosine of one angle share their work."""
    made: list[list[Line]] = [[]]
    costly = False
    for line in _angles_together(region.lines):
        function = bool(functions_in(texts[line.outs[0]]))
        paired = function and _shares_angle(line, made[-1])
        if function and costly and not paired:
            made.append([])
        costly = costly or function
        made[-1].append(line)
    return made


def _shares_angle(line: Line, segment: list[Line]) -> bool:
    return line.op.name in ANGLES and any(m.op.name in ANGLES and m.ins == line.ins for m in segment)


def _angles_together(lines: list[Line]) -> list[Line]:
    """The lines with the second function of an angle right behind the first."""
    last: dict[tuple[int, ...], Line] = {}
    after: dict[int, Line] = {}
    for line in lines:
        if line.op.name in ANGLES:
            first = last.setdefault(line.ins, line)
            if first is not line:
                after[first.outs[0]] = line
    moved = {line.outs[0] for line in after.values()}
    ordered: list[Line] = []
    for line in lines:
        if line.outs[0] not in moved:
            ordered.append(line)
            if line.outs[0] in after:
                ordered.append(after[line.outs[0]])
    return ordered


def crossing_values(segments: list[list[Line]]) -> list[int]:
    """Values that a later run needs."""
    home = {line.outs[0]: n for n, segment in enumerate(segments) for line in segment}
    used = [(i, n) for n, segment in enumerate(segments) for line in segment for i in line.ins]
    return list(dict.fromkeys(i for i, n in used if home.get(i, n) < n))


def number_names(region: Region) -> dict[int, str]:
    """Names that depend on the structure alone."""
    return {i: f"v{n}" for n, i in enumerate([*region.ins(), *(line.outs[0] for line in region.all)])}


def module_text(region: Region, program: Program, parts: Parts) -> str:
    """The module that is compiled and cached."""
    kind = "float32" if region.dtype == np.float32 else "float64"
    names = number_names(region)
    used = sorted({f for text in texts_of(region, program).values() for f in functions_in(text)})
    family, far = ("SINGLE", "is_far") if kind == "float32" else ("VECTOR_DOUBLE", "is_far_double as is_far")
    head = [
        "from math import sqrt",
        "from numba import njit",
        f"from numpy import {kind} as number, bool_, empty, inf, int32",
        f"from autodiff_lab.kernels.jit.vector_maths import {family}, {far}, {_MADE_OF}",
        "zero, one, infinity = number(0), number(1), number(inf)",
        *(f'{name} = {family}["{name}"]' for name in used),
        *(f"{names[i]} = {constant_text(value)}" for i, value in parts.constants.items()),
        f'@njit("{signature(region, program, parts)}", cache=CACHE, nogil=True, error_model="numpy")',
    ]
    return "\n".join([*head, *Writer(region, program, parts, names).text("loop")]) + "\n"


def constant_text(value: Any) -> str:
    """A constant as an expression that gives the same bits."""
    if value.dtype.kind == "b":
        return repr(bool(value))
    plain = float(value)
    return f"number({plain!r})" if math.isfinite(plain) else f'number(float("{plain}"))'


def signature(region: Region, program: Program, parts: Parts) -> str:
    """The Numba types of the arguments, in their order."""
    kind = "float32" if region.dtype == np.float32 else "float64"

    def element(i: int) -> str:
        return "boolean" if program.values[i].dtype.kind == "b" else kind

    arrays = [f"{element(i)}[::1]" for i in [*parts.whole, *parts.row, *parts.column]]
    singles = [element(i) for i in parts.single]
    outs = [f"{element(i)}[::1]" for i in parts.stored]
    outs += [f"{kind}[::1]" for _ in [*parts.row_sums, *parts.column_sums]]
    result = f"Tuple((int32, {', '.join([kind] * len(parts.totals))}))" if parts.totals else "int32"
    return f"{result}({', '.join(['int64', 'int64', *arrays, *singles, *outs])})"
