"""Overrides of convolution, of depthwise convolution and of their gradients, over one to three axes.

`correlate` computes a convolution, and its gradient with respect to the input, which is one too; `correlate_filter` the
gradient with respect to the filter; `correlate_deep` and `correlate_deep_filter` do so for depthwise convolution, with
a channel in each lane.  They are loops over images and rows, around the tiles of `numba_tiles`; `numba_plans` says what
they read and write where.

Optimizations: no window is copied, only an image that needs zeros around it, one at a time, which then lies in the
second-level cache, and some columns of the filter; for a filter's gradient as many rows of pixels at a time as lie in
the first-level cache; its sums run over a few hundred pixels, then over blocks of images, in a fixed order.  Threads
share the images; results do not depend on the number of threads.
"""
# ruff: noqa: ANN001

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_lab.kernels.base.loops import loop, override, row_major
from autodiff_lab.kernels.base.threads import spread
from autodiff_lab.kernels.convolution import numba_plans as plans
from autodiff_lab.kernels.convolution.little import correlation, correlation_of_filter, packed
from autodiff_lab.kernels.convolution.numba_tiles import BYTES, ROWS, padded, tile_of_channels
from autodiff_lab.kernels.convolution.reference import Padding, Sizes

# pyright: reportUnusedFunction=false, reportReturnType=false, reportCallIssue=false


_of_pixels, _of_taps = correlation(), correlation_of_filter()


@loop(
    "void({t}[::1], {t}[::1], {t}[::1], {t}[::1], {t}[::1], int64[::1], int64[::1], int64[::1], int64[::1],"
    " int64, int64)",
    wraparound=False,
)
def correlate(x, w, out, image, panels, offsets, taps, rows, sizes, low, high) -> None:
    """Sums over the taps at `offsets` of the images from `low` to `high`, after packing the filter if `taps` are given.

    `image` holds the padded images that are taken at a time, zeros at first, or nothing if none is padded.
    """
    packed(w, taps, sizes, panels)
    _of_pixels(x, out, image, panels, offsets, rows, sizes, low, high)


@loop(
    "void({t}[::1], {t}[::1], {t}[::1], {t}[::1], {t}[::1], int64[::1], int64[::1], int64[::1], int64, int64)",
    wraparound=False,
)
def correlate_filter(x, g, out, image, panel, offsets, rows, sizes, low, high) -> None:
    """Gradients of a filter over the blocks of images from `low` to `high`, each block into its own filter.

    `panel` holds some columns of g, of as many rows of pixels as are taken at a time.
    """
    _of_taps(x, g, out, image, panel, offsets, rows, sizes, low, high)


def _flat(array: Any) -> Any:
    return row_major(array).reshape(-1)


def _correlated(plan: plans.Plan, x: Any, w: Any, out: Any) -> None:
    """Run a plan of `correlate` on flat arrays, images spread over threads."""
    run = correlate[x.dtype]
    panels = np.empty(plan.panels(2 * BYTES // x.itemsize), x.dtype)
    run(x, w, out, out[:0], panels, plan.offsets, plan.taps, plan.rows, plan.sizes, 0, 0)

    def images(low: int, high: int) -> None:
        image = np.zeros(plan.image, x.dtype)
        run(x, w, out, image, panels, plan.offsets, plan.taps[:0], plan.rows, plan.sizes, low, high)

    spread(images, plan.out[0], plan.least)


def _summed(run: Any, plan: plans.Plan, x: Any, g: Any, shape: Sizes, panel: tuple[int, ...] = ()) -> Any:
    """Run a plan of a filter's gradient, blocks of images spread over threads, and add up what the blocks give.

    `panel` is the size of the one that the loop takes, if it takes one.
    """
    out = np.empty((plan.blocks, *shape), x.dtype)
    flat, x, g = out.reshape(-1), _flat(x), _flat(g)

    def blocks(low: int, high: int) -> None:
        room = [np.zeros(plan.image, x.dtype), *[np.empty(size, x.dtype) for size in panel]]
        run(x, g, flat, *room, plan.offsets, plan.rows, plan.sizes, low, high)

    spread(blocks, plan.blocks, max(1, plan.least // int(plan.sizes[25])))
    return out[0] if plan.blocks == 1 else np.add.reduce(out, axis=0)


@override(correlate)
def convolve(x: Any, w: Any, strides: Sizes, padding: Padding, dilations: Sizes) -> Any:
    """Convolve x (n, *spatial, c_in) with w (*window, c_in, c_out): (n, *out, c_out)."""
    plan = plans.forward(x.shape, w.shape, strides, padding, dilations) if x.dtype == w.dtype else None
    if plan is None:
        return NotImplemented
    out = np.empty(plan.out, x.dtype)
    _correlated(plan, _flat(x), _flat(w), out.reshape(-1))
    return out


@override(correlate)
def convolve_input(g: Any, w: Any, shape: Sizes, strides: Sizes, padding: Padding, dilations: Sizes) -> Any:
    """Return the gradient with respect to x, of the given shape."""
    found = plans.backward(g.shape, w.shape, tuple(shape), strides, padding, dilations) if g.dtype == w.dtype else None
    if found is None or not np.isfinite(w).all():  # zeros around g would make nan of what is infinite
        return NotImplemented
    out = np.empty(shape, g.dtype)
    flat, g, w = out.reshape(-1), _flat(g), _flat(w)
    for plan in found:
        _correlated(plan, g, w, flat)
    return out


@override(correlate_filter)
def convolve_filter(x: Any, g: Any, window: Sizes, strides: Sizes, padding: Padding, dilations: Sizes) -> Any:
    """Return the gradient with respect to w: (*window, c_in, c_out)."""
    shape = (*window, x.shape[-1], g.shape[-1])
    plan = plans.forward(x.shape, shape, strides, padding, dilations) if x.dtype == g.dtype else None
    if plan is None or plan.out != g.shape:
        return NotImplemented
    return _summed(correlate_filter[x.dtype], plan, x, g, shape, (plan.panel(2 * BYTES // x.itemsize),))


@loop("void({t}[::1], {t}[::1], {t}[::1], {t}[::1], int64[::1], int64[::1], int64, int64)", wraparound=False)
def correlate_deep(x, w, out, image, offsets, sizes, low, high) -> None:
    """Sums over the taps at `offsets` of the images from `low` to `high`; `w` holds the taps in that order."""
    c, terms = sizes[0], sizes[2] // sizes[0]
    all_height, all_width = sizes[12], sizes[13]
    step_d, step_h, step_w = sizes[14], sizes[15], sizes[16]
    out_image, out_start, apart_d, apart_h, apart_w = sizes[20], sizes[21], sizes[22], sizes[23], sizes[24]
    lanes = BYTES // x.itemsize
    tiles = (sizes[19] + ROWS - 1) // ROWS
    per_tile = (sizes[19] + tiles - 1) // tiles
    source = x if image.size == 0 else image
    for i in range(low, high):
        start = padded(x, i, sizes, image, 0)
        for d in range(sizes[17]):
            for h in range(sizes[18]):
                row = start + (d * step_d * all_height + h * step_h) * all_width * c
                goal = i * out_image + out_start + d * apart_d + h * apart_h
                for k in range(0, c, lanes):
                    for j in range(0, sizes[19], per_tile):
                        tile_of_channels(
                            source, row + j * step_w * c + k, offsets, 0, offsets.size, terms, step_w * c, c, w, k, c,
                            out, goal + j * apart_w + k, apart_w, min(per_tile, sizes[19] - j), min(lanes, c - k), 0,
                        )  # fmt: skip


@loop(
    "void({t}[::1], {t}[::1], {t}[::1], {t}[::1], int64[::1], int64[::1], int64[::1], int64, int64)", wraparound=False
)
def correlate_deep_filter(x, g, out, image, offsets, rows, sizes, low, high) -> None:
    """Gradients of the filters over the blocks of images from `low` to `high`, each block into its own filters."""
    c, run, out_w = sizes[0], sizes[2] // sizes[0], sizes[19]
    stride = sizes[16] * c
    per_block, chunk, images = sizes[25], sizes[26], sizes[27]
    lanes = BYTES // x.itemsize
    source = x if image.size == 0 else image
    for block in range(low, high):
        goal = block * offsets.size * run * c
        for i in range(block * per_block, min(images, (block + 1) * per_block)):
            start = padded(x, i, sizes, image, 0)
            for row in range(0, rows.size, chunk):
                more = 1 if row > 0 or i > block * per_block else 0
                pixels = (i * rows.size + row) * out_w * c
                for k in range(0, c, lanes):
                    for s in range(offsets.size):
                        for r in range(0, run, ROWS):
                            tile_of_channels(
                                source, start + offsets[s] + r * c + k, rows, row, min(chunk, rows.size - row), out_w,
                                c, stride, g, pixels + k, c, out, goal + (s * run + r) * c + k, c, min(ROWS, run - r),
                                min(lanes, c - k), more,
                            )  # fmt: skip


def _correlated_deep(plan: plans.Plan, x: Any, w: Any, out: Any) -> None:
    """Run a plan on flat arrays, images spread over threads; the taps of w (taps, c) are put into the plan's order."""
    run, c = correlate_deep[x.dtype], w.shape[-1]
    w = w[plan.taps // c].reshape(-1)

    def images(low: int, high: int) -> None:
        run(x, w, out, np.zeros(plan.image, x.dtype), plan.offsets, plan.sizes, low, high)

    spread(images, plan.out[0], plan.least)


def _beside(x: Any, multiple: int) -> Any:
    """Each channel as often as it has filters."""
    return x if multiple == 1 else np.repeat(x, multiple, axis=-1)


@override(correlate_deep)
def depthwise(x: Any, w: Any, strides: Sizes, padding: Padding, dilations: Sizes) -> Any:
    """Convolve each channel of x (n, *spatial, c) with its filters in w (*window, c, m): (n, *out, c·m)."""
    c = w.shape[-2] * w.shape[-1]
    wide, filters = (*x.shape[:-1], c), (*w.shape[:-2], c, c)
    plan = plans.forward(wide, filters, strides, padding, dilations, deep=True) if x.dtype == w.dtype else None
    if plan is None or x.shape[-1] != w.shape[-2]:
        return NotImplemented
    out = np.empty(plan.out, x.dtype)
    _correlated_deep(plan, _flat(_beside(x, w.shape[-1])), w.reshape(-1, c), out.reshape(-1))
    return out


@override(correlate_deep)
def depthwise_input(g: Any, w: Any, shape: Sizes, strides: Sizes, padding: Padding, dilations: Sizes) -> Any:
    """Return the gradient with respect to x, of the given shape."""
    multiple = w.shape[-1]
    c = w.shape[-2] * multiple
    wide, filters = (*shape[:-1], c), (*w.shape[:-2], c, c)
    found = plans.backward(g.shape, filters, wide, strides, padding, dilations, deep=True)
    fits = found is not None and g.dtype == w.dtype and shape[-1] == w.shape[-2]
    if found is None or not fits or not np.isfinite(w).all():  # zeros around g would make nan of infinity
        return NotImplemented
    out = np.empty(wide, g.dtype)
    flat, g, w = out.reshape(-1), _flat(g), w.reshape(-1, c)
    for plan in found:
        _correlated_deep(plan, g, w, flat)
    if multiple == 1:
        return out
    parts = out.reshape(*shape, multiple)
    total = parts[..., 0].copy()
    for n in range(1, multiple):
        total += parts[..., n]
    return total


@override(correlate_deep_filter)
def depthwise_filter(x: Any, g: Any, window: Sizes, strides: Sizes, padding: Padding, dilations: Sizes) -> Any:
    """Return the gradient with respect to w: (*window, c, m)."""
    c = g.shape[-1]
    wide = (*x.shape[:-1], c)
    plan = plans.forward(wide, (*window, c, c), strides, padding, dilations, deep=True) if x.dtype == g.dtype else None
    if plan is None or plan.out != g.shape or not x.shape[-1] or c % x.shape[-1]:
        return NotImplemented
    multiple = c // x.shape[-1]
    shape = (*window, x.shape[-1], multiple)
    return _summed(correlate_deep_filter[x.dtype], plan, _beside(x, multiple), g, shape)
