"""Running a kernel: from the arrays of a program to those that a kernel takes and gives.

Where blocks left parts of sums, a second launch puts them together.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from autodiff_lab.compile.cuda_grids import grid_for
from autodiff_lab.compile.cuda_text import Writer
from autodiff_lab.compile.loops import number_names
from autodiff_lab.compile.parts import Parts
from autodiff_lab.compile.program import Line, Program
from autodiff_lab.compile.regions import Region
from autodiff_lab.kernels.cuda.array import DeviceArray
from autodiff_lab.kernels.cuda.elementwise_folds import folded
from autodiff_lab.kernels.cuda.launching import Kernel, flat, launch


class _Fold(NamedTuple):
    """How parts of a reduction become a result of some shape."""

    op: str
    shape: tuple[int, ...]
    rows: int
    columns: int
    divisor: int


class Runner:
    """Runs a kernel: takes the arrays of `ins`, gives a tuple of those of `outs`."""

    def __init__(self, region: Region, program: Program, parts: Parts, numbers: set[int], run: Kernel) -> None:
        writer = Writer(region, program, parts, number_names(region), numbers)
        self.run, self.memory, self.dtype = run, region.memory, region.dtype
        arrays = [*parts.whole, *parts.row, *parts.column]
        self.ins, self.numbers, self.stored = [*arrays, *parts.single], numbers, [*parts.stored, *parts.row_stored]
        self.folded = writer.folded
        self.outs = [*self.stored, *(line.outs[0] for line in self.folded)]
        self.grid = grid_for(writer, region)
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
        """Launch; nothing waits for the GPU."""
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
