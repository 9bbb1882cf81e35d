"""Contributions to one part of an array, added where they are made instead of at the end.

A loop that reads ``p[0]`` in every turn has as many contributions to it, which one op adds up after the loop.  Written
as additions in the turns, they are a number that the loop carries, and nothing is handed out turn by turn.  A part that
overlaps another one stays: the order in which its elements are added would change.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from typing import Any

import numpy as np

from autodiff_lab.compile.program.program import Line, Program
from autodiff_lab.compile.program.rewriting import hashable
from autodiff_lab.engine.op import REGISTRY

MOST = 65_536
"""Elements of the largest array whose parts are compared."""


def with_parts_added(program: Program) -> Program:
    """Return the program in which no two operands of an `accumulate_parts` belong to the same part."""
    values, place = dict(program.values), dict(program.place)
    new = itertools.count(1 + max(values, default=-1))
    follows: dict[int, list[Line]] = {}  # lines to add, by the number of the line that they come after
    instead: dict[int, Line] = {}
    for line in program.lines:
        if line.op.name != "accumulate_parts" or values[line.outs[0]].dtype.itemsize < 4:
            continue  # sums of half floats are kept in float32 until the last part
        first = line.ins[: line.params["onto"]]
        groups: dict[Any, list[int]] = {}
        places: dict[Any, Any] = {}
        for value, where in zip(line.ins[len(first) :], line.params["places"], strict=True):
            key = hashable(where)
            places[key] = where
            groups.setdefault(key, []).append(value)
        shape = values[line.outs[0]].shape
        alone = len(groups) == len(line.params["places"])
        if alone or math.prod(shape) > MOST or _overlap(list(places.values()), shape):
            continue
        sums: list[int] = []
        for parts in groups.values():
            total, *rest = parts
            for part in rest:
                out = next(new)
                values[out] = values[part]
                later = max(place.get(total, -1), place.get(part, -1))
                added = Line(REGISTRY["add"], (total, part), {}, (out,), line.place, line.cause)
                follows.setdefault(later, []).append(added)
                place[out] = later
                total = out
            sums.append(total)
        params = {**line.params, "places": tuple(places.values())}
        instead[line.outs[0]] = line._replace(ins=(*first, *sums), params=params)
    if not instead:
        return program
    lines = [*follows.get(-1, [])]
    for n, line in enumerate(program.lines):
        lines += [instead.get(line.outs[0], line), *follows.get(n, [])]
    return replace(program, lines=tuple(lines), values=values)


def _overlap(places: list[Any], shape: tuple[int, ...]) -> bool:
    """Return whether two parts of an array have an element in common."""
    numbers = np.arange(math.prod(shape)).reshape(shape)
    count = np.zeros(numbers.size, np.int64)
    for op, params in places:
        count[np.ravel(REGISTRY[op].kernel(numbers, **dict(params)))] += 1
        if count.max(initial=0) > 1:
            return True
    return False
