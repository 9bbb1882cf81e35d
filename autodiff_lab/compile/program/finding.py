"""Finding regions: every line of a program joins a region or stays outside.

Every line gets a stage, such that what it needs from outside its own region comes from an earlier stage; lines of one
stage, shape and dtype that share values become a region.
"""

from __future__ import annotations

import math
from collections import defaultdict
from typing import Any

import numpy as np

from autodiff_lab.compile.program.expressions import expression, functions_in, of_parts
from autodiff_lab.compile.program.looking import looking
from autodiff_lab.compile.program.program import Line, Program
from autodiff_lab.compile.program.regions import Draft, Region, fusible, reduced, rows_fit, same_rows, too_long
from autodiff_lab.compile.program.sinking import sink_lines


def find_regions(program: Program) -> tuple[list[Region], list[Line], dict[int, int]]:
    """Return the regions, the lines outside, and the stage at which each value is available."""
    finder = _Finder(program)
    for line in finder.ordered():
        finder.take(line)
    drafts, stage = finder.drafts, finder.stage
    again = sink_lines(program, drafts, stage)
    made = [(line.outs[0], draft) for draft in drafts for line in (*draft.lines, *draft.sums, *draft.row_lines)]
    home = {value: draft for value, draft in made if value not in again.get(draft, ())}
    needed = set(program.outputs)
    for line in program.lines:
        here = home.get(line.outs[0])
        computed = again.get(here, ()) if here is not None else ()
        needed.update(i for i in line.ins if home.get(i) is not here and i not in computed)
    regions = [draft.finish(needed - again.get(draft, set())) for draft in drafts]
    return [region for region in regions if region.all], finder.outside, stage


class _Finder:
    """Goes through the lines in order and puts each into a draft of a region or outside."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.home: dict[int, Draft] = {}  # value -> the region that makes it
        self.inner: set[int] = set()  # values that live inside a loop, and are not known at its end alone
        self.roots = {*program.inputs, *program.constants}
        self.stage: dict[int, int] = dict.fromkeys(self.roots, 0)
        self.drafts: list[Draft] = []
        self.number: dict[Draft, int] = {}  # in the order of their first lines
        self.scalars: defaultdict[Any, list[Draft]] = defaultdict(list)  # those of single numbers, by dtype and memory
        self.readers: defaultdict[int, dict[Draft, None]] = defaultdict(dict)  # array -> who reads it or parts of it
        self.outside: list[Line] = []
        self.on_gpu = program.memory is not None

    def ordered(self) -> list[Line]:
        """Return the lines; on a GPU those that only read what comes in stand where they are first used.

        There they may join the kernel that uses them instead of beginning one of their own: the decay of an optimizer's
        moment waits for the gradient that is added to it.
        """
        lines = self.program.lines
        if not self.on_gpu:
            return list(lines)
        reading = [line for line in lines if self.roots.issuperset(line.ins) and fusible(line, self.program)]
        early = {line.outs[0]: line for line in reading if self.program.users[line.outs[0]]}
        ordered: list[Line] = []
        for line in lines:
            if early.get(line.outs[0]) is not line:
                ordered += [early.pop(i) for i in dict.fromkeys(line.ins) if i in early]
                ordered.append(line)
        return ordered

    def take(self, line: Line) -> None:
        """Put a line into a region, or outside."""
        if self._is_number_beside_a_gpu(line):  # computed before anything else, so that no kernel is split to wait
            self.outside.append(line)
            self.roots.update(line.outs)
            self.stage.update(dict.fromkeys(line.outs, 0))
        elif self._joins_as_row_line(line):
            pass
        elif fusible(line, self.program):
            self._join_elementwise(line)
        elif not self._joins_as_reduction(line):
            self._leave_outside(line)

    def _is_number_beside_a_gpu(self, line: Line) -> bool:
        """Return whether the CPU computes this single number from what comes in, in a program for a GPU."""
        values = [self.program.values[i] for i in (*line.ins, *line.outs)]
        on_cpu = all(value.memory is None and not value.shape for value in values)
        return self.on_gpu and on_cpu and self.roots.issuperset(line.ins)

    def _ready(self, line: Line, draft: Draft | None) -> int:
        """Return the earliest stage of a line if it joins `draft`."""
        return max([1, *(self.stage[i] + (not self._is_inside(i, draft)) for i in line.ins if i not in self.roots)])

    def _is_inside(self, value: int, draft: Draft | None) -> bool:
        return value in self.inner and self.home[value] is draft

    def _leave_outside(self, line: Line) -> None:
        stage = self._ready(line, None)
        self.outside.append(line)
        self.stage.update(dict.fromkeys(line.outs, stage))

    def _join_elementwise(self, line: Line) -> None:
        out = self.program.values[line.outs[0]]
        kinds = (out.dtype, *(self.program.values[i].dtype for i in line.ins))
        dtype = next((of_parts(d) for d in kinds if d != np.dtype(bool)), None)  # booleans go with any
        is_scalar, place = not out.shape, out.memory
        near = [self.home[i] for i in line.ins if i in self.inner]
        others = self.scalars[dtype, place] if is_scalar else self._reading_the_same(line)
        mates = [d for d in near if d.shape == out.shape and dtype in (d.dtype, None) and d.memory is place]
        mates += [d for d in others if d.shape == out.shape and d.dtype == dtype and d.memory is place]
        needed = max([1, *(self.stage[i] for i in line.ins)])
        mates = [d for d in dict.fromkeys(mates) if d.stage >= needed]
        endless = is_scalar and place is None  # loops are found in them, and an interpreter runs any length
        for draft in sorted(mates, key=lambda d: -d.stage):
            if (endless or draft.has_room()) and self._ready(line, draft) <= draft.stage and self._join(line, draft):
                return
        if dtype is not None:
            draft = Draft(out.shape, dtype, self._ready(line, None), place)
            if self._join(line, draft):
                self.number[draft] = len(self.drafts)
                self.drafts.append(draft)
                if is_scalar:
                    self.scalars[dtype, place].append(draft)
                return
        self._leave_outside(line)

    def _reading_the_same(self, line: Line) -> list[Draft]:
        """Return the regions that read an array which a line reads, and on a GPU those that its result meets."""
        arrays = [i for i in line.ins if len(self.program.values[i].shape) and i not in self.inner]
        found = {draft for i in arrays for draft in self.readers[self._source(i)]}
        if self.on_gpu:
            beside = [i for user in self.program.users[line.outs[0]] for i in user.ins if i in self.inner]
            found.update(self.home[i] for i in beside)
        return sorted(found, key=self.number.__getitem__)

    def _source(self, value: int) -> int:
        """Return the array that a value is a part of: a loop that reads one part of it may as well read another."""
        while value not in self.home and (line := looking(value, self.program)) is not None:
            value = line.ins[0]
        return value

    def _join(self, line: Line, draft: Draft) -> bool:
        """Add an elementwise line to a region if it fits."""
        fit = draft.fit(line.ins, self.program.values, {i for i in line.ins if self._is_inside(i, draft)})
        if fit is None:
            return False
        draft.lines.append(line)
        draft.functions += bool(functions_in(expression(line, self.program) or ""))
        draft.split = fit[0]
        self._note(line, draft, fit[1], inner=True)
        return True

    def _note(self, line: Line, draft: Draft, how: dict[int, str], inner: bool) -> None:
        draft.how.update(how)
        draft.reads.update(line.ins)
        for i in line.ins:
            self.readers[self._source(i)][draft] = None
        self.home[line.outs[0]] = draft
        self.stage[line.outs[0]] = draft.stage
        if inner:
            self.inner.add(line.outs[0])

    def _joins_as_reduction(self, line: Line) -> bool:
        """Add a reduction to the loop that makes what it reduces."""
        way, axis = reduced(line, self.program)
        draft = self.home.get(line.ins[0]) if way is not None and line.ins[0] in self.inner else None
        if draft is None or not draft.shape or not draft.has_room():
            return False
        made = self.program.values[line.outs[0]]
        if made.dtype != draft.dtype or made.memory is not draft.memory:
            return False
        if line.ins[0] in draft.row_values and way != "single":
            return False
        within = False
        if axis is not None:
            if draft.split is not None and not same_rows(draft.shape, draft.split, axis):
                return False
            if way == "column" and too_long(draft.shape, axis, made):
                return False
            draft.split = axis if draft.split is None else draft.split
            rows, columns = math.prod(draft.shape[: draft.split]), math.prod(draft.shape[draft.split :])
            within = way == "column" and rows > 1 and rows_fit(columns, draft.memory)
        if within:
            draft.row_values.add(line.outs[0])
        draft.sums.append(line)
        self._note(line, draft, {}, inner=within)
        return True

    def _joins_as_row_line(self, line: Line) -> bool:
        """Add a line that computes one number for each row, from numbers of the rows, to their region."""
        of_rows = [i for i in line.ins if i in self.inner and i in self.home[i].row_values]
        draft = self.home[of_rows[0]] if of_rows else None
        if draft is None or not draft.has_room() or len(line.outs) != 1:
            return False
        values = self.program.values
        out, renamed = values[line.outs[0]], line.op.name == "reshape"
        fits = renamed or (fusible(line, self.program) and out.shape != draft.shape)
        fits = fits and math.prod(out.shape) == math.prod(draft.shape[: draft.split])
        if not fits or out.dtype != draft.dtype or self._ready(line, draft) > draft.stage:
            return False
        how: dict[int, str] = {}
        for i in line.ins:
            same = values[i].shape == out.shape or renamed
            if self._is_inside(i, draft):
                if i not in draft.row_values or not same:
                    return False
                continue
            lies = "column" if same else "single" if math.prod(values[i].shape) == 1 else None
            if lies is None or values[i].dtype != draft.dtype or draft.how.get(i, lies) != lies:
                return False
            how[i] = lies
        draft.row_lines.append(line)
        draft.row_values.add(line.outs[0])
        self._note(line, draft, how, inner=True)
        return True
