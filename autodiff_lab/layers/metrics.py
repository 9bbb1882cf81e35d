"""Metrics: numbers gathered over batches; nothing is differentiated here."""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_lab.engine.convert import convert
from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.errors import ShapeMismatch


class Mean:
    """The mean of everything seen since the last reset.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> mean = lab.metrics.Mean()
    >>> mean.update_state([1.0, 3.0])
    >>> print(mean.result())
    Tensor(2.0, shape=(), dtype=float32)
    """

    def __init__(self, name: str | None = None) -> None:
        self.name = name or type(self).__name__.lower()
        self._total, self._count = 0.0, 0.0

    def update_state(self, values: Any, sample_weight: Any = None) -> None:
        """Add values, weighted if asked."""
        array = np.asarray(convert(values)._array, np.float64)
        weight = (
            np.ones(array.shape) if sample_weight is None else np.asarray(convert(sample_weight)._array, np.float64)
        )
        weight = np.broadcast_to(weight, array.shape)
        self._total += float(np.sum(array * weight))
        self._count += float(np.sum(weight))

    def result(self) -> Tensor:
        """The mean so far; 0 if nothing was seen."""
        return convert(self._total / self._count if self._count else 0.0)

    def reset_state(self) -> None:
        """Forget everything."""
        self._total, self._count = 0.0, 0.0

    def __call__(self, *args: Any, **kwargs: Any) -> Tensor:
        """Add values and give the mean so far."""
        self.update_state(*args, **kwargs)
        return self.result()


class Accuracy(Mean):
    """How often predictions equal labels.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.metrics.Accuracy()([1, 2], [1, 3]))
    Tensor(0.5, shape=(), dtype=float32)
    """

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:  # type: ignore[override]
        """Add a batch of labels and predictions of the same shape."""
        super().update_state(self.hits(*self.aligned(_array(y_true), _array(y_pred))).astype(np.float64), sample_weight)

    def aligned(self, y_true: Any, y_pred: Any) -> tuple[Any, Any]:
        """Labels and predictions as they are compared; here their shapes must agree."""
        return same_shape(self.name, y_true, y_pred)

    def hits(self, y_true: Any, y_pred: Any) -> Any:
        """Which predictions are right."""
        return y_true == y_pred


class SparseCategoricalAccuracy(Accuracy):
    """How often the largest prediction is that of the class number.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.metrics.SparseCategoricalAccuracy()([1, 0], [[0.1, 0.9], [0.2, 0.8]]))
    Tensor(0.5, shape=(), dtype=float32)
    """

    def hits(self, y_true: Any, y_pred: Any) -> Any:
        return y_true == np.argmax(y_pred, axis=-1)

    def aligned(self, y_true: Any, y_pred: Any) -> tuple[Any, Any]:
        """Class numbers, without a last axis of length 1."""
        if y_true.ndim == y_pred.ndim and y_true.shape[-1:] == (1,):
            y_true = y_true[..., 0]
        if y_pred.ndim != y_true.ndim + 1 or y_pred.shape[:-1] != y_true.shape:
            raise ShapeMismatch(
                f"{self.name}: class numbers of shape {y_true.shape} and predictions {y_pred.shape} do "
                "not go together; predictions need one axis more, the classes."
            )
        return y_true, y_pred


class CategoricalAccuracy(Accuracy):
    """How often the largest prediction is where the largest label is.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.metrics.CategoricalAccuracy()([[0, 1], [1, 0]], [[0.1, 0.9], [0.2, 0.8]]))
    Tensor(0.5, shape=(), dtype=float32)
    """

    def hits(self, y_true: Any, y_pred: Any) -> Any:
        return np.argmax(y_true, axis=-1) == np.argmax(y_pred, axis=-1)


class BinaryAccuracy(Accuracy):
    """How often predictions above a threshold agree with labels 0 or 1.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.metrics.BinaryAccuracy()([1.0, 0.0], [0.7, 0.6]))
    Tensor(0.5, shape=(), dtype=float32)
    """

    def __init__(self, threshold: float = 0.5, name: str | None = None) -> None:
        super().__init__(name)
        self.threshold = threshold

    def hits(self, y_true: Any, y_pred: Any) -> Any:
        return (y_true > 0.5) == (y_pred > self.threshold)


def _array(value: Any) -> Any:
    return np.asarray(convert(value)._array)


def same_shape(name: str, y_true: Any, y_pred: Any) -> tuple[Any, Any]:
    """Refuse labels and predictions of different shapes; a last axis of length 1 may be missing."""
    if y_true.ndim == y_pred.ndim + 1 and y_true.shape[-1] == 1:
        y_true = y_true[..., 0]
    elif y_pred.ndim == y_true.ndim + 1 and y_pred.shape[-1] == 1:
        y_pred = y_pred[..., 0]
    if y_true.shape != y_pred.shape:
        raise ShapeMismatch(
            f"{name}: labels have shape {y_true.shape} and predictions {y_pred.shape}; they must agree."
        )
    return y_true, y_pred


class Sum(Mean):
    """The sum of everything seen since the last reset.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.metrics.Sum()([1.0, 3.0]))
    Tensor(4.0, shape=(), dtype=float32)
    """

    def result(self) -> Tensor:
        """The sum so far."""
        return convert(self._total)


class MeanSquaredError(Accuracy):
    """Mean of squared differences.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.metrics.MeanSquaredError()([1.0, 2.0], [1.0, 4.0]))
    Tensor(2.0, shape=(), dtype=float32)
    """

    def hits(self, y_true: Any, y_pred: Any) -> Any:
        """The squared differences."""
        return np.square(y_true.astype(np.float64) - y_pred)


class RootMeanSquaredError(MeanSquaredError):
    """Root of the mean of squared differences.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.metrics.RootMeanSquaredError()([0.0, 0.0], [3.0, 3.0]))
    Tensor(3.0, shape=(), dtype=float32)
    """

    def result(self) -> Tensor:
        """The root of the mean so far."""
        return convert(float(super().result()._array) ** 0.5)


class MeanAbsoluteError(Accuracy):
    """Mean of absolute differences.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.metrics.MeanAbsoluteError()([1.0, 2.0], [1.0, 4.0]))
    Tensor(1.0, shape=(), dtype=float32)
    """

    def hits(self, y_true: Any, y_pred: Any) -> Any:
        """The absolute differences."""
        return np.abs(y_true.astype(np.float64) - y_pred)
