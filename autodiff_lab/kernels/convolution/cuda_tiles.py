"""Slabs: how the kernels of convolutions multiply matrices in parts.

A block of threads makes a tile of a product.  Going along the inner axis by 8 at a time, it copies a slab of either
factor into shared memory, and each thread adds to its part of the tile a column of the left slab times a row of the
right one.  For 8 by 8 sums in registers a thread reads 16 numbers, by 4 loads, and multiplies 64 times: with fewer
sums, shared memory would be busier than the arithmetic.

Tiles: a convolution, or its gradient with respect to the input, as a product of matrices whose left one is never
written down.

Row m of that matrix is a pixel of the result, column k one channel of the source at one tap of the window.  A block
makes a tile of the result, some pixels by some channels, as `cuda_tiles` says: it copies the next slabs, finding
the elements of the source as `cuda_axes` says, while it multiplies those before.

Nothing is divided on the way: where the pixels lie is worked out once for a block, and a thread, which always copies
the same column of slabs, goes from one channel or tap to the next by counting.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from autodiff_lab.kernels.convolution.cuda_axes import (
    ALL_MET,
    AXES,
    BEGIN,
    COUNT,
    FAR,
    FIRST,
    MET,
    NUMBERS,
    OWN,
    STEP,
    TAPS,
    divided,
    inlined,
    int32,
    met,
)
from autodiff_lab.kernels.cuda.launching import SIMULATED, Kernel, cuda, kernel

DEPTH = 8
"""Columns of a left slab, rows of a right one."""
DEPTH_BITS = 3
GROUP = 4
"""Numbers that a thread reads at once: 16 bytes in float32."""
PLACES = 4
"""Numbers that shared memory keeps of a pixel: its place on three axes, and where its window begins in the source."""
uint64: Any = np.uint64
"""An index of this type is not tested for counting from the end, so that neighbouring loads can become one."""


class Tile(NamedTuple):
    """How a block's work is laid out.

    Attributes
    ----------
    rows, columns : int
        Of the part of the product that a block makes.
    high, wide : int
        Of the part of it that a thread makes, in groups of 4 that lie apart, so that the groups of neighbouring threads
        are neighbours in shared memory.
    """

    rows: int
    columns: int
    high: int
    wide: int

    @property
    def threads(self) -> int:
        """Threads of a block."""
        return self.rows * self.columns // (self.high * self.wide)

    @property
    def bounds(self) -> tuple[int, int]:
        """Threads of a block, and blocks that a multiprocessor shall hold: 16 warps, with 128 registers a thread."""
        return self.threads, max(1, 512 // self.threads)

    @property
    def across(self) -> int:
        """Threads of a block beside each other; those above each other follow."""
        return self.columns // self.wide

    @property
    def apart(self) -> tuple[int, int]:
        """How far a thread's groups lie apart in a slab's line, left and right."""
        return self.rows * GROUP // self.high, self.columns * GROUP // self.wide


@inlined
def multiplied(left: Any, right: Any, sums: Any, a: Any, b: Any, high: Any, wide: Any, apart: Any) -> None:
    """Add the products of a column of the left slab and a row of the right one to a thread's sums."""
    column, row = cuda.local.array(8, left.dtype), cuda.local.array(8, left.dtype)
    for i in range(high):
        column[i] = left[uint64(a + i // GROUP * apart[0] + i % GROUP)]
    for j in range(wide):
        row[j] = right[uint64(b + j // GROUP * apart[1] + j % GROUP)]
    for i in range(high):
        for j in range(wide):
            sums[i * wide + j] += column[i] * row[j]


@inlined
def multiplied_slabs(left: Any, right: Any, sums: Any, a: Any, b: Any, high: Any, wide: Any, apart: Any,
                     lines: Any) -> None:  # fmt: skip
    """Add the products of two slabs, whose lines have the lengths `lines`, to a thread's sums.

    Written out, so that loads of the next column run beside products of this one.
    """
    multiplied(left, right, sums, a, b, high, wide, apart)
    multiplied(left, right, sums, a + lines[0], b + lines[1], high, wide, apart)
    multiplied(left, right, sums, a + 2 * lines[0], b + 2 * lines[1], high, wide, apart)
    multiplied(left, right, sums, a + 3 * lines[0], b + 3 * lines[1], high, wide, apart)
    multiplied(left, right, sums, a + 4 * lines[0], b + 4 * lines[1], high, wide, apart)
    multiplied(left, right, sums, a + 5 * lines[0], b + 5 * lines[1], high, wide, apart)
    multiplied(left, right, sums, a + 6 * lines[0], b + 6 * lines[1], high, wide, apart)
    multiplied(left, right, sums, a + 7 * lines[0], b + 7 * lines[1], high, wide, apart)


@inlined
def slot(column: Any, across_bits: Any, apart: Any) -> Any:
    """Return where a column of the tile lies in a line of the right slab.

    Column thread + j·across is the j-th of a thread: 8 neighbouring threads write 8 neighbouring numbers of the result,
    while the columns of one thread lie beside each other here, in groups of 4.
    """
    number = column >> across_bits
    return (number >> 2) * apart + (column & (1 << across_bits) - 1) * GROUP + (number & 3)


@inlined
def placed(places: Any, targets: Any, plan: Any, first: Any, tile: Any, sizes: Any, depth: Any, height: Any,
           width: Any) -> None:  # fmt: skip
    """Where the pixels of a tile, from the first on, lie in the source and the result; beyond the last FAR and -1."""
    count_z, count_y, count_x = plan[COUNT], plan[MET + COUNT], plan[2 * MET + COUNT]
    for part in range((tile[0] + tile[1] - 1) // tile[1]):
        i = int32(cuda.threadIdx.x + part * tile[1])
        if i >= tile[0]:
            break
        rest, x = divided(int32(first + i), count_x)
        rest, y = divided(rest, count_y)
        image, z = divided(rest, count_z)
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


@inlined
def counted(channel: Any, taps: Any, mine: Any, read: Any, plan: Any) -> Any:
    """Return a channel of a thread's tap, where the channel may lie beyond the last one: then one of a later tap.

    The tap is kept in shared memory, from `mine` on: it is seldom looked at, and registers are scarce.
    """
    while channel >= read:
        channel = int32(channel - read)
        taps[mine + 2] += 1
        if taps[mine + 2] == plan[2 * MET + TAPS]:
            taps[mine + 2] = 0
            taps[mine + 1] += 1
            if taps[mine + 1] == plan[MET + TAPS]:
                taps[mine + 1] = 0
                taps[mine] += 1
    return channel


@inlined
def located(offsets: Any, places: Any, row: Any, copies: Any, plan: Any, taps: Any, mine: Any, end: Any, read: Any,
            depth: Any, height: Any, width: Any) -> None:  # fmt: skip
    """Where the pixels that a thread copies meet a tap in the source: an offset, or -1 for outside.

    They are `copies` = (number, distance) from `row` on.
    """
    z = int32(plan[BEGIN] + taps[mine] * plan[STEP])
    y = int32(plan[MET + BEGIN] + taps[mine + 1] * plan[MET + STEP])
    x = int32(plan[2 * MET + BEGIN] + taps[mine + 2] * plan[2 * MET + STEP])
    ahead = int32(((z * height[0] + y) * width[0] + x) * read)
    z = z if taps[mine] < end else int32(FAR)
    for r in range(copies[0]):
        at = uint64((row + r * copies[1]) * PLACES)
        i, j, k = int32(places[at] + z), int32(places[at + uint64(1)] + y), int32(places[at + uint64(2)] + x)
        inside = (i >= 0) & (i < depth[0]) & (j >= 0) & (j < height[0]) & (k >= 0) & (k < width[0])
        offsets[r] = int32(places[at + uint64(3)] + ahead) if inside else int32(-1)


@inlined
def line_of(plan: Any, taps: Any, mine: Any, depth: Any, height: Any, width: Any) -> Any:
    """Return which tap of the window a thread's tap of the phase is."""
    line = plan[FIRST] + taps[mine] * depth[7]
    line = line * height[1] + plan[MET + FIRST] + taps[mine + 1] * height[7]
    return line * width[1] + plan[2 * MET + FIRST] + taps[mine + 2] * width[7]


@inlined
def fetched(x: Any, w: Any, offsets: Any, channel: Any, from_w: Any, room: Any, lanes: Any, copies: Any, left: Any,
            right: Any) -> None:  # fmt: skip
    """What a thread copies of both slabs, into registers: all loads are on their way before one is waited for."""
    for r in range(copies[0]):
        left[r] = x[uint64(int32(offsets[r] + channel))] if offsets[r] >= 0 else x.dtype.type(0)
    for r in range(copies[1]):
        right[r] = w[uint64(from_w + r * lanes)] if r * lanes < room else x.dtype.type(0)


@inlined
def kept(left: Any, right: Any, me: Any, half: Any, lane_bits: Any, copies: Any, lines: Any, across_bits: Any,
         apart: Any, copied_left: Any, copied_right: Any) -> None:  # fmt: skip
    """And into a half of the shared memory."""
    at = (half * DEPTH + (me & DEPTH - 1)) * lines[0] + (me >> DEPTH_BITS)
    for r in range(copies[0]):
        left[uint64(at + (r << lane_bits))] = copied_left[r]
    at = (half * DEPTH + (me >> lane_bits)) * lines[1]
    for r in range(copies[1]):
        column = (me & (1 << lane_bits) - 1) + (r << lane_bits)
        right[uint64(at + slot(column, across_bits, apart[1]))] = copied_right[r]


@inlined
def written_out(made: Any, sums: Any, targets: Any, me: Any, first_column: Any, written: Any, across_bits: Any,
                shape: Any, apart: Any) -> None:  # fmt: skip
    """A thread's sums into the result: 8 threads write 8 neighbouring channels."""
    column = int32(first_column + (me & (1 << across_bits) - 1))
    for i in range(shape[0]):
        target = targets[(me >> across_bits) * 4 + i // 4 * apart[0] + i % 4]
        if target >= 0:
            for j in range(shape[1]):
                if column + (j << across_bits) < written:
                    made[uint64(target + column + (j << across_bits))] = sums[i * shape[1] + j]


def tiled(name: str, tile: Tile, dtype: str) -> Kernel:  # noqa: PLR0915 - the kernel is inside
    """Return the kernel that makes tiles of this layout."""
    rows, columns, high, wide = tile
    threads, lanes, apart, shape = tile.threads, tile.threads // DEPTH, tile.apart, (tile.high, tile.wide)
    lane_bits, across_bits = lanes.bit_length() - 1, tile.across.bit_length() - 1
    copies = copies_left, copies_right = rows // lanes, columns // lanes
    lines = rows + 4, columns + 4  # so that what 8 threads copy of 8 columns lands in 8 banks
    both_left, both_right = 2 * DEPTH * lines[0], 2 * DEPTH * lines[1]
    parts, all_places, all_taps = high * wide, rows * PLACES, 2 * threads * AXES

    def tiles(x: Any, w: Any, made: Any, sizes: Any, depth: Any, height: Any, width: Any) -> None:
        left = cuda.shared.array(both_left, x.dtype, 16)
        right = cuda.shared.array(both_right, x.dtype, 16)
        places = cuda.shared.array(all_places, np.int32, 16)
        targets = cuda.shared.array(rows, np.int32)
        plan = cuda.shared.array(ALL_MET, np.int32)
        taps = cuda.shared.array(all_taps, np.int32)
        sums = cuda.local.array(parts, x.dtype)
        copied_left = cuda.local.array(copies_left, x.dtype)
        copied_right = cuda.local.array(copies_right, x.dtype)
        offsets = cuda.local.array(copies_left, np.int32)
        me = int32(cuda.threadIdx.x)
        images, read, written = sizes
        met(plan, int32(cuda.blockIdx.z), depth, height, width)
        down, across = divided(int32(cuda.blockIdx.x), int32(written + columns - 1) // columns)
        first_row, first_column = int32(down * rows), int32(across * columns)
        if first_row >= images * plan[COUNT] * plan[MET + COUNT] * plan[2 * MET + COUNT]:
            return
        placed(places, targets, plan, first_row, (rows, threads), sizes, depth, height, width)
        for part in range(parts):
            sums[part] = x.dtype.type(0)

        # This thread copies column k of the left slab, a channel at a tap, and part of row k_w of the right one.
        met_taps = plan[TAPS] * plan[MET + TAPS] * plan[2 * MET + TAPS]
        end = int32(plan[TAPS] if met_taps > 0 else 0)  # where one axis meets no tap, no axis does
        mine, mine_w = me * AXES, (me + threads) * AXES
        for axis in range(AXES):
            taps[mine + axis] = taps[mine_w + axis] = 0
        channel = counted(int32(me & DEPTH - 1), taps, mine, read, plan)
        channel_w = counted(int32(me >> lane_bits), taps, mine_w, read, plan)
        moved, moved_w = True, True
        column = int32(first_column + (me & lanes - 1))
        from_w, room = int32(0), int32(0)
        for slab in range(int32(int32(met_taps * read + DEPTH - 1) // DEPTH + 1)):
            if moved:
                located(
                    offsets, places, me >> DEPTH_BITS, (copies_left, lanes), plan, taps, mine, end, read, depth, height,
                    width,
                )  # fmt: skip
            if moved_w:
                line = line_of(plan, taps, mine_w, depth, height, width)
                from_w = int32((line * read + channel_w) * written + column)
                room = int32(written - column if taps[mine_w] < end else 0)
            fetched(x, w, offsets, channel, from_w, room, lanes, copies, copied_left, copied_right)
            if slab > 0:
                half = int32(slab - 1 & 1) * DEPTH
                a = int32(half * lines[0] + (me >> across_bits) * 4)
                b = int32(half * lines[1] + (me & (1 << across_bits) - 1) * 4)
                multiplied_slabs(left, right, sums, a, b, high, wide, apart, lines)
            # where nobody reads now
            kept(left, right, me, slab & 1, lane_bits, copies, lines, across_bits, apart, copied_left, copied_right)
            cuda.syncthreads()
            moved, moved_w = int32(channel + DEPTH) >= read, int32(channel_w + DEPTH) >= read
            channel = counted(int32(channel + DEPTH), taps, mine, read, plan)
            channel_w = counted(int32(channel_w + DEPTH), taps, mine_w, read, plan)
            from_w = int32(from_w + DEPTH * written)
        written_out(made, sums, targets, me, first_column, written, across_bits, shape, apart)

    tiles.__name__ = tiles.__qualname__ = name
    tiles.__doc__ = f"Tiles of {rows} pixels by {columns} channels, {high} by {wide} of them a thread's."
    signature = f"{dtype}[::1], {dtype}[::1], {dtype}[::1], {NUMBERS}"
    return kernel(("convolve", "convolve_input"), signature, launch_bounds=tile.bounds)(tiles)


NAMES = ("wide", "middle", "narrow")
_SINGLE = (
    (Tile(32, 32, 8, 8), Tile(32, 16, 8, 8), Tile(16, 16, 8, 4))
    if SIMULATED
    else (Tile(128, 128, 8, 8), Tile(128, 64, 8, 8), Tile(128, 32, 8, 4))
)
_DOUBLE = (Tile(16, 16, 8, 4), Tile(16, 8, 4, 4)) if SIMULATED else (Tile(64, 64, 8, 4), Tile(64, 32, 4, 4))
TILES: dict[str, tuple[tuple[Tile, Kernel], ...]] = {
    dtype: tuple(
        [(tile, tiled(f"convolution_{name}_{dtype}", tile, dtype)) for name, tile in zip(NAMES, tiles, strict=False)]
    )
    for dtype, tiles in (("float32", _SINGLE), ("float64", _DOUBLE))
}
"""By dtype, from the widest to the narrowest."""


def tile_for(dtype: str, rows: int, columns: int, multiprocessors: int) -> tuple[Tile, Kernel]:
    """The widest tile that leaves neither half of its width nor a multiprocessor without work, or the narrowest."""
    tiles = TILES[dtype]
    for tile, made in tiles:
        blocks = -(-rows // tile.rows) * -(-columns // tile.columns)
        if (columns - 1) % tile.columns >= tile.columns // 2 and blocks >= 2 * multiprocessors:
            return tile, made
    return tiles[-1]
