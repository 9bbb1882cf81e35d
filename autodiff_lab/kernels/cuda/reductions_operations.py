"""What a reduction does with its elements: the operations for which `reductions_kernels` makes kernels.

An operation keeps a state in each thread, takes elements into it eight at a time (eight loads in flight, added up as a
tree, which is both quicker and more accurate than one after the other), merges the states of a block's threads in
shared memory in a fixed order, and turns the last state into a value.

Sums, maxima and minima keep one number.  A log-sum-exp keeps two, the largest element so far and the sum of e^(x -
largest): one reading of the elements where the largest would else have to be known first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from autodiff_lab.kernels.cuda.launching import THREADS, cuda, math


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
    """An operation whose state is one number."""

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
