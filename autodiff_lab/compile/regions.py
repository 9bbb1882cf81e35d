"""Regions: runs of elementwise lines that one loop over memory can do, with the sums of their results.

Every line gets a stage, such that what a line needs from outside its own region comes from an earlier stage; lines of
one stage, shape and dtype that share values become a region.  Inside, a value is read or computed once for each
element and never stored unless something outside needs it.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from autodiff_lab.compile.expressions import EXPRESSIONS, expression
from autodiff_lab.compile.program import Line, Program

MOST_LINES = 120
"""Longer runs become several loops: compiling grows faster than they do."""
_DTYPES = (np.dtype("float32"), np.dtype("float64"))


@dataclass
class Region:
    """Lines of one loop nest over `shape`, which is split into rows and columns before axis `split`.

    Attributes
    ----------
    lines, sums : list of Line
        Elementwise lines, and the sums of their values over rows, columns or both.
    split : int or None
        None where every input has the whole shape or is a single number.
    """

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    stage: int
    split: int | None = None
    lines: list[Line] = field(default_factory=list)
    sums: list[Line] = field(default_factory=list)
    reads: set[int] = field(default_factory=set)

    @property
    def size(self) -> int:
        """Number of lines."""
        return len(self.lines) + len(self.sums)

    @property
    def all(self) -> list[Line]:
        """Every line of the region."""
        return [*self.lines, *self.sums]

    def ins(self) -> list[int]:
        """Values from outside, in the order of their first use."""
        made = {i for line in self.all for i in line.outs}
        return list(dict.fromkeys(i for line in self.all for i in line.ins if i not in made))


def layout(shape: tuple[int, ...], whole: tuple[int, ...]) -> str | tuple[str, int] | None:
    """How an operand lies in the loop: 'whole', 'single', ('row', axis), ('column', axis), or None for otherwise."""
    if shape == whole:
        return "whole"
    if all(n == 1 for n in shape):
        return "single" if len(shape) <= len(whole) else None
    if len(shape) > len(whole):
        return None
    padded = (1,) * (len(whole) - len(shape)) + shape
    axis = next(k for k, n in enumerate(padded) if n != 1)
    if padded[axis:] == whole[axis:]:
        return "row", axis
    last = max(k for k, n in enumerate(padded) if n != 1) + 1
    return ("column", last) if padded[:last] == whole[:last] else None


def summed(line: Line, program: Program) -> str | tuple[str, int] | None:
    """How a sum runs over the loop: 'single' for all axes, 'row' sums over rows, 'column' over columns."""
    if line.op.name not in ("sum", "mean") or not line.params["axes"]:
        return None
    rank = len(program.values[line.ins[0]].shape)
    axes = sorted(a + rank for a in line.params["axes"])
    if axes == list(range(rank)):
        return "single"
    if line.op.name == "mean":
        return None
    if axes == list(range(len(axes))):
        return "row", len(axes)
    return ("column", axes[0]) if axes == list(range(axes[0], rank)) else None


def fusible(line: Line, program: Program) -> bool:
    """Whether a loop can compute this line."""
    if len(line.outs) != 1:
        return False
    out = program.values[line.outs[0]]
    known = expression(line, program) is not None if out.shape else line.op.name in EXPRESSIONS
    if not known:
        return False
    kinds = {program.values[i].dtype for i in line.ins} | {out.dtype}
    floats = kinds - {np.dtype(bool)}
    return 0 not in out.shape and len(floats) <= 1 and floats <= set(_DTYPES)


def find_regions(program: Program) -> tuple[list[Region], list[Line], dict[int, int]]:
    """The regions, the lines outside, and the stage at which each value is there."""
    return _Finder(program).found()


class _Finder:
    """Goes through the lines in order and puts each into a region or outside."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.home: dict[int, Region] = {}  # value -> the region that makes it
        self.inner: set[int] = set()  # values that live inside a loop: not sums
        self.roots = {*program.inputs, *program.constants}
        self.stage: dict[int, int] = dict.fromkeys(self.roots, 0)
        self.regions: list[Region] = []
        self.open: defaultdict[Any, list[Region]] = defaultdict(list)
        self.outside: list[Line] = []

    def found(self) -> tuple[list[Region], list[Line], dict[int, int]]:
        """Walk."""
        for line in self.program.lines:
            if fusible(line, self.program):
                self._elementwise(line)
            elif not self._sum(line):
                self._alone(line)
        return self.regions, self.outside, self.stage

    def _ready(self, line: Line, region: Region | None) -> int:
        """The earliest stage of a line if it joins `region`."""
        return max([1, *(self.stage[i] + (not self._inside(i, region)) for i in line.ins if i not in self.roots)])

    def _inside(self, value: int, region: Region | None) -> bool:
        return value in self.inner and self.home[value] is region

    def _alone(self, line: Line) -> None:
        stage = self._ready(line, None)
        self.outside.append(line)
        self.stage.update(dict.fromkeys(line.outs, stage))

    def _elementwise(self, line: Line) -> None:
        out = self.program.values[line.outs[0]]
        kinds = (out.dtype, *(self.program.values[i].dtype for i in line.ins))
        dtype = next((d for d in kinds if d != np.dtype(bool)), None)  # truth values go with any
        scalar = not out.shape
        near = [self.home[i] for i in line.ins if i in self.inner]
        mates = [r for r in near if r.shape == out.shape and dtype in (r.dtype, None)]
        mates += [r for r in self.open[out.shape, dtype] if r not in mates and (scalar or self._share(r, line))]
        for region in sorted(mates, key=lambda r: -r.stage):
            if (scalar or region.size < MOST_LINES) and self._ready(line, region) <= region.stage:
                split = self._fits(line, region)
                if split is not False:
                    region.split = split
                    self._join(line, region, inner=True)
                    return
        if dtype is None:
            self._alone(line)
            return
        region = Region(out.shape, dtype, self._ready(line, None))
        split = self._fits(line, region)
        if split is False:
            self._alone(line)
            return
        region.split = split
        self.regions.append(region)
        self.open[out.shape, dtype].append(region)
        self._join(line, region, inner=True)

    def _share(self, region: Region, line: Line) -> bool:
        """Whether a line reads an array that the region reads anyway."""
        ins = {i for i in line.ins if len(self.program.values[i].shape) and i not in self.inner}
        return not ins.isdisjoint(region.reads)

    def _join(self, line: Line, region: Region, inner: bool) -> None:
        (region.lines if inner else region.sums).append(line)
        region.reads.update(line.ins)
        self.home[line.outs[0]] = region
        self.stage[line.outs[0]] = region.stage
        if inner:
            self.inner.add(line.outs[0])

    def _fits(self, line: Line, region: Region) -> Any:
        """The split of the region with this line in it, False if there is none."""
        split = region.split
        for i in line.ins:
            found = layout(self.program.values[i].shape, region.shape)
            if found is None:
                return False
            if isinstance(found, tuple):
                if split is not None and split != found[1]:
                    return False
                split = found[1]
        return split

    def _sum(self, line: Line) -> bool:
        how = summed(line, self.program)
        region = self.home.get(line.ins[0]) if line.ins[0] in self.inner else None
        if how is None or region is None or region.size >= MOST_LINES:
            return False
        if self.program.values[line.outs[0]].dtype != region.dtype:
            return False
        if isinstance(how, tuple):
            if region.split is not None and region.split != how[1]:
                return False
            region.split = how[1]
        self._join(line, region, inner=False)
        return True
