"""Kernels of pooling's gradients with a thread for each pixel of four channels: it gathers from the windows over it.

Nobody adds to what another thread wrote, so that there are no atomic operations, and the same bits at every run.

Traffic, for windows of 2x2 next to each other, in bytes for an element of x in float32: 1 read of the contributions, 4
written; the gradient of the largest reads a quarter of a byte more, of the windows' choices, which `pool_places` made
out of x before (4 read).  Windows that overlap find each other's numbers in the first cache.  Occupancy, in float32 on
sm_90: 40 registers a thread for largest elements, six blocks of 256 threads on a multiprocessor; 64 for means, four.

Pooling and its gradients over one to three axes, as `reference.pooling`.

Passes through memory: one read of x and one write of the result for `max_pool` and `average_pool`; the gradient of
`average_pool` reads the contributions and writes one image; that of `max_pool` looks for the largest elements again
(one read of x), keeps a number for each window, of one byte for windows of up to 255 elements, and gathers.  Windows
that are large and few, such as one for each image, leave most of the GPU idle: `reduce_max` and `reduce_mean` are for
those.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from autodiff_lab.kernels.convolution.reference import Padding, Sizes
from autodiff_lab.kernels.cuda.array import DeviceArray
from autodiff_lab.kernels.cuda.launching import THREADS, blocks_for, check_size, cuda, empty, flat, kernel, launch
from autodiff_lab.kernels.pooling.cuda_windows import (
    CHANNELS,
    FACTS_TYPE,
    Plan,
    held,
    place,
    plan,
    pool_largest,
    pool_means,
    pool_places,
    thread_goal,
    windows_over,
)


@cuda.jit(device=True)
def windows_of(i: Any, facts: Any) -> Any:
    """The windows over a thread's pixel: image, first and end by axis; the pixel in padded coordinates; its channel."""
    image, depth, height, width, channel = place(i, facts)
    depth, height, width = np.uint32(depth + facts[22]), np.uint32(height + facts[23]), np.uint32(width + facts[24])
    planes = windows_over(depth, facts[16], facts[19], facts[25], facts[26], facts[13])
    rows = windows_over(height, facts[17], facts[20], facts[27], facts[28], facts[14])
    columns = windows_over(width, facts[18], facts[21], facts[29], facts[30], facts[15])
    return image, planes, rows, columns, (depth, height, width), channel


@kernel(("max_pool_input",), f"T[::1], uint8[::1], T[::1], {FACTS_TYPE}", f"T[::1], uint32[::1], T[::1], {FACTS_TYPE}")
def pool_gather_largest(g: Any, numbers: Any, out: Any, facts: Any) -> None:
    """Elements of out become the sums of the contributions of the windows that chose them."""
    totals = cuda.local.array(CHANNELS, g.dtype)
    i = np.uint32(cuda.blockIdx.x * THREADS + cuda.threadIdx.x)
    if i < facts[0]:
        image, planes, rows, columns, pixel, channel = windows_of(i, facts)
        for c in range(CHANNELS):
            totals[c] = g.dtype.type(0)
        d = planes[0]
        while d < planes[1]:
            h = rows[0]
            while h < rows[1]:
                line = np.uint32(np.uint32(np.uint32(image * facts[13] + d) * facts[14] + h) * facts[15])
                number = np.uint32((pixel[0] - d * facts[19]) * facts[17] + (pixel[1] - h * facts[20]))
                w = columns[0]
                while w < columns[1]:
                    at = np.uint32(np.uint32(line + w) * facts[31] + channel)
                    mine = np.uint32(number * facts[18] + (pixel[2] - w * facts[21]))
                    for c in range(CHANNELS):
                        if c < facts[32]:
                            given, own = g[np.uint32(at + c * facts[1])], numbers[np.uint32(at + c * facts[1])]
                            totals[c] += given if own == mine else g.dtype.type(0)
                    w = np.uint32(w + 1)
                h = np.uint32(h + 1)
            d = np.uint32(d + 1)
        goal, apart = thread_goal(i, facts)
        for c in range(CHANNELS):
            if c < facts[32]:
                out[np.uint32(goal + c * apart)] = totals[c]


@kernel(("average_pool_input",), f"T[::1], T[::1], {FACTS_TYPE}")
def pool_gather_means(g: Any, out: Any, facts: Any) -> None:
    """Sum into out the contributions of the windows over each element, each divided by the elements it holds."""
    totals = cuda.local.array(CHANNELS, g.dtype)
    i = np.uint32(cuda.blockIdx.x * THREADS + cuda.threadIdx.x)
    if i < facts[0]:
        image, planes, rows, columns, _, channel = windows_of(i, facts)
        for c in range(CHANNELS):
            totals[c] = g.dtype.type(0)
        d = planes[0]
        while d < planes[1]:
            deep = held(d, facts[19], facts[16], facts[22], facts[10])[1]
            h = rows[0]
            while h < rows[1]:
                line = np.uint32(np.uint32(np.uint32(image * facts[13] + d) * facts[14] + h) * facts[15])
                area = np.uint32(deep * held(h, facts[20], facts[17], facts[23], facts[7])[1])
                w = columns[0]
                while w < columns[1]:
                    at = np.uint32(np.uint32(line + w) * facts[31] + channel)
                    count = np.uint32(area * held(w, facts[21], facts[18], facts[24], facts[4])[1])
                    weight = g.dtype.type(1) / g.dtype.type(count)
                    for c in range(CHANNELS):
                        if c < facts[32]:
                            totals[c] += g[np.uint32(at + c * facts[1])] * weight
                    w = np.uint32(w + 1)
                h = np.uint32(h + 1)
            d = np.uint32(d + 1)
        goal, apart = thread_goal(i, facts)
        for c in range(CHANNELS):
            if c < facts[32]:
                out[np.uint32(goal + c * apart)] = totals[c]


NUMBERED = 255
"""Elements of a window up to which their numbers fit into a byte, the largest of which stands for none."""


def _planned(op: str, x: DeviceArray, shape: Sizes, window: Sizes, strides: Sizes, padding: Padding) -> Plan | None:
    """Return what the kernels need; None for dtypes and ranks that they do not take."""
    if x.dtype.char not in "fd":
        return None
    made = plan(tuple(shape), tuple(window), tuple(strides), tuple(padding))
    if made is not None:
        check_size(op, tuple(shape), made.shape)
    return made


def _per_window(run: Any, made: Plan, dtype: Any, *arrays: DeviceArray) -> DeviceArray:
    """Run a kernel with a thread for each window."""
    out = empty(arrays[0], made.shape, dtype)
    launch(run, blocks_for(int(made.windows[0])), THREADS, *map(flat, arrays), flat(out), made.windows)
    return out


def _per_element(run: Any, made: Plan, shape: Sizes, *arrays: DeviceArray) -> DeviceArray:
    """Run a kernel with a thread for each element of x."""
    out = empty(arrays[0], shape)
    launch(run, blocks_for(int(made.elements[0])), THREADS, *map(flat, arrays), flat(out), made.elements)
    return out


def max_pool(x: DeviceArray, window: Sizes, strides: Sizes, padding: Padding) -> Any:
    """Return the largest element of each window; padding never wins."""
    made = _planned("max_pool", x, x.shape, window, strides, padding)
    return NotImplemented if made is None else _per_window(pool_largest, made, x.dtype, x)


def max_pool_input(g: DeviceArray, x: DeviceArray, window: Sizes, strides: Sizes, padding: Padding) -> Any:
    """Return the gradient of `max_pool` for x: each window's contribution goes to its first largest element."""
    made = _planned("max_pool_input", x, x.shape, window, strides, padding)
    if made is None or g.dtype != x.dtype or g.shape != made.shape:
        return NotImplemented
    numbers = _per_window(pool_places, made, np.uint8 if prod(window) <= NUMBERED else np.uint32, x)
    return _per_element(pool_gather_largest, made, x.shape, g, numbers)


def average_pool(x: DeviceArray, window: Sizes, strides: Sizes, padding: Padding) -> Any:
    """Return the mean of each window's elements; padding does not count."""
    made = _planned("average_pool", x, x.shape, window, strides, padding)
    return NotImplemented if made is None else _per_window(pool_means, made, x.dtype, x)


def average_pool_input(g: DeviceArray, shape: Sizes, window: Sizes, strides: Sizes, padding: Padding) -> Any:
    """Return the gradient of `average_pool` with respect to x: each window's contribution is spread evenly."""
    made = _planned("average_pool_input", g, shape, window, strides, padding)
    if made is None or g.shape != made.shape:
        return NotImplemented
    return _per_element(pool_gather_means, made, tuple(shape), g)
