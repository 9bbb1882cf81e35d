"""Losses as objects: the mean over the batch of a measure of how wrong predictions are."""

from __future__ import annotations

from typing import Any

from autodiff_lab.engine.convert import convert
from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.ops.array.casting import cast
from autodiff_lab.ops.math.arithmetic import abs, maximum, minimum, square
from autodiff_lab.ops.math.exponential import log
from autodiff_lab.ops.math.reductions import reduce_mean, reduce_sum
from autodiff_lab.ops.nn.activations import softplus
from autodiff_lab.ops.nn.losses import softmax_cross_entropy_with_logits, sparse_softmax_cross_entropy_with_logits

_EPSILON = 1e-7


class Loss:
    """Base of losses: call with labels and predictions; a subclass defines `each`.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.losses.MeanSquaredError()([1.0, 2.0], [1.0, 4.0]))
    Tensor(2.0, shape=(), dtype=float32)
    """

    def __call__(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Tensor:
        """The mean over the batch, weighted if asked."""
        y_pred = convert(y_pred)
        each = self.each(convert(y_true), y_pred)
        if sample_weight is not None:
            each = each * convert(sample_weight, each)
        return reduce_mean(each)

    def each(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        """The loss of each example."""
        raise NotImplementedError


def _like(y_true: Tensor, y_pred: Tensor) -> Tensor:
    return cast(y_true, y_pred.dtype)


class MeanSquaredError(Loss):
    """Mean of squared differences.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.losses.MeanSquaredError()([1.0, 2.0], [1.0, 4.0]))
    Tensor(2.0, shape=(), dtype=float32)
    """

    def each(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        return square(y_pred - _like(y_true, y_pred))


class MeanAbsoluteError(Loss):
    """Mean of absolute differences.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.losses.MeanAbsoluteError()([1.0, 2.0], [1.0, 4.0]))
    Tensor(1.0, shape=(), dtype=float32)
    """

    def each(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        return abs(y_pred - _like(y_true, y_pred))


class Huber(Loss):
    """Squared differences up to `delta`, absolute ones beyond: Huber 1964.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.losses.Huber()([0.0, 0.0], [1.0, 3.0]))
    Tensor(1.5, shape=(), dtype=float32)
    """

    def __init__(self, delta: float = 1.0) -> None:
        self.delta = delta

    def each(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        distance = abs(y_pred - _like(y_true, y_pred))
        near = minimum(distance, self.delta)
        return 0.5 * square(near) + self.delta * (distance - near)


class BinaryCrossentropy(Loss):
    """Cross entropy between labels 0 or 1 and probabilities, or logits.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.losses.BinaryCrossentropy(from_logits=True)([1.0], [0.0]))
    Tensor(0.6931472, shape=(), dtype=float32)
    """

    def __init__(self, from_logits: bool = False) -> None:
        self.from_logits = from_logits

    def each(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        t = _like(y_true, y_pred)
        if self.from_logits:
            return softplus(y_pred) - t * y_pred
        p = minimum(maximum(y_pred, _EPSILON), 1 - _EPSILON)
        return -(t * log(p) + (1 - t) * log(1 - p))


class CategoricalCrossentropy(Loss):
    """Cross entropy between shares and probabilities, or logits, over the last axis.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.losses.CategoricalCrossentropy(from_logits=True)([[1.0, 0.0]], [[0.0, 0.0]]))
    Tensor(0.6931472, shape=(), dtype=float32)
    """

    def __init__(self, from_logits: bool = False) -> None:
        self.from_logits = from_logits

    def each(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        t = _like(y_true, y_pred)
        if self.from_logits:
            return softmax_cross_entropy_with_logits(labels=t, logits=y_pred)
        return -reduce_sum(t * log(maximum(y_pred, _EPSILON)), axis=-1)


class SparseCategoricalCrossentropy(Loss):
    """Cross entropy between class numbers and probabilities, or logits, over the last axis.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.losses.SparseCategoricalCrossentropy(from_logits=True)([1], [[0.0, 0.0]]))
    Tensor(0.6931472, shape=(), dtype=float32)
    """

    def __init__(self, from_logits: bool = False) -> None:
        self.from_logits = from_logits

    def each(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        logits = y_pred if self.from_logits else log(maximum(y_pred, _EPSILON))
        return sparse_softmax_cross_entropy_with_logits(labels=cast(y_true, "int32"), logits=logits)
