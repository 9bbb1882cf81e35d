"""Kernels of pooling's gradients with a thread for each pixel of four channels: it gathers from the windows over it.

Nobody adds to what another thread wrote, so that there are no atomic operations, and the same bits at every run.

Traffic, for windows of 2x2 next to each other, in bytes for an element of x in float32: 1 read of the shares, 4
written; the gradient of the largest reads a quarter of a byte more, of the windows' choices, which `pool_places` made
out of x before (4 read).  Windows that overlap find each other's numbers in the first cache.  Occupancy, in float32 on
sm_90: 40 registers a thread for largest elements, six blocks of 256 threads on a multiprocessor; 64 for means, four.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_lab.kernels.cuda.launching import THREADS, cuda, kernel
from autodiff_lab.kernels.cuda.pooling_geometry import CHANNELS, FACTS_TYPE, held, place, thread_goal, windows_over


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
    """Elements of out become the sums of the shares of the windows that chose them."""
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
                            share, own = g[np.uint32(at + c * facts[1])], numbers[np.uint32(at + c * facts[1])]
                            totals[c] += share if own == mine else g.dtype.type(0)
                    w = np.uint32(w + 1)
                h = np.uint32(h + 1)
            d = np.uint32(d + 1)
        goal, apart = thread_goal(i, facts)
        for c in range(CHANNELS):
            if c < facts[32]:
                out[np.uint32(goal + c * apart)] = totals[c]


@kernel(("average_pool_input",), f"T[::1], T[::1], {FACTS_TYPE}")
def pool_gather_means(g: Any, out: Any, facts: Any) -> None:
    """Elements of out become the sums of the shares of the windows over them, each over the elements it holds."""
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
