"""Nests: statements of a body in loops over elements, fused where they loop over the same shape.

A value that only its own nest reads stays in a register.  A nest has one costly function at most, as more of them keep
the processor from overlapping the work on neighbouring elements; what passes between nests stays in the L1 cache.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from autodiff_lab.compile.loops.narrow import FEW, FEWEST_ROWS
from autodiff_lab.compile.loops.text import FOLD, START, STEP, indented
from autodiff_lab.compile.recurrences.statements import Apply, Each, Literal, Product, Reduce, Statement
from autodiff_lab.compile.recurrences.views import View, whole

MOST_LINES = 60
"""Statements of one nest."""
LONG = 4096
"""Elements from which on a sum is added up in double precision."""


@dataclass(eq=False)
class Nest:
    """Statements over one shape, in order."""

    shape: tuple[int, ...]
    each: list[Each] = field(default_factory=list)
    reductions: list[Reduce] = field(default_factory=list)

    @property
    def statements(self) -> list[Each | Reduce]:
        """All of them."""
        return [*self.each, *self.reductions]

    def takes(self, statement: Each | Reduce) -> bool:
        """Return whether there is room for a statement."""
        if statement.shape != self.shape or len(self.statements) >= MOST_LINES:
            return False
        return not (isinstance(statement, Each) and statement.costly and self._is_costly_beside(statement))

    def _is_costly_beside(self, statement: Each) -> bool:
        """Return whether it has a costly function already; those of one angle share their work."""
        costly = [one for one in self.each if one.costly]
        return any(not (one.angle and statement.angle and one.ins == statement.ins) for one in costly)


Piece = Nest | Product | Apply


class Order:
    """Puts statements into pieces; each value is complete after the last piece that writes it.

    Attributes
    ----------
    pieces : list of Nest, Product or Apply
        In order.
    stored : set of int
        Values made that need memory: something else than their own nest reads them.
    last_read, begun : dict
        By base, the last piece that reads it, and the first that writes it.
    """

    def __init__(self, statements: Iterable[Statement]) -> None:
        self.pieces: list[Piece] = []
        self.stored: set[Any] = set()
        self.last_read: dict[Any, int] = {}
        self.written: dict[Any, int] = {}
        self.begun: dict[Any, int] = {}
        self._inside: dict[View, Nest] = {}  # values and cells of values that a nest holds in registers, by their place
        self._cells: set[View] = set()
        for statement in statements:
            self._take(statement)

    def _take(self, statement: Statement) -> None:
        views = [one for one in statement.ins if isinstance(one, View)]
        at = len(self.pieces)
        if isinstance(statement, (Product, Apply)):
            self.pieces.append(statement)
            self.stored.add(statement.out)
        else:
            least = max([0, *(self.written[i] + 1 for i in statement.after if i in self.written)])
            for view in views:
                least = max(least, self._ready(view, statement.shape))
            fits = (n for n in range(at - 1, least - 1, -1) if self._fits(n, statement, views))
            at = next(fits, at)
            if at == len(self.pieces):
                self.pieces.append(Nest(statement.shape))
            nest: Any = self.pieces[at]
            (nest.each if isinstance(statement, Each) else nest.reductions).append(statement)
            if isinstance(statement, Each) and statement.is_cell and isinstance(statement.out, int):
                self._cells.add(statement.target)
                self._inside[statement.target] = nest
            elif isinstance(statement, Each) and statement.target == whole(statement.out, statement.shape):
                self._inside.setdefault(statement.target, nest)
            else:
                self.stored.add(statement.out)
        for view in views:
            self.last_read[view.base] = max(at, self.last_read.get(view.base, 0))
            if not self.in_register(view, self.pieces[at]):
                self.stored.add(view.base)
        self.written[statement.out] = max(at, self.written.get(statement.out, 0))
        self.begun[statement.out] = min(at, self.begun.get(statement.out, at))

    def _ready(self, view: View, shape: tuple[int, ...]) -> int:
        """Return the first piece that may read a view."""
        if view.base not in self.written:
            return 0
        if view in self._cells:
            return self.pieces.index(self._inside[view])
        here = self.written[view.base]
        return here if self.in_register(view, self.pieces[here]) else here + 1

    def _fits(self, n: int, statement: Each | Reduce, views: list[View]) -> bool:
        """Return whether a statement may join a piece."""
        piece = self.pieces[n]
        if not isinstance(piece, Nest) or not piece.takes(statement):
            return False
        return all(self.written.get(v.base, -1) != n or self.in_register(v, piece) for v in views)

    def in_register(self, view: View, piece: Piece) -> bool:
        """Return whether a piece reads a view from a register."""
        return self._inside.get(view) is piece


class NestWriter:
    """Writes the text of a nest.

    Parameters
    ----------
    nest : Nest
        What to write.
    order : Order
        Where values are kept.
    place : callable
        Returns for a view its flat array and the number of its first element there.
    literal : callable
        Returns the name of a constant.
    length : callable
        Returns the name of a number of turns.  Were it known to the compiler, it would unroll loops, which makes
        compiling twice as long and nothing faster.
    stride : callable
        Returns the text of a stride of a view.
    """

    def __init__(
        self,
        nest: Nest,
        order: Order,
        place: Callable[[View], tuple[str, int]],
        literal: Callable[[Any], str],
        length: Callable[[int], str],
        stride: Callable[[View, int], str],
    ) -> None:
        self.nest, self.order, self.place, self.literal = nest, order, place, literal
        self.length, self.stride = length, stride
        views = [s.target for s in nest.statements]
        views += [v for s in nest.statements for v in s.ins if isinstance(v, View)]
        self.lengths, self.axes = _collapsed(nest.shape, views)
        self.known: dict[View | Literal, str] = {}
        self.made = 0
        self.rows: list[list[str]] = [[] for _ in range(len(self.lengths) + 1)]  # before each loop, in its body
        self.ends: list[list[str]] = [[] for _ in range(len(self.lengths) + 1)]

    def text(self) -> list[str]:
        """Return the loops over elements."""
        if self._is_copy():
            one = self.nest.each[0]
            (goal, at), (source, start) = self.place(one.target), self.place(one.ins[0])  # type: ignore[arg-type]
            count = self.lengths[0]
            return [f"put({goal}[{at} : {at + count}], {source}[{start} : {start + count}])"]
        for reduction in self.nest.reductions:
            self._start(reduction)
        inner: list[str] = []  # after what is read: a value carried on may be overwritten where it was read
        steps: dict[int, list[Reduce]] = {}
        for reduction in self.nest.reductions:
            made = next((n for n, s in enumerate(self.nest.each) if reduction.ins[0] == s.target), -1)
            steps.setdefault(made, []).append(reduction)
        for reduction in steps.get(-1, []):
            self._step(reduction, inner)
        for n, one in enumerate(self.nest.each):
            self._statement(one, inner)
            for reduction in steps.get(n, []):
                self._step(reduction, inner)
        made, last = [*self.rows[-1], *inner, *self.ends[-1]], len(self.lengths) - 1
        if self._is_narrow():
            made = [*self.rows[last], *self._written_out(made), *self.ends[last]]
            last -= 1
        for depth in range(last, -1, -1):
            turns = "unordered" if self._are_independent() else "range"  # of an innermost loop
            head = f"for j{depth} in {turns}({self.length(self.lengths[depth])}):"
            made = [*self.rows[depth], head, *indented(made), *self.ends[depth]]
        return made

    def _is_narrow(self) -> bool:
        """Return whether the innermost loop is written out."""
        *others, last = self.lengths or [0]
        return bool(others) and last <= FEW and others[-1] >= FEWEST_ROWS and self._are_independent(-2)

    def _written_out(self, turn: list[str]) -> list[str]:
        """Return the iterations of a short innermost loop in a row, so that vectors hold those of the next loop."""
        own, made = [name for name in (row.partition(" = ")[0] for row in turn) if name[0] in "rv"], list[str]()
        for k in range(self.lengths[-1]):
            names = {name: f"{name}_{k}" for name in own} | {f"j{len(self.lengths) - 1}": str(k)}
            made += [re.sub(r"\w+", lambda found, to=names: to.get(found[0], found[0]), row) for row in turn]
        return made

    def _are_independent(self, axis: int = -1) -> bool:
        """Return whether each turn of a loop adds to elements of its own, where it adds to memory."""
        adding = [one for one in self.nest.reductions if self._depth(one) is None]
        return all(self._along(one.target)[axis] for one in adding)

    def _is_copy(self) -> bool:
        """Return whether the nest copies one contiguous array."""
        if len(self.nest.statements) != 1 or not self.nest.each or len(self.lengths) != 1:
            return False
        one = self.nest.each[0]
        views = [one.target, *one.ins]
        return one.text == "{0}" and all(isinstance(v, View) and self._along(v) == [1] for v in views)

    def _statement(self, one: Each, inner: list[str]) -> None:
        given = [self._operand(n, one.ins[n], one.text) for n in range(len(one.ins))]
        self.made += 1
        name = f"v{self.made}"
        inner.append(f"{name} = {one.text.format(*given)}")
        if one.angle:
            inner.append(f"far |= int32(is_far({given[0]}))")
        if one.out in self.order.stored:
            inner.append(f"{self._element(one.target)} = {name}")
        if self.order.in_register(one.target, self.nest):
            self.known[one.target] = name

    def _operand(self, n: int, view: View | Literal, text: str) -> str:
        if f"{{{n}}}" not in text:
            return ""
        if isinstance(view, Literal):
            return self.literal(view.number)
        name = self.known.get(view)
        if name is None:
            strides = self._along(view)
            depth = max([0, *(k + 1 for k, s in enumerate(strides) if s)])
            name = self.known[view] = f"r{len(self.known)}"
            self.rows[depth].append(f"{name} = {self._element(view)}")
        return name

    def _along(self, view: View) -> list[int]:
        return [view.strides[k] for k in self.axes]

    def _element(self, view: View) -> str:
        """Return the expression of an element of a view."""
        base, offset = self.place(view)
        along = [(k, s) for k, s in enumerate(self._along(view)) if s]
        terms = [f"j{k}" if s == 1 else f"j{k} * {self.stride(view, s)}" for k, s in along]
        return f"{base}[{' + '.join([*terms, *([str(offset)] if offset or not terms else [])])}]"

    def _depth(self, reduction: Reduce) -> int | None:
        """Return the loop before which a register begins to add up, None if the reduced axes are not the last ones."""
        reduced = [k for k, s in enumerate(self._along(reduction.target)) if not s]
        first = len(self.lengths) - len(reduced)
        return first if reduced == list(range(first, len(self.lengths))) else None

    def _start(self, reduction: Reduce) -> None:
        """Write what stands before the loops: a register, or memory that is filled."""
        depth, start = self._depth(reduction), START[reduction.how]
        if depth is not None:
            many = math.prod(self.lengths[depth:]) > LONG and reduction.how in ("sum", "prod")
            self.rows[depth].append(f"t{reduction.out} = {f'float64({start})' if many else start}")
            self.ends[depth].append(f"{self._element(reduction.target)} = number(t{reduction.out})")
            return
        base, offset = self.place(reduction.target)
        size = math.prod(n for n, s in zip(self.nest.shape, reduction.target.strides, strict=True) if s)
        self.rows[0] += [f"for e in range({self.length(size)}):", f"    {base}[e + {offset}] = {start}"]

    def _step(self, reduction: Reduce, inner: list[str]) -> None:
        value = self._operand(0, reduction.ins[0], "{0}")
        if self._depth(reduction) is None:
            target = self._element(reduction.target)
            inner.append(f"{target} = {FOLD[reduction.how].format(target, value)}")
        else:
            name = f"t{reduction.out}"
            inner.append(f"{name} = {STEP[reduction.how].format(name, value)}")


def _collapsed(shape: tuple[int, ...], views: list[View]) -> tuple[list[int], list[int]]:
    """Return the lengths of as few loops as possible, and the axis whose stride counts in each."""
    lengths: list[int] = []
    axes: list[int] = []
    for k in range(len(shape) - 1, -1, -1):
        if shape[k] == 1:
            continue
        if axes and all(v.strides[k] == v.strides[axes[0]] * lengths[0] for v in views):
            lengths[0] *= shape[k]
        else:
            lengths.insert(0, shape[k])
            axes.insert(0, k)
    return lengths, axes
