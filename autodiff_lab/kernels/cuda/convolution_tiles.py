"""Tiles: a convolution, or its gradient by the input, as a product of matrices whose left one is never written down.

Row m of that matrix is a pixel of the result, column k one channel of the source at one tap of the window.  A block makes
a tile of the result, some pixels by some channels.  For 8 columns k at a time its threads copy a slab of either factor
into shared memory, finding the elements of the source as `convolution_axes` says, while they multiply the slab before;
each thread keeps 8 by 8 sums in registers and reads 8 numbers of either factor for 64 products.

Nothing is divided on the way: where the pixels lie is worked out once for a block, and a thread, which always copies the
same column of slabs, goes from one channel or tap to the next by counting.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from autodiff_lab.kernels.cuda.convolution_axes import FAR, NUMBERS, met
from autodiff_lab.kernels.cuda.launching import SIMULATED, Kernel, cuda, kernel

DEPTH = 8
DEPTH_BITS = 3
"""Columns k of a slab."""
PLACES = 4
"""Numbers that shared memory keeps of each pixel: its place on three axes, and where its window begins in the source."""
NAMES = ("wide", "middle", "narrow")
int32: Any = np.int32
uint64: Any = np.uint64
"""An index of this type is not tested for counting from the end."""


class Tile(NamedTuple):
    """How a block's work is laid out.

    Attributes
    ----------
    rows, columns : int
        Of the tile of the result that a block makes.
    high, wide : int
        Of the part of it that a thread makes, in groups of 4.
    """

    rows: int
    columns: int
    high: int
    wide: int

    @property
    def threads(self) -> int:
        """Threads of a block."""
        return self.rows * self.columns // (self.high * self.wide)


@cuda.jit(device=True, forceinline=True)
def multiplied(left: Any, right: Any, sums: Any, a: Any, b: Any, high: Any, wide: Any, apart: Any) -> None:
    """Add the products of one column of the left slab and one row of the right one to a thread's sums.

    The thread's numbers lie in groups of 4, `apart` = (left, right) from group to group: a group is one load.
    """
    column, row = cuda.local.array(8, left.dtype), cuda.local.array(8, left.dtype)
    for i in range(high):
        column[i] = left[uint64(a + i // 4 * apart[0] + i % 4)]
    for j in range(wide):
        row[j] = right[uint64(b + j // 4 * apart[1] + j % 4)]
    for i in range(high):
        for j in range(wide):
            sums[i * wide + j] += column[i] * row[j]


@cuda.jit(device=True, forceinline=True)
def multiplied_slabs(left: Any, right: Any, sums: Any, a: Any, b: Any, high: Any, wide: Any, apart: Any,
                     lines: Any) -> None:  # fmt: skip
    """The same for all of two slabs; written out, so that loads of the next column overlap products of this one."""
    multiplied(left, right, sums, a, b, high, wide, apart)
    multiplied(left, right, sums, a + lines[0], b + lines[1], high, wide, apart)
    multiplied(left, right, sums, a + 2 * lines[0], b + 2 * lines[1], high, wide, apart)
    multiplied(left, right, sums, a + 3 * lines[0], b + 3 * lines[1], high, wide, apart)
    multiplied(left, right, sums, a + 4 * lines[0], b + 4 * lines[1], high, wide, apart)
    multiplied(left, right, sums, a + 5 * lines[0], b + 5 * lines[1], high, wide, apart)
    multiplied(left, right, sums, a + 6 * lines[0], b + 6 * lines[1], high, wide, apart)
    multiplied(left, right, sums, a + 7 * lines[0], b + 7 * lines[1], high, wide, apart)


@cuda.jit(device=True, forceinline=True)
def counted(channel: Any, tap: Any, read: Any, taps: Any) -> Any:
    """A channel of a tap, where the channel may lie beyond the last one: then one of a later tap."""
    i, j, k = tap
    while channel >= read:
        channel = int32(channel - read)
        k = int32(k + 1)
        if k == taps[2]:
            k = int32(0)
            j = int32(j + 1)
            if j == taps[1]:
                j = int32(0)
                i = int32(i + 1)
    return channel, (i, j, k)


def tiled(name: str, tile: Tile, dtype: str) -> Kernel:
    """The kernel that makes tiles of this layout."""
    rows, columns, high, wide = tile
    threads = tile.threads
    lanes, across = threads // DEPTH, columns // wide
    lane_bits, across_bits = lanes.bit_length() - 1, across.bit_length() - 1
    passes_left, passes_right = rows // lanes, columns // lanes
    line_left, line_right = rows + 4, columns + 4  # the 8 columns of a slab begin in 8 banks
    slab_left, slab_right = DEPTH * line_left, DEPTH * line_right
    both_left, both_right = 2 * slab_left, 2 * slab_right
    apart = (rows * 4 // high, columns * 4 // wide)
    lines = (line_left, line_right)
    parts = high * wide
    all_places = rows * PLACES

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
            group = column >> across_bits
            right[uint64(at + (group >> 2) * apart[1] + (column & across - 1) * 4 + (group & 3))] = copied_right[r]

    def tiles(x: Any, w: Any, made: Any, sizes: Any, depth: Any, height: Any, width: Any) -> None:
        left = cuda.shared.array(both_left, x.dtype, 16)
        right = cuda.shared.array(both_right, x.dtype, 16)
        places = cuda.shared.array(all_places, np.int32, 16)
        targets = cuda.shared.array(rows, np.int32)
        sums = cuda.local.array(parts, x.dtype)
        copied_left = cuda.local.array(passes_left, x.dtype)
        copied_right = cuda.local.array(passes_right, x.dtype)
        offsets = cuda.local.array(passes_left, np.int32)
        me = int32(cuda.threadIdx.x)
        images, read, written = sizes
        lengths = (depth[0], height[0], width[0])

        # Which tile of which phase.
        phase = int32(cuda.blockIdx.z)
        phase_z = phase // (height[4] * width[4])
        phase_y = phase // width[4] % height[4]
        phase_x = phase % width[4]
        count_z, taps_z, first_z, begin_z, step_z = met(depth, phase_z)
        count_y, taps_y, first_y, begin_y, step_y = met(height, phase_y)
        count_x, taps_x, first_x, begin_x, step_x = met(width, phase_x)
        tiles_across = (written + columns - 1) // columns
        first_row = cuda.blockIdx.x // tiles_across * rows
        first_column = int32(cuda.blockIdx.x % tiles_across * columns)
        if first_row >= images * count_z * count_y * count_x:
            return

        # Where its pixels lie.
        for i in range(me, rows, threads):
            rest = first_row + i
            x_at = rest % count_x
            rest = rest // count_x
            y_at = rest % count_y
            rest = rest // count_y
            z_at = rest % count_z
            image = rest // count_z
            target = image * depth[2] + phase_z + z_at * depth[4]
            target = target * height[2] + phase_y + y_at * height[4]
            target = target * width[2] + phase_x + x_at * width[4]
            z_at, y_at, x_at = z_at * depth[3], y_at * height[3], x_at * width[3]
            places[PLACES * i] = z_at if image < images else FAR
            places[PLACES * i + 1] = y_at
            places[PLACES * i + 2] = x_at
            places[PLACES * i + 3] = (((image * depth[0] + z_at) * height[0] + y_at) * width[0] + x_at) * read
            targets[i] = target * written if image < images else -1
        cuda.syncthreads()
        for part in range(parts):
            sums[part] = x.dtype.type(0)

        # What this thread copies of the first slabs: column k of the left one, row k_w of the right one.
        taps_z = taps_z if taps_y * taps_x > 0 else 0  # where one axis meets no tap, no axis does
        taps, none = (taps_z, taps_y, taps_x), (int32(0), int32(0), int32(0))
        channel, tap = counted(int32(me & DEPTH - 1), none, read, taps)
        channel_w, tap_w = counted(int32(me >> lane_bits), none, read, taps)
        moved, moved_w = True, True
        column = int32(first_column + (me & lanes - 1))
        from_w, room = int32(0), int32(0)
        slabs = int32((taps_z * taps_y * taps_x * read + DEPTH - 1) // DEPTH)
        for slab in range(int32(slabs + 1)):
            if moved:
                z, y, x_ = begin_z + tap[0] * step_z, begin_y + tap[1] * step_y, begin_x + tap[2] * step_x
                ahead = int32(((z * height[0] + y) * width[0] + x_) * read)
                place = (int32(z if tap[0] < taps_z else FAR), int32(y), int32(x_))
                located(offsets, places, me >> DEPTH_BITS, place, ahead, lengths)
            if moved_w:
                line = (first_z + tap_w[0] * depth[7]) * height[1] + first_y + tap_w[1] * height[7]
                line = (line * width[1] + first_x + tap_w[2] * width[7]) * read + channel_w
                from_w = int32(line * written + column)
                room = int32(written - column if tap_w[0] < taps_z else 0)
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
            channel, tap = counted(int32(channel + DEPTH), tap, read, taps)
            channel_w, tap_w = counted(int32(channel_w + DEPTH), tap_w, read, taps)
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
