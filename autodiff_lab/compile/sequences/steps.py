"""Steps: which parts of a program a sequence can compute, and which are views that cost nothing."""

from __future__ import annotations

import math
from collections.abc import Iterable

from autodiff_lab.compile.program.blocks import block_of
from autodiff_lab.compile.program.casting import CASTS
from autodiff_lab.compile.program.layouts import (
    MOST_AXES,
    STACKED,
    Part,
    dense_strides,
    few_axes,
    merged,
    parts_of_whole,
    seen_by,
)
from autodiff_lab.compile.program.looking import VIEWING
from autodiff_lab.compile.program.program import Line, Program
from autodiff_lab.compile.program.regions import SHORT, WIDE, Region
from autodiff_lab.compile.program.wholes import PARTS
from autodiff_lab.compile.recurrences.kernel import Call
from autodiff_lab.compile.sequences.convolutions import passes_of
from autodiff_lab.compile.sequences.elements import in_short_rows, joins_alone
from autodiff_lab.compile.sequences.texts import LARGEST_RIGHT, MOST_WORK

MOST_SCALARS = 40
"""From so many single numbers on, loops are searched for in them, see `scalars`."""
WORK_OF_EACH = 1 << 13
"""Multiplications of each product of a stack of any length up to which a call of OpenBLAS takes longer than it."""
LEAST_ALONE = 1024
"""Elements of an op in short rows that is worth a call by itself."""
MOST_OF_LOOP = 1 << 22
"""Bytes that a loop over arrays reads and writes, beyond which a call by itself costs next to nothing."""
MOVING = frozenset({"gather", "gather_nd", "moved_rows", "repeat", "scatter_axis", "scatter_nd"})
"""Ops that move rows, of any size: their kernels move them one by one too, after checks and arrangements."""
JOINS = frozenset({*PARTS, *STACKED})
"""Ops that put their inputs into parts of a whole."""
_QUICKER = MOVING | JOINS | {"qr_packed"}
"""Ops whose steps take less time than NumPy's or LAPACK's, call included."""
_JOINED = frozenset({"float32", "float64", "int32", "int64", "complex64", "complex128"})


def is_plain(program: Program, values: Iterable[int]) -> bool:
    """Return whether values are arrays on the CPU, not empty, of dtypes that machine code can copy."""
    return all(
        value.memory is None and 0 not in value.shape and value.dtype.kind in "fiubc" and value.dtype.isnative
        and not (value.dtype.kind == "f" and value.dtype.itemsize not in (4, 8)) and value.dtype.itemsize <= 16
        for value in (program.values[i] for i in values)
    )  # fmt: skip


def joins(item: Region | Line | Call, program: Program) -> bool:
    """Return whether a step can be one of a sequence."""
    if isinstance(item, Call):
        values = [program.values[i] for i in (*item.ins, *item.outs)]
        few = sum(math.prod(value.shape) * value.dtype.itemsize for value in values) < MOST_OF_LOOP
        return few and is_plain(program, (*item.ins, *item.outs))
    if isinstance(item, Line):
        if not is_plain(program, (*item.ins, *item.outs)):
            return False
        if item.op.name in CASTS:
            given, made = (program.values[i].dtype for i in (item.ins[0], item.outs[0]))
            alike = made.kind == "f" or made.name in ("int32", "int64")  # as NumPy's: smaller integers wrap otherwise
            alike = alike and "c" not in (given.kind, made.kind)
            return alike and _elements(item, program) < WIDE
        if item.op.name in JOINS:
            return _is_small_join(item, program)
        if joins_alone(item, program):
            return True
        if block_of(item, program) is not None:
            small = all(math.prod(program.values[i].shape) < WIDE for i in (*item.ins, *item.outs))
            return small or item.op.name in MOVING
        return is_small_product(item, program) or bool(passes_of(item, program))
    small = math.prod(item.shape) < WIDE if item.shape else len(item.all) < MOST_SCALARS
    return small and item.memory is None and is_plain(program, item.ins())


def worth_alone(item: Region | Line | Call, program: Program) -> bool:
    """Return whether a step is quicker than NumPy although no other step is beside it."""
    if not isinstance(item, Line):
        return False
    rows = joins_alone(item, program) and _elements(item, program) >= LEAST_ALONE and in_short_rows(item, program)
    return rows or item.op.name in _QUICKER or (item.op.name == "matmul" and _is_stack(item, program))


def gives_view(line: Line, program: Program) -> bool:
    """Return whether the result of an op lies in the memory of its input, with few axes."""
    if line.op.name not in VIEWING or len(line.ins) != 1 or not is_plain(program, (*line.ins, *line.outs)):
        return False
    (value,) = line.ins
    shape, dtype, *_ = program.values[value]
    seen = seen_by(line, shape, dtype, dense_strides(shape))
    return seen is not None and few_axes(program.values[line.outs[0]].shape, seen[1])


def _elements(line: Line, program: Program) -> int:
    return math.prod(program.values[line.outs[0]].shape)


def _is_small_join(line: Line, program: Program) -> bool:
    out, *parts = (program.values[i] for i in (*line.outs, *line.ins))
    same = out.dtype.name in _JOINED and all(part.dtype == out.dtype for part in parts)
    if not same or not all(sum(n > 1 for n in part.shape) <= MOST_AXES for part in parts):
        return False
    places = parts_of_whole(line, program)
    if places is None:
        return False
    if _elements(line, program) < WIDE:
        return True
    if line.op.name in ("concat", "stack"):
        return all(_run(part, program) <= SHORT for part in places)
    width = math.prod(out.shape[1:])
    return all(part.rows(program.values[part.value].shape, width) is not None for part in places)


def _run(part: Part, program: Program) -> int:
    """Return how many elements of a part are contiguous in the whole: NumPy starts a loop for each such run."""
    axes = merged(program.values[part.value].shape, part.strides)
    return axes[-1][0] if axes and axes[-1][1] == 1 else 1


def is_small_product(line: Line, program: Program) -> bool:
    """Return whether a product of matrices is left to compiled code."""
    if line.op.name != "matmul":
        return False
    x, y, out = (program.values[i] for i in (*line.ins, *line.outs))
    if not x.dtype == y.dtype == out.dtype or out.dtype.name not in ("float32", "float64"):
        return False
    if not (x.shape and y.shape) or (len(y.shape) > 2 and not _meet(x.shape, y.shape)):
        return False
    from autodiff_lab.kernels.convolution.numba_tiles import BYTES

    stack = max(math.prod(x.shape[:-2]), math.prod(y.shape[:-2]))
    work = stack * math.prod(x.shape[-2:]) * (y.shape[-1] if len(y.shape) > 1 else 1)
    right = math.prod(y.shape[-2:]) * y.dtype.itemsize
    return (work <= MOST_WORK[BYTES] and right <= LARGEST_RIGHT) or _is_stack(line, program)


def _is_stack(line: Line, program: Program) -> bool:
    """Return whether a product is one of many small matrices by as many others, or of one by many."""
    x, y = (program.values[i].shape for i in line.ins)
    return len(y) > 2 and _meet(x, y) and math.prod(x[-2:]) * y[-1] <= WORK_OF_EACH


def _meet(x: tuple[int, ...], y: tuple[int, ...]) -> bool:
    """Return whether two stacks of matrices have as many matrices in the same axes, or one of them has a single one."""
    return x[:-2] == y[:-2] or math.prod(x[:-2]) == 1 or math.prod(y[:-2]) == 1
