"""Kernels on a GPU: a region becomes text, the text a compiled kernel.

A kernel is compiled once for its text, whatever its program and the sizes of its arrays, which are arguments.  It reads
and writes what a loop on the CPU does, but quotients and angles of float32 have other expressions, numbers from the CPU
are passed by value, and reductions that would need another grid stay outside.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache
from importlib import import_module
from typing import Any

import numpy as np

from autodiff_lab.compile.loops.cuda.launch import Runner
from autodiff_lab.compile.loops.cuda.text import LONGEST, Writer, grid_of
from autodiff_lab.compile.loops.parts import parts_of, texts_of
from autodiff_lab.compile.loops.source import Kernel
from autodiff_lab.compile.loops.text import constant_rows, with_names
from autodiff_lab.compile.program.expressions import angle
from autodiff_lab.compile.program.program import Line, Program
from autodiff_lab.compile.program.regions import Region, reduced
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
"""Ops that divide: an exact quotient takes a GPU ten instructions, one without the last bit two."""
_TAKEN = frozenset({
    "c", "columns", "cuda", "end", "first", "height", "held", "here", "i", "lane", "last", "low", "n", "per", "r",
    "rows", "step", "width",
})  # fmt: skip
"""Names that the text of a kernel uses."""
_READS = re.compile(r"( *)(\w+(?:, \w+)+) = ([\w\[\] +*,]+)$")
_TITLE = re.compile(r"\bkernel(?=\(|_element|_visit)")


def writer_of(region: Region, program: Program) -> Writer:
    """Return the writer for the kernel of a region, with expressions for a GPU."""
    texts = texts_of(region, program)
    for line in region.lines + region.row_lines:
        if line.op.name in QUOTIENTS:
            texts[line.outs[0]] = QUOTIENTS[line.op.name]
        elif (function := angle(line)) and region.dtype == np.float32:
            texts[line.outs[0]] = f"{function}({{0}}, far)"
    on_cpu = {i for i in region.ins() if program.values[i].memory is None}
    numbers = {i for i in on_cpu if region.how[i] in ("whole", "single")}
    return Writer(region, program, parts_of(region, program, texts, numbers), numbers)


def without_row_sums(region: Region, program: Program) -> tuple[Region, list[Line]]:
    """Take reductions over rows out of a region whose threads share rows: no thread stays in a column."""
    if region.memory is None or grid_of(region, program) != "rows":
        return region, []
    left = [line for line in region.sums if reduced(line, program)[0] == "row"]
    kept = tuple(line for line in region.sums if line not in left)
    return replace(region, sums=kept, needed=region.needed.union(line.ins[0] for line in left)), left


MOST_ARRAYS = 60
"""Most arrays of a kernel: each is passed as seven numbers of 8 bytes, and older GPUs take 4096 bytes a launch."""


def kernel_on_gpu(region: Region, program: Program, names: dict[int, str], title: str) -> Kernel:
    """Compile a region."""
    check_size(title, region.shape)
    writer = writer_of(region, program)
    types = ", ".join(kind for _, kind in writer.arguments())
    runner = Runner(writer, compiled(writer.module(), region.dtype.name, types, region.memory))
    backward = all(line.cause is not None for line in region.all)
    note = f"{len(region.all)} ops in one launch on the GPU"
    source = "\n".join(shown(writer, names, title))
    return Kernel(title, source, tuple(runner.ins), tuple(runner.outs), runner, backward, note)


def shown(writer: Writer, names: dict[int, str], title: str) -> list[str]:
    """Return the text of a kernel with the user's names and a title."""
    rows = [_TITLE.sub(title, row) for row in writer.text()]
    rows = with_names(rows, writer.region, writer.program, names, _TAKEN)
    return constant_rows(writer.parts.constants, names) + [part for row in rows for part in _split(row)]


def _split(row: str) -> list[str]:
    """Split a row of several reads that became too long."""
    found = _READS.match(row) if len(row.strip()) > LONGEST else None
    if found is None:
        return [row]
    space, targets, sources = found.groups()
    return [f"{space}{a} = {b}" for a, b in zip(targets.split(", "), sources.split(", "), strict=True)]


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
