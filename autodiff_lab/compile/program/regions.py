"""Regions: runs of elementwise lines that one loop over memory can do, with the reductions of their results.

Every line gets a stage, such that what a line needs from outside its own region comes from an earlier stage; lines of
one stage, shape and dtype that share values become a region.  Inside, a value is read or computed once for each
element and never stored unless something outside needs it.  A region that goes row by row knows the sum or the largest
element of a row before it goes over the row again, so that a softmax or a normalized layer is one region too.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from autodiff_lab.compile.program.expressions import expression
from autodiff_lab.compile.program.program import Line, Program, Value

MOST_LINES = 120
"""Longer runs become several loops: compiling grows faster than they do."""
SHORTEST_ROW = 16
"""Rows shorter than this fill no vector; what depends on their sums is left to the next region, which goes over all."""
LONGEST_THERE = 16_384
"""Bytes of the longest row that threads of a GPU share and visit again: the rows of all blocks must fit its cache."""
REDUCTIONS = frozenset({"sum", "mean", "max", "min", "prod"})
_DTYPES = (np.dtype("float32"), np.dtype("float64"))


@dataclass
class Region:
    """Lines of one loop nest over `shape`, which is split into rows and columns before axis `split`.

    Attributes
    ----------
    lines, sums, row_lines : list of Line
        Elementwise lines; the reductions of their values over rows, columns or both; and lines that compute one number
        for each row, from such reductions.
    how : dict of int to str
        How each value from outside lies in the loop: 'whole', 'row', 'column' or 'single'.
    row_values : set of int
        Values made here of which each row has one.
    split : int or None
        None where every input has the whole shape or is a single number.
    parted : bool
        Whether lines of it have moved to a later region; what stays is a loop even if it is one line.
    memory : Memory or None
        Of the GPU on which it runs.
    """

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    stage: int
    split: int | None = None
    lines: list[Line] = field(default_factory=list)
    sums: list[Line] = field(default_factory=list)
    row_lines: list[Line] = field(default_factory=list)
    how: dict[int, str] = field(default_factory=dict)
    row_values: set[int] = field(default_factory=set)
    reads: set[int] = field(default_factory=set)
    parted: bool = False
    memory: Any = None

    @property
    def size(self) -> int:
        """Number of lines."""
        return len(self.lines) + len(self.sums) + len(self.row_lines)

    @property
    def most(self) -> int:
        """Lines that it may have; those of float64 take two registers of a GPU each."""
        return MOST_LINES // 2 if self.memory is not None and self.dtype.itemsize > 4 else MOST_LINES

    @property
    def all(self) -> list[Line]:
        """Every line of the region."""
        return [*self.lines, *self.sums, *self.row_lines]

    @property
    def rows(self) -> int:
        """Number of rows."""
        return math.prod(self.shape[: self.split]) if self.split is not None else 1

    @property
    def columns(self) -> int:
        """Number of elements in a row."""
        return math.prod(self.shape[self.split :]) if self.split is not None else math.prod(self.shape)

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


def reduced(line: Line, program: Program) -> str | tuple[str, int] | None:
    """How a reduction runs over the loop: 'single' for all axes, 'row' over the rows, 'column' within each row."""
    if line.op.name not in REDUCTIONS or not line.params["axes"]:
        return None
    rank = len(program.values[line.ins[0]].shape)
    axes = sorted(a + rank for a in line.params["axes"])
    if axes == list(range(rank)):
        return "single"
    if axes == list(range(len(axes))):
        return "row", len(axes)
    return ("column", axes[0]) if axes == list(range(axes[0], rank)) else None


def fusible(line: Line, program: Program) -> bool:
    """Return whether a loop can compute this line."""
    if len(line.outs) != 1:
        return False
    out = program.values[line.outs[0]]
    if expression(line, program) is None:
        return False
    kinds = {program.values[i].dtype for i in line.ins} | {out.dtype}
    floats = kinds - {np.dtype(bool)}
    if not _in_one_place(line, program):
        return False
    return 0 not in out.shape and len(floats) <= 1 and floats <= set(_DTYPES)


def _in_one_place(line: Line, program: Program) -> bool:
    """Return whether all that a line takes and gives lies in one memory; a GPU is handed single numbers of the CPU."""
    values = program.values
    place = values[line.outs[0]].memory
    return all(values[i].memory is place or (values[i].memory is None and not values[i].shape) for i in line.ins)


def find_regions(program: Program) -> tuple[list[Region], list[Line], dict[int, int]]:
    """Return the regions, the lines outside, and the stage at which each value is there."""
    return _Finder(program).found()


class _Finder:
    """Goes through the lines in order and puts each into a region or outside."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.home: dict[int, Region] = {}  # value -> the region that makes it
        self.inner: set[int] = set()  # values that live inside a loop: not what is known at its end alone
        self.roots = {*program.inputs, *program.constants}
        self.stage: dict[int, int] = dict.fromkeys(self.roots, 0)
        self.regions: list[Region] = []
        self.open: defaultdict[Any, list[Region]] = defaultdict(list)
        self.outside: list[Line] = []
        self.on_gpu = program.memory is not None
        self.users: defaultdict[int, list[Line]] = defaultdict(list)
        if self.on_gpu:
            for line in program.lines:
                for i in line.ins:
                    self.users[i].append(line)

    def found(self) -> tuple[list[Region], list[Line], dict[int, int]]:
        """Walk."""
        for line in self._in_order():
            if self._number_beside_a_gpu(line) or self._row_line(line):
                continue
            if fusible(line, self.program):
                self._elementwise(line)
            elif not self._reduction(line):
                self._alone(line)
        return self.regions, self.outside, self.stage

    def _in_order(self) -> list[Line]:
        """Return the lines; on a GPU those that only read what comes in stand where they are first used.

        There they may join the kernel that uses them, where before they would have begun one of their own: the decay of
        an optimizer's moment waits for the gradient that is added to it.
        """
        lines = self.program.lines
        if not self.on_gpu:
            return list(lines)
        early = {
            line.outs[0]: line
            for line in lines
            if self.users[line.outs[0]] and self.roots.issuperset(line.ins) and fusible(line, self.program)
        }
        ordered: list[Line] = []
        for line in lines:
            if early.get(line.outs[0]) is not line:
                ordered += [early.pop(i) for i in dict.fromkeys(line.ins) if i in early]
                ordered.append(line)
        return ordered

    def _number_beside_a_gpu(self, line: Line) -> bool:
        """Let the CPU compute single numbers before anything else, so that no kernel of a GPU is split to wait."""
        values = self.program.values
        mine = [*line.ins, *line.outs]
        if not self.on_gpu or any(values[i].memory is not None or values[i].shape for i in mine):
            return False
        if not self.roots.issuperset(line.ins):
            return False
        self.outside.append(line)
        self.roots.update(line.outs)
        self.stage.update(dict.fromkeys(line.outs, 0))
        return True

    def _ready(self, line: Line, region: Region | None) -> int:
        """Return the earliest stage of a line if it joins `region`."""
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
        scalar, place = not out.shape, out.memory
        near = [self.home[i] for i in line.ins if i in self.inner]
        mates = [r for r in near if r.shape == out.shape and dtype in (r.dtype, None) and r.memory is place]
        mates += [
            r
            for r in self.open[out.shape, dtype, place]
            if r not in mates and (scalar or self._reads_the_same(r, line))
        ]
        for region in sorted(mates, key=lambda r: -r.stage):
            endless = scalar and place is None  # loops are found in them, and an interpreter runs any length
            if (endless or region.size < region.most) and self._ready(line, region) <= region.stage:
                fit = self._fits(line, region)
                if fit is not None:
                    self._join(line, region, *fit)
                    return
        if dtype is not None:
            region = Region(out.shape, dtype, self._ready(line, None), memory=place)
            fit = self._fits(line, region)
            if fit is not None:
                self.regions.append(region)
                self.open[out.shape, dtype, place].append(region)
                self._join(line, region, *fit)
                return
        self._alone(line)

    def _reads_the_same(self, region: Region, line: Line) -> bool:
        """Return whether a line reads an array that the region reads anyway."""
        ins = {i for i in line.ins if len(self.program.values[i].shape) and i not in self.inner}
        if not ins.isdisjoint(region.reads):
            return True
        beside = {i for user in self.users[line.outs[0]] for i in user.ins} if self.on_gpu else set[int]()
        return any(self._inside(i, region) for i in beside)  # what it makes meets there what the region makes

    def _join(self, line: Line, region: Region, split: int | None, how: dict[int, str]) -> None:
        region.lines.append(line)
        region.split = split
        self._note(line, region, how, inner=True)

    def _note(self, line: Line, region: Region, how: dict[int, str], inner: bool) -> None:
        region.how.update(how)
        region.reads.update(line.ins)
        self.home[line.outs[0]] = region
        self.stage[line.outs[0]] = region.stage
        if inner:
            self.inner.add(line.outs[0])

    def _fits(self, line: Line, region: Region) -> tuple[int | None, dict[int, str]] | None:
        """Return the split of the region with this line in it, and how its inputs lie; None if it does not fit."""
        split, how = region.split, {}
        for i in line.ins:
            found = layout(self.program.values[i].shape, region.shape)
            if found is None:
                return None
            kind = found
            if isinstance(found, tuple):
                kind = found[0]
                if split is not None and not same_rows(region.shape, split, found[1]):
                    return None
                split = found[1] if split is None else split
            if self._inside(i, region):
                if kind != ("column" if i in region.row_values else "whole"):
                    return None
            elif region.how.get(i, kind) != kind:
                return None
            else:
                how[i] = str(kind)
        return split, how

    def _reduction(self, line: Line) -> bool:
        """Let a reduction join the loop that makes what it reduces."""
        found = reduced(line, self.program)
        region = self.home.get(line.ins[0]) if line.ins[0] in self.inner else None
        if found is None or region is None or region.size >= region.most or not region.shape:
            return False
        made = self.program.values[line.outs[0]]
        if made.dtype != region.dtype or made.memory is not region.memory:
            return False
        of_rows = line.ins[0] in region.row_values
        if of_rows and found != "single":
            return False
        within = False
        if isinstance(found, tuple):
            if region.split is not None and not same_rows(region.shape, region.split, found[1]):
                return False
            if found[0] == "column" and too_long(region.shape, found[1], made):
                return False
            region.split = found[1] if region.split is None else region.split
            within = found[0] == "column" and region.rows > 1 and region.columns >= SHORTEST_ROW
        if within:
            region.row_values.add(line.outs[0])
        region.sums.append(line)
        self._note(line, region, {}, inner=within)
        return True

    def _row_line(self, line: Line) -> bool:
        """Let a line that computes one number for each row, from numbers of the rows, join their region."""
        of_rows = [i for i in line.ins if i in self.inner and i in self.home[i].row_values]
        region = self.home[of_rows[0]] if of_rows else None
        if region is None or region.size >= region.most or len(line.outs) != 1:
            return False
        values = self.program.values
        out = values[line.outs[0]]
        if line.op.name == "reshape":
            fits = math.prod(out.shape) == region.rows
        else:
            fits = fusible(line, self.program) and math.prod(out.shape) == region.rows and out.shape != region.shape
        if not fits or out.dtype != region.dtype or self._ready(line, region) > region.stage:
            return False
        how: dict[int, str] = {}
        for i in line.ins:
            same = values[i].shape == out.shape or line.op.name == "reshape"
            if self._inside(i, region):
                if i not in region.row_values or not same:
                    return False
                continue
            kind = "column" if same else "single" if math.prod(values[i].shape) == 1 else None
            if kind is None or values[i].dtype != region.dtype or region.how.get(i, kind) != kind:
                return False
            how[i] = kind
        region.row_lines.append(line)
        region.row_values.add(line.outs[0])
        self._note(line, region, how, inner=True)
        return True


def too_long(shape: tuple[int, ...], split: int, value: Value) -> bool:
    """Whether rows that lie on a GPU are left to kernels that read each once, with more threads than a block has."""
    length = math.prod(shape[split:]) * value.dtype.itemsize
    return value.memory is not None and length > LONGEST_THERE and math.prod(shape[:split]) > 1


def same_rows(shape: tuple[int, ...], a: int, b: int) -> bool:
    """Return whether two splits make the same rows; axes of length 1 do not matter."""
    return math.prod(shape[:a]) == math.prod(shape[:b])
