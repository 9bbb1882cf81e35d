"""Levels of a CUDA kernel: what a thread computes of one element, from what it reads to what it stores or adds up.

A row whose sum is needed is gone over again once the sum is known.  What the second visit needs of the first it makes
anew, from memory that the caches still hold, unless it was stored: threads have no room of their own to keep a row in.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from autodiff_lab.compile.parts import Parts
from autodiff_lab.compile.program import Line
from autodiff_lab.compile.regions import Region


@dataclass
class Visit:
    """One visit of all elements of a row, or of all elements.

    Attributes
    ----------
    row_lines : list of Line
        Numbers of the row that are computed before it.
    lines : list of Line
        What is computed of each element.
    loads, stored : list of int
        Values of elements that are read and written.
    given : list of int
        What else the lines take: numbers of the column, of the row, and for all.
    reductions : list of Line
        What is folded over the elements.
    """

    row_lines: list[Line]
    lines: list[Line] = field(default_factory=list)
    loads: list[int] = field(default_factory=list)
    given: list[int] = field(default_factory=list)
    stored: list[int] = field(default_factory=list)
    reductions: list[Line] = field(default_factory=list)

    @property
    def made(self) -> list[int]:
        """Values of an element that leave its function: what is stored, and what is folded."""
        return list(dict.fromkeys([*self.stored, *(line.ins[0] for line in self.reductions)]))


def visits_of(region: Region, parts: Parts) -> list[Visit]:
    """What happens at each level of a region."""
    home = {line.outs[0]: n for n, level in enumerate(parts.levels) for lines in level.passes for line in lines}
    full = {line.outs[0]: line for line in region.lines}
    made: list[Visit] = []
    for n, level in enumerate(parts.levels):
        visit = Visit(level.row_lines, reductions=level.reductions)
        visit.stored = [i for i in parts.stored if home[i] == n]
        known = {i for i in parts.stored if home[i] < n}
        _close(visit, full, known, parts)
        made.append(visit)
    return made


def _close(visit: Visit, full: dict[int, Line], known: set[int], parts: Parts) -> None:
    """Find the lines that lead to what a visit makes, and what they read."""
    needed, read, open_ = set[int](), dict[int, None](), list(visit.made)
    while open_:
        i = open_.pop()
        if i in needed:
            continue
        if i not in full or i in known:
            read[i] = None
            continue
        needed.add(i)
        text = parts.texts[i]
        open_ += [one for n, one in enumerate(full[i].ins) if f"{{{n}}}" in text]
    visit.lines = [line for i, line in full.items() if i in needed]
    elements = known.union(parts.whole)
    order = {i: n for n, i in enumerate([*parts.whole, *parts.row, *parts.column, *parts.single])}
    found = sorted(read, key=lambda i: order.get(i, len(order)))
    visit.loads = [i for i in found if i in elements]
    visit.given = [i for i in found if i not in elements and i not in parts.constants]
