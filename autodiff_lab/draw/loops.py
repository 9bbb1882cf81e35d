"""Loops of a recording: iterations that a picture folds into one node.

Three things are recognized, in this order: the steps of a training loop (`draw.passes`), scopes whose names differ only
in a number, and ops that repeat themselves on the same lines of the user's program.  The iterations of the last kind
get a scope each, so that whatever opens and leaves scopes opens and leaves iterations.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from autodiff_lab.draw.passes import pattern, with_passes
from autodiff_lab.draw.scopes import inside, shown_ops
from autodiff_lab.draw.stretches import split
from autodiff_lab.draw.uneven import uneven
from autodiff_lab.repeats import repeats

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from autodiff_lab.events import Place
    from autodiff_lab.recording.model import Application
    from autodiff_lab.recording.recording import Recording

FEWEST_SCOPES = 6
"""Numbered scopes are folded from this number on: fewer boxes are easier to read than one that must be opened."""
FEWEST_TURNS, FEWEST_CALLS = 3, 6
"""Iterations from which repeated ops count as a loop: inside a ``for`` or ``while``, and elsewhere."""
FEWEST_OPS = 16
"""Ops in all iterations together from which a loop is folded."""
DEEPEST = 3
"""Loops inside loops that are looked for."""
_HEADER = re.compile(r"(?:async\s+)?(for|while|def)\b\s*(\w+)?")


class Loop(NamedTuple):
    """The iterations of a loop, as paths of scopes, and what it is called.

    Attributes
    ----------
    label : str
        The line of the ``for`` or ``while``, the function that was called again and again, or the scopes' common name.
    turns : tuple of str
        Paths, in the order in which they ran.
    """

    label: str
    turns: tuple[str, ...]


@dataclass(frozen=True)
class _Item:
    """An op of a scope, or a run of ops in one of its scopes: what it has in common with the same of other turns."""

    kind: Any
    places: tuple[Place, ...]
    indices: tuple[int, ...]
    child: str = ""


def with_loops(recording: Recording) -> tuple[Recording, tuple[Loop, ...]]:
    """Return the recording with a scope for each iteration of its loops, and the loops.

    Parameters
    ----------
    recording : Recording
        Itself is returned if no iteration needs a name.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> x = lab.Variable(0.5, name="x")
    >>> with lab.record() as recording:
    ...     for number in range(12):
    ...         with lab.name_scope(f"step {number}"):
    ...             y = lab.sin(x) * 2.0
    >>> [(loop.label, len(loop.turns)) for loop in with_loops(recording.so_far())[1]]
    [('step', 12)]
    """
    recording = with_passes(recording)
    shown = list(shown_ops(recording).values())
    scopes = {a.index: a.scope for a in shown}
    loops = list(_unnamed(recording, shown, scopes))
    found = (*_numbered(scopes), *loops)
    if split(scopes) or loops:
        recording = renamed(recording, scopes)
    return recording, found


# --- scopes with numbers --------------------------------------------------------------------------------------------


def _numbered(scopes: Mapping[int, str]) -> Iterator[Loop]:
    """Yield the loops whose iterations have scopes: the same name, but for a number."""
    alike: defaultdict[tuple[str, str], dict[str, None]] = defaultdict(dict)
    for scope in dict.fromkeys(scopes.values()):
        parts = scope.split("/") if scope else []
        for depth, name in enumerate(parts):
            if pattern(name) != name and not name.startswith(_TURN):
                parent = "/".join(parts[:depth])
                alike[parent, pattern(name)]["/".join(parts[: depth + 1])] = None
    for (_, name), paths in alike.items():
        if len(paths) >= FEWEST_SCOPES:
            yield Loop(_common(name), tuple(paths))


def _common(name: str) -> str:
    """Return the name of a loop from that of its iterations without their numbers."""
    return "training step" if name == "pass #" else name.replace("#", "").strip(" _-.:") or "loop"


# --- ops that repeat themselves -------------------------------------------------------------------------------------

_TURN = "turn "


def _unnamed(recording: Recording, shown: Sequence[Application], scopes: dict[int, str]) -> Iterator[Loop]:
    """Yield the loops that have no scopes, and give their iterations some in `scopes`."""
    waiting = [("", 0, [a.index for a in shown])]
    while waiting:
        within, depth, indices = waiting.pop(0)
        items = _items(recording, indices, scopes, within)
        found = list(_loops_among(recording, items)) if depth < DEEPEST else []
        inner: list[tuple[str, int, list[int]]] = []
        for number, (label, turns) in enumerate(found, start=1):
            paths = [_turn_path(within, number, turn) for turn in range(1, len(turns) + 1)]
            for path, turn in zip(paths, turns, strict=True):
                members = [index for item in turn for index in item.indices]
                for index in members:
                    scopes[index] = path + _below(scopes[index], within)
                inner.append((path, depth + 1, members))
            yield Loop(label, tuple(paths))
        taken = {id(item) for _, turns in found for turn in turns for item in turn}
        children: defaultdict[str, list[int]] = defaultdict(list)
        for item in items:
            if item.child and id(item) not in taken:
                children[item.child].extend(item.indices)
        waiting += [(child, depth, members) for child, members in children.items()] + inner


def _below(scope: str, within: str) -> str:
    rest = scope[len(within) :].lstrip("/")
    return f"/{rest}" if rest else ""


def _turn_path(within: str, loop: int, turn: int) -> str:
    name = f"{_TURN}{turn}" if loop == 1 else f"{_TURN}{turn} of loop {loop}"
    return f"{within}/{name}" if within else name


def _items(recording: Recording, indices: Sequence[int], scopes: Mapping[int, str], within: str) -> list[_Item]:
    """Return what runs directly in a scope, in order; all that runs in a row in one scope inside is one item."""
    items: list[_Item] = []
    run: list[int] = []
    child = ""
    for index in indices:
        below = _below(scopes[index], within).split("/")[1:2]
        here = below[0] if below else ""
        if run and here != child:
            items.append(_run(recording, run, within, child))
            run = []
        child = here
        if here:
            run.append(index)
        else:
            a = recording.applications[index]
            place = () if a.place is None else (a.place,)
            items.append(_Item((a.op, a.place, a.cause is None), place, (index,)))
    if run:
        items.append(_run(recording, run, within, child))
    return items


def _run(recording: Recording, indices: list[int], within: str, child: str) -> _Item:
    ran = [recording.applications[index] for index in indices]
    places = tuple(a.place for a in ran if a.place is not None)
    kind = (pattern(child), tuple((a.op, a.place) for a in ran))
    return _Item(kind, places, tuple(indices), f"{within}/{child}" if within else child)


def _loops_among(recording: Recording, items: Sequence[_Item]) -> Iterator[tuple[str, list[list[_Item]]]]:
    """Yield the label and the iterations of each loop in what a scope runs."""
    at = 0
    for header, start, lengths in uneven(items, recording.sources, FEWEST_TURNS):
        yield from _repeated(recording, items[at:start])
        ends = [*accumulate(lengths, initial=start)]
        turns = [list(items[first:end]) for first, end in pairwise(ends)]
        if sum(len(item.indices) for turn in turns for item in turn) >= FEWEST_OPS:
            yield header, turns
        at = ends[-1]
    yield from _repeated(recording, items[at:])


def _repeated(recording: Recording, items: Sequence[_Item]) -> Iterator[tuple[str, list[list[_Item]]]]:
    """Yield those loops whose iterations are the same ops."""
    for start, end, period in repeats([item.kind for item in items], FEWEST_TURNS):
        # Without its head, the first iteration of a loop may lack ops: `h = x[0] ...` before it looks like its end.
        shift = _first_of_turn(items[start:end], period)
        rounds = (end - start - shift) // period
        turns = [list(items[at : at + period]) for at in range(start + shift, start + shift + rounds * period, period)]
        ops = sum(len(item.indices) for turn in turns for item in turn)
        header, keyword = _header(recording, turns[0]) if turns else ("", "")
        fewest = FEWEST_TURNS if keyword in ("for", "while") else FEWEST_CALLS
        if rounds < fewest or ops < FEWEST_OPS or _is_one_scope(turns):
            continue
        yield header or _line_of(recording, turns[0]), turns


def _first_of_turn(items: Sequence[_Item], period: int) -> int:
    """Return how many items precede the first whole iteration: it begins on the topmost line."""
    tops = [min((place[1] for place in item.places), default=0) for item in items[:period]]
    files = {place[0] for item in items[:period] for place in item.places}
    return tops.index(min(tops)) if len(files) == 1 and tops.index(min(tops)) + period <= len(items) else 0


def _is_one_scope(turns: Sequence[Sequence[_Item]]) -> bool:
    """Return whether the iterations have scopes already, so that the scopes are the loop."""
    return all(len(turn) == 1 and turn[0].child for turn in turns)


def _header(recording: Recording, turn: Sequence[_Item]) -> tuple[str, str]:
    """Return what a loop is called by the line that begins it, and the keyword of that line; or twice nothing."""
    places = {place for item in turn for place in item.places}
    if len({file for file, _ in places}) != 1:
        return "", ""
    file = next(iter(places))[0]
    lines = recording.sources.get(file, {})
    own = [lines.get(line, "") for _, line in places]
    indent = min(len(line) - len(line.lstrip()) for line in own)
    top = min(line for _, line in places)
    for number in sorted((n for n in lines if n < top), reverse=True):
        text = lines[number]
        match = _HEADER.match(text.lstrip())
        if match and len(text) - len(text.lstrip()) < indent:
            keyword = match[1]
            return (match[2] or "" if keyword == "def" else text.strip().removesuffix(":")), keyword
    return "", ""


def _line_of(recording: Recording, turn: Sequence[_Item]) -> str:
    places = [place for item in turn for place in item.places]
    return recording.line(places[0]) if places else "repeated ops"


# --- the recording with the new scopes ------------------------------------------------------------------------------


def renamed(recording: Recording, scopes: Mapping[int, str]) -> Recording:
    """Return the recording with new scopes for its ops, and for the leaves that only one iteration uses."""
    applications = tuple(
        replace(a, scope=scopes[a.index]) if scopes.get(a.index, a.scope) != a.scope else a
        for a in recording.applications
    )
    used: defaultdict[int, set[str]] = defaultdict(set)
    for index, scope in scopes.items():
        a = applications[index]
        for tensor in (*a.inputs, *a.outputs):
            used[tensor].add(scope)
    tensors = dict(recording.tensors)
    for key, record in recording.tensors.items():
        homes = used.get(key, ())
        # A named leaf is the start of what a loop carries on, and stays in sight.
        if len(homes) == 1 and (record.application is not None or not record.name):
            home = next(iter(homes))
            if home != record.scope and inside(home, record.scope):
                tensors[key] = replace(record, scope=home)
    return replace(recording, applications=applications, tensors=tensors)
