"""Joining: the steps that put parts into a whole, or add them up there.

A whole that is larger than a cache is made row by row.  Where parts overlap in most of each row, as in the gradient of
neighbours' differences, one step adds them up and writes every element once; other parts are put there one after the
other, for as many rows at a time as stay in the cache.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from autodiff_lab.compile.program.layouts import MOST_AXES, Part, places_of
from autodiff_lab.compile.program.program import Value
from autodiff_lab.compile.sequences.texts import NOWHERE, UNROLLED, ZERO, put_text, sum_text

BAND_BYTES, MOST_BANDS = 1 << 16, 256
"""Of a whole that parts are put into, as many bytes at a time as stay in the cache; and how often at most."""
MOST_ADDED = 16
"""Parts that one step adds up: each takes a register for its address."""
LEAST_ROW = 32
"""Elements of the shortest row whose parts are added up in one go."""


class Source(NamedTuple):
    """A part of a whole, with its shape and the strides along which it is read, in elements."""

    part: Part
    shape: tuple[int, ...]
    strides: tuple[int, ...]


class Spot(NamedTuple):
    """An address: so many bytes after the begin of a source, or of the whole, whose number is -1."""

    source: int
    bytes: int


Slot = int | Spot | Any
"""A number, an address, or an array that never changes."""


def join_steps(
    out: Value, sources: Sequence[Source], *, adds: bool, covers: bool
) -> Iterator[tuple[str, tuple[Slot, ...]]]:
    """Return the text and the slots of each step; `covers` says that parts fill the whole, which is 0 elsewhere.

    The first part is written, and the others are added if the join `adds`.
    """
    kind, size, width = out.dtype.name, out.dtype.itemsize, math.prod(out.shape[1:])
    if adds and (slots := _summed(out, sources)) is not None:
        yield sum_text(kind, len(sources)), slots
        return
    rows = out.shape[0]
    turns = [source.part.rows(source.shape, width) for source in sources]
    band = rows if None in turns else max(1, BAND_BYTES // (width * size), -(-rows // MOST_BANDS))
    for low in range(0, rows, band):
        high = min(low + band, rows)
        if not covers:
            yield ZERO.format(kind=kind), (Spot(-1, low * width * size), (high - low) * width)
        for n, (source, turn) in enumerate(zip(sources, turns, strict=True)):
            shape, before, there = list(source.shape), 0, source.part.offset
            if turn is not None:
                axis, first, step = turn
                start, end = within(first, step, shape[axis] if step else 1, low, high)
                if start == end:
                    continue
                if step:
                    shape[axis] = end - start
                    before, there = start * source.strides[axis], there + start * source.part.strides[axis]
            axes = [axis for axis in zip(shape, source.strides, source.part.strides, strict=True) if axis[0] > 1]
            counts, steps, gaps = zip(*[(1, 0, 0)] * (MOST_AXES - len(axes)), *axes, strict=True)
            text = put_text(kind, adds and n > 0, counts[-1] if counts[-1] <= UNROLLED else None)
            yield text, (Spot(n, before * size), Spot(-1, there * size), *counts, *steps, *gaps)


def within(first: int, step: int, count: int, low: int, high: int) -> tuple[int, int]:
    """Return from which index on, and up to which, ``first + step * index`` is at least `low` and less than `high`.

    Examples
    --------
    >>> from autodiff_lab.compile.sequences.joining import within
    >>> within(1, 2, 10, 4, 8), within(9, -1, 10, 0, 3)
    ((2, 4), (7, 10))
    """
    if not step:
        return (0, count) if low <= first < high else (0, 0)
    if step < 0:
        first, step, low, high = -first, -step, 1 - high, 1 - low
    begin, end = (max(0, min(count, -((first - edge) // step))) for edge in (low, high))
    return begin, end


def _summed(out: Value, sources: Sequence[Source]) -> tuple[Slot, ...] | None:
    """Return the slots of the step that adds all parts of a row at once, None if they do not overlap in most of it."""
    n, rows, size = out.shape[-1], math.prod(out.shape[:-1]), out.dtype.itemsize
    if not 1 < len(sources) <= MOST_ADDED or n < LEAST_ROW or rows * n * size < BAND_BYTES:
        return None
    slots: list[Slot] = []
    begin, end = 0, n
    for number, source in enumerate(sources):
        gaps, first = source.part.strides, source.part.offset % n
        if not source.shape or gaps[-1] != 1 or source.strides[-1] != 1 or first + source.shape[-1] > n:
            return None
        lead = source.shape[:-1]
        down = [gap if length > 1 else 0 for length, gap in zip(lead, gaps[:-1], strict=True)]
        if any(gap % n for gap in down):
            return None
        starts = np.full(rows, NOWHERE, np.int64)
        there = places_of(lead, [gap // n for gap in down], source.part.offset // n)
        starts[there] = places_of(lead, source.strides[:-1])
        begin, end = max(begin, first), min(end, first + source.shape[-1])
        slots += [Spot(number, 0), starts, first, first + source.shape[-1]]
    if 2 * (end - begin) < n:
        return None
    nothing = np.zeros(n, out.dtype)
    return (Spot(-1, 0), n, rows, begin, end, nothing, -nothing, *slots)
