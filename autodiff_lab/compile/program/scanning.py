"""Cumulative log-sum-exps written as lines: the largest element so far, exponentials, a recurrence and a logarithm.

Their derivative has the same lines, which are then computed once, and a loop or a sequence has a form for each of them,
with exponentials side by side; the op itself takes an exponential and a logarithm after each other for each element.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from typing import Any

from autodiff_lab.compile.program.program import Line, Program
from autodiff_lab.compile.program.rewriting import simplify
from autodiff_lab.engine.op import REGISTRY

FEW = 4096
"""Elements below which an op without a derivative in the program is written so: in a sequence it needs no call."""


def with_scans_apart(program: Program) -> Program:
    """Return the program in which cumulative log-sum-exps of floats on the CPU are lines."""
    tops = {(line.ins, *_how(line)) for line in program.lines if line.op.name == "running_top"}
    values, fresh = dict(program.values), itertools.count(1 + max(program.values, default=0))
    lines: list[Line] = []
    for line in program.lines:
        value = program.values[line.outs[0]]
        plain = value.memory is None and value.dtype.name in ("float32", "float64") and 0 not in value.shape
        few = math.prod(value.shape) < FEW
        if line.op.name == "cumulative_logsumexp" and plain and (few or (line.ins, *_how(line)) in tops):
            lines += _apart(line, values, fresh)
        else:
            lines.append(line)
    return simplify(replace(program, lines=tuple(lines), values=values)) if len(lines) > len(program.lines) else program


def _how(line: Line) -> tuple[int, bool]:
    return line.params["axis"], line.params["reverse"]


def _apart(line: Line, values: dict[int, Any], fresh: itertools.count[int]) -> list[Line]:
    """Return the lines for ln Σ e^x = m + ln s, with the largest element m and sums s of e^(x - m) so far.

    They are those of the op's derivative, down to their parameters, so that equal ones are merged.
    """
    lines: list[Line] = []
    axis, reverse = _how(line)
    (x,), whole = line.ins, values[line.outs[0]]
    n = whole.shape[axis]
    shorter = whole._replace(shape=tuple([n - (k == axis % len(whole.shape)) for k, n in enumerate(whole.shape)]))

    def add(name: str, *ins: int, of: Any = whole, **params: Any) -> int:
        out = next(fresh)
        values[out] = of
        lines.append(line._replace(op=REGISTRY[name], ins=ins, params=params, outs=(out,)))
        return out

    top = add("running_top", x, axis=axis, reverse=reverse)
    head, tail = (add("slice_axis", top, of=shorter, axis=axis, start=k, stop=n - 1 + k) for k in (0, 1))
    less = add("subtract", *((tail, head) if reverse else (head, tail)), of=shorter)
    step = add("exp", less, of=shorter)
    before = add("pad_axis", step, axis=axis, before=int(not reverse), after=int(reverse))
    each = add("exp", add("subtract", x, top))
    sums = add("recurrence", each, before, axis=axis, reverse=reverse)
    lines.append(line._replace(op=REGISTRY["add"], ins=(top, add("log", sums)), params={}))
    return lines
