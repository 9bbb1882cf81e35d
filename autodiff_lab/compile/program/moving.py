"""Moved rows: rows that are picked by one list of positions and added up by another, without an array between.

Messages along the edges of a graph, means of embeddings and their gradients pick a row for each edge or word and add it
up at once.  Written as two ops, all rows are stored first, which for many edges is most of the memory and of the time.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from autodiff_lab.compile.program.program import Line, Program
from autodiff_lab.engine.op import REGISTRY, Op


def _move(x: Any, take: Any, put: Any, shape: tuple[int, ...]) -> Any:
    rows = REGISTRY["gather"].kernel(x.reshape(x.shape[0], -1), take.reshape(-1), axis=-2)
    return REGISTRY["scatter_axis"].kernel(rows, put.reshape(-1), axis=-2, length=shape[0]).reshape(shape)


_SENTENCE = "takes rows of {0} at the positions {1} and adds them up at the positions {2}"
MOVED_ROWS = Op("moved_rows", _move, None, 3, sentence=_SENTENCE)


class Move(NamedTuple):
    """What replaces two lines: the one that picks rows, and its positions."""

    line: Line
    x: int
    take: int


def moves_of(program: Program) -> dict[int, Move]:
    """Return, by the result of each line that adds rows up, the line that picks them and serves only that."""
    found: dict[int, Move] = {}
    if program.memory is not None:
        return found
    for line in program.lines:
        if line.op.name not in ("scatter_axis", "scatter_nd") or not program.values[line.outs[0]].shape:
            continue
        rows = line.ins[0]
        picked = program.made_by.get(rows)
        if picked is None or rows in program.outputs or len(program.users[rows]) > 1 or not _picks(picked, program):
            continue
        x, given, out = (program.values[i] for i in (picked.ins[0], rows, line.outs[0]))
        inner = math.prod(x.shape[1:])
        alike = x.dtype == given.dtype == out.dtype and inner == math.prod(out.shape[1:])
        count = math.prod(program.values[line.ins[1]].shape)
        if alike and _adds(line, program) and math.prod(given.shape) == count * inner and 0 not in given.shape:
            found[line.outs[0]] = Move(picked, picked.ins[0], picked.ins[1])
    return found


def _picks(line: Line, program: Program) -> bool:
    """Return whether a line picks whole rows by single positions."""
    if line.op.name not in ("gather", "gather_nd"):
        return False
    x, positions = (program.values[i].shape for i in line.ins)
    if line.op.name == "gather":
        return len(x) > 0 and line.params["axis"] % len(x) == 0
    return not line.params.get("lead", 0) and positions[-1:] == (1,)


def _adds(line: Line, program: Program) -> bool:
    """Return whether a line adds whole rows up by single positions."""
    out, positions = program.values[line.outs[0]].shape, program.values[line.ins[1]].shape
    if line.op.name == "scatter_axis":
        return line.params["axis"] % len(out) == 0
    return len(out) == len(line.params["shape"]) and positions[-1:] == (1,)
