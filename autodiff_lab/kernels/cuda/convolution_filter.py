"""The gradient of a convolution by its filter: a product of matrices whose inner axis is all pixels of all images.

Row m of the result is one channel of x at one tap of the window, a column is one channel of g.  There are few tiles of
so small a result, and hundreds of thousands of pixels; so the pixels are shared out among blocks, each block leaves its
sums, and a second kernel adds those up.  Nothing depends on which block is first: the same bits at every run.

A thread always copies the same row m, so its tap and channel are worked out once; where the pixels lie is worked out
for 128 of them at a time, by one thread each, a turn before they are needed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_lab.kernels.cuda.convolution_axes import FAR, NUMBERS, int32
from autodiff_lab.kernels.cuda.convolution_slabs import DEPTH, PLACES, Tile, multiplied_slabs, slot, uint64
from autodiff_lab.kernels.cuda.launching import SIMULATED, Kernel, cuda, kernel

TURN = 2 if SIMULATED else 16
"""Slabs whose pixels are placed at a time."""
TURN_BITS = TURN.bit_length() - 1
NAMES = ("wide", "narrow")


def shared_out(name: str, tile: Tile, dtype: str) -> Kernel:
    """The kernel that makes tiles of this layout, one for each share of the pixels."""
    rows, columns, high, wide = tile
    threads, across, apart = tile.threads, tile.across, tile.apart
    across_bits, row_bits, column_bits = across.bit_length() - 1, rows.bit_length() - 1, columns.bit_length() - 1
    deep = threads // rows
    passes_left, passes_right = rows * DEPTH // threads, columns * DEPTH // threads
    lines = (rows, columns + 4)
    slab_left, slab_right = DEPTH * lines[0], DEPTH * lines[1]
    both_left, both_right = 2 * slab_left, 2 * slab_right
    parts = high * wide
    turn = TURN * DEPTH
    all_places = 2 * turn * PLACES

    @cuda.jit(device=True, forceinline=True)
    def placed(places: Any, half: Any, first: Any, end: Any, read: Any, depth: Any, height: Any, width: Any) -> None:
        """Where the pixels from `first` on lie in x; those from `end` on nowhere."""
        for i in range(int32(cuda.threadIdx.x), turn, threads):
            rest = int32(first + i)
            at = (half * turn + i) * PLACES
            places[at] = FAR
            if rest < end:
                x = int32(int32(rest % width[2]) * width[3])
                rest = int32(rest // width[2])
                y = int32(int32(rest % height[2]) * height[3])
                rest = int32(rest // height[2])
                z = int32(int32(rest % depth[2]) * depth[3])
                rest = int32(rest // depth[2])
                places[at] = z
                places[at + 1] = y
                places[at + 2] = x
                places[at + 3] = (((rest * depth[0] + z) * height[0] + y) * width[0] + x) * read

    @cuda.jit(device=True, forceinline=True)
    def fetched(x: Any, places: Any, at: Any, place: Any, ahead: Any, lengths: Any, left: Any) -> None:
        """What this thread copies of x, into registers."""
        for r in range(passes_left):
            pixel = uint64(at + r * deep * PLACES)
            i = int32(places[pixel] + place[0])
            j = int32(places[pixel + uint64(1)] + place[1])
            k = int32(places[pixel + uint64(2)] + place[2])
            inside = (i >= 0) & (i < lengths[0]) & (j >= 0) & (j < lengths[1]) & (k >= 0) & (k < lengths[2])
            left[r] = x[uint64(int32(places[pixel + uint64(3)] + ahead))] if inside else x.dtype.type(0)

    def shares(x: Any, g: Any, made: Any, share: Any, sizes: Any, depth: Any, height: Any, width: Any) -> None:
        left = cuda.shared.array(both_left, x.dtype, 16)
        right = cuda.shared.array(both_right, x.dtype, 16)
        places = cuda.shared.array(all_places, np.int32, 16)
        sums = cuda.local.array(parts, x.dtype)
        copied_left = cuda.local.array(passes_left, x.dtype)
        copied_right = cuda.local.array(passes_right, x.dtype)
        me = int32(cuda.threadIdx.x)
        images, read, written = sizes
        lengths = (depth[0], height[0], width[0])
        pixels = int32(images * depth[2] * height[2] * width[2])
        all_rows = int32(depth[1] * height[1] * width[1] * read)
        tiles_across = int32(written + columns - 1) // columns
        first_row = int32(int32(cuda.blockIdx.x) // tiles_across * rows)
        first_column = int32(int32(cuda.blockIdx.x) % tiles_across * columns)
        first = int32(cuda.blockIdx.y * share)
        end = int32(min(share, int32(pixels - first)) + first)

        # The tap and the channel that this thread copies.
        row = int32(first_row + (me & rows - 1))
        tap = int32(row // read)
        k = int32(width[5] + tap % width[1] * width[6])
        tap = int32(tap // width[1])
        j = int32(height[5] + tap % height[1] * height[6])
        i = int32(depth[5] + tap // height[1] * depth[6])
        ahead = int32(((i * height[0] + j) * width[0] + k) * read + row % read)
        place = (i if row < all_rows else int32(FAR), j, k)

        for part in range(parts):
            sums[part] = x.dtype.type(0)
        placed(places, 0, first, end, read, depth, height, width)
        cuda.syncthreads()
        slabs = int32(int32(end - first + DEPTH - 1) // DEPTH)
        for slab in range(int32(slabs + 1)):
            if slab & TURN - 1 == 0:
                following = (slab >> TURN_BITS) + 1
                placed(places, following & 1, first + following * turn, end, read, depth, height, width)
            at = ((slab >> TURN_BITS & 1) * turn + (slab & TURN - 1) * DEPTH + (me >> row_bits)) * PLACES
            fetched(x, places, at, place, ahead, lengths, copied_left)
            for r in range(passes_right):
                pixel = int32(first + slab * DEPTH + (me + r * threads >> column_bits))
                column = int32(first_column + (me + r * threads & columns - 1))
                there = (pixel < end) & (column < written)
                copied_right[r] = g[uint64(int32(pixel * written + column))] if there else x.dtype.type(0)
            if slab > 0:
                half = slab - 1 & 1
                multiplied_slabs(
                    left, right, sums, half * slab_left + (me >> across_bits) * 4,
                    half * slab_right + (me & across - 1) * 4, high, wide, apart, lines,
                )  # fmt: skip
            half = slab & 1
            for r in range(passes_left):
                left[uint64(half * slab_left + me + r * threads)] = copied_left[r]
            for r in range(passes_right):
                number = me + r * threads
                at_column = slot(number & columns - 1, across_bits, apart[1])
                right[uint64(half * slab_right + (number >> column_bits) * lines[1] + at_column)] = copied_right[r]
            cuda.syncthreads()

        for i in range(high):
            row = int32(first_row + (me >> across_bits) * 4 + i // 4 * apart[0] + i % 4)
            for j in range(wide):
                column = int32(first_column + (me & across - 1) + j * across)
                if row < all_rows and column < written:
                    made[uint64((cuda.blockIdx.y * all_rows + row) * written + column)] = sums[i * wide + j]

    shares.__name__ = shares.__qualname__ = name
    shares.__doc__ = f"Tiles of {rows} rows by {columns} columns, {high} by {wide} of them a thread's, of one share."
    return kernel(("convolve_filter",), f"{dtype}[::1], {dtype}[::1], {dtype}[::1], int32, {NUMBERS}")(shares)


_SINGLE = (Tile(16, 64, 8, 8), Tile(8, 16, 4, 4)) if SIMULATED else (Tile(128, 64, 8, 8), Tile(32, 64, 4, 4))
_DOUBLE = (Tile(16, 32, 8, 4), Tile(8, 16, 4, 4)) if SIMULATED else (Tile(64, 64, 8, 4), Tile(32, 32, 4, 4))
TILES: dict[str, tuple[tuple[Tile, Kernel], ...]] = {
    dtype: tuple(
        [(tile, shared_out(f"convolution_filter_{name}_{dtype}", tile, dtype)) for name, tile in zip(NAMES, tiles)]
    )
    for dtype, tiles in (("float32", _SINGLE), ("float64", _DOUBLE))
}
"""By dtype, the wider and the narrower."""
LEAST = 16 if SIMULATED else 1024
"""Pixels of a share, at least: fewer do not pay for the sums that it leaves."""


def tile_for(dtype: str, rows: int, columns: int) -> tuple[Tile, Kernel]:
    """The wider tile, unless the narrower makes the result of a quarter of the threads' work."""
    wide, narrow = TILES[dtype]
    works = [-(-rows // t.rows) * t.rows * -(-columns // t.columns) * t.columns for t, _ in (wide, narrow)]
    return narrow if works[0] >= 2 * works[1] else wide
