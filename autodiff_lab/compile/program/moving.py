"""Moved rows: rows that are picked by one list of positions and added up by another, without an array between.

Messages along the edges of a graph, means of embeddings and their gradients pick a row for each edge or word and add it
up at once.  Written as two ops, all rows are stored first, which for many edges is most of the memory and of the time.

A product of one-hot rows and a table picks rows as well, and one of their transpose adds rows up.  Where every number
is finite, the zeros that it multiplies and adds change nothing.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from autodiff_lab.compile.program.program import Line, Program
from autodiff_lab.engine.op import REGISTRY, Op
from autodiff_lab.kernels.checks import are_positions


def _move(x: Any, take: Any, put: Any, shape: tuple[int, ...]) -> Any:
    rows = REGISTRY["gather"].kernel(x.reshape(x.shape[0], -1), take.reshape(-1), axis=-2)
    return REGISTRY["scatter_axis"].kernel(rows, put.reshape(-1), axis=-2, length=shape[0]).reshape(shape)


_SENTENCE = "takes rows of {0} at the positions {1} and adds them up at the positions {2}"
MOVED_ROWS = Op("moved_rows", _move, None, 3, sentence=_SENTENCE)


def _pick_marked(table: Any, positions: Any) -> Any:
    if _are_sparse(table, positions, len(table)):
        return REGISTRY["gather"].kernel(table, positions, axis=-2)
    return _marked(positions, len(table), table.dtype) @ table


def _add_marked(x: Any, positions: Any, length: int) -> Any:
    if _are_sparse(x, positions, length):
        return REGISTRY["segment_sum"].kernel(x, positions, count=length)
    return _marked(positions, length, x.dtype).T @ x


def _are_sparse(x: Any, positions: Any, length: int) -> bool:
    """Return whether every one-hot row has a one, and all numbers that are multiplied by zeros are finite."""
    return are_positions(positions, length) and bool(np.isfinite(np.add.reduce(x, axis=None)))


def _marked(positions: Any, length: int, dtype: Any) -> Any:
    return REGISTRY["one_hot"].kernel(positions, depth=length, on=1, off=0, axis=-1, dtype=dtype)


MARKED_ROWS = Op("marked_rows", _pick_marked, None, 2, sentence="takes rows of {0} at the positions {1}")
MARKED_SUMS = Op("marked_sums", _add_marked, None, 2, sentence="adds rows of {0} up at the positions {1}")
FEWEST_MARKED = 32_768
"""Elements of one-hot rows from which on to look at the numbers costs less than to multiply by zeros."""


def marked(line: Line, program: Program) -> tuple[Op, int, dict[str, Any]] | None:
    """Return the op that a product with one-hot rows amounts to, their positions, and its parameters."""
    left, turned = program.made_by.get(line.ins[0]), False
    if left is not None and left.op.name == "transpose" and left.params["perm"] == (-1, -2):
        left, turned = program.made_by.get(left.ins[0]), True
    if left is None or left.op.name != "one_hot" or program.memory is not None:
        return None
    rows, table, how = program.values[left.outs[0]], program.values[line.ins[1]], left.params
    plain = how["axis"] == -1 and how["on"] == 1 and how["off"] == 0 and rows.dtype == table.dtype
    if not plain or len(table.shape) != 2 or math.prod(rows.shape) < FEWEST_MARKED or 0 in table.shape:
        return None
    if not turned:
        return MARKED_ROWS, left.ins[0], {}
    return (MARKED_SUMS, left.ins[0], {"length": how["depth"]}) if len(rows.shape) == 2 else None


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
        if picked is None or rows in program.outputs or len(program.users[rows]) > 1 or not picks_rows(picked, program):
            continue
        x, given, out = (program.values[i] for i in (picked.ins[0], rows, line.outs[0]))
        inner = math.prod(x.shape[1:])
        alike = x.dtype == given.dtype == out.dtype and inner == math.prod(out.shape[1:])
        count = math.prod(program.values[line.ins[1]].shape)
        if alike and adds_rows(line, program) and math.prod(given.shape) == count * inner and 0 not in given.shape:
            found[line.outs[0]] = Move(picked, picked.ins[0], picked.ins[1])
    return found


def picks_rows(line: Line, program: Program) -> bool:
    """Return whether a line picks whole rows by single positions."""
    if line.op.name not in ("gather", "gather_nd"):
        return False
    x, positions = (program.values[i].shape for i in line.ins)
    if line.op.name == "gather":
        return len(x) > 0 and line.params["axis"] % len(x) == 0
    return not line.params.get("lead", 0) and positions[-1:] == (1,)


def adds_rows(line: Line, program: Program) -> bool:
    """Return whether a line adds whole rows up by single positions."""
    out, positions = program.values[line.outs[0]].shape, program.values[line.ins[1]].shape
    if line.op.name == "scatter_axis":
        return line.params["axis"] % len(out) == 0
    return len(out) == len(line.params["shape"]) and positions[-1:] == (1,)
