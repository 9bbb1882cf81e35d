"""What a reduction does with its elements: the operations for which `cuda_kernels` makes kernels.

An operation keeps a state in each thread, takes elements into it eight at a time (eight loads in flight, added up as a
tree, which is both quicker and more accurate than one after the other), merges the states of a block's threads in
shared memory in a fixed order, and turns the last state into a value.

Sums, maxima and minima keep one number.  A log-sum-exp keeps two, the largest element so far and the sum of e^(x -
largest): one reading of the elements where the largest would else have to be known first.

The two kernels of every reduction: over columns, and over many short pieces staged in shared memory.

Elements lie as (outer, reduced, inner); each of outer x inner results takes `reduced` elements, `inner` apart.

`columns`: a block takes `wide` neighbouring results and `deep` threads for each, so that a warp reads neighbours: with
inner 1 all threads share a row, with inner 3 three threads stand side by side and the next three take the next row.
Each thread has eight loads in flight.  A long reduction is cut into `parts`, a block each, whose results a second
launch reduces: enough blocks to fill the GPU, and always the same cuts.

`pieces`: where reduced x inner is small, a block copies `group` pieces that follow each other into shared memory, read
as if they were one row, and gives every result a thread for eight of its elements.  One place in 32 is left out, so
that threads of a warp, which read a row's length apart, meet different banks.

Traffic: every element is read once.  Occupancy in float32: 256 threads, 1 kB of shared memory for `columns` and 9 kB
for `pieces`, 32 registers a thread (36 for sums on an A100): 8 blocks a multiprocessor and 65 kB in flight, where some
25 kB keep the memory of an H200 busy.  A sum takes 11 instructions an element; some 25 fit into the time of reading
one, and a log-sum-exp, with nine exponentials for eight elements and 44 registers (5 blocks), just takes them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from autodiff_lab.kernels.cuda.launching import THREADS, Kernel, cuda, kernel, math
from autodiff_lab.kernels.maths.cuda_folds import add, larger, smaller


class Operation(NamedTuple):
    """Device functions that make up a reduction.

    Attributes
    ----------
    start : callable
        (x) -> state of nothing.
    nothing : callable
        (x) -> the element that changes nothing.
    many : callable
        (state, eight elements) -> state.
    together : callable
        (x, state, place, row, stride, deep) -> the state of `deep` threads, in the thread of row 0; see `_tree`.
    finish : callable
        (state, divisor) -> value.
    """

    start: Callable[..., Any]
    nothing: Callable[..., Any]
    many: Callable[..., Any]
    together: Callable[..., Any]
    finish: Callable[..., Any]


@cuda.jit(device=True)
def zero(x: Any) -> Any:
    """Nothing to a sum."""
    return x.dtype.type(0)


@cuda.jit(device=True)
def lowest(x: Any) -> Any:
    """Nothing to a maximum."""
    return x.dtype.type(-math.inf)


@cuda.jit(device=True)
def highest(x: Any) -> Any:
    """Nothing to a minimum."""
    return x.dtype.type(math.inf)


@cuda.jit(device=True)
def _divided(state: Any, divisor: Any) -> Any:
    return state / divisor


@cuda.jit(device=True)
def _as_is(state: Any, divisor: Any) -> Any:
    return state


def _single(merge: Any, nothing: Any, finish: Any) -> Operation:
    """Return an operation whose state is one number."""

    @cuda.jit(device=True)
    def many(state: Any, e: Any) -> Any:
        left, right = merge(merge(e[0], e[1]), merge(e[2], e[3])), merge(merge(e[4], e[5]), merge(e[6], e[7]))
        return merge(state, merge(left, right))

    @cuda.jit(device=True)
    def _tree(x: Any, state: Any, place: Any, row: Any, stride: Any, deep: Any) -> Any:
        """Merge the states of threads that lie `stride` places apart: `deep` of them, of which this is number `row`.

        All threads of a block call it, at most once; a place is below the number of threads.
        """
        parts = cuda.shared.array(THREADS, x.dtype)
        parts[place] = state
        left = deep
        while left > 1:
            half = (left + 1) >> 1
            cuda.syncthreads()
            if row + half < left:
                parts[place] = merge(parts[place], parts[place + half * stride])
            left = half
        return parts[place]

    return Operation(nothing, nothing, many, _tree, finish)


SUM = _single(add, zero, _divided)
"""Divided by a number at the end: 1, or the number of elements for a mean."""
MAX = _single(larger, lowest, _as_is)
MIN = _single(smaller, highest, _as_is)


@cuda.jit(device=True)
def _empty_pair(x: Any) -> Any:
    return x.dtype.type(-math.inf), x.dtype.type(0)


@cuda.jit(device=True)
def _above(top: Any, x: Any) -> Any:
    """The larger of two; a number rather than nan, which the sum keeps."""
    return x if x > top or top != top else top  # noqa: PLR0124


@cuda.jit(device=True)
def _finite(top: Any) -> Any:
    """What to subtract; 0 where the largest element is infinite, as infinity less infinity is nan."""
    return np.float32(0) if math.isinf(top) else top


@cuda.jit(device=True)
def _shrunk(total: Any, top: Any, new: Any) -> Any:
    """A sum of e^(x - top) as one of e^(x - new); as it is where both are the same, infinite or not."""
    return total if top == new else total * math.exp(top - new)


@cuda.jit(device=True)
def _many_pairs(state: Any, e: Any) -> Any:
    top, total = state
    left, right = _above(_above(e[0], e[1]), _above(e[2], e[3])), _above(_above(e[4], e[5]), _above(e[6], e[7]))
    new = _above(top, _above(left, right))
    off = _finite(new)
    left = (math.exp(e[0] - off) + math.exp(e[1] - off)) + (math.exp(e[2] - off) + math.exp(e[3] - off))
    right = (math.exp(e[4] - off) + math.exp(e[5] - off)) + (math.exp(e[6] - off) + math.exp(e[7] - off))
    return new, _shrunk(total, top, new) + (left + right)


@cuda.jit(device=True)
def _tree_of_pairs(x: Any, state: Any, place: Any, row: Any, stride: Any, deep: Any) -> Any:
    """As `_tree`, for pairs."""
    tops = cuda.shared.array(THREADS, x.dtype)
    totals = cuda.shared.array(THREADS, x.dtype)
    tops[place], totals[place] = state
    left = deep
    while left > 1:
        half = (left + 1) >> 1
        cuda.syncthreads()
        if row + half < left:
            other = place + half * stride
            new = _above(tops[place], tops[other])
            totals[place] = _shrunk(totals[place], tops[place], new) + _shrunk(totals[other], tops[other], new)
            tops[place] = new
        left = half
    return tops[place], totals[place]


@cuda.jit(device=True)
def _logarithm(state: Any, divisor: Any) -> Any:
    return math.log(state[1]) + _finite(state[0])


LOG_SUM_EXP = Operation(_empty_pair, lowest, _many_pairs, _tree_of_pairs, _logarithm)


TILE = 8 * THREADS
"""Elements that a block of `pieces` holds, eight for each thread."""
ROOM = TILE + TILE // 32
"""The same with the places that are left out."""


@cuda.jit(device=True)
def _apart(i: Any) -> Any:
    """Where element i lies in shared memory."""
    return np.uint32(i + (i >> 5))


@cuda.jit(device=True)
def seat(wide: Any, tiles: Any) -> Any:
    """How many rows of tiles are above a block of `wide` columns; the row of a thread in the block, and its column."""
    t, block = cuda.threadIdx.x, np.uint32(cuda.blockIdx.x)
    above = np.int32(block // np.uint32(tiles))
    row = np.int32(np.uint32(t) // np.uint32(wide))
    return above, row, (np.int32(block) - above * tiles) * wide + t - row * wide


def kernels_of(name: str, operation: Operation, serves: tuple[str, ...]) -> tuple[Kernel, Kernel]:
    """Return the kernels of an operation: `columns` and `pieces`."""
    return _columns_of(name, operation, serves), _pieces_of(name, operation, serves)


def _columns_of(name: str, operation: Operation, serves: tuple[str, ...]) -> Kernel:
    start, nothing, many, together, finish = operation

    def columns(
        x: Any, made: Any, divisor: Any, reduced: Any, inner: Any, wide: Any, deep: Any, tiles: Any, parts: Any,
        chunk: Any,
    ) -> None:  # fmt: skip
        """Reduce rows part*chunk to part*chunk + chunk of `wide` columns; blockIdx is (outer, part, tile)."""
        elements = cuda.local.array(8, x.dtype)
        above, row, column = seat(wide, tiles)
        outer = np.int32(np.uint32(above) // np.uint32(parts))
        r = (above - outer * parts) * chunk
        stop = min(r + chunk, reduced)
        r += row
        state, none = start(x), nothing(x)
        if row < deep and column < inner:
            i = (outer * reduced + r) * inner + column
            step = deep * inner
            while r + 7 * deep < stop:
                for k in range(8):
                    elements[k] = x[np.uint32(np.int32(i + k * step))]
                state = many(state, elements)
                r += 8 * deep
                i += 8 * step
            if r < stop:
                for k in range(8):
                    elements[k] = x[np.uint32(np.int32(i + k * step))] if r < np.int32(stop - k * deep) else none
                state = many(state, elements)
        state = together(x, state, cuda.threadIdx.x, row, wide, deep)
        if row == 0 and column < inner:
            made[np.uint32(above * inner + column)] = finish(state, divisor)

    columns.__name__ = f"{name}_columns"
    return kernel(serves, "T[::1], T[::1], T, int32, int32, int32, int32, int32, int32, int32")(columns)


def _pieces_of(name: str, operation: Operation, serves: tuple[str, ...]) -> Kernel:
    start, nothing, many, together, finish = operation

    def pieces(x: Any, made: Any, divisor: Any, outer: Any, reduced: Any, inner: Any, group: Any, lanes: Any) -> None:
        """Reduce `group` pieces (reduced, inner) that follow each other; `lanes` threads take 8 elements each."""
        held = cuda.shared.array(ROOM, x.dtype)
        elements = cuda.local.array(8, x.dtype)
        t, size = cuda.threadIdx.x, reduced * inner
        first = cuda.blockIdx.x * group
        here = min(group, outer - first)
        i, total, none = first * size + t, here * size, nothing(x)
        for k in range(8):
            elements[k] = x[np.uint32(np.int32(i + k * THREADS))] if np.int32(t + k * THREADS) < total else none
        for k in range(8):
            held[_apart(np.int32(t + k * THREADS))] = elements[k]
        cuda.syncthreads()
        across = group * inner
        lane = np.int32(np.uint32(t) // np.uint32(across))
        at = t - lane * across
        state = start(x)
        if lane < lanes and at < here * inner:
            piece = np.int32(np.uint32(at) // np.uint32(inner))
            j, step = piece * size + at - piece * inner + lane * inner, lanes * inner
            for k in range(8):
                elements[k] = held[_apart(np.int32(j + k * step))] if np.int32(lane + k * lanes) < reduced else none
            state = many(state, elements)
        state = together(x, state, t, lane, across, lanes)
        if lane == 0 and at < here * inner:
            made[np.uint32(first * inner + at)] = finish(state, divisor)

    pieces.__name__ = f"{name}_pieces"
    return kernel(serves, "T[::1], T[::1], T, int32, int32, int32, int32, int32")(pieces)
