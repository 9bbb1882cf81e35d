"""The orders in which a pass may visit the entries of a program: the right one, and those of wrong ideas.

A walk takes the `Books` of a pass and delivers. Where ``books.only`` names a value, only the entry that made it is
visited wrongly.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from autodiff_lab.teaching.books import Books
    from autodiff_lab.teaching.program import Entry

Walk = Callable[["Books"], None]


def backwards(books: Books) -> None:
    """Visit each entry once, last one first: then everything has come in before anything is passed on.

    Examples
    --------
    >>> from autodiff_lab import teaching
    >>> teaching.Engine().walk is backwards
    True
    """
    for entry in reversed(books.entries):
        books.deliver(entry)


def nowhere(books: Books) -> None:
    """Visit nothing; an engine that is wrong at a single value walks backwards."""
    if books.only is not None:
        backwards(books)


def tangents_added(books: Books) -> dict[int, Any]:
    """Return, as the gradient of everything, the tangent that one forward pass with all sources seeded comes to."""
    tangents: dict[int, Any] = {
        key: np.ones(books.program.values[key].shape) for source in books.program.sources for key in source.tensors
    }
    for entry in books.entries:
        tangents.update(zip(entry.outputs, carried(books, entry, tangents), strict=True))
    result = [tangents[key] for key in books.targets if key in tangents]
    return dict.fromkeys({*tangents, *books.program.uses}, sum(result[1:], result[0])) if result else {}


def carried(books: Books, entry: Entry, tangents: dict[int, Any]) -> list[Any]:
    """Return the tangents of an entry's results from those of its inputs."""
    made = [np.zeros(books.program.values[key].shape) for key in entry.outputs]
    for at in entry.need:
        tangent = tangents.get(entry.inputs[at])
        if tangent is not None:
            for k, output in enumerate(entry.outputs):
                made[k] = made[k] + pushed(books, entry, at, output, tangent)[0]
    return made


def pushed(books: Books, entry: Entry, position: int, output: int, tangent: Any) -> tuple[Any, Any]:
    """Return Jacobian times tangent for one input and one result of an entry, and the derivative if it is elementwise.

    The derivatives come from the rule at unit cotangents: a single one where each element of the result depends on its
    own element of the input, otherwise one for each element of the result.
    """
    program, engine = books.program, books.engine
    local = engine.local(books, entry, position)
    shape = program.values[output].shape
    single = len(entry.outputs) == 1
    info = program.recording.ops.get(program.recording.applications[entry.application].op)
    if single and (info is not None and info.elementwise):
        factor = np.asarray(local.unfitted(np.ones(shape)))
        return np.broadcast_to(factor * tangent, shape), factor
    made = np.zeros(shape)
    for at in np.ndindex(shape):
        unit = np.zeros(shape)
        unit[at] = 1.0
        row = local * (unit if single else tuple(_unit(books, key, output, unit) for key in entry.outputs))
        made[at] = np.sum(row * tangent)
    return made, None


def _unit(books: Books, key: int, output: int, unit: Any) -> Any:
    return unit if key == output else np.zeros(books.program.values[key].shape)


def early(flipped: bool = False, all_first: bool = False) -> Walk:
    """Return the walk that passes on at once whatever has come in, and again each time something more does.

    Parameters
    ----------
    flipped : bool
        Whether the last input of an op comes first.
    all_first : bool
        Whether an op delivers to all of its inputs before any of them passes on.
    """

    def walk(books: Books) -> None:
        if books.only is not None:
            _with_partial(books, flipped, True)
            return
        _recursive(books, flipped, all_first, None)

    return walk


def closed(flipped: bool = False, all_first: bool = False) -> Walk:
    """Return the walk that passes on at once whatever has come in, and never again; parameters as for `early`."""

    def walk(books: Books) -> None:
        if books.only is not None:
            _with_partial(books, flipped, False)
            return
        _recursive(books, flipped, all_first, set())

    return walk


def _recursive(books: Books, flipped: bool, all_first: bool, seen: set[int] | None) -> None:
    """Go from the targets to the inputs, depth first; `seen` holds what was visited, None if visits repeat.

    A stack of what is left to do stands for the recursion, which a long chain would exhaust.
    """
    stack: list[tuple[Entry, int | None]] = []

    def visit(tensor: int) -> None:
        entry = books.maker(tensor)
        if entry is None or (seen is not None and entry.application in seen):
            return
        if seen is not None:
            seen.add(entry.application)
        order = entry.need[::-1] if flipped else entry.need
        if all_first:
            for at in order:
                books.deliver(entry, at)
        stack.extend((entry, at) for at in reversed(order))

    for target in books.targets:
        visit(target)
        while stack:
            entry, at = stack.pop()
            if not all_first:
                books.deliver(entry, at)
            visit(entry.inputs[at])  # type: ignore[index]


def _with_partial(books: Books, last: bool, again: bool) -> None:
    """Walk backwards, but let the one entry pass on what came first (or last) alone, and all of it if `again`."""
    for entry in reversed(books.entries):
        wrong = books.only in entry.outputs
        arrived = books.arrivals.get(books.only or 0, ()) if wrong else ()
        if len(arrived) > 1:
            books.deliver(entry, incoming=arrived[-1 if last else 0])
        if len(arrived) < 2 or again:
            books.deliver(entry)
