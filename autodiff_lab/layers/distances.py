"""Losses that measure angles, divergences and margins."""

from __future__ import annotations

from typing import Unpack

import numpy as np

from autodiff_lab.engine.tensor import Tensor, wrap
from autodiff_lab.events.listener import tell_made, trace_now
from autodiff_lab.layers.losses import EPSILON, Loss, OfEveryLoss
from autodiff_lab.ops.array.gathering import where
from autodiff_lab.ops.math.arithmetic import abs, maximum, square
from autodiff_lab.ops.math.comparison import equal, logical_or
from autodiff_lab.ops.math.elementary import clip_by_value
from autodiff_lab.ops.math.exponential import log
from autodiff_lab.ops.math.reductions import reduce_all, reduce_sum
from autodiff_lab.ops.math.statistics import l2_normalize
from autodiff_lab.ops.nn.activations import relu, softplus

_LOG_2 = 0.6931471805599453


class KLDivergence(Loss):
    """Sum of t·ln(t / p) over the last axis: Kullback & Leibler 1951.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.losses.KLDivergence()([[0.5, 0.5]], [[0.5, 0.5]]))
    Tensor(0.0, shape=(), dtype=float32)
    """

    def each(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        t, p = (clip_by_value(v, EPSILON, 1.0) for v in (y_true, y_pred))
        return reduce_sum(t * log(t / p), axis=-1)


class Poisson(Loss):
    """Mean of p - t·ln p: the log-likelihood loss of counts t with rates p.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.losses.Poisson()([2.0], [1.0]).numpy().round(4))
    1.0
    """

    def elements(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        return y_pred - y_true * log(y_pred + EPSILON)


class Hinge(Loss):
    """Mean of max(1 - t·p, 0); labels are -1 and 1, or 0 and 1.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.losses.Hinge()([1.0, -1.0], [0.5, -3.0]))
    Tensor(0.25, shape=(), dtype=float32)
    """

    def elements(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        return relu(1 - signed(y_true) * y_pred)


class SquaredHinge(Loss):
    """Mean of max(1 - t·p, 0)²; labels are -1 and 1, or 0 and 1.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.losses.SquaredHinge()([1.0, -1.0], [0.0, -3.0]))
    Tensor(0.5, shape=(), dtype=float32)
    """

    def elements(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        return square(relu(1 - signed(y_true) * y_pred))


def signed(y_true: Tensor) -> Tensor:
    """Return labels 0 and 1 as -1 and 1; others as they are."""
    if trace_now() is not None:
        both = reduce_all(logical_or(equal(y_true, 0), equal(y_true, 1)))
        return where(both, 2 * y_true - 1, y_true)
    array = y_true._array
    if isinstance(array, (np.ndarray, np.generic)):
        return 2 * y_true - 1 if set(array.ravel().tolist()) <= {0.0, 1.0} else y_true
    both = ((array == 0) | (array == 1)).all()  # on a GPU, do not wait for their values
    return where(tell_made(wrap(both)), 2 * y_true - 1, y_true)


class LogCosh(Loss):
    """Mean of ln cosh(p - t): quadratic near 0, linear far away.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.losses.LogCosh()([1.0], [1.0]))
    Tensor(0.0, shape=(), dtype=float32)
    """

    def elements(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        d = y_pred - y_true
        return d + softplus(-2.0 * d) - _LOG_2


class CosineSimilarity(Loss):
    """Minus the cosine of the angle between labels and predictions: -1 where they agree.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.losses.CosineSimilarity()([[1.0, 0.0]], [[2.0, 0.0]]))
    Tensor(-1.0, shape=(), dtype=float32)
    """

    def __init__(
        self, axis: int = -1, reduction: str | None = "sum_over_batch_size", **more: Unpack[OfEveryLoss]
    ) -> None:
        super().__init__(reduction, **more)
        self.axis = axis

    def each(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        return -reduce_sum(l2_normalize(y_true, self.axis) * l2_normalize(y_pred, self.axis), axis=self.axis)


class MeanAbsolutePercentageError(Loss):
    """Mean of 100·|t - p| / |t|.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.losses.MeanAbsolutePercentageError()([2.0], [1.0]))
    Tensor(50.0, shape=(), dtype=float32)
    """

    def elements(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        return 100 * abs(y_true - y_pred) / maximum(abs(y_true), EPSILON)


class MeanSquaredLogarithmicError(Loss):
    """Mean of (ln(1 + t) - ln(1 + p))².

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.losses.MeanSquaredLogarithmicError()([0.0], [0.0]))
    Tensor(0.0, shape=(), dtype=float32)
    """

    def elements(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        t, p = (log(1 + maximum(v, 0.0)) for v in (y_true, y_pred))
        return square(t - p)
