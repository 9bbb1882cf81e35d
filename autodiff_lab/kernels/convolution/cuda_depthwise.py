"""Depthwise convolution and its two gradients, on a GPU: each channel by itself.

The convolution and its gradient with respect to the input are one kernel, as in `cuda_axes`.  A thread makes 8
neighbours on the last axis, or 8 of one phase, of one channel: a weight is read once for 8 products, and places are
divided out once. Neighbouring threads have neighbouring channels.

The gradient with respect to the filter splits the pixels into chunks, which `sum_of_chunks` adds up.  A thread has a
channel and every 8th pixel of its chunk, and keeps 3 by 3 sums: a number of g is read once for 9 taps.

Traffic: with a window of 9 taps the source is read 9 times, 8 of them from the first or second-level cache; memory sees
one read and one write, 8 bytes an element.  Occupancy: 256 threads of 40 to 64 registers (70 in float64 on a B200),
3 to 6 blocks, 24 to 48 warps, on a multiprocessor.  Not measured: counted in the machine code for an H200, the first
kernel has some 80 instructions for each 8 bytes with such a window, and the second 140.  Some 55 would keep pace with
the memory of an H200; so they should come to 0.65 and 0.4 of its bandwidth, less where rows are shorter than 8.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_lab.kernels.convolution.cuda_axes import (
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
    Geometry,
    backward,
    divided,
    forward,
    int32,
    met,
)
from autodiff_lab.kernels.convolution.cuda_filter import ACROSS, ACROSS_BITS, LANES, sum_of_chunks
from autodiff_lab.kernels.convolution.cuda_tiles import uint64
from autodiff_lab.kernels.convolution.reference import Padding, Sizes
from autodiff_lab.kernels.cuda.array import DeviceArray
from autodiff_lab.kernels.cuda.launching import MOST, THREADS, blocks_for, check_size, cuda, empty, flat, kernel, launch

boolean: Any = np.bool_
STRIP = 8
"""Elements of the result that a thread makes."""
SIDE = 3
"""Taps that a thread sums up along the last axis, and rows of taps on the others."""
SUMS = SIDE * SIDE
ALL_SUMS = SUMS * THREADS
LEAST = 16 if THREADS == 32 else 512
"""Pixels of a chunk, at least."""


@kernel(("depthwise", "depthwise_input"), f"T[::1], T[::1], T[::1], int32, int32, {NUMBERS}")
def depthwise_strips(  # noqa: C901, PLR0912 - a loop for each axis
    x: Any, w: Any, made: Any, each: Any, alike: Any, sizes: Any, depth: Any, height: Any, width: Any
) -> None:
    """A strip of the result: channel c takes filters c·each to c·each + each - 1; filter f reads channel f // alike."""
    plan = cuda.shared.array(ALL_MET, int32)
    sums = cuda.local.array(STRIP, x.dtype)
    met(plan, int32(cuda.blockIdx.z), depth, height, width)
    images, read, written = sizes
    strips = int32(int32(plan[2 * MET + COUNT] + STRIP - 1) // STRIP)
    rest, channel = divided(int32(cuda.blockIdx.x * THREADS + cuda.threadIdx.x), written)
    rest, first = divided(rest, strips)
    first = int32(first * STRIP)
    rest, y_at = divided(rest, plan[MET + COUNT])
    image, z_at = divided(rest, plan[COUNT])
    if image >= images:
        return
    for e in range(STRIP):
        sums[e] = x.dtype.type(0)
    taps_z, taps_y, taps_x, step = plan[TAPS], plan[MET + TAPS], plan[2 * MET + TAPS], plan[2 * MET + STEP]
    filters, first_tap = int32(written * each), plan[2 * MET + FIRST]
    from_x, next_x = int32(first * width[3] + plan[2 * MET + BEGIN]), int32(width[3] * read)
    next_w = int32(width[7] * filters)
    last_x = int32(from_x + (taps_x - 1) * step)
    inner = min(from_x, last_x) >= 0 and int32(max(from_x, last_x) + (STRIP - 1) * width[3]) < width[0]
    for f in range(int32(channel * each), int32((channel + 1) * each)):
        channel_x, _ = divided(f, alike)
        for i in range(taps_z):
            z = int32(z_at * depth[3] + plan[BEGIN] + i * plan[STEP])
            if z < 0 or z >= depth[0]:
                continue
            for j in range(taps_y):
                y = int32(y_at * height[3] + plan[MET + BEGIN] + j * plan[MET + STEP])
                if y < 0 or y >= height[0]:
                    continue
                line = int32(((image * depth[0] + z) * height[0] + y) * width[0] * read + channel_x)
                row = int32((plan[FIRST] + i * depth[7]) * height[1] + plan[MET + FIRST] + j * height[7])
                from_w = int32((row * width[1] + first_tap) * filters + f)
                if inner:
                    for k in range(taps_x):
                        weight = w[uint64(int32(from_w + k * next_w))]
                        at = int32(line + int32(from_x + k * step) * read)
                        for e in range(STRIP):
                            sums[e] += x[uint64(int32(at + e * next_x))] * weight
                    continue
                for k in range(taps_x):
                    weight = w[uint64(int32(from_w + k * next_w))]
                    for e in range(STRIP):
                        at = int32(from_x + k * step + e * width[3])
                        inside = (at >= 0) & (at < width[0])
                        sums[e] += (x[uint64(int32(line + at * read))] if inside else x.dtype.type(0)) * weight
    target = image * depth[2] + plan[OWN] + z_at * depth[4]
    target = int32((target * height[2] + plan[MET + OWN] + y_at * height[4]) * width[2] + plan[2 * MET + OWN])
    for e in range(STRIP):
        if first + e < plan[2 * MET + COUNT]:
            made[uint64((target + (first + e) * width[4]) * written + channel)] = sums[e]


@kernel(("depthwise_filter",), f"T[::1], T[::1], T[::1], int32, int32, {NUMBERS}")
def depthwise_filter_chunks(  # noqa: C901, PLR0912, PLR0915 - counting on each axis
    x: Any, g: Any, made: Any, alike: Any, chunk: Any, sizes: Any, depth: Any, height: Any, width: Any
) -> None:
    """For 32 channels of g, 3 by 3 taps and a chunk of the pixels: the products of g and what the taps meet, summed."""
    kept = cuda.shared.array(ALL_SUMS, x.dtype)
    sums, values = cuda.local.array(SUMS, x.dtype), cuda.local.array(SUMS, x.dtype)
    ahead = cuda.local.array(SIDE, int32)
    from_z = cuda.local.array(SIDE, int32)
    from_y = cuda.local.array(SIDE, int32)
    inside = cuda.local.array(SIDE, boolean)
    across = cuda.local.array(SIDE, boolean)
    images, read, written = sizes
    me = int32(cuda.threadIdx.x)
    groups = int32(int32(written + ACROSS - 1) // ACROSS)
    sides = int32(int32(width[1] + SIDE - 1) // SIDE)
    rest, group = divided(int32(cuda.blockIdx.x), groups)
    row, side = divided(rest, sides)
    first_row, first_k, first_channel = int32(row * SIDE), int32(side * SIDE), int32(group * ACROSS)
    channel = int32(first_channel + (me & ACROSS - 1))
    from_c, _ = divided(channel, alike)
    for s in range(SUMS):
        sums[s] = x.dtype.type(0)
    for r in range(SIDE):
        row = int32(first_row + r)
        i, j = divided(row, height[1])
        from_z[r] = depth[5] + i * depth[6] if i < depth[1] else FAR
        from_y[r] = height[5] + j * height[6]
        ahead[r] = (from_z[r] * height[0] + from_y[r]) * width[0] * read if i < depth[1] else 0

    # Every 8th pixel of the chunk, counted on from one to the next.
    pixel = int32(cuda.blockIdx.y * chunk + (me >> ACROSS_BITS))
    end = int32(min(chunk, int32(images * depth[2] * height[2] * width[2] - cuda.blockIdx.y * chunk)))
    end = int32(cuda.blockIdx.y * chunk + end)
    rest, x_at = divided(pixel, width[2])
    rest, y_at = divided(rest, height[2])
    image, z_at = divided(rest, depth[2])
    next_x = int32(width[6] * read)
    if channel < written:
        while pixel < end:
            cotangent = g[uint64(int32(pixel * written + channel))]
            z, y = int32(z_at * depth[3]), int32(y_at * height[3])
            from_x = int32(x_at * width[3] + width[5] + first_k * width[6])
            line = int32((((image * depth[0] + z) * height[0] + y) * width[0] + from_x) * read + from_c)
            for r in range(SIDE):
                i, j, k = int32(z + from_z[r]), int32(y + from_y[r]), int32(from_x + r * width[6])
                inside[r] = (i >= 0) & (i < depth[0]) & (j >= 0) & (j < height[0])
                across[r] = (k >= 0) & (k < width[0])
            for s in range(SUMS):
                at = int32(line + ahead[s // SIDE] + s % SIDE * next_x)
                there = inside[s // SIDE] & across[s % SIDE]
                values[s] = x[uint64(at)] if there else x.dtype.type(0)
            for s in range(SUMS):
                sums[s] += values[s] * cotangent
            pixel = int32(pixel + LANES)
            x_at = int32(x_at + LANES)
            while x_at >= width[2]:
                x_at = int32(x_at - width[2])
                y_at = int32(y_at + 1)
                if y_at == height[2]:
                    y_at = int32(0)
                    z_at = int32(z_at + 1)
                    if z_at == depth[2]:
                        z_at = int32(0)
                        image = int32(image + 1)

    # The sums of the block's lanes, added in order.
    for s in range(SUMS):
        kept[s * THREADS + me] = sums[s]
    cuda.syncthreads()
    for number in range(me, SUMS * ACROSS, THREADS):
        s, column = number >> ACROSS_BITS, number & ACROSS - 1
        row, k = first_row + s // SIDE, first_k + s % SIDE
        if row < depth[1] * height[1] and k < width[1] and first_channel + column < written:
            total = x.dtype.type(0)
            for lane in range(LANES):
                total += kept[s * THREADS + lane * ACROSS + column]
            tap = (cuda.blockIdx.y * depth[1] * height[1] + row) * width[1] + k
            made[tap * written + first_channel + column] = total


def _taken(a: DeviceArray, b: DeviceArray, geometry: Geometry) -> bool:
    return geometry.takes(a, b, geometry.pixels * geometry.written, MOST // 2)  # up to the end of the last strip


def _strips(
    source: DeviceArray, w: DeviceArray, shape: Sizes, geometry: Geometry, each: int, alike: int
) -> DeviceArray:
    if 0 in shape or not source.size or not w.size:
        return source.memory.zeros(shape, source.dtype)
    made = empty(source, shape)
    longest = -(-geometry.axes[2].result // geometry.axes[2].phases)
    strips = geometry.pixels // longest * -(-longest // STRIP) * geometry.written
    launch(
        depthwise_strips, (blocks_for(strips), 1, geometry.phases), THREADS, flat(source), flat(w), flat(made),
        each, alike, *geometry.arguments(),
    )  # fmt: skip
    return made


def depthwise(x: DeviceArray, w: DeviceArray, strides: Sizes, padding: Padding, dilations: Sizes) -> Any:
    """Convolve each channel of x (n, *spatial, c) with its filters in w (*window, c, m), as `reference.depthwise`."""
    channels, multiple = w.shape[-2:]
    geometry = forward(
        (x.shape[0], channels, channels * multiple), x.shape[1:-1], w.shape[:-2], strides, padding, dilations
    )
    if not _taken(x, w, geometry):
        return NotImplemented
    shape = (x.shape[0], *[axis.result for axis in geometry.axes][-len(strides) :], channels * multiple)
    check_size("depthwise", x.shape, w.shape, shape)
    return _strips(x, w, shape, geometry, 1, multiple)


def depthwise_input(
    g: DeviceArray, w: DeviceArray, shape: Sizes, strides: Sizes, padding: Padding, dilations: Sizes
) -> Any:
    """Return the gradient with respect to x, of the given shape, as `reference.depthwise_input`."""
    geometry = backward(
        (shape[0], g.shape[-1], shape[-1]), shape[1:-1], g.shape[1:-1], w.shape[:-2], strides, padding, dilations
    )
    if not _taken(g, w, geometry):
        return NotImplemented
    check_size("depthwise_input", g.shape, w.shape, shape)
    return _strips(g, w, tuple(shape), geometry, w.shape[-1], 1)


def depthwise_filter(
    x: DeviceArray, g: DeviceArray, window: Sizes, strides: Sizes, padding: Padding, dilations: Sizes
) -> Any:
    """Return the gradient with respect to w, (*window, c, m), as `reference.depthwise_filter`."""
    channels = x.shape[-1]
    geometry = forward((x.shape[0], channels, g.shape[-1]), x.shape[1:-1], window, strides, padding, dilations)
    if not _taken(x, g, geometry):
        return NotImplemented
    shape = (*window, channels, g.shape[-1] // max(channels, 1))
    check_size("depthwise_filter", x.shape, g.shape, shape)
    if 0 in (x.size, g.size) or 0 in shape:
        return x.memory.zeros(shape, x.dtype)
    rows, columns = geometry.axes[0].window * geometry.axes[1].window, geometry.axes[2].window
    blocks = -(-geometry.written // ACROSS) * -(-rows // SIDE) * -(-columns // SIDE)
    given = flat(x), flat(g)

    def launch_chunks(parts: DeviceArray, chunk: int, chunks: int) -> None:
        launch(
            depthwise_filter_chunks, (blocks, chunks), THREADS, *given, parts, shape[-1], chunk,
            *geometry.arguments(),
        )  # fmt: skip

    return sum_of_chunks(x, shape, geometry.pixels, blocks, LEAST, launch_chunks)
