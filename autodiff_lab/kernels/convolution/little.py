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


@register_jitable
def packed(w, taps, sizes, column, wide, block, panel) -> None:
    """Put some columns of the filter side by side, terms in the order in which the runs meet them."""
    c, k_apart, column_apart = sizes[0], sizes[3], sizes[4]
    at = 0
    for tap in taps:
        for k in range(c):
            first = tap + k * k_apart + column * column_apart
            if column_apart == 1:
                put(panel[at : at + wide], w[first : first + wide])
            else:
                for n in range(wide):
                    panel[at + n] = w[first + n * column_apart]
            at += block


@register_jitable
def is_finite(w, size) -> bool:
    """Return whether the first numbers are finite."""
    bad = 0
    for n in range(size):
        bad |= not abs(w[n]) < np.inf
    return bad == 0


@functools.cache
def correlation(rows: tuple[int, ...] = (), vectors: tuple[int, ...] = ()) -> Any:
    """Return what sums over the taps at `offsets` of images; `sizes` are those of a `Plan`."""
    tile = tile_of("pixels", rows, vectors)

    @register_jitable
    def correlate(x, w, out, image, panel, offsets, taps, sizes, low, high) -> None:
        c, columns, run = sizes[0], sizes[1], sizes[2]
        all_height, all_width = sizes[12], sizes[13]
        step_d, step_h, step_w = sizes[14], sizes[15], sizes[16]
        out_d, out_h, out_w = sizes[17], sizes[18], sizes[19]
        out_image, out_start, apart_d, apart_h, apart_w = sizes[20], sizes[21], sizes[22], sizes[23], sizes[24]
        block = 2 * (BYTES // x.itemsize)
        tiles = (out_w + ROWS - 1) // ROWS
        per_tile = (out_w + tiles - 1) // tiles
        source = x if image.size == 0 else image
        for column in range(0, columns, block):
            wide = min(block, columns - column)
            packed(w, taps, sizes, column, wide, block, panel)
            for i in range(low, high):
                start = padded(x, i, sizes, image)
                for d in range(out_d):
                    for h in range(out_h):
                        row = start + (d * step_d * all_height + h * step_h) * all_width * c
                        goal = i * out_image + out_start + d * apart_d + h * apart_h + column
                        for j in range(0, out_w, per_tile):
                            tile(
                                source, row + j * step_w * c, offsets, 0, offsets.size, run, step_w * c, 1, panel, 0,
                                block, out, goal + j * apart_w, apart_w, min(per_tile, out_w - j), wide, 0,
                            )  # fmt: skip

    return correlate


@functools.cache
def correlation_of_filter(rows: tuple[int, ...] = (), vectors: tuple[int, ...] = ()) -> Any:
    """Return what sums the gradients of a filter over blocks of images."""
    tile = tile_of("taps", rows, vectors)

    @register_jitable
    def correlate(x, g, out, image, offsets, rows, sizes, low, high) -> None:
        c, columns, run = sizes[0], sizes[1], sizes[2]
        step_w, out_w = sizes[16], sizes[19]
        per_block, chunk, images = sizes[25], sizes[26], sizes[27]
        vectors = 2 * (BYTES // x.itemsize)
        tiles = (run + ROWS - 1) // ROWS
        per_tile = (run + tiles - 1) // tiles
        source = x if image.size == 0 else image
        for block in range(low, high):
            goal = block * offsets.size * run * columns
            for i in range(block * per_block, min(images, (block + 1) * per_block)):
                start = padded(x, i, sizes, image)
                for row in range(0, rows.size, chunk):
                    more = 1 if row > 0 or i > block * per_block else 0
                    pixels = (i * rows.size + row) * out_w * columns
                    for column in range(0, columns, vectors):
                        wide = min(vectors, columns - column)
                        for s in range(offsets.size):
                            for r in range(0, run, per_tile):
                                tile(
                                    source, start + offsets[s] + r, rows, row, min(chunk, rows.size - row), out_w, 1,
                                    step_w * c, g, pixels + column, columns, out,
                                    goal + (s * run + r) * columns + column, columns, min(per_tile, run - r), wide,
                                    more,
                                )  # fmt: skip

    return correlate
