"""Columns normalized to mean 0 and variance 1, and the gradients, in three launches.

An array is seen as planes (a, n, w), of which n goes; d neighbouring columns may count as one group.  First, blocks
measure pieces of planes: sums, and squares about the mean of what a thread saw.  Then a group of threads for each group
of columns joins its pieces, exactly: the squares about the mean of all are those about the means of both parts, and the
squared distance of the means weighed by both counts (Chan, Golub and LeVeque, 1979).  Then the columns are normalized.

A thread stays with its column: it reads eight elements into registers, takes their mean, and adds up distances from it
and their squares, of these eight and of all that follow, so that little cancels and memory is read once.  Sums are kept
beside the distances, so that infinities stay what they are where the reference has them.

Traffic, in passes over an array: the result is two reads and one write (12 bytes an element in float32), the gradient
four reads and one write (20 bytes), the gradients of scale and offset of rows two reads.  Memory limits.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from autodiff_lab.kernels.cuda.array import DeviceArray
from autodiff_lab.kernels.cuda.groups import MOST_STEP, WARP, group_sum, place, row_kernel
from autodiff_lab.kernels.cuda.launching import SIMULATED, cuda, empty, kernel, launch, math
from autodiff_lab.kernels.reductions.cuda import sum_over

BLOCK = 64 if SIMULATED else 256
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
def join_threads(parts: Any, count: Any, total: Any, squares: Any, g_sum: Any, products: Any, sizes: Any) -> Any:
    """What the threads of a block measured in their column; the first of them gets the whole, in a fixed order."""
    thread = np.uint32(cuda.threadIdx.x)
    lane = np.uint32(thread // sizes[4])
    span = np.uint32(BLOCK // sizes[4])
    parts[0, thread], parts[1, thread], parts[2, thread] = count, total, squares
    parts[3, thread], parts[4, thread] = g_sum, products
    while span > 1:
        half = np.uint32((span + 1) // 2)
        cuda.syncthreads()
        if np.uint32(lane + half) < span:
            other = np.uint32(thread + half * sizes[4])
            more = parts[0, other]
            squares, apart = joined(count, total, squares, more, parts[1, other], parts[2, other])
            both = max(count + more, parts.dtype.type(1))
            products += parts[4, other] + apart * ((parts[3, other] * count - g_sum * more) / both)
            count, total, g_sum = count + more, total + parts[1, other], g_sum + parts[3, other]
            parts[0, thread], parts[1, thread], parts[2, thread] = count, total, squares
            parts[3, thread], parts[4, thread] = g_sum, products
        span = half
    return total, squares, g_sum, products, lane == 0


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


@kernel(
    ("moments", "plain_normalize", "normalize", "plain_normalize_grad", "normalize_grad"),
    "T[::1], T[::1], T[::1], uint32, UniTuple(uint32, 7)",
)
def measure_columns(g: Any, x: Any, measures: Any, with_g: Any, sizes: Any) -> None:
    """Take sums of the columns of a piece and squares about their means; with a cotangent, sums of it as well.

    These are sums of cotangents, and of their products with distances from the mean.
    """
    parts = cuda.shared.array((5, BLOCK), x.dtype)
    kept = cuda.local.array(AT_ONCE, x.dtype)
    given = cuda.local.array(AT_ONCE, x.dtype)
    plane, column, row, end, deep, there = column_of(sizes)
    rows, zero = seen_by(row, end, deep, there), x.dtype.type(0)
    total, level, squares, g_sum, products, near = zero, zero, zero, zero, zero, zero
    step = np.uint32(deep * sizes[1])
    at = np.uint32(np.uint32(plane * sizes[0] + row) * sizes[1] + column)
    done = np.uint32(0)
    while done < rows:
        part, moved, spread, g_part, product = zero, zero, zero, zero, zero
        for k in range(AT_ONCE):
            kept[k] = x[np.uint32(at + k * step)] if np.uint32(done + k) < rows else zero
            given[k] = g[np.uint32(at + k * step)] if with_g != 0 and np.uint32(done + k) < rows else zero
            part += kept[k]
        if done == 0:
            near = part / x.dtype.type(min(rows, np.uint32(AT_ONCE)))
        for k in range(AT_ONCE):
            away = kept[k] - near if np.uint32(done + k) < rows else zero
            moved += away
            spread += away * away
            g_part += given[k]
            product += given[k] * away
        total, level, squares = total + part, level + moved, squares + spread
        g_sum, products = g_sum + g_part, products + product
        done = np.uint32(done + AT_ONCE)
        at = np.uint32(at + AT_ONCE * step)
    count = x.dtype.type(rows)
    if rows > 0:
        mean, squares = about_mean(count, level, squares)
        products -= g_sum * mean
    total, squares, g_sum, products, first = join_threads(parts, count, total, squares, g_sum, products, sizes)
    if there and first:
        own = np.uint32(np.uint32(cuda.blockIdx.x) // sizes[3] * sizes[1] + column)
        size = np.uint32(measures.size // (4 if with_g != 0 else 2))
        measures[own] = total
        measures[np.uint32(size + own)] = squares
        if with_g != 0:
            measures[np.uint32(2 * size + own)] = g_sum
            measures[np.uint32(3 * size + own)] = products


@row_kernel(
    ("moments", "plain_normalize", "plain_normalize_grad", "normalize", "normalize_grad"),
    "T[::1], T[::1], T, uint32, UniTuple(uint32, 7)",
)
def join_pieces(
    measures: Any, facts: Any, epsilon: Any, with_g: Any, sizes: Any, groups: Any, entries: Any, bits: Any, again: Any
) -> None:
    """Take means and variances of groups; sums of cotangents, and of their products with what is normalized."""
    parts = cuda.shared.array(WARP, measures.dtype)
    group, first, some = place(groups, entries, bits)
    step, zero = (1 << again) & MOST_STEP, measures.dtype.type(0)
    size, wide = np.uint32(measures.size // (4 if with_g != 0 else 2)), np.uint32(sizes[1] // sizes[2])
    lane = np.uint32(first - group * entries)
    plane = np.uint32(np.uint32(group) // wide)
    origin = np.uint32(plane * sizes[5] * sizes[1] + (np.uint32(group) - plane * wide) * sizes[2])
    count = measures.dtype.type(np.uint32(sizes[0] * sizes[2]))
    total = zero
    for k in range(some):
        i = np.uint32(lane + k * step)
        piece = np.uint32(i // sizes[2])
        total += measures[np.uint32(origin + piece * sizes[1] + (i - piece * sizes[2]))]
    mean = group_sum(total, parts, bits) / count
    squares, g_sum, products = zero, zero, zero
    for k in range(some):
        i = np.uint32(lane + k * step)
        piece = np.uint32(i // sizes[2])
        at = np.uint32(origin + piece * sizes[1] + (i - piece * sizes[2]))
        rows = measures.dtype.type(np.uint32(min(sizes[6], np.uint32(sizes[0] - piece * sizes[6]))))
        away = measures[at] / rows - mean
        squares += measures[np.uint32(size + at)] + away * away * rows
        if with_g != 0:
            g_part = measures[np.uint32(2 * size + at)]
            g_sum += g_part
            products += measures[np.uint32(3 * size + at)] + g_part * away
    variance = group_sum(squares, parts, bits) / count
    g_sum, products = group_sum(g_sum, parts, bits), group_sum(products, parts, bits)
    if group < groups and lane == 0:
        facts[group] = mean
        facts[groups + group] = variance
        facts[2 * groups + group] = g_sum
        facts[3 * groups + group] = products / math.sqrt(variance + epsilon)


WAVES = 8
"""Pieces for each multiprocessor: several rounds of blocks, so that the last round leaves little idle."""


class Columns(NamedTuple):
    """How threads share planes (a, n, w) whose columns are groups of d."""

    a: int
    n: int
    w: int
    d: int
    chunks: int
    width: int
    pieces: int
    rows: int

    @property
    def blocks(self) -> int:
        """Of the grid."""
        return self.a * self.pieces * self.chunks

    @property
    def groups(self) -> int:
        """Means that are taken."""
        return self.a * self.w // self.d

    @property
    def facts(self) -> tuple[np.uint32, ...]:
        """What kernels receive."""
        return tuple(map(np.uint32, (self.n, self.w, self.d, self.chunks, self.width, self.pieces, self.rows)))


def columns(planes: tuple[int, int, int], d: int, multiprocessors: int) -> Columns:
    """Share planes (a, n, w) among blocks: columns in chunks as wide as a block, rows in pieces that fill the GPU."""
    a, n, w = planes
    chunks = -(-w // BLOCK)
    width = w if chunks == 1 else -(-w // chunks // 32) * 32
    chunks = -(-w // width)
    least = BLOCK // width * AT_ONCE
    wanted = max(1, multiprocessors * WAVES // (a * chunks))
    rows = -(-n // (wanted * least)) * least
    return Columns(a, n, w, d, chunks, width, -(-n // rows), rows)


@kernel(("plain_normalize", "normalize"), "T[::1], T[::1], T[::1], T[::1], T[::1], T, uint32, UniTuple(uint32, 7)")
def normalize_columns(
    x: Any, facts: Any, scale: Any, offset: Any, made: Any, epsilon: Any, scaled: Any, sizes: Any
) -> None:
    """(x - mean) / √(variance + epsilon) of each column, times the scale and plus the offset where it is scaled."""
    plane, column, row, end, deep, there = column_of(sizes)
    if there:
        groups = np.uint32(facts.size // 4)
        own = np.uint32(column // sizes[2])
        group = np.uint32(plane * np.uint32(sizes[1] // sizes[2]) + own)
        mean = facts[group]
        factor = x.dtype.type(1) / math.sqrt(facts[np.uint32(groups + group)] + epsilon)
        level = x.dtype.type(0)
        if scaled != 0:
            factor *= scale[own]
            level = offset[own]
        step = np.uint32(deep * sizes[1])
        at = np.uint32(np.uint32(plane * sizes[0] + row) * sizes[1] + column)
        kept = cuda.local.array(AT_ONCE, x.dtype)
        while row < end:
            for k in range(AT_ONCE):
                kept[k] = x[np.uint32(at + k * step)] if np.uint32(row + k * deep) < end else mean
            for k in range(AT_ONCE):
                if np.uint32(row + k * deep) < end:
                    made[np.uint32(at + k * step)] = (kept[k] - mean) * factor + level
            row = np.uint32(row + AT_ONCE * deep)
            at = np.uint32(at + AT_ONCE * step)


@kernel(
    ("plain_normalize_grad", "normalize_grad"), "T[::1], T[::1], T[::1], T[::1], T[::1], T, uint32, UniTuple(uint32, 7)"
)
def normalize_columns_grad(
    g: Any, x: Any, facts: Any, scale: Any, made: Any, epsilon: Any, scaled: Any, sizes: Any
) -> None:
    """The contribution of x in a cotangent of `normalize_columns`."""
    plane, column, row, end, deep, there = column_of(sizes)
    if there:
        groups, count = np.uint32(facts.size // 4), x.dtype.type(np.uint32(sizes[0] * sizes[2]))
        own = np.uint32(column // sizes[2])
        group = np.uint32(plane * np.uint32(sizes[1] // sizes[2]) + own)
        mean = facts[group]
        root = x.dtype.type(1) / math.sqrt(facts[np.uint32(groups + group)] + epsilon)
        level = facts[np.uint32(2 * groups + group)] / count
        tilt = facts[np.uint32(3 * groups + group)] / count * root
        factor = root * scale[own] if scaled != 0 else root
        step = np.uint32(deep * sizes[1])
        at = np.uint32(np.uint32(plane * sizes[0] + row) * sizes[1] + column)
        kept = cuda.local.array(AT_ONCE, x.dtype)
        given = cuda.local.array(AT_ONCE, x.dtype)
        while row < end:
            for k in range(AT_ONCE):
                kept[k] = x[np.uint32(at + k * step)] if np.uint32(row + k * deep) < end else mean
                given[k] = g[np.uint32(at + k * step)] if np.uint32(row + k * deep) < end else mean
            for k in range(AT_ONCE):
                if np.uint32(row + k * deep) < end:
                    made[np.uint32(at + k * step)] = factor * (given[k] - level - (kept[k] - mean) * tilt)
            row = np.uint32(row + AT_ONCE * deep)
            at = np.uint32(at + AT_ONCE * step)


def facts_of_columns(x: DeviceArray, g: DeviceArray | None, epsilon: float, how: Columns) -> DeviceArray:
    """Means and variances of groups, one after the other.

    With a cotangent there follow sums of it, and of its products with the normalized columns.
    """
    measures, facts = empty(x, ((2 if g is None else 4) * how.a * how.pieces * how.w,)), empty(x, (4 * how.groups,))
    small, with_g = x.dtype.type(epsilon), np.uint32(g is not None)
    launch(measure_columns, how.blocks, BLOCK, x if g is None else g, x, measures, with_g, how.facts)
    join_pieces.launch(how.groups, how.pieces * how.d, measures, facts, small, with_g, how.facts)
    return facts


def columns_normalized(
    x: DeviceArray, scaling: tuple[DeviceArray, DeviceArray] | None, epsilon: float, how: Columns
) -> DeviceArray:
    """Columns of a flat array normalized to mean 0 and variance 1, then scaled if a scale and an offset are given."""
    facts, made = facts_of_columns(x, None, epsilon, how), empty(x, x.shape)
    small, scaled = x.dtype.type(epsilon), np.uint32(scaling is not None)
    launch(normalize_columns, how.blocks, BLOCK, x, facts, *(scaling or (x, x)), made, small, scaled, how.facts)
    return made


def grad_of_columns(
    g: DeviceArray, x: DeviceArray, scale: DeviceArray | None, epsilon: float, how: Columns
) -> tuple[DeviceArray, DeviceArray]:
    """Return the contribution of the columns of x, and the facts of `facts_of_columns`."""
    facts, made = facts_of_columns(x, g, epsilon, how), empty(x, x.shape)
    small, scaled = x.dtype.type(epsilon), np.uint32(scale is not None)
    arrays = g, x, facts, x if scale is None else scale, made
    launch(normalize_columns_grad, how.blocks, BLOCK, *arrays, small, scaled, how.facts)
    return made, facts


@kernel(("normalize_grad",), "T[::1], T[::1], T[::1], T[::1], UniTuple(uint32, 7)")
def scaling_grad(g: Any, x: Any, facts: Any, measures: Any, sizes: Any) -> None:
    """Add up over the rows of a piece: cotangents times normalized elements, and cotangents."""
    of_scale = cuda.shared.array(BLOCK, x.dtype)
    of_offset = cuda.shared.array(BLOCK, x.dtype)
    kept = cuda.local.array(AT_ONCE, x.dtype)
    given = cuda.local.array(AT_ONCE, x.dtype)
    _, column, row, end, deep, there = column_of(sizes)
    zero = x.dtype.type(0)
    products, total = zero, zero
    step = np.uint32(deep * sizes[1])
    at = np.uint32(row * sizes[1] + column)
    while there and row < end:
        part, more = zero, zero
        for k in range(AT_ONCE):
            inside = np.uint32(row + k * deep) < end
            kept[k] = x[np.uint32(at + k * step)] if inside else zero
            given[k] = g[np.uint32(at + k * step)] if inside else zero
        for k in range(AT_ONCE):
            own = np.uint32(row + k * deep)
            if own < end:
                part += given[k] * ((kept[k] - facts[own]) * facts[np.uint32(sizes[0] + own)])
            more += given[k]
        products, total = products + part, total + more
        row = np.uint32(row + AT_ONCE * deep)
        at = np.uint32(at + AT_ONCE * step)
    thread = np.uint32(cuda.threadIdx.x)
    lane = np.uint32(thread // sizes[4])
    of_scale[thread], of_offset[thread] = products, total
    span = deep
    while span > 1:
        half = np.uint32((span + 1) // 2)
        cuda.syncthreads()
        if np.uint32(lane + half) < span:
            other = np.uint32(thread + half * sizes[4])
            of_scale[thread] += of_scale[other]
            of_offset[thread] += of_offset[other]
        span = half
    if there and lane == 0:
        own = np.uint32(np.uint32(cuda.blockIdx.x) // sizes[3] * sizes[1] + column)
        measures[own] = of_scale[thread]
        measures[np.uint32(measures.size // 2 + own)] = of_offset[thread]


def scaling_grad_of_rows(
    g: DeviceArray, x: DeviceArray, facts: DeviceArray, rows: int, length: int
) -> tuple[DeviceArray, DeviceArray]:
    """Return the contributions of scale and offset, (length) each, from means and roots of rows of flat arrays."""
    how = columns((1, rows, length), 1, x.memory.multiprocessors)
    measures = empty(x, (2 * how.pieces * length,))
    launch(scaling_grad, how.blocks, BLOCK, g, x, facts, measures, how.facts)
    made = sum_over(measures.reshape(2, how.pieces, length), (-2,), keepdims=False)
    return made[0], made[1]
