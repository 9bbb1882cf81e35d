"""Cross entropy of rows with shares, and its slope: logits are read once, labels once for losses, twice for slopes.

Traffic for each float32 of logits: 8 bytes read for losses (logits and labels); 8 read and 4 written for slopes, whose
second reading of a label finds it in a cache.  Logits are kept in registers as in `softmax`, whose occupancy holds.
"""

from __future__ import annotations

from typing import Any

from autodiff_lab.kernels.cuda.array import DeviceArray
from autodiff_lab.kernels.cuda.launching import MOST, check_size, cuda, empty, flat, math
from autodiff_lab.kernels.cuda.row_sums import WARP, group_largest, group_sum, lowest
from autodiff_lab.kernels.cuda.rows import MOST_STEP, place, row_kernel
from autodiff_lab.kernels.cuda.softmax_pieces import at_once, normalizer, online, take


@row_kernel(("softmax_cross_entropy",), "T[::1], T[::1], T[::1]")
def share_losses(kept: int) -> Any:
    """Losses become Σ labels·(ln Σ e^(x - largest) - (x - largest))."""
    some = at_once(kept)

    def run(x: Any, labels: Any, losses: Any, rows: Any, length: Any, bits: Any, again: Any) -> None:
        parts = cuda.shared.array(WARP, x.dtype)
        held, few = cuda.local.array(kept, x.dtype), cuda.local.array(some, x.dtype)
        step = (1 << bits) & MOST_STEP
        row, i, count = place(rows, length, bits)
        top, total = online(x, few, i + kept * step, count - kept, step, lowest(x))
        best = group_largest(take(x, held, i, count, step, top), parts, bits)
        total *= math.exp(top - best)
        for k in range(kept):
            total += math.exp(held[k] - best)
        total = math.log(group_sum(total, parts, bits))
        step, loss = (1 << again) & MOST_STEP, x.dtype.type(0)
        for k in range(kept):
            if k < count:
                loss += labels[i] * (total - (held[k] - best))
            i += step
        for start in range(kept, count, some):
            i &= MOST
            for k in range(some):
                if start + k < count:
                    loss += labels[i] * (total - (x[i] - best))
                i += step
        loss = group_sum(loss, parts, bits)
        if row < rows and cuda.threadIdx.x & (step - 1) == 0:
            losses[row] = loss

    return run


@cuda.jit(device=True)
def _ask(x: Any, few: Any, i: Any, count: Any, step: Any) -> None:
    """Ask for elements from i on; zeros beyond the row."""
    i &= MOST
    for k in range(few.size):
        few[k] = x[i] if k < count else x.dtype.type(0)
        i += step


@row_kernel(("softmax_cross_entropy_slope",), "T[::1], T[::1], T[::1], T[::1]")
def share_slopes(kept: int) -> Any:
    """Rows of made become g·(softmax(x)·Σ labels - labels)."""
    some, quarter = at_once(kept), max(1, kept // 4)

    def run(x: Any, g: Any, labels: Any, made: Any, rows: Any, length: Any, bits: Any, again: Any) -> None:
        parts = cuda.shared.array(WARP, x.dtype)
        held, many = cuda.local.array(kept, x.dtype), cuda.local.array(some, x.dtype)
        few, more = cuda.local.array(quarter, x.dtype), cuda.local.array(quarter, x.dtype)
        step = (1 << bits) & MOST_STEP
        row, i, count = place(rows, length, bits)
        whole = x.dtype.type(0)
        for start in range(0, count, some):
            _ask(labels, many, i + start * step, count - start, step)
            for k in range(some):
                whole += many[k]
        whole = group_sum(whole, parts, bits)
        best, total = normalizer(x, held, many, i, count, step, parts, bits)
        scale, step = whole / total, (1 << again) & MOST_STEP
        share = g[row] if row < rows else scale
        for start in range(0, kept, quarter):
            _ask(labels, few, i, count - start, step)
            for k in range(quarter):
                if start + k < count:
                    made[i & MOST] = (held[start + k] * scale - few[k]) * share
                i += step
        for start in range(kept, count, quarter):
            _ask(x, more, i, count - start, step)
            _ask(labels, few, i, count - start, step)
            for k in range(quarter):
                if start + k < count:
                    made[i & MOST] = (math.exp(more[k] - best) * scale - few[k]) * share
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
