"""Slopes of softmax and of its logarithm: a sum over each row, then the row once more.

Traffic: 8 bytes read and 4 written for each float32; a thread keeps its elements of both arrays in registers where the
row is no longer than 10,240 float32 (4,096 float64), else the rest comes from the second-level cache the second time.
Occupancy: as in `softmax`; memory limits.
"""

from __future__ import annotations

from typing import Any

from autodiff_lab.kernels.cuda.array import DeviceArray
from autodiff_lab.kernels.cuda.launching import MOST, cuda, math
from autodiff_lab.kernels.cuda.row_sums import WARP, group_sum
from autodiff_lab.kernels.cuda.rows import MOST_STEP, place, row_kernel
from autodiff_lab.kernels.cuda.softmax import along


@cuda.jit(device=True)
def _both(g: Any, y: Any, slopes: Any, results: Any, i: Any, count: Any, step: Any) -> None:
    """Keep elements of both arrays from i on; zeros beyond the row."""
    i &= MOST
    for k in range(slopes.size):
        slopes[k] = g[i] if k < count else g.dtype.type(0)
        results[k] = y[i] if k < count else g.dtype.type(0)
        i += step


@cuda.jit(device=True)
def _product(g: Any, y: Any) -> Any:
    return g * y


@cuda.jit(device=True)
def _slope(g: Any, y: Any, total: Any) -> Any:
    return (g - total) * y


@cuda.jit(device=True)
def _first(g: Any, y: Any) -> Any:
    return g


@cuda.jit(device=True)
def _log_slope(g: Any, y: Any, total: Any) -> Any:
    return g - total * math.exp(y)


def _slopes(kept: int, term: Any, slope: Any) -> Any:
    """A kernel in which a row becomes slope(g, y, Σ term(g, y)); what cannot be kept comes first, as in `softmax`."""
    half = kept // 2

    def run(g: Any, y: Any, made: Any, rows: Any, length: Any, bits: Any, again: Any) -> None:
        parts = cuda.shared.array(WARP, g.dtype)
        slopes, results = cuda.local.array(half, g.dtype), cuda.local.array(half, g.dtype)
        step = (1 << bits) & MOST_STEP
        _, first, count = place(rows, length, bits)
        total = g.dtype.type(0)
        for start in range(half, count, half):
            _both(g, y, slopes, results, first + start * step, count - start, step)
            for k in range(half):
                total += term(slopes[k], results[k])
        _both(g, y, slopes, results, first, count, step)
        for k in range(half):
            total += term(slopes[k], results[k])
        total = group_sum(total, parts, bits)
        i, step = first, (1 << again) & MOST_STEP
        for k in range(half):
            if k < count:
                made[i] = slope(slopes[k], results[k], total)
            i += step
        for start in range(half, count, half):
            _both(g, y, slopes, results, first + start * step, count - start, step)
            for k in range(half):
                if start + k < count:
                    made[i & MOST] = slope(slopes[k], results[k], total)
                i += step

    return run


@row_kernel(("softmax_slope",), "T[::1], T[::1], T[::1]")
def softmax_slope_rows(kept: int) -> Any:
    """Rows of made become (g - Σ g·y)·y."""
    return _slopes(kept, _product, _slope)


@row_kernel(("log_softmax_slope",), "T[::1], T[::1], T[::1]")
def log_softmax_slope_rows(kept: int) -> Any:
    """Rows of made become g - e^y·Σ g."""
    return _slopes(kept, _first, _log_slope)


def softmax_slope(g: DeviceArray, y: DeviceArray, axis: int) -> Any:
    """(g - Σ g·y)·y, as `reference.softmax.softmax_slope`."""
    return along("softmax_slope", softmax_slope_rows, g, axis, y)


def log_softmax_slope(g: DeviceArray, y: DeviceArray, axis: int) -> Any:
    """G - e^y·Σ g, as `reference.softmax.log_softmax_slope`."""
    return along("log_softmax_slope", log_softmax_slope_rows, g, axis, y)
