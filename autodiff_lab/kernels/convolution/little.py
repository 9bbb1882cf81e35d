"""Loops of convolutions for compiled code: those of this package's kernels, and small ones inside compiled programs.

The first are for shapes of all kinds, and hold every tile; generated modules import them for the tiles of one shape.
`numba` says what they do, and what they are given.
"""
# ruff: noqa: ANN001

# pyright: reportUnusedFunction=false, reportReturnType=false, reportCallIssue=false
from __future__ import annotations

import functools
from typing import Any

import numpy as np

from autodiff_lab.kernels.base.deferred import register_jitable
from autodiff_lab.kernels.convolution.numba_tiles import BYTES, ROWS, padded, tile_of
from autodiff_lab.kernels.maths.bits import put

NEAR = 1 << 14
"""Bytes of a panel that stay in the first-level cache while a few rows of pixels meet them."""
BESIDE = 1 << 17
"""Bytes of an image that stay in the second-level cache while they meet all panels."""


@register_jitable
def packed(w, taps, sizes, panels) -> None:
    """Put the columns of the filter into panels, each as wide as a tile, terms in the order in which runs meet them.

    Zeros fill the last panel: numbers that nobody wrote may take a processor long to multiply.
    """
    c, columns, k_apart, column_apart = sizes[0], sizes[1], sizes[3], sizes[4]
    block = 2 * (BYTES // w.itemsize)
    at = 0
    for column in range(0, columns if taps.size else 0, block):
        wide = min(block, columns - column)
        for tap in taps:
            for k in range(c):
                first = tap + k * k_apart + column * column_apart
                if column_apart == 1:
                    put(panels[at : at + wide], w[first : first + wide])
                else:
                    for n in range(wide):
                        panels[at + n] = w[first + n * column_apart]
                for n in range(wide, block):
                    panels[at + n] = 0
                at += block


@register_jitable
def some_columns(g, begin, pixels, columns, wide, block, panel) -> None:
    """Put some columns of pixels into a panel, with zeros beside them."""
    for p in range(pixels):
        first, to = begin + p * columns, p * block
        put(panel[to : to + wide], g[first : first + wide])
        for n in range(to + wide, to + block):
            panel[n] = 0


@register_jitable
def beside(x, i, high, sizes, image) -> tuple:
    """Pad the images that are taken at a time, from the i-th on; gives where they begin, and their rows of pixels."""
    count = min(sizes[28], high - i)
    start = padded(x, i, sizes, image, 0)
    for n in range(1, count if image.size else 0):
        padded(x, i + n, sizes, image, n * (image.size // sizes[28]))
    return start, count * sizes[17] * sizes[18]


@register_jitable
def is_finite(w, size) -> bool:
    """Return whether the first numbers are finite."""
    bad = 0
    for n in range(size):
        bad |= not abs(w[n]) < np.inf
    return bad == 0


@functools.cache
def correlation(rows: tuple[int, ...] = (), vectors: tuple[int, ...] = (1, 2)) -> Any:
    """Return what sums over the taps at `offsets` of images; `sizes` are those of a `Plan`."""
    tile = tile_of("pixels", rows, tuple((n, "packed") for n in vectors))

    @register_jitable
    def correlate(x, out, image, panels, offsets, rows, sizes, low, high) -> None:
        c, columns = sizes[0], sizes[1]
        step_h, step_w = sizes[15], sizes[16]
        out_d, out_h, out_w = sizes[17], sizes[18], sizes[19]
        out_image, out_start, apart_d, apart_h, apart_w = sizes[20], sizes[21], sizes[22], sizes[23], sizes[24]
        block = 2 * (BYTES // x.itemsize)
        tiles = (out_w + ROWS - 1) // ROWS
        per_tile = (out_w + tiles - 1) // tiles
        most = NEAR // (block * x.itemsize)
        run = max(1, sizes[2])  # without taps there is one run of no terms, which writes zeros
        part, runs = min(run, most), max(1, most // run)  # a part of a run, or several whole ones
        lines = max(1, BESIDE // (step_h * sizes[13] * c * x.itemsize))
        span = max(1, BESIDE // (step_w * c * x.itemsize * per_tile)) * per_tile  # of a row that is longer
        source = x if image.size == 0 else image
        for i in range(low, high, sizes[28]):
            start, end = beside(x, i, high, sizes, image)
            for first in range(0, end, lines):
                for left in range(0, out_w, span):
                    for column in range(0, columns, block):
                        wide = min(block, columns - column)
                        for s in range(0, max(1, offsets.size), runs):
                            for t in range(0, run, part):
                                more = 1 if s > 0 or t > 0 else 0
                                panel = (column * offsets.size + s * block) * run + t * block
                                for line in range(first, min(first + lines, end)):
                                    d, h = line // out_h, line % out_h
                                    n, d = d // out_d, d % out_d
                                    goal = (i + n) * out_image + out_start + d * apart_d + h * apart_h + column
                                    for j in range(left, min(left + span, out_w), per_tile):
                                        tile(
                                            source, start + rows[line] + t + j * step_w * c, offsets, s,
                                            min(runs, offsets.size - s), min(part, run - t), step_w * c, 1, panels,
                                            panel, block, out, goal + j * apart_w, apart_w, min(per_tile, out_w - j),
                                            wide, more,
                                        )  # fmt: skip

    return correlate


@functools.cache
def correlation_of_filter(rows: tuple[int, ...] = (), vectors: tuple[int, ...] = (1, 2)) -> Any:
    """Return what sums the gradients of a filter over blocks of images."""
    tile = tile_of("taps", rows, tuple((n, "packed") for n in vectors))

    @register_jitable
    def correlate(x, g, out, image, panel, offsets, rows, sizes, low, high) -> None:
        c, columns, run = sizes[0], sizes[1], sizes[2]
        step_w, out_w = sizes[16], sizes[19]
        per_block, chunk, images, span = sizes[25], sizes[26], sizes[27], sizes[29]
        across = 2 * (BYTES // x.itemsize)
        tiles = (run + ROWS - 1) // ROWS
        per_tile = (run + tiles - 1) // tiles
        source = x if image.size == 0 else image
        for block in range(low, high):
            goal = block * offsets.size * run * columns
            last = min(images, (block + 1) * per_block)
            for i in range(block * per_block, last, sizes[28]):
                start, end = beside(x, i, last, sizes, image)
                for row in range(0, end, chunk):
                    lines = min(chunk, end - row)
                    for left in range(0, out_w, span):
                        length = min(span, out_w - left)
                        more = 1 if row + left > 0 or i > block * per_block else 0
                        pixels = ((i * sizes[17] * sizes[18] + row) * out_w + left) * columns
                        for column in range(0, columns, across):
                            wide = min(across, columns - column)
                            some_columns(g, pixels + column, lines * length, columns, wide, across, panel)
                            for s in range(offsets.size):
                                for r in range(0, run, per_tile):
                                    tile(
                                        source, start + offsets[s] + r + left * step_w * c, rows, row, lines, length,
                                        1, step_w * c, panel, 0, across, out,
                                        goal + (s * run + r) * columns + column, columns, min(per_tile, run - r), wide,
                                        more,
                                    )  # fmt: skip

    return correlate
