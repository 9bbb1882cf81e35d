"""Launching kernels: how many threads share rows and columns, and how a program's arrays reach a kernel.

If blocks leave partial sums, a second launch adds them.  A program's constants are copied to where they are used before
the first call.  What runs counts as our own code: arrays that an op creates on the CPU on its way are copied along, and
reported as traffic.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from autodiff_lab.compile.loops.cuda.text import Writer
from autodiff_lab.compile.loops.source import Step
from autodiff_lab.compile.program.program import Line, Program
from autodiff_lab.kernels.cuda.array import DeviceArray
from autodiff_lab.kernels.cuda.launching import SIMULATED, THREADS, Kernel, flat, launch
from autodiff_lab.kernels.cuda.memory import KINDS
from autodiff_lab.kernels.maths.cuda_folds import BLOCKS, WARP, folded

ROUNDS = 2 if SIMULATED else 128
"""Blocks for each multiprocessor of a grid that does not reduce: short ones, so that none waits long for the last."""


class Grid(NamedTuple):
    """The grid of a launch; `sizes` are the last arguments of the kernel."""

    blocks: tuple[int, int]
    threads: tuple[int, int]
    sizes: tuple[int, ...]


def grid_for(writer: Writer) -> Grid:
    """Return the grid of a region; one that reduces is the same on every GPU, and so are its sums."""
    region = writer.region
    most = BLOCKS if writer.folded else region.memory.multiprocessors * ROUNDS
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
    """Return the smallest power of two that is at least `count`."""
    return 1 << max(0, count - 1).bit_length()


def _width(columns: int) -> int:
    """Return how many threads share a row: one per element of a short row, one per four of a long one."""
    if columns <= WARP:
        return min(_power(columns), THREADS)
    return min(max(WARP, _power(-(-columns // 4))), THREADS)


def _across(columns: int) -> int:
    """Return the columns of a block, such that few of its threads have none."""
    width = min(_power(columns), THREADS)
    while width > WARP and -(-columns // width) * width > columns * 9 // 8:
        width //= 2
    return width


class _Fold(NamedTuple):
    """How partial results of a reduction become a result of some shape."""

    op: str
    shape: tuple[int, ...]
    rows: int
    columns: int
    divisor: int


class Runner:
    """Runs a kernel: takes the arrays of `ins`, returns a tuple of those of `outs`."""

    def __init__(self, writer: Writer, run: Kernel) -> None:
        region, parts, values = writer.region, writer.parts, writer.program.values
        self.run, self.memory, self.dtype, self.numbers = run, region.memory, region.dtype, writer.numbers
        stored = [*parts.stored, *writer.row_stored]
        self.ins, self.outs = [*parts.arrays, *parts.single], [*stored, *(line.outs[0] for line in writer.folded)]
        self.grid = grid_for(writer)
        self.made = [(values[i].shape, values[i].dtype) for i in stored]
        self.folds = [self._fold(line, writer) for line in writer.folded]

    def _fold(self, line: Line, writer: Writer) -> _Fold:
        """Return how partial results of a reduction are put together."""
        values, is_over_rows = writer.program.values, line in writer.parts.over_rows
        columns = writer.region.columns if is_over_rows else 1
        rows = self.grid.blocks[1] if is_over_rows else math.prod(self.grid.blocks)
        divisor = math.prod(values[line.ins[0]].shape) // columns if line.op.name == "mean" else 1
        return _Fold(line.op.name, values[line.outs[0]].shape, rows, columns, divisor)

    def __call__(self, *arrays: Any) -> tuple[Any, ...]:
        """Launch; nothing waits for the GPU."""
        memory, dtype = self.memory, self.dtype
        given = [a if i in self.numbers else _row(a) for i, a in zip(self.ins, arrays, strict=True)]
        made = [memory.empty(shape, kind) for shape, kind in self.made]
        parts = [memory.empty((fold.rows * fold.columns,), dtype) for fold in self.folds]
        arguments = [*given, *map(_row, made), *parts, *map(np.uint32, self.grid.sizes)]
        launch(self.run, self.grid.blocks, self.grid.threads, *arguments)
        return (*made, *(self._together(fold, part) for fold, part in zip(self.folds, parts, strict=True)))

    def _together(self, fold: _Fold, parts: DeviceArray) -> DeviceArray:
        if fold.rows == 1 and fold.divisor == 1:
            return parts.reshape(fold.shape)
        made = self.memory.empty(fold.shape, self.dtype)
        folded(fold.op, parts, _row(made), fold.rows, fold.columns, fold.divisor)
        return made


def _row(array: DeviceArray) -> DeviceArray:
    """Return the elements of an array in one dimension: itself, a view, or a copy if it is not contiguous."""
    raw = array.raw
    if not raw.flags.c_contiguous:
        return flat(array)
    return array if raw.ndim == 1 else array.memory.wrap(raw.reshape(-1))


def with_constants_there(program: Program, steps: list[Step]) -> Program:
    """Return the program with the constants that its steps use on the GPU, and no others.

    Many are numbers in the text of kernels and need no memory.  One from the CPU is copied if all that use it are on
    the GPU.
    """
    values = program.values
    users: dict[int, list[Any]] = {}
    for step in steps:
        for i in step.ins:
            users.setdefault(i, []).append(values[step.outs[0]].memory)
    kept: dict[int, Any] = {}
    for i, array in program.constants.items():
        if i not in users and i not in program.outputs:
            continue
        memory = values[i].memory
        if memory is None and isinstance(array, np.ndarray) and array.ndim and array.dtype.kind in KINDS:
            places = users.get(i, [None])
            memory = places[0] if i not in program.outputs and all(place is places[0] for place in places) else None
        kept[i] = array if memory is None or array.__class__ is DeviceArray else memory.upload(array)
    return replace(program, constants=kept)


def on_gpu(run: Callable[..., Any], memory: Any) -> Callable[..., Any]:
    """Return a program's function that runs on a GPU as our own code."""

    def run_there(*arrays: Any) -> Any:
        with memory.using():
            return run(*arrays)

    return run_there
