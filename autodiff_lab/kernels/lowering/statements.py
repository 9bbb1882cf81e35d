"""Statements: variables, branches and loops, written as blocks of instructions.

A variable whose value, wherever it is read, is that of one assignment is that value (see `sources`).  Any other lies in
memory, which LLVM turns into registers; it has one kind in all of a function.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from autodiff_lab.kernels.lowering.arithmetic import unified
from autodiff_lab.kernels.lowering.calls import attribute
from autodiff_lab.kernels.lowering.expressions import Expressions
from autodiff_lab.kernels.lowering.kinds import INT64, LONG, Untranslatable
from autodiff_lab.kernels.lowering.sources import Source
from autodiff_lab.kernels.lowering.turns import Turns, is_innermost
from autodiff_lab.kernels.lowering.values import Array, Number, Range, alike, lifted, long, number, parts, with_parts

RESULT = "return"
"""The name under which a function's result is kept."""


class Widened(Exception):
    """A variable needs another dtype than that of its first assignment: everything is written again."""


class Variable(NamedTuple):
    """A variable in memory: a value of its kind, where its parts lie, and of which dtype it was at first."""

    like: Any
    places: list[Any]
    first: np.dtype[Any] | None


class Frame:
    """A call that is written out: the function, its variables, and where its returns and its loops lead.

    Of a loop these are the blocks after it and of its next turn, or None if its turns were written one by one.
    """

    def __init__(self, source: Source, leave: Any) -> None:
        self.source, self.leave = source, leave
        self.known: dict[str, Any] = {}
        self.kept: dict[str, Variable] = {}
        self.loops: list[tuple[Any, Any] | None] = []


class Statements(Expressions):
    """Writes statements of the function whose call is written out, the last of `frames`.

    Parameters
    ----------
    builder : llvmlite.ir.IRBuilder
        Stands in a block of a function; its first block takes the variables.
    wide : dict
        Dtypes of variables that were found too narrow when the same was written before; see `Widened`.
    wraps : bool
        Whether indices may count from the end.
    turns : Turns, optional
        Of innermost loops, if their turns are independent.
    """

    def __init__(self, builder: Any, wide: dict[Any, np.dtype[Any]], *, wraps: bool, turns: Turns | None) -> None:
        super().__init__(builder, wraps=wraps)
        self.turns, self.turns_apart = turns, turns
        self.wide = wide
        self.frames: list[Frame] = []

    def alloca(self, kind: Any) -> Any:
        """Make room for a value of a type, in the first block."""
        with self.b.goto_entry_block():
            return self.b.alloca(kind)

    # --- variables ---------------------------------------------------------------------------------------------------

    def read(self, variable: Variable) -> Any:
        """Return the value of a variable in memory."""
        return with_parts(variable.like, [self.b.load(place) for place in variable.places])

    def assign(self, name: str, value: Any) -> None:
        """Give a variable a value."""
        frame = self.frames[-1]
        if name in frame.source.local:
            frame.known[name] = value
            return
        value, variable = lifted(value), frame.kept.get(name)
        first = value.dtype if isinstance(value, Number) else None
        if first is not None and variable is not None and variable.first is not None:
            dtype, first = variable.like.dtype, variable.first
            if (wide := unified(dtype, value.dtype)) != dtype:
                self.wide[id(frame.source), name, first] = wide
                raise Widened
            value = self.a.cast(value, dtype)
        elif first is not None:
            value = self.a.cast(value, self.wide.get((id(frame.source), name, first), first))
        if variable is None:
            variable = frame.kept[name] = Variable(value, [self.alloca(one.type) for one in parts(value)], first)
        elif not alike(variable.like, value):
            raise Untranslatable(f"{name}, which is of two kinds in {frame.source.name}")
        for one, place in zip(parts(value), variable.places, strict=True):
            self.b.store(one, place)

    def _put(self, target: ast.expr, value: Any) -> None:
        """Assign to a name, to an element of an array, or to several of them."""
        match target:
            case ast.Name(id=name):
                self.assign(name, value)
            case ast.Tuple(elts=targets):
                if not isinstance(value, tuple) or len(value) != len(targets):
                    raise Untranslatable(f"the assignment to {ast.unparse(target)}")
                for one, part in zip(targets, value, strict=True):
                    self._put(one, part)
            case ast.Subscript(value=of, slice=index):
                self._set(self.value(of), index, number(value))
            case _:
                raise Untranslatable(f"the assignment to {ast.unparse(target)}")

    def _set(self, array: Any, index: ast.expr, value: Number) -> None:
        """Set an element of an array, or all elements of a part."""
        if not isinstance(array, Array):
            raise Untranslatable(f"the assignment to [{ast.unparse(index)}]")
        part = self.view(array, index)
        if not part.shape:
            self.a.store(value, part.data, array.dtype)
            return
        value = self.a.cast(value, array.dtype)
        whole = _whole(number(attribute(self.a, part, "size")).value)
        self._count(whole, lambda at: self.a.store(value, self.b.gep(part.data, [at], inbounds=True), array.dtype))

    # --- statements --------------------------------------------------------------------------------------------------

    def statements(self, nodes: Sequence[ast.stmt]) -> None:
        """Write statements, up to one that leads elsewhere."""
        for node in nodes:
            if self.b.block.is_terminated:
                return
            write = getattr(self, f"_write_{type(node).__name__}", None)
            if write is None or (getattr(node, "orelse", None) and not isinstance(node, ast.If)):
                raise Untranslatable(f"the statement {ast.unparse(node)}")
            write(node)

    def _write_Assign(self, node: ast.Assign) -> None:
        value = self.value(node.value)
        for target in node.targets:
            self._put(target, value)

    def _write_AugAssign(self, node: ast.AugAssign) -> None:
        target = node.target
        if isinstance(target, ast.Name):
            self.assign(target.id, self.binary(node.op, self.named(target.id), self.value(node.value)))
            return
        place = self.view(self.value(target.value), target.slice) if isinstance(target, ast.Subscript) else None
        if place is None or place.shape:
            raise Untranslatable(f"the assignment to {ast.unparse(target)}")
        added = number(self.value(node.value))
        self.a.store(self.a.binary(node.op, self.a.loaded(place.data, place.dtype), added), place.data, place.dtype)

    def _write_Return(self, node: ast.Return) -> None:
        if node.value is not None:
            self.assign(RESULT, self.value(node.value))
        self.b.branch(self.frames[-1].leave)

    def _write_Break(self, node: ast.Break) -> None:
        self.b.branch(self._leading(node)[0])

    def _write_Continue(self, node: ast.Continue) -> None:
        self.b.branch(self._leading(node)[1])

    def _leading(self, node: ast.stmt) -> tuple[Any, Any]:
        blocks = self.frames[-1].loops[-1]
        if blocks is None:
            raise Untranslatable(f"{ast.unparse(node)} in a loop over a tuple")
        return blocks

    def _write_Expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):
            self.value(node.value)

    def _write_Pass(self, node: ast.Pass) -> None:
        pass

    def _write_If(self, node: ast.If) -> None:
        b, (yes, no, after) = self.b, [self.b.append_basic_block() for _ in range(3)]
        b.cbranch(self.bit(node.test), yes, no)
        for block, nodes in ((yes, node.body), (no, node.orelse)):
            b.position_at_end(block)
            self.statements(nodes)
            if not b.block.is_terminated:
                b.branch(after)
        b.position_at_end(after)

    def _write_For(self, node: ast.For) -> None:
        over = self.value(node.iter)
        if isinstance(over, Range):
            innermost = is_innermost(node)
            if over.independent and innermost and self.turns_apart is None:
                self.turns_apart = Turns(self.b.module)
            turns = (self.turns_apart if over.independent else self.turns) if innermost else None
            self._count(over, lambda at: self._turn(node, Number(LONG, at)), turns)
        elif isinstance(over, Array) and len(over.shape) == 1:
            self._count(_whole(over.shape[0]), lambda at: self._turn(node, self._element(over, at)))
        elif isinstance(over, tuple):
            self.frames[-1].loops.append(None)
            for one in over:
                self._turn(node, one)
            self.frames[-1].loops.pop()
        else:
            raise Untranslatable(f"a loop over {ast.unparse(node.iter)}")

    def _element(self, array: Array, at: Any) -> Number:
        return self.a.loaded(self.b.gep(array.data, [at], inbounds=True), array.dtype)

    def _turn(self, node: ast.For, value: Any) -> None:
        self._put(node.target, value)
        self.statements(node.body)

    def _count(self, over: Range, turn: Callable[[Any], None], turns: Turns | None = None) -> None:
        """Write a loop that counts, with the metadata of independent turns if they are."""
        b, step = self.b, over.step
        begin, (head, body, on, after) = b.block, [b.append_basic_block() for _ in range(4)]
        b.branch(head)
        b.position_at_end(head)
        at = b.phi(INT64)
        at.add_incoming(over.start.value, begin)
        rising, falling = (b.icmp_signed(order, at, over.stop.value) for order in "<>")
        if isinstance(step, int):
            by, goes = long(step), rising if step > 0 else falling
        else:
            by = step.value
            goes = b.select(b.icmp_signed(">", by, long(0)), rising, falling)
        b.cbranch(goes, body, after)
        b.position_at_end(body)
        self.a.group = None if turns is None else turns.group
        self._looping(after, on, lambda: turn(at))
        self.a.group = None
        b.position_at_end(on)
        at.add_incoming(b.add(at, by, flags=("nsw",)), on)
        back = b.branch(head)
        if turns is not None:
            turns.mark(back)
        b.position_at_end(after)

    def _write_While(self, node: ast.While) -> None:
        b, (head, body, after) = self.b, [self.b.append_basic_block() for _ in range(3)]
        b.branch(head)
        b.position_at_end(head)
        b.cbranch(self.bit(node.test), body, after)
        b.position_at_end(body)
        self._looping(after, head, lambda: self.statements(node.body))
        b.position_at_end(after)

    def _looping(self, after: Any, on: Any, write: Callable[[], None]) -> None:
        """Write the body of a loop, from which ``break`` goes to one place and all else to another."""
        loops = self.frames[-1].loops
        loops.append((after, on))
        write()
        loops.pop()
        if not self.b.block.is_terminated:
            self.b.branch(on)


def _whole(length: Any) -> Range:
    return Range(Number(LONG, long(0)), Number(LONG, length), 1)
