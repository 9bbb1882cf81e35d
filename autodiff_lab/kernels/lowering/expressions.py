"""Expressions: names, constants, operators, comparisons, choices, parts of arrays.

What Python knows while code is written stays a value of Python's: functions, dtypes, integers.  It becomes an
instruction's operand only where something is computed with it.
"""

from __future__ import annotations

import ast
import builtins
import operator
from collections.abc import Callable
from typing import Any

from llvmlite import ir

from autodiff_lab.kernels.lowering.arithmetic import Arithmetic, unified
from autodiff_lab.kernels.lowering.calls import attribute
from autodiff_lab.kernels.lowering.kinds import BOOL, INT1, INT64, LONG, Untranslatable
from autodiff_lab.kernels.lowering.values import Array, Number, alike, lifted, long, number, parts, with_parts

_KNOWN: dict[Any, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.LShift: operator.lshift,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
}  # fmt: skip


class Expressions:
    """Writes expressions at the place of a builder; what calls do is left to a subclass.

    Parameters
    ----------
    builder : llvmlite.ir.IRBuilder
        Stands where they are written.
    wraps : bool
        Whether indices may count from the end, and slices reach beyond it, as in Python.
    """

    def __init__(self, builder: Any, *, wraps: bool) -> None:
        self.b, self.wraps = builder, wraps
        self.a = Arithmetic(builder)

    def named(self, name: str) -> Any:
        """Return the value of a name."""
        raise NotImplementedError

    def called(self, node: ast.Call) -> Any:
        """Write a call; return its result."""
        raise NotImplementedError

    def value(self, node: ast.expr) -> Any:
        """Write an expression; return its value.

        Raises
        ------
        Untranslatable
            If it is not in the subset.
        """
        write = getattr(self, f"_value_of_{type(node).__name__}", None)
        if write is None:
            raise Untranslatable(f"the expression {ast.unparse(node)}")
        return write(node)

    def _value_of_Constant(self, node: ast.Constant) -> Any:
        return node.value

    def _value_of_Name(self, node: ast.Name) -> Any:
        return self.named(node.id)

    def _value_of_Tuple(self, node: ast.Tuple) -> Any:
        return tuple([self.value(one) for one in node.elts])

    def _value_of_Call(self, node: ast.Call) -> Any:
        return self.called(node)

    def _value_of_Attribute(self, node: ast.Attribute) -> Any:
        return attribute(self.a, self.value(node.value), node.attr)

    def _value_of_Subscript(self, node: ast.Subscript) -> Any:
        return self.part(self.value(node.value), node.slice)

    def _value_of_BinOp(self, node: ast.BinOp) -> Any:
        return self.binary(node.op, self.value(node.left), self.value(node.right))

    def _value_of_IfExp(self, node: ast.IfExp) -> Any:
        return self._chosen(self.bit(node.test), lambda: self.value(node.body), lambda: self.value(node.orelse))

    def binary(self, op: ast.operator, x: Any, y: Any) -> Any:
        """Write an operator; integers of Python's are computed at once."""
        if type(x) is type(y) is int and type(op) in _KNOWN:
            return _KNOWN[type(op)](x, y)
        return self.a.binary(op, number(x), number(y))

    def _value_of_UnaryOp(self, node: ast.UnaryOp) -> Any:
        op, x = node.op, self.value(node.operand)
        if isinstance(op, ast.Not):
            return Number(BOOL, self.b.not_(self.a.truth(number(x))))
        if type(x) in (int, float) and isinstance(op, ast.USub):
            return -x
        if isinstance(op, ast.UAdd):
            return x
        return (self.a.negative if isinstance(op, ast.USub) else self.a.inverted)(number(x))

    def bit(self, node: ast.expr) -> Any:
        """Write a condition; return one bit."""
        return self.a.truth(number(self.value(node)))

    def _value_of_Compare(self, node: ast.Compare) -> Number:
        left, made = self.value(node.left), None
        for op, other in zip(node.ops, node.comparators, strict=True):
            right = self.value(other)
            one = self.a.compare(op, number(left), number(right))
            made, left = one if made is None else self.b.and_(made, one), right
        return Number(BOOL, made)

    def _value_of_BoolOp(self, node: ast.BoolOp) -> Number:
        """Write ``and`` or ``or`` of conditions, the later ones only where they decide."""
        op, values = node.op, node.values
        bit = self.bit(values[0])
        for one in values[1:]:
            decided = Number(BOOL, INT1(isinstance(op, ast.Or)))
            other = self._condition(one)
            chosen = (other, lambda decided=decided: decided)
            bit = self._chosen(bit, *(chosen if isinstance(op, ast.And) else chosen[::-1])).value
        return Number(BOOL, bit)

    def _condition(self, node: ast.expr) -> Callable[[], Number]:
        return lambda: Number(BOOL, self.bit(node))

    def _chosen(self, bit: Any, yes: Callable[[], Any], no: Callable[[], Any]) -> Any:
        """Write two branches, and return the value of the one that is taken."""
        b = self.b
        blocks = [b.append_basic_block() for _ in range(3)]
        b.cbranch(bit, *blocks[:2])
        values: list[Any] = []
        ends: list[Any] = []
        for block, write in zip(blocks, (yes, no), strict=False):
            b.position_at_end(block)
            values.append(lifted(write()))
            ends.append(b.block)
        if isinstance(values[0], Number) and isinstance(values[1], Number):
            dtype = unified(values[0].dtype, values[1].dtype)
            for n, end in enumerate(ends):
                b.position_at_end(end)
                values[n] = self.a.cast(values[n], dtype)
        if not alike(*values):
            raise Untranslatable("a choice between values of two kinds")
        for end in ends:
            b.position_at_end(end)
            b.branch(blocks[2])
        b.position_at_end(blocks[2])
        merged: list[Any] = []
        for pair in zip(*map(parts, values), strict=True):
            phi = b.phi(pair[0].type)
            for one, end in zip(pair, ends, strict=True):
                phi.add_incoming(one, end)
            merged.append(phi)
        return with_parts(values[0], merged)

    # --- parts of arrays ---------------------------------------------------------------------------------------------

    def part(self, of: Any, index: ast.expr) -> Any:
        """Write ``of[index]``; return a number, or an array where axes are left."""
        if not isinstance(of, Array):
            key = self.value(index)
            if isinstance(key, Number):
                raise Untranslatable(f"an element of {type(of).__name__} by a number that is computed")
            return of[key]
        view = self.view(of, index)
        return view if view.shape else self.a.loaded(view.data, of.dtype)

    def view(self, of: Any, index: ast.expr) -> Array:
        """Return a part of an array, with no axes if it is one element.

        Raises
        ------
        Untranslatable
            If its elements do not lie side by side.
        """
        nodes = index.elts if isinstance(index, ast.Tuple) else [index]
        if not isinstance(of, Array) or len(nodes) > len(of.shape):
            raise Untranslatable(f"the part [{ast.unparse(index)}]")
        at: Any = None
        kept: list[Any] = []
        for node, length in zip(nodes, of.shape, strict=False):
            if kept:
                raise Untranslatable(f"the part [{ast.unparse(index)}]")
            if isinstance(node, ast.Slice):
                here, size = self._ends(node, length)
                kept.append(size)
            else:
                here = self._index(node, length)
            at = here if at is None else self.b.add(self.b.mul(at, length), here)
        rest = of.shape[len(nodes) :]
        for length in rest:
            at = self.b.mul(at, length)
        shape = (*kept, *rest)
        return Array(of.dtype, self.b.gep(of.data, [self._hidden(at) if shape else at], inbounds=True), shape)

    def _index(self, node: ast.expr, length: Any) -> Any:
        key = self.value(node)
        if type(key) is int:
            return long(key) if key >= 0 else self.b.add(length, long(key))
        key = number(key)
        if key.dtype.kind not in "iu":
            raise Untranslatable(f"the index {ast.unparse(node)}")
        at = self.a.cast(key, LONG).value
        return self._from_the_end(at, length) if self.wraps and key.dtype.kind == "i" else at

    def _from_the_end(self, at: Any, length: Any) -> Any:
        return self.b.select(self._below(at), self.b.add(at, length), at)

    def _below(self, at: Any) -> Any:
        return self.b.icmp_signed("<", at, long(0))

    def _ends(self, node: ast.Slice, length: Any) -> tuple[Any, Any]:
        """Return where a slice begins, and how long it is."""
        if node.step is not None:
            raise Untranslatable(f"the slice {ast.unparse(node)}")
        start = self._end(node.lower, length) if node.lower else long(0)
        stop = self._end(node.upper, length) if node.upper else length
        size = self.b.sub(stop, start) if node.lower else stop
        return start, self.b.select(self._below(size), long(0), size) if self.wraps and node.lower else size

    def _end(self, node: ast.expr, length: Any) -> Any:
        """Return an end of a slice, inside the array."""
        at = self._index(node, length)
        if not self.wraps or (isinstance(at, ir.Constant) and at.constant == 0):
            return at
        at = self.b.select(self._below(at), long(0), at)
        return self.b.select(self.b.icmp_signed(">", at, length), length, at)

    def _hidden(self, offset: Any) -> Any:
        """Return an offset whose origin LLVM does not see.

        Whether two arrays overlap is asked before a loop that is to become vectors.  Where LLVM knows how a row moves
        in a loop around that, it asks once for all of its turns: rows of one array do overlap then, and it gives up.
        """
        if isinstance(offset, ir.Constant):
            return offset
        return self.b.asm(ir.FunctionType(INT64, [INT64]), "", "=r,0", [offset], side_effect=False)


def builtin(name: str) -> Any:
    """Return one of Python's own functions.

    Raises
    ------
    Untranslatable
        If there is none of that name.
    """
    try:
        return getattr(builtins, name)
    except AttributeError:
        raise Untranslatable(f"the name {name}") from None
