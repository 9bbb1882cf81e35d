"""Parts of a loop: what it reads and writes, by how it lies in the loop, and its passes over the elements.

A region that works row by row has levels: what depends on the sum of a row is computed at the level after that sum.
Within a level each pass has one costly function at most, because more keep the processor from overlapping the work on
neighbouring elements.  What a later pass needs is kept in the L1 cache meanwhile.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, NamedTuple

from autodiff_lab.compile.program.expressions import angle, expression, functions_in
from autodiff_lab.compile.program.program import Line, Program
from autodiff_lab.compile.program.regions import Region, reduced
from autodiff_lab.compile.program.rewriting import one_value


class Level(NamedTuple):
    """What is computed once the reductions of earlier levels are known: numbers of the row, then passes over it."""

    row_lines: list[Line]
    passes: list[list[Line]]
    reductions: list[Line]


@dataclass(frozen=True)
class Parts:
    """What a loop reads and writes, by how it lies in the loop.

    Attributes
    ----------
    whole, row, column, single : list of int
        Inputs.
    constants : dict of int to number
        Constants whose elements are all equal; they are written into the text.
    stored, row_stored : list of int
        Outputs with one value for each element, and with one for each row.
    over_rows, over_columns, totals, row_totals : list of Line
        Reductions: over the rows, within each row, over everything, and over numbers of the rows.
    texts : dict of int to str
        The expression of each line, by its result.
    aliases : dict of int to int
        Results of lines that merely read an array, and the array.
    """

    whole: list[int]
    row: list[int]
    column: list[int]
    single: list[int]
    constants: dict[int, Any]
    stored: list[int]
    row_stored: list[int]
    over_rows: list[Line]
    over_columns: list[Line]
    totals: list[Line]
    row_totals: list[Line]
    texts: dict[int, str]
    aliases: dict[int, int]
    levels: list[Level]

    @property
    def arrays(self) -> list[int]:
        """Inputs that are arrays, in the order of the arguments."""
        return [*self.whole, *self.row, *self.column]

    @property
    def all_stored(self) -> list[int]:
        """Outputs that are arrays allocated before the loop, in the order of the arguments."""
        return [*self.stored, *self.row_stored]

    @property
    def all_totals(self) -> list[Line]:
        """Reductions whose result is one number."""
        return [*self.totals, *self.row_totals]


def texts_of(region: Region, program: Program) -> dict[int, str]:
    """Return the expression of each line, by its result."""
    lines = region.lines + region.row_lines
    return {line.outs[0]: "{0}" if line.op.name == "reshape" else expression(line, program) or "" for line in lines}


def parts_of(region: Region, program: Program, texts: dict[int, str], numbers: Collection[int] = ()) -> Parts:
    """Sort what a loop reads and writes; `numbers` are inputs that are passed by value."""
    read = {line.ins[0] for line in region.sums}  # nothing reads a constant exponent, which is part of the text
    for line in region.lines + region.row_lines:
        read.update(i for n, i in enumerate(line.ins) if f"{{{n}}}" in texts[line.outs[0]])
    given: dict[str, list[int]] = {"whole": [], "row": [], "column": [], "single": []}
    constants: dict[int, Any] = {}
    for i in region.ins():
        value = one_value(program.constants[i]) if i in program.constants else None
        if value is None:
            given[region.how[i]].append(i)
        elif i in read:
            constants[i] = value
    given["single"] += [i for i in given["whole"] if i in numbers]
    given["whole"] = [i for i in given["whole"] if i not in numbers]
    row_stored = [line.outs[0] for line in region.row_lines if line.outs[0] in region.needed]
    sums: dict[str, list[Line]] = {"row": [], "column": [], "single": [], "of rows": []}
    for line in region.sums:
        way = reduced(line, program)[0]
        sums["of rows" if way == "single" and line.ins[0] in region.row_values else str(way)].append(line)
    row_stored += [line.outs[0] for line in sums["column"] if line.outs[0] in region.needed]
    reading = [line for line in region.lines if texts[line.outs[0]] == "{0}"]
    return Parts(
        **given,
        constants=constants,
        stored=[line.outs[0] for line in region.lines if line.outs[0] in region.needed],
        row_stored=row_stored,
        over_rows=sums["row"],
        over_columns=sums["column"],
        totals=sums["single"],
        row_totals=sums["of rows"],
        texts=texts,
        aliases={line.outs[0]: line.ins[0] for line in reading if line.ins[0] in given["whole"]},
        levels=_levels(region, texts, sums["column"], sums["of rows"]),
    )


def _levels(region: Region, texts: dict[int, str], over_columns: list[Line], row_totals: list[Line]) -> list[Level]:
    """Put every line at the first level at which all that it reads is known."""
    level: dict[int, int] = {}
    within = {line.outs[0] for line in over_columns}
    made = {line.outs[0]: line for line in region.lines + region.row_lines + tuple(over_columns)}

    def of(value: int) -> int:
        if value not in made:
            return 0
        if value not in level:
            level[value] = max((of(i) for i in made[value].ins), default=0) + (value in within)
        return level[value]

    count = 1 + max(map(of, made), default=0)  # lines are in order, so the recursion is shallow
    return [
        Level(
            [line for line in region.row_lines if of(line.outs[0]) == n],
            _passes([line for line in region.lines if of(line.outs[0]) == n], texts),
            [line for line in region.sums if line not in row_totals and of(line.ins[0]) == n],
        )
        for n in range(count)
    ]


def _passes(lines: list[Line], texts: dict[int, str]) -> list[list[Line]]:
    """Split lines into passes with one costly function each; a sine and a cosine of one angle count as one."""
    made: list[list[Line]] = []
    costly = True
    for line in _angles_together(lines):
        function = bool(functions_in(texts[line.outs[0]]))
        paired = function and bool(made) and angle(line) and any(angle(m) and m.ins == line.ins for m in made[-1])
        if not made or (function and costly and not paired):
            made.append([])
            costly = False
        costly = costly or function
        made[-1].append(line)
    return made


def _angles_together(lines: list[Line]) -> list[Line]:
    """Return the lines with all functions of an angle right after the first."""
    groups: dict[Any, list[Line]] = {}
    for line in lines:
        groups.setdefault(line.ins if angle(line) else line.outs[0], []).append(line)
    return [line for group in groups.values() for line in group]


def crossing_values(parts: Parts) -> list[int]:
    """Return the values of elements that a later pass needs, without aliases of arrays."""
    passes = [(one, n) for n, one in enumerate(lines for level in parts.levels for lines in level.passes)]
    home = {line.outs[0]: n for lines, n in passes for line in lines}
    used = [(i, n) for lines, n in passes for line in lines for i in line.ins]
    return list(dict.fromkeys(i for i, n in used if home.get(i, n) < n and i not in parts.aliases))
