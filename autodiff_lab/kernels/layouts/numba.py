"""The override of copies in order: transposes that read a few rows at a time.

NumPy goes through the copy row by row and reads each row of it from as many lines of memory as it has elements.  Where
these lie a power of two apart, as in a matrix of 1024 by 1024, they share a few places of the cache, and are fetched
again for each element.  Here eight rows of the array are read side by side, so that eight lines are enough.
"""
# ruff: noqa: ANN001

from __future__ import annotations

import math
from functools import lru_cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from autodiff_lab.kernels.base.loops import loop, override
from autodiff_lab.kernels.base.order import order_in_memory

# pyright: reportUnusedFunction=false, reportReturnType=false, reportCallIssue=false

TOGETHER = 8
"""Rows that are read side by side."""
MOST_MATRICES = 4096
"""Matrices that are transposed by one call."""


@loop("void({t}[::1], {t}[::1], int64[::1], int64[::1], int64, int64, int64, int64)", wraparound=False)
def turn(x, out, sources, targets, rows, columns, apart, out_apart) -> None:
    """Transpose matrices that begin at `sources`: rows of the copies, from `targets` on, are columns of x.

    Rows of x lie `apart`, those of the copies `out_apart`.
    """
    for n in range(sources.size):
        for j in range(0, columns, TOGETHER):
            begin = sources[n] + j * apart
            wide = min(TOGETHER, columns - j)
            if wide == TOGETHER:
                for i in range(rows):
                    line = out[targets[n] + i * out_apart + j : targets[n] + i * out_apart + j + TOGETHER]
                    for b in range(TOGETHER):
                        line[b] = x[begin + b * apart + i]
            else:
                for i in range(rows):
                    for b in range(wide):
                        out[targets[n] + i * out_apart + j + b] = x[begin + b * apart + i]


class Turned(NamedTuple):
    """An array as transposed matrices: the axes as they lie, where matrices begin in both, and their sizes."""

    order: tuple[int, ...]
    sources: np.ndarray
    targets: np.ndarray
    sizes: tuple[int, int, int, int]


@lru_cache(maxsize=256)
def turned(shape: tuple[int, ...], strides: tuple[int, ...]) -> Turned | None:
    """Return how a copy in order transposes an array with these strides, in elements; None for other layouts.

    Examples
    --------
    >>> from autodiff_lab.kernels.layouts.numba import turned
    >>> turned((3, 4), (1, 3)).sizes
    (3, 4, 3, 4)
    >>> turned((3, 4), (4, 1)) is None
    True
    """
    axes: list[tuple[int, int, int]] = []  # length, stride, and stride in the copy
    for k, (n, stride) in enumerate(zip(shape, strides, strict=True)):
        goal = math.prod(shape[k + 1 :])
        if axes and axes[-1][1] == n * stride:
            axes[-1] = (axes[-1][0] * n, stride, goal)
        elif n > 1:
            axes.append((n, stride, goal))
    there = order_in_memory(shape, strides)
    across = next((at for at, axis in enumerate(axes[:-1]) if axis[1] == 1), None)
    if there is None or across is None:
        return None
    columns, apart, _ = axes.pop()
    rows, _, out_apart = axes.pop(across)
    if math.prod(n for n, _, _ in axes) > MOST_MATRICES:
        return None
    steps = list(product(*(range(n) for n, _, _ in axes)))
    sources, targets = (
        np.array([sum(i * axis[which] for i, axis in zip(step, axes, strict=True)) for step in steps], np.int64)
        for which in (1, 2)
    )
    return Turned(there[0], sources, targets, (rows, columns, apart, out_apart))


@override(turn)
def in_order(x: Any) -> Any:
    """Copy an array so that its elements lie in the order of its axes."""
    size = x.itemsize
    plan = turned(x.shape, tuple([stride // size for stride in x.strides])) if x.flags.behaved else None
    if plan is None:
        return NotImplemented
    out = np.empty(x.shape, x.dtype)
    turn[x.dtype](x.transpose(plan.order).reshape(-1), out.reshape(-1), plan.sources, plan.targets, *plan.sizes)
    return out
