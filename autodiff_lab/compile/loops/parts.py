"""Parts of a loop: what it reads and writes, by the way it lies in the loop, and the passes that it makes.

A region that goes row by row makes its passes at levels: what depends on the sum of a row is computed at the level
after that sum.  Within a level a pass holds one costly function at most; more keep the processor from overlapping the
work on neighbours.  What a later pass needs is kept in the first cache meanwhile.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from autodiff_lab.compile.program.expressions import angle, expression, functions_in
from autodiff_lab.compile.program.program import Line, Program
from autodiff_lab.compile.program.regions import Region, reduced
from autodiff_lab.compile.program.rewriting import one_value


@dataclass
class Level:
    """What is computed once the reductions of the levels before are known: numbers of the row, then passes over it."""

    row_lines: list[Line] = field(default_factory=list)
    passes: list[list[Line]] = field(default_factory=list)
    reductions: list[Line] = field(default_factory=list)


@dataclass
class Parts:
    """What a loop reads and writes, by the way it lies in the loop.

    Attributes
    ----------
    whole, row, column, single, constants : list of int
        Values that come in.
    stored, row_stored : list of int
        Values that something outside uses, one for each element and one for each row.
    over_rows, over_columns, totals, row_totals : list of Line
        Reductions: over the rows, within each row, over everything, and over numbers of the rows.
    texts : dict of int to str
        The expression of each line, by the value that it makes.
    """

    whole: list[int] = field(default_factory=list)
    row: list[int] = field(default_factory=list)
    column: list[int] = field(default_factory=list)
    single: list[int] = field(default_factory=list)
    constants: dict[int, Any] = field(default_factory=dict)
    stored: list[int] = field(default_factory=list)
    row_stored: list[int] = field(default_factory=list)
    over_rows: list[Line] = field(default_factory=list)
    over_columns: list[Line] = field(default_factory=list)
    totals: list[Line] = field(default_factory=list)
    row_totals: list[Line] = field(default_factory=list)
    texts: dict[int, str] = field(default_factory=dict)
    aliases: dict[int, int] = field(default_factory=dict)  # lines that merely read an array -> the array
    levels: list[Level] = field(default_factory=list)

    @property
    def all_totals(self) -> list[Line]:
        """Reductions whose result is one number."""
        return [*self.totals, *self.row_totals]


def parts_of(region: Region, program: Program, needed: set[int]) -> Parts:
    """Sort what a loop reads and writes; `needed` are the values that something outside uses."""
    parts = Parts()
    for line in [*region.lines, *region.row_lines]:
        text = "{0}" if line.op.name == "reshape" else expression(line, program)
        parts.texts[line.outs[0]] = text or ""
    read = _read(region, parts.texts)
    for i in region.ins():
        array = program.constants.get(i)
        value = None if array is None else one_value(array)
        if value is not None:
            if i in read:
                parts.constants[i] = value
        else:
            lies = region.how[i]
            {"whole": parts.whole, "single": parts.single, "row": parts.row, "column": parts.column}[lies].append(i)
    parts.stored.extend(line.outs[0] for line in region.lines if line.outs[0] in needed)
    parts.row_stored.extend(line.outs[0] for line in region.row_lines if line.outs[0] in needed)
    for line in region.sums:
        found = reduced(line, program)
        if found == "single":
            (parts.row_totals if line.ins[0] in region.row_values else parts.totals).append(line)
        elif found is not None and found[0] == "row":
            parts.over_rows.append(line)
        else:
            parts.over_columns.append(line)
            if line.outs[0] in needed:
                parts.row_stored.append(line.outs[0])
    reading = [line for line in region.lines if parts.texts[line.outs[0]] == "{0}"]
    parts.aliases = {line.outs[0]: line.ins[0] for line in reading if line.ins[0] in parts.whole}
    parts.levels = _levels(region, parts)
    return parts


def _read(region: Region, texts: dict[int, str]) -> set[int]:
    """Values that the expressions read; a known exponent is in the text, and nothing reads it."""
    read = {line.ins[0] for line in region.sums}
    for line in [*region.lines, *region.row_lines]:
        read.update(i for n, i in enumerate(line.ins) if f"{{{n}}}" in texts[line.outs[0]])
    return read


def _levels(region: Region, parts: Parts) -> list[Level]:
    """Put every line at the first level at which all that it reads is known."""
    level: dict[int, int] = {}
    within = {line.outs[0]: line for line in parts.over_columns}
    full = {line.outs[0]: line for line in region.lines}
    by_row = {line.outs[0]: line for line in region.row_lines}

    def of(value: int) -> int:
        if value in level:
            return level[value]
        line = full.get(value) or by_row.get(value) or within.get(value)
        if line is None:
            return 0
        known = max((of(i) for i in line.ins), default=0)
        level[value] = known + (value in within)
        return level[value]

    for line in region.all:  # lines are in order, so that no call goes deep
        of(line.outs[0])
    count = 1 + max((of(v) for v in [*full, *by_row, *within]), default=0)
    levels = [Level() for _ in range(count)]
    for line in region.row_lines:
        levels[of(line.outs[0])].row_lines.append(line)
    for line in region.sums:
        if line not in parts.row_totals:
            levels[of(line.ins[0])].reductions.append(line)
    for n, one in enumerate(levels):
        one.passes = _passes([line for line in region.lines if of(line.outs[0]) == n], parts.texts)
    return levels


def _passes(lines: list[Line], texts: dict[int, str]) -> list[list[Line]]:
    """Return the lines in runs with one costly function each; a sine and a cosine of one angle share their work."""
    made: list[list[Line]] = []
    costly = True
    for line in _angles_together(lines):
        function = bool(functions_in(texts[line.outs[0]]))
        paired = function and bool(made) and _has_its_angle(line, made[-1])
        if not made or (function and costly and not paired):
            made.append([])
            costly = False
        costly = costly or function
        made[-1].append(line)
    return made


def _has_its_angle(line: Line, others: list[Line]) -> bool:
    return bool(angle(line)) and any(angle(m) and m.ins == line.ins for m in others)


def _angles_together(lines: list[Line]) -> list[Line]:
    """Return the lines with further functions of an angle right behind the first."""
    first: dict[tuple[int, ...], Line] = {}
    followers: dict[int, list[Line]] = {}
    for line in lines:
        if angle(line) and first.setdefault(line.ins, line) is not line:
            followers.setdefault(first[line.ins].outs[0], []).append(line)
    moved = {line.outs[0] for some in followers.values() for line in some}
    ordered: list[Line] = []
    for line in lines:
        if line.outs[0] not in moved:
            ordered += [line, *followers.get(line.outs[0], [])]
    return ordered


def crossing_values(parts: Parts) -> list[int]:
    """Values of elements that a pass after the one that makes them needs; those that only stand for an array do not."""
    passes = [(one, n) for n, one in enumerate(lines for level in parts.levels for lines in level.passes)]
    home = {line.outs[0]: n for lines, n in passes for line in lines}
    used = [(i, n) for lines, n in passes for line in lines for i in line.ins]
    return list(dict.fromkeys(i for i, n in used if home.get(i, n) < n and i not in parts.aliases))
