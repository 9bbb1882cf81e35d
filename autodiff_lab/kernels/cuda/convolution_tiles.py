"""Tiles: a convolution, or its gradient by the input, as a product of matrices whose left one is never written down.

Row m of that matrix is a pixel of the result, column k one channel of the source at one tap of the window.  A block makes
a tile of the result, some pixels by some channels.  For 8 columns k at a time its threads copy a slab of either factor
into shared memory, finding the elements of the source as `convolution_axes` says, while they multiply the slab before;
each thread keeps 8 by 8 sums in registers and reads 8 numbers of either factor for 64 products.

Nothing is divided on the way: where the pixels lie is worked out once for a block, and a thread, which always copies the
same column of slabs, goes from one channel or tap to the next by counting.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_lab.kernels.cuda.convolution_axes import (
    ALL_MET,
    BEGIN,
    COUNT,
    FAR,
    FIRST,
    MET,
    NUMBERS,
    OWN,
    STEP,
    TAPS,
    int32,
    met,
)
from autodiff_lab.kernels.cuda.convolution_slabs import DEPTH, DEPTH_BITS, PLACES, Tile, multiplied_slabs, slot, uint64
from autodiff_lab.kernels.cuda.launching import SIMULATED, Kernel, cuda, kernel

NAMES = ("wide", "middle", "narrow")


@cuda.jit(device=True, forceinline=True)
def counted(channel: Any, tap: Any, read: Any, plan: Any) -> Any:
    """A channel of a tap, where the channel may lie beyond the last one: then one of a later tap."""
    i, j, k = tap
    while channel >= read:
        channel = int32(channel - read)
        k = int32(k + 1)
        if k == plan[2 * MET + TAPS]:
            k = int32(0)
            j = int32(j + 1)
            if j == plan[MET + TAPS]:
                j = int32(0)
                i = int32(i + 1)
    return channel, (i, j, k)


def tiled(name: str, tile: Tile, dtype: str) -> Kernel:
    """The kernel that makes tiles of this layout."""
    rows, columns, high, wide = tile
    threads = tile.threads
    lanes, across = threads // DEPTH, tile.across
    lane_bits, across_bits = lanes.bit_length() - 1, across.bit_length() - 1
    passes_left, passes_right = rows // lanes, columns // lanes
    line_left, line_right = rows + 4, columns + 4  # the 8 columns of a slab begin in 8 banks
    slab_left, slab_right = DEPTH * line_left, DEPTH * line_right
    both_left, both_right = 2 * slab_left, 2 * slab_right
    apart = tile.apart
    lines = (line_left, line_right)
    parts = high * wide
    all_places = rows * PLACES

    @cuda.jit(device=True, forceinline=True)
    def placed(places: Any, targets: Any, plan: Any, first_row: Any, sizes: Any, depth: Any, height: Any,
               width: Any) -> None:  # fmt: skip
        """Where the pixels of a tile lie in the source and in the result."""
        count_z, count_y, count_x = plan[COUNT], plan[MET + COUNT], plan[2 * MET + COUNT]
        for i in range(int32(cuda.threadIdx.x), rows, threads):
            rest = int32(first_row + i)
            x = int32(rest % count_x)
            rest = int32(rest // count_x)
            y = int32(rest % count_y)
            rest = int32(rest // count_y)
            z = int32(rest % count_z)
            image = int32(rest // count_z)
            target = image * depth[2] + plan[OWN] + z * depth[4]
            target = target * height[2] + plan[MET + OWN] + y * height[4]
            target = target * width[2] + plan[2 * MET + OWN] + x * width[4]
            targets[i] = target * sizes[2] if image < sizes[0] else -1
            z, y, x = int32(z * depth[3]), int32(y * height[3]), int32(x * width[3])
            places[PLACES * i] = z if image < sizes[0] else FAR
            places[PLACES * i + 1] = y
            places[PLACES * i + 2] = x
            places[PLACES * i + 3] = (((image * depth[0] + z) * height[0] + y) * width[0] + x) * sizes[1]
        cuda.syncthreads()

    @cuda.jit(device=True, forceinline=True)
    def located(offsets: Any, places: Any, row: Any, place: Any, ahead: Any, lengths: Any) -> None:
        """Where the pixels that a thread copies meet a tap in the source: an offset, or -1 for outside."""
        for r in range(passes_left):
            at = uint64((row + r * lanes) * PLACES)
            z = int32(places[at] + place[0])
            y = int32(places[at + uint64(1)] + place[1])
            x = int32(places[at + uint64(2)] + place[2])
            inside = (z >= 0) & (z < lengths[0]) & (y >= 0) & (y < lengths[1]) & (x >= 0) & (x < lengths[2])
            offsets[r] = int32(places[at + uint64(3)] + ahead) if inside else int32(-1)

    @cuda.jit(device=True, forceinline=True)
    def fetched(x: Any, w: Any, offsets: Any, channel: Any, from_w: Any, room: Any, left: Any, right: Any) -> None:
        """What this thread copies, into registers."""
        for r in range(passes_left):
            left[r] = x[uint64(int32(offsets[r] + channel))] if offsets[r] >= 0 else x.dtype.type(0)
        for r in range(passes_right):
            right[r] = w[uint64(from_w + r * lanes)] if r * lanes < room else x.dtype.type(0)

    @cuda.jit(device=True, forceinline=True)
    def kept(left: Any, right: Any, me: Any, half: Any, copied_left: Any, copied_right: Any) -> None:
        """And into that half of shared memory which nobody reads now."""
        at = half * slab_left + (me & DEPTH - 1) * line_left + (me >> DEPTH_BITS)
        for r in range(passes_left):
            left[uint64(at + r * lanes)] = copied_left[r]
        at = half * slab_right + (me >> lane_bits) * line_right
        for r in range(passes_right):
            column = (me & lanes - 1) + r * lanes
            right[uint64(at + slot(column, across_bits, apart[1]))] = copied_right[r]

    def tiles(x: Any, w: Any, made: Any, sizes: Any, depth: Any, height: Any, width: Any) -> None:
        left = cuda.shared.array(both_left, x.dtype, 16)
        right = cuda.shared.array(both_right, x.dtype, 16)
        places = cuda.shared.array(all_places, np.int32, 16)
        targets = cuda.shared.array(rows, np.int32)
        plan = cuda.shared.array(ALL_MET, np.int32)
        sums = cuda.local.array(parts, x.dtype)
        copied_left = cuda.local.array(passes_left, x.dtype)
        copied_right = cuda.local.array(passes_right, x.dtype)
        offsets = cuda.local.array(passes_left, np.int32)
        me = int32(cuda.threadIdx.x)
        images, read, written = sizes
        met(plan, int32(cuda.blockIdx.z), depth, height, width)
        tiles_across = int32(written + columns - 1) // columns
        first_row = int32(int32(cuda.blockIdx.x) // tiles_across * rows)
        first_column = int32(int32(cuda.blockIdx.x) % tiles_across * columns)
        if first_row >= images * plan[COUNT] * plan[MET + COUNT] * plan[2 * MET + COUNT]:
            return
        placed(places, targets, plan, first_row, sizes, depth, height, width)
        for part in range(parts):
            sums[part] = x.dtype.type(0)

        # What this thread copies of the first slabs: column k of the left one, row k_w of the right one.
        none = (int32(0), int32(0), int32(0))
        taps = plan[TAPS] * plan[MET + TAPS] * plan[2 * MET + TAPS]
        last = int32(plan[TAPS] if taps > 0 else 0)  # where one axis meets no tap, no axis does
        channel, tap = counted(int32(me & DEPTH - 1), none, read, plan)
        channel_w, tap_w = counted(int32(me >> lane_bits), none, read, plan)
        moved, moved_w = True, True
        column = int32(first_column + (me & lanes - 1))
        from_w, room = int32(0), int32(0)
        slabs = int32(int32(taps * read + DEPTH - 1) // DEPTH)
        for slab in range(int32(slabs + 1)):
            if moved:
                z = int32(plan[BEGIN] + tap[0] * plan[STEP])
                y = int32(plan[MET + BEGIN] + tap[1] * plan[MET + STEP])
                x_ = int32(plan[2 * MET + BEGIN] + tap[2] * plan[2 * MET + STEP])
                ahead = int32(((z * height[0] + y) * width[0] + x_) * read)
                place = (z if tap[0] < last else int32(FAR), y, x_)
                located(offsets, places, me >> DEPTH_BITS, place, ahead, (depth[0], height[0], width[0]))
            if moved_w:
                line = plan[FIRST] + tap_w[0] * depth[7]
                line = line * height[1] + plan[MET + FIRST] + tap_w[1] * height[7]
                line = line * width[1] + plan[2 * MET + FIRST] + tap_w[2] * width[7]
                from_w = int32((line * read + channel_w) * written + column)
                room = int32(written - column if tap_w[0] < last else 0)
            fetched(x, w, offsets, channel, from_w, room, copied_left, copied_right)
            if slab > 0:
                half = slab - 1 & 1
                multiplied_slabs(
                    left, right, sums, half * slab_left + (me >> across_bits) * 4,
                    half * slab_right + (me & across - 1) * 4, high, wide, apart, lines,
                )  # fmt: skip
            kept(left, right, me, slab & 1, copied_left, copied_right)
            cuda.syncthreads()
            moved = int32(channel + DEPTH) >= read
            moved_w = int32(channel_w + DEPTH) >= read
            channel, tap = counted(int32(channel + DEPTH), tap, read, plan)
            channel_w, tap_w = counted(int32(channel_w + DEPTH), tap_w, read, plan)
            from_w = int32(from_w + DEPTH * written)

        # The sums into the result: 8 threads write 8 neighbouring channels.
        for i in range(high):
            target = targets[(me >> across_bits) * 4 + i // 4 * apart[0] + i % 4]
            if target >= 0:
                for j in range(wide):
                    c = first_column + (me & across - 1) + j * across
                    if c < written:
                        made[uint64(target + c)] = sums[i * wide + j]

    tiles.__name__ = tiles.__qualname__ = name
    tiles.__doc__ = f"Tiles of {rows} pixels by {columns} channels, {high} by {wide} of them a thread's."
    return kernel(("convolve", "convolve_input"), f"{dtype}[::1], {dtype}[::1], {dtype}[::1], {NUMBERS}")(tiles)


_SINGLE = (
    (Tile(32, 32, 8, 8), Tile(32, 16, 8, 8), Tile(16, 16, 8, 4))
    if SIMULATED
    else (Tile(128, 128, 8, 8), Tile(128, 64, 8, 8), Tile(128, 32, 8, 4))
)
_DOUBLE = (Tile(16, 16, 8, 4), Tile(16, 8, 4, 4)) if SIMULATED else (Tile(64, 64, 8, 4), Tile(64, 32, 4, 4))
TILES: dict[str, tuple[tuple[Tile, Kernel], ...]] = {
    dtype: tuple([(tile, tiled(f"convolution_{name}_{dtype}", tile, dtype)) for name, tile in zip(NAMES, tiles)])
    for dtype, tiles in (("float32", _SINGLE), ("float64", _DOUBLE))
}
"""By dtype, from the widest to the narrowest."""


def tile_for(dtype: str, rows: int, columns: int, multiprocessors: int) -> tuple[Tile, Kernel]:
    """The tile that makes the most of its loads, among those that waste little of their width and leave no
    multiprocessor idle.
    """
    tiles = TILES[dtype]
    for tile, made in tiles:
        blocks = -(-rows // tile.rows) * -(-columns // tile.columns)
        if (columns - 1) % tile.columns >= tile.columns // 2 and blocks >= 2 * multiprocessors:
            return tile, made
    return tiles[-1]
