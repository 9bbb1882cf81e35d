"""Losses as objects: the mean over the batch of a measure of error."""

from __future__ import annotations

import math
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from autodiff_lab.engine.convert import convert
from autodiff_lab.engine.dtypes import as_dtype
from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.errors import InvalidArgumentError, ShapeMismatch
from autodiff_lab.events.listener import scoped
from autodiff_lab.layers.configured import Configured
from autodiff_lab.ops.array.casting import cast
from autodiff_lab.ops.array.creation import zeros_like
from autodiff_lab.ops.array.gathering import where
from autodiff_lab.ops.array.shaping import expand_dims, squeeze, transpose
from autodiff_lab.ops.math.arithmetic import abs, square
from autodiff_lab.ops.math.comparison import not_equal
from autodiff_lab.ops.math.elementary import clip_by_value
from autodiff_lab.ops.math.exponential import log
from autodiff_lab.ops.math.guarded import divide_no_nan
from autodiff_lab.ops.math.reductions import reduce_mean, reduce_sum
from autodiff_lab.ops.nn.cross_entropies import binary_cross_entropy, huber_of, sigmoid_cross_entropy
from autodiff_lab.ops.nn.losses import softmax_cross_entropy_with_logits, sparse_softmax_cross_entropy_with_logits

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import DTypeLike, TensorLike

_MEANS = ("sum_over_batch_size", "mean", "mean_with_sample_weight")
_REDUCTIONS = (*_MEANS, "sum", "none", None)
EPSILON = 1e-7
"""Probabilities closer to 0 than this are replaced by it, so that their logarithms stay finite."""


class OfEveryLoss(TypedDict, total=False):
    """Arguments that every loss has after its own."""

    name: str | None
    dtype: Any


@lru_cache(1024)
def _usual_name(kind: type) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", kind.__name__).lower()


class Loss(Configured):
    """Base of losses: call with labels and predictions; a subclass defines `elements`, `each`, or `call`.

    Parameters
    ----------
    reduction : {'sum_over_batch_size', 'mean', 'mean_with_sample_weight', 'sum', 'none', None}
        How the losses of the examples are reduced: mean, mean weighted by the sum of the weights, sum, or not
        at all.
    name : str, optional
        Of the loss; by default its class name in snake case.
    dtype : DType, optional
        In which the loss is computed; by default that of the predictions, float32 for integers.

    Raises
    ------
    ShapeMismatch
        If labels and predictions differ in shape; a last axis of length 1 may be missing.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.losses.MeanSquaredError()([1.0, 2.0], [1.0, 4.0]))
    Tensor(2.0, shape=(), dtype=float32)
    """

    axis = -1

    def __init__(self, reduction: str | None = "sum_over_batch_size", name: str | None = None,
                 dtype: DTypeLike | None = None) -> None:  # fmt: skip
        if reduction not in _REDUCTIONS:
            raise InvalidArgumentError(f"{type(self).__name__}: unknown reduction {reduction!r}. Try 'sum'.")
        self.reduction = reduction
        self.name = name or _usual_name(type(self))
        self.dtype = None if dtype is None else as_dtype(dtype).name

    def __call__(self, y_true: TensorLike, y_pred: TensorLike, sample_weight: TensorLike | None = None) -> Tensor:
        """Compute the mean over the batch, weighted if requested."""
        with scoped(None if self.name == _usual_name(type(self)) else self.name):
            return self._reduced(y_true, y_pred, sample_weight)

    def _reduced(self, y_true: Any, y_pred: Any, sample_weight: Any) -> Tensor:
        y_true, y_pred = convert(y_true), convert(y_pred)
        if self.dtype is not None or y_pred._held.dtype.kind in "iub":
            y_pred = cast(y_pred, self.dtype or "float32")
        if type(self).call is not Loss.call and y_true._held.dtype.kind == y_pred._held.dtype.kind == "f":
            y_true = cast(y_true, y_pred.dtype)  # a program's own `call` subtracts them, as those of Keras do
        if sample_weight is None and self.reduction in _MEANS and self._is_mean_of_elements():
            losses = self.elements(*self.aligned(y_true, y_pred))
            rank = losses._held.ndim
            if not rank:
                return losses
            if _size(losses) and -rank <= self.axis < rank:
                return reduce_mean(losses)  # what the mean of the means of rows of one length is
            return self._over_batch(reduce_mean(losses, axis=self.axis))
        return self._over_batch(self.call(y_true, y_pred), self.counted(y_true), sample_weight)

    def _over_batch(self, each: Tensor, counted: Tensor | None = None, sample_weight: Any = None) -> Tensor:
        if counted is not None and self.reduction not in ("sum", "none", None):
            count = reduce_sum(cast(counted, each.dtype))
            each = each * divide_no_nan(zeros_like(count) + _size(counted), count)
        weight = None
        if sample_weight is not None:
            each, weight = same_rank(each, cast(convert(sample_weight), each.dtype))
            each = each * weight
        if self.reduction in ("none", None) or not each.ndim:
            return each
        if self.reduction == "sum" or not _size(each):
            return reduce_sum(each)
        if self.reduction == "mean_with_sample_weight" and weight is not None:
            return divide_no_nan(reduce_sum(each), reduce_sum(weight))
        return reduce_mean(each)

    def _is_mean_of_elements(self) -> bool:
        """Return whether the loss of an example is the mean of `elements`, and no subclass says otherwise."""
        kind = type(self)
        return (
            kind.elements is not Loss.elements
            and kind.each is Loss.each
            and kind.call is Loss.call
            and kind.counted is Loss.counted
        )

    def call(self, y_true: TensorLike, y_pred: TensorLike) -> Tensor:
        """Compute the loss of each example, unweighted."""
        return self.each(*self.aligned(convert(y_true), convert(y_pred)))

    def counted(self, y_true: Tensor) -> Tensor | None:
        """Return which examples the mean is taken over; None for all of them."""
        return None

    def aligned(self, y_true: Tensor, y_pred: Tensor) -> tuple[Tensor, Tensor]:
        """Return labels in the dtype and shape of the predictions."""
        y_true, y_pred = same_rank(cast(y_true, y_pred.dtype), y_pred)
        if y_true._held.shape != y_pred._held.shape:
            raise ShapeMismatch(
                f"{self.name}: expected labels and predictions of equal shape, got {tuple(y_true.shape)} and "
                f"{tuple(y_pred.shape)}. Try lab.reshape or lab.expand_dims."
            )
        return y_true, y_pred

    def each(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        """Compute the loss of each example; unless a subclass defines it, the mean of `elements` over `axis`."""
        losses = self.elements(y_true, y_pred)
        return reduce_mean(losses, axis=self.axis) if losses._held.ndim else losses

    def elements(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        """Compute the loss of each element."""
        raise NotImplementedError


def same_rank(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """Return two tensors in the same rank; one may lack a last axis of length 1, or have one too many."""
    if y.ndim == x.ndim + 1:
        y, x = same_rank(y, x)
    elif x.ndim == y.ndim + 1 and x.shape[-1] == 1:
        x, y = (x, expand_dims(y, -1)) if y.ndim == 1 else (squeeze(x, -1), y)
    return x, y


def _size(x: Tensor) -> int:
    return math.prod(x._held.shape)


def _smoothed(t: Tensor, share: float, classes: int) -> Tensor:
    return t * (1 - share) + share / classes if share else t


class MeanSquaredError(Loss):
    """Mean of squared differences.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.losses.MeanSquaredError()([1.0, 2.0], [1.0, 4.0]))
    Tensor(2.0, shape=(), dtype=float32)
    """

    def elements(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        return square(y_pred - y_true)


class MeanAbsoluteError(Loss):
    """Mean of absolute differences.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.losses.MeanAbsoluteError()([1.0, 2.0], [1.0, 4.0]))
    Tensor(1.0, shape=(), dtype=float32)
    """

    def elements(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        return abs(y_pred - y_true)


class Huber(Loss):
    """Squared differences up to `delta`, absolute ones beyond: Huber 1964.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.losses.Huber()([0.0, 0.0], [1.0, 3.0]))
    Tensor(1.5, shape=(), dtype=float32)
    """

    def __init__(
        self, delta: float = 1.0, reduction: str | None = "sum_over_batch_size", **more: Unpack[OfEveryLoss]
    ) -> None:
        super().__init__(reduction, **more)
        if not (isinstance(delta, (int, float)) and delta >= 0):
            raise InvalidArgumentError(f"Huber: delta must be a number, 0 or more, got {delta!r:.80}.")
        self.delta = delta

    def elements(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        return huber_of(y_pred - y_true, delta=self.delta)


def _inside(p: Tensor) -> Tensor:
    """Clip probabilities away from 0 and 1, where no gradient passes."""
    return clip_by_value(p, EPSILON, 1 - EPSILON)


def _classes_last(name: str, axis: int, *tensors: Tensor) -> list[Tensor]:
    """Return tensors with the axis of the classes last."""
    moved: list[Tensor] = []
    for x in tensors:
        if not x.ndim:
            raise ShapeMismatch(f"{name}: expected an axis of classes, got a scalar.")
        if axis % x.ndim == x.ndim - 1:
            moved.append(x)
        else:
            at = axis % x.ndim
            moved.append(transpose(x, [*range(at), *range(at + 1, x.ndim), at]))
    return moved


class BinaryCrossentropy(Loss):
    """Cross entropy between labels 0 or 1 and probabilities, or logits.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.losses.BinaryCrossentropy(from_logits=True)([1.0], [0.0]))
    Tensor(0.6931472, shape=(), dtype=float32)
    """

    def __init__(self, from_logits: bool = False, label_smoothing: float = 0.0, axis: int = -1,
                 reduction: str | None = "sum_over_batch_size", **more: Unpack[OfEveryLoss]) -> None:  # fmt: skip
        super().__init__(reduction, **more)
        self.from_logits, self.label_smoothing, self.axis = from_logits, label_smoothing, axis

    def elements(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        t = _smoothed(y_true, self.label_smoothing, 2)
        if self.from_logits:
            return sigmoid_cross_entropy(y_pred, t)
        return binary_cross_entropy(_inside(y_pred), t)


class CategoricalCrossentropy(Loss):
    """Cross entropy between label distributions and probabilities, or logits, over the axis of the classes.

    Probabilities are normalized to sum to 1.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.losses.CategoricalCrossentropy(from_logits=True)([[1.0, 0.0]], [[0.0, 0.0]]))
    Tensor(0.6931472, shape=(), dtype=float32)
    """

    def __init__(self, from_logits: bool = False, label_smoothing: float = 0.0, axis: int = -1,
                 reduction: str | None = "sum_over_batch_size", **more: Unpack[OfEveryLoss]) -> None:  # fmt: skip
        super().__init__(reduction, **more)
        self.from_logits, self.label_smoothing, self.axis = from_logits, label_smoothing, axis

    def each(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        y_true, y_pred = _classes_last(self.name, self.axis, y_true, y_pred)
        t = _smoothed(y_true, self.label_smoothing, y_true.shape[-1] or 1)
        if self.from_logits:
            return softmax_cross_entropy_with_logits(labels=t, logits=y_pred)
        return -reduce_sum(t * log(_inside(y_pred / reduce_sum(y_pred, axis=-1, keepdims=True))), axis=-1)


class SparseCategoricalCrossentropy(Loss):
    """Cross entropy between class numbers and probabilities, or logits, over the axis of the classes.

    Examples of the class `ignore_class` have no loss, and the mean is over the others.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.losses.SparseCategoricalCrossentropy(from_logits=True)([1], [[0.0, 0.0]]))
    Tensor(0.6931472, shape=(), dtype=float32)
    """

    def __init__(self, from_logits: bool = False, ignore_class: int | None = None,
                 reduction: str | None = "sum_over_batch_size", axis: int = -1,
                 **more: Unpack[OfEveryLoss]) -> None:  # fmt: skip
        super().__init__(reduction, **more)
        self.from_logits, self.ignore_class, self.axis = from_logits, ignore_class, axis

    def counted(self, y_true: Tensor) -> Tensor | None:
        return None if self.ignore_class is None else not_equal(cast(y_true, "int64"), self.ignore_class)

    def aligned(self, y_true: Tensor, y_pred: Tensor) -> tuple[Tensor, Tensor]:
        """Return class numbers without a last axis of length 1."""
        if y_true.ndim == y_pred.ndim and y_true.shape[-1:] == (1,):
            y_true = squeeze(y_true, -1)
        return cast(y_true, "int64"), _classes_last(self.name, self.axis, y_pred)[0]

    def each(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        counted = self.counted(y_true)
        if counted is not None:
            y_true = where(counted, y_true, zeros_like(y_true))
            y_pred = where(expand_dims(counted, -1), y_pred, zeros_like(y_pred))
        logits = y_pred if self.from_logits else log(_inside(y_pred))
        losses = sparse_softmax_cross_entropy_with_logits(labels=y_true, logits=logits)
        return losses if counted is None else where(counted, losses, zeros_like(losses))
