"""Loops whose iterations differ: where an ``if`` in the body leaves ops out, nothing repeats itself op by op.

They are found by the user's lines: a stretch of ops inside one ``for`` or ``while`` is divided wherever the first line
of its body runs again.
"""

from __future__ import annotations

import math
import re
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Mapping, Sequence

    from autodiff_lab.events import Place

_LOOP = re.compile(r"(?:async\s+)?(for|while)\b")
_DEF = re.compile(r"(?:async\s+)?(def|class)\b")


class Uneven(NamedTuple):
    """A loop among items: its line, the position of its first item, and how many items each iteration has."""

    header: str
    start: int
    lengths: tuple[int, ...]


def uneven(items: Sequence[Any], sources: Mapping[str, Mapping[int, str]], fewest: int) -> Iterator[Uneven]:
    """Yield the loops of at least `fewest` iterations among items, the outermost ones, of which some iterations differ.

    Parameters
    ----------
    items : sequence
        In the order in which they ran, each with its `kind`, which iterations have in common, and its `places`.
    sources : mapping
        The lines that are known of each file, by their numbers.
    fewest : int
        Iterations.
    """
    around = _Around(sources)
    chains = [around.all(item.places) for item in items]
    waiting = [(0, len(items), 0)]
    found: list[Uneven] = []
    while waiting:
        at, end, depth = waiting.pop()
        for loop, group in groupby(chains[at:end], lambda chain: chain[depth : depth + 1]):  # noqa: B023 - used at once
            first, last = at, at + len(list(group))
            at = last
            if not loop:
                continue
            lengths = _iterations(items[first:last], chains[first:last], depth)
            kinds = {tuple(item.kind for item in items[a:b]) for a, b in _spans(first, lengths)}
            if len(lengths) < fewest:
                waiting.append((first, last, depth + 1))
            elif len(kinds) > 1:
                found.append(Uneven(around.header(loop[0]), first, lengths))
    yield from sorted(found, key=lambda one: one.start)


class _Around:
    """Finds the loops around lines, by their indentation."""

    def __init__(self, sources: Mapping[str, Mapping[int, str]]) -> None:
        self._sources = sources
        self._known: dict[Place, tuple[Place, ...]] = {}

    def all(self, places: Sequence[Place]) -> tuple[Place, ...]:
        """Return file and line of the loops around all places, from the outermost; nothing if these differ."""
        for place in places:
            if place not in self._known:
                self._known[place] = self._of(place)
        chains = {self._known[place] for place in places}
        return chains.pop() if len(chains) == 1 else ()

    def header(self, loop: Place) -> str:
        """Return the line that begins a loop."""
        return self._sources[loop[0]][loop[1]].strip().removesuffix(":")

    def _of(self, place: Place) -> tuple[Place, ...]:
        file, number = place
        lines = self._sources.get(file, {})
        own = lines.get(number, "")
        found = [place] if own.lstrip().startswith("while") else []  # what it tests is part of an iteration
        indent = _indent(own)
        for above in sorted((n for n in lines if n < number), reverse=True):
            text = lines[above]
            if text.strip() and _indent(text) < indent:
                indent = _indent(text)
                if _DEF.match(text.lstrip()):
                    break
                if _LOOP.match(text.lstrip()):
                    found.append((file, above))
        return tuple(reversed(found))


def _iterations(items: Sequence[Any], chains: Sequence[tuple[Place, ...]], depth: int) -> tuple[int, ...]:
    """Return how many items each iteration has, by the ops of the topmost line; nothing if these do not tell."""
    top = min(item.places[0][1] for item in items)
    on_top = [item.places[0][1] == top for item in items]
    if any(first and len(chain) > depth + 1 for first, chain in zip(on_top, chains, strict=True)):
        return ()  # the body begins with a loop, whose iterations would be taken for those of this one
    pairs = groupby(zip(on_top, (item.kind for item in items), strict=True), lambda pair: pair[0])
    runs = [(first, [kind for _, kind in group]) for first, group in pairs]
    heads = [group for first, group in runs if first]
    head = _part(heads)
    if not on_top[0] or any(group != head * (len(group) // len(head)) for group in heads):
        return ()
    lengths: list[int] = []
    for first, group in runs:
        if first:
            lengths += [len(head)] * (len(group) // len(head))
        else:
            lengths[-1] += len(group)
    if on_top[-1] and chains[0][depth][1] == top:
        lengths.pop()  # the last test of a `while`
    return tuple(lengths)


def _part(heads: Sequence[list[Hashable]]) -> list[Hashable]:
    """Return what one iteration runs on the first line, of which `heads` hold one iteration or several in a row.

    ``sin(sin(h))`` repeats itself within an iteration: of one op again and again, it is what the lengths share.
    """
    length = math.gcd(*map(len, heads))
    part = heads[0][:length]
    roots = (n for n in range(1, length) if length % n == 0 and part == part[:n] * (length // n))
    return next((part[:n] for n in roots if len(set(part[:n])) > 1), part)


def _spans(start: int, lengths: Sequence[int]) -> Iterator[tuple[int, int]]:
    for length in lengths:
        yield start, start + length
        start += length


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
