"""Kernels on a GPU: a region becomes text, the text a compiled kernel.

A kernel is compiled once for its text, whatever program it is part of and however large its arrays are: sizes are
arguments.
"""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module
from typing import Any

from autodiff_lab.compile.cuda_parts import parts_on_gpu, sort_inputs
from autodiff_lab.compile.cuda_runner import Runner
from autodiff_lab.compile.cuda_text import Writer
from autodiff_lab.compile.kernels import with_comments
from autodiff_lab.compile.loops import constant_text, number_names
from autodiff_lab.compile.parts import Parts
from autodiff_lab.compile.program import Program
from autodiff_lab.compile.regions import Region
from autodiff_lab.compile.source import Kernel
from autodiff_lab.kernels.cuda import launching
from autodiff_lab.kernels.cuda.elementwise import namespace
from autodiff_lab.kernels.cuda.launching import check_size

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
    """The text that is compiled; with names that hang on the structure alone, others have it too."""
    constants = [f"{names[i]} = {constant_text(value)}" for i, value in parts.constants.items()]
    rows = Writer(region, program, parts, names, numbers).text(title)
    return "\n".join([*constants, *(row for row in rows if row != "@cuda.jit")]) + "\n"  # `launching` compiles it


def signature(region: Region, program: Program, parts: Parts, numbers: set[int]) -> str:
    """The Numba types of the arguments, in their order."""
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
    """The kernel of a generated text; compiled now, so that no call waits and what cannot be compiled is known.

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
