"""Softmax and its logarithm along an axis, and their gradients: a group of threads for each row.

Traffic for each float32: 4 bytes read and 4 written, 8 and 4 for the gradients.  A thread keeps its elements of a row
in registers, so that memory sees rows of up to 4,096 elements once.  What a longer row has beyond is read twice, the
second time from the second-level cache: first by an online softmax, which finds the largest element and the sum of
exponentials in one pass, the sum scaled down whenever a larger element comes (Milakov and Gimelshein, *Online
normalizer calculation for softmax*, 2018).  Memory limits: there is one division a row, one exponential an element.
"""

from __future__ import annotations

from typing import Any

from autodiff_lab.kernels.cuda.array import DeviceArray
from autodiff_lab.kernels.cuda.groups import (
    KEPT,
    MOST_STEP,
    WARP,
    RowKernel,
    as_rows,
    from_rows,
    group_sum,
    place,
    row_kernel,
)
from autodiff_lab.kernels.cuda.launching import MOST, check_size, cuda, empty, math
from autodiff_lab.kernels.maths.cuda_folds import multiply
from autodiff_lab.kernels.softmax.cuda_cross_entropy import (
    softmax_cross_entropy,
    softmax_cross_entropy_grad,
    sparse_softmax_cross_entropy,
    sparse_softmax_cross_entropy_and_grad,
    sparse_softmax_cross_entropy_grad,
)
from autodiff_lab.kernels.softmax.cuda_pieces import log_normalizer, normalizer, write_scaled

__all__ = [
    "log_softmax",
    "log_softmax_grad",
    "softmax",
    "softmax_cross_entropy",
    "softmax_cross_entropy_grad",
    "softmax_grad",
    "sparse_softmax_cross_entropy",
    "sparse_softmax_cross_entropy_and_grad",
    "sparse_softmax_cross_entropy_grad",
]

FEW_ROWS, LONG_ROW = 16, 2**18
"""So few rows of such length are left to CuPy: a block a row would leave most of the GPU idle."""


@row_kernel(("softmax",), "T[::1], T[::1]")
def softmax_rows(x: Any, y: Any, rows: Any, length: Any, bits: Any, again: Any) -> None:
    """Rows of y become e^(x - largest) over their sum."""
    parts = cuda.shared.array(WARP, x.dtype)
    held, few = cuda.local.array(KEPT, x.dtype), cuda.local.array(KEPT, x.dtype)
    step = (1 << bits) & MOST_STEP
    _, first, count = place(rows, length, bits)
    best, total = normalizer(x, held, few, first, count, step, parts, bits)
    write_scaled(x, held, few, y, first, count, (1 << again) & MOST_STEP, best, x.dtype.type(1) / total)


@row_kernel(("log_softmax",), "T[::1], T[::1]")
def log_softmax_rows(x: Any, y: Any, rows: Any, length: Any, bits: Any, again: Any) -> None:
    """Rows of y become x - largest less the logarithm of the sum of e^(x - largest)."""
    parts = cuda.shared.array(WARP, x.dtype)
    held, few = cuda.local.array(KEPT, x.dtype), cuda.local.array(KEPT, x.dtype)
    step = (1 << bits) & MOST_STEP
    _, i, count = place(rows, length, bits)
    best, less = log_normalizer(x, held, few, i, count, step, parts, bits)
    step = (1 << again) & MOST_STEP
    for k in range(KEPT):
        if k < count:
            y[i] = held[k] - best - less
        i += step
    for start in range(KEPT, count, KEPT):
        i &= MOST
        for k in range(KEPT):
            few[k] = x[i + k * step] if start + k < count else best
        for k in range(KEPT):
            if start + k < count:
                y[i] = few[k] - best - less
            i += step


def along(op: str, kernel: RowKernel, x: DeviceArray, axis: int, y: DeviceArray | None = None) -> Any:
    """Run a kernel over the rows along an axis of one array or two."""
    if x.dtype.char not in "fd" or (y is not None and (y.dtype, y.shape) != (x.dtype, x.shape)):
        return NotImplemented
    check_size(op, x.shape)
    length = x.shape[axis]
    if not length or (length > LONG_ROW and x.size < FEW_ROWS * length):
        return NotImplemented
    flat, rows, _ = as_rows(x, axis)
    made = empty(x, flat.shape)
    others = () if y is None else (as_rows(y, axis)[0],)
    kernel.launch(rows, length, flat, *others, made)
    return from_rows(made, x.shape, axis)


def softmax(x: DeviceArray, axis: int) -> Any:
    """Return e^x over its sum, as `reference.softmax`."""
    return along("softmax", softmax_rows, x, axis)


def log_softmax(x: DeviceArray, axis: int) -> Any:
    """Return x - ln Σ e^x, as `reference.log_softmax`."""
    return along("log_softmax", log_softmax_rows, x, axis)


@cuda.jit(device=True)
def _both(g: Any, y: Any, given: Any, results: Any, i: Any, count: Any, step: Any) -> None:
    """Keep elements of both arrays from i on; zeros beyond the row."""
    i &= MOST
    for k in range(given.size):
        given[k] = g[i] if k < count else g.dtype.type(0)
        results[k] = y[i] if k < count else g.dtype.type(0)
        i += step


@cuda.jit(device=True)
def _softmax_grad(g: Any, y: Any, total: Any) -> Any:
    return (g - total) * y


@cuda.jit(device=True)
def _first(g: Any, y: Any) -> Any:
    return g


@cuda.jit(device=True)
def _log_grad(g: Any, y: Any, total: Any) -> Any:
    return g - total * math.exp(y)


def _grads(name: str, doc: str, term: Any, grad: Any) -> RowKernel:
    """A kernel in which a row becomes grad(g, y, Σ term(g, y)); what cannot be kept comes first, as in `softmax`."""
    half = KEPT // 2

    def run(g: Any, y: Any, made: Any, rows: Any, length: Any, bits: Any, again: Any) -> None:
        parts = cuda.shared.array(WARP, g.dtype)
        given, results = cuda.local.array(half, g.dtype), cuda.local.array(half, g.dtype)
        step = (1 << bits) & MOST_STEP
        _, first, count = place(rows, length, bits)
        total = g.dtype.type(0)
        for start in range(half, count, half):
            _both(g, y, given, results, first + start * step, count - start, step)
            for k in range(half):
                total += term(given[k], results[k])
        _both(g, y, given, results, first, count, step)
        for k in range(half):
            total += term(given[k], results[k])
        total = group_sum(total, parts, bits)
        i, step = first, (1 << again) & MOST_STEP
        for k in range(half):
            if k < count:
                made[i] = grad(given[k], results[k], total)
            i += step
        for start in range(half, count, half):
            _both(g, y, given, results, first + start * step, count - start, step)
            for k in range(half):
                if start + k < count:
                    made[i & MOST] = grad(given[k], results[k], total)
                i += step

    run.__name__, run.__doc__ = f"{name}_rows", doc
    return row_kernel((name,), "T[::1], T[::1], T[::1]")(run)


softmax_grad_rows = _grads("softmax_grad", "Rows of made become (g - Σ g·y)·y.", multiply, _softmax_grad)
log_softmax_grad_rows = _grads("log_softmax_grad", "Rows of made become g - e^y·Σ g.", _first, _log_grad)


def softmax_grad(g: DeviceArray, y: DeviceArray, axis: int) -> Any:
    """Return (g - Σ g·y)·y, as `reference.softmax_grad`."""
    return along("softmax_grad", softmax_grad_rows, g, axis, y)


def log_softmax_grad(g: DeviceArray, y: DeviceArray, axis: int) -> Any:
    """Return g - e^y·Σ g, as `reference.log_softmax_grad`."""
    return along("log_softmax_grad", log_softmax_grad_rows, g, axis, y)
