"""Small convolutions and their gradients as steps of a sequence.

They run the loops of `kernels.convolution`, for the tiles that their shapes have.  What a plan knows of shapes are
tables that never change; a padded image and a packed filter have room beside the values of the sequence.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from autodiff_lab.compile.program.program import Line, Program
from autodiff_lab.compile.program.regions import WIDE
from autodiff_lab.kernels.convolution import numba_plans as plans

MOST_WORK = 1 << 20
"""Multiplications of the largest one: threads share the images of larger ones, and a call costs nothing beside them."""


class Pass(NamedTuple):
    """One run of a loop: its text, numbers in padded images and in what is packed, and the tables of its plan.

    If it `checks`, it declines a filter with numbers that are not finite.
    """

    text: str
    image: int
    panels: int
    tables: tuple[np.ndarray, ...]
    checks: bool = False


CORRELATION = """\
from numpy import {kind} as number, int32, int64
from autodiff_lab.kernels.base.pointers import STEP, at
from autodiff_lab.kernels.convolution.little import correlation, is_finite, packed
correlate = correlation({rows}, {vectors})
@addressed(STEP)
def step(slots):
    end = 1 << 60
    x, w, out = at(slots[1], end, number), at(slots[2], end, number), at(slots[0], end, number)
    image, panels = at(slots[3], slots[4], number), at(slots[5], slots[6], number)
    offsets, taps = at(slots[7], slots[8], int64), at(slots[9], slots[10], int64)
    rows, sizes = at(slots[11], slots[12], int64), at(slots[13], slots[14], int64)
    if slots[15] and not is_finite(w, sizes[0] * sizes[1] * slots[10]):
        return int32(1)
    for n in range(image.size):
        image[n] = 0
    packed(w, taps, sizes, panels)
    correlate(x, out, image, panels, offsets, rows, sizes, 0, sizes[27])
    return int32(0)
"""

OF_FILTER = """\
from numpy import {kind} as number, int32, int64
from autodiff_lab.kernels.base.pointers import STEP, at
from autodiff_lab.kernels.convolution.little import correlation_of_filter
correlate = correlation_of_filter({rows}, {vectors})
@addressed(STEP)
def step(slots):
    end = 1 << 60
    x, g, out = at(slots[1], end, number), at(slots[2], end, number), at(slots[0], end, number)
    image, panel = at(slots[3], slots[4], number), at(slots[5], slots[6], number)
    offsets, rows = at(slots[7], slots[8], int64), at(slots[9], slots[10], int64)
    sizes = at(slots[11], slots[12], int64)
    for n in range(image.size):
        image[n] = 0
    correlate(x, g, out, image, panel, offsets, rows, sizes, 0, 1)
    return int32(0)
"""


def passes_of(line: Line, program: Program) -> tuple[Pass, ...]:
    """Return the runs that compute a line, none if it is something else or too large."""
    if line.op.name not in ("convolve", "convolve_input", "convolve_filter"):
        return ()
    x, w, out = (program.values[i] for i in (*line.ins, *line.outs))
    if not x.dtype == w.dtype == out.dtype or out.dtype.name not in ("float32", "float64"):
        return ()
    if any(math.prod(v.shape) >= WIDE for v in (x, w, out)):
        return ()
    how = {name: tuple(line.params[name]) for name in ("strides", "padding", "dilations")}
    if line.op.name == "convolve":
        one = plans.forward(x.shape, w.shape, **how)
        found, work = (one,), math.prod(out.shape) * math.prod(w.shape[:-1])
    elif line.op.name == "convolve_input":
        found = plans.backward(x.shape, w.shape, out.shape, **how) or (None,)
        work = math.prod(x.shape) * math.prod(w.shape[:-1])
    else:
        one = plans.forward(x.shape, out.shape, **how)
        found = (one if one is not None and one.out == w.shape else None,)
        work = math.prod(w.shape) * math.prod(out.shape[:-1])
    if work > MOST_WORK:
        return ()
    return tuple([_pass(line, plan, out.dtype) for plan in found if plan is not None]) if None not in found else ()


def _pass(line: Line, plan: plans.Plan, dtype: np.dtype[Any]) -> Pass:
    from autodiff_lab.kernels.convolution.numba_tiles import BYTES, ROWS  # which asks LLVM about the processor

    lanes = BYTES // dtype.itemsize
    columns, run, outs, images = (int(plan.sizes[n]) for n in (1, 2, 19, 27))
    of_filter = line.op.name == "convolve_filter"
    length = run if of_filter else outs
    most = -(-length // -(-length // ROWS))
    rows = tuple(sorted({min(most, length - first) for first in range(0, length, most)}))
    wide = {min(2 * lanes, columns - first) for first in range(0, columns, 2 * lanes)}
    how: dict[str, Any] = {"kind": dtype.name, "rows": rows, "vectors": tuple(sorted({1 + (n > lanes) for n in wide}))}
    if of_filter:
        sizes = plan.sizes.copy()
        sizes[25] = images  # all in one block
        return Pass(OF_FILTER.format(**how), plan.image, plan.panel(2 * lanes), (plan.offsets, plan.rows, sizes))
    tables = (plan.offsets, plan.taps, plan.rows, plan.sizes)
    checks = line.op.name == "convolve_input"  # zeros around g would make nan of what is infinite
    return Pass(CORRELATION.format(**how), plan.image, plan.panels(2 * lanes), tables, checks)
