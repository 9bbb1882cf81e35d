"""Expressions of elementwise ops in fused loops: each op states its own, see `Op.expression`.

Functions in them are those of `kernels.maths`.  Arithmetic gives the bits of the eager op; functions differ from
NumPy's by the errors listed in docs/compiling.md.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from autodiff_lab.compile.program.program import Line, Program

FUNCTIONS = frozenset({
    "exp", "expm1", "log", "log1p", "sin", "cos", "tan", "tanh", "sigmoid", "softplus", "erf", "erfc", "normal_cdf",
    "power",
})  # fmt: skip
"""Functions with different code for float32 and float64."""
_ANGLES = {"sin({0})": "sin", "cos({0})": "cos", "tan({0})": "tan"}
"""Functions whose argument must not be too large; they must be the whole expression."""
_CALLED = re.compile(r"\b([a-z]\w*)\(")


def expression(line: Line, program: Program) -> str | None:
    """Return the expression of a line in a loop, None if no loop can compute it."""
    found = line.op.expression
    if callable(found):
        found = found(tuple(_known(i, line, program) for i in line.ins), **line.params)
    if not found or (found not in _ANGLES and functions_in(found).intersection(_ANGLES.values())):
        return None
    return found


def functions_in(text: str) -> frozenset[str]:
    """Return the elementary functions that an expression calls."""
    return FUNCTIONS.intersection(_CALLED.findall(text))


def angle(line: Line) -> str | None:
    """Return the trigonometric function that a line computes, None for other lines."""
    found = line.op.expression
    return _ANGLES.get(found) if isinstance(found, str) else None


def _known(value: int, line: Line, program: Program) -> Any:
    """Return an input that is a finite constant of the loop's dtype, else None."""
    found: Any = program.constants.get(value)
    known = isinstance(found, np.floating) and found.dtype == program.values[line.ins[0]].dtype
    return found if known and np.isfinite(found) else None
