"""The loss of connectionist temporal classification, for labellings whose places in a sequence are not known.

The loss is one op, and softmax minus the occupancies, which its gradient is made of, is another.  The derivative of
that one is taken of the recursion written op by op, so higher orders are slower, and right.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from autodiff_lab.engine.apply import general
from autodiff_lab.engine.backward import UnconnectedGradients
from autodiff_lab.engine.convert import convert
from autodiff_lab.engine.devices import CPU
from autodiff_lab.engine.shape import as_integer
from autodiff_lab.engine.tape import GradientTape
from autodiff_lab.engine.tensor import Tensor, wrap
from autodiff_lab.errors import InvalidArgumentError, ShapeMismatch
from autodiff_lab.events.listener import tell_made
from autodiff_lab.kernels.base.choose import chosen
from autodiff_lab.kernels.base.halves import is_half
from autodiff_lab.kernels.ctc import reference
from autodiff_lab.kernels.ctc.reference import IMPOSSIBLE, NEVER
from autodiff_lab.ops.array.casting import cast
from autodiff_lab.ops.array.gathering import laid_beside, scatter_nd, where
from autodiff_lab.ops.array.joining import concat, stack, unstack
from autodiff_lab.ops.array.selection import take_along
from autodiff_lab.ops.array.shaping import broadcast_to, expand_dims, reshape, transpose
from autodiff_lab.ops.checks import floats, not_integers
from autodiff_lab.ops.docs import doc
from autodiff_lab.ops.math.arithmetic import maximum
from autodiff_lab.ops.math.reductions import reduce_sum
from autodiff_lab.ops.math.statistics import reduce_logsumexp
from autodiff_lab.ops.nn.activations import log_softmax

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import TensorLike


def _work(logits: Any, labels: Any, *lengths: Any, blank: int) -> int:
    steps, batch, classes = logits.shape
    return steps * batch * (classes + 16 * labels.shape[-1])


def _loss_rule(ops: Any, g: Any, out: Any, logits: Any, *rest: Any, blank: int) -> Any:
    residual = ops.softmax_minus_occupancy(logits, *rest, blank=blank)
    return ops.reshape(g, shape=(*g.shape[:-1], 1, g.shape[-1], 1)) * residual


def _made(like: Tensor, host: Any) -> Tensor:
    """Return a tensor of numbers that depend on shapes alone, or on what a trace holds fast."""
    return tell_made(laid_beside(like, host))


def _losses(logits: Tensor, labels: Tensor, label_length: Tensor, logit_length: Tensor, blank: int) -> Tensor:
    """Return the losses op by op, as the kernel computes them."""
    (steps, batch, _), most = logits._held.shape, labels._held.shape[1]
    of_labels, of_steps = (expand_dims(cast(n, np.int32), 1) for n in (label_length, logit_length))
    places, states = (_made(logits, np.arange(n, dtype=np.int32)[None]) for n in (most, 2 * most + 1))
    known = where(places < of_labels, cast(labels, np.int32), np.int32(blank))
    blanks = _made(logits, np.full((batch, 1), blank, np.int32))
    between = broadcast_to(blanks, (batch, most))
    path = concat([reshape(stack([between, known], axis=2), (batch, 2 * most)), blanks], 1)
    zero, never = (_made(logits, np.array(n, logits._held.dtype)) for n in (0, NEVER))
    classes = maximum(log_softmax(logits), never)
    emissions = take_along(classes, broadcast_to(path, (steps, *path.shape)), axis=-1)
    before = _made(logits, np.full((batch, 2), blank, np.int32))
    skips = where((path != blank) & (path != concat([before, path], 1)[:, :-2]), zero, never)
    low = broadcast_to(never, (batch, 2))
    now: Any = broadcast_to(where(states == 0, zero, never), path.shape)
    for step, emitted in enumerate(unstack(emissions)):
        padded = concat([low, now], 1)
        new = reduce_logsumexp(stack([now, padded[:, 1:-1], padded[:, :-2] + skips]), axis=0) + emitted
        now = where(step < of_steps, new, now)
    last = (states == 2 * of_labels) | (states == 2 * of_labels - 1)
    total = reduce_logsumexp(where(last, now, never), axis=1)
    return where(total < IMPOSSIBLE, np.inf, -total)


def _occupancy_rule(ops: Any, h: Any, out: Any, logits: Any, *rest: Any, blank: int) -> Any:
    """Differentiate the losses twice, op by op; each depends on its own logits alone."""
    h, logits, *given = (wrap(x) if ops.raw else x for x in (h, logits, *rest))
    place = logits.device
    h, logits, *given = (x.cpu() for x in (h, logits, *given))  # the kernels run there as well
    with GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(logits)
        wide = cast(logits, np.float32) if is_half(logits._held.dtype) else logits
        with GradientTape(watch_accessed_variables=False) as inner:
            inner.watch(wide)
            total = reduce_sum(_losses(wide, *given, blank=blank))
        residual = cast(inner.gradient(total, wide, None, UnconnectedGradients.ZERO), logits.dtype)
    found: Any = tape.gradient(residual, logits, h, UnconnectedGradients.ZERO)
    found = found if place == CPU else found.gpu(int(place[5:]))
    return found._array if ops.raw else found


ctc = general(
    "ctc_loss", chosen("ctc_loss", reference.ctc_loss, work=_work), _loss_rule, None, None, None,
    symbol="CTC", latex=r"\operatorname{{ctc}}({0}, {1})",
    locals_latex=(r"\operatorname{{softmax}}({0}) - \gamma", "", "", ""),
    sentence="measures how improbable the labelling {1} is by the logits {0}", keeps="inputs", registered="CTCLoss",
    doc="The kernel-level loss for logits (t, b, k), labels and both lengths; `lab.nn.ctc_loss`.")
occupancy = general(
    "softmax_minus_occupancy", chosen("softmax_minus_occupancy", reference.softmax_minus_occupancy, work=_work),
    _occupancy_rule, None, None, None, stacked=False,
    symbol="softmax − γ", latex=r"\operatorname{{softmax}}({0}) - \gamma_{{{1}}}",
    locals_latex=(r"\partial", "", "", ""),
    sentence="takes softmax of {0}, minus how often alignments with {1} have each class", keeps="inputs",
    doc="Softmax minus the probability of each class at each step, given the labelling; the rule of `ctc_loss` uses "
        "it.")


def _whole(value: Any, what: str, count: int | None = None) -> Tensor:
    """Return integers, one for each example if there must be `count` of them."""
    if value is None:
        raise InvalidArgumentError(f"ctc_loss: {what} is missing. Try lab.fill([{count}], n) where all are n long.")
    x = convert(value)
    if x._held.dtype.kind not in "iu":
        raise not_integers(x.dtype, f"ctc_loss: {what}")
    if count is not None and x._held.shape != (count,):
        raise ShapeMismatch(f"ctc_loss: expected {what} of shape ({count},), one length for each example, got "
                            f"{x._held.shape}.")
    return x


def _dense(labels: Any, batch: int) -> tuple[Any, Any]:
    """Return the rows of a sparse tensor side by side from the left, and their lengths."""
    places, shape = np.asarray(labels.indices._array), np.asarray(labels.dense_shape._array)
    if len(shape) != 2 or shape[0] != batch:
        raise ShapeMismatch(f"ctc_loss: expected sparse labels of shape ({batch}, n), one row for each example, got "
                            f"{tuple(shape.tolist())}.")
    rows = places[:, 0]
    counts = np.bincount(rows, minlength=batch)
    order = np.lexsort((places[:, 1], rows))
    columns = np.empty(len(rows), np.int64)
    columns[order] = np.arange(len(rows)) - (np.cumsum(counts) - counts)[rows[order]]
    values = _whole(labels.values, "labels")
    to = _made(values, np.stack([rows, columns], axis=1))
    return scatter_nd(to, values, (batch, int(counts.max(initial=0)))), _made(values, counts)


def ctc_loss(labels: Any, logits: TensorLike, label_length: TensorLike | None, logit_length: TensorLike,
             logits_time_major: bool = True, unique: Any = None, blank_index: int | None = None,
             name: str | None = None) -> Tensor:
    x = floats(logits, "ctc_loss", allow_complex=False)
    if x._held.ndim != 3:
        raise ShapeMismatch("ctc_loss: expected logits (steps, batch, classes), or (batch, steps, classes) with "
                            f"logits_time_major=False, got shape {x._held.shape}.")
    if not logits_time_major:
        x = transpose(x, [1, 0, 2])
    _, batch, classes = x._held.shape
    sparse = hasattr(labels, "dense_shape")
    if sparse and blank_index is None:
        raise InvalidArgumentError("ctc_loss: sparse labels need a blank_index, as in TensorFlow. Try blank_index=0, "
                                   "or -1 for the last class.")
    blank = as_integer(0 if blank_index is None else blank_index, "ctc_loss: blank_index")
    if not -classes <= blank < classes:
        raise InvalidArgumentError(f"ctc_loss: blank_index {blank} is not one of {classes} classes. Try an index in "
                                   f"[{-classes}, {classes}).")
    numbers, lengths = _dense(labels, batch) if sparse else (_whole(labels, "labels"), label_length)
    if numbers._held.ndim != 2 or numbers._held.shape[0] != batch:
        raise ShapeMismatch(f"ctc_loss: expected labels of shape ({batch}, n), one row for each example, got "
                            f"{numbers._held.shape}. Try logits_time_major={not logits_time_major} if the axes of the "
                            "logits are in the other order.")
    lengths = _whole(lengths, "label_length", batch)
    return ctc(x, numbers, lengths, _whole(logit_length, "logit_length", batch), blank=blank % classes, name=name)


ctc_loss.__doc__ = doc(
    "Negative log-likelihood of each labelling, summed over all its alignments with the steps: connectionist temporal "
    "classification.",
    shapes="labels (b, n) or sparse, logits (t, b, k), or (b, t, k) unless logits_time_major, label_length (b), "
           "logit_length (b) -> (b)",
    dtypes="floating logits, integer labels and lengths",
    domain="any logits, of which the loss takes the softmax; labels that are classes and not the blank",
    derivative="softmax - occupancy, the probability of each class at each step given the labelling; 0 beyond "
               "logit_length",
    notes="An alignment gives each step a class; its labelling is what is left once runs of one class are merged and "
          "blanks\nleft out, so a label that comes twice in a row needs a blank between.  The blank is class 0, or "
          "`blank_index`, which\ncounts from the end if it is negative.  Sparse labels need a `blank_index`, and bring "
          "their lengths: label_length may\nbe None.  Where no alignment fits, as with more labels than steps, the "
          "loss is inf and its gradient 0.  `unique` has\nno effect: in TensorFlow it saves time on TPUs.\n\n"
          "Graves, Fernández, Gomez & Schmidhuber, *Connectionist temporal classification*, 2006.",
    raises=("floating", "shape", "argument", "convert"),
    example=">>> logits = lab.zeros((2, 1, 3))  # 2 steps, 1 example, 3 classes\n"
            ">>> loss = lab.nn.ctc_loss([[1]], logits, label_length=[1], logit_length=[2])\n"
            ">>> round(float(lab.exp(-loss[0])) * 9, 3)  # 11, 01 and 10, of 9 alignments\n3.0")
