"""Registers: the few local variables in which a long program keeps its values while it runs.

A name is used again when its value is not needed any more, which also frees its memory.
A function with a local variable for each of thousands of values has a frame of many kilobytes.  CPython keeps frames in
chunks of 16 KiB, and where such a frame leaves little room in one, every call that it makes maps a new chunk and gives
it back.  So the names that a user reads are for what is shown, and what runs has few.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterable
from typing import Protocol

from autodiff_lab.compile.program.program import Program

MOST = 128
"""Local variables besides the arguments; further values that are needed at one time are elements of a list."""


class _Step(Protocol):
    """What reads and makes values: a line or a kernel."""

    @property
    def ins(self) -> tuple[int, ...]: ...

    @property
    def outs(self) -> tuple[int, ...]: ...


def registers(
    program: Program, steps: Iterable[_Step], names: dict[int, str], taken: Collection[str]
) -> tuple[dict[int, str], list[str]]:
    """Return names for the values of steps, none of them `taken`, and the statement that makes the list, if any.

    Inputs and constants keep their names.
    """
    kept = {*program.inputs, *program.constants}
    steps = list(steps)
    last = {i: n for n, step in enumerate(steps) for i in (*step.ins, *step.outs) if i not in kept}
    last.update(dict.fromkeys((i for i in program.outputs if i not in kept), len(steps)))
    ends: dict[int, list[int]] = {}
    for i, n in last.items():
        ends.setdefault(n, []).append(i)
    prefix = "r"
    while any(name.startswith(prefix) and name[len(prefix) :].isdigit() for name in taken) or prefix in taken:
        prefix += "_"
    found = {i: names[i] for i in kept if i in names}
    place: dict[int, int] = {}
    free: list[int] = []
    count = 0
    for n, step in enumerate(steps):
        for i in step.outs:
            if i in kept or i in place:
                continue
            if free:
                place[i] = heapq.heappop(free)
            else:
                place[i], count = count, count + 1
            k = place[i]
            found[i] = f"{prefix}{k}" if k < MOST else f"{prefix}[{k - MOST}]"
        for i in ends.get(n, ()):
            heapq.heappush(free, place[i])
    return found, [f"{prefix} = [None] * {count - MOST}"] if count > MOST else []
