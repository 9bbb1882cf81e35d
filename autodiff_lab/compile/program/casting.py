"""Casts that loops compute: of conditions to numbers, and between real and complex numbers of one precision."""

from __future__ import annotations

from autodiff_lab.compile.program.forms import Writing
from autodiff_lab.compile.program.program import Line

CASTS = frozenset({"cast", "cast_to_discrete"})
"""Ops that change the dtype."""


def cast_in_loops(to: Writing, line: Line) -> bool:
    """Write a cast as another op; return whether that was done."""
    given, made = (to.values[i].dtype for i in (*line.ins, *line.outs))
    if given.kind == "b" and made.name in ("float32", "float64") and to.values[line.ins[0]].memory is None:
        one, zero = (to.constant(made.type(number)) for number in (1, 0))
        to.end(line, "where", *line.ins, one, zero)
    elif given.kind == "f" and made.kind == "c" and made.itemsize == 2 * given.itemsize:
        to.end(line, "widen", *line.ins)
    elif given.kind == "c" and made.kind == "f" and given.itemsize == 2 * made.itemsize:
        to.end(line, "real_part", *line.ins)
    else:
        return False
    return True
