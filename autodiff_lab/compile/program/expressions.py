"""Expressions of elementwise ops in fused loops: each op states its own, see `Op.expression`.

Functions in them are those of `kernels.maths`.  Arithmetic gives the bits of the eager op; functions differ from
NumPy's by the errors listed in docs/compiling.md.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autodiff_lab.compile.program.program import Line, Program
from autodiff_lab.kernels.base.elementwise import FUNCTIONS, called_in, functions_in

__all__ = ["FUNCTIONS", "angle", "called_in", "expression", "functions_in"]

OF_LIBRARY = frozenset({"acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cosh", "sinh"})
"""Ops that no fused loop computes, and the names of functions of C."""
MOST_CALLS = 1024
"""Elements up to which calling such a function for each is quicker than a call from Python."""
_ANGLES = {"sin({0})": "sin", "cos({0})": "cos", "tan({0})": "tan"}
"""Functions whose argument must not be too large; they must be the whole expression."""


def expression(line: Line, program: Program) -> str | None:
    """Return the expression of a line in a loop, None if no loop can compute it."""
    found = line.op.expression
    if callable(found):
        found = found(tuple(_known(i, line, program) for i in line.ins), **line.params)
    if not found or (found not in _ANGLES and functions_in(found).intersection(_ANGLES.values())):
        return None
    return found


def library_call(line: Line, program: Program) -> str | None:
    """Return the call of the C library's function that computes a line of few elements, else None.

    It takes some ten nanoseconds for an element, NumPy's function of vectors one or two, and a microsecond to begin.
    """
    values = [program.values[i] for i in (*line.ins, *line.outs)]
    few = line.op.name in OF_LIBRARY and 0 < math.prod(values[-1].shape) <= MOST_CALLS
    kinds = {v.dtype.name if v.memory is None else "" for v in values}
    if not few or kinds not in ({"float32"}, {"float64"}):
        return None
    return f"{line.op.name}({', '.join(f'{{{n}}}' for n in range(len(line.ins)))})"


def angle(line: Line) -> str | None:
    """Return the trigonometric function that a line computes, None for other lines."""
    found = line.op.expression
    return _ANGLES.get(found) if isinstance(found, str) else None


def _known(value: int, line: Line, program: Program) -> Any:
    """Return an input that is a finite constant of the loop's dtype, else None."""
    found: Any = program.constants.get(value)
    known = isinstance(found, np.floating) and found.dtype == program.values[line.ins[0]].dtype
    return found if known and np.isfinite(found) else None
