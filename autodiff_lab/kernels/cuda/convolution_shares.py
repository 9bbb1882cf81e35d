"""Sums over the pixels of all images, as gradients by filters need them: shared out among blocks, then added up.

The blocks of a first kernel leave their sums side by side; `add_shares` adds them in an order that is always the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autodiff_lab.kernels.cuda.array import DeviceArray
from autodiff_lab.kernels.cuda.launching import SIMULATED, THREADS, blocks_for, cuda, empty, kernel, launch

ACROSS = 8 if SIMULATED else 32
"""Elements that a block adds up: a warp reads them side by side."""
ACROSS_BITS = ACROSS.bit_length() - 1
LANES = THREADS // ACROSS
"""Threads for each of them."""
WAVES = 12
"""Blocks of the first kernel for each multiprocessor: four at a time, three times, so that few wait for the last."""
MOST_SHARES = 65_535
"""The y axis of a grid has no more blocks."""


@kernel(("convolve_filter", "depthwise_filter"), "T[::1], T[::1], int32, int32")
def add_shares(parts: Any, made: Any, count: Any, shares: Any) -> None:
    """Element i of made is the sum of elements i, i + count, ... of parts."""
    kept = cuda.shared.array(THREADS, parts.dtype)
    me = cuda.threadIdx.x
    lane = me >> ACROSS_BITS
    i = cuda.blockIdx.x * ACROSS + (me & ACROSS - 1)
    total = parts.dtype.type(0)
    if i < count:
        for share in range(lane, shares, LANES):
            total += parts[share * count + i]
    kept[me] = total
    cuda.syncthreads()
    if lane == 0 and i < count:
        for other in range(1, LANES):
            total += kept[me + other * ACROSS]
        made[i] = total


def shared(like: DeviceArray, shape: tuple[int, ...], pixels: int, blocks: int, least: int,
           run: Callable[[DeviceArray, int, int], None]) -> DeviceArray:  # fmt: skip
    """An array of that shape, each element a sum over pixels.

    Parameters
    ----------
    like : DeviceArray
        Of the same dtype, on the same GPU.
    shape : tuple of int
        Of the result.
    pixels, blocks : int
        The pixels, and the blocks that make all elements for one share of them.
    least : int
        Pixels that a share has at least, in multiples of which it comes.
    run : callable
        Given memory for the sums of all shares, the pixels of a share and how many shares: launches the kernel.
    """
    made = empty(like, shape)
    wanted = min(-(-like.memory.multiprocessors * WAVES // blocks), MOST_SHARES)
    share = max(least, -(-pixels // wanted // least) * least)
    shares = -(-pixels // share)
    if shares == 1:
        run(made.reshape(-1), share, 1)
        return made
    parts = empty(like, (shares * made.size,))
    run(parts, share, shares)
    launch(add_shares, blocks_for(made.size, ACROSS), THREADS, parts, made.reshape(-1), made.size, shares)
    return made
