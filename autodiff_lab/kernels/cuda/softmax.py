"""Softmax along an axis and its slope: a block for each row.

Traffic: a row is read three times (largest, sum, result) and written once.  Up to about 100 kB a row of the block stays
in the second-level cache, so that memory sees one read and one write: 8 bytes an element.  Occupancy: 256 threads and
1 kB of shared memory a block, at most 32 registers a thread: 8 blocks fill a multiprocessor.
"""

from __future__ import annotations

from typing import Any

from autodiff_lab.kernels.cuda.array import DeviceArray
from autodiff_lab.kernels.cuda.launching import THREADS, check_size, cuda, empty, kernel, launch, math
from autodiff_lab.kernels.cuda.rows import add_up, as_rows, from_rows, largest


@kernel(("softmax",), "T[::1], T[::1], int32")
def softmax_rows(x: Any, y: Any, length: Any) -> None:
    """Row blockIdx.x of x becomes e^(x - max) over its sum in y."""
    parts = cuda.shared.array(THREADS, x.dtype)
    lane = cuda.threadIdx.x
    first = cuda.blockIdx.x * length
    best = x[first]
    i = lane
    while i < length:
        if x[first + i] > best or math.isnan(x[first + i]):
            best = x[first + i]
        i += THREADS
    parts[lane] = best
    best = largest(parts, lane)
    total = x.dtype.type(0)
    i = lane
    while i < length:
        total += math.exp(x[first + i] - best)
        i += THREADS
    parts[lane] = total
    total = add_up(parts, lane)
    i = lane
    while i < length:
        y[first + i] = math.exp(x[first + i] - best) / total
        i += THREADS


@kernel(("softmax_slope",), "T[::1], T[::1], T[::1], int32")
def softmax_slope_rows(g: Any, y: Any, made: Any, length: Any) -> None:
    """Row blockIdx.x of made becomes (g - Σ g·y)·y."""
    parts = cuda.shared.array(THREADS, g.dtype)
    lane = cuda.threadIdx.x
    first = cuda.blockIdx.x * length
    total = g.dtype.type(0)
    i = lane
    while i < length:
        total += g[first + i] * y[first + i]
        i += THREADS
    parts[lane] = total
    total = add_up(parts, lane)
    i = lane
    while i < length:
        made[first + i] = (g[first + i] - total) * y[first + i]
        i += THREADS


def softmax(x: DeviceArray, axis: int) -> Any:
    """e^x over its sum, as `reference.softmax.softmax`."""
    if x.dtype.char not in "fd":
        return NotImplemented
    check_size("softmax", x.shape)
    flat, rows, length = as_rows(x, axis)
    made = empty(x, flat.shape)
    launch(softmax_rows, rows, THREADS, flat, made, length)
    return from_rows(made, x.shape, axis)


def softmax_slope(g: DeviceArray, y: DeviceArray, axis: int) -> Any:
    """(g - Σ g·y)·y, as `reference.softmax.softmax_slope`."""
    if g.dtype.char not in "fd" or g.shape != y.shape:
        return NotImplemented
    check_size("softmax_slope", g.shape)
    flat, rows, length = as_rows(g, axis)
    made = empty(g, flat.shape)
    launch(softmax_slope_rows, rows, THREADS, flat, as_rows(y, axis)[0], made, length)
    return from_rows(made, g.shape, axis)
