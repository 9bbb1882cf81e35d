"""Expressions of elementwise ops in fused loops: each op states its own, see `Op.expression`.

Functions in them are those of `kernels.maths`.  Arithmetic gives the bits of the eager op; functions differ from
NumPy's by the errors listed in docs/compiling.md.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_lab.compile.program.program import Line, Program
from autodiff_lab.kernels.base.elementwise import FUNCTIONS, called_in, functions_in

__all__ = ["FUNCTIONS", "angle", "called_in", "expression", "functions_in"]

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


def angle(line: Line) -> str | None:
    """Return the trigonometric function that a line computes, None for other lines."""
    found = line.op.expression
    return _ANGLES.get(found) if isinstance(found, str) else None


def _known(value: int, line: Line, program: Program) -> Any:
    """Return an input that is a finite constant of the loop's dtype, else None."""
    found: Any = program.constants.get(value)
    known = isinstance(found, np.floating) and found.dtype == program.values[line.ins[0]].dtype
    return found if known and np.isfinite(found) else None
