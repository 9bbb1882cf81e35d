"""Columns normalized to mean 0 and variance 1, and the gradients; the references are in `normalization.reference`.

An array is viewed as planes (a, n, w) and normalized over n.  Statistics are taken of pieces of rows and combined
exactly: the squares about the mean of all are those about the means of the pieces plus those of the distances between.

Optimizations: a piece stays in the second-level cache while its means and then its squares are computed, so that memory
is read once for the statistics; sums of pieces are combined in float64; narrow rows are laid side by side, so that
vectors are full.
"""
# pyright: reportIndexIssue=false

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from autodiff_lab.kernels.base.deferred import register_jitable, unordered
from autodiff_lab.kernels.base.loops import Loop, loop, row_major
from autodiff_lab.kernels.base.threads import spread

WORTH_A_THREAD = 65_536
_PIECE = 131_072  # elements of a piece: 128 KiB of float32, twice that with cotangents
_WIDE = 64  # columns that fill vectors


class Statistics(NamedTuple):
    """Of columns, as float64, the axis of n at length 1: all that a gradient depends on.

    `cotangents` is the sum of the cotangents, `products` that of their products with the distances from the mean.
    """

    mean: Any
    squares: Any
    cotangents: Any = None
    products: Any = None


def _adding(term: Callable[[Any, Any], Any]) -> Callable[..., None]:
    """Make what adds up a term of each row, four rows at a time, so that totals are read and written once for four."""
    term = register_jitable(forceinline=True)(term)

    @register_jitable(forceinline=True)
    def add(rows: Any, mean: Any, total: Any) -> None:
        four = rows.shape[0] // 4 * 4
        for i in range(0, four, 4):
            a, b, c, d = rows[i], rows[i + 1], rows[i + 2], rows[i + 3]
            for k in unordered(total.size):
                m = mean[k]
                total[k] += (term(a[k], m) + term(b[k], m)) + (term(c[k], m) + term(d[k], m))
        for i in range(four, rows.shape[0]):
            a = rows[i]
            for k in unordered(total.size):
                total[k] += term(a[k], mean[k])

    return add


add_rows = _adding(lambda x, mean: x)
add_squares = _adding(lambda x, mean: (x - mean) * (x - mean))


@register_jitable(forceinline=True)
def add_cotangents(g_rows: Any, rows: Any, mean: Any, total: Any, products: Any) -> None:
    """Add cotangents, and their products with the distances from the mean, four rows at a time."""
    four = rows.shape[0] // 4 * 4
    for i in range(0, four, 4):
        a, b, c, d = rows[i], rows[i + 1], rows[i + 2], rows[i + 3]
        e, f, g, h = g_rows[i], g_rows[i + 1], g_rows[i + 2], g_rows[i + 3]
        for k in unordered(total.size):
            m = mean[k]
            total[k] += (e[k] + f[k]) + (g[k] + h[k])
            products[k] += (e[k] * (a[k] - m) + f[k] * (b[k] - m)) + (g[k] * (c[k] - m) + h[k] * (d[k] - m))
    for i in range(four, rows.shape[0]):
        a, g = rows[i], g_rows[i]
        for k in unordered(total.size):
            total[k] += g[k]
            products[k] += g[k] * (a[k] - mean[k])


def _measures(name: str, with_g: bool) -> Loop:
    """Make the loop of the means and squares of pieces of rows, and with cotangents, of their sums and products.

    The products are those of cotangents with the distances from the means.
    """

    def run(g: Any, x: Any, piece: int, facts: Any, low: int, high: int) -> None:
        pieces = -(-x.shape[1] // piece)
        for p in range(low, high):
            first = p % pieces * piece
            last = min(first + piece, x.shape[1])
            rows = x[p // pieces, first:last]
            mean, squares = facts[p, 0], facts[p, 1]
            facts[p] = 0
            add_rows(rows, mean, mean)
            count = x.dtype.type(rows.shape[0])
            for k in range(mean.size):
                mean[k] /= count
            add_squares(rows, mean, squares)
            if with_g:
                g_rows = g[p // pieces, first:last]
                add_cotangents(g_rows, rows, mean, facts[p, 2], facts[p, 3])

    run.__name__ = name
    return loop("void({t}[:,:,::1], {t}[:,:,::1], int64, {t}[:,:,::1], int64, int64)", wraparound=False)(run)


_measure, _measure_both = _measures("_measure", False), _measures("_measure_both", True)


@loop("void({t}[:,:,::1], {t}[:,::1], {t}[:,::1], {t}[:,::1], {t}[:,:,::1], int64, int64)", wraparound=False)
def _forward(x: Any, means: Any, factors: Any, offsets: Any, made: Any, low: int, high: int) -> None:
    for i in range(low, high):
        a, n = i // x.shape[1], i % x.shape[1]
        row, to, mean, factor, offset = x[a, n], made[a, n], means[a], factors[a], offsets[a]
        for k in unordered(row.size):
            to[k] = (row[k] - mean[k]) * factor[k] + offset[k]


@loop(
    "void({t}[:,:,::1], {t}[:,:,::1], {t}[:,::1], {t}[:,::1], {t}[:,::1], {t}[:,::1], {t}[:,:,::1], int64, int64)",
    wraparound=False,
)
def _grad(
    g: Any, x: Any, means: Any, tilts: Any, levels: Any, factors: Any, made: Any, low: int, high: int
) -> None:  # fmt: skip
    for i in range(low, high):
        a, n = i // x.shape[1], i % x.shape[1]
        row, g_row, to = x[a, n], g[a, n], made[a, n]
        mean, tilt, level, factor = means[a], tilts[a], levels[a], factors[a]
        for k in unordered(row.size):
            to[k] = factor[k] * (g_row[k] - level[k] - (row[k] - mean[k]) * tilt[k])


OF_MOMENTS, OF_FORWARD, OF_GRAD = (_measure,), (_measure, _forward), (_measure, _measure_both, _grad)


def _mapped(function: Any, *found: Statistics) -> Statistics:
    return Statistics(*(None if facts[0] is None else function(*facts) for facts in zip(*found, strict=True)))


def _weighed(counts: Any, found: Statistics) -> Statistics:
    """Statistics of groups along axis 1 put together; `counts` (groups, 1) says how many rows each has."""
    with np.errstate(all="ignore"):
        mean = np.add.reduce(found.mean * (counts / counts.sum()), axis=1, keepdims=True)
        away = found.mean - mean
        squares = np.add.reduce(found.squares + counts * away * away, axis=1, keepdims=True)
        if found.cotangents is None:
            return Statistics(mean, squares)
        total = np.add.reduce(found.cotangents, axis=1, keepdims=True)
        away *= found.cotangents
        away += found.products
        return Statistics(mean, squares, total, np.add.reduce(away, axis=1, keepdims=True))


def _of_pieces(x: Any, g: Any | None) -> tuple[Any, Statistics]:
    """Counts and statistics of pieces of planes (a, n, w): each (a, pieces, w)."""
    a, n, w = x.shape
    piece = max(16, _PIECE // w)
    pieces = -(-n // piece)
    facts = np.empty((a * pieces, 2 if g is None else 4, w), x.dtype)
    loop_of = _measure if g is None else _measure_both
    run = functools.partial(loop_of[x.dtype], x if g is None else g, x, piece, facts)
    spread(run, a * pieces, max(1, WORTH_A_THREAD // (piece * w)))
    counts = np.minimum(piece, n - piece * np.arange(pieces))[:, None].astype(np.float64)
    found = np.moveaxis(facts.reshape(a, pieces, -1, w).astype(np.float64), 2, 0)
    return counts, Statistics(*found)


def side_by_side(x: Any) -> list[Any]:
    """Narrow planes as wide ones, several rows in one, and the rows that are left over if there are any."""
    a, n, w = x.shape
    fold = min(n, max(1, _WIDE // w))
    if fold == 1 or (a > 1 and n % fold):
        return [x]
    whole = n // fold * fold
    wide = x[:, :whole].reshape(a, n // fold, fold * w)
    return [wide, x[:, whole:]] if whole < n else [wide]


def statistics(x: Any, g: Any | None, together: int) -> Statistics:
    """Of the columns of planes (a, n, w), of which so many neighbours count as one: each (a, 1, w)."""
    a, _, w = x.shape
    cotangents = [None, None] if g is None else side_by_side(g)
    counts: list[Any] = []
    parts: list[Statistics] = []
    for part, g_part in zip(side_by_side(x), cotangents, strict=False):
        count, found = _of_pieces(part, g_part)
        counts.append(np.repeat(count, part.shape[2] // w, axis=0))
        parts.append(_mapped(lambda fact: fact.reshape(a, -1, w), found))
    found = parts[0] if len(parts) == 1 else _mapped(lambda *both: np.concatenate(both, axis=1), *parts)
    if found.mean.shape[1] > 1:
        found = _weighed(np.concatenate(counts), found)
    if together == 1:
        return found
    groups = _mapped(lambda fact: fact.reshape(-1, together, 1), found)
    found = _weighed(np.full((together, 1), float(x.shape[1])), groups)
    return _mapped(lambda fact: np.repeat(fact.reshape(a, 1, -1), together, axis=2), found)


def root_of(squares: Any, count: int, epsilon: float, dtype: Any) -> Any:
    """1 / √(variance + epsilon) in a dtype, whose range it keeps to."""
    with np.errstate(all="ignore"):
        return 1 / np.sqrt((squares / count).astype(dtype) + dtype.type(epsilon))


def _apply(run: Any, facts: list[Any], made: Any, *arrays: Any) -> Any:
    """Run a loop over all rows of planes, with facts (a, w) about the columns."""
    for *parts, to in zip(*(side_by_side(array) for array in arrays), side_by_side(made), strict=True):
        fold = to.shape[2] // made.shape[2]
        about = [fact if fold == 1 else np.tile(fact, (1, fold)) for fact in facts]
        rows, least = to.shape[0] * to.shape[1], max(1, WORTH_A_THREAD // to.shape[2])
        spread(functools.partial(run, *parts, *about, to), rows, least)
    return made


def moments_over(x: Any, together: int) -> tuple[Any, Any]:
    """Of the columns of planes (a, n, w), of which so many neighbours count as one: (a, w / together) each."""
    found = statistics(x, None, together)
    mean, squares = found.mean[:, 0, ::together], found.squares[:, 0, ::together]
    return mean.astype(x.dtype), (squares / (x.shape[1] * together)).astype(x.dtype)


def forward_over(x: Any, scale: Any, offset: Any, epsilon: float, together: int = 1) -> Any:
    """(x - mean) / √(variance + epsilon) · scale + offset for planes (a, n, w); scale and offset (w)."""
    found = statistics(x, None, together)
    root = root_of(found.squares, x.shape[1] * together, epsilon, x.dtype)
    facts = [found.mean.astype(x.dtype), root * scale, np.broadcast_to(offset, root.shape)]
    return _apply(_forward[x.dtype], [row_major(fact[:, 0]) for fact in facts], np.empty(x.shape, x.dtype), x)


def grad_over(g: Any, x: Any, scale: Any, epsilon: float, together: int = 1) -> tuple[Any, Any, Any]:
    """The contributions of planes x (a, n, w), of the scale and of the offset (w); the scale is all ones for groups."""
    found, count = statistics(x, g, together), x.shape[1] * together
    root = root_of(found.squares, count, epsilon, x.dtype)
    of_scale = found.products * root
    facts = [found.mean, of_scale / count * root, found.cotangents / count, root * scale]
    about = [np.ascontiguousarray(fact[:, 0].astype(x.dtype)) for fact in facts]
    made = _apply(_grad[x.dtype], about, np.empty(x.shape, x.dtype), g, x)
    return made, *(np.add.reduce(total[:, 0]).astype(x.dtype) for total in (of_scale, found.cotangents))
