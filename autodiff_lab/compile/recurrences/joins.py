"""Joins that are never made: a reader of parts that were put together reads each part where it lies.

A roll is two slices that are joined the other way round, so a stencil on a periodic grid wrote four arrays in each turn
and read them once.  The statements that read joins are cut where the parts of any join meet, into cells, and in a cell
each join is a view of one part.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Container, Iterable, Mapping
from typing import Any, NamedTuple

from autodiff_lab.compile.recurrences.statements import Each, Literal, Statement
from autodiff_lab.compile.recurrences.views import View, strides_of, whole

LEAST = 1024
"""Elements from which on the loops of a dozen cells cost less than the arrays that they spare."""
MOST_CELLS = 9
LARGEST = 0.5
"""The part of all elements that the largest cell has at least."""
Shape = tuple[int, ...]


class _Box(NamedTuple):
    """A part of an array: where it begins along each axis, and its lengths."""

    start: Shape
    shape: Shape

    def holds(self, other: _Box) -> bool:
        """Return whether another box lies inside."""
        along = zip(self.start, self.shape, other.start, other.shape, strict=True)
        return all(a <= b and b + n <= a + m for a, m, b, n in along)

    def of(self, view: View) -> View:
        """Return the part of a view of the whole array."""
        offset = view.offset + sum(a * s for a, s in zip(self.start, view.strides, strict=True))
        return view._replace(shape=self.shape, offset=offset)


Parts = list[tuple[_Box, View | Literal]]


def without_joins(statements: list[Statement], kept: Container[Any]) -> list[Statement]:
    """Return statements that compute the same without joins that only other statements for each element read.

    Parameters
    ----------
    statements : list
        Of one turn.
    kept : container
        Values made that are read elsewhere.
    """
    joins = _joins(statements, kept)
    for shape in {shape for shape, _ in joins.values()}:
        mine = {base: parts for base, (its, parts) in joins.items() if its == shape}
        cells = _cells(shape, mine.values())
        if cells is not None:
            statements = _cut(statements, shape, cells, mine)
    return statements


def _joins(statements: list[Statement], kept: Container[Any]) -> dict[Any, tuple[Shape, Parts]]:
    """Return what is put together of parts and read as a whole, with its parts."""
    writers: dict[Any, list[Statement]] = {}
    readers: dict[Any, list[tuple[Statement, View]]] = {}
    for one in statements:
        writers.setdefault(one.out, []).append(one)
        for view in one.ins:
            if isinstance(view, View):
                readers.setdefault(view.base, []).append((one, view))
    found: dict[Any, tuple[Shape, Parts]] = {}
    for base, mine in writers.items():
        if len(mine) < 2 or base not in readers or base in kept:
            continue
        shape = readers[base][0][1].shape
        parts = _parts(mine, shape) if 1 not in shape and math.prod(shape) >= LEAST else None
        as_whole = all(isinstance(one, Each) and view == whole(base, shape) for one, view in readers[base])
        if parts is not None and as_whole:
            found[base] = shape, parts
    nested = {base for base, (_, parts) in found.items() for _, part in parts if getattr(part, "base", None) in found}
    return {base: one for base, one in found.items() if base not in nested}


def _parts(writers: list[Statement], shape: Shape) -> Parts | None:
    """Return what each part of an array is, None unless all are copied and no element is written twice."""
    parts: Parts = []
    for one in writers:
        if not isinstance(one, Each) or one.text != "{0}" or one.after or one.target.moves:
            return None
        box = _box(one.target, shape)
        if box is None:
            return None
        parts.append((box, one.ins[0]))
    return parts if sum(math.prod(box.shape) for box, _ in parts) == math.prod(shape) else None


def _box(target: View, shape: Shape) -> _Box | None:
    """Return which part of an array of a shape a view is."""
    start: list[int] = []
    left = target.offset
    for stride in strides_of(shape):
        start.append(left // stride)
        left %= stride
    box = _Box(tuple(start), target.shape)
    same = len(target.shape) == len(shape) and box.of(whole(target.base, shape)).offset == target.offset
    strides = zip(target.shape, target.strides, strides_of(shape), strict=False)
    return box if same and all(n == 1 or a == b for n, a, b in strides) else None


def _cells(shape: Shape, joins: Iterable[Parts]) -> list[_Box] | None:
    """Return the cells between the parts of all joins, None if they are too many or too small."""
    ends: list[set[int]] = [{0, n} for n in shape]
    for box, _ in itertools.chain.from_iterable(joins):
        for axis, (a, n) in enumerate(zip(box.start, box.shape, strict=True)):
            ends[axis] |= {a, a + n}
    spans = [list(itertools.pairwise(sorted(one))) for one in ends]
    cells = [_Box(tuple(a for a, _ in pick), tuple(b - a for a, b in pick)) for pick in itertools.product(*spans)]
    largest = max(math.prod(cell.shape) for cell in cells)
    return cells if 1 < len(cells) <= MOST_CELLS and largest >= LARGEST * math.prod(shape) else None


def _cut(statements: list[Statement], shape: Shape, cells: list[_Box], joins: dict[Any, Parts]) -> list[Statement]:
    """Cut the statements that read joins, and those that pass whole values to them or take them from them."""
    writers = Counter(one.out for one in statements)
    chain = _chain(statements, shape, joins, writers)
    made: list[Statement] = []
    for one in statements:
        if one.out in joins:
            continue
        if not isinstance(one, Each) or id(one) not in chain:
            made.append(one)
            continue
        for cell in cells:
            ins = tuple([_part(view, cell, joins) for view in one.ins])
            made.append(one._replace(ins=ins, target=cell.of(one.target), is_cell=writers[one.out] == 1))
    return made


def _part(view: View | Literal, cell: _Box, joins: dict[Any, Parts]) -> View | Literal:
    if isinstance(view, Literal):
        return view
    if view.base not in joins:
        return cell.of(view)
    box, part = next((box, part) for box, part in joins[view.base] if box.holds(cell))
    inside = _Box(tuple(a - b for a, b in zip(cell.start, box.start, strict=True)), cell.shape)
    return part if isinstance(part, Literal) else inside.of(part)


def _chain(statements: list[Statement], shape: Shape, joins: dict[Any, Parts], writers: Mapping[Any, int]) -> set[int]:
    """Return which statements are cut, by their identities; one of several writers passes no whole value on."""
    each = [one for one in statements if isinstance(one, Each) and one.shape == shape and one.out not in joins]
    each = [one for one in each if not one.after]
    makers = {one.target: one for one in each if writers[one.out] == 1}
    chain = {id(one) for one in each if any(isinstance(v, View) and v.base in joins for v in one.ins)}
    grown = True
    while grown:
        grown = False
        for one in each:
            for view in one.ins:
                maker = makers.get(view) if isinstance(view, View) else None
                if maker is not None and (id(one) in chain) != (id(maker) in chain):
                    chain |= {id(one), id(maker)}
                    grown = True
    return chain
