"""Lowering: rewrite ops of whole rows in lines that a loop can compute, for the back ends that have loops.

A softmax along the last axis becomes the maximum of each row, exponentials, their sum and a quotient, as in its kernel;
it stays whole if no loop is next to it.  A reduction over rows of an array that no loop makes gets a line that merely
reads the array, so that a loop can compute it together with what depends on it.  A product of a column and a row
becomes an elementwise one, a product with a row of ones a sum, and a transposed product of a transposed matrix a
product of matrices that need no transposing.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from typing import Any

import numpy as np

from autodiff_lab.compile.program.program import Line, Program, Value
from autodiff_lab.compile.program.regions import REDUCTIONS, SHORTEST_ROW, WIDE, fusible, reduced, too_long
from autodiff_lab.compile.program.rewriting import one_value
from autodiff_lab.engine.op import REGISTRY

_FLOATS = ("float32", "float64")


def lowered(program: Program) -> Program:
    """Return the program in smaller lines, with the same results."""
    return _Lowering(program).run()


class _Lowering:
    """Goes through the lines and rewrites them."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.values = dict(program.values)
        self.fresh = itertools.count(1 + max(self.values, default=0))
        self.lowered = replace(program, values=self.values)
        self.lines: list[Line] = []
        self.fused: set[int] = set()  # values that a loop may make
        self.taken_up = {
            i for line in program.lines if fusible(line, program) or line.op.name in _LOWERED for i in line.ins
        }
        self.readers: dict[int, int] = {}  # array -> the value of the line that reads it
        self.turned: dict[int, Line] = {}  # products that are only needed transposed

    def run(self) -> Program:
        """Return the rewritten program."""
        for line in self.program.lines:
            made = _LOWERED.get(line.op.name)
            if line.op.name == "matmul" and self.program.memory is None:
                self._product(line)
            elif line.op.name == "transpose" and line.ins[0] in self.turned:
                self._turned_product(line)
            elif made is not None and self._rows_are_long(line) and self._has_company(line):
                made(self, line)
            elif line.op.name in REDUCTIONS and (self._of_rows(line) or self._is_small(line)):
                self._keep(line._replace(ins=(self._read(line.ins[0], line),)))
            else:
                self._keep(line)
        return replace(self.program, lines=tuple(self.lines), values=self.values)

    def _keep(self, line: Line) -> None:
        self.lines.append(line)
        if fusible(line, self.lowered):
            self.fused.update(line.outs)

    def _rows_are_long(self, line: Line) -> bool:
        """Return whether an op works along the last axis, and rows are long enough for vectors."""
        values = [self.values[i] for i in line.ins]
        shape, dtype = values[-1].shape, values[-1].dtype
        if line.params.get("axis", -1) != -1 or line.params.get("axes", (-1,)) != (-1,) or len(shape) < 2:
            return False
        if too_long(shape, len(shape) - 1, values[-1]):
            return False
        fits = all(v.shape in (shape, (*shape[:-1], 1)) and v.dtype == dtype for v in values)
        return fits and math.prod(shape[:-1]) > 1 and shape[-1] >= SHORTEST_ROW and dtype.name in _FLOATS

    def _has_company(self, line: Line) -> bool:
        """Return whether a loop makes the input or uses the result; otherwise the kernel of the op is as fast."""
        return not self.fused.isdisjoint(line.ins) or line.outs[0] in self.taken_up

    def _of_rows(self, line: Line) -> bool:
        way, axis = reduced(line, self.program)
        shape, dtype = self.values[line.ins[0]].shape, self.values[line.ins[0]].dtype
        if way != "column" or axis is None or too_long(shape, axis, self.values[line.ins[0]]):
            return False
        rows, columns = math.prod(shape[:axis]), math.prod(shape[axis:])
        return rows > 1 and columns >= SHORTEST_ROW and dtype.name in _FLOATS

    def _is_small(self, line: Line) -> bool:
        """Return whether a loop of a few lines is as quick as NumPy, and may run in one call with others."""
        whole, out = self.values[line.ins[0]], self.values[line.outs[0]]
        small = 1 < math.prod(whole.shape) < WIDE and whole.memory is None and whole.dtype == out.dtype
        return small and whole.dtype.name in _FLOATS and reduced(line, self.program)[0] is not None

    def _product(self, line: Line) -> None:
        """Keep a product of matrices, or write what it amounts to."""
        x, y = (self.values[i] for i in line.ins)
        matrices = len(x.shape) == len(y.shape) == 2 and x.dtype == y.dtype and x.dtype.name in _FLOATS
        if not matrices or 0 in x.shape or 0 in y.shape:
            self._keep(line)
        elif x.shape[1] == 1:
            self._end(line, "multiply", *line.ins)
        elif x.shape[0] == 1 and self._are_ones(line.ins[0]) and math.prod(y.shape) < WIDE:
            read = self._read(line.ins[1], line)
            self._keep(line._replace(op=REGISTRY["sum"], ins=(read,), params={"axes": (-2,), "keepdims": True}))
        else:
            users = self.program.users[line.outs[0]]
            left = self.program.made_by.get(line.ins[0])
            alone = len(users) == 1 and users[0].op.name == "transpose" and line.outs[0] not in self.program.outputs
            if alone and left is not None and left.op.name == "transpose":
                self.turned[line.outs[0]] = line
            else:
                self._keep(line)

    def _turned_product(self, line: Line) -> None:
        """Write (xᵀ y)ᵀ as yᵀ x."""
        product = self.turned[line.ins[0]]
        left, y = self.program.made_by[product.ins[0]], product.ins[1]
        right = self.program.made_by.get(y)
        if right is not None and right.op.name == "transpose":
            y = right.ins[0]
        else:
            y = self._add("transpose", (y,), {"perm": (-1, -2)}, self.values[y].shape[::-1], line)
        self._product(line._replace(op=product.op, ins=(y, left.ins[0]), params={}))

    def _are_ones(self, value: int) -> bool:
        found = one_value(self.program.constants[value]) if value in self.program.constants else None
        return found is not None and found == 1

    def _read(self, value: int, line: Line) -> int:
        """Return the value itself if a loop makes it, else that of a line that reads it."""
        if value in self.fused:
            return value
        if value not in self.readers:
            self.readers[value] = self._add("identity", (value,), {}, self.values[value].shape, line)
        return self.readers[value]

    def _add(self, op: str, ins: tuple[int, ...], params: dict[str, Any], shape: tuple[int, ...], of: Line) -> int:
        """Add a line in place of another, and return its value."""
        out = next(self.fresh)
        whole = self.values[of.outs[0]]
        self.values[out] = Value(shape, whole.dtype, "", whole.memory)
        self._keep(Line(REGISTRY[op], ins, params, (out,), of.place, of.cause))
        return out

    def _each(self, line: Line, op: str, *ins: int) -> int:
        """Add an elementwise op, and return its value."""
        return self._add(op, ins, {}, np.broadcast_shapes(*(self.values[i].shape for i in ins)), line)

    def _row(self, line: Line, op: str, value: int) -> int:
        """Add a reduction of each row, and return its value."""
        rows = (*self.values[value].shape[:-1], 1)
        return self._add(op, (value,), {"axes": (-1,), "keepdims": True}, rows, line)

    def _end(self, line: Line, op: str, *ins: int) -> None:
        """Add the elementwise op that makes the result of the line."""
        self._keep(line._replace(op=REGISTRY[op], ins=ins, params={}))

    def softmax(self, line: Line) -> None:
        """Write e^(x - max) / Σ e^(x - max), or its logarithm."""
        x = self._read(line.ins[0], line)
        shifted = self._each(line, "subtract", x, self._row(line, "max", x))
        grown = self._each(line, "exp", shifted)
        total = self._row(line, "sum", grown)
        if line.op.name == "softmax":
            self._end(line, "divide", grown, total)
        else:
            self._end(line, "subtract", shifted, self._each(line, "log", total))

    def softmax_grad(self, line: Line) -> None:
        """Write (g - Σ g·y)·y."""
        g, y = line.ins
        mean = self._row(line, "sum", self._each(line, "multiply", g, y))
        self._end(line, "multiply", self._each(line, "subtract", g, mean), y)

    def log_softmax_grad(self, line: Line) -> None:
        """Write g - e^y·Σ g."""
        g, y = self._read(line.ins[0], line), line.ins[1]
        total = self._row(line, "sum", g)
        self._end(line, "subtract", g, self._each(line, "multiply", self._each(line, "exp", y), total))

    def extreme_grad(self, line: Line) -> None:
        """Write g·[x = best] / n, where n elements equal the best."""
        g, best, x = line.ins
        up, down = self._each(line, "not_below", x, best), self._each(line, "not_below", best, x)
        hit = self._each(line, "multiply", up, down)
        self._end(line, "gate", g, self._each(line, "divide", hit, self._row(line, "sum", hit)))


_LOWERED = {
    "extreme_grad": _Lowering.extreme_grad,
    "softmax": _Lowering.softmax,
    "log_softmax": _Lowering.softmax,
    "softmax_grad": _Lowering.softmax_grad,
    "log_softmax_grad": _Lowering.log_softmax_grad,
}
