"""Softmax and its logarithm along an axis: a group of threads for each row, which is read once.

Traffic: 4 bytes read and 4 written for each float32.  A thread keeps its elements of a row in registers (`rows.KEPT`),
so that memory sees each once: rows of up to 20,480 float32 or 8,192 float64.  What a longer row has beyond is read
twice, the second time from the second-level cache: first by an online softmax, which finds the largest element and the
sum of exponentials in one pass, the sum scaled down whenever a larger element comes (Milakov and Gimelshein, *Online
normalizer calculation for softmax*, 2018).

Occupancy: short rows take 40 to 60 registers, so that 1024 to 1536 threads share a multiprocessor; long ones 128
registers and 512 threads, one block, whose threads ask for all they keep before they need the first of it: 82 kB on the
way at a time.  What limits is memory.  One division a row, one exponential an element.
"""

from __future__ import annotations

from typing import Any

from autodiff_lab.kernels.cuda.array import DeviceArray
from autodiff_lab.kernels.cuda.launching import MOST, check_size, cuda, empty, math
from autodiff_lab.kernels.cuda.row_sums import WARP, group_largest, group_sum, lowest
from autodiff_lab.kernels.cuda.rows import MOST_STEP, RowKernel, as_rows, from_rows, place, row_kernel
from autodiff_lab.kernels.cuda.softmax_pieces import at_once, normalizer, online, shares, take

FEW_ROWS, LONG_ROW = 16, 2**18
"""So few rows of such length are left to CuPy: a block a row would leave most of the GPU idle."""


@row_kernel(("softmax",), "T[::1], T[::1]")
def softmax_rows(kept: int) -> Any:
    """Rows of y become e^(x - largest) over their sum."""
    some = at_once(kept)

    def run(x: Any, y: Any, rows: Any, length: Any, bits: Any, again: Any) -> None:
        parts = cuda.shared.array(WARP, x.dtype)
        held, few = cuda.local.array(kept, x.dtype), cuda.local.array(some, x.dtype)
        step = (1 << bits) & MOST_STEP
        _, first, count = place(rows, length, bits)
        best, total = normalizer(x, held, few, first, count, step, parts, bits)
        shares(x, held, few, y, first, count, (1 << again) & MOST_STEP, best, x.dtype.type(1) / total)

    return run


@row_kernel(("log_softmax",), "T[::1], T[::1]")
def log_softmax_rows(kept: int) -> Any:
    """Rows of y become x - largest less the logarithm of the sum of e^(x - largest)."""
    some = at_once(kept)

    def run(x: Any, y: Any, rows: Any, length: Any, bits: Any, again: Any) -> None:
        parts = cuda.shared.array(WARP, x.dtype)
        held, few = cuda.local.array(kept, x.dtype), cuda.local.array(some, x.dtype)
        step = (1 << bits) & MOST_STEP
        _, i, count = place(rows, length, bits)
        top, total = online(x, few, i + kept * step, count - kept, step, lowest(x))
        best = group_largest(take(x, held, i, count, step, top), parts, bits)
        total *= math.exp(top - best)
        for k in range(kept):
            total += math.exp(held[k] - best)
        less = math.log(group_sum(total, parts, bits))
        step = (1 << again) & MOST_STEP
        for k in range(kept):
            if k < count:
                y[i] = held[k] - best - less
            i += step
        for start in range(kept, count, some):
            i &= MOST
            for k in range(some):
                few[k] = x[i + k * step] if start + k < count else best
            for k in range(some):
                if start + k < count:
                    y[i] = few[k] - best - less
                i += step

    return run


def _rows_of(op: str, array: DeviceArray, axis: int, like: DeviceArray | None = None) -> Any:
    """The elements with the axis last, the number of rows and their length; None for what is not done here."""
    if array.dtype.char not in "fd" or (like is not None and (like.dtype, like.shape) != (array.dtype, array.shape)):
        return None
    check_size(op, array.shape)
    length = array.shape[axis]
    if not length or (length > LONG_ROW and array.size < FEW_ROWS * length):
        return None
    return as_rows(array, axis)


def along(op: str, kernel: RowKernel, x: DeviceArray, axis: int, y: DeviceArray | None = None) -> Any:
    """Run a kernel over the rows along an axis of one array or two."""
    seen = _rows_of(op, x, axis, y)
    if seen is None:
        return NotImplemented
    flat, rows, length = seen
    made = empty(x, flat.shape)
    others = () if y is None else (as_rows(y, axis)[0],)
    kernel.launch(x, rows, length, flat, *others, made)
    return from_rows(made, x.shape, axis)


def softmax(x: DeviceArray, axis: int) -> Any:
    """e^x over its sum, as `reference.softmax.softmax`."""
    return along("softmax", softmax_rows, x, axis)


def log_softmax(x: DeviceArray, axis: int) -> Any:
    """X less ln Σ e^x, as `reference.softmax.log_softmax`."""
    return along("log_softmax", log_softmax_rows, x, axis)
