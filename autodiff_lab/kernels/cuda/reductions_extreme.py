"""The slope of maxima and minima: a cotangent for the elements that equal the extreme, in equal parts.

To know the parts, all elements of a result must be seen before the first share is written.  Where there are results
enough to fill the GPU, a block does both for some of them: the second reading comes from the caches up to about 50 MB
over all blocks at work, so that memory sees one read and one write, 8 bytes an element.  Few long reductions are
counted in parts first, and shares are written in a launch of their own: two reads and one write, 12 bytes.

Occupancy: 256 threads, at most 40 registers and 2 kB of shared memory a block: 6 blocks a multiprocessor.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from autodiff_lab.kernels.arrays import contiguous
from autodiff_lab.kernels.cuda.array import DeviceArray
from autodiff_lab.kernels.cuda.launching import THREADS, check_size, cuda, empty, flat, kernel, launch, striding
from autodiff_lab.kernels.cuda.reductions import SUMS, cuts, laid, one_pass
from autodiff_lab.kernels.cuda.reductions_operations import SUM
from autodiff_lab.kernels.reference.reductions import Axes, shape_over

together = SUM.together


@cuda.jit(device=True)
def _hit(x: Any, i: Any, there: Any, best: Any) -> Any:
    """1 if an element is there and equals the best, else 0."""
    return x.dtype.type(1) if there and x[np.uint32(i)] == best else x.dtype.type(0)


@cuda.jit(device=True)
def _hits(x: Any, i: Any, step: Any, r: Any, deep: Any, stop: Any, best: Any) -> Any:
    """How many of the rows r, r + deep, ... below `stop` equal the best; four loads in flight."""
    total = x.dtype.type(0)
    while r < stop:
        total += (_hit(x, i, True, best) + _hit(x, i + step, r + deep < stop, best)) + (
            _hit(x, i + 2 * step, r + 2 * deep < stop, best) + _hit(x, i + 3 * step, r + 3 * deep < stop, best)
        )
        r += 4 * deep
        i += 4 * step
    return total


@cuda.jit(device=True)
def _share(x: Any, i: Any, there: Any, best: Any, win: Any, lose: Any) -> Any:
    """What an element gets."""
    return win if there and x[np.uint32(i)] == best else lose


@kernel(("extreme_slope",), "T[::1], T[::1], T[::1], T[::1], int32, int32, int32, int32, int32")
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
        losers[at] = g[np.uint32(result)] * (x.dtype.type(0) / ties)
    cuda.syncthreads()
    win, lose, i, r = winners[at], losers[at], first, row
    while r < stop:
        second, third, fourth = r + deep < stop, r + 2 * deep < stop, r + 3 * deep < stop
        a = _share(x, i, True, top, win, lose)
        b = _share(x, i + step, second, top, win, lose)
        c = _share(x, i + 2 * step, third, top, win, lose)
        d = _share(x, i + 3 * step, fourth, top, win, lose)
        made[np.uint32(i)] = a
        if second:
            made[np.uint32(i + step)] = b
        if third:
            made[np.uint32(i + 2 * step)] = c
        if fourth:
            made[np.uint32(i + 3 * step)] = d
        r += 4 * deep
        i += 4 * step


@kernel(("extreme_slope",), "T[::1], T[::1], T[::1], int32, int32, int32, int32, int32, int32, int32")
def extreme_ties(
    best: Any, x: Any, made: Any, reduced: Any, inner: Any, wide: Any, deep: Any, tiles: Any, parts: Any, chunk: Any
) -> None:
    """Count in one part of a reduction: blocks as in `reductions_kernels`."""
    t, block = cuda.threadIdx.x, np.uint32(cuda.blockIdx.x)
    above = np.int32(block // np.uint32(tiles))
    outer = np.int32(np.uint32(above) // np.uint32(parts))
    row = np.int32(np.uint32(t) // np.uint32(wide))
    column = (np.int32(block) - above * tiles) * wide + t - row * wide
    r = (above - outer * parts) * chunk
    stop = min(r + chunk, reduced)
    r += row
    hits = x.dtype.type(0)
    if row < deep and column < inner:
        top = best[np.uint32(outer * inner + column)]
        hits = _hits(x, (outer * reduced + r) * inner + column, deep * inner, r, deep, stop, top)
    hits = together(x, hits, t, row, wide, deep)
    if row == 0 and column < inner:
        made[np.uint32(above * inner + column)] = hits


@kernel(("extreme_slope",), "T[::1], T[::1], T[::1], T[::1], T[::1], int32, int32, int32")
def extreme_spread(g: Any, best: Any, ties: Any, x: Any, made: Any, size: Any, reduced: Any, inner: Any) -> None:
    """Share out, knowing the ties: a thread for every element, and on by the size of the grid."""
    i = cuda.grid(1)
    while i < size:
        outer = np.int32(np.uint32(i) // np.uint32(reduced * inner))
        within = np.int32(np.uint32(i) // np.uint32(inner))
        result = np.uint32(outer * inner + i - within * inner)
        one = x.dtype.type(1) if x[np.uint32(i)] == best[result] else x.dtype.type(0)
        made[np.uint32(i)] = g[result] * (one / ties[result])
        i += cuda.gridsize(1)


def extreme_slope(g: DeviceArray, best: DeviceArray, x: DeviceArray, axes: Axes) -> Any:
    """Share a cotangent out, as `reference.reductions.extreme_slope`; one group of neighbouring axes, no stack."""
    kept = shape_over(x, axes, keepdims=True)
    same = g.dtype == x.dtype == best.dtype and g.shape == best.shape == kept
    if not same or x.dtype.char not in "fd" or not x.size:
        return NotImplemented
    x = contiguous(x)
    groups = laid(x, axes).groups
    at = [i for i, group in enumerate(groups) if group[1]]
    if len(at) != 1:
        return NotImplemented
    check_size("extreme_slope", x.shape)
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
    launch(
        extreme_ties, outer * tiles * parts, THREADS, best, x, counted, reduced, inner, wide, deep, tiles, parts, chunk
    )
    ties = counted if parts == 1 else one_pass(SUMS, counted, outer, parts, inner)
    launch(extreme_spread, striding(x, x.size), THREADS, g, best, ties, x, made, x.size, reduced, inner)
