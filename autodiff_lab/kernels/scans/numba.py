"""Cumulative sums, products, log-sum-exps and recurrences along an axis.

The references are in `kernels.scans.reference`.  An array is seen as (a, n, b), and n is walked.

Optimisations: no array is turned round or shifted; lines that lie beside each other (b) advance together, by vector
instructions, and alone the last result stays in a register; exponentials and logarithms are our own polynomials.
Elements are added and multiplied in NumPy's order, so sums, products and recurrences have NumPy's bits.
"""
# pyright: reportIndexIssue=false, reportCallIssue=false

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from autodiff_lab.kernels.base.deferred import overload
from autodiff_lab.kernels.base.loops import Loop, loop, override, row_major
from autodiff_lab.kernels.base.threads import spread
from autodiff_lab.kernels.maths import double, single
from autodiff_lab.kernels.maths.bits import put
from autodiff_lab.kernels.maths.single import SINGLE, VECTOR_DOUBLE, choose

_WORTH_A_THREAD = 100_000
_BESIDE = 8  # lines that fill a vector well enough
_exp, _exp_double = SINGLE["exp"], VECTOR_DOUBLE["exp"]


def _logaddexp(x: Any, y: Any) -> Any:
    raise NotImplementedError


@overload(_logaddexp, jit_options={"forceinline": True})
def _logaddexp_of(x: Any, y: Any) -> Any:
    exp, log1p = (_exp, single.log1p_up_to_1) if x.name == "float32" else (_exp_double, double.log1p_up_to_1)
    ln2 = np.float32(math.log(2)) if x.name == "float32" else math.log(2)

    def run(x: Any, y: Any) -> Any:
        top = choose(x > y, x, y)
        return choose(x == y, x + ln2, top + log1p(exp(-abs(x - y))))

    return run


def _walk(name: str, step: Callable[[Any, Any], Any], neutral: float) -> Loop:
    def run(x: Any, made: Any, exclusive: bool, reverse: bool, low: int, high: int) -> None:
        length, width = x.shape[1], x.shape[2]
        first, by = (length - 1, -1) if reverse else (0, 1)
        for a in range(low, high):
            if width == 1:
                last = x.dtype.type(neutral)
                for i in range(length):
                    at = first + by * i
                    if exclusive:
                        made[a, at, 0] = last
                        last = step(last, x[a, at, 0]) if i else x[a, at, 0]
                    else:
                        last = step(last, x[a, at, 0]) if i else x[a, at, 0]
                        made[a, at, 0] = last
                continue
            start = made[a, first]
            if exclusive:
                start[:] = x.dtype.type(neutral)
            else:
                put(start, x[a, first])
            for i in range(1, length):
                at = first + by * i
                before, to, new = made[a, at - by], made[a, at], x[a, at - by if exclusive else at]
                if exclusive and i == 1:
                    put(to, new)
                else:
                    for c in range(width):
                        to[c] = step(before[c], new[c])

    run.__name__ = name
    return loop("void({t}[:,:,::1], {t}[:,:,::1], boolean, boolean, int64, int64)", wraparound=False)(run)


_sums = _walk("_sums", operator.add, 0)
_products = _walk("_products", operator.mul, 1)
_logsumexps = _walk("_logsumexps", _logaddexp, 0)


@loop("void({t}[:,:,::1], {t}[:,:,::1], {t}[:,:,::1], boolean, int64, int64)", wraparound=False)
def _recurrences(b: Any, made: Any, a: Any, reverse: bool, low: int, high: int) -> None:
    """Lines of b number a multiple of those of a, which serve again and again."""
    length, width = b.shape[1], b.shape[2]
    first, by = (length - 1, -1) if reverse else (0, 1)
    for line in range(low, high):
        factor = a[line % a.shape[0]]
        if width == 1:
            last = b[line, first, 0]
            made[line, first, 0] = last
            for i in range(1, length):
                at = first + by * i
                last = b[line, at, 0] + factor[at, 0] * last
                made[line, at, 0] = last
            continue
        start = made[line, first]
        put(start, b[line, first])
        for i in range(1, length):
            at = first + by * i
            before, to, new, weight = made[line, at - by], made[line, at], b[line, at], factor[at]
            for c in range(width):
                to[c] = new[c] + weight[c] * before[c]


def _seen(x: Any, axis: int) -> Any:
    """Return the array as (a, n, b) with the axis in the middle."""
    at = x.ndim + axis
    return row_major(x).reshape(math.prod(x.shape[:at]), x.shape[at], math.prod(x.shape[at + 1 :]))


def _run(loop_of: Loop, x: Any, axis: int, *how: Any) -> Any:
    if not x.size:
        return NotImplemented
    lines = _seen(x, axis)
    made, run = np.empty(lines.shape, x.dtype), loop_of[x.dtype]
    least = max(1, _WORTH_A_THREAD // (x.size // len(lines)))
    spread(lambda low, high: run(lines, made, *how, low, high), len(lines), least)
    return made.reshape(x.shape)


@override(_sums)
def cumsum(x: Any, axis: int, exclusive: bool, reverse: bool) -> Any:
    """Return cumulative sums."""
    return _run(_sums, x, axis, exclusive, reverse)


@override(_products)
def cumprod(x: Any, axis: int, exclusive: bool, reverse: bool) -> Any:
    """Return cumulative products."""
    return _run(_products, x, axis, exclusive, reverse)


@override(_logsumexps)
def cumulative_logsumexp(x: Any, axis: int, reverse: bool) -> Any:
    """Return cumulative log-sum-exps; lines along the last axis run together, as each waits for its logarithms."""
    if axis != -1:
        return _run(_logsumexps, x, axis, False, reverse)
    if not x.size or x.size // x.shape[-1] < _BESIDE:
        return NotImplemented
    turned = np.ascontiguousarray(x.reshape(-1, x.shape[-1]).T)
    made = _run(_logsumexps, turned, -2, False, reverse)
    return np.ascontiguousarray(made.T).reshape(x.shape)


@override(_recurrences)
def recurrence(b: Any, a: Any, axis: int, reverse: bool) -> Any:
    """Return the states of a recurrence."""
    if b.dtype != a.dtype or b.shape[b.ndim - a.ndim :] != a.shape:
        return NotImplemented
    return _run(_recurrences, b, axis, _seen(a, axis), reverse)
