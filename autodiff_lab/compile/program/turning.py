"""Turning: products of matrices whose results are read along their columns.

The gradient of an einsum is a product of matrices with its axes put back in order, so that what reads it goes through
memory in steps of a whole row.  The transposed product lies in the order in which it is read, at no cost: BLAS takes
transposed operands as they are.  Transposes of what a column and a row make are made of the transposed ones.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import replace

from autodiff_lab.compile.program.layouts import dense_strides, is_dense, seen_by, turned_last
from autodiff_lab.compile.program.looking import looking
from autodiff_lab.compile.program.program import Line, Program
from autodiff_lab.compile.program.rewriting import without_dead
from autodiff_lab.engine.op import REGISTRY
from autodiff_lab.ops.array.shaping import swapped

FEWEST = 4096
"""Elements of a result below which a copy costs less than looking for one."""
MUCH_SMALLER = 8
"""How many times smaller than an elementwise result its operands are at least, for these to be turned instead."""
Strides = tuple[int, ...]


class _Turning:
    """The lines of a program in which some are replaced by what is made of transposed values."""

    def __init__(self, program: Program) -> None:
        self.program, self.lines = program, list[Line]()
        self.values, self._fresh = dict(program.values), itertools.count(1 + max(program.values))

    def new(self, value: int) -> int:
        """Return a new value of the transposed shape."""
        out, whole = next(self._fresh), self.values[value]
        self.values[out] = whole._replace(shape=turned_last(whole.shape), name="")
        return out

    def transposed(self, value: int, line: Line) -> int:
        """Return the transposed value, which is there if the value is a transpose itself."""
        swap, made = swapped(len(self.values[value].shape)), self.program.made_by.get(value)
        if made is not None and made.op.name == "transpose" and made.params["perm"] == swap:
            return made.ins[0]
        out = self.new(value)
        self.transpose(value, line._replace(outs=(out,)))
        return out

    def transpose(self, value: int, line: Line) -> None:
        """Add the line that transposes a value, in the place of another line."""
        params = {"perm": swapped(len(self.values[value].shape))}
        self.lines.append(line._replace(op=REGISTRY["transpose"], ins=(value,), params=params))

    def made(self) -> Program:
        """Return the program with the lines so far."""
        return replace(self.program, lines=tuple(self.lines), values=self.values)


def with_products_turned(program: Program) -> Program:
    """Return the program with xy as (yᵀ xᵀ)ᵀ where that lies in the order in which it is read."""
    if program.memory is not None:
        return program
    turned = {line.outs[0] for line in program.lines if line.op.name == "matmul" and _is_read_turned(line, program)}
    if not turned:
        return program
    to = _Turning(program)
    for line in program.lines:
        if line.outs[0] not in turned:
            to.lines.append(line)
            continue
        ins, product = tuple([to.transposed(i, line) for i in reversed(line.ins)]), to.new(line.outs[0])
        to.lines.append(line._replace(ins=ins, outs=(product,)))
        to.transpose(product, line)
    return to.made()


def with_outer_products_turned(program: Program) -> Program:
    """Return the program with (x op y)ᵀ as xᵀ op yᵀ where x and y are columns or rows, as in gradients of products.

    Turned, they cost nothing, and what reads the result can make it element by element.
    """
    if program.memory is not None:
        return program
    turned = {line.outs[0]: inner for line in program.lines if (inner := _outer(line, program)) is not None}
    if not turned:
        return program
    to = _Turning(program)
    for line in program.lines:
        inner = turned.get(line.outs[0])
        if inner is not None:
            line = inner._replace(ins=tuple([to.transposed(i, line) for i in inner.ins]), outs=line.outs)
        to.lines.append(line)
    return without_dead(to.made())


def _outer(line: Line, program: Program) -> Line | None:
    """Return the line that makes what a line transposes, if that is made of columns and rows, for nothing else."""
    made = program.made_by.get(line.ins[0]) if line.op.name == "transpose" else None
    if made is None or not made.op.elementwise or len(made.ins) < 2 or made.params:
        return None
    shape = program.values[line.ins[0]].shape
    size = math.prod(shape)
    if size < FEWEST or line.params["perm"] != swapped(len(shape)) or line.ins[0] in program.outputs:
        return None
    operands = [program.values[i].shape for i in made.ins]
    small = all(len(one) == len(shape) and math.prod(one) * MUCH_SMALLER <= size for one in operands)
    return made if small and len(program.users[line.ins[0]]) == 1 else None


def _is_read_turned(line: Line, program: Program) -> bool:
    """Return whether all that reads a product, but for other products, would find the transposed one in order.

    Both operands must be matrices, or stacks of as many.
    """
    x, y, out = (program.values[i] for i in (*line.ins, *line.outs))
    if min(len(x.shape), len(y.shape)) < 2 or x.shape[:-2] != y.shape[:-2] or math.prod(out.shape) < FEWEST:
        return False
    if not any(looking(use.outs[0], program) for use in program.users[line.outs[0]]):
        return False
    lies = dense_strides(out.shape)
    turned = turned_last(dense_strides(turned_last(out.shape)))
    ends = list(_ends(line.outs[0], lies, turned, program))
    return bool(ends) and all(there and not here for here, there in ends)


def _ends(value: int, lies: Strides, turned: Strides, program: Program) -> Iterator[tuple[bool, bool]]:
    """Yield for each reader whether it finds the elements in order, as the product lies and as the turned one does."""
    shape, dtype, *_ = program.values[value]
    if value in program.outputs:
        yield is_dense(shape, lies), is_dense(shape, turned)
    for use in program.users[value]:
        view = looking(use.outs[0], program)
        if view is None:
            if use.op.name != "matmul":
                yield is_dense(shape, lies), is_dense(shape, turned)
            continue
        seen = [seen_by(view, shape, dtype, strides) for strides in (lies, turned)]
        if None in seen:  # copied
            yield seen[0] is not None, seen[1] is not None
        else:
            yield from _ends(use.outs[0], seen[0][1], seen[1][1], program)
