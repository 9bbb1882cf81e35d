"""Compiled functions for the eye: what `lab.function` made of a function, as a view that `draw.program` can draw.

Here the compiler's Program becomes plain items and rows.  Which ops became one loop follows from what goes into the
loop and comes out of it; which line of the source speaks of which value, from the names that it assigns.
"""

from __future__ import annotations

import linecache
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from autodiff_lab.compile.lines import comment
from autodiff_lab.compile.names import names_of
from autodiff_lab.compile.printed import numbers_of
from autodiff_lab.compile.program import shown
from autodiff_lab.draw.assets import WIDGETS
from autodiff_lab.draw.page import document
from autodiff_lab.draw.program import Item, Loop, ProgramView, Reason, Row, payload, picture
from autodiff_lab.draw.program.payload import MOST_DRAWN
from autodiff_lab.errors import LayoutFailed
from autodiff_lab.recording.sources import labels_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from autodiff_lab.compile.function import Function
    from autodiff_lab.compile.program import Line, Program
    from autodiff_lab.compile.source import Kernel
    from autodiff_lab.events import Place
    from autodiff_lab.widgets.program import ProgramExplorer

MOST_ROWS = 1500
"""Lines of the program and of the source that are shown."""
_ASSIGNED = re.compile(r"^\s*([A-Za-z_]\w*(?:, [A-Za-z_]\w*)*),? (?:[-+*/]?=) ")
_STORED = re.compile(r"^\s*([A-Za-z_]\w*)\[.*?\] [-+*/]?= ")
_DRESSED = re.compile(r"^(?:out_|part_|total_)?(.*?)(?:_i|_r)?$")
_HEAD = re.compile(r"(%\d+):")
_MARK = re.compile(r"^\s*(?:# )?(forward|backward):?$")


def program_view(function: Function) -> ProgramView:
    """Return what is shown of a compiled function: the program of the signature that was compiled last.

    Parameters
    ----------
    function : Function
        One that was never called, or runs eagerly, gives a view that says so.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> f = lab.function(lambda x: lab.sin(x) * x, backend="numpy")
    >>> program_view(f).why
    'f has not been called yet: call it once, and look again.'
    >>> _ = f(lab.constant([1.0, 2.0]))
    >>> print(program_view(f).summary())
    2 ops forward. They run as 2 calls of NumPy.
    """
    name = _called(function)
    why, reasons = _eagerly(function, name)
    if not function.compiled:
        return ProgramView(name, why=why, reasons=reasons)
    program, source, kernels = function.program, function.source, function.kernels
    items, place = _items(program, names_of(program))
    loops = tuple(
        Loop(kernel.title, kernel.note, tuple(dict.fromkeys(place[line.outs[0]] for line in _members(kernel, program))))
        for kernel in kernels
    )
    items, source_rows = _source_rows(source, items, loops)
    inside = {at for loop in loops for at in loop.items}
    calls = sum(item.kind == "op" and at not in inside for at, item in enumerate(items))
    program_rows = _program_rows(program, items, place)
    longest = max(len(program_rows), len(source_rows))
    return ProgramView(
        f"{name}({', '.join(f'{item.name}: {item.shape}' for item in items if item.kind == 'argument')})",
        items,
        program_rows[:MOST_ROWS],
        source_rows[:MOST_ROWS],
        loops,
        calls,
        why,
        reasons,
        f"The first {MOST_ROWS} lines of {longest} are shown." if longest > MOST_ROWS else "",
    )


def _called(function: Function) -> str:
    name = getattr(function, "__name__", "")
    return name if name.isidentifier() else "f"


def _eagerly(function: Function, name: str) -> tuple[str, tuple[Reason, ...]]:
    """Say whether and why calls run eagerly."""
    found = dict.fromkeys(function.refusals)
    files = labels_of({refusal.place[0] for refusal in found if refusal.place})
    reasons = tuple(
        Reason(refusal.reason, f"{files[refusal.place[0]]}, line {refusal.place[1]}", _line(refusal.place))
        if refusal.place
        else Reason(refusal.reason)
        for refusal in found
    )
    if reasons:
        which = "calls with other arguments run" if function.compiled else f"{name} runs"
        return f"{which[0].upper() if function.compiled else which[0]}{which[1:]} eagerly, op by op:", reasons
    return "" if function.compiled else f"{name} has not been called yet: call it once, and look again.", ()


def _line(place: Place) -> str:
    return linecache.getline(*place).strip()


def _items(program: Program, names: dict[int, str]) -> tuple[tuple[Item, ...], dict[int, int]]:
    """The values of a program in the order of its text, and the place of each by its id.

    Where the text has loops, the rounds of a loop are one item.
    """
    numbers = numbers_of(program)
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
            # What a round takes from the round before would be an edge to the left, and is not drawn.
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
    """An op with what it does, and where."""
    where = f"{files[line.place[0]]}, line {line.place[1]}" if line.place else ""
    text = _line(line.place) if line.place else ""
    return replace(_worded(item, words), where=where, line=text)


def _number(array: Any) -> str:
    """A constant on its node: a number, the number that all elements are, or how many there are."""
    elements = array.reshape(-1)
    if array.shape == () or elements.size == 0:
        return shown(array)
    return f"all {shown(elements[0])}" if (elements == elements[0]).all() else f"{elements.size} numbers"


def _members(kernel: Kernel, program: Program) -> list[Line]:
    """The lines between what goes into a kernel and what comes out, in the order of the program."""
    given, found, open_ = set(kernel.ins), set(), list(kernel.outs)
    while open_:
        i = open_.pop()
        if i not in found and i not in given and i in program.made_by:
            found.add(i)
            open_ += program.made_by[i].ins
    return [line for line in program.lines if line.outs[0] in found]


def _program_rows(program: Program, items: Sequence[Item], place: dict[int, int]) -> tuple[Row, ...]:
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


def _source_rows(
    source: str, items: tuple[Item, ...], loops: Sequence[Loop]
) -> tuple[tuple[Item, ...], tuple[Row, ...]]:
    """Each line of the source with the values that it assigns, the call of a loop with all values of the loop.

    Where rounds became a ``for`` the source has names of its own; the items come back with those.
    """
    texts = source.rstrip("\n").split("\n")
    rolled = _rolled_rows(texts, items, loops)
    named = {at: _named(items[at], texts[n]) for n, found in rolled.items() for at in found}
    items = tuple(named.get(at, item) for at, item in enumerate(items))
    by_name = {item.name: at for at, item in enumerate(items) if item.kind == "op"}
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
        elif call and call[1] in called:
            rows.append(_row(text, called[call[1]], items))
        elif n in rolled:
            rows.append(_row(text, rolled[n], items))
        else:
            speaks_of = _assigned(text, by_name)
            rows.append(_row(text, [at for at in speaks_of if within is None or at in within], items))
    return items, tuple(rows)


def _rolled_rows(texts: list[str], items: Sequence[Item], loops: Sequence[Loop]) -> dict[int, list[int]]:
    """By row, the items of pieces in which rounds are a ``for``.

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
    """An item as the source calls it and speaks of it."""
    return _worded(replace(item, name=text.partition(" = ")[0].strip()), text.partition("  # ")[2].strip())


def _worded(item: Item, words: str) -> Item:
    whole = f"{item.label} ({words})" if item.backward and words != item.label else words
    return replace(item, words=whole)


def _assigned(text: str, by_name: dict[str, int]) -> list[int]:
    """The values that a line assigns; inside a loop their names wear the marks of an element, a row or a sum."""
    found = _ASSIGNED.match(text) or _STORED.match(text)
    names = found[1].split(", ") if found else []
    plain = [name if name in by_name else getattr(_DRESSED.match(name), "group", lambda _: "")(1) for name in names]
    return [by_name[name] for name in plain if name in by_name]


def to_html(function: Function) -> str:
    """Return a compiled function as a page that needs neither network nor kernel."""
    view = program_view(function)
    state = {"facts": payload(view), "at": first_op(view)}
    return document(view.title, state, WIDGETS / "program", _without_script(view))


def first_op(view: ProgramView) -> int:
    """The item that is marked first."""
    return next((at for at, item in enumerate(view.items) if item.kind == "op"), -1)


def _without_script(view: ProgramView) -> str:
    from html import escape

    drawn = ""
    if 0 < len(view.items) <= MOST_DRAWN:
        try:
            drawn = picture(view, themed=False)[0]
        except LayoutFailed as failure:
            drawn = f"<p>{escape(str(failure))}</p>"
    source = "\n".join(row.text for row in view.source)
    return f"<p>{escape(view.summary())}</p>{drawn}<pre>{escape(view.account())}</pre><pre>{escape(source)}</pre>"


def explorer(function: Function) -> ProgramExplorer:
    """Return the widget of a compiled function.

    Raises
    ------
    ImportError
        Where anywidget is not installed.
    """
    from autodiff_lab.widgets.program import ProgramExplorer

    view = program_view(function)
    return ProgramExplorer(view, at=first_op(view))


def bundle(function: Function, **options: Any) -> Any:
    """What a notebook shows of a compiled function: the widget where there are widgets, and always a text."""
    try:
        return explorer(function)._repr_mimebundle_(**options)
    except ImportError:
        return {"text/plain": program_view(function).account()}
