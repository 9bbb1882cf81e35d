"""Columns brought to mean 0 and variance 1, and slopes of that, in three launches.

An array is seen as planes (a, n, w), of which n goes; d neighbouring columns may count as one group.  First, blocks
measure pieces of planes (`standardize_pieces`): sums, and squares about the mean of what a thread saw.  Then a team of
threads for each group joins its pieces.  Then the columns are brought to what they are to be.

Threads of a block lie next to each other in memory, whatever w is: a block takes up to 256 columns and as many rows at
once as it has room for, and a thread stays with its column, whose facts it holds in registers.

Traffic, in passes over an array: the result is two reads and one write (12 bytes an element in float32), the slope four
reads and one write (20 bytes): statistics of a column hang on all of it, and arrays are larger than the caches.
Occupancy, in float32 on sm_90: 39 registers a thread for the measures, six blocks of 256 threads on a multiprocessor,
48 and five with a cotangent, 32 and eight for the results; eight loads under way in each thread, sixteen for slopes:
48 kB and more, where some 25 kB keep the memory of a multiprocessor busy.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from autodiff_lab.kernels.cuda.array import DeviceArray
from autodiff_lab.kernels.cuda.launching import cuda, empty, kernel, launch, math
from autodiff_lab.kernels.cuda.standardize_pieces import AT_ONCE, BLOCK, column_of, measure_columns, measure_slopes
from autodiff_lab.kernels.cuda.standardize_pieces import join_pieces as join
from autodiff_lab.kernels.cuda.standardize_teams import TEAM, team_bits, team_blocks

WAVES = 8
"""Pieces for each multiprocessor: several rounds of blocks, so that the last round leaves little idle."""


class Columns(NamedTuple):
    """How threads share planes (a, n, w) whose columns are groups of d."""

    a: int
    n: int
    w: int
    d: int
    chunks: int
    width: int
    pieces: int
    rows: int

    @property
    def blocks(self) -> int:
        """Of the grid."""
        return self.a * self.pieces * self.chunks

    @property
    def groups(self) -> int:
        """Means that are taken."""
        return self.a * self.w // self.d

    @property
    def facts(self) -> tuple[np.uint32, ...]:
        """What kernels are told."""
        return tuple(map(np.uint32, (self.n, self.w, self.d, self.chunks, self.width, self.pieces, self.rows)))


def columns(planes: tuple[int, int, int], d: int, multiprocessors: int) -> Columns:
    """Share planes (a, n, w) among blocks: columns in chunks as wide as a block, rows in pieces that fill the GPU."""
    a, n, w = planes
    chunks = -(-w // BLOCK)
    width = w if chunks == 1 else -(-w // chunks // 32) * 32
    chunks = -(-w // width)
    least = BLOCK // width * AT_ONCE
    wanted = max(1, multiprocessors * WAVES // (a * chunks))
    rows = -(-n // (wanted * least)) * least
    return Columns(a, n, w, d, chunks, width, -(-n // rows), rows)


@kernel(("standardize", "normalize"), "T[::1], T[::1], T[::1], T[::1], T[::1], T, uint32, UniTuple(uint32, 7)")
def standardize_columns(
    x: Any, facts: Any, scale: Any, offset: Any, made: Any, epsilon: Any, scaled: Any, sizes: Any
) -> None:
    """(x - mean) / √(variance + epsilon) of each column, times the scale and plus the offset where it is scaled."""
    plane, column, row, end, deep, there = column_of(sizes)
    if there:
        groups = np.uint32(facts.size // 4)
        own = np.uint32(column // sizes[2])
        group = np.uint32(plane * np.uint32(sizes[1] // sizes[2]) + own)
        mean = facts[group]
        factor = x.dtype.type(1) / math.sqrt(facts[np.uint32(groups + group)] + epsilon)
        level = x.dtype.type(0)
        if scaled != 0:
            factor *= scale[own]
            level = offset[own]
        step = np.uint32(deep * sizes[1])
        at = np.uint32(np.uint32(plane * sizes[0] + row) * sizes[1] + column)
        kept = cuda.local.array(AT_ONCE, x.dtype)
        while row < end:
            for k in range(AT_ONCE):
                kept[k] = x[np.uint32(at + k * step)] if np.uint32(row + k * deep) < end else mean
            for k in range(AT_ONCE):
                if np.uint32(row + k * deep) < end:
                    made[np.uint32(at + k * step)] = (kept[k] - mean) * factor + level
            row = np.uint32(row + AT_ONCE * deep)
            at = np.uint32(at + AT_ONCE * step)


@kernel(
    ("standardize_slope", "normalize_slope"), "T[::1], T[::1], T[::1], T[::1], T[::1], T, uint32, UniTuple(uint32, 7)"
)
def slope_columns(g: Any, x: Any, facts: Any, scale: Any, made: Any, epsilon: Any, scaled: Any, sizes: Any) -> None:
    """The share of x in a cotangent of `standardize_columns`."""
    plane, column, row, end, deep, there = column_of(sizes)
    if there:
        groups, count = np.uint32(facts.size // 4), x.dtype.type(np.uint32(sizes[0] * sizes[2]))
        own = np.uint32(column // sizes[2])
        group = np.uint32(plane * np.uint32(sizes[1] // sizes[2]) + own)
        mean = facts[group]
        root = x.dtype.type(1) / math.sqrt(facts[np.uint32(groups + group)] + epsilon)
        level = facts[np.uint32(2 * groups + group)] / count
        tilt = facts[np.uint32(3 * groups + group)] / count * root
        factor = root * scale[own] if scaled != 0 else root
        step = np.uint32(deep * sizes[1])
        at = np.uint32(np.uint32(plane * sizes[0] + row) * sizes[1] + column)
        kept = cuda.local.array(AT_ONCE, x.dtype)
        shares = cuda.local.array(AT_ONCE, x.dtype)
        while row < end:
            for k in range(AT_ONCE):
                kept[k] = x[np.uint32(at + k * step)] if np.uint32(row + k * deep) < end else mean
                shares[k] = g[np.uint32(at + k * step)] if np.uint32(row + k * deep) < end else mean
            for k in range(AT_ONCE):
                if np.uint32(row + k * deep) < end:
                    made[np.uint32(at + k * step)] = factor * (shares[k] - level - (kept[k] - mean) * tilt)
            row = np.uint32(row + AT_ONCE * deep)
            at = np.uint32(at + AT_ONCE * step)


def facts_of_columns(x: DeviceArray, g: DeviceArray | None, epsilon: float, how: Columns) -> DeviceArray:
    """Means and variances of groups, one after the other.

    With a cotangent there follow sums of it, and of its products with the standardized columns.
    """
    measures, facts = empty(x, ((2 if g is None else 4) * how.a * how.pieces * how.w,)), empty(x, (4 * how.groups,))
    if g is None:
        launch(measure_columns, how.blocks, BLOCK, x, measures, how.facts)
    else:
        launch(measure_slopes, how.blocks, BLOCK, g, x, measures, how.facts)
    bits = team_bits(how.pieces * how.d)
    small, sloped = x.dtype.type(epsilon), np.uint32(g is not None)
    blocks = team_blocks(how.groups, bits)
    launch(join, blocks, TEAM, measures, facts, small, sloped, np.uint32(bits), how.facts)
    return facts


def columns_standardized(
    x: DeviceArray, scaling: tuple[DeviceArray, DeviceArray] | None, epsilon: float, how: Columns
) -> DeviceArray:
    """Columns of a flat array brought to mean 0 and variance 1, then scaled if a scale and an offset are given."""
    facts, made = facts_of_columns(x, None, epsilon, how), empty(x, x.shape)
    small, scaled = x.dtype.type(epsilon), np.uint32(scaling is not None)
    launch(standardize_columns, how.blocks, BLOCK, x, facts, *(scaling or (x, x)), made, small, scaled, how.facts)
    return made


def slope_of_columns(
    g: DeviceArray, x: DeviceArray, scale: DeviceArray | None, epsilon: float, how: Columns
) -> tuple[DeviceArray, DeviceArray]:
    """The share of the columns of x, and what `facts_of_columns` gives."""
    facts, made = facts_of_columns(x, g, epsilon, how), empty(x, x.shape)
    small, scaled = x.dtype.type(epsilon), np.uint32(scale is not None)
    launch(slope_columns, how.blocks, BLOCK, g, x, facts, x if scale is None else scale, made, small, scaled, how.facts)
    return made, facts
