"""Statistics of columns: each thread measures what it sees, and what they saw is put together exactly.

A thread reads eight elements of its column into registers, takes their mean, and adds up distances from it and their
squares, of these eight and of all that follow: what is moved by a mean of some of its elements cancels little, and
memory is read once.  The threads of a block that have the same column join theirs in shared memory, in a fixed order:
the squares about the mean of all are those about the means of both parts, and the squared distance of the means weighed
by both counts (Chan, Golub and LeVeque, 1979).

Sums are kept beside the distances, so that infinities stay what they are where the reference has them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_lab.kernels.cuda.launching import cuda, kernel, math
from autodiff_lab.kernels.cuda.standardize_teams import TEAM, WARPS, team_row, team_sum

BLOCK = TEAM
"""Threads of a block."""
AT_ONCE = 8
"""Rows that a thread reads at once."""


@cuda.jit(device=True)
def column_of(sizes: Any) -> Any:
    """Plane and column of a thread, its first row, where its rows end, how far apart they are, and whether it works."""
    block, thread = np.uint32(cuda.blockIdx.x), np.uint32(cuda.threadIdx.x)
    piece = np.uint32(block // sizes[3])
    plane = np.uint32(piece // sizes[5])
    lane = np.uint32(thread // sizes[4])
    deep = np.uint32(BLOCK // sizes[4])
    column = np.uint32((block - piece * sizes[3]) * sizes[4] + (thread - lane * sizes[4]))
    first = np.uint32((piece - plane * sizes[5]) * sizes[6])
    end = np.uint32(min(np.uint32(first + sizes[6]), sizes[0]))
    return plane, column, np.uint32(first + lane), end, deep, lane < deep and column < sizes[1]


@cuda.jit(device=True)
def joined(count: Any, total: Any, squares: Any, more: Any, more_total: Any, more_squares: Any) -> Any:
    """Squares of two parts about the mean of both, and the distance of their means."""
    away = more_total / more - total / count if count > 0 and more > 0 else count - count
    both = count + more
    squares += more_squares
    return (squares + away * away * (count * more / both) if count > 0 and more > 0 else squares), away


@cuda.jit(device=True)
def join_threads(parts: Any, count: Any, total: Any, squares: Any, shares: Any, products: Any, sizes: Any) -> Any:
    """What the threads of a block measured in their column; the first of them gets the whole, in a fixed order."""
    thread = np.uint32(cuda.threadIdx.x)
    lane = np.uint32(thread // sizes[4])
    span = np.uint32(BLOCK // sizes[4])
    parts[0, thread], parts[1, thread], parts[2, thread] = count, total, squares
    parts[3, thread], parts[4, thread] = shares, products
    while span > 1:
        half = np.uint32((span + 1) // 2)
        cuda.syncthreads()
        if np.uint32(lane + half) < span:
            other = np.uint32(thread + half * sizes[4])
            more = parts[0, other]
            squares, apart = joined(count, total, squares, more, parts[1, other], parts[2, other])
            both = max(count + more, parts.dtype.type(1))
            products += parts[4, other] + apart * ((parts[3, other] * count - shares * more) / both)
            count, total, shares = count + more, total + parts[1, other], shares + parts[3, other]
            parts[0, thread], parts[1, thread], parts[2, thread] = count, total, squares
            parts[3, thread], parts[4, thread] = shares, products
        span = half
    return total, squares, shares, products, lane == 0


@cuda.jit(device=True)
def seen_by(row: Any, end: Any, deep: Any, there: Any) -> Any:
    """How many rows a thread goes through."""
    return np.uint32(np.uint32(end - row + deep - 1) // deep) if there and row < end else np.uint32(0)


@cuda.jit(device=True)
def about_mean(count: Any, level: Any, spread: Any) -> Any:
    """The mean of distances, and the sum of squares about it, which rounding must not bring below 0."""
    mean = level / count
    squares = spread - level * mean
    return mean, squares - squares if squares < 0 else squares


@kernel(("moments", "standardize", "normalize"), "T[::1], T[::1], UniTuple(uint32, 7)")
def measure_columns(x: Any, measures: Any, sizes: Any) -> None:
    """Sums of the columns of a piece, and squares about their means."""
    parts = cuda.shared.array((5, BLOCK), x.dtype)
    kept = cuda.local.array(AT_ONCE, x.dtype)
    plane, column, row, end, deep, there = column_of(sizes)
    rows, zero = seen_by(row, end, deep, there), x.dtype.type(0)
    total, level, squares, near = zero, zero, zero, zero
    step = np.uint32(deep * sizes[1])
    at = np.uint32(np.uint32(plane * sizes[0] + row) * sizes[1] + column)
    done = np.uint32(0)
    while done < rows:
        part, moved, spread = zero, zero, zero
        for k in range(AT_ONCE):
            kept[k] = x[np.uint32(at + k * step)] if np.uint32(done + k) < rows else zero
            part += kept[k]
        if done == 0:
            near = part / x.dtype.type(min(rows, np.uint32(AT_ONCE)))
        for k in range(AT_ONCE):
            away = kept[k] - near if np.uint32(done + k) < rows else zero
            moved += away
            spread += away * away
        total, level, squares = total + part, level + moved, squares + spread
        done = np.uint32(done + AT_ONCE)
        at = np.uint32(at + AT_ONCE * step)
    count = x.dtype.type(rows)
    if rows > 0:
        _, squares = about_mean(count, level, squares)
    total, squares, _, _, first = join_threads(parts, count, total, squares, zero, zero, sizes)
    if there and first:
        own = np.uint32(np.uint32(cuda.blockIdx.x) // sizes[3] * sizes[1] + column)
        measures[own] = total
        measures[np.uint32(measures.size // 2 + own)] = squares


@kernel(("standardize_slope", "normalize_slope"), "T[::1], T[::1], T[::1], UniTuple(uint32, 7)")
def measure_slopes(g: Any, x: Any, measures: Any, sizes: Any) -> None:
    """What `measure_columns` does, and sums of cotangents and of their products with distances from the mean."""
    parts = cuda.shared.array((5, BLOCK), x.dtype)
    kept = cuda.local.array(AT_ONCE, x.dtype)
    given = cuda.local.array(AT_ONCE, x.dtype)
    plane, column, row, end, deep, there = column_of(sizes)
    rows, zero = seen_by(row, end, deep, there), x.dtype.type(0)
    total, level, squares, shares, products, near = zero, zero, zero, zero, zero, zero
    step = np.uint32(deep * sizes[1])
    at = np.uint32(np.uint32(plane * sizes[0] + row) * sizes[1] + column)
    done = np.uint32(0)
    while done < rows:
        part, moved, spread, share, product = zero, zero, zero, zero, zero
        for k in range(AT_ONCE):
            kept[k] = x[np.uint32(at + k * step)] if np.uint32(done + k) < rows else zero
            given[k] = g[np.uint32(at + k * step)] if np.uint32(done + k) < rows else zero
            part += kept[k]
        if done == 0:
            near = part / x.dtype.type(min(rows, np.uint32(AT_ONCE)))
        for k in range(AT_ONCE):
            away = kept[k] - near if np.uint32(done + k) < rows else zero
            moved += away
            spread += away * away
            share += given[k]
            product += given[k] * away
        total, level, squares = total + part, level + moved, squares + spread
        shares, products = shares + share, products + product
        done = np.uint32(done + AT_ONCE)
        at = np.uint32(at + AT_ONCE * step)
    count = x.dtype.type(rows)
    if rows > 0:
        mean, squares = about_mean(count, level, squares)
        products -= shares * mean
    total, squares, shares, products, first = join_threads(parts, count, total, squares, shares, products, sizes)
    if there and first:
        own = np.uint32(np.uint32(cuda.blockIdx.x) // sizes[3] * sizes[1] + column)
        size = np.uint32(measures.size // 4)
        measures[own] = total
        measures[np.uint32(size + own)] = squares
        measures[np.uint32(2 * size + own)] = shares
        measures[np.uint32(3 * size + own)] = products


@kernel(
    ("moments", "standardize", "standardize_slope", "normalize", "normalize_slope"),
    "T[::1], T[::1], T, uint32, uint32, UniTuple(uint32, 7)",
)
def join_pieces(measures: Any, facts: Any, epsilon: Any, sloped: Any, bits: Any, sizes: Any) -> None:
    """Means and variances of groups; sums of cotangents, and of their products with what is standardized."""
    parts = cuda.shared.array(WARPS, measures.dtype)
    groups, wide = np.uint32(facts.size // 4), np.uint32(sizes[1] // sizes[2])
    group, there, lane = team_row(bits, groups)
    size, step, zero = np.uint32(measures.size // (4 if sloped != 0 else 2)), 1 << bits, measures.dtype.type(0)
    plane = np.uint32(group // wide)
    first = np.uint32(plane * sizes[5] * sizes[1] + (group - plane * wide) * sizes[2])
    entries, count = np.uint32(sizes[5] * sizes[2]), measures.dtype.type(np.uint32(sizes[0] * sizes[2]))
    total = zero
    i = lane
    while i < entries:
        piece = np.uint32(i // sizes[2])
        total += measures[np.uint32(first + piece * sizes[1] + (i - piece * sizes[2]))]
        i = np.uint32(i + step)
    mean = team_sum(total, parts, bits) / count
    squares, shares, products = zero, zero, zero
    i = lane
    while i < entries:
        piece = np.uint32(i // sizes[2])
        at = np.uint32(first + piece * sizes[1] + (i - piece * sizes[2]))
        rows = measures.dtype.type(np.uint32(min(sizes[6], np.uint32(sizes[0] - piece * sizes[6]))))
        away = measures[at] / rows - mean
        squares += measures[np.uint32(size + at)] + away * away * rows
        if sloped != 0:
            share = measures[np.uint32(2 * size + at)]
            shares += share
            products += measures[np.uint32(3 * size + at)] + share * away
        i = np.uint32(i + step)
    variance = team_sum(squares, parts, bits) / count
    shares, products = team_sum(shares, parts, bits), team_sum(products, parts, bits)
    if there and lane == 0:
        facts[group] = mean
        facts[np.uint32(groups + group)] = variance
        facts[np.uint32(2 * groups + group)] = shares
        facts[np.uint32(3 * groups + group)] = products / math.sqrt(variance + epsilon)
