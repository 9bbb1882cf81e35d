"""Rows of what a loop stores, put together again by the program: the result is a part of the store.

A list that grows in a loop and is stacked afterwards, forwards or from its end, need not be taken apart, nor need the
contributions to a sequence that a loop reads step by step.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

from autodiff_lab.compile.program.program import Line, Program, Value
from autodiff_lab.compile.program.stepping import ALL
from autodiff_lab.compile.scalars.rolled import Roll
from autodiff_lab.engine.op import REGISTRY

FEWEST = 4
"""Rows that are worth a line of their own."""
_JOINED = ("stack", "concat")
Stacks = dict[tuple[int, int], int]
"""By loop and statement, the value in which what it stored comes out."""


class Run(NamedTuple):
    """Operands that follow each other; `at` is the loop and the statement if they are turns of a loop.

    `steps` are their places on the axis that they share, if they are added to parts.
    """

    values: tuple[int, ...]
    at: tuple[int, int] | None
    steps: tuple[int, ...]


def rows_in(line: Line, program: Program, roll: Roll) -> list[Run] | None:
    """Return the operands of a stack or concat, or of contributions, in runs; None if no run is long enough.

    Turns of a run follow each other, upwards or downwards.
    """
    if line.op.name in _JOINED:
        given = list(zip(line.ins, range(len(line.ins)), strict=True))
    elif line.op.name == "accumulate_parts" and (axis := axis_of(line)) is not None:
        steps = [items_of(place)[axis][1] for place in line.params["places"]]
        given = sorted(zip(line.ins[line.params["onto"] :], steps, strict=True), key=lambda one: one[1])
    else:
        return None
    runs: list[Run] = []
    turns: list[int] = []  # of the last run
    for value, step in given:
        number, turn, statement = roll.place.get(value, (-1, 0, 0))
        at = (number, statement) if (number, statement) in roll.kept else None
        moves = {b - a for a, b in pairwise([*turns, turn])}
        follows = runs and runs[-1].at == at and step == runs[-1].steps[-1] + 1
        if follows and (at is None or moves in ({1}, {-1})):
            runs[-1] = Run((*runs[-1].values, value), at, (*runs[-1].steps, step))
            turns.append(turn)
        else:
            runs.append(Run((value,), at, (step,)))
            turns = [turn]
    if all(run.at is None or len(run.values) < FEWEST for run in runs):
        return None
    return [run if len(run.values) >= FEWEST else run._replace(at=None) for run in runs]


def items_of(place: Any) -> tuple[Any, ...]:
    """Return what a slice takes of each axis; nothing for other ops."""
    op, params = place
    return dict(params)["items"] if op == "slice" else ()


def axis_of(line: Line) -> int | None:
    """Return the axis along which contributions belong to different steps, and to whole steps; None if to others."""
    every = [items_of(place) for place in line.params["places"]]
    axes = {tuple(k for k, item in enumerate(items) if item != ALL) for items in every}
    if len(axes) != 1 or len(axis := axes.pop()) != 1:
        return None
    found = [items[axis[0]] for items in every]
    steps = {item[1] for item in found if item[0] == "i" and item[1] >= 0}
    return axis[0] if len(steps) == len(found) else None


def read_by_name(line: Line, runs: list[Run] | None) -> list[int]:
    """Return the operands that are not turns of a run."""
    if runs is None:
        return list(line.ins)
    return [*line.ins[: line.params.get("onto", 0)], *(i for run in runs if run.at is None for i in run.values)]


def put_together(
    line: Line, runs: list[Run], program: Program, values: dict[int, Value], stacks: Stacks, roll: Roll
) -> list[Line]:
    """Return the lines in place of one that puts rows together; `values` gets those that they make."""
    whole = values[line.outs[0]]
    joined, rank = line.op.name in _JOINED, len(whole.shape)
    axis = line.params["axis"] % rank if joined else axis_of(line) or 0
    made: list[Line] = []
    parts: list[tuple[int, Any]] = []  # values and their places

    def add(op: str, ins: tuple[int, ...], params: dict[str, Any], shape: tuple[int, ...]) -> int:
        out = 1 + max(values)
        values[out] = whole._replace(shape=shape)
        made.append(line._replace(op=REGISTRY[op], ins=ins, params=params, outs=(out,)))
        return out

    for run in runs:
        length = len(run.values)
        if run.at is None:
            if line.op.name == "stack":
                shape = (*whole.shape[:axis], length, *whole.shape[axis + 1 :])
                parts.append((add("stack", run.values, line.params, shape), None))
            else:
                parts += [(i, ("i", step)) for i, step in zip(run.values, run.steps, strict=True)]
            continue
        first, last = (roll.place[i][1] + int(roll.kept[run.at] is not None) for i in (run.values[0], run.values[-1]))
        move = 1 if last > first else -1
        stop = None if last + move < 0 else last + move
        row = values[run.values[0]].shape
        items = (("s", first, stop, move), *[ALL] * len(row))
        part = add("slice", (stacks[run.at],), {"items": items}, (length, *row))
        if axis:
            perm = tuple(k - len(row) - 1 for k in (*range(1, axis + 1), 0, *range(axis + 1, len(row) + 1)))
            part = add("transpose", (part,), {"perm": perm}, (*row[:axis], length, *row[axis:]))
        if line.op.name == "concat":
            shape = (*row[:axis], length * row[axis], *row[axis + 1 :])
            part = add("reshape", (part,), {"shape": shape}, shape)
        parts.append((part, ("s", run.steps[0], run.steps[-1] + 1, None)))
    ins = tuple(i for i, _ in parts)
    if joined:
        if len(ins) == 1 and line.outs[0] not in program.outputs:
            return [*made[:-1], made[-1]._replace(outs=line.outs)]
        # joined even if it is one: a result owns its memory
        return [*made, line._replace(op=REGISTRY["concat"], ins=ins, params={"axis": axis - rank})]
    before, after = (ALL,) * axis, (ALL,) * (rank - axis - 1)
    places = tuple(("slice", (("items", (*before, item, *after)),)) for _, item in parts)
    onto = line.ins[: line.params["onto"]]
    return [*made, line._replace(ins=(*onto, *ins), params={**line.params, "places": places})]
