"""Lowering: rewrite ops of whole rows in lines that a loop can compute, for the back ends that have loops.

A softmax along the last axis becomes the maximum of each row, exponentials, their sum and a quotient, as in its kernel;
it stays whole if no loop is next to it.  Small arrays and lines that repeat are rewritten along any axes, and so are
the other ops that `forms` knows.  A reduction over rows of an array that no loop makes gets a line that merely reads
the array, so that a loop can compute it together with what depends on it.  A product of a column and a row becomes an
elementwise one, a product with a row of ones a sum, and a transposed product of a transposed matrix a product of
matrices that need no transposing.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from dataclasses import replace
from typing import Any, TypeGuard

import numpy as np

from autodiff_lab.compile.program.blocks import LARGEST_IN_LOOP
from autodiff_lab.compile.program.casting import CASTS, cast_in_loops
from autodiff_lab.compile.program.contractions import contracted
from autodiff_lab.compile.program.forms import ALONG_AXES, FACTORED, FORMS, OF_ROWS, fits, marked_at, surrounded
from autodiff_lab.compile.program.moving import MOVED_ROWS, marked, moves_of
from autodiff_lab.compile.program.normalizing import MOST, NORMALIZING
from autodiff_lab.compile.program.parts import with_parts_added
from autodiff_lab.compile.program.pooling import POOLING, pooled
from autodiff_lab.compile.program.program import Line, Program, Value
from autodiff_lab.compile.program.regions import (
    LARGEST_IN_TURN,
    REDUCTIONS,
    SHORT,
    SHORTEST_ROW,
    WIDE,
    fusible,
    reduced,
    rows_fit,
    too_long,
)
from autodiff_lab.compile.program.reroll import FEWEST_ROUNDS
from autodiff_lab.compile.program.rewriting import hashable, one_value, without_dead
from autodiff_lab.compile.program.transforms import TRANSFORMS, transformed
from autodiff_lab.compile.program.turning import with_outer_products_turned, with_products_turned
from autodiff_lab.engine.op import REGISTRY, Op
from autodiff_lab.kernels.base.compiler import breathe

_FLOATS = ("float32", "float64")
_MULTIPLIED_BY = {"gelu": "normal_cdf", "silu": "sigmoid"}
"""Ops that multiply their input by a function of it, which their gradients need as well."""
_SPARING = frozenset({"lu_factors", "marked_rows", "marked_sums"})
"""Ops for which what other lines made is not needed."""
_GROWING = ("logsumexp", "logsumexp_shares")
"""Ops that are rewritten at any size if both are there: their exponentials are then computed once."""
FEW = 4096
"""Elements below which an op is rewritten wherever it stands: steps of a sequence cost less than a call from Python."""


def lowered(program: Program) -> Program:
    """Return the program in smaller lines, with the same results."""
    return with_products_turned(with_outer_products_turned(_Lowering(with_parts_added(program)).run()))


class _Lowering:
    """Goes through the lines and rewrites them."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.values, self.constants = dict(program.values), dict(program.constants)
        self.fresh = itertools.count(1 + max(self.values, default=0))
        self.lowered = replace(program, values=self.values)
        self.lines: list[Line] = []
        self.fused: set[int] = set()  # values that a loop may make
        self.taken_up = {
            i for line in program.lines if fusible(line, program) or line.op.name in OF_ROWS for i in line.ins
        }
        self.readers: dict[int, int] = {}  # array -> the value of the line that reads it
        self.turned: dict[int, Line] = {}  # products that are only needed transposed
        self.made: dict[Any, int] = {}  # constants that forms need
        self.grown: dict[Any, tuple[int, int, int]] = {}
        self.shared = {line.ins[0] for line in program.lines if line.op.name == "logsumexp_shares"}
        shared = [line for line in program.lines if line.op.name in _MULTIPLIED_BY.values()]
        # functions of values that gradients need, once they are made
        self.factors: dict[tuple[str, int], int | None] = {(line.op.name, line.ins[0]): None for line in shared}
        self.often = Counter(_kind(line, program) for line in program.lines if line.op.name in FORMS)

    def run(self) -> Program:
        """Return the rewritten program."""
        moves = moves_of(self.program)
        picked = {move.line.outs[0] for move in moves.values()}
        for line in self.program.lines:
            breathe()
            made = FORMS.get(line.op.name)
            move = moves.get(line.outs[0])
            if line.outs[0] in picked:
                continue
            if move is not None:
                shape = self.values[line.outs[0]].shape
                self.end(line._replace(params={}), MOVED_ROWS, move.x, move.take, line.ins[1], shape=shape)
            elif line.op.name == "matmul" and self.program.memory is None:
                self._product(line)
            elif self._is_rewritten(line):
                continue
            elif line.ins and line.ins[0] in self.turned:
                self._turned_product(line)
            elif made is not None and self._is_worth_it(line):
                made(self, line)
            elif line.op.name in REDUCTIONS and self._is_small_apart(line):
                self._reduced_apart(line)
            elif line.op.name in REDUCTIONS and (self._of_rows(line) or self._is_small(line)):
                self._keep(line._replace(ins=(self.read(line.ins[0], line),)))
            else:
                self._keep(line)
        found = replace(self.program, lines=tuple(self.lines), values=self.values, constants=self.constants)
        return without_dead(found) if any(line.op.name in _SPARING for line in self.lines) else found

    def _keep(self, line: Line) -> None:
        self.lines.append(line)
        if fusible(line, self.lowered):
            self.fused.update(line.outs)

    def _is_worth_it(self, line: Line) -> bool:
        """Return whether an op is rewritten: beside a loop over long rows, or where a call would cost more than work.

        An op that occurs as often as a loop has turns may be in one, which only runs as a loop if all of it has a form.
        """
        if line.op.name in OF_ROWS and self._rows_fit(line) and self._has_company(line):
            return True
        values = [self.values[i] for i in (*line.ins, *line.outs)]
        most = max(math.prod(value.shape) for value in values)
        repeats = self.often[_kind(line, self.program)] >= FEWEST_ROUNDS
        if len(values) > FACTORED.get(line.op.name, len(values)) + len(line.outs):  # LU factors are there
            return repeats and values[0].shape[-1] <= LARGEST_IN_LOOP and values[0].dtype.name in _FLOATS
        floats = [v for v in values if v.dtype.kind not in "iu"]  # labels are integers
        plain = all(v.memory is None and v.dtype == values[0].dtype and 0 not in v.shape for v in floats)
        limit = MOST if line.op.name in NORMALIZING or line.op.name in ALONG_AXES else FEW
        few = most < (LARGEST_IN_TURN if repeats else limit) or _rolls_short_rows(line, values[0].shape)
        few = (
            few
            or line.op.name in ("batch_normalize", "euclidean_norm", "l2_loss")
            or (line.op.name in _GROWING and line.ins[0] in self.shared)
        )
        kinds = (*_FLOATS, "complex64", "complex128") if line.op.name == "roll" else _FLOATS  # which computes nothing
        return plain and values[0].dtype.name in kinds and few and values[0].shape != () and fits(line, values)

    def _rows_fit(self, line: Line) -> bool:
        """Return whether an op works along the last axis, over rows that a loop may go over again."""
        values = [self.values[i] for i in line.ins]
        shape, dtype = values[-1].shape, values[-1].dtype
        if line.params.get("axis", -1) != -1 or line.params.get("axes", (-1,)) != (-1,) or len(shape) < 2:
            return False
        if too_long(shape, len(shape) - 1, values[-1]):
            return False
        fits = all(v.shape in (shape, (*shape[:-1], 1)) and v.dtype == dtype for v in values)
        return fits and math.prod(shape[:-1]) > 1 and rows_fit(shape[-1], values[-1].memory) and dtype.name in _FLOATS

    def _has_company(self, line: Line) -> bool:
        """Return whether a loop makes the input or uses the result; otherwise the kernel is as fast, on long rows."""
        whole = self.values[line.ins[0]]
        if whole.shape[-1] <= SHORTEST_ROW and whole.memory is None:
            return True
        return not self.fused.isdisjoint(line.ins) or line.outs[0] in self.taken_up

    def _of_rows(self, line: Line) -> bool:
        way, axis = reduced(line, self.program)
        shape, dtype = self.values[line.ins[0]].shape, self.values[line.ins[0]].dtype
        if way != "column" or axis is None or too_long(shape, axis, self.values[line.ins[0]]):
            return False
        rows, columns = math.prod(shape[:axis]), math.prod(shape[axis:])
        return rows > 1 and rows_fit(columns, self.values[line.ins[0]].memory) and dtype.name in _FLOATS

    def _is_small(self, line: Line) -> bool:
        """Return whether a loop of a few lines is as quick as NumPy, and may run in one call with others."""
        whole, out = self.values[line.ins[0]], self.values[line.outs[0]]
        small = 1 < math.prod(whole.shape) < LARGEST_IN_TURN and whole.memory is None and whole.dtype == out.dtype
        return small and whole.dtype.name in _FLOATS and reduced(line, self.program)[0] is not None

    def _is_small_apart(self, line: Line) -> bool:
        """Return whether a small array is reduced over axes between which others stay."""
        whole = self.values[line.ins[0]]
        small = math.prod(whole.shape) < LARGEST_IN_TURN and 0 not in whole.shape and whole.memory is None
        added = whole.dtype.kind == "c" and line.op.name in ("sum", "mean")
        return small and (added or whole.dtype.name in _FLOATS) and len(_runs(line.params["axes"])) > 1

    def _reduced_apart(self, line: Line) -> None:
        """Write a reduction for each run of axes, the last ones first."""
        value, shape = line.ins[0], self.values[line.outs[0]].shape
        for axes in reversed(_runs(line.params["axes"])):
            value = self.over(line, line.op.name, value, axes)
        if line.params["keepdims"]:
            self.end(line, "identity", value)
        elif shape:
            self.end(line, "reshape", value, shape=shape)
        else:
            self.end(line, "sum", value, axes=tuple(range(-len(self.values[value].shape), 0)), keepdims=False)

    def _product(self, line: Line) -> None:
        """Keep a product of matrices, or write what it amounts to."""
        x, y = (self.values[i] for i in line.ins)
        matrices = len(x.shape) == len(y.shape) == 2 and x.dtype == y.dtype and x.dtype.name in _FLOATS
        hot = marked(line, self.program)
        if hot is not None:
            self.end(line, hot[0], line.ins[1], hot[1], **hot[2])
        elif not matrices or 0 in x.shape or 0 in y.shape:
            if not contracted(self, line):
                self._keep(line)
        elif x.shape[1] == 1:
            self.end(line, "multiply", *line.ins)
        elif x.shape[0] == 1 and self._are_ones(line.ins[0]) and math.prod(y.shape) < WIDE:
            read = self.read(line.ins[1], line)
            self._keep(line._replace(op=REGISTRY["sum"], ins=(read,), params={"axes": (-2,), "keepdims": True}))
        else:
            users = self.program.users[line.outs[0]]
            left = self.program.made_by.get(line.ins[0])
            alone = len(users) == 1 and _swaps(users[0]) and line.outs[0] not in self.program.outputs
            if alone and self._is_turned(left):
                self.turned[line.outs[0]] = line
            else:
                self._keep(line)

    def _is_rewritten(self, line: Line) -> bool:
        """Write an op that needs more than its form, and return whether that could be done."""
        if line.op.name in TRANSFORMS:
            return transformed(self, line)
        if line.op.name in POOLING:
            return pooled(self, line)
        if line.op.name in CASTS:
            return cast_in_loops(self, line)
        if line.op.name in REDUCTIONS and not self.values[line.ins[0]].shape:
            self.end(line, "identity", *line.ins)
            return True
        if line.op.name == "pad":
            return surrounded(self, line)
        if line.op.name == "kept_mask":
            return marked_at(self, line)
        return (line.op.name == "einsum" and contracted(self, line)) or self._is_shared(line)

    def _is_shared(self, line: Line) -> bool:
        """Write a value times a function of itself so that its gradient gets the function; return whether it does."""
        factor = _MULTIPLIED_BY.get(line.op.name)
        key = (factor or line.op.name, line.ins[0] if line.ins else -1)
        if key not in self.factors or self.program.memory is not None or not fusible(line, self.program):
            return False
        made = self.factors[key]
        if factor is None:
            if made is None:
                return False
            self.end(line, "identity", made)
            return True
        if made is None:
            made = self.factors[key] = self.each(line, factor, line.ins[0])
        self.end(line, "multiply", line.ins[0], made)
        return True

    def _turned_product(self, line: Line) -> None:
        """Write (xᵀ y)ᵀ as yᵀ x."""
        product = self.turned[line.ins[0]]
        left, y = self.program.made_by[product.ins[0]], product.ins[1]
        right = self.program.made_by.get(y)
        if self._is_turned(right):
            y = right.ins[0]
        else:
            y = self.add("transpose", (y,), {"perm": (-1, -2)}, self.values[y].shape[::-1], line)
        self._product(line._replace(op=product.op, ins=(y, left.ins[0]), params={}))

    def _is_turned(self, line: Line | None) -> TypeGuard[Line]:
        """Return whether a line transposes a matrix that is there; a product that is only needed transposed is not."""
        return _swaps(line) and line.ins[0] not in self.turned

    def _are_ones(self, value: int) -> bool:
        found = one_value(self.program.constants[value]) if value in self.program.constants else None
        return found is not None and found == 1

    def read(self, value: int, line: Line) -> int:
        """Return the value itself if a loop makes it, else that of a line that reads it."""
        if value in self.fused:
            return value
        if value not in self.readers:
            self.readers[value] = self.add("identity", (value,), {}, self.values[value].shape, line)
        return self.readers[value]

    def is_used(self, value: int) -> bool:
        """Return whether something reads a value, or it is a result."""
        return bool(self.program.users[value]) or value in self.program.outputs

    def constant(self, array: Any) -> int:
        """Return the value of an array that the program did not hold yet."""
        key = (array.shape, array.dtype, array.tobytes())
        found = self.made.get(key)
        if found is None:
            found = self.made[key] = next(self.fresh)
            self.values[found] = Value(array.shape, array.dtype, "")
            self.constants[found] = array
        return found

    def add(
        self, op: str | Op, ins: tuple[int, ...], params: dict[str, Any], shape: tuple[int, ...], of: Line,
        like: int | None = None,
    ) -> int:  # fmt: skip
        """Add a line in place of another, and return its value, of the dtype of a value, or of that line's result."""
        out = next(self.fresh)
        whole = self.values[of.outs[0] if like is None else like]
        self.values[out] = Value(shape, whole.dtype, "", whole.memory)
        self._keep(Line(REGISTRY[op] if isinstance(op, str) else op, ins, params, (out,), of.place, of.cause))
        return out

    def each(self, line: Line, op: str | Op, *ins: int) -> int:
        """Add an elementwise op, and return its value."""
        return self.add(op, ins, {}, np.broadcast_shapes(*(self.values[i].shape for i in ins)), line)

    def over(self, line: Line, op: str, value: int, axes: tuple[int, ...]) -> int:
        """Add a reduction that keeps its axes, with length 1, and return its value."""
        shape = self.values[value].shape
        kept = tuple(1 if k - len(shape) in axes else n for k, n in enumerate(shape))
        return self.add(op, (value,), {"axes": axes, "keepdims": True}, kept, line)

    def end(self, line: Line, op: str | Op, *ins: int, **params: Any) -> None:
        """Add the op that makes the result of the line."""
        self._keep(line._replace(op=REGISTRY[op] if isinstance(op, str) else op, ins=ins, params=params))


def _runs(axes: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Return axes in runs of neighbours."""
    found: list[tuple[int, ...]] = []
    for axis in sorted(axes):
        if found and found[-1][-1] == axis - 1:
            found[-1] += (axis,)
        else:
            found.append((axis,))
    return found


def _swaps(line: Line | None) -> TypeGuard[Line]:
    """Return whether a line transposes a matrix; a transpose may also leave both axes in place."""
    return line is not None and line.op.name == "transpose" and [axis % 2 for axis in line.params["perm"]] == [1, 0]


def _rolls_short_rows(line: Line, shape: tuple[int, ...]) -> bool:
    """Return whether a roll moves short pieces, which join in a sequence: NumPy starts a loop for each of them."""
    return line.op.name == "roll" and math.prod(shape[min(line.params["axes"]) :]) <= SHORT


def _kind(line: Line, program: Program) -> Any:
    """Return what lines have in common that may be one line of a loop."""
    params = tuple((key, hashable(value)) for key, value in line.params.items())
    return line.op.name, params, *(program.values[i][:2] for i in line.ins)
