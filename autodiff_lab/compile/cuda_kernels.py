"""Kernels on a GPU: what stands between the generated text of a CUDA kernel and the arrays of a program.

A kernel is compiled once for its text, whatever program it is part of and however large its arrays are: sizes are
arguments.  Where blocks left parts of sums, a second launch puts them together.
"""

from __future__ import annotations

import math
from functools import lru_cache
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from autodiff_lab.compile.cuda_text import Writer, grid_of, way_of
from autodiff_lab.compile.expressions import ANGLES
from autodiff_lab.compile.kernels import with_comments
from autodiff_lab.compile.loops import constant_text, number_names
from autodiff_lab.compile.parts import Parts, parts_of
from autodiff_lab.compile.program import Line, Program
from autodiff_lab.compile.regions import Region
from autodiff_lab.compile.source import Kernel
from autodiff_lab.kernels.cuda import launching
from autodiff_lab.kernels.cuda.array import DeviceArray
from autodiff_lab.kernels.cuda.elementwise import BLOCKS, WARP, folded, namespace
from autodiff_lab.kernels.cuda.launching import THREADS, check_size, flat, launch

ROUNDS = 2 if launching.SIMULATED else 128
"""Blocks for each multiprocessor of a grid that does not reduce: short ones, so that none waits long for the last."""
MOST_ARRAYS = 60
"""Arrays that a kernel takes: each comes as seven numbers of 8 bytes, and a launch passes 4096 bytes on older GPUs."""


class Grid(NamedTuple):
    """The grid of a launch; `sizes` are the last arguments, `per` the rows of a block where it keeps to columns."""

    blocks: tuple[int, int]
    threads: tuple[int, int]
    sizes: tuple[int, ...]


def kernel_on_gpu(region: Region, program: Program, needed: set[int], names: dict[int, str], title: str) -> Kernel:
    """Compile a region; `needed` are the values that something outside uses."""
    check_size(title, region.shape)
    parts = parts_on_gpu(region, program, needed)
    numbers = sort_inputs(region, program, parts)
    text = module_text(region, program, parts, numbers, number_names(region), "kernel")
    run = compiled(text, region.dtype.name, signature(region, program, parts, numbers), region.memory)
    runner = _Runner(region, program, parts, numbers, run)
    constants = [f"{names[i]} = {constant_text(v)}" for i, v in parts.constants.items()]
    shown = with_comments(Writer(region, program, parts, names, numbers).text(title), region, program, names)
    backward = all(line.cause is not None for line in region.all)
    note = f"{len(region.all)} ops in one launch on the GPU"
    return Kernel(title, "\n".join([*constants, *shown]), tuple(runner.ins), tuple(runner.outs), runner, backward, note)


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
    """What a kernel reads and writes, with the expressions of a GPU."""
    parts = parts_of(region, program, needed)
    for line in [*region.lines, *region.row_lines]:
        if line.op.name in QUOTIENTS:
            parts.texts[line.outs[0]] = QUOTIENTS[line.op.name]
        elif line.op.name in ANGLES and region.dtype == np.float32:
            parts.texts[line.outs[0]] = f"{line.op.name}({{0}}, far)"
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


class _Fold(NamedTuple):
    """How parts of a reduction become a result of some shape."""

    op: str
    shape: tuple[int, ...]
    rows: int
    columns: int
    divisor: int


class _Runner:
    """Runs a kernel: takes the arrays of `ins`, gives a tuple of those of `outs`."""

    def __init__(
        self, region: Region, program: Program, parts: Parts, numbers: set[int], run: launching.Kernel
    ) -> None:
        writer = Writer(region, program, parts, number_names(region), numbers)
        self.run, self.memory, self.dtype = run, region.memory, region.dtype
        arrays = [*parts.whole, *parts.row, *parts.column]
        self.ins, self.numbers, self.stored = [*arrays, *parts.single], numbers, [*parts.stored, *parts.row_stored]
        self.folded = writer.folded
        self.outs = [*self.stored, *(line.outs[0] for line in self.folded)]
        self.grid = _grid(writer, region)
        self.made = [(program.values[i].shape, program.values[i].dtype) for i in self.stored]
        self.folds = [self._fold(line, program, parts, region) for line in self.folded]

    def _fold(self, line: Line, program: Program, parts: Parts, region: Region) -> _Fold:
        """How parts of a reduction are put together."""
        count = math.prod(program.values[line.ins[0]].shape)
        columns = region.columns if line in parts.over_rows else 1
        rows = self.grid.blocks[1] if line in parts.over_rows else math.prod(self.grid.blocks)
        divisor = count // columns if line.op.name == "mean" else 1
        return _Fold(line.op.name, program.values[line.outs[0]].shape, rows, columns, divisor)

    def __call__(self, *arrays: Any) -> tuple[Any, ...]:
        memory, dtype = self.memory, self.dtype
        given = [a if i in self.numbers else _row(a) for i, a in zip(self.ins, arrays, strict=True)]
        made = [memory.empty(shape, kind) for shape, kind in self.made]
        parts = [memory.empty((fold.rows * fold.columns,), dtype) for fold in self.folds]
        launch(
            self.run,
            self.grid.blocks,
            self.grid.threads,
            *given,
            *map(_row, made),
            *parts,
            *map(np.uint32, self.grid.sizes),
        )
        return (*made, *(self._together(fold, part) for fold, part in zip(self.folds, parts, strict=True)))

    def _together(self, fold: _Fold, parts: DeviceArray) -> DeviceArray:
        if fold.rows == 1 and fold.divisor == 1:
            return parts.reshape(fold.shape)
        made = self.memory.empty(fold.shape, self.dtype)
        folded(fold.op, parts, _row(made), fold.rows, fold.columns, fold.divisor)
        return made


def _row(array: DeviceArray) -> DeviceArray:
    """The elements of an array in a row: itself or a view, a copy only of what lies otherwise."""
    raw = array.raw
    if not raw.flags.c_contiguous:
        return flat(array)
    return array if raw.ndim == 1 else array.memory.wrap(raw.reshape(-1))


def _grid(writer: Writer, region: Region) -> Grid:
    """How many threads a region needs; a grid that reduces is the same on every GPU, so that its sums are."""
    folds = bool(writer.folded)
    most = BLOCKS if folds else region.memory.multiprocessors * ROUNDS
    if writer.grid == "elements":
        count = math.prod(region.shape)
        return Grid((min(-(-count // (writer.slots * THREADS)), most), 1), (THREADS, 1), (count,))
    rows, columns = region.rows, region.columns
    if writer.grid == "rows":
        width = _width(columns)
        height = THREADS // width
        return Grid((min(-(-rows // height), most), 1), (width, height), (rows, columns))
    width = _across(columns)
    height, across = THREADS // width, -(-columns // width)
    down = max(1, min(BLOCKS // across, -(-rows // (writer.slots * height))))
    per = -(-rows // down)
    return Grid((across, -(-rows // per)), (width, height), (rows, columns, per))


def _power(count: int) -> int:
    """The least power of two that is not less."""
    return 1 << max(0, count - 1).bit_length()


def _width(columns: int) -> int:
    """Threads that share a row: one for each element of a short one, one for four of a long one."""
    if columns <= WARP:
        return min(_power(columns), THREADS)
    return min(max(WARP, _power(-(-columns // 4))), THREADS)


def _across(columns: int) -> int:
    """Columns of a block, such that few of its threads have none."""
    width = min(_power(columns), THREADS)
    while width > WARP and -(-columns // width) * width > columns * 9 // 8:
        width //= 2
    return width
