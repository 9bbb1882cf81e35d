"""Integers that a loop computes with: positions that it finds, moves and puts together, and casts of them.

Integers of 32 bits go through those of 64 in compiled code, so each result is cut to its dtype.
"""

from __future__ import annotations

from typing import Any

from autodiff_lab.compile.loops.text import constant_rows
from autodiff_lab.compile.program.program import Line, Program

JOINING = frozenset({"concat", "stack"})
"""Ops that put parts of any dtype together."""
MADE = ("int32", "int64")
"""The dtypes of integers that a loop makes."""
_EXPRESSIONS = {
    "add": "{0} + {1}", "clip": "choose(choose({2} < {0}, {2}, {0}) < {1}, {1}, choose({2} < {0}, {2}, {0}))",
    "maximum": "choose({0} < {1}, {1}, {0})", "minimum": "choose({1} < {0}, {1}, {0})",
    "multiply": "{0} * {1}", "negative": "-{0}", "subtract": "{0} - {1}",
}  # fmt: skip


def of_integers(line: Line, program: Program) -> str | None:
    """Return the expression of a cast, or of what is computed with integers; None for other lines.

    A number that no integer can hold becomes the lowest one, as it does in NumPy.
    """
    given, made = (program.values[i].dtype for i in (line.ins[0], line.outs[0]))
    if line.op.name in ("cast", "cast_to_discrete") and made.kind == "f":
        return "number({0})"
    if made.name not in MADE:
        return None
    if line.op.name != "cast_to_discrete":
        found = _EXPRESSIONS.get(line.op.name)
        return found and f"{made.name}({found})"
    if given.kind == "f":
        far = 2.0 ** (8 * made.itemsize - 1)
        return f"{made.name}(choose(abs({{0}}) < number({far}), {{0}}, number({-far})))"
    return f"{made.name}({{0}})" if given.kind == "i" else None


def constants_named(values: dict[str, Any]) -> list[str]:
    """Return the statements that name constants, each of its own dtype."""
    whole = {name: value for name, value in values.items() if value.dtype.name in MADE}
    others = {name: value for name, value in values.items() if name not in whole}
    rows = constant_rows(dict(enumerate(others.values())), dict(enumerate(others)))
    return rows + [f"{name} = {value.dtype.name}({int(value)})" for name, value in whole.items()]
