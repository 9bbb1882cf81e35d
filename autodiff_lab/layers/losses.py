"""Losses as objects: the mean over the batch of a measure of how wrong predictions are."""

from __future__ import annotations

from typing import Any

from autodiff_lab.engine.convert import convert
from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.errors import InvalidArgumentError, ShapeMismatch
from autodiff_lab.ops.array.casting import cast
from autodiff_lab.ops.array.shaping import squeeze
from autodiff_lab.ops.math.arithmetic import abs, maximum, minimum, square
from autodiff_lab.ops.math.exponential import log
from autodiff_lab.ops.math.reductions import reduce_mean, reduce_sum
from autodiff_lab.ops.nn.activations import softplus
from autodiff_lab.ops.nn.losses import softmax_cross_entropy_with_logits, sparse_softmax_cross_entropy_with_logits

EPSILON = 1e-7
"""Probabilities closer to 0 than this count as this, so that their logarithms stay finite."""


class Loss:
    """Base of losses: call with labels and predictions; a subclass defines `each`.

    Parameters
    ----------
    reduction : {'sum_over_batch_size', 'mean', 'sum', 'none', None}
        How the losses of the examples become one: their mean, their sum, or not at all.
    name : str, optional
        Of the loss.

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

    def __init__(self, reduction: str | None = "sum_over_batch_size", name: str | None = None) -> None:
        if reduction not in ("sum_over_batch_size", "mean", "sum", "none", None):
            raise InvalidArgumentError(f"{type(self).__name__}: reduction {reduction!r} is not known. Try 'sum'.")
        self.reduction, self.name = reduction, name or type(self).__name__

    def __call__(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Tensor:
        """The mean over the batch, weighted if asked."""
        y_pred = convert(y_pred)
        each = self.each(*self.aligned(convert(y_true), y_pred))
        if sample_weight is not None:
            weight = cast(convert(sample_weight), each.dtype)
            if weight.ndim == each.ndim + 1 and weight.shape[-1] == 1:
                weight = squeeze(weight, -1)
            each = each * weight
        if self.reduction in ("none", None):
            return each
        return reduce_sum(each) if self.reduction == "sum" else reduce_mean(each)

    def aligned(self, y_true: Tensor, y_pred: Tensor) -> tuple[Tensor, Tensor]:
        """Labels in the dtype and shape of the predictions."""
        y_true = cast(y_true, y_pred.dtype)
        if y_true.ndim == y_pred.ndim + 1 and y_true.shape[-1] == 1:
            y_true = squeeze(y_true, -1)
        elif y_pred.ndim == y_true.ndim + 1 and y_pred.shape[-1] == 1:
            y_pred = squeeze(y_pred, -1)
        if y_true.shape != y_pred.shape:
            raise ShapeMismatch(
                f"{self.name}: labels have shape {tuple(y_true.shape)} and predictions {tuple(y_pred.shape)}; they "
                "must agree. Try lab.reshape or lab.expand_dims."
            )
        return y_true, y_pred

    def each(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        """The loss of each example."""
        raise NotImplementedError


def mean_over_last(x: Tensor) -> Tensor:
    """The mean over the last axis, so that an example has one loss; a single number is its own mean."""
    return reduce_mean(x, axis=-1) if x.ndim else x


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

    def each(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        return mean_over_last(square(y_pred - y_true))


class MeanAbsoluteError(Loss):
    """Mean of absolute differences.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.losses.MeanAbsoluteError()([1.0, 2.0], [1.0, 4.0]))
    Tensor(1.0, shape=(), dtype=float32)
    """

    def each(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        return mean_over_last(abs(y_pred - y_true))


class Huber(Loss):
    """Squared differences up to `delta`, absolute ones beyond: Huber 1964.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.losses.Huber()([0.0, 0.0], [1.0, 3.0]))
    Tensor(1.5, shape=(), dtype=float32)
    """

    def __init__(self, delta: float = 1.0, **more: Any) -> None:
        super().__init__(**more)
        self.delta = delta

    def each(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        distance = abs(y_pred - y_true)
        near = minimum(distance, self.delta)
        return mean_over_last(0.5 * square(near) + self.delta * (distance - near))


class BinaryCrossentropy(Loss):
    """Cross entropy between labels 0 or 1 and probabilities, or logits.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.losses.BinaryCrossentropy(from_logits=True)([1.0], [0.0]))
    Tensor(0.6931472, shape=(), dtype=float32)
    """

    def __init__(self, from_logits: bool = False, label_smoothing: float = 0.0, **more: Any) -> None:
        super().__init__(**more)
        self.from_logits, self.label_smoothing = from_logits, label_smoothing

    def each(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        t = _smoothed(y_true, self.label_smoothing, 2)
        if self.from_logits:
            return mean_over_last(softplus(y_pred) - t * y_pred)
        p = minimum(maximum(y_pred, EPSILON), 1 - EPSILON)
        return -mean_over_last(t * log(p) + (1 - t) * log(1 - p))


class CategoricalCrossentropy(Loss):
    """Cross entropy between shares and probabilities, or logits, over the last axis.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.losses.CategoricalCrossentropy(from_logits=True)([[1.0, 0.0]], [[0.0, 0.0]]))
    Tensor(0.6931472, shape=(), dtype=float32)
    """

    def __init__(self, from_logits: bool = False, label_smoothing: float = 0.0, **more: Any) -> None:
        super().__init__(**more)
        self.from_logits, self.label_smoothing = from_logits, label_smoothing

    def each(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        t = _smoothed(y_true, self.label_smoothing, y_true.shape[-1] or 1)
        # The softmax of logarithms is the probabilities again, brought to the sum 1.
        logits = y_pred if self.from_logits else log(maximum(y_pred, EPSILON))
        return softmax_cross_entropy_with_logits(labels=t, logits=logits)


class SparseCategoricalCrossentropy(Loss):
    """Cross entropy between class numbers and probabilities, or logits, over the last axis.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.losses.SparseCategoricalCrossentropy(from_logits=True)([1], [[0.0, 0.0]]))
    Tensor(0.6931472, shape=(), dtype=float32)
    """

    def __init__(self, from_logits: bool = False, **more: Any) -> None:
        super().__init__(**more)
        self.from_logits = from_logits

    def aligned(self, y_true: Tensor, y_pred: Tensor) -> tuple[Tensor, Tensor]:
        """Class numbers, without a last axis of length 1."""
        if y_true.ndim == y_pred.ndim and y_true.shape[-1] == 1:
            y_true = squeeze(y_true, -1)
        return y_true, y_pred

    def each(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        logits = y_pred if self.from_logits else log(maximum(y_pred, EPSILON))
        return sparse_softmax_cross_entropy_with_logits(labels=cast(y_true, "int32"), logits=logits)
