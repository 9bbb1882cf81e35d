"""Expressions of elementwise ops in fused loops: each op states its own, see `Op.expression`.

Functions in them are those of `kernels.maths`.  Arithmetic gives the bits of the eager op; functions differ from
NumPy's by the errors listed in docs/compiling.md.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_lab.compile.program.program import Line, Program
from autodiff_lab.kernels.base.elementwise import FUNCTIONS, called_in, functions_in

__all__ = ["FUNCTIONS", "OF_COMPLEX", "angle", "called_in", "expression", "functions_in", "of_parts"]

_ANGLES = {"sin({0})": "sin", "cos({0})": "cos", "tan({0})": "tan"}
"""Functions whose argument must not be too large; they must be the whole expression."""
OF_COMPLEX = {
    **dict.fromkeys(("add", "identity", "multiply", "negative", "stop_gradient", "subtract", "sum_of_products"), ""),
    "abs": "absolute({0})", "angle": "atan2({0}.imag, {0}.real)", "complex": "complex({0}, {1})",
    "conj": "{0}.conjugate()", "divide": "quotient({0}, {1})", "exp": "exponential({0})",
    "imaginary_part": "{0}.imag", "real_part": "{0}.real", "sign": "direction({0})", "square": "{0} * {0}",
    "widen": "complex({0}, zero)",
}  # fmt: skip
"""Ops on complex numbers that loops compute, and their expressions where they have none for real ones."""


def of_parts(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype of the parts of complex numbers; another dtype as it is."""
    return np.dtype(f"f{dtype.itemsize // 2}") if dtype.kind == "c" else dtype


def expression(line: Line, program: Program) -> str | None:
    """Return the expression of a line in a loop, None if no loop can compute it."""
    found = line.op.expression
    if any(program.values[i].dtype.kind == "c" for i in (*line.ins, *line.outs)):
        if line.op.name not in OF_COMPLEX:
            return None
        found = OF_COMPLEX[line.op.name] or found
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
