"""The loops of convolutions over images and rows, around the tiles of `convolution_tiles`.

`correlate` computes a convolution, and its gradient by the input, which is one too; `correlate_filter` the gradient by
the filter.  `convolution_plans` says what they read and write where.

Optimisations: no window is copied, only an image that needs zeros around it, one at a time, which then lies in the
second-level cache, and some columns of the filter; for a filter's gradient so many rows of pixels at a time as lie in
the first-level cache; its sums run over a few hundred pixels, then over blocks of images, in a fixed order.
"""
# pyright: reportUnusedFunction=false, reportReturnType=false, reportCallIssue=false
# ruff: noqa: ANN001

from __future__ import annotations

from numba.extending import register_jitable

from autodiff_lab.kernels.jit.compiling import loop
from autodiff_lab.kernels.jit.convolution_tiles import BYTES, ROWS, padded, tile_of_pixels, tile_of_taps


@register_jitable
def packed(w, taps, sizes, column, wide, block, panel) -> None:
    """Put some columns of the filter side by side, terms in the order in which the runs meet them."""
    c, k_apart, column_apart = sizes[0], sizes[3], sizes[4]
    at = 0
    for tap in taps:
        for k in range(c):
            first = tap + k * k_apart + column * column_apart
            if column_apart == 1:
                panel[at : at + wide] = w[first : first + wide]
            else:
                for n in range(wide):
                    panel[at + n] = w[first + n * column_apart]
            at += block


@loop("void({t}[::1], {t}[::1], {t}[::1], {t}[::1], {t}[::1], int64[::1], int64[::1], int64[::1], int64, int64)")
def correlate(x, w, out, image, panel, offsets, taps, sizes, low, high) -> None:
    """Sums over the taps at `offsets` of the images from `low` to `high`; `sizes` are those of a `Plan`.

    `image` holds one padded image, zeros at first, or nothing if none is padded; `panel` columns of the filter.
    """
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
                        tile_of_pixels(
                            source, row + j * step_w * c, offsets, 0, offsets.size, run, step_w * c, 1, panel, 0, block,
                            out, goal + j * apart_w, apart_w, min(per_tile, out_w - j), wide, 0,
                        )  # fmt: skip


@loop("void({t}[::1], {t}[::1], {t}[::1], {t}[::1], int64[::1], int64[::1], int64[::1], int64, int64)")
def correlate_filter(x, g, out, image, offsets, rows, sizes, low, high) -> None:
    """Gradients of a filter over the blocks of images from `low` to `high`, each block into a filter of its own."""
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
                            tile_of_taps(
                                source, start + offsets[s] + r, rows, row, min(chunk, rows.size - row), out_w, 1,
                                step_w * c, g, pixels + column, columns, out,
                                goal + (s * run + r) * columns + column, columns, min(per_tile, run - r), wide, more,
                            )  # fmt: skip
