"""Links: which lines of the program's text, and of the generated source, refer to which items.

Which ops became one loop follows from what goes into the loop and comes out of it; which line of the source refers to
which value, from the names that it assigns.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from autodiff_lab.draw.program import Item, Loop, Row
from autodiff_lab.exploring.items import worded

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from autodiff_lab.compile.loops.source import Kernel
    from autodiff_lab.compile.program.program import Program

_ASSIGNED = re.compile(r"^\s*([A-Za-z_]\w*(?:, [A-Za-z_]\w*)*),? (?:[-+*/]?=) ")
_STORED = re.compile(r"^\s*([A-Za-z_]\w*)\[.*?\] [-+*/]?= ")
_DRESSED = re.compile(r"^(?:out_|part_|total_)?(.*?)(?:_i|_r)?$")
_HEAD = re.compile(r"(%\d+):")
_MARK = re.compile(r"^\s*(?:# )?(forward|backward):?$")


def members_of(kernel: Kernel, program: Program) -> list[int]:
    """Return the values between what goes into a kernel and what comes out or is checked, in program order."""
    given, found, open_ = set(kernel.ins), set(), [*kernel.outs, *kernel.checked]
    while open_:
        i = open_.pop()
        if i not in found and i not in given and i in program.made_by:
            found.add(i)
            open_ += program.made_by[i].ins
    return [line.outs[0] for line in program.lines if line.outs[0] in found]


def program_rows(program: Program, items: Sequence[Item], place: dict[int, int]) -> tuple[Row, ...]:
    """Return each line of the program's text with the values that it makes, assigns or returns."""
    by_number = {item.number: at for at, item in enumerate(items)}
    rows: list[Row] = []
    assigned = iter([place[i] for i in program.assigned])
    for text in str(program).split("\n"):
        mark = _MARK.match(text)
        if mark:
            rows.append(Row(text, part=mark[1]))
        elif text.startswith("assign "):
            rows.append(Row(text, (next(assigned),)))
        elif text.startswith("return"):
            rows.append(Row(text, tuple(place[i] for i in program.results)))
        else:
            rows.append(_row(text, [by_number[number] for number in _HEAD.findall(text.partition(" = ")[0])], items))
    return tuple(rows)


def _row(text: str, speaks_of: Iterable[int], items: Sequence[Item]) -> Row:
    found = tuple(dict.fromkeys(speaks_of))
    ops = [items[at].backward for at in found if items[at].kind == "op"]
    part = "" if not ops or (any(ops) and not all(ops)) else ("backward" if ops[0] else "forward")
    return Row(text, found, part)


def source_rows(
    source: str, items: tuple[Item, ...], loops: Sequence[Loop], by_name: dict[str, int]
) -> tuple[tuple[Item, ...], tuple[Row, ...]]:
    """Return each line of the source with the values that it assigns; the call of a loop has all its values.

    Where iterations became a ``for`` the source has its own names; the items are returned with those.
    """
    texts = source.rstrip("\n").split("\n")
    rolled = _rolled_rows(texts, items, loops)
    named = {at: _named(items[at], texts[n]) for n, found in rolled.items() for at in found}
    items = tuple(named.get(at, item) for at, item in enumerate(items))
    called = {loop.title: loop.items for loop in loops}
    within: tuple[int, ...] | None = None  # a loop also has lines that only read what was computed before it
    rows: list[Row] = []
    for n, text in enumerate(texts):
        within = within if text.startswith(" ") else None
        mark, head, call = _MARK.match(text), re.match(r"def (\w+)\(", text), re.search(r" = (\w+)\(", text)
        if mark:
            rows.append(Row(text, part=mark[1]))
        elif head and head[1] in called:
            within = called[head[1]]
            rows.append(_row(text, within, items))
        elif n in rolled or (call and call[1] in called):
            rows.append(_row(text, rolled[n] if n in rolled or not call else called[call[1]], items))
        else:
            speaks_of = _assigned(text, by_name)
            rows.append(_row(text, [at for at in speaks_of if within is None or at in within], items))
    return items, tuple(rows)


def _rolled_rows(texts: list[str], items: Sequence[Item], loops: Sequence[Loop]) -> dict[int, list[int]]:
    """Return, by row, the items of pieces in which iterations are a ``for``.

    Program and source are written from the same loops, so their statements come in the same order.
    """
    found: dict[int, list[int]] = {}
    for loop in loops:
        if all(items[at].times == 1 for at in loop.items):
            continue
        start = next((n for n, text in enumerate(texts) if text.startswith(f"def {loop.title}(")), len(texts))
        end = next((n for n in range(start + 1, len(texts)) if not texts[n].startswith(" ")), len(texts))
        found |= {n: [] for n in range(start + 1, end)}
        statements = [n for n in range(start + 1, end) if "  # " in texts[n] and _ASSIGNED.match(texts[n])]
        if len(statements) == len(loop.items):
            found |= {n: [at] for n, at in zip(statements, loop.items, strict=True)}
    return found


def _named(item: Item, text: str) -> Item:
    """Return an item with the names that the source uses."""
    return worded(replace(item, name=text.partition(" = ")[0].strip()), text.partition("  # ")[2].strip())


def _assigned(text: str, by_name: dict[str, int]) -> list[int]:
    """Return the values that a line assigns; inside a loop their names are suffixed for an element, a row or a sum."""
    found = _ASSIGNED.match(text) or _STORED.match(text)
    names = found[1].split(", ") if found else []
    plain = [name if name in by_name else getattr(_DRESSED.match(name), "group", lambda _: "")(1) for name in names]
    return [by_name[name] for name in plain if name in by_name]
