"""Sums over the pixels of all images, as the gradients of filters need them: split among blocks, then added up.

The blocks of a first kernel leave their sums side by side; `add_chunks` adds them in an order that is always the same.

The gradient of a convolution with respect to its filter: a product of matrices whose inner axis is all pixels of all
images.

Row m of the result is one channel of x at one tap of the window, a column is one channel of g.  There are few tiles of
so small a result, and hundreds of thousands of pixels; so the pixels are split among blocks, each block leaves its
sums, and a second kernel adds those up.  Nothing depends on which block is first: the same bits at every run.

A thread always copies the same row m, so its tap and channel are worked out once; where the pixels lie is worked out
for a turn of them at a time, one by each thread, while the turn before is multiplied.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autodiff_lab.kernels.convolution.cuda_axes import FAR, NUMBERS, divided, inlined, int32
from autodiff_lab.kernels.convolution.cuda_tiles import DEPTH, PLACES, Tile, multiplied_slabs, slot, uint64
from autodiff_lab.kernels.cuda.array import DeviceArray
from autodiff_lab.kernels.cuda.launching import SIMULATED, THREADS, Kernel, blocks_for, cuda, empty, kernel, launch

ACROSS = 8 if SIMULATED else 32
"""Elements that a block adds up: a warp reads them side by side."""
ACROSS_BITS = ACROSS.bit_length() - 1
LANES = THREADS // ACROSS
"""Threads for each of them."""
WAVES = 12
"""Blocks of the first kernel for each multiprocessor: four at a time, three times, so that few wait for the last."""
MOST_CHUNKS = 65_535
"""The y axis of a grid has no more blocks."""


@kernel(("convolve_filter", "depthwise_filter"), "T[::1], T[::1], int32, int32")
def add_chunks(parts: Any, made: Any, count: Any, chunks: Any) -> None:
    """Element i of made is the sum of elements i, i + count, ... of parts."""
    kept = cuda.shared.array(THREADS, parts.dtype)
    me = cuda.threadIdx.x
    lane = me >> ACROSS_BITS
    i = cuda.blockIdx.x * ACROSS + (me & ACROSS - 1)
    total = parts.dtype.type(0)
    if i < count:
        for chunk in range(lane, chunks, LANES):
            total += parts[chunk * count + i]
    kept[me] = total
    cuda.syncthreads()
    if lane == 0 and i < count:
        for other in range(1, LANES):
            total += kept[me + other * ACROSS]
        made[i] = total


def sum_of_chunks(like: DeviceArray, shape: tuple[int, ...], pixels: int, blocks: int, least: int,
           run: Callable[[DeviceArray, int, int], None]) -> DeviceArray:  # fmt: skip
    """Return an array of that shape, each element a sum over pixels.

    Parameters
    ----------
    like : DeviceArray
        Of the same dtype, on the same GPU.
    shape : tuple of int
        Of the result.
    pixels, blocks : int
        The pixels, and the blocks that make all elements for one chunk of them.
    least : int
        Pixels that a chunk has at least, in multiples of which it comes.
    run : callable
        Launches the kernel, given memory for the sums of all chunks, the pixels of a chunk and the number of chunks.
    """
    made = empty(like, shape)
    wanted = min(-(-like.memory.multiprocessors * WAVES // blocks), MOST_CHUNKS)
    chunk = max(least, -(-pixels // wanted // least) * least)
    chunks = -(-pixels // chunk)
    if chunks == 1:
        run(made.reshape(-1), chunk, 1)
        return made
    parts = empty(like, (chunks * made.size,))
    run(parts, chunk, chunks)
    launch(add_chunks, blocks_for(made.size, ACROSS), THREADS, parts, made.reshape(-1), made.size, chunks)
    return made


LEAST = 16 if SIMULATED else 1024
"""Pixels of a chunk, at least: fewer do not pay for the sums that it leaves."""


@inlined
def placed(places: Any, at: Any, pixel: Any, end: Any, read: Any, depth: Any, height: Any, width: Any) -> None:
    """Where a pixel lies in x; one from `end` on lies nowhere."""
    places[at] = FAR
    if pixel < end:
        rest, x = divided(pixel, width[2])
        rest, y = divided(rest, height[2])
        image, z = divided(rest, depth[2])
        z, y, x = int32(z * depth[3]), int32(y * height[3]), int32(x * width[3])
        places[at] = z
        places[at + 1] = y
        places[at + 2] = x
        places[at + 3] = (((image * depth[0] + z) * height[0] + y) * width[0] + x) * read


@inlined
def tap_of(row: Any, read: Any, depth: Any, height: Any, width: Any) -> Any:
    """Return where the tap and the channel of a row lead in x: along the axes, and how far ahead."""
    tap, channel = divided(row, read)
    rest, k = divided(tap, width[1])
    i, j = divided(rest, height[1])
    k, j = int32(width[5] + k * width[6]), int32(height[5] + j * height[6])
    i = int32(depth[5] + i * depth[6] if i < depth[1] else FAR)
    return i, j, k, int32(((i * height[0] + j) * width[0] + k) * read + channel)


@inlined
def fetched(x: Any, places: Any, at: Any, apart: Any, tap: Any, depth: Any, height: Any, width: Any, copies: Any,
            left: Any) -> None:  # fmt: skip
    """What a thread copies of x, into registers: what its tap meets from some pixels, `apart` of each other."""
    for r in range(copies):
        pixel = uint64((at + r * apart) * PLACES)
        i = int32(places[pixel] + tap[0])
        j = int32(places[pixel + uint64(1)] + tap[1])
        k = int32(places[pixel + uint64(2)] + tap[2])
        inside = (i >= 0) & (i < depth[0]) & (j >= 0) & (j < height[0]) & (k >= 0) & (k < width[0])
        left[r] = x[uint64(int32(places[pixel + uint64(3)] + tap[3]))] if inside else x.dtype.type(0)


@inlined
def fetched_cotangents(
    g: Any, pixel: Any, end: Any, column: Any, written: Any, apart: Any, copies: Any, right: Any
) -> None:
    """What a thread copies of g: one channel of some pixels."""
    at = int32(pixel * written + column)
    for r in range(copies):
        there = (int32(pixel + r * apart) < end) & (column < written)
        right[r] = g[uint64(int32(at + r * apart * written))] if there else g.dtype.type(0)


def tiled(name: str, tile: Tile, dtype: str) -> Kernel:  # noqa: C901, PLR0915 - the kernel is inside
    """Return the kernel that makes tiles of this layout, one for each chunk of the pixels."""
    rows, columns, high, wide = tile
    threads, apart, parts = tile.threads, tile.apart, high * wide
    across_bits, row_bits, column_bits = (n.bit_length() - 1 for n in (tile.across, rows, columns))
    copies_left, copies_right = rows * DEPTH // threads, columns * DEPTH // threads
    deep_left, deep_right = threads // rows, threads // columns
    lines = rows, columns + 4
    both_left, both_right, all_places = 2 * DEPTH * lines[0], 2 * DEPTH * lines[1], 2 * threads * PLACES
    turn = threads // DEPTH

    def filter_tiles(x: Any, g: Any, made: Any, chunk: Any, sizes: Any, depth: Any, height: Any, width: Any) -> None:
        left = cuda.shared.array(both_left, x.dtype, 16)
        right = cuda.shared.array(both_right, x.dtype, 16)
        places = cuda.shared.array(all_places, np.int32, 16)
        sums = cuda.local.array(parts, x.dtype)
        copied_left = cuda.local.array(copies_left, x.dtype)
        copied_right = cuda.local.array(copies_right, x.dtype)
        me = int32(cuda.threadIdx.x)
        images, read, written = sizes
        down, across = divided(int32(cuda.blockIdx.x), int32(written + columns - 1) // columns)
        first_row, first_column = int32(down * rows), int32(across * columns)
        first = int32(cuda.blockIdx.y * chunk)
        end = int32(first + min(chunk, int32(images * depth[2] * height[2] * width[2] - first)))
        tap = tap_of(int32(first_row + (me & rows - 1)), read, depth, height, width)
        column = int32(first_column + (me & columns - 1))
        for part in range(parts):
            sums[part] = x.dtype.type(0)
        placed(places, me * PLACES, int32(first + me), end, read, depth, height, width)
        cuda.syncthreads()
        for slab in range(int32(int32(end - first + DEPTH - 1) // DEPTH + 1)):
            if slab & turn - 1 == 0:
                coming = int32((slab + turn) * DEPTH + me)  # in the other half of the places
                at = (coming & 2 * threads - 1) * PLACES
                placed(places, at, int32(first + coming), end, read, depth, height, width)
            at = int32((slab & 2 * turn - 1) * DEPTH + (me >> row_bits))
            fetched(x, places, at, deep_left, tap, depth, height, width, copies_left, copied_left)
            pixel = int32(first + slab * DEPTH + (me >> column_bits))
            fetched_cotangents(g, pixel, end, column, written, deep_right, copies_right, copied_right)
            if slab > 0:
                half = int32(slab - 1 & 1) * DEPTH
                a = int32(half * lines[0] + (me >> across_bits) * 4)
                b = int32(half * lines[1] + (me & (1 << across_bits) - 1) * 4)
                multiplied_slabs(left, right, sums, a, b, high, wide, apart, lines)
            half = int32(slab & 1) * DEPTH  # the other one
            for r in range(copies_left):
                left[uint64(half * lines[0] + me + r * threads)] = copied_left[r]
            at_column = slot(me & columns - 1, across_bits, apart[1])
            for r in range(copies_right):
                line = half + (me >> column_bits) + r * deep_right
                right[uint64(line * lines[1] + at_column)] = copied_right[r]
            cuda.syncthreads()

        all_rows = depth[1] * height[1] * width[1] * read
        column = first_column + (me & (1 << across_bits) - 1)
        for i in range(high):
            row = first_row + (me >> across_bits) * 4 + i // 4 * apart[0] + i % 4
            for j in range(wide):
                if row < all_rows and column + (j << across_bits) < written:
                    at = (cuda.blockIdx.y * all_rows + row) * written + column + (j << across_bits)
                    made[uint64(at)] = sums[i * wide + j]

    filter_tiles.__name__ = filter_tiles.__qualname__ = name
    filter_tiles.__doc__ = f"Tiles of {rows} rows by {columns} columns for one chunk; a thread makes {high} by {wide}."
    signature = f"{dtype}[::1], {dtype}[::1], {dtype}[::1], int32, {NUMBERS}"
    return kernel(("convolve_filter",), signature, launch_bounds=tile.bounds)(filter_tiles)


NAMES = ("wide", "narrow")
_SINGLE = (Tile(32, 32, 8, 4), Tile(16, 16, 4, 4)) if SIMULATED else (Tile(128, 64, 8, 8), Tile(32, 64, 4, 4))
_DOUBLE = (Tile(32, 32, 8, 4), Tile(16, 16, 4, 4)) if SIMULATED else (Tile(64, 64, 8, 4), Tile(32, 32, 4, 4))
TILES: dict[str, tuple[tuple[Tile, Kernel], ...]] = {
    dtype: tuple(
        [
            (tile, tiled(f"convolution_filter_{name}_{dtype}", tile, dtype))
            for name, tile in zip(NAMES, tiles, strict=True)
        ]
    )
    for dtype, tiles in (("float32", _SINGLE), ("float64", _DOUBLE))
}
"""By dtype, the wide tile and the narrow one.  A block has as many threads as its tile has rows or columns, or more."""


def tile_for(dtype: str, rows: int, columns: int) -> tuple[Tile, Kernel]:
    """Return the wide tile, unless it would leave half of the threads without work that the narrow one gives."""
    wide, narrow = TILES[dtype]
    works = [-(-rows // t.rows) * t.rows * -(-columns // t.columns) * t.columns for t, _ in (wide, narrow)]
    return narrow if works[0] >= 2 * works[1] else wide
