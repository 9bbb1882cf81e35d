"""Cross entropy of rows with class numbers or with distributions, and its gradients.

Losses read the logits once, gradients read and write once.  Traffic for each float32 of logits: with class numbers 4
bytes read for losses; 4 read and 4 written for gradients, which take the exponentials again, as reading them from
memory would cost more, and for both at once, which is what a compiled program asks for (`compile.pairs`); distributions
are read besides, once for losses and twice for gradients.  Rows are read as in `softmax.cuda`.

A class number that is not one makes its loss nan, and its row of the gradient; no other row.  To raise as the CPU does
would mean to wait for the GPU at each step: the error comes when a result is next read.
"""

from __future__ import annotations

from typing import Any

from autodiff_lab.errors import InvalidArgumentError
from autodiff_lab.kernels.cuda.array import DeviceArray
from autodiff_lab.kernels.cuda.groups import KEPT, MOST_STEP, WARP, group_largest, group_sum, lowest, place, row_kernel
from autodiff_lab.kernels.cuda.launching import MOST, check_size, cuda, empty, flat, math
from autodiff_lab.kernels.cuda.promises import promise
from autodiff_lab.kernels.softmax.cuda_pieces import inf, log_normalizer, normalizer, online, write_scaled

_LOSS = ("sparse_softmax_cross_entropy",)
_GRAD = ("sparse_softmax_cross_entropy_grad", "sparse_softmax_cross_entropy_and_grad")


@row_kernel(_LOSS, *[f"T[::1], {whole}[::1], T[::1], boolean[::1]" for whole in ("int32", "int64")])
def class_losses(x: Any, labels: Any, losses: Any, right: Any, rows: Any, length: Any, bits: Any, _: Any) -> None:
    """Losses become ln Σ e^(x - largest) less x - largest at the label; for a label that is not a class nan."""
    parts = cuda.shared.array(WARP, x.dtype)
    few = cuda.local.array(KEPT, x.dtype)
    step = (1 << bits) & MOST_STEP
    row, first, count = place(rows, length, bits)
    top, total = online(x, few, first, count, step, lowest(x))
    best = group_largest(top, parts, bits)
    total = group_sum(total * math.exp(top - best), parts, bits)
    if row < rows and cuda.threadIdx.x & (step - 1) == 0:
        losses[row] = loss_of(x, labels[row], first, length, best, total, right)


@cuda.jit(device=True)
def loss_of(x: Any, label: Any, start: Any, length: Any, best: Any, total: Any, right: Any) -> Any:
    """The loss of a row that starts at `start`; nan, and `right` false, where the label is not a class."""
    if 0 <= label < length:
        return math.log(total) - (x[start + (label & MOST)] - best)
    right[0] = False
    return x.dtype.type(inf) - x.dtype.type(inf)


@row_kernel(_GRAD, *[f"T[::1], T[::1], {whole}[::1], T[::1], T[::1], boolean[::1]" for whole in ("int32", "int64")])
def class_grads(
    x: Any, g: Any, labels: Any, losses: Any, made: Any, right: Any, rows: Any, length: Any, bits: Any, again: Any
) -> None:
    """Rows of made become g·(softmax(x), less 1 at the label), and losses become the losses."""
    parts = cuda.shared.array(WARP, x.dtype)
    held, few = cuda.local.array(KEPT, x.dtype), cuda.local.array(KEPT, x.dtype)
    lanes = (1 << bits) & MOST_STEP
    row, first, count = place(rows, length, bits)
    best, total = normalizer(x, held, few, first, count, lanes, parts, bits)
    lane = cuda.threadIdx.x & (lanes - 1) & 1023
    label, factor = -1, x.dtype.type(0)
    if row < rows:
        label, factor = labels[row], g[row]
        if lane == 0:
            losses[row] = loss_of(x, label, first, length, best, total, right)
    if label < 0 or label >= length:
        factor = x.dtype.type(inf) - x.dtype.type(inf)
    write_scaled(x, held, few, made, first, count, (1 << again) & MOST_STEP, best, factor / total)
    if 0 <= label < length and label & (lanes - 1) == lane:  # this thread wrote the label's element
        at = first - lane + (label & MOST)
        made[at] = (math.exp(x[at] - best) / total - x.dtype.type(1)) * factor


def _whole(labels: DeviceArray) -> DeviceArray:
    """Labels as int32 or int64, in a row."""
    if labels.dtype.char in "il" and labels.dtype.itemsize in (4, 8):
        return flat(labels)
    return flat(labels.astype("int64"))


def _fits(logits: DeviceArray, labels: DeviceArray, g: Any = None) -> bool:
    """Return whether shapes and dtypes are those of plain rows."""
    if logits.dtype.char not in "fd" or not logits.ndim or not logits.shape[-1] or labels.dtype.kind not in "iu":
        return False
    rows = (labels,) if g is None else (labels, g)
    if any(a.__class__ is not DeviceArray or a.shape != logits.shape[:-1] for a in rows):
        return False
    return g is None or g.dtype == logits.dtype


def _no_wrong_label_yet(logits: DeviceArray) -> DeviceArray:
    """Return a bool on the GPU, which becomes false when a kernel meets a label that is not a class."""
    right = empty(logits, (1,), "bool")
    right.raw.fill(True)
    return right


def _promise(right: DeviceArray, count: int) -> None:
    what = f"sparse_softmax_cross_entropy_with_logits: a label is not in [0, {count})"
    promise(right.reshape(()), lambda: InvalidArgumentError(what))


def sparse_softmax_cross_entropy(logits: DeviceArray, labels: DeviceArray) -> Any:
    """Return minus the logarithm of the probability of each row's class, as `reference.sparse_softmax_cross_entropy`.

    A label that is not a class makes its loss nan, and is an `InvalidArgumentError` when a result is next read.
    """
    if not _fits(logits, labels):
        return NotImplemented
    check_size("sparse_softmax_cross_entropy", logits.shape)
    right, losses = _no_wrong_label_yet(logits), empty(logits, (labels.size,))
    class_losses.launch(labels.size, logits.shape[-1], flat(logits), _whole(labels), losses, right)
    _promise(right, logits.shape[-1])
    return losses.reshape(labels.shape)


def sparse_softmax_cross_entropy_and_grad(g: DeviceArray, logits: DeviceArray, labels: DeviceArray) -> Any:
    """Return the losses, and g·softmax(logits) minus g at the class, from the same exponentials.

    A label that is not a class makes its loss and its row nan, and is an `InvalidArgumentError` when a result is next
    read.
    """
    if not _fits(logits, labels, g):
        return NotImplemented
    check_size("sparse_softmax_cross_entropy_grad", logits.shape)
    right = _no_wrong_label_yet(logits)
    losses, made = empty(logits, (labels.size,)), empty(logits, (logits.size,))
    rows, length = labels.size, logits.shape[-1]
    class_grads.launch(rows, length, flat(logits), flat(g), _whole(labels), losses, made, right)
    _promise(right, length)
    return losses.reshape(labels.shape), made.reshape(logits.shape)


def sparse_softmax_cross_entropy_grad(g: DeviceArray, logits: DeviceArray, labels: DeviceArray) -> Any:
    """Return g · softmax(logits), minus g at the class; the losses computed with it cost one number a row."""
    both = sparse_softmax_cross_entropy_and_grad(g, logits, labels)
    return both if both is NotImplemented else both[1]


@row_kernel(("softmax_cross_entropy",), "T[::1], T[::1], T[::1]")
def distribution_losses(x: Any, labels: Any, losses: Any, rows: Any, length: Any, bits: Any, again: Any) -> None:
    """Losses become Σ labels·(ln Σ e^(x - largest) - (x - largest))."""
    parts = cuda.shared.array(WARP, x.dtype)
    held, few = cuda.local.array(KEPT, x.dtype), cuda.local.array(KEPT, x.dtype)
    step = (1 << bits) & MOST_STEP
    row, i, count = place(rows, length, bits)
    best, total = log_normalizer(x, held, few, i, count, step, parts, bits)
    step, loss = (1 << again) & MOST_STEP, x.dtype.type(0)
    for k in range(KEPT):
        if k < count:
            loss += labels[i] * (total - (held[k] - best))
        i += step
    for start in range(KEPT, count, KEPT):
        i &= MOST
        for k in range(KEPT):
            if start + k < count:
                loss += labels[i] * (total - (x[i] - best))
            i += step
    loss = group_sum(loss, parts, bits)
    if row < rows and cuda.threadIdx.x & (step - 1) == 0:
        losses[row] = loss


@cuda.jit(device=True)
def _ask(x: Any, few: Any, i: Any, count: Any, step: Any) -> None:
    """Ask for elements from i on; zeros beyond the row."""
    i &= MOST
    for k in range(few.size):
        few[k] = x[i] if k < count else x.dtype.type(0)
        i += step


@row_kernel(("softmax_cross_entropy_grad",), "T[::1], T[::1], T[::1], T[::1]")
def distribution_grads(x: Any, g: Any, labels: Any, made: Any, rows: Any, length: Any, bits: Any, again: Any) -> None:
    """Rows of made become g·(softmax(x)·Σ labels - labels)."""
    parts = cuda.shared.array(WARP, x.dtype)
    held, few = cuda.local.array(KEPT, x.dtype), cuda.local.array(KEPT, x.dtype)
    step = (1 << bits) & MOST_STEP
    row, i, count = place(rows, length, bits)
    whole = x.dtype.type(0)
    for start in range(0, count, KEPT):
        _ask(labels, few, i + start * step, count - start, step)
        for k in range(KEPT):
            whole += few[k]
    whole = group_sum(whole, parts, bits)
    best, total = normalizer(x, held, few, i, count, step, parts, bits)
    scale, step = whole / total, (1 << again) & MOST_STEP
    factor = g[row] if row < rows else scale
    _ask(labels, few, i, count, step)
    for k in range(KEPT):
        if k < count:
            made[i & MOST] = (held[k] * scale - few[k]) * factor
        i += step
    for start in range(KEPT, count, KEPT):
        _ask(x, held, i, count - start, step)
        _ask(labels, few, i, count - start, step)
        for k in range(KEPT):
            if start + k < count:
                made[i & MOST] = (math.exp(held[k] - best) * scale - few[k]) * factor
            i += step


def _fits_distributions(logits: DeviceArray, labels: Any, g: Any = None) -> bool:
    """Return whether shapes and dtypes are those of plain rows."""
    if logits.dtype.char not in "fd" or not logits.ndim or not logits.shape[-1]:
        return False
    if labels.__class__ is not DeviceArray or (labels.dtype, labels.shape) != (logits.dtype, logits.shape):
        return False
    return g is None or (g.__class__ is DeviceArray and (g.dtype, g.shape) == (logits.dtype, logits.shape[:-1]))


def softmax_cross_entropy(logits: DeviceArray, labels: DeviceArray) -> Any:
    """Return -Σ labels · ln softmax(logits) for each row, as `reference.softmax_cross_entropy`."""
    if not _fits_distributions(logits, labels):
        return NotImplemented
    check_size("softmax_cross_entropy", logits.shape)
    length = logits.shape[-1]
    losses = empty(logits, (logits.size // length,))
    distribution_losses.launch(losses.size, length, flat(logits), flat(labels), losses)
    return losses.reshape(logits.shape[:-1])


def softmax_cross_entropy_grad(g: DeviceArray, logits: DeviceArray, labels: DeviceArray) -> Any:
    """Return g · (softmax(logits) · Σ labels - labels), as `reference.softmax_cross_entropy_grad`."""
    if not _fits_distributions(logits, labels, g):
        return NotImplemented
    check_size("softmax_cross_entropy_grad", logits.shape)
    made = empty(logits, (logits.size,))
    distribution_grads.launch(g.size, logits.shape[-1], flat(logits), flat(g), flat(labels), made)
    return made.reshape(logits.shape)
