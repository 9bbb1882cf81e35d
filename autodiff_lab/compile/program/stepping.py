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
_ALL = ("s", None, None, None)


def with_steps_in_front(program: Program) -> Program:
    """Return the program with copies of arrays whose columns are taken one by one, the axis of the steps in front."""
    if program.memory is not None:
        return program
    taken: dict[tuple[int, int], dict[int, int]] = defaultdict(dict)  # by array and axis: column of each result
    for line in program.lines:
        if line.op.name in ("slice", "take"):
            at = _column(line, program)
            if at is not None:
                taken[line.ins[0], at[0]][line.outs[0]] = at[1]
    worth = {key for key, columns in taken.items() if _is_worth_it(*key, set(columns.values()), program)}
    if not worth:
        return program
    values, fresh = dict(program.values), itertools.count(1 + max(program.values))
    copies: dict[tuple[int, int], int] = {}
    lines: list[Line] = []
    for line in program.lines:
        at = _column(line, program) if line.op.name in ("slice", "take") else None
        if at is None or (line.ins[0], at[0]) not in worth:
            lines.append(line)
            continue
        (array, axis), (shape, *_) = (line.ins[0], at[0]), values[line.ins[0]]
        rank = len(shape)
        if (array, axis) not in copies:
            order = (axis, *(k for k in range(rank) if k != axis))
            turned, copies[array, axis] = next(fresh), next(fresh)
            for value in (turned, copies[array, axis]):
                values[value] = values[array]._replace(shape=tuple([shape[k] for k in order]), name="")
            perm = tuple([k - rank for k in order])
            plain = line._replace(op=REGISTRY["transpose"], ins=(array,), params={"perm": perm}, outs=(turned,))
            lines += [plain, line._replace(op=IN_ORDER, ins=(turned,), params={}, outs=(copies[array, axis],))]
        items = (("i", at[1]), *[_ALL] * (rank - 1))
        lines.append(line._replace(op=REGISTRY["slice"], ins=(copies[array, axis],), params={"items": items}))
    return replace(program, lines=tuple(lines), values=values)


def _column(line: Line, program: Program) -> tuple[int, int] | None:
    """Return the axis and the position of what a line takes of an array, None if it is not one position of one axis."""
    shape = program.values[line.ins[0]].shape
    if line.op.name == "take":
        axis, index = line.params["axis"] % len(shape), line.params["index"]
    else:
        items: Any = line.params["items"]
        single = [k for k, item in enumerate(items) if item != _ALL]
        if len(items) != len(shape) or len(single) != 1 or items[single[0]][0] != "i":
            return None
        axis, index = single[0], items[single[0]][1]
    return axis, index % shape[axis]


def _is_worth_it(array: int, axis: int, columns: set[int], program: Program) -> bool:
    """Return whether most columns of an array are taken, of which less lies together than a line of the cache."""
    shape, dtype, *_ = program.values[array]
    if len(columns) < FEWEST or 2 * len(columns) < shape[axis] or math.prod(shape) * dtype.itemsize < LEAST_BYTES:
        return False
    made = program.made_by.get(array)
    if made is None or made.op.name != "transpose":
        return dense_strides(shape)[axis] * dtype.itemsize < LINE_BYTES
    lies = dense_strides(program.values[made.ins[0]].shape)
    return lies[made.params["perm"][axis]] * dtype.itemsize < LINE_BYTES
