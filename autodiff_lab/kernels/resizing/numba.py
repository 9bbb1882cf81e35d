"""Overrides of resizing and its gradient, in float32 and float64.

Optimisations: two or three rows are read for each time that one is written; rows are combined as wholes, over
columns and channels together; columns are resized while there are few rows; threads share the rows.
"""
# ruff: noqa: ANN001

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autodiff_lab.kernels.base.loops import loop, override, row_major
from autodiff_lab.kernels.base.threads import spread
from autodiff_lab.kernels.resizing.reference import Taps, steps

_LEAST = 1 << 16
"""Products from which on a thread of its own pays."""


@loop("void({t}[:,:,::1], {t}[:,::1], int64[::1], {t}[:,::1], int64, int64)", wraparound=False)
def _combine(x, made, first, weights, low, high) -> None:
    """Combine the rows of each x[a], (n, width), into rows of the result, m for each a."""
    width, taps = x.shape[2], weights.shape[1]
    for row in range(low, high):
        a, j = row // first.size, row % first.size
        start, to = first[j], made[row]
        u, p = weights[j, 0], x[a, start]
        if taps == 1:
            for c in range(width):
                to[c] = u * p[c]
            continue
        v, q = weights[j, 1], x[a, start + 1]
        for c in range(width):
            to[c] = u * p[c] + v * q[c]
        k = 2
        while k + 2 < taps:
            u, p = weights[j, k], x[a, start + k]
            v, q = weights[j, k + 1], x[a, start + k + 1]
            w, r = weights[j, k + 2], x[a, start + k + 2]
            for c in range(width):
                to[c] += u * p[c] + v * q[c] + w * r[c]
            k += 3
        while k < taps:
            u, p = weights[j, k], x[a, start + k]
            for c in range(width):
                to[c] += u * p[c]
            k += 1


def _along(x: Any, axis: int, made_of: Taps) -> Any:
    (first, weights), shape, at = made_of, x.shape, x.ndim + axis
    lines = row_major(x).reshape(math.prod(shape[:at]), shape[at], math.prod(shape[at + 1 :]))
    rows, width = len(lines) * len(first), lines.shape[2]
    made, run = np.empty((rows, width), x.dtype), _combine[x.dtype]
    least = max(1, _LEAST // (weights.shape[1] * width))
    spread(lambda low, high: run(lines, made, first, weights, low, high), rows, least)
    return made.reshape(*shape[:at], len(first), *shape[at + 1 :])


def _resized(x: Any, height: int, width: int, method: str, antialias: bool, back: bool) -> Any:
    if not x.size or not height or not width:
        return NotImplemented
    made = x
    for axis, made_of in steps(x, height, width, method, antialias, back):
        made = _along(made, axis, made_of)
    return x.copy() if made is x else made


@override(_combine)
def resize(x: Any, height: int, width: int, method: str, antialias: bool) -> Any:
    """Return images of another height and width."""
    return _resized(x, height, width, method, antialias, back=False)


@override(_combine)
def resize_input(g: Any, height: int, width: int, method: str, antialias: bool) -> Any:
    """Return the gradient of `resize` with respect to images of a height and width."""
    return _resized(g, height, width, method, antialias, back=True)
