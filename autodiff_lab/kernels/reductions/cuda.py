"""Reductions over any axes: sums, means, extremes and log-sum-exps, from the kernels of `cuda_kernels`.

Axes that follow each other in memory and are both reduced, or both kept, count as one; then one reduced axis is left
between an outer and an inner part, or several, which are reduced one after the other, the longest first.  Axes are
taken in the order in which they lie in memory, so that a transposed array is not copied.

Every cut and every order is fixed by the shape and the number of multiprocessors: the same bits at every run.

The gradient of maxima and minima: a cotangent for the elements that equal the extreme, in equal parts.

To know the parts, all elements of a result must be seen before the first share is written.  Where there are results
enough to fill the GPU, a block does both for some of them: the second reading comes from the caches up to about 50 MB
over all blocks at work, so that memory sees one read and one write, 8 bytes an element.  Few long reductions are
counted in parts first, and shares are written in a launch of their own: two reads and one write, 12 bytes.

Occupancy in float32: 256 threads, at most 48 registers and 3 kB of shared memory: 5 blocks a multiprocessor.
"""

from __future__ import annotations

from math import prod
from typing import Any, NamedTuple

import numpy as np

from autodiff_lab.kernels.arrays import contiguous
from autodiff_lab.kernels.cuda.array import DeviceArray
from autodiff_lab.kernels.cuda.launching import THREADS, Kernel, check_size, cuda, empty, flat, kernel, launch, math
from autodiff_lab.kernels.reductions.cuda_kernels import LOG_SUM_EXP, MAX, MIN, SUM, TILE, kernels_of
from autodiff_lab.kernels.reductions.reference import Axes, count, shape_over

SUMS = kernels_of("sum", SUM, ("sum", "mean", "extreme_grad"))
MAXIMA = kernels_of("max", MAX, ("max",))
MINIMA = kernels_of("min", MIN, ("min",))
LOGARITHMS = kernels_of("logsumexp", LOG_SUM_EXP, ("logsumexp",))
DEEPEST = 8
"""Threads that share a column of many: so that 32 columns lie side by side in a block."""
RESIDENT = 8
"""Blocks of 256 threads that a multiprocessor runs at a time; a grid of fewer leaves it idle."""


class Laid(NamedTuple):
    """An array as a reduction sees it.

    Attributes
    ----------
    elements : DeviceArray
        All, in a row.
    groups : list of (int, bool)
        Lengths of axes in the order of memory, and whether they are reduced; neighbours differ in that.
    kept : list of int
        The axes that stay, in that order.
    """

    elements: DeviceArray
    groups: list[tuple[int, bool]]
    kept: list[int]


def laid(x: DeviceArray, axes: Axes) -> Laid:
    """See an array as a reduction over negative axes does."""
    order = list(range(x.ndim))
    if not x.flags.c_contiguous:
        strides = x.strides
        by_stride = sorted(order, key=lambda a: -strides[a])
        moved = x.memory.wrap(x.raw.transpose(tuple(by_stride)))
        if moved.flags.c_contiguous:
            order, x = by_stride, moved
    reduced = {a + len(order) for a in axes}
    groups: list[tuple[int, bool]] = []
    for length, axis in zip(x.shape, order, strict=True):
        goes = axis in reduced
        if groups and groups[-1][1] == goes:
            groups[-1] = (groups[-1][0] * length, goes)
        elif length != 1:
            groups.append((length, goes))
    return Laid(flat(x), groups, [axis for axis in order if axis not in reduced])


def one_pass(
    kernels: tuple[Kernel, Kernel], x: DeviceArray, outer: int, reduced: int, inner: int, divisor: int = 1
) -> DeviceArray:
    """Reduce the middle of (outer, reduced, inner) elements in a row."""
    columns, pieces = kernels
    size, over = reduced * inner, x.dtype.type(divisor)
    if size <= TILE // 4:
        lanes = -(-reduced // 8)
        group = max(min(THREADS // (inner * lanes), -(-outer // x.memory.multiprocessors)), 1)
        made = empty(x, (outer * inner,))
        launch(pieces, -(-outer // group), THREADS, x, made, over, outer, reduced, inner, group, lanes)
        return made
    wide, deep, tiles = block_shape(reduced, inner)
    parts, chunk = cuts(x, outer * tiles, reduced, deep)
    made = empty(x, (outer * parts * inner,))
    threads = min(-(-wide * deep // 32) * 32, THREADS)
    launch(
        columns, outer * tiles * parts, threads, x, made, over if parts == 1 else x.dtype.type(1), reduced, inner, wide,
        deep, tiles, parts, chunk,
    )  # fmt: skip
    return made if parts == 1 else one_pass(kernels, made, outer, parts, inner, divisor)


def block_shape(reduced: int, inner: int) -> tuple[int, int, int]:
    """Columns of a block, threads for each of them, and blocks for all columns."""
    if inner == 1:
        deep = 32
        while deep < THREADS and deep * 8 < reduced:
            deep *= 2
        return 1, min(deep, THREADS), 1
    widest = THREADS // max(min(reduced // 8, DEEPEST), 1)
    tiles = -(-inner // widest)
    wide = -(-inner // tiles)
    if tiles > 1:
        wide = min(-(-wide // 8) * 8, widest)  # a read of 32 bytes begins at a multiple of 32 bytes
        tiles = -(-inner // wide)
    return wide, min(THREADS // wide, reduced), tiles


def cuts(x: DeviceArray, blocks: int, reduced: int, deep: int) -> tuple[int, int]:
    """Into how many parts to cut a reduction, and how long they are, so that blocks fill the GPU."""
    wanted = x.memory.multiprocessors * RESIDENT
    parts = max(min(wanted // blocks, reduced // (16 * deep)), 1)
    chunk = -(-reduced // parts)
    if parts > 1:
        chunk = -(-chunk // 32) * 32
    return -(-reduced // chunk), chunk


def _over(
    name: str, kernels: tuple[Kernel, Kernel], x: DeviceArray, axes: Axes, keepdims: bool, nothing: float | None,
    divisor: int = 1,
) -> Any:  # fmt: skip
    """Reduce over axes; `nothing` is what no elements give, None if that is for the reference to say."""
    if x.dtype.char not in "fd" or (not x.size and nothing is None):
        return NotImplemented
    check_size(name, x.shape)
    shape = shape_over(x, axes, keepdims)
    if not x.size:
        made = empty(x, shape)
        made.raw.fill(nothing)
        return made
    elements, groups, kept = laid(x, axes)
    if not any(goes for _, goes in groups):
        return x.memory.wrap(x.raw.copy()).reshape(shape)
    while any(goes for _, goes in groups):
        at = max((i for i, group in enumerate(groups) if group[1]), key=lambda i: groups[i][0])
        before, after = [n for n, _ in groups[:at]], [n for n, _ in groups[at + 1 :]]
        left = [group for group in groups if group[1]]
        elements = one_pass(
            kernels, elements, prod(before), groups[at][0], prod(after), divisor if len(left) == 1 else 1
        )
        groups = _without(groups, at)
    return _arranged(elements, [x.shape[a] for a in kept], kept).reshape(shape)


def _without(groups: list[tuple[int, bool]], at: int) -> list[tuple[int, bool]]:
    """Return the groups that are left; those that met at one of them become one."""
    before, after = groups[:at], groups[at + 1 :]
    if before and after:
        return [*before[:-1], (before[-1][0] * after[0][0], before[-1][1]), *after[1:]]
    return before + after


def _arranged(elements: DeviceArray, lengths: list[int], kept: list[int]) -> DeviceArray:
    """Elements whose axes lie as `kept` says, as an array with its axes in order."""
    if kept == sorted(kept):
        return elements
    back = sorted(range(len(kept)), key=lambda i: kept[i])
    return elements.memory.wrap(elements.raw.reshape(tuple(lengths)).transpose(tuple(back)))


def sum_over(x: DeviceArray, axes: Axes, keepdims: bool) -> Any:
    """Sum over axes, as `engine.primitives` has it."""
    return _over("sum", SUMS, x, axes, keepdims, 0.0)


def mean_over(x: DeviceArray, axes: Axes, keepdims: bool) -> Any:
    """Mean over axes, as `reference.mean_over`."""
    return _over("mean", SUMS, x, axes, keepdims, float("nan"), count(x, axes))


def max_over(x: DeviceArray, axes: Axes, keepdims: bool) -> Any:
    """Largest element, nan if one is, as `reference.max_over`."""
    return _over("max", MAXIMA, x, axes, keepdims, None)


def min_over(x: DeviceArray, axes: Axes, keepdims: bool) -> Any:
    """Least element, nan if one is, as `reference.min_over`."""
    return _over("min", MINIMA, x, axes, keepdims, None)


def logsumexp_over(x: DeviceArray, axes: Axes, keepdims: bool) -> Any:
    """Return ln Σ e^x, as `reference.logsumexp_over`."""
    return _over("logsumexp", LOGARITHMS, x, axes, keepdims, float("-inf"))


together = SUM.together


@cuda.jit(device=True)
def _hit(element: Any, best: Any, win: Any, lose: Any) -> Any:
    """What an element gets: `win` if it equals the best."""
    return win if element == best else lose


@cuda.jit(device=True)
def _read(x: Any, i: Any, there: Any) -> Any:
    """An element, or nan, which equals nothing."""
    return x[np.uint32(i)] if there else x.dtype.type(math.nan)


@cuda.jit(device=True)
def _hits(x: Any, i: Any, step: Any, r: Any, deep: Any, stop: Any, best: Any) -> Any:
    """How many of the rows r, r + deep, ... below `stop` equal the best; four loads in flight."""
    one, zero = x.dtype.type(1), x.dtype.type(0)
    total = zero
    while r < stop:
        a = x[np.uint32(i)]
        b = _read(x, i + step, r + deep < stop)
        c = _read(x, i + 2 * step, r + 2 * deep < stop)
        d = _read(x, i + 3 * step, r + 3 * deep < stop)
        total += (_hit(a, best, one, zero) + _hit(b, best, one, zero)) + (
            _hit(c, best, one, zero) + _hit(d, best, one, zero)
        )
        r += 4 * deep
        i += 4 * step
    return total


@cuda.jit(device=True)
def _give(x: Any, made: Any, i: Any, step: Any, r: Any, deep: Any, stop: Any, best: Any, win: Any, lose: Any) -> None:
    """Write the contributions of the rows r, r + deep, ... below `stop`; four loads in flight."""
    while r < stop:
        second, third, fourth = r + deep < stop, r + 2 * deep < stop, r + 3 * deep < stop
        a = x[np.uint32(i)]
        b = _read(x, i + step, second)
        c = _read(x, i + 2 * step, third)
        d = _read(x, i + 3 * step, fourth)
        made[np.uint32(i)] = _hit(a, best, win, lose)
        if second:
            made[np.uint32(i + step)] = _hit(b, best, win, lose)
        if third:
            made[np.uint32(i + 2 * step)] = _hit(c, best, win, lose)
        if fourth:
            made[np.uint32(i + 3 * step)] = _hit(d, best, win, lose)
        r += 4 * deep
        i += 4 * step


@kernel(("extreme_grad",), "T[::1], T[::1], T[::1], T[::1], int32, int32, int32, int32, int32")
def extreme_within(
    g: Any, best: Any, x: Any, made: Any, results: Any, reduced: Any, inner: Any, wide: Any, deep: Any
) -> None:
    """Count and share out for `wide` results, with `deep` threads each: side by side in a row where inner is 1."""
    winners = cuda.shared.array(THREADS, x.dtype)
    losers = cuda.shared.array(THREADS, x.dtype)
    t = cuda.threadIdx.x
    row = np.int32(np.uint32(t) // np.uint32(wide))
    at, stride = t - row * wide, wide
    if inner == 1:
        at, stride = np.int32(np.uint32(t) // np.uint32(deep)), 1
        row = t - at * deep
    result = cuda.blockIdx.x * wide + at
    there = result < results
    outer = np.int32(np.uint32(result) // np.uint32(inner))
    first = (outer * reduced + row) * inner + result - outer * inner
    step, stop = deep * inner, reduced if there else 0
    top = best[np.uint32(result)] if there else x.dtype.type(0)
    ties = together(x, _hits(x, first, step, row, deep, stop, top), t, row, stride, deep)
    if row == 0 and there:
        winners[at] = g[np.uint32(result)] * (x.dtype.type(1) / ties)
        losers[at] = x.dtype.type(0) / ties  # nan where nan is the best
    cuda.syncthreads()
    _give(x, made, first, step, row, deep, stop, top, winners[at], losers[at])


@cuda.jit(device=True)
def _corner(reduced: Any, inner: Any, wide: Any, tiles: Any, parts: Any, chunk: Any) -> Any:
    """What this thread looks at, blocks being (outer, part, tile): block without tile, result, row, first row, stop."""
    t, block = cuda.threadIdx.x, np.uint32(cuda.blockIdx.x)
    above = np.int32(block // np.uint32(tiles))
    outer = np.int32(np.uint32(above) // np.uint32(parts))
    row = np.int32(np.uint32(t) // np.uint32(wide))
    column = (np.int32(block) - above * tiles) * wide + t - row * wide
    first = (above - outer * parts) * chunk
    return above, outer, column, row, first + row, min(first + chunk, reduced)


@kernel(("extreme_grad",), "T[::1], T[::1], T[::1], int32, int32, int32, int32, int32, int32, int32")
def extreme_ties(
    best: Any, x: Any, made: Any, reduced: Any, inner: Any, wide: Any, deep: Any, tiles: Any, parts: Any, chunk: Any
) -> None:
    """Count in one part of a reduction: blocks as in `cuda_kernels`."""
    above, outer, column, row, r, stop = _corner(reduced, inner, wide, tiles, parts, chunk)
    hits = x.dtype.type(0)
    if row < deep and column < inner:
        top = best[np.uint32(outer * inner + column)]
        hits = _hits(x, (outer * reduced + r) * inner + column, deep * inner, r, deep, stop, top)
    hits = together(x, hits, cuda.threadIdx.x, row, wide, deep)
    if row == 0 and column < inner:
        made[np.uint32(above * inner + column)] = hits


@kernel(("extreme_grad",), "T[::1], T[::1], T[::1], T[::1], T[::1], int32, int32, int32, int32, int32, int32, int32")
def extreme_spread(
    g: Any, best: Any, ties: Any, x: Any, made: Any, reduced: Any, inner: Any, wide: Any, deep: Any, tiles: Any,
    parts: Any, chunk: Any,
) -> None:  # fmt: skip
    """Share out in one part of a reduction, knowing the ties: blocks as in `extreme_ties`."""
    _, outer, column, row, r, stop = _corner(reduced, inner, wide, tiles, parts, chunk)
    if row < deep and column < inner:
        at, i = np.uint32(outer * inner + column), (outer * reduced + r) * inner + column
        win, lose = g[at] * (x.dtype.type(1) / ties[at]), x.dtype.type(0) / ties[at]
        _give(x, made, i, deep * inner, r, deep, stop, best[at], win, lose)


def extreme_grad(g: DeviceArray, best: DeviceArray, x: DeviceArray, axes: Axes) -> Any:
    """Share a cotangent out, as `reference.extreme_grad`; one group of neighbouring axes, no stack."""
    kept = shape_over(x, axes, keepdims=True)
    same = g.dtype == x.dtype == best.dtype and g.shape == best.shape == kept
    if not same or x.dtype.char not in "fd" or not x.size:
        return NotImplemented
    x = contiguous(x)
    groups = laid(x, axes).groups
    at = [i for i, group in enumerate(groups) if group[1]]
    if len(at) != 1:
        return NotImplemented
    check_size("extreme_grad", x.shape)
    reduced, inner = groups[at[0]][0], prod(n for n, _ in groups[at[0] + 1 :])
    given = flat(g), flat(best), flat(x)
    made = empty(x, (x.size,))
    _launched(*given, made, x.size // (reduced * inner), reduced, inner)
    return made.reshape(x.shape)


def _launched(
    g: DeviceArray, best: DeviceArray, x: DeviceArray, made: DeviceArray, outer: int, reduced: int, inner: int
) -> None:
    """Take one launch, or two and a sum."""
    deep, least, most = 1, min(reduced, 32) if inner == 1 else 1, THREADS if inner == 1 else 8
    while deep < most and (deep < least or deep * 8 < reduced):
        deep *= 2
    wide = THREADS // deep
    parts, chunk = cuts(x, -(-outer * inner // wide), reduced, deep)
    if parts == 1:
        blocks = -(-outer * inner // wide)
        launch(extreme_within, blocks, THREADS, g, best, x, made, outer * inner, reduced, inner, wide, deep)
        return
    wide = 1 if inner == 1 else min(wide, inner)
    deep, tiles = THREADS // wide, -(-inner // wide)
    parts, chunk = cuts(x, outer * tiles, reduced, deep)
    counted = empty(x, (outer * parts * inner,))
    sizes = reduced, inner, wide, deep, tiles, parts, chunk
    launch(extreme_ties, outer * tiles * parts, THREADS, best, x, counted, *sizes)
    ties = counted if parts == 1 else one_pass(SUMS, counted, outer, parts, inner)
    launch(extreme_spread, outer * tiles * parts, THREADS, g, best, ties, x, made, *sizes)
