"""Cross entropy of rows with shares, and its slope: logits are read once, labels once for losses, twice for slopes.

Traffic for each float32 of logits: 8 bytes read for losses (logits and labels); 8 read and 4 written for slopes, whose
second reading of a label finds it in a cache.  Logits are kept in registers as in `softmax`, whose occupancy holds.
"""

from __future__ import annotations

from typing import Any

from autodiff_lab.kernels.cuda.array import DeviceArray
from autodiff_lab.kernels.cuda.launching import MOST, check_size, cuda, empty, flat, math
from autodiff_lab.kernels.cuda.rows import MOST_STEP, WARP, group_largest, group_sum, place, row_kernel
from autodiff_lab.kernels.cuda.softmax import AHEAD, normalizer, online, take


@row_kernel(("softmax_cross_entropy",), "T[::1], T[::1], T[::1]")
def share_losses(kept: int) -> Any:
    """Losses become Σ labels·(ln Σ e^(x - largest) - (x - largest))."""

    def run(x: Any, labels: Any, losses: Any, rows: Any, length: Any, bits: Any, again: Any) -> None:
        parts = cuda.shared.array(WARP, x.dtype)
        held, few = cuda.local.array(kept, x.dtype), cuda.local.array(AHEAD, x.dtype)
        step = (1 << bits) & MOST_STEP
        row, first, count = place(rows, length, bits)
        top = take(x, held, first, count, step)
        top, total = online(x, few, first + kept * step, count - kept, step, top)
        best = group_largest(top, parts, bits)
        total *= math.exp(top - best)
        for k in range(kept):
            total += math.exp(held[k] - best)
        total = math.log(group_sum(total, parts, bits))
        i, step, loss = first, (1 << again) & MOST_STEP, x.dtype.type(0)
        for k in range(kept):
            if k < count:
                loss += labels[i] * (total - (held[k] - best))
            i += step
        for _ in range(kept, count):
            loss += labels[i & MOST] * (total - (x[i & MOST] - best))
            i += step
        loss = group_sum(loss, parts, bits)
        if row < rows and cuda.threadIdx.x & (step - 1) == 0:
            losses[row] = loss

    return run


@cuda.jit(device=True)
def _sum_of(x: Any, i: Any, count: Any, step: Any) -> Any:
    """The sum of elements from i on."""
    few = cuda.local.array(AHEAD, x.dtype)
    total = x.dtype.type(0)
    while count > 0:
        i &= MOST
        for k in range(AHEAD):
            few[k] = x[i] if k < count else x.dtype.type(0)
            i += step
        for k in range(AHEAD):
            total += few[k]
        count -= AHEAD
    return total


@row_kernel(("softmax_cross_entropy_slope",), "T[::1], T[::1], T[::1], T[::1]")
def share_slopes(kept: int) -> Any:
    """Rows of made become g·(softmax(x)·Σ labels - labels)."""

    def run(x: Any, g: Any, labels: Any, made: Any, rows: Any, length: Any, bits: Any, again: Any) -> None:
        parts = cuda.shared.array(WARP, x.dtype)
        held = cuda.local.array(kept, x.dtype)
        step = (1 << bits) & MOST_STEP
        row, first, count = place(rows, length, bits)
        best, total = normalizer(x, held, first, count, step, parts, bits)
        scale = group_sum(_sum_of(labels, first, count, step), parts, bits) / total
        share = g[row] if row < rows else scale
        i, step = first, (1 << again) & MOST_STEP
        for k in range(kept):
            if k < count:
                made[i] = (held[k] * scale - labels[i]) * share
            i += step
        for _ in range(kept, count):
            at = i & MOST
            made[at] = (math.exp(x[at] - best) * scale - labels[at]) * share
            i += step

    return run


def _fits(logits: DeviceArray, labels: Any, g: Any = None) -> bool:
    """Whether shapes and dtypes are those of plain rows."""
    if logits.dtype.char not in "fd" or not logits.ndim or not logits.shape[-1]:
        return False
    if labels.__class__ is not DeviceArray or (labels.dtype, labels.shape) != (logits.dtype, logits.shape):
        return False
    if g is None:
        return True
    return g.__class__ is DeviceArray and (g.dtype, g.shape) == (logits.dtype, logits.shape[:-1])


def softmax_cross_entropy(logits: DeviceArray, labels: DeviceArray) -> Any:
    """-Σ labels · ln softmax(logits) of each row, as `reference.cross_entropy.softmax_cross_entropy`."""
    if not _fits(logits, labels):
        return NotImplemented
    check_size("softmax_cross_entropy", logits.shape)
    length = logits.shape[-1]
    losses = empty(logits, (logits.size // length,))
    share_losses.launch(logits, losses.size, length, flat(logits), flat(labels), losses)
    return losses.reshape(logits.shape[:-1])


def softmax_cross_entropy_slope(g: DeviceArray, logits: DeviceArray, labels: DeviceArray) -> Any:
    """G · (softmax(logits) · Σ labels - labels), as `reference.cross_entropy.softmax_cross_entropy_slope`."""
    if not _fits(logits, labels, g):
        return NotImplemented
    check_size("softmax_cross_entropy_slope", logits.shape)
    made = empty(logits, (logits.size,))
    share_slopes.launch(logits, g.size, logits.shape[-1], flat(logits), flat(g), flat(labels), made)
    return made.reshape(logits.shape)
