"""Names for the values of a Program, taken from the user's program: parameters, variables and assigned names.

The last value that a statement computes gets the name that the statement assigns; cotangents are named after the value
whose rule computes them; the others are numbered.  Every name is a unique Python identifier.
"""

from __future__ import annotations

import keyword
import linecache
import re

from autodiff_lab.compile.program.program import Line, Program
from autodiff_lab.events import Place

_ASSIGNS = re.compile(r"^\s*([A-Za-z_]\w*)\s*(?:=(?!=)|[-+*/@]=)")
RESERVED = frozenset(
    {"np", "float32", "float64", "range", "where", "sum", "i", "r", "j", "n", "rows", "columns", "flat", "number"}
)


def assigned_name(place: Place | None) -> str | None:
    """Return the name that the statement at a place assigns, if it assigns one."""
    if place is None:
        return None
    found = _ASSIGNS.match(linecache.getline(*place))
    return found[1] if found else None


class Namer:
    """Gives each value a unique Python identifier."""

    def __init__(self, names: dict[int, str]) -> None:
        self.names = names
        self._taken = set(names.values())
        self._counts: dict[str, int] = {}

    def give(self, value: int, wish: str) -> str:
        """Name a value as wished, with a number appended if that is taken."""
        found = self.names.get(value)
        if found is not None:
            return found
        base = re.sub(r"\W+", "_", wish).strip("_") or "v"
        if base[0].isdigit() or keyword.iskeyword(base) or base in RESERVED:
            base = f"v_{base}"
        count = self._counts[base] = self._counts.get(base, 0) + 1
        name = base if count == 1 else f"{base}_{count}"
        while name in self._taken:
            count = self._counts[base] = self._counts[base] + 1
            name = f"{base}_{count}"
        self._taken.add(name)
        self.names[value] = name
        return name

    def give_line(self, line: Line, program: Program) -> None:
        """Name the results of a line: as the user did, or after the value whose rule computes them."""
        for out in line.outs:
            if line.cause is None:
                self.give(out, program.values[out].name or "v")
            else:
                self.give(out, f"g_{self.names.get(line.cause, '')}")


def names_of(program: Program) -> dict[int, str]:
    """Return a unique identifier for each input, constant and result."""
    namer = Namer({})
    for i in program.inputs:
        namer.give(i, program.values[i].name or "x")
    for line in program.lines:
        namer.give_line(line, program)
    for position, i in enumerate(program.constants):
        namer.give(i, f"c{position}")
    return namer.names


def statement_names(lines: list[Line]) -> dict[int, str]:
    """Return the name of the statement for the last value that a run of lines from one place makes."""
    found: dict[int, str] = {}
    forward = [line for line in lines if line.cause is None]
    for n, line in enumerate(forward):
        if n + 1 == len(forward) or forward[n + 1].place != line.place:
            name = assigned_name(line.place)
            if name is not None:
                found[line.outs[-1]] = name
    return found
