"""Rows brought to mean 0 and variance 1, and slopes of that: a team of threads for each row (`standardize_teams`).

Two passes over a row in registers, the mean first, then squares about it, so that nothing cancels.  Rows of up to 4096
elements, 512 for a warp, stay in registers; what is longer is read again for each pass, from the caches as long as the
rows that are under way fit there.

Traffic, in passes over an array: the result is one read and one write, the slope two reads and one write; 8 and 12
bytes an element in float32.  Occupancy: sixteen loads are under way in each thread, thirty-two for the slope, so that
a quarter of a multiprocessor's threads suffices to keep memory busy; registers and blocks are in the report.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_lab.kernels.cuda.array import DeviceArray
from autodiff_lab.kernels.cuda.launching import cuda, empty, kernel, launch, math
from autodiff_lab.kernels.cuda.standardize_teams import KEPT, TEAM, WARPS, team_bits, team_blocks, team_row, team_sum


@cuda.jit(device=True)
def mean_and_squares(x: Any, kept: Any, parts: Any, first: Any, lane: Any, length: Any, bits: Any) -> Any:
    """The mean of a row, and the sum of the squared distances from it; the team keeps what it can of the row."""
    zero, step = x.dtype.type(0), np.uint32(1 << bits)
    total = zero
    for k in range(KEPT):
        i = np.uint32(lane + k * step)
        kept[k] = x[np.uint32(first + i)] if i < length else zero
        total += kept[k]
    further = np.uint32(lane + KEPT * step)
    while further < length:
        part = zero
        for k in range(KEPT):
            i = np.uint32(further + k * step)
            part += x[np.uint32(first + i)] if i < length else zero
        total += part
        further = np.uint32(further + KEPT * step)
    mean = team_sum(total, parts, bits) / x.dtype.type(length)
    total = zero
    for k in range(KEPT):
        away = kept[k] - mean if np.uint32(lane + k * step) < length else zero
        total += away * away
    further = np.uint32(lane + KEPT * step)
    while further < length:
        part = zero
        for k in range(KEPT):
            i = np.uint32(further + k * step)
            away = x[np.uint32(first + i)] - mean if i < length else zero
            part += away * away
        total += part
        further = np.uint32(further + KEPT * step)
    return mean, team_sum(total, parts, bits)


@kernel(("moments",), "T[::1], T[::1], T[::1], uint32, uint32, uint32")
def moments_rows(x: Any, means: Any, variances: Any, rows: Any, length: Any, bits: Any) -> None:
    """Mean and variance of each row."""
    parts = cuda.shared.array(WARPS, x.dtype)
    kept = cuda.local.array(KEPT, x.dtype)
    row, there, lane = team_row(bits, rows)
    mean, squares = mean_and_squares(x, kept, parts, np.uint32(row * length), lane, length, bits)
    if there and lane == 0:
        means[row] = mean
        variances[row] = squares / x.dtype.type(length)


@kernel(("standardize", "normalize"), "T[::1], T[::1], T[::1], T[::1], T, uint32, uint32, uint32, uint32")
def standardize_rows(
    x: Any, scale: Any, offset: Any, made: Any, epsilon: Any, scaled: Any, rows: Any, length: Any, bits: Any
) -> None:
    """(x - mean) / √(variance + epsilon) of each row, times the scale and plus the offset where it is scaled."""
    parts = cuda.shared.array(WARPS, x.dtype)
    kept = cuda.local.array(KEPT, x.dtype)
    row, there, lane = team_row(bits, rows)
    first, step = np.uint32(row * length), np.uint32(1 << bits)
    mean, squares = mean_and_squares(x, kept, parts, first, lane, length, bits)
    root = x.dtype.type(1) / math.sqrt(squares / x.dtype.type(length) + epsilon)
    if there:
        for k in range(KEPT):
            i = np.uint32(lane + k * step)
            if i < length:
                value = (kept[k] - mean) * root
                made[np.uint32(first + i)] = value * scale[i] + offset[i] if scaled != 0 else value
        i = np.uint32(lane + KEPT * step)
        while i < length:
            value = (x[np.uint32(first + i)] - mean) * root
            made[np.uint32(first + i)] = value * scale[i] + offset[i] if scaled != 0 else value
            i = np.uint32(i + step)


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
    first, step, zero, count = np.uint32(row * length), np.uint32(1 << bits), x.dtype.type(0), x.dtype.type(length)
    for k in range(KEPT):
        i = np.uint32(lane + k * step)
        shares[k] = g[np.uint32(first + i)] if i < length else zero
    mean, squares = mean_and_squares(x, kept, parts, first, lane, length, bits)
    root = x.dtype.type(1) / math.sqrt(squares / count + epsilon)
    total, products = zero, zero
    for k in range(KEPT):
        i = np.uint32(lane + k * step)
        if scaled != 0 and i < length:
            shares[k] *= scale[i]
        total += shares[k]
        products += shares[k] * (kept[k] - mean) if i < length else zero
    i = np.uint32(lane + KEPT * step)
    while i < length:
        share = g[np.uint32(first + i)]
        share = share * scale[i] if scaled != 0 else share
        total += share
        products += share * (x[np.uint32(first + i)] - mean)
        i = np.uint32(i + step)
    level = team_sum(total, parts, bits) / count
    tilt = team_sum(products, parts, bits) / count * root
    if there:
        if scaled != 0 and lane == 0:
            facts[row] = mean
            facts[np.uint32(rows + row)] = root
        for k in range(KEPT):
            i = np.uint32(lane + k * step)
            if i < length:
                made[np.uint32(first + i)] = root * (shares[k] - level - (kept[k] - mean) * root * tilt)
        i = np.uint32(lane + KEPT * step)
        while i < length:
            share, away = g[np.uint32(first + i)], x[np.uint32(first + i)] - mean
            share = share * scale[i] if scaled != 0 else share
            made[np.uint32(first + i)] = root * (share - level - away * root * tilt)
            i = np.uint32(i + step)


def _sizes(rows: int, length: int) -> tuple[int, Any]:
    bits = team_bits(length)
    return team_blocks(rows, bits), tuple(map(np.uint32, (rows, length, bits)))


def moments_of_rows(x: DeviceArray, rows: int, length: int) -> tuple[DeviceArray, DeviceArray]:
    """Means and variances of rows of a flat array."""
    means, variances = empty(x, (rows,)), empty(x, (rows,))
    blocks, sizes = _sizes(rows, length)
    launch(moments_rows, blocks, TEAM, x, means, variances, *sizes)
    return means, variances


def rows_standardized(
    x: DeviceArray, scaling: tuple[DeviceArray, DeviceArray] | None, epsilon: float, rows: int, length: int
) -> DeviceArray:
    """Rows of a flat array brought to mean 0 and variance 1, then scaled if a scale and an offset are given."""
    made, (blocks, sizes) = empty(x, x.shape), _sizes(rows, length)
    small, scaled = x.dtype.type(epsilon), np.uint32(scaling is not None)
    launch(standardize_rows, blocks, TEAM, x, *(scaling or (x, x)), made, small, scaled, *sizes)
    return made


def slope_of_rows(
    g: DeviceArray, x: DeviceArray, scale: DeviceArray | None, epsilon: float, rows: int, length: int
) -> tuple[DeviceArray, DeviceArray]:
    """The share of the rows of x, and where there is a scale, means and roots of the rows, one after the other."""
    made, (blocks, sizes) = empty(x, x.shape), _sizes(rows, length)
    facts = made if scale is None else empty(x, (2 * rows,))
    small, scaled = x.dtype.type(epsilon), np.uint32(scale is not None)
    launch(slope_rows, blocks, TEAM, g, x, x if scale is None else scale, made, facts, small, scaled, *sizes)
    return made, facts
