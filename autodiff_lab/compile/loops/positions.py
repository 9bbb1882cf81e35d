"""Rows by position: a large loop picks rows of a table where it reads them, and adds rows up where they belong.

Each rating picks the row of a user and that of an item, and adds a gradient to both.  Written as ops of their own, the
rows that are picked and those that are added up are stored first, which is most of the memory and of the time.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from autodiff_lab.compile.loops.strided import Strided
from autodiff_lab.compile.program.expressions import expression, functions_in
from autodiff_lab.compile.program.moving import adds_rows, picks_rows
from autodiff_lab.compile.program.program import Line, Program
from autodiff_lab.compile.program.regions import SHORTEST_ROW, WIDE, Region, same_rows
from autodiff_lab.kernels.checks import are_positions


@dataclass
class Moves:
    """Ops by position that loops do themselves.

    Attributes
    ----------
    picks : dict of int to Line
        By a value that loops read, the op that picks its rows; its inputs are the table and the positions.
    puts : dict of int to Line
        By a value that a loop makes, the op that adds its rows up; its inputs are the value and the positions.
    splits : dict of int to int
        By what a loop moves, the axis before which its rows end.
    """

    picks: dict[int, Line] = field(default_factory=dict)
    puts: dict[int, Line] = field(default_factory=dict)
    splits: dict[int, int] = field(default_factory=dict)

    @property
    def lines(self) -> list[Line]:
        """The ops that no step has to do."""
        return [*self.picks.values(), *self.puts.values()]

    def of(self, region: Region) -> Moves:
        """Return those of one loop."""
        picks = {i: self.picks[i] for i in region.ins() if i in self.picks}
        puts = {i: line for i, line in self.puts.items() if i in region.needed}
        return Moves(picks, puts, {i: self.splits[i] for i in (*picks, *puts)})

    def in_rows(self, region: Region) -> Region:
        """Return the loop, with the rows that it moves if it had none."""
        return (
            replace(region, split=next(iter(self.splits.values()))) if self.splits and region.split is None else region
        )

    def strided(self) -> dict[int, Strided]:
        """Return where a loop finds the rows that it picks."""
        return {i: Strided(line.ins[0], (line,), None, 1, line.ins[1]) for i, line in self.picks.items()}


def find_moves(regions: Iterable[Region], outside: Iterable[Line], stage: Mapping[int, int], program: Program) -> Moves:
    """Return what loops move themselves; the ops are among those `outside`, and `stage` is when values are there."""
    moves = Moves()
    if program.memory is not None:
        return moves
    wide = [region for region in regions if math.prod(region.shape) >= WIDE]
    rows: dict[int, int] = {id(one): one.split for one in wide if one.split is not None}
    reading: dict[int, list[Region]] = {}
    for region in wide:
        for i in region.ins():
            reading.setdefault(i, []).append(region)
    made_in = {line.outs[0]: one for one in wide for line in one.lines if line.outs[0] in one.needed}
    inside = {line.outs[0] for region in wide for line in region.all}
    for line in outside:
        if picks_rows(line, program):
            value, table, homes = line.outs[0], line.ins[0], reading.get(line.outs[0], [])
            alone = all(user.outs[0] in inside for user in program.users[value]) and value not in program.outputs
            found = moves.picks
        elif line.op.name in ("scatter_axis", "scatter_nd") and adds_rows(line, program):
            value, table = line.ins[0], line.outs[0]
            homes = [made_in[value]] if value in made_in else []
            alone = _is_put_only(value, line, homes, stage, program)
            found = moves.puts
        else:
            continue
        split = _fit(value, table, line.ins[1], homes, rows, program) if homes and alone else 0
        if split:
            found[value], moves.splits[value] = line, split
    return moves


def _is_put_only(value: int, line: Line, homes: list[Region], stage: Mapping[int, int], program: Program) -> bool:
    """Return whether a loop makes a value only for its rows to be added up, at positions that are known before.

    The rows are added up by one thread, so a loop that computes elementary functions leaves them to the op.
    """
    if value in program.outputs or not homes:
        return False
    made = {one.outs[0] for one in homes[0].all}
    users = [user for user in program.users[value] if user.outs[0] != line.outs[0]]
    early = line.ins[1] in program.constants or stage.get(line.ins[1], 0) < homes[0].stage
    quick = not any(functions_in(expression(one, program) or "") for one in homes[0].lines)
    return early and quick and all(user.outs[0] in made for user in users)


def _fit(value: int, table: int, positions: int, homes: list[Region], rows: dict[int, int], program: Program) -> int:
    """Return the axis before which rows of a value end, and note it for its loops; 0 if they cannot move it."""
    shape, dtype, *_ = program.values[value]
    split = len(shape) - len(program.values[table].shape) + 1
    numbers = program.values[positions].dtype
    if numbers.kind not in "iu" or numbers.itemsize < 4 or program.values[table].dtype != dtype or split < 1:
        return 0
    count = math.prod(program.values[positions].shape)
    if math.prod(shape[split:]) < SHORTEST_ROW or math.prod(shape[:split]) != count:
        return 0
    for region in homes:
        alike = region.shape == shape and region.dtype == dtype and region.how.get(value, "whole") == "whole"
        if not alike or not same_rows(shape, rows.get(id(region), split), split):
            return 0
    for region in homes:
        rows.setdefault(id(region), split)
    return split


def rows_within(positions: Any, count: int) -> Any:
    """Return positions in one dimension as integers of 64 bits; None if one of them is outside a table of `count` rows.

    Examples
    --------
    >>> import numpy as np
    >>> from autodiff_lab.compile.loops.positions import rows_within
    >>> rows_within(np.array([[2], [0]], np.int32), 3), rows_within(np.array([3]), 3)
    (array([2, 0]), None)
    """
    flat = np.ascontiguousarray(positions, np.int64).reshape(-1)
    return flat if are_positions(flat, count) else None
