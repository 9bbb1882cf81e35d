"""Metrics: numbers accumulated over batches; nothing is differentiated here, and no tape or recording sees it.

A metric keeps its state in variables and computes with ops, so it can be part of a compiled function.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from autodiff_lab.engine.convert import convert
from autodiff_lab.engine.devices import device
from autodiff_lab.engine.dtypes import as_dtype
from autodiff_lab.engine.tensor import Tensor, wrap
from autodiff_lab.engine.variable import Variable
from autodiff_lab.errors import ShapeMismatch
from autodiff_lab.events.listener import tell_made, unheard
from autodiff_lab.layers.configured import Remembering
from autodiff_lab.layers.initializer_names import get as get_initializer
from autodiff_lab.layers.losses import same_rank
from autodiff_lab.ops.array.casting import cast
from autodiff_lab.ops.array.gathering import argmax
from autodiff_lab.ops.array.shaping import broadcast_to, squeeze
from autodiff_lab.ops.math.arithmetic import abs, sqrt, square
from autodiff_lab.ops.math.comparison import equal, greater
from autodiff_lab.ops.math.guarded import divide_no_nan
from autodiff_lab.ops.math.reductions import reduce_mean, reduce_sum

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import DTypeLike, NameOrCallable, ShapeLike, TensorLike


class Metric(Remembering):
    """Base of metrics: a subclass makes its state with `add_weight` and defines `update_state` and `result`.

    Parameters
    ----------
    name : str, optional
        Of the metric; by default its class name in snake case.
    dtype : DType, optional
        Of the result, float32 by default.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> class Largest(lab.metrics.Metric):
    ...     def __init__(self, name="largest"):
    ...         super().__init__(name=name)
    ...         self.found = self.add_weight(name="found", initializer="zeros")
    ...     def update_state(self, y_true, y_pred, sample_weight=None):
    ...         self.found.assign(lab.maximum(self.found, lab.reduce_max(y_pred)))
    ...     def result(self):
    ...         return self.found
    >>> print(Largest()([0.0, 1.0], [0.5, 2.0]))
    Tensor(2.0, shape=(), dtype=float32)
    """

    _made: tuple[Variable, ...] = ()

    def __init__(self, name: str | None = None, dtype: DTypeLike | None = None) -> None:
        self.name = name or re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", type(self).__name__).lower()
        self.dtype = as_dtype(dtype or "float32").name

    def add_weight(self, shape: ShapeLike = (), initializer: NameOrCallable = "zeros", dtype: DTypeLike | None = None,
                   name: str | None = None) -> Variable:  # fmt: skip
        """Return a new variable of the metric's state, on the current device; `reset_state` sets it to zero."""
        make: Any = get_initializer(initializer)
        made = Variable(make(shape, dtype or self.dtype), False, name=f"{self.name}/{name or len(self._made)}")
        self._made = (*self._made, made)
        return made

    @property
    def variables(self) -> list[Variable]:
        """The metric's state."""
        return list(self._made)

    def update_state(self, *args: Any, **kwargs: Any) -> Any:
        """Add a batch; a subclass defines what that means."""
        raise NotImplementedError(f"{type(self).__name__} does not define update_state(self, y_true, y_pred)")

    def result(self) -> Any:
        """Return the result so far; a subclass defines it."""
        raise NotImplementedError(f"{type(self).__name__} does not define result(self)")

    def reset_state(self) -> None:
        """Set the state to zero."""
        for variable in self.variables:  # a tensor of zeros might be on another device
            variable.assign(np.zeros(variable._held.shape, variable.dtype.as_numpy_dtype))

    def __call__(self, *args: Any, **kwargs: Any) -> Tensor:
        """Add values and return the result so far."""
        self.update_state(*args, **kwargs)
        return convert(self.result())


class Mean(Metric):
    """The mean of everything seen since the last reset.

    A value of rank 2 or more is reduced to one number for each row. Weights may be per row, per element, or
    anything in between; they are broadcast.

    Parameters
    ----------
    name : str, optional
        Of the metric; by default its class name in snake case.
    dtype : DType, optional
        Of the result, float32 by default. Sums are kept in float64.

    Raises
    ------
    ShapeMismatch
        If the shapes of labels, predictions or weights do not match.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> mean = lab.metrics.Mean()
    >>> mean.update_state([1.0, 3.0])
    >>> print(mean.result())
    Tensor(2.0, shape=(), dtype=float32)
    """

    def __init__(self, name: str | None = None, dtype: DTypeLike | None = None) -> None:
        super().__init__(name, dtype)
        with device("/CPU:0"):
            self.total, self.count = (
                Variable(0.0, False, name=f"{self.name}/{part}", dtype="float64") for part in ("total", "count")
            )

    @property
    def variables(self) -> list[Variable]:
        """The metric's state."""
        return [self.total, self.count]

    def reduced(self, values: Tensor, axes: tuple[int, ...]) -> Tensor:
        """Reduce the numbers of a row to one."""
        return reduce_mean(values, axis=axes)

    def update_state(self, values: TensorLike, sample_weight: TensorLike | None = None) -> None:  # type: ignore[override]
        """Add values, optionally weighted."""
        with unheard():
            self._add(convert(values), sample_weight)

    def _add(self, values: Tensor, sample_weight: Any) -> None:
        values = cast(values, "float64")
        count = wrap(np.float64(values._held.shape[0] if values.ndim else 1))
        if sample_weight is not None:
            values, weight = same_rank(values, cast(convert(sample_weight), "float64"))
            if values.ndim > weight.ndim:
                values = self.reduced(values, tuple(range(weight.ndim, values.ndim)))
            if any(w not in (1, n) for n, w in zip(values._held.shape[::-1], weight._held.shape[::-1], strict=False)):
                raise ShapeMismatch(
                    f"{self.name}: weights of shape {tuple(weight.shape)} do not match values of shape "
                    f"{tuple(values.shape)}. Try one weight for each row."
                )
            values = values * weight
            weight = broadcast_to(weight, values.shape)
            count = reduce_sum(self.reduced(weight, tuple(range(1, weight.ndim))) if weight.ndim > 1 else weight)
        if values.ndim > 1:
            values = self.reduced(values, tuple(range(1, values.ndim)))
        self.total.assign_add(reduce_sum(values).cpu())
        self.count.assign_add(tell_made(count) if sample_weight is None else count.cpu())

    def result(self) -> Tensor:
        """Return the mean so far; 0 if there were no values."""
        with unheard():
            return cast(self._value(), self.dtype)

    def _value(self) -> Tensor:
        return divide_no_nan(self.total.read(), self.count.read())


class Sum(Mean):
    """The sum of everything seen since the last reset.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.metrics.Sum()([1.0, 3.0]))
    Tensor(4.0, shape=(), dtype=float32)
    """

    def reduced(self, values: Tensor, axes: tuple[int, ...]) -> Tensor:
        return reduce_sum(values, axis=axes)

    def _value(self) -> Tensor:
        return self.total.read()


class Accuracy(Mean):
    """How often predictions equal labels.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.metrics.Accuracy()([1, 2], [1, 3]))
    Tensor(0.5, shape=(), dtype=float32)
    """

    def update_state(self, y_true: TensorLike, y_pred: TensorLike, sample_weight: TensorLike | None = None) -> None:  # type: ignore[override]
        """Add a batch of labels and predictions of the same shape."""
        with unheard():
            self._add(self.each(*self.aligned(convert(y_true), convert(y_pred))), sample_weight)

    def aligned(self, y_true: Tensor, y_pred: Tensor) -> tuple[Tensor, Tensor]:
        """Return labels and predictions as they are compared; here their shapes must be equal."""
        return same_shape(self.name, *same_rank(y_true, y_pred))

    def each(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        """Return which predictions are correct."""
        return equal(cast(y_true, y_pred.dtype), y_pred)


class SparseCategoricalAccuracy(Accuracy):
    """How often the largest prediction is that of the class number.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.metrics.SparseCategoricalAccuracy()([1, 0], [[0.1, 0.9], [0.2, 0.8]]))
    Tensor(0.5, shape=(), dtype=float32)
    """

    def each(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        return equal(cast(y_true, "int64"), argmax(y_pred, axis=-1))

    def aligned(self, y_true: Tensor, y_pred: Tensor) -> tuple[Tensor, Tensor]:
        """Return class numbers without a last axis of length 1."""
        if y_true.ndim == y_pred.ndim and y_true._held.shape[-1:] == (1,):
            y_true = squeeze(y_true, -1)
        if y_pred.ndim != y_true.ndim + 1 or y_pred._held.shape[:-1] != y_true._held.shape:
            raise ShapeMismatch(
                f"{self.name}: class numbers of shape {tuple(y_true.shape)} and predictions {tuple(y_pred.shape)} do "
                "not match; predictions need one more axis, the classes."
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

    def each(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        return equal(argmax(y_true, axis=-1), argmax(y_pred, axis=-1))


class BinaryAccuracy(Accuracy):
    """How often predictions above a threshold agree with labels 0 or 1.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.metrics.BinaryAccuracy()([1.0, 0.0], [0.7, 0.6]))
    Tensor(0.5, shape=(), dtype=float32)
    """

    def __init__(self, name: str | None = None, dtype: DTypeLike | None = None, threshold: float = 0.5) -> None:
        super().__init__(name, dtype)
        self.threshold = threshold

    def each(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        return equal(cast(y_true, "float64"), cast(greater(cast(y_pred, "float64"), self.threshold), "float64"))


class MeanSquaredError(Accuracy):
    """Mean of squared differences.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.metrics.MeanSquaredError()([1.0, 2.0], [1.0, 4.0]))
    Tensor(2.0, shape=(), dtype=float32)
    """

    def each(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        """Return the mean of the squared differences along the last axis."""
        return over_last(square(cast(y_pred, "float64") - cast(y_true, "float64")))


class RootMeanSquaredError(Accuracy):
    """Root of the mean of squared differences.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.metrics.RootMeanSquaredError()([0.0, 0.0], [3.0, 3.0]))
    Tensor(3.0, shape=(), dtype=float32)
    """

    def each(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        """Return the squared differences."""
        return square(cast(y_pred, "float64") - cast(y_true, "float64"))

    def _value(self) -> Tensor:
        return sqrt(super()._value())


class MeanAbsoluteError(Accuracy):
    """Mean of absolute differences.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.metrics.MeanAbsoluteError()([1.0, 2.0], [1.0, 4.0]))
    Tensor(1.0, shape=(), dtype=float32)
    """

    def each(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        """Return the mean of the absolute differences along the last axis."""
        return over_last(abs(cast(y_pred, "float64") - cast(y_true, "float64")))


def over_last(x: Tensor) -> Tensor:
    """Return the mean over the last axis for rank 2 and above."""
    return reduce_mean(x, axis=-1) if x.ndim > 1 else x


def same_shape(name: str, y_true: Tensor, y_pred: Tensor) -> tuple[Tensor, Tensor]:
    """Raise an error if labels and predictions differ in shape."""
    if y_true._held.shape != y_pred._held.shape:
        raise ShapeMismatch(
            f"{name}: expected labels and predictions of equal shape, got {tuple(y_true.shape)} and "
            f"{tuple(y_pred.shape)}."
        )
    return y_true, y_pred
