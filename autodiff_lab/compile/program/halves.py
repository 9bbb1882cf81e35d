"""Half floats: a program in float16 as one in float32 whose results are rounded, which loops can compute.

NumPy takes float16 one number at a time through float32, and has no BLAS for it.  Every value of float16 becomes one
of float32 that float16 can hold too: what an op computes is rounded by a line of its own, which is what the eager
kernels do, and what an op only moves needs no rounding.  Ops that are in neither list keep their float16, between
casts.  An op of several steps, such as the sigmoid function, is rounded once here and after each step there.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import count

import numpy as np

from autodiff_lab.compile.program.looking import VIEWING
from autodiff_lab.compile.program.program import Line, Program
from autodiff_lab.engine.op import REGISTRY, Op

HALF, SINGLE = np.dtype(np.float16), np.dtype(np.float32)
ROUNDED = Op(
    "round_to_half", lambda x: x.astype(HALF).astype(SINGLE)[()], None, 1, elementwise=True,
    expression="half({0})", sentence="rounds {0} to float16",
)  # fmt: skip
_MOVING = VIEWING | {
    "abs", "argmax", "argmin", "argsort", "band_part", "clip", "concat", "diag", "extreme_grad", "gather", "gather_nd",
    "max", "maximum", "min", "minimum", "negative", "pad", "pad_axis", "relu", "repeat", "roll", "select", "select_not",
    "sign", "stack", "take_along", "tile", "top_positions", "unslice", "where",
}  # fmt: skip
"""Ops whose results are positions, or numbers that float16 can hold if it holds what they are given."""
_COMPUTED = frozenset({
    "accumulate_parts", "log_softmax", "log_softmax_grad", "logsumexp", "matmul", "mean", "prod", "softmax",
    "softmax_grad", "sum",
})  # fmt: skip
"""Ops, beside elementwise ones, that compute in float32 and round at the end."""


def without_halves(program: Program) -> Program:
    """Return the program in float32, or the program itself if no op has a result of float16."""
    values = program.values
    if program.memory is not None or not any(values[i].dtype == HALF for line in program.lines for i in line.outs):
        return program
    return _Widening(program).widened()


class _Widening:
    """Goes through the lines and writes new ones."""

    def __init__(self, program: Program) -> None:
        self.program, self.values = program, dict(program.values)
        self.fresh = count(1 + max(self.values))
        self.lines: list[Line] = []
        self.wide: dict[int, int] = {}  # value of float16 -> the same numbers in float32
        self.gone: set[int] = set()  # those that no line makes in float16 any more
        self.narrow: dict[int, int] = {}  # value of float32 -> the same numbers in float16
        self.constants = dict(program.constants)

    def widened(self) -> Program:
        """Return the rewritten program."""
        program = self.program
        for line in program.lines:
            self._line(line)
        given_back = self.gone.intersection(program.outputs)
        same = {i: self._narrow(self.wide[i], program.made_by[i]) for i in sorted(given_back)}
        return replace(program.with_lines(self.lines, same, self.constants), values=self.values)

    def _is_half(self, value: int) -> bool:
        return self.program.values[value].dtype == HALF

    def _line(self, line: Line) -> None:
        name, halves = line.op.name, [i for i in (*line.ins, *line.outs) if self._is_half(i)]
        others = {self.values[i].dtype for i in (*line.ins, *line.outs)} - {HALF, np.dtype(bool)}
        if not halves:
            self.lines.append(line)
        elif name == "cast" and others == {SINGLE}:
            if self._is_half(line.ins[0]):
                self._add(REGISTRY["identity"], (self._widen(line.ins[0], line),), {}, line, line.outs[0])
            else:
                self._put(line.outs[0], self._add(ROUNDED, line.ins, {}, line))
        elif name in ("cast", "cast_to_discrete") and not self._is_half(line.outs[0]):
            self.lines.append(line._replace(ins=(self._widen(line.ins[0], line),)))
        elif len(line.outs) == 1 and self._is_known(line) and not any(d.kind == "f" for d in others):
            ins = tuple([self._widen(i, line) if self._is_half(i) else i for i in line.ins])
            out = line.outs[0]
            if not self._is_half(out):
                self.lines.append(line._replace(ins=ins))
                return
            made = self._add(line.op, ins, line.params, line)
            self._put(out, made if name in _MOVING else self._add(ROUNDED, (made,), {}, line))
        else:
            ins = tuple([self._narrow(self.wide[i], line) if i in self.gone else i for i in line.ins])
            self.lines.append(line._replace(ins=ins))

    def _is_known(self, line: Line) -> bool:
        return line.op.name in _MOVING | _COMPUTED or (line.op.elementwise and bool(line.op.expression))

    def _put(self, value: int, wide: int) -> None:
        self.wide[value] = wide
        self.gone.add(value)

    def _widen(self, value: int, line: Line) -> int:
        """Return the value in float32 of one in float16."""
        found = self.wide.get(value)
        if found is None:
            if value in self.constants:
                found = next(self.fresh)
                self.constants[found] = self.constants[value].astype(SINGLE)
                self.values[found] = self.values[value]._replace(dtype=SINGLE)
            else:
                found = self._add(REGISTRY["cast"], (value,), {"dtype": "float32"}, line._replace(outs=(value,)))
            self.wide[value] = found
        return found

    def _narrow(self, value: int, line: Line) -> int:
        """Return the value in float16 of one in float32."""
        if value not in self.narrow:
            made = self._add(REGISTRY["cast"], (value,), {"dtype": "float16"}, line, next(self.fresh))
            self.values[made] = self.values[value]._replace(dtype=HALF)
            self.narrow[value] = made
        return self.narrow[value]

    def _add(self, op: Op, ins: tuple[int, ...], params: dict[str, object], of: Line, out: int | None = None) -> int:
        """Add a line of float32, and return its value."""
        made = next(self.fresh) if out is None else out
        if out is None:
            self.values[made] = self.values[of.outs[0]]._replace(dtype=SINGLE)
        self.lines.append(of._replace(op=op, ins=ins, params=params, outs=(made,)))
        return made
