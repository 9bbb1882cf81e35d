"""Reductions over any axes: sums, means, extremes and log-sum-exps, from the kernels of `cuda_kernels`.

Axes that follow each other in memory and are both reduced, or both kept, count as one; then one reduced axis is left
between an outer and an inner part, or several, which are reduced one after the other, the longest first.  Axes are
taken in the order in which they lie in memory, so that a transposed array is not copied.

Every cut and every order is fixed by the shape and the number of multiprocessors: the same bits at every run.
"""

from __future__ import annotations

from math import prod
from typing import Any

from autodiff_lab.kernels.cuda.array import DeviceArray
from autodiff_lab.kernels.cuda.launching import THREADS, Kernel, check_size, empty, flat, launch
from autodiff_lab.kernels.reductions.cuda_kernels import LOG_SUM_EXP, MAX, MIN, SUM, TILE, kernels_of
from autodiff_lab.kernels.reductions.reference import Axes, count, shape_over

SUMS = kernels_of("sum", SUM, ("sum", "mean"))
MAXIMA = kernels_of("max", MAX, ("max",))
MINIMA = kernels_of("min", MIN, ("min",))
LOGARITHMS = kernels_of("logsumexp", LOG_SUM_EXP, ("logsumexp",))
DEEPEST = 8
"""Threads that share a column of many: so that 32 columns lie side by side in a block."""
RESIDENT = 8
"""Blocks of 256 threads that a multiprocessor runs at a time; a grid of fewer leaves it idle."""


def laid(x: DeviceArray, axes: Axes) -> tuple[DeviceArray, list[tuple[int, bool]], list[int]]:
    """See an array as a reduction over negative axes does.

    Returns
    -------
    elements : DeviceArray
        All, in a row.
    groups : list of (int, bool)
        Lengths of axes in the order of memory, and whether they are reduced; neighbours differ in that.
    kept : list of int
        The axes that stay, in that order.
    """
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
    return flat(x), groups, [axis for axis in order if axis not in reduced]


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
