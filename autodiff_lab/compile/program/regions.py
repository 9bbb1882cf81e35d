"""Regions: runs of elementwise lines that one loop over memory computes, with the reductions of their results.

Inside a region a value is read or computed once for each element and never stored unless something outside needs it.  A
region that goes row by row knows the sum or the largest element of a row before it goes over the row again, so that a
softmax or a normalized layer is one region too.  `finding` decides which lines make a region.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from autodiff_lab.compile.program.expressions import expression, of_parts
from autodiff_lab.compile.program.program import Line, Program, Value
from autodiff_lab.kernels.base.compiler import breathe

MOST_LINES, MOST_WITH_FEW_FUNCTIONS, FEW_FUNCTIONS = 120, 500, 16
"""Longer runs become several loops, as compile time grows faster than linearly, but not with lines of arithmetic."""
SHORT = 64
"""Elements of the longest innermost loop that NumPy would begin too often: a step is quicker for arrays of any size."""
SHORTEST_ROW = 16
"""What depends on the sum of a shorter row is left to the next region on a GPU, which loops over all elements."""
WIDE = 65_536
"""Elements from which on a loop takes a range of blocks or rows, so that threads can share it."""
LARGEST_IN_TURN = 2 * WIDE
"""Elements from which on a loop over arrays stays unrolled: its turns are not shared among threads."""
LONGEST_THERE = 16_384
"""Bytes of the longest row that threads of a GPU share and read again: the rows of all blocks must fit its cache."""
REDUCTIONS = frozenset({"sum", "mean", "max", "min", "prod"})
_DTYPES = (np.dtype("float32"), np.dtype("float64"))


@dataclass(frozen=True)
class Region:
    """Lines of one loop nest over `shape`, which is split into rows and columns before axis `split`.

    Attributes
    ----------
    stage : int
        When it runs: what it needs comes from earlier stages.
    split : int or None
        None where every input has the whole shape or is a single number.
    lines, sums, row_lines : tuple of Line
        Elementwise lines; the reductions of their values over rows, columns or both; and lines that compute one number
        for each row, from such reductions.
    how : mapping of int to str
        How each value from outside lies in the loop: 'whole', 'row', 'column' or 'single'.
    row_values : frozenset of int
        Values made here of which each row has one.
    needed : frozenset of int
        Values made here that something outside uses.
    parted : bool
        Whether lines of it have moved to a later region; what stays is a loop even if it is one line.
    memory : Memory or None
        Of the GPU on which it runs.
    """

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    stage: int
    split: int | None
    lines: tuple[Line, ...]
    sums: tuple[Line, ...]
    row_lines: tuple[Line, ...]
    how: Mapping[int, str]
    row_values: frozenset[int]
    needed: frozenset[int]
    parted: bool = False
    memory: Any = None

    @property
    def all(self) -> tuple[Line, ...]:
        """Every line of the region."""
        return self.lines + self.sums + self.row_lines

    @property
    def is_loop(self) -> bool:
        """Whether a loop is worth a call: it has two lines, or had before some moved."""
        return len(self.all) > 1 or self.parted

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


@dataclass(eq=False)  # a draft is itself, whatever it holds
class Draft:
    """A region to which lines may still be added; `reads` are its inputs, for the rest see `Region`."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    stage: int
    memory: Any = None
    split: int | None = None
    lines: list[Line] = field(default_factory=list)
    sums: list[Line] = field(default_factory=list)
    row_lines: list[Line] = field(default_factory=list)
    how: dict[int, str] = field(default_factory=dict)
    row_values: set[int] = field(default_factory=set)
    reads: set[int] = field(default_factory=set)
    functions: int = 0  # lines with elementary functions
    parted: bool = False

    def has_room(self, more: int = 1) -> bool:
        """Return whether `more` lines may be added; values of float64 take two registers of a GPU each."""
        most = MOST_LINES // 2 if self.memory is not None and self.dtype.itemsize > 4 else MOST_LINES
        if self.memory is None and self.functions <= FEW_FUNCTIONS:
            most = MOST_WITH_FEW_FUNCTIONS
        return len(self.lines) + len(self.sums) + len(self.row_lines) + more <= most

    def fit(
        self, ins: Iterable[int], values: Mapping[int, Value], inside: Container[int] = ()
    ) -> tuple[int | None, dict[int, str]] | None:
        """Return the split with these inputs and how they lie, None if they do not fit; `inside` are made here."""
        split, how = self.split, dict[int, str]()
        for i in ins:
            lies, axis = layout(values[i].shape, self.shape)
            if axis is not None:
                if split is not None and not same_rows(self.shape, split, axis):
                    return None
                split = axis if split is None else split
            if i in inside:
                if lies != ("column" if i in self.row_values else "whole"):
                    return None
            elif lies is None or self.how.get(i, lies) != lies:
                return None
            else:
                how[i] = lies
        return split, how

    def finish(self, needed: set[int]) -> Region:
        """Return the region; `needed` are the outputs, and the values that other regions or lines use."""
        lines, sums, row_lines = tuple(self.lines), tuple(self.sums), tuple(self.row_lines)
        made = {line.outs[0] for line in (*lines, *sums, *row_lines)}
        return Region(
            self.shape, self.dtype, self.stage, self.split, lines, sums, row_lines, self.how,
            frozenset(self.row_values), frozenset(made & needed), self.parted, self.memory,
        )  # fmt: skip


def layout(shape: tuple[int, ...], whole: tuple[int, ...]) -> tuple[str | None, int | None]:
    """Return how an operand lies in the loop: 'whole', 'single', 'row' or 'column' with its axis, or None."""
    if shape == whole:
        return "whole", None
    if all(n == 1 for n in shape):
        return "single" if len(shape) <= len(whole) else None, None
    if len(shape) > len(whole):
        return None, None
    padded = (1,) * (len(whole) - len(shape)) + shape
    axis = next(k for k, n in enumerate(padded) if n != 1)
    if padded[axis:] == whole[axis:]:
        return "row", axis
    last = max(k for k, n in enumerate(padded) if n != 1) + 1
    return ("column", last) if padded[:last] == whole[:last] else (None, None)


def reduced(line: Line, program: Program) -> tuple[str | None, int | None]:
    """Return how a reduction runs: 'single' for all axes; with its axis 'row' over rows, 'column' within each row."""
    if line.op.name not in REDUCTIONS or not line.params["axes"]:
        return None, None
    rank = len(program.values[line.ins[0]].shape)
    axes = sorted(a + rank for a in line.params["axes"])
    if axes == list(range(rank)):
        return "single", None
    if axes == list(range(len(axes))):
        return "row", len(axes)
    return ("column", axes[0]) if axes == list(range(axes[0], rank)) else (None, None)


def fusible(line: Line, program: Program) -> bool:
    """Return whether a loop can compute this line."""
    breathe()
    if len(line.outs) != 1:
        return False
    out = program.values[line.outs[0]]
    if expression(line, program) is None or not _in_one_place(line, program):
        return False
    kinds = {program.values[i].dtype for i in line.ins} | {out.dtype}
    kinds.discard(np.dtype(bool))
    floats = {of_parts(kind) for kind in kinds}
    plain = floats == kinds or (out.memory is None and out.shape != ())  # single complex numbers are NumPy's
    return 0 not in out.shape and len(floats) <= 1 and floats <= set(_DTYPES) and plain


def _in_one_place(line: Line, program: Program) -> bool:
    """Return whether a line reads and writes one memory; single numbers of the CPU are passed to a GPU by value."""
    values = program.values
    place = values[line.outs[0]].memory
    return all(values[i].memory is place or (values[i].memory is None and not values[i].shape) for i in line.ins)


def rows_fit(columns: int, memory: Any) -> bool:
    """Return whether a loop may go over rows of a length again; those of the CPU may have any."""
    return columns >= SHORTEST_ROW or memory is None


def too_long(shape: tuple[int, ...], split: int, value: Value) -> bool:
    """Return whether rows on a GPU are left to kernels that read each once, with more threads than a block has."""
    length = math.prod(shape[split:]) * value.dtype.itemsize
    return value.memory is not None and length > LONGEST_THERE and math.prod(shape[:split]) > 1


def same_rows(shape: tuple[int, ...], a: int, b: int) -> bool:
    """Return whether two splits make the same rows; axes of length 1 do not matter."""
    return math.prod(shape[:a]) == math.prod(shape[:b])
