"""Sinking: what a loop computes cheaply for a single later loop moves there, and is never stored.

The gradient of tanh, ``1 - h²``, shares h with the loop that makes h, so it joins that loop, long before the backward
pass multiplies by it.  Computed late, from an h that is available anyway, it needs no array between the passes.  A line
moves only if that keeps no more bytes alive at any time, and takes no elementary function along.
"""

from __future__ import annotations

import math

from autodiff_lab.compile.program.expressions import expression, functions_in
from autodiff_lab.compile.program.program import Line, Program
from autodiff_lab.compile.program.regions import Draft

LOADS = 2
"""Arrays that the later loop may read again for each array that need not be stored."""


def sink_lines(program: Program, drafts: list[Draft], stage: dict[int, int]) -> None:
    """Move lines between drafts of regions, in place; `stage` is when each value is available."""
    sinking = _Sinking(program, drafts, stage)
    for draft in sorted(drafts, key=lambda d: -d.stage):  # the last ones first: what they read may become free to move
        for line in reversed(list(draft.lines)):
            if sinking.home[line.outs[0]] is draft and draft.shape:
                sinking.consider(line, draft)


class _Sinking:
    """Knows who uses what, and moves lines together with those that serve them alone."""

    def __init__(self, program: Program, drafts: list[Draft], stage: dict[int, int]) -> None:
        self.program, self.stage = program, stage
        self.home = {line.outs[0]: d for d in drafts for line in (*d.lines, *d.sums, *d.row_lines)}
        self.kept = {*program.inputs, *program.constants, *program.outputs}
        self.users = program.users

    def consider(self, line: Line, draft: Draft) -> None:
        """Move a line if a later region alone reads it, and if that pays."""
        goal = self._only_reader(line, draft)
        alike = goal is not None and goal.dtype == draft.dtype and goal.memory is draft.memory
        if goal is None or not alike or goal.how.get(line.outs[0]) != "whole":
            return
        moved = self._with_servants(line, draft, goal)
        if moved is None or not goal.has_room(len(moved)) or not self._pays(moved, goal):
            return
        made = {one.outs[0] for one in moved}
        fit = goal.fit(dict.fromkeys(i for one in moved for i in one.ins if i not in made), self.program.values)
        if fit is not None:
            self._move(moved, draft, goal, *fit)

    def _only_reader(self, line: Line, draft: Draft) -> Draft | None:
        """Return the one region that uses a value, where that is another one over the same elements."""
        out = line.outs[0]
        homes = [self.home.get(user.outs[0]) for user in self.users[out]]
        if not homes or out in self.kept or homes[0] is None or any(home is not homes[0] for home in homes):
            return None
        return homes[0] if homes[0] is not draft and homes[0].shape == draft.shape else None

    def _with_servants(self, line: Line, draft: Draft, goal: Draft) -> list[Line] | None:
        """Return the line and what only it needs of its region, in order; None if one of them has to stay."""
        made = {one.outs[0]: one for one in draft.lines}
        stored = {i for i in [*made, *draft.row_values] if self._is_stored(i, draft)}
        taken = {line.outs[0]: line}
        for out, one in reversed(made.items()):
            if out in taken:
                text = expression(one, self.program)
                if text is None or functions_in(text):
                    return None
                for i in one.ins:
                    if i not in made or i in taken or i in stored:
                        continue
                    users = [user.outs[0] for user in self.users[i]]
                    if any(user not in taken and self.home.get(user) is not goal for user in users):
                        return None
                    taken[i] = made[i]
        moved = [one for one in draft.lines if one.outs[0] in taken]
        inner = draft.row_values - stored
        return moved if inner.isdisjoint(i for one in moved for i in one.ins) else None

    def _is_stored(self, value: int, draft: Draft) -> bool:
        """Return whether something outside needs a value of a region in any case."""
        return value in self.kept or any(self.home.get(user.outs[0]) is not draft for user in self.users[value])

    def _pays(self, moved: list[Line], goal: Draft) -> bool:
        """Return whether no more bytes are kept alive than before, and few arrays are read for those not stored."""
        made = {line.outs[0] for line in moved}
        spared = [i for i in made if any(self.home.get(user.outs[0]) is goal for user in self.users[i])]
        given = {i for line in moved for i in line.ins} - made
        longer = [i for i in given - self.kept if self._end(i) < goal.stage]
        loads = [i for i in given - goal.reads if self.program.values[i].shape == goal.shape]
        return self._bytes(longer) <= self._bytes(spared) and len(loads) <= LOADS * len(spared)

    def _end(self, value: int) -> int:
        """Return the stage of the last use."""
        homes = [(user, self.home.get(user.outs[0])) for user in self.users[value]]
        return max([0, *(self.stage[user.outs[0]] if home is None else home.stage for user, home in homes)])

    def _bytes(self, values: list[int]) -> int:
        known = self.program.values
        return sum(math.prod(known[i].shape) * known[i].dtype.itemsize for i in values)

    def _move(self, moved: list[Line], draft: Draft, goal: Draft, split: int | None, how: dict[int, str]) -> None:
        made = {line.outs[0] for line in moved}
        draft.lines = [line for line in draft.lines if line.outs[0] not in made]
        draft.parted = True
        goal.lines = [*moved, *goal.lines]
        goal.split, goal.how = split, {i: lies for i, lies in goal.how.items() if i not in made} | how
        goal.reads |= {i for line in moved for i in line.ins}
        self.home.update(dict.fromkeys(made, goal))
        self.stage.update(dict.fromkeys(made, goal.stage))
