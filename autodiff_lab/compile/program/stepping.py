"""Stepping: an array of which each step of a program takes one column is copied, so that columns lie in one piece.

Where time is the last axis, as in `x[:, t]`, the elements of a step lie a row apart, each in a line of the cache of its
own.  Before the next step takes its neighbours, what else the step reads and writes has driven these lines out.  A copy
in which the axis of the steps comes first reads each line once.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from dataclasses import replace
from typing import Any

from autodiff_lab.compile.program.layouts import dense_strides
from autodiff_lab.compile.program.program import Line, Program
from autodiff_lab.engine.op import REGISTRY, Op
from autodiff_lab.kernels.base.order import in_order

FEWEST = 32
"""Steps below which the array is left as it is."""
LEAST_BYTES = 1 << 15
"""Bytes of an array that the first-level cache holds beside what else a step needs."""
LINE_BYTES = 64
"""Bytes that are fetched together."""
IN_ORDER = Op("in_order", in_order, None, 1, sentence="copies {0} in the order of its axes")
ALL = ("s", None, None, None)
"""The item of a slice that takes a whole axis."""


def with_steps_in_front(program: Program) -> Program:
    """Return the program with copies of arrays whose columns are taken one by one, the axis of the steps in front."""
    if program.memory is not None:
        return program
    columns = {line.outs[0]: _column(line, program) for line in program.lines if line.op.name in ("slice", "take")}
    taken: dict[tuple[int, int], set[int]] = defaultdict(set)  # by array and axis: the positions
    for column in columns.values():
        if column is not None:
            taken[column[:2]].add(column[2])
    worth = {key for key, positions in taken.items() if _is_worth_it(*key, positions, program)}
    if not worth:
        return program
    values, fresh = dict(program.values), itertools.count(1 + max(program.values))
    copies: dict[tuple[int, int], int] = {}
    lines: list[Line] = []
    for line in program.lines:
        column = columns.get(line.outs[0])
        if column is None or column[:2] not in worth:
            lines.append(line)
            continue
        array, axis, position = column
        whole = values[array]
        rank = len(whole.shape)
        if (array, axis) not in copies:
            order = (axis, *(k for k in range(rank) if k != axis))
            turned, copy = next(fresh), next(fresh)
            values[turned] = values[copy] = whole._replace(shape=tuple([whole.shape[k] for k in order]), name="")
            perm = tuple([k - rank for k in order])
            lines.append(line._replace(op=REGISTRY["transpose"], ins=(array,), params={"perm": perm}, outs=(turned,)))
            lines.append(line._replace(op=IN_ORDER, ins=(turned,), params={}, outs=(copy,)))
            copies[array, axis] = copy
        items = (("i", position), *[ALL] * (rank - 1))
        lines.append(line._replace(op=REGISTRY["slice"], ins=(copies[array, axis],), params={"items": items}))
    return replace(program, lines=tuple(lines), values=values)


def _column(line: Line, program: Program) -> tuple[int, int, int] | None:
    """Return the array, the axis and the position if a line takes one position of one axis of an array."""
    array = line.ins[0]
    shape = program.values[array].shape
    if line.op.name == "take":
        axis, position = line.params["axis"] % len(shape), line.params["index"]
    else:
        items: Any = line.params["items"]
        single = [k for k, item in enumerate(items) if item != ALL]
        if len(items) != len(shape) or len(single) != 1 or items[single[0]][0] != "i":
            return None
        axis, position = single[0], items[single[0]][1]
    return array, axis, position % shape[axis]


def _is_worth_it(array: int, axis: int, positions: set[int], program: Program) -> bool:
    """Return whether most columns of an array are taken, of which less lies together than a line of the cache."""
    shape, dtype, *_ = program.values[array]
    if len(positions) < FEWEST or 2 * len(positions) < shape[axis] or math.prod(shape) * dtype.itemsize < LEAST_BYTES:
        return False
    made = program.made_by.get(array)
    if made is None or made.op.name != "transpose":
        return dense_strides(shape)[axis] * dtype.itemsize < LINE_BYTES
    lies = dense_strides(program.values[made.ins[0]].shape)
    return lies[made.params["perm"][axis]] * dtype.itemsize < LINE_BYTES
