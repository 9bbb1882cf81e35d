"""Sharing: parts of one array that a backward pass reads are taken from that array again, not kept one by one.

A stencil reads nine parts of an image, and so does its backward pass.  Seen as they are, a loop would keep all nine of
each turn, as the backward loop reads their values; taken again where that reads them, it keeps the image alone.
"""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import count

from autodiff_lab.compile.program.looking import VIEWING
from autodiff_lab.compile.program.program import Line, Program

_PARTS = frozenset({"slice", "slice_axis", "take"})


def with_parts_taken_again(program: Program) -> Program:
    """Return the program with views of its own for the backward pass, where it would keep more bytes without them."""
    made_by, users = program.made_by, program.users
    parts: dict[int, list[Line]] = {}
    for line in program.lines:
        if line.op.name in _PARTS and line.cause is None and _later(users[line.outs[0]]):
            source = made_by.get(line.ins[0])
            if source is not None and source.op.name not in VIEWING and line.outs[0] not in program.outputs:
                parts.setdefault(line.ins[0], []).append(line)
    again: dict[int, Line] = {}
    for source, taken in parts.items():
        size = sum(math.prod(program.values[line.outs[0]].shape) for line in taken)
        if _later(users[source]) or size > math.prod(program.values[source].shape):
            again.update({line.outs[0]: line for line in taken})
    if not again:
        return program
    values, fresh = dict(program.values), count(1 + max(program.values))
    lines, same = list[Line](), dict[int, int]()
    for line in program.lines:
        for i in line.ins if line.cause is not None else ():
            if i in again and i not in same:
                same[i] = next(fresh)
                values[same[i]] = values[i]
                lines.append(again[i]._replace(outs=(same[i],), cause=line.cause))
        lines.append(line if line.cause is None else line._replace(ins=tuple(same.get(i, i) for i in line.ins)))
    return replace(program, lines=tuple(lines), values=values)


def _later(users: list[Line]) -> bool:
    """Return whether the backward pass is among the users."""
    return any(line.cause is not None for line in users)
