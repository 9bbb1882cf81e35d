"""Grids: how many threads a kernel is launched with, and how they share rows and columns."""

from __future__ import annotations

import math
from typing import NamedTuple

from autodiff_lab.compile.cuda_text import Writer
from autodiff_lab.compile.regions import Region
from autodiff_lab.kernels.cuda.elementwise_folds import BLOCKS
from autodiff_lab.kernels.cuda.elementwise_warps import WARP
from autodiff_lab.kernels.cuda.launching import SIMULATED, THREADS

ROUNDS = 2 if SIMULATED else 128
"""Blocks for each multiprocessor of a grid that does not reduce: short ones, so that none waits long for the last."""


class Grid(NamedTuple):
    """The grid of a launch; `sizes` are the last arguments, `per` the rows of a block where it keeps to columns."""

    blocks: tuple[int, int]
    threads: tuple[int, int]
    sizes: tuple[int, ...]


def grid_for(writer: Writer, region: Region) -> Grid:
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
