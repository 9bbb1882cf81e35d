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
def added(a: Any, b: Any) -> Any:
    """Sum of two."""
    return a + b


@cuda.jit(device=True)
def larger(a: Any, b: Any) -> Any:
    """The larger of two; nan if one is."""
    return a if a >= b or a != a else b  # noqa: PLR0124 - a nan is what differs from itself


@cuda.jit(device=True)
def smaller(a: Any, b: Any) -> Any:
    """The smaller of two; nan if one is."""
    return a if a <= b or a != a else b  # noqa: PLR0124


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
    def many(state: Any, a: Any, b: Any, c: Any, d: Any, e: Any, f: Any, g: Any, h: Any) -> Any:
        return merge(state, merge(merge(merge(a, b), merge(c, d)), merge(merge(e, f), merge(g, h))))

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


SUM = _single(added, zero, _divided)
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
def _many_pairs(state: Any, a: Any, b: Any, c: Any, d: Any, e: Any, f: Any, g: Any, h: Any) -> Any:
    top, total = state
    new = _above(_above(_above(a, b), _above(c, d)), _above(_above(e, f), _above(g, h)))
    new = _above(top, new)
    off = _finite(new)
    left = (math.exp(a - off) + math.exp(b - off)) + (math.exp(c - off) + math.exp(d - off))
    right = (math.exp(e - off) + math.exp(f - off)) + (math.exp(g - off) + math.exp(h - off))
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
def _loaded(x: Any, i: Any, there: Any, nothing: Any) -> Any:
    """x[i], or what changes nothing.  Unsigned indices need no test for negative ones."""
    return x[np.uint32(i)] if there else nothing


@cuda.jit(device=True)
def _apart(i: Any) -> Any:
    """Where element i lies in shared memory."""
    return np.uint32(i + (i >> 5))


@cuda.jit(device=True)
def _held(held: Any, i: Any, there: Any, nothing: Any) -> Any:
    return held[_apart(i)] if there else nothing


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
        t, block = cuda.threadIdx.x, np.uint32(cuda.blockIdx.x)
        above = np.int32(block // np.uint32(tiles))
        outer = np.int32(np.uint32(above) // np.uint32(parts))
        row = np.int32(np.uint32(t) // np.uint32(wide))
        column = (np.int32(block) - above * tiles) * wide + t - row * wide
        r = (above - outer * parts) * chunk
        stop = min(r + chunk, reduced)
        r += row
        state, none = start(x), nothing(x)
        if row < deep and column < inner:
            i = (outer * reduced + r) * inner + column
            step = deep * inner
            while r + 7 * deep < stop:
                state = many(
                    state, x[np.uint32(i)], x[np.uint32(i + step)], x[np.uint32(i + 2 * step)],
                    x[np.uint32(i + 3 * step)], x[np.uint32(i + 4 * step)], x[np.uint32(i + 5 * step)],
                    x[np.uint32(i + 6 * step)], x[np.uint32(i + 7 * step)],
                )  # fmt: skip
                r += 8 * deep
                i += 8 * step
            if r < stop:
                state = many(
                    state, x[np.uint32(i)], _loaded(x, i + step, r + deep < stop, none),
                    _loaded(x, i + 2 * step, r + 2 * deep < stop, none),
                    _loaded(x, i + 3 * step, r + 3 * deep < stop, none),
                    _loaded(x, i + 4 * step, r + 4 * deep < stop, none),
                    _loaded(x, i + 5 * step, r + 5 * deep < stop, none),
                    _loaded(x, i + 6 * step, r + 6 * deep < stop, none), none,
                )  # fmt: skip
        state = together(x, state, t, row, wide, deep)
        if row == 0 and column < inner:
            made[np.uint32(above * inner + column)] = finish(state, divisor)

    columns.__name__ = f"{name}_columns"
    return kernel(serves, "T[::1], T[::1], T, int32, int32, int32, int32, int32, int32, int32")(columns)


def _pieces_of(name: str, operation: Operation, serves: tuple[str, ...]) -> Kernel:
    start, nothing, many, together, finish = operation

    def pieces(x: Any, made: Any, divisor: Any, outer: Any, reduced: Any, inner: Any, group: Any, lanes: Any) -> None:
        """Reduce `group` pieces (reduced, inner) that follow each other; `lanes` threads take 8 elements each."""
        held = cuda.shared.array(ROOM, x.dtype)
        t, size = cuda.threadIdx.x, reduced * inner
        first = cuda.blockIdx.x * group
        here = min(group, outer - first)
        i, total, none = first * size + t, here * size, nothing(x)
        a = _loaded(x, i, t < total, none)
        b = _loaded(x, i + THREADS, t + THREADS < total, none)
        c = _loaded(x, i + 2 * THREADS, t + 2 * THREADS < total, none)
        d = _loaded(x, i + 3 * THREADS, t + 3 * THREADS < total, none)
        e = _loaded(x, i + 4 * THREADS, t + 4 * THREADS < total, none)
        f = _loaded(x, i + 5 * THREADS, t + 5 * THREADS < total, none)
        g = _loaded(x, i + 6 * THREADS, t + 6 * THREADS < total, none)
        h = _loaded(x, i + 7 * THREADS, t + 7 * THREADS < total, none)
        held[_apart(t)] = a
        held[_apart(t + THREADS)] = b
        held[_apart(t + 2 * THREADS)] = c
        held[_apart(t + 3 * THREADS)] = d
        held[_apart(t + 4 * THREADS)] = e
        held[_apart(t + 5 * THREADS)] = f
        held[_apart(t + 6 * THREADS)] = g
        held[_apart(t + 7 * THREADS)] = h
        cuda.syncthreads()
        across = group * inner
        lane = np.int32(np.uint32(t) // np.uint32(across))
        at = t - lane * across
        state = start(x)
        if lane < lanes and at < here * inner:
            piece = np.int32(np.uint32(at) // np.uint32(inner))
            j, step = piece * size + at - piece * inner + lane * inner, lanes * inner
            state = many(
                state, held[_apart(j)], _held(held, j + step, lane + lanes < reduced, none),
                _held(held, j + 2 * step, lane + 2 * lanes < reduced, none),
                _held(held, j + 3 * step, lane + 3 * lanes < reduced, none),
                _held(held, j + 4 * step, lane + 4 * lanes < reduced, none),
                _held(held, j + 5 * step, lane + 5 * lanes < reduced, none),
                _held(held, j + 6 * step, lane + 6 * lanes < reduced, none),
                _held(held, j + 7 * step, lane + 7 * lanes < reduced, none),
            )  # fmt: skip
        state = together(x, state, t, lane, across, lanes)
        if lane == 0 and at < here * inner:
            made[np.uint32(first * inner + at)] = finish(state, divisor)

    pieces.__name__ = f"{name}_pieces"
    return kernel(serves, "T[::1], T[::1], T, int32, int32, int32, int32, int32")(pieces)
