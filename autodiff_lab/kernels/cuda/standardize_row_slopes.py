"""Slopes of rows brought to mean 0 and variance 1: a team of threads for each row, as in `standardize_rows`.

The row of x and that of the cotangent stay in registers, while mean and squares are found, and then the sum of the
cotangents and that of their products with the distances from the mean.

Traffic: two passes to read and one to write, 12 bytes an element in float32.  Occupancy, in float32 on sm_90: 72
registers a thread, three blocks of 256 threads on a multiprocessor, thirty-two loads under way in each thread.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_lab.kernels.cuda.array import DeviceArray
from autodiff_lab.kernels.cuda.launching import cuda, empty, kernel, launch, math
from autodiff_lab.kernels.cuda.standardize_rows import first_of, mean_and_squares, row_sizes
from autodiff_lab.kernels.cuda.standardize_teams import KEPT, TEAM, WARP, WARPS, team_row, team_sum


@cuda.jit(device=True)
def share_of(g: Any, scale: Any, scaled: Any, at: Any, own: Any) -> Any:
    """A cotangent, times the scale of its place in the row where there is one."""
    return g[at] * scale[own] if scaled != 0 else g[at]


@cuda.jit(device=True)
def sums_beyond(g: Any, x: Any, scale: Any, scaled: Any, mean: Any, at: Any, own: Any, left: Any, wide: Any) -> Any:
    """Sums of cotangents and of their products with distances from the mean, of what a thread does not keep."""
    total, products = x.dtype.type(0), x.dtype.type(0)
    at, own, left = at + np.uint64(wide), own + np.uint64(wide), np.int32(left - wide)
    while left > 0:
        part, product = x.dtype.type(0), x.dtype.type(0)
        for k in range(KEPT):
            if k * WARP < left:
                i = np.uint64(k * WARP)
                share = share_of(g, scale, scaled, at + i, own + i)
                part += share
                product += share * (x[at + i] - mean)
        total, products = total + part, products + product
        at, own, left = at + np.uint64(wide), own + np.uint64(wide), np.int32(left - wide)
    return total, products


@kernel(
    ("standardize_slope", "normalize_slope"),
    "T[::1], T[::1], T[::1], T[::1], T[::1], T, uint32, uint32, uint32, uint32",
)
def slope_rows(
    g: Any, x: Any, scale: Any, made: Any, facts: Any, epsilon: Any, scaled: Any, rows: Any, length: Any, bits: Any
) -> None:
    """The share of x in a cotangent of `standardize_rows`; where it is scaled, facts get means, and then roots."""
    parts = cuda.shared.array(WARPS, x.dtype)
    kept = cuda.local.array(KEPT, x.dtype)
    shares = cuda.local.array(KEPT, x.dtype)
    row, there, lane = team_row(bits, rows)
    at, own, left, wide = first_of(row, lane, length, bits)
    zero, count = x.dtype.type(0), x.dtype.type(length)
    for k in range(KEPT):
        i = np.uint64(k * WARP)
        shares[k] = share_of(g, scale, scaled, at + i, own + i) if k * WARP < left else zero
    mean, squares = mean_and_squares(x, kept, parts, at, left, wide, count, bits)
    root = x.dtype.type(1) / math.sqrt(squares / count + epsilon)
    total, products = sums_beyond(g, x, scale, scaled, mean, at, own, left, wide)
    for k in range(KEPT):
        total += shares[k]
        products += shares[k] * (kept[k] - mean) if k * WARP < left else zero
    level = team_sum(total, parts, bits) / count
    tilt = team_sum(products, parts, bits) / count * root
    if there and scaled != 0 and lane == 0:
        facts[row] = mean
        facts[np.uint32(rows + row)] = root
    left = left if there else np.int32(0)
    while left > 0:
        for k in range(KEPT):
            if k * WARP < left:
                made[at + np.uint64(k * WARP)] = root * (shares[k] - level - (kept[k] - mean) * root * tilt)
        at, own, left = at + np.uint64(wide), own + np.uint64(wide), np.int32(left - wide)
        if left > 0:
            for k in range(KEPT):
                i = np.uint64(k * WARP)
                shares[k] = share_of(g, scale, scaled, at + i, own + i) if k * WARP < left else zero
                kept[k] = x[at + i] if k * WARP < left else zero


def slope_of_rows(
    g: DeviceArray, x: DeviceArray, scale: DeviceArray | None, epsilon: float, rows: int, length: int
) -> tuple[DeviceArray, DeviceArray]:
    """The share of the rows of x, and where there is a scale, means and roots of the rows, one after the other."""
    made, (blocks, sizes) = empty(x, x.shape), row_sizes(rows, length)
    facts = made if scale is None else empty(x, (2 * rows,))
    small, scaled = x.dtype.type(epsilon), np.uint32(scale is not None)
    launch(slope_rows, blocks, TEAM, g, x, x if scale is None else scale, made, facts, small, scaled, *sizes)
    return made, facts
