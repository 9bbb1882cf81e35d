"""Columns of planes that fit the second-level cache, normalized by one loop; the references are in `reference`.

An array is viewed as planes (a, n, w) and normalized over n and groups of d neighbouring columns, plane by plane: mean,
squares and sums are taken, put together and used before the next plane is read.  Narrow rows are laid side by side, so
that vectors are full; totals of columns are added up in float64.  `numba_columns` does the same in pieces, in many
calls, for planes of any size.
"""
# ruff: noqa: ANN001, ANN202 - Numba wants a function of Python's, not one that it has compiled
# pyright: reportIndexIssue=false

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from autodiff_lab.kernels.base.deferred import register_jitable, unordered
from autodiff_lab.kernels.base.loops import loop
from autodiff_lab.kernels.base.threads import spread
from autodiff_lab.kernels.normalization.numba_columns import WORTH_A_THREAD, add_cotangents, add_rows, add_squares

LARGEST = 131_072
"""Elements of a plane that stays in the cache."""
_WIDE = 64
"""Columns that fill vectors."""


@register_jitable
def _together(total, groups, d):
    """Add the totals of columns, which may be those of several rows side by side, up by groups of d columns."""
    for k in range(groups.size):
        groups[k] = 0.0
    w = groups.size * d
    for first in range(0, total.size, w):
        for k in range(groups.size):
            for j in range(first + k * d, first + k * d + d):
                groups[k] += total[j]


@register_jitable
def _spread_out(groups, d, total):
    """Write the number of each group into its columns."""
    w = groups.size * d
    for first in range(0, total.size, w):
        for k in range(groups.size):
            for j in range(first + k * d, first + k * d + d):
                total[j] = groups[k]


@register_jitable
def _measure(rows, d, count, mean, total, means, squares):
    """Find the mean of each column, and those of each group with the sums of squares about it."""
    for k in range(total.size):
        total[k] = 0
    add_rows(rows, total, total)
    _together(total, means, d)
    for k in range(means.size):
        means[k] /= count
    _spread_out(means, d, mean)
    for k in range(total.size):
        total[k] = 0
    add_squares(rows, mean, total)
    _together(total, squares, d)


@register_jitable
def _distribute(total, products, scale, d, groups, sums):
    """Add totals of cotangents, and of their products with distances, to columns, and scaled to groups."""
    w = scale.size
    for first in range(0, total.size, w):
        for k in range(w):
            sums[0, k] += products[first + k] * groups[0, k // d]
            sums[1, k] += total[first + k]
            groups[1, k // d] += total[first + k] * scale[k]
            groups[2, k // d] += products[first + k] * scale[k]


_PLANES, _FACTS = "{t}[:,:,::1]", "int64, int64, {t}[:,::1], float64[:,::1]"


@loop(f"void({_PLANES}, {_FACTS}, {_PLANES}, int64, int64)", wraparound=False)
def _moments(x: Any, d: int, count: int, columns: Any, groups: Any, found: Any, low: int, high: int) -> None:
    for a in range(low, high):
        _measure(x[a], d, count, columns[0], columns[1], groups[0], groups[1])
        for k in range(groups.shape[1]):
            found[0, a, k] = groups[0, k]
            found[1, a, k] = groups[1, k] / count


@loop(f"void({_PLANES}, {{t}}[::1], {{t}}[::1], {{t}}, {_FACTS}, {_PLANES}, int64, int64)", wraparound=False)
def _forward(
    x: Any, scale: Any, offset: Any, epsilon: Any, d: int, count: int, columns: Any, groups: Any, made: Any,
    low: int, high: int,
) -> None:  # fmt: skip
    mean, total, factor, level = columns[0], columns[1], columns[2], columns[3]
    w, one = scale.size, x.dtype.type(1)
    for a in range(low, high):
        rows, to = x[a], made[a]
        _measure(rows, d, count, mean, total, groups[0], groups[1])
        for k in range(groups.shape[1]):
            variance = x.dtype.type(groups[1, k] / count)
            groups[2, k] = x.dtype.type(one / math.sqrt(x.dtype.type(variance + epsilon)))
        _spread_out(groups[2], d, factor)
        for first in range(0, factor.size, w):
            for k in range(w):
                factor[first + k] *= scale[k]
                level[first + k] = offset[k]
        for i in range(rows.shape[0]):
            row, into = rows[i], to[i]
            for k in unordered(row.size):
                into[k] = (row[k] - mean[k]) * factor[k] + level[k]


@loop(
    f"void({_PLANES}, {_PLANES}, {{t}}[::1], {{t}}, {_FACTS}, float64[:,::1], {_PLANES}, int64, int64)",
    wraparound=False,
)
def _grad(
    g: Any, x: Any, scale: Any, epsilon: Any, d: int, count: int, columns: Any, groups: Any, sums: Any, made: Any,
    low: int, high: int,
) -> None:  # fmt: skip
    """Write the gradient, and add those of scale and offset to `sums`, by column."""
    mean, total, products, level, tilt, factor = columns[0], columns[1], columns[2], columns[3], columns[4], columns[5]
    w, one = scale.size, x.dtype.type(1)
    for a in range(low, high):
        rows, g_rows, to = x[a], g[a], made[a]
        _measure(rows, d, count, mean, total, groups[0], groups[1])
        for k in range(total.size):
            total[k] = 0
            products[k] = 0
        add_cotangents(g_rows, rows, mean, total, products)
        for k in range(groups.shape[1]):
            variance = x.dtype.type(groups[1, k] / count)
            groups[0, k] = x.dtype.type(one / math.sqrt(x.dtype.type(variance + epsilon)))
            groups[1, k] = 0.0
            groups[2, k] = 0.0
        _spread_out(groups[0], d, factor)
        _distribute(total, products, scale, d, groups, sums)
        for k in range(groups.shape[1]):
            root = groups[0, k]
            groups[1, k] *= root / count
            groups[2, k] *= root * root * root / count
        _spread_out(groups[1], d, level)
        _spread_out(groups[2], d, tilt)
        for first in range(0, factor.size, w):
            for k in range(w):
                factor[first + k] *= scale[k]
        for i in range(rows.shape[0]):
            row, g_row, into = rows[i], g_rows[i], to[i]
            for k in unordered(row.size):
                into[k] = factor[k] * g_row[k] - level[k] - (row[k] - mean[k]) * tilt[k]


OF_MOMENTS, OF_FORWARD, OF_GRAD = (_moments,), (_forward,), (_grad,)


def fits(n: int, w: int) -> bool:
    """Return whether planes (a, n, w) are normalized here."""
    return n * w <= LARGEST


@lru_cache(1024)
def _folded(n: int, w: int) -> int:
    """Return how many rows are laid side by side: a divisor of their number, so that none is left over."""
    return next(fold for fold in range(min(n, max(1, _WIDE // w)), 0, -1) if n % fold == 0)


def _over(run: Any, plane: Any, d: int, rows: int, *arrays: Any) -> list[Any]:
    """Call a function on wide planes, with room for facts of columns and of groups; threads share many planes."""
    a, n, w = plane.shape
    fold = _folded(n, w)
    shape = a, n // fold, fold * w
    wide = [array.reshape(shape) for array in (plane, *arrays)]

    def part(low: int, high: int) -> Any:
        return run(wide, np.empty((rows, fold * w), plane.dtype), np.empty((4, w // d)), low, high)

    return [part(0, 1)] if a == 1 else spread(part, a, max(1, WORTH_A_THREAD // (n * w)))


def moments_of(plane: Any, d: int) -> tuple[Any, Any]:
    """Of the columns of planes (a, n, w), of which d neighbours count as one: mean and variance (a, w / d)."""
    a, n, w = plane.shape
    found, run, count = np.empty((2, a, w // d), plane.dtype), _moments[plane.dtype], n * d

    def part(wide: list[Any], columns: Any, groups: Any, low: int, high: int) -> None:
        run(wide[0], d, count, columns, groups, found, low, high)

    _over(part, plane, d, 2)
    return found[0], found[1]


def forward_of(plane: Any, scale: Any, offset: Any, epsilon: float, d: int) -> Any:
    """(x - mean) / √(variance + epsilon) · scale + offset for planes (a, n, w); scale and offset (w)."""
    made, run, count = np.empty(plane.shape, plane.dtype), _forward[plane.dtype], plane.shape[1] * d
    small = plane.dtype.type(epsilon)

    def part(wide: list[Any], columns: Any, groups: Any, low: int, high: int) -> None:
        run(wide[0], scale, offset, small, d, count, columns, groups, wide[1], low, high)

    _over(part, plane, d, 4, made)
    return made


def grad_of(g: Any, plane: Any, scale: Any, epsilon: float, d: int) -> tuple[Any, Any, Any]:
    """The contributions of planes x (a, n, w), of the scale and of the offset (w)."""
    made, run, count = np.empty(plane.shape, plane.dtype), _grad[plane.dtype], plane.shape[1] * d
    small = plane.dtype.type(epsilon)

    def part(wide: list[Any], columns: Any, groups: Any, low: int, high: int) -> Any:
        sums = np.zeros((2, scale.size))
        run(wide[1], wide[0], scale, small, d, count, columns, groups, sums, wide[2], low, high)
        return sums

    found = _over(part, plane, d, 6, g, made)
    sums = found[0] if len(found) == 1 else np.add.reduce(found)
    return made, *sums.astype(plane.dtype)
