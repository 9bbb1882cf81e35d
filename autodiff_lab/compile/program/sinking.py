"""Sinking: what a loop computes cheaply for a single later loop moves there, and is never stored.

The gradient of tanh, ``1 - h²``, shares h with the loop that makes h, so it joins that loop, long before the backward
pass multiplies by it.  Made late, from an h that is there anyway, it costs no array between the passes.  A line moves
only if that keeps no more bytes alive at any time, and takes no elementary function along.
"""

from __future__ import annotations

import math
from collections import defaultdict

from autodiff_lab.compile.program.expressions import expression, functions_in
from autodiff_lab.compile.program.program import Line, Program
from autodiff_lab.compile.program.regions import Region, layout, same_rows

LOADS = 2
"""Arrays that the later loop may read again for each array that need not be stored."""


def sink_lines(program: Program, regions: list[Region], stage: dict[int, int]) -> None:
    """Move lines between the regions, in place; `stage` is when each value is there."""
    _Sinking(program, regions, stage).run()


class _Sinking:
    """Knows who uses what, and moves lines with all that serves them alone."""

    def __init__(self, program: Program, regions: list[Region], stage: dict[int, int]) -> None:
        self.program, self.regions = program, regions
        self.home = {line.outs[0]: region for region in regions for line in region.all}
        self.kept = {*program.inputs, *program.constants, *program.outputs}
        self.users: defaultdict[int, list[Line]] = defaultdict(list)
        for line in program.lines:
            for i in line.ins:
                self.users[i].append(line)
        self.stage = stage

    def run(self) -> None:
        """Look at the lines of each region, the last ones first: what they read may become free to move."""
        for region in sorted(self.regions, key=lambda r: -r.stage):
            for line in reversed(list(region.lines)):
                if self.home[line.outs[0]] is region and region.shape:
                    self._consider(line, region)

    def _consider(self, line: Line, region: Region) -> None:
        goal = self._only_reader(line, region)
        if goal is None or goal.dtype != region.dtype or goal.memory is not region.memory:
            return
        if goal.how.get(line.outs[0]) != "whole":
            return
        moved = self._with_servants(line, region, goal)
        if moved is None or goal.size + len(moved) > goal.most or not self._pays(moved, region, goal):
            return
        split = self._fits(moved, goal)
        if split is not None:
            self._move(moved, region, goal, *split)

    def _only_reader(self, line: Line, region: Region) -> Region | None:
        """Return the one region that uses a value, where that is another one of the same elements."""
        out = line.outs[0]
        homes = [self.home.get(user.outs[0]) for user in self.users[out]]
        if not homes or out in self.kept or homes[0] is None or any(home is not homes[0] for home in homes):
            return None
        return homes[0] if homes[0] is not region and homes[0].shape == region.shape else None

    def _with_servants(self, line: Line, region: Region, goal: Region) -> list[Line] | None:
        """The line and those of its region that it needs and nothing else does, in order; None if one has to stay."""
        made = {one.outs[0]: one for one in region.lines}
        taken = {line.outs[0]: line}
        for out, one in reversed(made.items()):
            if out in taken:
                if not self._cheap(one):
                    return None
                for i in one.ins:
                    if i not in made or i in taken or self._is_stored(i, region):
                        continue
                    users = [user.outs[0] for user in self.users[i]]
                    if any(user not in taken and self.home.get(user) is not goal for user in users):
                        return None
                    taken[i] = made[i]
        moved = [one for one in region.lines if one.outs[0] in taken]
        inner = region.row_values - {i for i in region.row_values if self._is_stored(i, region)}
        return moved if inner.isdisjoint(i for one in moved for i in one.ins) else None

    def _cheap(self, line: Line) -> bool:
        text = expression(line, self.program)
        return text is not None and not functions_in(text)

    def _is_stored(self, value: int, region: Region) -> bool:
        """Return whether something outside needs a value of a region in any case; what is moved itself is not asked."""
        if value in self.kept:
            return True
        made = {line.outs[0] for line in region.lines}
        return any(self._stays_outside(user, region, made) for user in self.users[value])

    def _stays_outside(self, user: Line, region: Region, made: set[int]) -> bool:
        return user.outs[0] not in made and self.home.get(user.outs[0]) is not region

    def _pays(self, moved: list[Line], region: Region, goal: Region) -> bool:
        """Whether no more bytes are kept alive than before, and few arrays are read in place of those not stored."""
        made = {line.outs[0] for line in moved}
        spared = [i for i in made if any(self.home.get(user.outs[0]) is goal for user in self.users[i])]
        given = {i for line in moved for i in line.ins} - made
        longer = [i for i in given - self.kept if self._end(i) < goal.stage]
        loads = [i for i in given - goal.reads if self.program.values[i].shape == goal.shape]
        return self._bytes(longer) <= self._bytes(spared) and len(loads) <= LOADS * len(spared)

    def _end(self, value: int) -> int:
        """Return the stage of the last use."""
        ends = [0]
        for user in self.users[value]:
            home = self.home.get(user.outs[0])
            ends.append(home.stage if home is not None else self.stage[user.outs[0]])
        return max(ends)

    def _bytes(self, values: list[int]) -> int:
        known = self.program.values
        return sum(math.prod(known[i].shape) * known[i].dtype.itemsize for i in values)

    def _fits(self, moved: list[Line], goal: Region) -> tuple[int | None, dict[int, str]] | None:
        """The split of the later region with these lines in it, and how their inputs lie; None if they do not fit."""
        made = {line.outs[0] for line in moved}
        split, how = goal.split, {}
        for i in dict.fromkeys(i for line in moved for i in line.ins if i not in made):
            found = layout(self.program.values[i].shape, goal.shape)
            if isinstance(found, tuple):
                if split is not None and not same_rows(goal.shape, split, found[1]):
                    return None
                found, split = found[0], found[1] if split is None else split
            if found is None or goal.how.get(i, found) != found:
                return None
            how[i] = found
        return split, how

    def _move(self, moved: list[Line], region: Region, goal: Region, split: int | None, how: dict[int, str]) -> None:
        made = {line.outs[0] for line in moved}
        region.lines = [line for line in region.lines if line.outs[0] not in made]
        region.parted = True
        goal.lines = [*moved, *goal.lines]
        goal.split, goal.how = split, {i: lies for i, lies in goal.how.items() if i not in made} | how
        goal.reads |= {i for line in moved for i in line.ins}
        for i in made:
            self.home[i] = goal
            self.stage[i] = goal.stage
