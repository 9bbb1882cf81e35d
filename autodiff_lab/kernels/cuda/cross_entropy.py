"""Cross entropy of rows with class numbers, and its slope: losses read the logits once, slopes read and write once.

Traffic for each float32 of logits: 4 bytes read for losses; 4 read and 4 written for slopes, which take the
exponentials anew, as reading them from memory would cost more; 4 and 4 as well for both at once, which is what a
compiled program asks for (`compile.pairs`).  No array of shares is made.  Rows are read as in `softmax`, whose
occupancy holds; losses keep nothing, and so have no form for long rows: 40 to 56 registers, at least 1024 threads of a
multiprocessor with 8 elements each on the way, 32 kB.  What limits is memory.

A class number that is none makes its loss nan, and its row of the slope; no other row.  To raise as the CPU does would
mean to wait for the GPU at each step: the error comes when a result is next read.
"""

from __future__ import annotations

from typing import Any

from autodiff_lab.errors import InvalidArgumentError
from autodiff_lab.kernels.cuda.array import DeviceArray
from autodiff_lab.kernels.cuda.launching import MOST, check_size, cuda, empty, flat, math
from autodiff_lab.kernels.cuda.promises import promise
from autodiff_lab.kernels.cuda.row_sums import WARP, group_largest, group_sum, lowest
from autodiff_lab.kernels.cuda.rows import MOST_STEP, place, row_kernel
from autodiff_lab.kernels.cuda.softmax_pieces import at_once, inf, normalizer, online, shares

AT_ONCE = 8
"""Elements that a thread of a kernel for losses asks for at a time."""
_LOSS = ("sparse_softmax_cross_entropy",)
_SLOPE = ("sparse_softmax_cross_entropy_slope", "sparse_softmax_cross_entropy_and_slope")


@row_kernel(_LOSS, *[f"T[::1], {whole}[::1], T[::1], boolean[::1]" for whole in ("int32", "int64")], keeps=False)
def class_losses(_: int) -> Any:
    """Losses become ln Σ e^(x - largest) less x - largest at the label; for a label that is no class nan."""

    def run(x: Any, labels: Any, losses: Any, right: Any, rows: Any, length: Any, bits: Any, _: Any) -> None:
        parts = cuda.shared.array(WARP, x.dtype)
        few = cuda.local.array(AT_ONCE, x.dtype)
        step = (1 << bits) & MOST_STEP
        row, first, count = place(rows, length, bits)
        top, total = online(x, few, first, count, step, lowest(x))
        best = group_largest(top, parts, bits)
        total = group_sum(total * math.exp(top - best), parts, bits)
        if row < rows and cuda.threadIdx.x & (step - 1) == 0:
            losses[row] = loss_of(x, labels[row], first, length, best, total, right)

    return run


@cuda.jit(device=True)
def loss_of(x: Any, label: Any, start: Any, length: Any, best: Any, total: Any, right: Any) -> Any:
    """The loss of a row that starts at `start`; nan, and `right` false, where the label is no class."""
    if 0 <= label < length:
        return math.log(total) - (x[start + (label & MOST)] - best)
    right[0] = False
    return x.dtype.type(inf) - x.dtype.type(inf)


@row_kernel(_SLOPE, *[f"T[::1], T[::1], {whole}[::1], T[::1], T[::1], boolean[::1]" for whole in ("int32", "int64")])
def class_slopes(kept: int) -> Any:
    """Rows of made become g·(softmax(x), less 1 at the label), and losses become the losses."""
    some = at_once(kept)

    def run(
        x: Any, g: Any, labels: Any, losses: Any, made: Any, right: Any, rows: Any, length: Any, bits: Any, again: Any
    ) -> None:
        parts = cuda.shared.array(WARP, x.dtype)
        held, few = cuda.local.array(kept, x.dtype), cuda.local.array(some, x.dtype)
        lanes = (1 << bits) & MOST_STEP
        row, first, count = place(rows, length, bits)
        best, total = normalizer(x, held, few, first, count, lanes, parts, bits)
        lane = cuda.threadIdx.x & (lanes - 1) & 1023
        label, share = -1, x.dtype.type(0)
        if row < rows:
            label, share = labels[row], g[row]
            if lane == 0:
                losses[row] = loss_of(x, label, first, length, best, total, right)
        if label < 0 or label >= length:
            share = x.dtype.type(inf) - x.dtype.type(inf)
        shares(x, held, few, made, first, count, (1 << again) & MOST_STEP, best, share / total)
        if 0 <= label < length and label & (lanes - 1) == lane:  # this thread wrote the label's element
            at = first - lane + (label & MOST)
            made[at] = (math.exp(x[at] - best) / total - x.dtype.type(1)) * share

    return run


def _whole(labels: DeviceArray) -> DeviceArray:
    """Labels as int32 or int64, in a row."""
    if labels.dtype.char in "il" and labels.dtype.itemsize in (4, 8):
        return flat(labels)
    return flat(labels.astype("int64"))


def _fits(logits: DeviceArray, labels: DeviceArray, g: Any = None) -> bool:
    """Whether shapes and dtypes are those of plain rows."""
    if logits.dtype.char not in "fd" or not logits.ndim or not logits.shape[-1] or labels.dtype.kind not in "iu":
        return False
    rows = (labels,) if g is None else (labels, g)
    if any(a.__class__ is not DeviceArray or a.shape != logits.shape[:-1] for a in rows):
        return False
    return g is None or g.dtype == logits.dtype


def _no_wrong_label_yet(logits: DeviceArray) -> DeviceArray:
    """A bool on the GPU, which becomes false when a kernel meets a label that is no class."""
    right = empty(logits, (1,), "bool")
    right.raw.fill(True)
    return right


def _promise(right: DeviceArray, count: int) -> None:
    what = f"sparse_softmax_cross_entropy_with_logits: a label is not in [0, {count})"
    promise(right.reshape(()), lambda: InvalidArgumentError(what))


def sparse_softmax_cross_entropy(logits: DeviceArray, labels: DeviceArray) -> Any:
    """-ln of the share of each row's class, as `reference.cross_entropy.sparse_softmax_cross_entropy`.

    A label that is no class makes its loss nan, and is an `InvalidArgumentError` when a result is next read.
    """
    if not _fits(logits, labels):
        return NotImplemented
    check_size("sparse_softmax_cross_entropy", logits.shape)
    right, losses = _no_wrong_label_yet(logits), empty(logits, (labels.size,))
    class_losses.launch(logits, labels.size, logits.shape[-1], flat(logits), _whole(labels), losses, right)
    _promise(right, logits.shape[-1])
    return losses.reshape(labels.shape)


def sparse_softmax_cross_entropy_and_slope(g: DeviceArray, logits: DeviceArray, labels: DeviceArray) -> Any:
    """Losses and g·(softmax(logits), less 1 at the class), from the same exponentials.

    A label that is no class makes its loss and its row nan, and is an `InvalidArgumentError` when a result is next
    read.
    """
    if not _fits(logits, labels, g):
        return NotImplemented
    check_size("sparse_softmax_cross_entropy_slope", logits.shape)
    right = _no_wrong_label_yet(logits)
    losses, made = empty(logits, (labels.size,)), empty(logits, (logits.size,))
    rows, length = labels.size, logits.shape[-1]
    class_slopes.launch(logits, rows, length, flat(logits), flat(g), _whole(labels), losses, made, right)
    _promise(right, length)
    return losses.reshape(labels.shape), made.reshape(logits.shape)


def sparse_softmax_cross_entropy_slope(g: DeviceArray, logits: DeviceArray, labels: DeviceArray) -> Any:
    """G · (softmax(logits), less 1 at the class); the losses that come with it cost one number a row."""
    both = sparse_softmax_cross_entropy_and_slope(g, logits, labels)
    return both if both is NotImplemented else both[1]
