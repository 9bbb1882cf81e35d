"""Kernels on a GPU: a region becomes text, the text a compiled kernel.

A kernel is compiled once for its text, whatever program it is part of and however large its arrays are: sizes are
arguments.  It reads and writes what a loop on the CPU does, but quotients and angles of float32 have expressions of
their own, numbers of the CPU come by value, and reductions that would need another grid stay outside.
"""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module
from typing import Any

import numpy as np

from autodiff_lab.compile.loops.cuda.launch import Runner
from autodiff_lab.compile.loops.cuda.text import Writer, grid_of, way_of
from autodiff_lab.compile.loops.kernels import with_comments
from autodiff_lab.compile.loops.parts import Parts, parts_of
from autodiff_lab.compile.loops.source import Kernel
from autodiff_lab.compile.loops.text import constant_text, number_names
from autodiff_lab.compile.program.expressions import angle
from autodiff_lab.compile.program.program import Line, Program
from autodiff_lab.compile.program.regions import Region
from autodiff_lab.kernels.cuda import launching
from autodiff_lab.kernels.cuda.launching import check_size
from autodiff_lab.kernels.maths.cuda import namespace

QUOTIENTS = {
    "divide": "quotient({0}, {1})",
    "reciprocal": "quotient(one, {0})",
    "rsqrt": "rsqrt({0})",
    "softsign": "quotient({0}, one + abs({0}))",
    "reciprocal_where_positive": "choose({0} > zero, quotient(one, choose({0} > zero, {0}, one)), zero)",
    "divide_no_nan": "choose({1} == zero, zero, quotient({0}, {1}))",
    "reciprocal_no_nan": "choose({0} == zero, zero, quotient(one, {0}))",
    "xdivy": "choose({0} == zero, zero, quotient({0}, {1}))",
}
"""Ops that divide: a GPU takes ten instructions for a quotient with all its bits, and two for one without the last."""


def parts_on_gpu(region: Region, program: Program, needed: set[int]) -> Parts:
    """Return what a kernel reads and writes, with the expressions of a GPU."""
    parts = parts_of(region, program, needed)
    for line in [*region.lines, *region.row_lines]:
        if line.op.name in QUOTIENTS:
            parts.texts[line.outs[0]] = QUOTIENTS[line.op.name]
        elif (function := angle(line)) and region.dtype == np.float32:
            parts.texts[line.outs[0]] = f"{function}({{0}}, far)"
    return parts


def leave_outside(region: Region, program: Program) -> list[Line]:
    """Take the reductions over rows out of a region whose threads share rows: they keep to no column."""
    if grid_of(region, program) != "rows":
        return []
    left = [line for line in region.sums if way_of(line, program) == "row"]
    region.sums = [line for line in region.sums if line not in left]
    return left


def sort_inputs(region: Region, program: Program, parts: Parts) -> set[int]:
    """Find the inputs that come as plain numbers, and let reductions of the only row be reductions of everything."""
    numbers = {i for i in [*parts.whole, *parts.single] if program.values[i].memory is None}
    parts.single += [i for i in parts.whole if i in numbers]
    parts.whole = [i for i in parts.whole if i not in numbers]
    if grid_of(region, program) != "rows":
        parts.row_stored = []
    return numbers


MOST_ARRAYS = 60
"""Arrays that a kernel takes: each comes as seven numbers of 8 bytes, and a launch passes 4096 bytes on older GPUs."""


def kernel_on_gpu(region: Region, program: Program, needed: set[int], names: dict[int, str], title: str) -> Kernel:
    """Compile a region; `needed` are the values that something outside uses."""
    check_size(title, region.shape)
    parts = parts_on_gpu(region, program, needed)
    numbers = sort_inputs(region, program, parts)
    text = module_text(region, program, parts, numbers, number_names(region), "kernel")
    run = compiled(text, region.dtype.name, signature(region, program, parts, numbers), region.memory)
    runner = Runner(region, program, parts, numbers, run)
    constants = [f"{names[i]} = {constant_text(v)}" for i, v in parts.constants.items()]
    shown = with_comments(Writer(region, program, parts, names, numbers).text(title), region, program, names)
    backward = all(line.cause is not None for line in region.all)
    note = f"{len(region.all)} ops in one launch on the GPU"
    return Kernel(title, "\n".join([*constants, *shown]), tuple(runner.ins), tuple(runner.outs), runner, backward, note)


def module_text(
    region: Region, program: Program, parts: Parts, numbers: set[int], names: dict[int, str], title: str
) -> str:
    """Return the text that is compiled; with names that depend on the structure alone, others have it too."""
    constants = [f"{names[i]} = {constant_text(value)}" for i, value in parts.constants.items()]
    rows = Writer(region, program, parts, names, numbers).text(title)
    return "\n".join([*constants, *(row for row in rows if row != "@cuda.jit")]) + "\n"  # `launching` compiles it


def signature(region: Region, program: Program, parts: Parts, numbers: set[int]) -> str:
    """Return the Numba types of the arguments, in their order."""
    kind = region.dtype.name
    writer = Writer(region, program, parts, number_names(region), numbers)

    def element(i: int) -> str:
        return "boolean" if program.values[i].dtype.kind == "b" else kind

    given = [f"{element(i)}[::1]" for i in [*parts.whole, *parts.row, *parts.column]]
    given += [element(i) + ("" if i in numbers else "[::1]") for i in parts.single]
    given += [f"{element(i)}[::1]" for i in [*parts.stored, *parts.row_stored]]
    given += [f"{kind}[::1]"] * len(writer.folded)
    return ", ".join([*given, *["uint32"] * (len(writer.arguments()) - len(given))])


@lru_cache(None)
def compiled(text: str, dtype: str, types: str, memory: Any) -> launching.Kernel:
    """Return the kernel of a generated text; compiled now, so that no call waits and what cannot be compiled is known.

    Raises
    ------
    Exception
        Whatever the compiler says.
    """
    if types.count("[::1]") > MOST_ARRAYS:
        raise NotImplementedError(f"{types.count('[::1]')} arrays, where a launch passes {MOST_ARRAYS}")
    scope = namespace(dtype)
    exec(compile(text, "<autodiff_lab kernel>", "exec"), scope)
    made = launching.Kernel(scope["kernel"], (), (types,), {})
    if not memory.simulated:
        with memory.using():
            made.compiled.compile(eval(f"({types},)", dict(vars(import_module("numba.types")))))
    return made
