"""Operands that are parts of other arrays: a loop reads each row of them where it lies, instead of a copy."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

from autodiff_lab.compile.program.layouts import dense_strides, is_dense, merged, places_of, seen_by
from autodiff_lab.compile.program.looking import looking
from autodiff_lab.compile.program.program import Line, Program
from autodiff_lab.compile.program.regions import Region

SHORTEST = 32
"""Elements of the shortest row that is read in place: to begin a row takes as long as to copy so many elements."""
LONGEST_STEP = 4
"""Elements between neighbours of a row up to which reading it in place is faster than copying it."""


class Strided(NamedTuple):
    """Where a loop finds an operand.

    Attributes
    ----------
    base : int
        The value in whose memory it lies.
    lines : tuple of Line
        The ops that take it from there.
    starts : array of int64
        Of each row, the element of the base that comes first in memory; None if `positions` say so.
    step : int
        How far apart the elements of a row lie; negative if the row begins with the last one in memory.
    positions : int or None
        The value that says at run time, for each row, which row of the base it is.
    """

    base: int
    lines: tuple[Line, ...]
    starts: Any
    step: int
    positions: int | None = None

    def start(self, array: str) -> str:
        """Return the expression of the first element of row r, where `array` holds starts or positions."""
        return f"{array}[r]" if self.positions is None else f"{array}[r] * columns"

    def element(self, array: str) -> str:
        """Return the expression of element i of a row that `array` holds, from the first to the last in memory."""
        at = "i" if self.step >= 0 else "(columns - 1 - i)"
        return f"{array}[{at}{f' * {abs(self.step)}' if abs(self.step) != 1 else ''}]"

    def end(self) -> str:
        """Return the expression of the number of elements of the base from the first of a row to its last."""
        return "columns" if abs(self.step) == 1 else f"(columns - 1) * {abs(self.step)} + 1"


class Origin(NamedTuple):
    """Where a value lies: in the memory of a base, taken from there by ops, from an element on and with strides."""

    base: int
    lines: tuple[Line, ...]
    offset: int
    strides: tuple[int, ...]


def with_strided(
    region: Region, program: Program, most: int, origin_of: Callable[[int], Origin]
) -> tuple[Region, dict[int, Strided]]:
    """Return the region, perhaps with rows that it did not have, and the operands that it reads in place.

    Rows of more than `most` elements are processed in blocks, which can be read in place if neighbours are contiguous.
    """
    found: dict[int, Origin] = {}
    splits: dict[int, int] = {}
    for i in region.ins():
        if region.how[i] != "whole" or i in program.constants:
            continue
        origin = origin_of(i)
        split = _split(region.shape, origin.strides)
        if not is_dense(region.shape, origin.strides) and split is not None:
            found[i], splits[i] = origin, split
    if region.split is None and splits:
        region = replace(region, split=max(splits.values()))
    made: dict[int, Strided] = {}
    for i, (base, lines, offset, strides) in found.items():
        axes = merged(region.shape[region.split :], strides[region.split :])
        step = axes[0][1] if axes else 1
        if splits[i] <= (region.split or 0) and (region.columns <= most or step == 1):
            starts = places_of(region.shape[: region.split], strides[: region.split], offset)
            made[i] = Strided(base, lines, starts + min(0, step * (region.columns - 1)), step)
    return region, made


def with_short_rows(
    region: Region, program: Program, most: int, origin_of: Callable[[int], Origin]
) -> tuple[Region, dict[int, Strided]]:
    """Return the region, perhaps with rows of `most` elements or less, and the operands whose rows lie evenly apart."""
    found = {
        i: origin_of(i) for i in region.ins() if region.how[i] in ("whole", "column") and i not in program.constants
    }
    shapes = {i: program.values[i].shape for i in found}
    found = {i: origin for i, origin in found.items() if not is_dense(shapes[i], origin.strides)}
    if region.split is None:
        splits = [k for k in range(1, len(region.shape)) if 1 < math.prod(region.shape[k:]) <= most]
        fits = [k for k in splits if any(_even(region.shape, origin.strides, k) for origin in found.values())]
        region = replace(region, split=max(fits)) if fits else region
    made: dict[int, Strided] = {}
    for i, (base, lines, offset, strides) in found.items():
        split = region.split if region.how[i] == "whole" else len(shapes[i])
        if split is not None and _even(shapes[i], strides, split):
            step = strides[-1] if region.how[i] == "whole" else 1
            starts = places_of(shapes[i][:split], strides[:split], offset)
            made[i] = Strided(base, lines, starts + min(0, step * (region.columns - 1)), step)
    return region, made


def _even(shape: tuple[int, ...], strides: tuple[int, ...], split: int) -> bool:
    """Return whether rows lie evenly apart, and so do the elements of a row."""
    ways = (merged(shape[:split], strides[:split]), merged(shape[split:], strides[split:]))
    return all(len(way) < 2 for way in ways) and (split == len(shape) or shape[-1] > 1)


def origin_in(program: Program, value: int) -> Origin:
    """Return where a value of a program lies if what ops look at is contiguous."""
    lines: list[Line] = []
    base = value
    while (line := looking(base, program)) is not None:
        lines.append(line)
        base = line.ins[0]
    while lines:
        kind = program.values[base]
        lies: tuple[int, tuple[int, ...]] | None = (0, dense_strides(kind.shape))
        for line in reversed(lines):
            if lies is not None:
                seen = seen_by(line, program.values[line.ins[0]].shape, kind.dtype, lies[1])
                lies = None if seen is None else (lies[0] + seen[0], seen[1])
        if lies is not None:
            return Origin(base, tuple(reversed(lines)), *lies)
        base = lines.pop().outs[0]  # what its op makes is a copy, and may be what the others look at
    return Origin(base, (), 0, dense_strides(program.values[base].shape))


def _split(shape: tuple[int, ...], strides: tuple[int, ...]) -> int | None:
    """Return the first axis from which on elements are evenly spaced, None if such rows are short or spaced widely."""
    split = len(shape)
    while split and len(axes := merged(shape[split - 1 :], strides[split - 1 :])) < 2:
        if axes and not 0 < abs(axes[0][1]) <= LONGEST_STEP:
            return None
        split -= 1
    return split if math.prod(shape[split:]) >= SHORTEST else None
