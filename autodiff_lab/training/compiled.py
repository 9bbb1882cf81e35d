"""What `Model.compile` was given: an optimizer, losses and metrics, matched with the outputs of a model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from autodiff_lab.engine.convert import convert
from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.errors import InvalidArgumentError
from autodiff_lab.layers.by_name import get_metric, get_optimizer, loss_object
from autodiff_lab.layers.metrics import BinaryAccuracy, CategoricalAccuracy, Mean, Metric, SparseCategoricalAccuracy
from autodiff_lab.training.batches import arrays_of

Output = tuple[str, Any, Any]
"""The name of an output ('' if it is the only one), its labels and its predictions."""


def outputs(y: Any, y_pred: Any, names: list[str]) -> list[Output]:
    """Pair labels with predictions, output by output.

    Raises
    ------
    InvalidArgumentError
        If labels and predictions do not have the same structure.

    Examples
    --------
    >>> outputs([1, 2], {"a": "p", "b": "q"}, [])
    Traceback (most recent call last):
        ...
    autodiff_lab.errors.InvalidArgumentError: compile: the model returns a dict with 'a', 'b', so the labels must be...
    """
    if isinstance(y_pred, Mapping):
        if not isinstance(y, Mapping):
            keys = ", ".join(repr(key) for key in y_pred)
            raise InvalidArgumentError(
                f"compile: the model returns a dict with {keys}, so the labels must be a dict too, got "
                f"{type(y).__name__}."
            )
        return [(key, y[key], y_pred[key]) for key in y_pred if key in y]
    if isinstance(y_pred, (list, tuple)):
        names = names if len(names) == len(y_pred) else [f"output_{i + 1}" for i in range(len(y_pred))]
        labels = [y.get(name) for name in names] if isinstance(y, Mapping) else y
        if not isinstance(labels, (list, tuple)) or len(labels) != len(y_pred):
            raise InvalidArgumentError(
                f"compile: the model has {len(y_pred)} outputs, so the labels must be a list of {len(y_pred)} arrays."
            )
        return [row for row in zip(names, labels, y_pred, strict=True) if row[1] is not None]
    return [("", y, y_pred)]


def settings_for(given: Any, found: list[Output], what: str) -> list[Any]:
    """Return one setting for each output: a loss, a weight, or a list of metrics.

    Raises
    ------
    InvalidArgumentError
        If the settings do not match the outputs.
    """
    if isinstance(given, Mapping):
        unknown = sorted(set(given) - {name for name, _, _ in found})
        if unknown and len(found) == 1 and not found[0][0]:
            return list(given.values())  # a model with one output, whose name does not matter
        if unknown:
            raise InvalidArgumentError(
                f"compile: {what} names {unknown[0]!r}, which is not an output. The outputs are: "
                f"{', '.join(name for name, _, _ in found)}."
            )
        return [given.get(name) for name, _, _ in found]
    if isinstance(given, (list, tuple)):
        if len(given) != len(found):
            raise InvalidArgumentError(f"compile: {len(given)} {what} for {len(found)} outputs.")
        return list(given)
    return [given] * len(found)


class Compiled:
    """The optimizer, the losses and the metrics of a model.

    Parameters
    ----------
    optimizer, loss, loss_weights, metrics, weighted_metrics, run_eagerly, jit_compile
        As given to `Model.compile`.
    """

    def __init__(self, optimizer: Any, loss: Any, loss_weights: Any, metrics: Any, weighted_metrics: Any,
                 run_eagerly: bool, jit_compile: Any) -> None:  # fmt: skip
        self.given = {
            "optimizer": optimizer, "loss": loss, "loss_weights": loss_weights, "metrics": metrics,
            "weighted_metrics": weighted_metrics, "run_eagerly": run_eagerly, "jit_compile": jit_compile,
        }  # fmt: skip
        self.optimizer = None if optimizer is None else get_optimizer(optimizer)
        for scale in loss_weights.values() if isinstance(loss_weights, Mapping) else loss_weights or ():
            if isinstance(scale, (str, Metric)) or callable(scale):
                raise InvalidArgumentError(f"compile: loss_weights must be numbers, got {scale!r}. Try metrics=[...].")
        self.loss, self.loss_weights = _each(loss_object, loss), loss_weights
        self.wanted: tuple[Any, Any] = (metrics or [], weighted_metrics or [])
        self.run_eagerly, self.jit_compile = run_eagerly, jit_compile
        self.loss_tracker = Mean(name="loss")
        self.parts: dict[str, Mean] = {}
        """The loss of each output, if there are several."""
        self.metrics: list[tuple[Any, bool, str]] | None = None
        """Metrics, whether sample weights apply, and the output; None until the first batch shows the outputs."""

    def total_loss(self, y: Any, y_pred: Any, weights: Any, names: list[str]) -> Tensor | None:
        """Return the sum of the losses of all outputs, times their weights; None without a loss."""
        if self.loss is None:
            return None
        found = outputs(y, y_pred, names)
        self.make_metrics(found)  # a program's own `train_step` goes through them
        losses = settings_for(self.loss, found, "losses")
        scales = settings_for(self.loss_weights, found, "loss_weights")
        if len(found) > 1 and not self.parts:
            self.parts = {name: Mean(name=f"{name}_loss") for name, _, _ in found}
        total: Any = None
        for i, ((name, labels, predicted), loss, scale) in enumerate(zip(found, losses, scales, strict=True)):
            if loss is None:
                continue
            value = loss(labels, predicted, sample_weight=_weights_of(weights, found, i))
            if name in self.parts:
                self.parts[name].update_state(value, sample_weight=_rows(labels))
            value = value if scale is None else value * scale
            total = value if total is None else total + value
        return total

    def all_metrics(self) -> list[Metric]:
        """Return the metrics that exist, that of the loss first."""
        return [self.loss_tracker, *self.parts.values(), *(metric for metric, _, _ in self.metrics or [])]

    def make_metrics(self, found: list[Output]) -> None:
        """Make the metrics for the outputs of the first batch."""
        if self.metrics is None and any(self.wanted):
            self.metrics = [
                (metric, weighted, name)
                for wanted, weighted in zip(self.wanted, (False, True), strict=True)
                for metric, name in _metrics_for(wanted, found)
            ]

    def update_metrics(self, y: Any, y_pred: Any, weights: Any, names: list[str]) -> None:
        """Add a batch to every metric; the first batch decides what ``"accuracy"`` means."""
        if not any(self.wanted):
            return
        found = outputs(y, y_pred, names)
        self.make_metrics(found)
        by_name = {name: (i, labels, predicted) for i, (name, labels, predicted) in enumerate(found)}
        for metric, weighted, name in self.metrics or []:
            i, labels, predicted = by_name[name]
            metric.update_state(labels, predicted, sample_weight=_weights_of(weights, found, i) if weighted else None)


def _rows(labels: Any) -> float:
    """Return the number of examples, by which the loss of a batch counts in its mean."""
    shape = convert(arrays_of(labels)[0])._held.shape
    return float(shape[0]) if shape else 1.0


def _each(function: Any, given: Any) -> Any:
    """Apply a function to each item of a list or dict, or to the only one."""
    if isinstance(given, Mapping) and "class_name" not in given:
        return {key: function(item) for key, item in given.items()}
    return [function(item) for item in given] if isinstance(given, (list, tuple)) else function(given)


def _weights_of(weights: Any, found: list[Output], index: int) -> Any:
    """Return the sample weights of an output: those of all outputs if they are one array."""
    if isinstance(weights, Mapping):
        return weights.get(found[index][0])
    return weights[index] if isinstance(weights, (list, tuple)) and len(weights) == len(found) > 1 else weights


def _metrics_for(wanted: Any, found: list[Output]) -> list[tuple[Any, str]]:
    """Return metrics with the names of their outputs."""
    if isinstance(wanted, (list, tuple)) and not any(isinstance(item, (list, tuple)) for item in wanted):
        wanted = [wanted] * len(found) if len(found) == 1 or len(wanted) != len(found) else wanted
    made: list[tuple[Any, str]] = []
    for (name, y, y_pred), each in zip(found, settings_for(wanted, found, "metrics"), strict=True):
        for one in each if isinstance(each, (list, tuple)) else [each]:
            if one is None:
                continue
            metric = accuracy_for(y, y_pred) if str(one).lower() in ("accuracy", "acc") else get_metric(one)
            if isinstance(one, str):
                metric.name = one
            if name:
                metric.name = f"{name}_{metric.name}"
            made.append((metric, name))
    return made


def accuracy_for(y: Any, y_pred: Any) -> Any:
    """Return the accuracy that fits labels and predictions, as Keras chooses it.

    Binary if predictions have a last axis of length 1, of class numbers if labels have fewer axes or a last axis of
    length 1, else of one-hot labels.

    Examples
    --------
    >>> type(accuracy_for([1, 0], [[0.1, 0.9], [0.8, 0.2]])).__name__
    'SparseCategoricalAccuracy'
    """
    true, guessed = convert(arrays_of(y)[0])._held.shape, convert(y_pred)._held.shape
    if len(guessed) < 2 or guessed[-1] == 1:
        return BinaryAccuracy()
    return SparseCategoricalAccuracy() if len(true) < len(guessed) or true[-1] == 1 else CategoricalAccuracy()
