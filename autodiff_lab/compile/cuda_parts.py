"""Parts of a CUDA kernel: what a region reads and writes, as on the CPU, but for what a GPU does otherwise.

Quotients and angles of float32 have expressions of their own, numbers of the CPU come by value, and reductions that
would need another grid stay outside.
"""

from __future__ import annotations

import numpy as np

from autodiff_lab.compile.cuda_text import grid_of, way_of
from autodiff_lab.compile.expressions import angle
from autodiff_lab.compile.parts import Parts, parts_of
from autodiff_lab.compile.program import Line, Program
from autodiff_lab.compile.regions import Region

QUOTIENTS = {
    "divide": "quotient({0}, {1})",
    "reciprocal": "quotient(one, {0})",
    "rsqrt": "rsqrt({0})",
    "softsign": "quotient({0}, one + abs({0}))",
    "reciprocal_where_positive": "choose({0} > zero, quotient(one, choose({0} > zero, {0}, one)), zero)",
    "divide_no_nan": "choose({1} == zero, zero, quotient({0}, {1}))",
    "reciprocal_no_nan": "choose({0} == zero, zero, quotient(one, {0}))",
    "xdivy": "choose({0} == zero, zero, quotient({0}, {1}))",
}
"""Ops that divide: a GPU takes ten instructions for a quotient with all its bits, and two for one without the last."""


def parts_on_gpu(region: Region, program: Program, needed: set[int]) -> Parts:
    """What a kernel reads and writes, with the expressions of a GPU."""
    parts = parts_of(region, program, needed)
    for line in [*region.lines, *region.row_lines]:
        if line.op.name in QUOTIENTS:
            parts.texts[line.outs[0]] = QUOTIENTS[line.op.name]
        elif angle(line) and region.dtype == np.float32:
            parts.texts[line.outs[0]] = f"{angle(line)}({{0}}, far)"
    return parts


def leave_outside(region: Region, program: Program) -> list[Line]:
    """Take the reductions over rows out of a region whose threads share rows: they keep to no column."""
    if grid_of(region, program) != "rows":
        return []
    left = [line for line in region.sums if way_of(line, program) == "row"]
    region.sums = [line for line in region.sums if line not in left]
    return left


def sort_inputs(region: Region, program: Program, parts: Parts) -> set[int]:
    """Find the inputs that come as plain numbers, and let reductions of the only row be reductions of everything."""
    numbers = {i for i in [*parts.whole, *parts.single] if program.values[i].memory is None}
    parts.single += [i for i in parts.whole if i in numbers]
    parts.whole = [i for i in parts.whole if i not in numbers]
    if grid_of(region, program) != "rows":
        parts.row_stored = []
    return numbers
