"""Kernels of pooling's gradients with a thread for each element of x: it gathers its shares from the windows over it.

Nobody adds to what another thread wrote, so that there are no atomic operations, and the same bits at every run.

Traffic, for windows of 2x2 next to each other, in bytes for an element of x in float32: 1 read of the shares, 4
written; the gradient of the largest reads one more for four windows' choices, of a byte each, which `pool_places` made
out of x before (4 read).  Windows that overlap find each other's numbers in the first cache.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_lab.kernels.cuda.launching import THREADS, cuda, kernel
from autodiff_lab.kernels.cuda.pooling_geometry import held, place, windows_over


@kernel(
    ("max_pool_input",),
    "T[::1], uint8[::1], T[::1], UniTuple(uint32, 31)",
    "T[::1], uint32[::1], T[::1], UniTuple(uint32, 31)",
)
def pool_gather_largest(g: Any, numbers: Any, out: Any, facts: Any) -> None:
    """Element i of out becomes the sum of the shares of the windows that chose it."""
    i = np.uint32(cuda.blockIdx.x * THREADS + cuda.threadIdx.x)
    if i < facts[0]:
        image, depth, height, width, channel = place(i, facts)
        depth, height, width = (
            np.uint32(depth + facts[22]), np.uint32(height + facts[23]), np.uint32(width + facts[24]),
        )  # fmt: skip
        d, d_end = windows_over(depth, facts[16], facts[19], facts[25], facts[26], facts[13])
        first_h, h_end = windows_over(height, facts[17], facts[20], facts[27], facts[28], facts[14])
        first_w, w_end = windows_over(width, facts[18], facts[21], facts[29], facts[30], facts[15])
        total = g.dtype.type(0)
        while d < d_end:
            h = first_h
            while h < h_end:
                line = np.uint32(np.uint32(image * facts[13] + d) * facts[14] + h)
                number = np.uint32((depth - d * facts[19]) * facts[17] + (height - h * facts[20]))
                w = first_w
                while w < w_end:
                    at = np.uint32(np.uint32(line * facts[15] + w) * facts[1] + channel)
                    mine = np.uint32(number * facts[18] + (width - w * facts[21]))
                    share = g[at]
                    total += share if numbers[at] == mine else g.dtype.type(0)
                    w = np.uint32(w + 1)
                h = np.uint32(h + 1)
            d = np.uint32(d + 1)
        out[i] = total


@kernel(("average_pool_input",), "T[::1], T[::1], UniTuple(uint32, 31)")
def pool_gather_means(g: Any, out: Any, facts: Any) -> None:
    """Element i of out becomes the sum of the shares of the windows over it, each over the elements it holds."""
    i = np.uint32(cuda.blockIdx.x * THREADS + cuda.threadIdx.x)
    if i < facts[0]:
        image, depth, height, width, channel = place(i, facts)
        depth, height, width = (
            np.uint32(depth + facts[22]), np.uint32(height + facts[23]), np.uint32(width + facts[24]),
        )  # fmt: skip
        d, d_end = windows_over(depth, facts[16], facts[19], facts[25], facts[26], facts[13])
        first_h, h_end = windows_over(height, facts[17], facts[20], facts[27], facts[28], facts[14])
        first_w, w_end = windows_over(width, facts[18], facts[21], facts[29], facts[30], facts[15])
        total = g.dtype.type(0)
        while d < d_end:
            planes = held(d, facts[19], facts[16], facts[22], facts[10])[1]
            h = first_h
            while h < h_end:
                line = np.uint32(np.uint32(image * facts[13] + d) * facts[14] + h)
                area = np.uint32(planes * held(h, facts[20], facts[17], facts[23], facts[7])[1])
                w = first_w
                while w < w_end:
                    count = np.uint32(area * held(w, facts[21], facts[18], facts[24], facts[4])[1])
                    share = g[np.uint32(np.uint32(line * facts[15] + w) * facts[1] + channel)]
                    total += share / g.dtype.type(count)
                    w = np.uint32(w + 1)
                h = np.uint32(h + 1)
            d = np.uint32(d + 1)
        out[i] = total
