"""Items: the values of a compiled program as plain data, each with the op that makes it and the user's line.

Where the text of a program has loops, all iterations of a loop are one item.
"""

from __future__ import annotations

import linecache
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from autodiff_lab.compile.program.lines import comment
from autodiff_lab.compile.program.names import names_of
from autodiff_lab.compile.program.program import shown
from autodiff_lab.compile.scalars.printed import numbers_of
from autodiff_lab.draw.program import Item
from autodiff_lab.recording.sources import labels_of

if TYPE_CHECKING:
    from autodiff_lab.compile.program.program import Line, Program
    from autodiff_lab.events import Place


def items_of(program: Program) -> tuple[tuple[Item, ...], dict[int, int]]:
    """Return the values of a program in the order of its text, and the position of each by its id.

    Where the text has loops, all iterations of a loop are one item.
    """
    names, numbers = names_of(program), numbers_of(program)
    first: dict[str, int] = {}
    rounds: dict[str, list[int]] = {}
    for i in dict.fromkeys([*program.inputs, *program.constants, *(i for line in program.lines for i in line.outs)]):
        if i in numbers:
            first.setdefault(numbers[i], len(first))
            rounds.setdefault(numbers[i], []).append(i)
    place = {i: first[number] for i, number in numbers.items() if number in first}
    files = labels_of({line.place[0] for line in program.lines if line.place})
    made: list[Item] = []
    for number, same in rounds.items():
        i = same[0]
        value, line = program.values[i], program.made_by.get(i)
        if line is not None:
            ins = program.made_by[same[min(1, len(same) - 1)]].ins
            # What an iteration takes from the previous one would be an edge to the left, and is not drawn.
            known = tuple(place[k] for k in ins if place.get(k, len(first)) < first[number])
            item = Item(
                "op", line.op.name, names[i], number, value.kind, known, line.cause is not None, times=len(same)
            )
            made.append(_told(item, line, comment(line, program, names), files))
        elif i in program.constants:
            made.append(Item("constant", _number(program.constants[i]), names[i], number, value.kind))
        else:
            kind = "argument" if i in program.arguments else "variable"
            made.append(Item(kind, value.name or names[i], names[i], number, value.kind))
    return tuple(made), place


def _told(item: Item, line: Line, words: str, files: dict[str, str]) -> Item:
    """Return an op's item: what it does, and where."""
    where = f"{files[line.place[0]]}, line {line.place[1]}" if line.place else ""
    text = line_of(line.place) if line.place else ""
    return replace(worded(item, words), where=where, line=text)


def _number(array: Any) -> str:
    """Return a constant's label: a number, the value all elements share, or how many there are."""
    elements = array.reshape(-1)
    if array.shape == () or elements.size == 0:
        return shown(array)
    return f"all {shown(elements[0])}" if (elements == elements[0]).all() else f"{elements.size} numbers"


def worded(item: Item, words: str) -> Item:
    """Return an item with what its op does, or which rule it belongs to."""
    whole = f"{item.label} ({words})" if item.backward and words != item.label else words
    return replace(item, words=whole)


def line_of(place: Place) -> str:
    """Return the user's line at a place."""
    return linecache.getline(*place).strip()
