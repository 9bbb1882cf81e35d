"""The text of a fused loop over rows of a few elements: every column has statements of its own.

A loop along such a row would fill no vector.  Written out, the only loop goes from row to row, and the compiler puts
neighbouring rows into the elements of one vector: it knows how far apart they lie, as the length of a row is part of
the text.  What later passes over a row need are plain numbers.  Blocks of rows take the part that rows have elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from autodiff_lab.compile.loops.parts import Level, Parts, parts_of, texts_of
from autodiff_lab.compile.loops.strided import Origin, Strided, with_short_rows
from autodiff_lab.compile.loops.text import BLOCK, CHUNKS, FOLD, START, STEP, Argument, Writer, indented
from autodiff_lab.compile.program.expressions import functions_in
from autodiff_lab.compile.program.program import Program
from autodiff_lab.compile.program.regions import Region

FEW, LONGEST_IN_VECTORS, LONGEST = 8, 16, 32
"""Elements of the longest row that is written out: of any; of those with elementary functions that fill vectors, and
that leave part of one."""
VECTOR, FEWEST_ROWS, MANY_ROWS = 32, 16, 128
"""Bytes of the vectors that LLVM prefers, and rows from which on short rows are written out, and longer ones."""
MOST_STATEMENTS, MOST_FUNCTIONS = 1200, 120
"""Statements and elementary functions that are written out; beyond that compiling would take seconds."""


def narrowed(region: Region, program: Program, origin_of: Callable[[int], Origin] | None = None) -> Narrow | None:
    """Return what writes a region whose columns are written out, None if that would not be quicker.

    With `origin_of` it reads parts of other arrays where they lie.
    """
    strided: dict[int, Strided] = {}
    if origin_of is not None:
        region, strided = with_short_rows(region, program, FEW, origin_of)
    if region.split is None:
        return None
    parts = parts_of(region, program, texts_of(region, program))
    return Narrow(region, program, parts, strided) if is_narrow(region, parts) else None


def is_narrow(region: Region, parts: Parts) -> bool:
    """Return whether the columns of a region are written out."""
    columns = region.columns
    functions = sum(bool(functions_in(parts.texts[line.outs[0]])) for line in region.lines)
    longest = FEW
    if functions and region.rows >= MANY_ROWS:  # without, gathering and scattering elements would take longer
        fills = columns % (VECTOR // region.dtype.itemsize) == 0
        several = sum(len(level.passes) for level in parts.levels) > 1  # between them a row would lie in memory
        if several or not (fills or parts.stored):
            longest = LONGEST_IN_VECTORS if fills else LONGEST
    few = columns * len(region.lines) <= MOST_STATEMENTS and columns * functions <= MOST_FUNCTIONS
    return columns <= longest and few and region.rows >= FEWEST_ROWS


class Narrow(Writer):
    """Writes the text of a loop over blocks of such rows."""

    count, width = "count", ""

    def __init__(self, region: Region, program: Program, parts: Parts, strided: Mapping[int, Strided]) -> None:
        super().__init__(region, program, parts, strided)
        self.width, self.each, self.together = str(region.columns), range(region.columns), BLOCK // region.columns
        self.crossing.clear()
        self.rows, self.columns = -(-region.rows // self.together), self.together * region.columns
        self.per = -(-self.rows // CHUNKS)

    def arguments(self) -> list[Argument]:
        """Return the arguments after the range of blocks; the number of rows comes first.

        Where a part begins is an argument too: a program that takes one column after the other has one loop for all.
        """
        begins = {f"{self.names[i]}_at": str(int(one.starts[0])) for i, one in self.strided.items()}
        given = [one._replace(type="int64", given=begins[one.name]) if one.name in begins else one
                 for one in super().arguments()[1:]]  # fmt: skip
        return [Argument("count", "int64", str(self.region.rows)), *given]

    def shown(self) -> list[str]:
        """Return the text with a loop along each row, which says the same in fewer lines."""
        rows = {i: one for i, one in self.strided.items() if i in self.parts.whole}
        return Writer(self.region, self.program, self.parts, rows).text()

    def body(self) -> list[str]:
        """Return what the function does before it returns."""
        body = ["far = int32(0)", *self._totals_started()]
        body += [f"{self.names[i]}_{k} = {self.names[i]}[{k}]" for i in self.parts.row for k in self.each]
        for i in (i for i, one in self.strided.items() if _apart(one) >= 0):
            name = self.names[i]
            body.append(f"{name}_f = {name}[{name}_at : {name}.size]")  # so that an index is a multiple of a constant
        return [*body, "for r in range(first, last):", *indented(self._block())]

    def _block(self) -> list[str]:
        """Write what is done for a block of rows: sums over rows are numbers until its end."""
        over_rows = [(self.name(line), line, k) for line in self.parts.over_rows for k in self.each]
        totals = [(f"part_{self.name(line)}", line) for line in self.parts.all_totals]
        body = [f"start = r * {self.together}"]
        body += [f"part_{name}_{k} = {START[line.op.name]}" for name, line, k in over_rows]
        body += [f"{part} = {START[line.op.name]}" for part, line in totals]
        body += [f"for q in range(start, min(start + {self.together}, count)):", *indented(self._narrow_row())]
        chunk = "r // per * " + self.width + " + " if self.chunked else ""
        for name, line, k in over_rows:
            to = f"out_{name}[{chunk}{k}]"
            body.append(f"{to} = {FOLD[line.op.name].format(to, f'part_{name}_{k}')}")
        return body + [self._totalled(line, part) for part, line in totals]

    def _narrow_row(self) -> list[str]:
        """Write what is done for one row."""
        names, parts = self.names, self.parts
        body = [f"low = q * {self.width}", *(f"{names[i]}_i = {self._element(i, 0)}" for i in parts.column)]
        known = [{i: f"{names[i]}_{k}" for i in parts.row} for k in self.each]
        for level in parts.levels:
            body += self._written_out(level, known)
        body += [f"out_{names[i]}[q] = {names[i]}_i" for i in parts.row_stored]
        steps = [(f"part_{self.name(line)}", line) for line in parts.row_totals]
        return body + [f"{to} = {STEP[line.op.name].format(to, f'{names[line.ins[0]]}_i')}" for to, line in steps]

    def _element(self, value: int, column: int) -> str:
        """Return the expression of an element of row q of an operand."""
        name, one = self.names[value], self.strided.get(value)
        if one is None:
            return f"{name}[q]" if value in self.parts.column else f"{name}[low + {column}]"
        if one.step < 0:
            column = self.region.columns - 1 - column
        apart, at = _apart(one), column * abs(one.step)
        return f"{name}[q * {apart} + {at} + {name}_at]" if apart < 0 else f"{name}_f[q * {apart} + {at}]"

    def _written_out(self, level: Level, known: list[dict[int, str]]) -> list[str]:
        """Write numbers of the row, then every element; `known` are the names of those so far, by column."""
        body = [row for line in level.row_lines for row in self._statement(line, self._outer(), {})]
        within = [line for line in level.reductions if line in self.parts.over_columns]
        body += [f"part_{self.name(line)} = {START[line.op.name]}" for line in within]
        for k, elements in enumerate(known):
            now = self._outer() | elements
            arrays = {i: self._element(i, k) for i in self.parts.whole}
            for line in [line for lines in level.passes for line in lines]:
                body += self._statement(line, now, arrays, str(k))
                out = line.outs[0]
                if out in self.outs:
                    body.append(f"{self.outs[out]}[low + {k}] = {now[out]}")
            elements.update({i: name for i, name in now.items() if i not in self._outer()})
            for line in level.reductions:
                at = f"_{k}" if line in self.parts.over_rows else ""
                part, value = f"part_{self.name(line)}{at}", now[line.ins[0]]
                body.append(f"{part} = {STEP[line.op.name].format(part, value)}")
        return body + [self._reduced(line, f"part_{self.name(line)}") for line in within]


def _apart(one: Strided) -> int:
    """Return how far apart the rows of an operand lie."""
    return int(one.starts[1] - one.starts[0]) if len(one.starts) > 1 else 0
