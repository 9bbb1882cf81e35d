"""Metrics of binary decisions: precision, recall, the area under a curve, and hits among the best k."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from autodiff_lab.engine.convert import convert
from autodiff_lab.engine.devices import device
from autodiff_lab.engine.tensor import Tensor, wrap
from autodiff_lab.engine.variable import Variable
from autodiff_lab.errors import InvalidArgumentError, ShapeMismatch
from autodiff_lab.events.listener import unheard
from autodiff_lab.layers.losses import Loss, same_rank
from autodiff_lab.layers.metrics import Accuracy, Mean, SparseCategoricalAccuracy, same_shape
from autodiff_lab.ops.array.casting import cast
from autodiff_lab.ops.array.gathering import argmax, where
from autodiff_lab.ops.array.shaping import broadcast_to, expand_dims, reshape
from autodiff_lab.ops.math.arithmetic import maximum
from autodiff_lab.ops.math.comparison import greater
from autodiff_lab.ops.math.counting import in_top_k
from autodiff_lab.ops.math.exponential import log
from autodiff_lab.ops.math.guarded import divide_no_nan
from autodiff_lab.ops.math.reductions import reduce_sum
from autodiff_lab.ops.nn.activations import sigmoid

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import DTypeLike, TensorLike


class _Counts(Mean):
    """Weighted counts of true and false decisions at each of several thresholds, kept in float64."""

    kept: tuple[str, ...] = ()

    def __init__(self, thresholds: Any, name: str | None, dtype: Any) -> None:
        super().__init__(name, dtype)
        self.thresholds = np.asarray(thresholds, np.float64).reshape(-1)
        with device("/CPU:0"):
            self._counts = {
                part: Variable(np.zeros(len(self.thresholds)), trainable=False, name=f"{self.name}/{part}")
                for part in self.kept
            }

    @property
    def variables(self) -> list[Variable]:
        """The metric's state: one vector of counts for each kind of decision."""
        return list(self._counts.values())

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:  # type: ignore[override]
        """Add a batch of labels 0 or 1 and predictions of the same shape."""
        with unheard(), device("/CPU:0"):
            true, guessed = same_shape(self.name, *same_rank(convert(y_true).cpu(), convert(y_pred).cpu()))
            weight = None
            if sample_weight is not None:
                guessed, weight = same_rank(guessed, cast(convert(sample_weight).cpu(), "float64"))
                while weight.ndim < guessed.ndim:
                    weight = expand_dims(weight, -1)
                weight = reshape(broadcast_to(weight, guessed.shape), (1, -1))
            self._add_decisions(cast(true, "float64"), cast(guessed, "float64"), weight)

    def _add_decisions(self, true: Tensor, guessed: Tensor, weight: Tensor | None) -> None:
        positive = cast(greater(reshape(guessed, (1, -1)), wrap(self.thresholds[:, None])), "float64")
        labels = cast(greater(reshape(true, (1, -1)), 0.5), "float64")
        decisions = {
            "true_positives": lambda: positive * labels,
            "false_positives": lambda: positive * (1.0 - labels),
            "false_negatives": lambda: (1.0 - positive) * labels,
            "true_negatives": lambda: (1.0 - positive) * (1.0 - labels),
        }
        for part, variable in self._counts.items():
            each = decisions[part]()
            variable.assign_add(reduce_sum(each if weight is None else each * weight, axis=1).cpu())

    def _read(self, part: str) -> Tensor:
        return self._counts[part].read()


class _Share(_Counts):
    """True positives among all positives of one kind, at one threshold or several."""

    against = ""

    def __init__(self, thresholds: Any = None, top_k: int | None = None, class_id: int | None = None,
                 name: str | None = None, dtype: Any = None) -> None:  # fmt: skip
        self.kept = ("true_positives", self.against)
        self._single = thresholds is None or np.ndim(thresholds) == 0
        super().__init__(0.5 if thresholds is None else thresholds, name, dtype)
        if np.any((self.thresholds < 0) | (self.thresholds > 1)):
            raise InvalidArgumentError(f"{type(self).__name__}: thresholds must be in [0, 1], got {thresholds}.")
        self.top_k, self.class_id = top_k, class_id

    def _add_decisions(self, true: Tensor, guessed: Tensor, weight: Tensor | None) -> None:
        if self.top_k is not None:
            guessed = _best(guessed, self.top_k)
        if self.class_id is not None:
            if weight is not None:
                weight = reshape(reshape(weight, guessed.shape)[..., self.class_id], (1, -1))
            true, guessed = true[..., self.class_id], guessed[..., self.class_id]
        super()._add_decisions(true, guessed, weight)

    def _value(self) -> Tensor:
        hits = self._read("true_positives")
        share = divide_no_nan(hits, hits + self._read(self.against))
        return share[0] if self._single else share


def _best(guessed: Tensor, k: int) -> Tensor:
    """Return 1 for the k largest predictions of each row and 0 for the others."""
    array = np.asarray(guessed._array)
    places = np.argsort(-array, axis=-1, kind="stable")[..., :k]
    chosen = np.zeros_like(array)
    np.put_along_axis(chosen, places, 1.0, axis=-1)
    return wrap(chosen)


class Precision(_Share):
    """Share of the examples predicted positive that are positive: true / (true + false positives).

    Parameters
    ----------
    thresholds : float or list of float, optional
        Predictions above it are positive, 0.5 by default; for a list, one result for each.
    top_k : int, optional
        Positive are the k largest predictions of a row instead.
    class_id : int, optional
        Only this entry of the last axis counts.
    name : str, optional
    dtype : DType, optional
        Of the result, float32 by default.

    Raises
    ------
    InvalidArgumentError
        If a threshold is not in [0, 1].
    ShapeMismatch
        If labels and predictions differ in shape.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.metrics.Precision()([0, 1, 1, 1], [0.9, 0.8, 0.2, 0.7]).numpy().round(4))
    0.6667
    """

    against = "false_positives"


class Recall(_Share):
    """Share of the positive examples that are predicted positive: true positives / (them + false negatives).

    The parameters are those of `Precision`.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.metrics.Recall()([0, 1, 1, 1], [0.9, 0.8, 0.2, 0.7]).numpy().round(4))
    0.6667
    """

    against = "false_negatives"


class AUC(_Counts):
    """Area under a curve, approximated with equally spaced thresholds.

    Parameters
    ----------
    num_thresholds : int
        At least 2.
    curve : {'ROC', 'PR'}
        True against false positive rate, or precision against recall. The area under the latter is interpolated as in
        Davis & Goadrich 2006, "The relationship between precision-recall and ROC curves".
    from_logits : bool
        Whether predictions are logits, to which a sigmoid is applied.
    name : str, optional
    dtype : DType, optional
        Of the result, float32 by default.

    Raises
    ------
    InvalidArgumentError
        If there are fewer than 2 thresholds, or the curve is unknown.
    ShapeMismatch
        If labels and predictions differ in shape.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.metrics.AUC()([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]))
    Tensor(0.75, shape=(), dtype=float32)
    """

    kept = ("true_positives", "false_positives", "false_negatives", "true_negatives")

    def __init__(self, num_thresholds: int = 200, curve: str = "ROC", from_logits: bool = False,
                 name: str | None = None, dtype: DTypeLike | None = None) -> None:  # fmt: skip
        if num_thresholds < 2:
            raise InvalidArgumentError(f"AUC: num_thresholds must be at least 2, got {num_thresholds}.")
        if curve not in ("ROC", "PR"):
            raise InvalidArgumentError(f"AUC: curve must be 'ROC' or 'PR', got {curve!r}.")
        between = np.arange(1, num_thresholds - 1) / (num_thresholds - 1)
        super().__init__([-1e-7, *between, 1 + 1e-7], name or "auc", dtype)
        self.curve, self.from_logits, self.num_thresholds = curve, from_logits, num_thresholds

    def _add_decisions(self, true: Tensor, guessed: Tensor, weight: Tensor | None) -> None:
        super()._add_decisions(true, sigmoid(guessed) if self.from_logits else guessed, weight)

    def _value(self) -> Tensor:
        tp, fp, fn, tn = (self._read(part) for part in self.kept)
        if self.curve == "ROC":
            hits, alarms = divide_no_nan(tp, tp + fn), divide_no_nan(fp, fp + tn)
            return reduce_sum((alarms[:-1] - alarms[1:]) * (hits[:-1] + hits[1:])) * 0.5
        return self._under_precision(tp, fp, fn)

    @staticmethod
    def _under_precision(tp: Tensor, fp: Tensor, fn: Tensor) -> Tensor:
        lost, positives = tp[:-1] - tp[1:], tp + fp
        slope = divide_no_nan(lost, maximum(positives[:-1] - positives[1:], 0.0))
        intercept = tp[1:] - slope * positives[1:]
        both = (positives[:-1] > 0.0) & (positives[1:] > 0.0)
        ratio = where(both, divide_no_nan(positives[:-1], maximum(positives[1:], 0.0)), wrap(np.ones(1)))
        gained = slope * (lost + intercept * log(ratio))
        return reduce_sum(divide_no_nan(gained, maximum(tp[1:] + fn[1:], 0.0)))


class SparseTopKCategoricalAccuracy(SparseCategoricalAccuracy):
    """How often the class number is among the k largest predictions.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.metrics.SparseTopKCategoricalAccuracy(k=2)([2, 0], [[0.1, 0.6, 0.3], [0.1, 0.5, 0.4]]))
    Tensor(0.5, shape=(), dtype=float32)
    """

    def __init__(self, k: int = 5, name: str | None = None, dtype: DTypeLike | None = None) -> None:
        super().__init__(name, dtype)
        self.k = k

    def each(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        """Return which class numbers are among the best k; predictions have any number of leading axes."""
        classes = y_pred._held.shape[-1] if y_pred.ndim else 0
        if not classes:
            raise ShapeMismatch(f"{self.name}: predictions of shape {tuple(y_pred.shape)} have no classes.")
        found = in_top_k(reshape(cast(y_true, "int64"), (-1,)), reshape(y_pred, (-1, classes)), min(self.k, classes))
        return reshape(found, y_true.shape)


class TopKCategoricalAccuracy(Accuracy):
    """How often the class of the largest label is among the k largest predictions.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.metrics.TopKCategoricalAccuracy(k=2)([[0, 0, 1], [1, 0, 0]], [[0.1, 0.6, 0.3], [0.1, 0.5, 0.4]]))
    Tensor(0.5, shape=(), dtype=float32)
    """

    def __init__(self, k: int = 5, name: str | None = None, dtype: DTypeLike | None = None) -> None:
        super().__init__(name, dtype)
        self.k = k

    def each(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        """Return which classes are among the best k."""
        return SparseTopKCategoricalAccuracy.each(self, argmax(y_true, axis=-1), y_pred)  # type: ignore[arg-type]


class MeanMetricWrapper(Accuracy):
    """The mean of what a function of labels and predictions returns for each example.

    Parameters
    ----------
    fn : callable
        From y_true and y_pred to a tensor, one number or more for each example.
    name : str, optional
        By default the name of the function.
    dtype : DType, optional
    **options
        Passed to the function.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> largest = lab.metrics.MeanMetricWrapper(lambda t, p: lab.reduce_max(abs(t - p), axis=-1))
    >>> print(largest([[1.0, 2.0]], [[1.5, 5.0]]))
    Tensor(3.0, shape=(), dtype=float32)
    """

    def __init__(self, fn: Any, name: str | None = None, dtype: DTypeLike | None = None, **options: Any) -> None:
        super().__init__(name or getattr(fn, "__name__", None) or getattr(fn, "name", type(fn).__name__), dtype)
        self._fn, self._options = fn.call if isinstance(fn, Loss) else fn, options  # a loss of each example

    def update_state(self, y_true: TensorLike, y_pred: TensorLike, sample_weight: TensorLike | None = None) -> None:  # type: ignore[override]
        """Add a batch of labels and predictions."""
        with unheard():
            self._add(convert(self._fn(convert(y_true), convert(y_pred), **self._options)), sample_weight)
