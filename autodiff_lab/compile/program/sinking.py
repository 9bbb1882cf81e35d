"""Sinking: what a loop computes cheaply for a single later loop moves there, and is never stored.

The gradient of tanh, ``1 - h²``, shares h with the loop that makes h, so it joins that loop, long before the backward
pass multiplies by it.  Computed late, from an h that is available anyway, it needs no array between the passes.  A line
moves only if that keeps no more bytes alive at any time, and takes no elementary function along.

What both loops need is computed in both, if the arrays are so large that to store them and read them again takes
longer: of a Huber loss and its gradient, four arrays that are made of the errors by comparisons and products.
"""

from __future__ import annotations

import math

from autodiff_lab.compile.program.expressions import expression, functions_in
from autodiff_lab.compile.program.program import Line, Program
from autodiff_lab.compile.program.regions import WIDE, Draft

LOADS = 2
"""Arrays that the later loop may read again for each array that need not be stored."""
LARGE = WIDE
"""Elements of an array from which on it is computed again instead of stored; a sequence makes none as large."""
MOST_AGAIN = 16
"""Lines that are computed again for one region."""


def sink_lines(program: Program, drafts: list[Draft], stage: dict[int, int]) -> dict[Draft, set[int]]:
    """Move lines between drafts of regions, in place; `stage` is when each value is available.

    Returns the values that a region computes although another one does.
    """
    sinking = _Sinking(program, drafts, stage)
    for draft in sorted(drafts, key=lambda d: -d.stage):  # the last ones first: what they read may become free to move
        for line in reversed(list(draft.lines)):
            if sinking.home[line.outs[0]] is draft and draft.shape:
                sinking.consider(line, draft)
    for draft in sorted(drafts, key=lambda d: d.stage):
        if draft.shape and draft.memory is None:
            sinking.compute_again(draft)
    return sinking.again


class _Sinking:
    """Knows who uses what, and moves lines together with those that serve them alone."""

    def __init__(self, program: Program, drafts: list[Draft], stage: dict[int, int]) -> None:
        self.program, self.stage = program, stage
        self.home = {line.outs[0]: d for d in drafts for line in (*d.lines, *d.sums, *d.row_lines)}
        self.kept = {*program.inputs, *program.constants, *program.outputs}
        self.users = program.users
        self.again: dict[Draft, set[int]] = {}
        self.read_again: set[int] = set()  # by lines that are computed again
        self.spared: set[int] = set()  # values that are computed again and not stored

    def compute_again(self, goal: Draft) -> None:
        """Let a region compute what others would store for it alone, if that is less to read and write."""
        sources = {id(d): d for i in goal.reads if (d := self.home.get(i)) is not None and d is not goal}
        for draft in sources.values():
            wanted = [i for i in goal.reads if self._is_made_for(i, draft, goal)]
            moved = self._closure(wanted, draft, goal) if wanted else []
            if not moved or len(moved) > MOST_AGAIN or not goal.has_room(len(moved)):
                continue
            made = {one.outs[0] for one in moved}
            given = dict.fromkeys(i for one in moved for i in one.ins if i not in made)
            loads = [i for i in given if i not in goal.reads and self.program.values[i].shape == goal.shape]
            longer = [i for i in given if i not in self.kept and self._end(i) < goal.stage]
            fit = goal.fit(given, self.program.values)
            if fit is None or len(loads) >= 2 * len(wanted) or self._bytes(longer) > self._bytes(wanted):
                continue
            self.again.setdefault(goal, set()).update(made)
            self.read_again.update(given)
            self.spared.update(wanted)
            goal.lines = [*moved, *goal.lines]
            goal.split, goal.how = fit[0], {i: lies for i, lies in goal.how.items() if i not in made} | fit[1]
            goal.reads = (goal.reads | set(given)) - made
            self._drop(made, draft, goal)

    def _is_made_for(self, value: int, draft: Draft, goal: Draft) -> bool:
        """Return whether a region stores a large array for another one over the same elements alone."""
        if self.home.get(value) is not draft or goal.how.get(value) != "whole":
            return False
        if value in self.kept or value in self.read_again:
            return False
        alike = draft.shape == goal.shape and draft.dtype == goal.dtype and draft.memory is goal.memory
        homes = [self.home.get(user.outs[0]) for user in self.users[value]]
        return alike and math.prod(goal.shape) >= LARGE and all(home is draft or home is goal for home in homes)

    def _closure(self, wanted: list[int], draft: Draft, goal: Draft) -> list[Line]:
        """Return the lines of a region that make some values, in order; none if one of them cannot be repeated."""
        made = {line.outs[0]: line for line in draft.lines}
        stored = {i for i in [*made, *draft.row_values] if self._is_stored(i, draft)} - {*wanted, *self.spared}
        if goal.reads.isdisjoint(made) or not made.keys() >= set(wanted):
            return []
        taken = set(wanted)
        for out, line in reversed(made.items()):
            if out in taken:
                text = expression(line, self.program)
                if text is None or functions_in(text) or any(i in draft.row_values for i in line.ins):
                    return []
                taken.update(i for i in line.ins if i in made and i not in stored)
        return [line for line in draft.lines if line.outs[0] in taken]

    def _drop(self, made: set[int], draft: Draft, goal: Draft) -> None:
        """Remove lines that a region need not have any more."""
        for line in reversed(draft.lines):
            out = line.outs[0]
            inside = any(out in one.ins for one in (*draft.lines, *draft.sums, *draft.row_lines))
            if out in made and not inside and out not in self.kept:
                draft.lines = [one for one in draft.lines if one is not line]
                if self.home[out] is draft:
                    self.home[out], self.stage[out] = goal, goal.stage
                    self.again[goal].discard(out)
                else:  # it was computed again here already, and has its home elsewhere
                    self.again[draft].discard(out)

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
        homes = [self.home.get(user.outs[0]) for user in self.users[value]]
        elsewhere = [home for home in homes if home is not draft]
        return value in self.kept or any(home is None or value not in self.again.get(home, ()) for home in elsewhere)

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
