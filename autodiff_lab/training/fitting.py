"""The loops of `Model.fit`, `evaluate` and `predict`."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from autodiff_lab.compile import function
from autodiff_lab.engine import nest
from autodiff_lab.engine.convert import convert
from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.errors import InvalidArgumentError
from autodiff_lab.layers.sequential import Sequential
from autodiff_lab.training.batches import Batch, Rows, Stream, batches_of, class_weights, is_array, mapped, rows_in
from autodiff_lab.training.callbacks import CallbackList, History, Logs, listed
from autodiff_lab.training.compiled import Compiled
from autodiff_lab.training.progress import chosen, described, progress

_LOG = logging.getLogger("autodiff_lab")
WORTH_COMPILING = 1000
"""Steps that a loop must plan for ``jit_compile="auto"`` to compile them. A count, so that two runs do the same."""


def settings(model: Any) -> Compiled:
    """Return what `compile` was given.

    Raises
    ------
    InvalidArgumentError
        If the model was not compiled.
    """
    compiled: Compiled | None = vars(model).get("_compiled")
    if compiled is None:
        raise InvalidArgumentError(
            f"{model.name}: the model has no optimizer and no loss yet. Try model.compile(optimizer='adam', "
            "loss='mse') first."
        )
    return compiled


def _step_of(model: Any, kind: str, planned: int) -> Callable[[Batch, int], dict[str, Any]]:
    """Return a function of a batch and its number of rows: `train_step`, `test_step` or `predict_step`.

    The first batch runs eagerly, as it builds the weights, the optimizer's state and the metrics. With many steps to
    come the others run compiled, except those with another number of rows, such as the last of an epoch.
    """
    settled, method = settings(model), getattr(model, f"{kind}_step")
    by_plan = settled.jit_compile == "auto" and planned >= WORTH_COMPILING
    if settled.run_eagerly or not (by_plan or settled.jit_compile is True):
        return lambda batch, rows: method(batch)
    fast: Any = function(method)
    usual: list[int] = []

    def step(batch: Batch, rows: int) -> dict[str, Any]:
        if not usual:
            usual.append(rows)
            return method(batch)
        return fast(batch) if rows == usual[0] else method(batch)

    return step


def _as_tensors(batch: Batch) -> Any:
    """Return a batch as the steps of a model take it: (x, y, sample_weight) without what is missing at its end."""
    kept = 3 if batch[2] is not None else 2 if batch[1] is not None else 1
    return mapped(convert, batch[:kept])


def as_floats(logs: dict[str, Any]) -> Logs:
    """Return losses and metrics as Python numbers; a metric with several results as a list."""
    found: Logs = {}
    for name, value in logs.items():
        array = np.asarray(value._array if isinstance(value, Tensor) else value)
        found[name] = float(array) if not array.ndim else array.tolist()
    return found


def _limited(batches: Rows | Stream, steps: int | None) -> Iterator[Any]:
    return iter(batches) if steps is None else itertools.islice(iter(batches), steps)


class _Epochs:
    """The batches of each epoch: all of them, or the next `steps` of an iteration that spans epochs."""

    def __init__(self, batches: Rows | Stream, steps: int | None, class_weight: Any) -> None:
        self.batches, self.steps, self.class_weight = batches, steps, class_weight
        self._running: Iterator[Batch] | None = None

    def __iter__(self) -> Iterator[Batch]:
        for x, y, weights in self._drawn():
            yield x, y, weights if self.class_weight is None else class_weights(y, weights, self.class_weight)

    def _drawn(self) -> Iterator[Batch]:
        if self.steps is None:
            yield from self.batches
            return
        for _ in range(self.steps):
            batch = next(self._running, None) if self._running is not None else None
            if batch is None:
                self._running = iter(self.batches)
                batch = next(self._running, None)
            if batch is None:
                _LOG.warning("fit: the data ended before steps_per_epoch batches. Try dataset.repeat().")
                return
            yield batch


def _alone(model: Any, x: Any) -> Any:
    """Return the input of a `Sequential`, which has one, out of the list of inputs that Keras's programs may give."""
    listed_alone = isinstance(model, Sequential) and isinstance(x, (list, tuple)) and len(x) == 1
    return x[0] if listed_alone and not is_array(x) else x


def fit(model: Any, x: Any, y: Any, batch_size: int | None, epochs: int, verbose: Any, callbacks: list[Any] | None,
        validation_split: float, validation_data: Any, shuffle: bool, class_weight: Any, sample_weight: Any,
        initial_epoch: int, steps_per_epoch: int | None, validation_steps: int | None,
        validation_batch_size: int | None, validation_freq: int) -> History:  # fmt: skip
    """Implement `Model.fit`."""
    settled = settings(model)
    batches = batches_of(_alone(model, x), y, sample_weight, batch_size, shuffle)
    batches, validation = _validation(batches, validation_split, validation_data, validation_batch_size)
    history, count = History(), steps_per_epoch or len(batches)
    heard = CallbackList([*listed(callbacks), *progress(verbose), history], model, epochs=epochs, steps=count,
                         verbose=verbose)  # fmt: skip
    model.stop_training, model.history = False, history
    step = _step_of(model, "train", count * (epochs - initial_epoch))
    each_epoch = _Epochs(batches, steps_per_epoch, class_weight)
    heard.tell("on_train_begin", {})
    try:
        for epoch in range(initial_epoch, epochs):
            heard.tell("on_epoch_begin", epoch, {})
            logs = _trained(model, step, each_epoch, heard)
            if validation is not None and (epoch + 1) % validation_freq == 0:
                found = _evaluated(model, validation, validation_steps, heard)
                logs |= {f"val_{name}": value for name, value in found.items()}
            heard.tell("on_epoch_end", epoch, logs)
            if model.stop_training:
                break
    finally:
        heard.tell("on_train_end", {})
    settled.loss_tracker.reset_state()
    return history


def _validation(batches: Rows | Stream, split: float, data: Any, size: int | None) -> tuple[Any, Any]:
    """Return the batches for training and those for validation, None if there are none."""
    if data is not None:
        given = data if isinstance(data, (tuple, list)) else (data,)
        if size is None and isinstance(batches, Rows) and len(given) > 1:
            size = batches.batch_size
        x, y, weights = (*given, None, None)[:3]
        return batches, batches_of(x, y, weights, size)
    if not split:
        return batches, None
    if not isinstance(batches, Rows):
        raise InvalidArgumentError("fit: validation_split needs arrays. Try validation_data=dataset.")
    return batches.split(split)


def _trained(model: Any, step: Any, batches: Iterable[Batch], heard: CallbackList) -> Logs:
    """Take a step on each batch of an epoch, and return the losses and metrics over all of them."""
    for metric in model.metrics:
        metric.reset_state()
    logs: dict[str, Any] = {}
    hears = heard.hears("on_train_batch_end")
    for number, batch in enumerate(batches):
        heard.tell_batch("on_train_batch_begin", number, {})
        logs = step(_as_tensors(batch), rows_in(batch[0]))
        if hears:
            heard.tell_batch("on_train_batch_end", number, as_floats(logs))
        if model.stop_training:
            break
    if not logs:
        raise InvalidArgumentError("fit: the data has no batches.")
    return as_floats(logs)


def _evaluated(model: Any, batches: Rows | Stream, steps: int | None, heard: CallbackList) -> Logs:
    """Return the losses and metrics of a model on batches."""
    for metric in model.metrics:
        metric.reset_state()
    step = _step_of(model, "test", steps or len(batches))
    heard.tell("on_test_begin", {})
    logs: dict[str, Any] = {}
    for number, batch in enumerate(_limited(batches, steps)):
        heard.tell_batch("on_test_batch_begin", number, {})
        logs = step(_as_tensors(batch), rows_in(batch[0]))
        if heard.hears("on_test_batch_end"):
            heard.tell_batch("on_test_batch_end", number, as_floats(logs))
    found = as_floats(logs)
    heard.tell("on_test_end", found)
    return found


def evaluate(model: Any, x: Any, y: Any, batch_size: int | None, verbose: Any, sample_weight: Any, steps: int | None,
             callbacks: list[Any] | None, return_dict: bool) -> Any:  # fmt: skip
    """Implement `Model.evaluate`."""
    settings(model)
    batches = batches_of(_alone(model, x), y, sample_weight, batch_size)
    logs = _evaluated(model, batches, steps, CallbackList(listed(callbacks), model, steps=steps, verbose=verbose))
    if not logs:
        raise InvalidArgumentError("evaluate: the data has no batches.")
    if chosen(verbose):
        print(described(logs))
    if return_dict:
        return logs
    values = list(logs.values())
    return values[0] if len(values) == 1 else values


def predict(model: Any, x: Any, batch_size: int | None, steps: int | None, callbacks: list[Any] | None) -> Any:
    """Implement `Model.predict`."""
    batches = batches_of(_alone(model, x), batch_size=batch_size)
    heard = CallbackList(listed(callbacks), model, steps=steps)
    heard.tell("on_predict_begin", {})
    parts = [model.predict_step(_as_tensors(batch)) for batch in _limited(batches, steps)]
    heard.tell("on_predict_end", {})
    if not parts:
        raise InvalidArgumentError("predict: the data has no batches.")
    return _joined(parts)


def _joined(parts: list[Any]) -> Any:
    """Return predictions of batches as one structure of NumPy arrays."""
    rebuild = nest.flatten(parts[0])[1]
    columns = zip(*(nest.flatten(part)[0] for part in parts), strict=True)
    return rebuild([np.concatenate([np.atleast_1d(one.numpy()) for one in column]) for column in columns])


def on_batch(model: Any, kind: str, x: Any, y: Any, sample_weight: Any, class_weight: Any, return_dict: bool) -> Any:
    """Implement `Model.train_on_batch` and `test_on_batch`."""
    settings(model)
    for metric in model.metrics:
        metric.reset_state()
    if class_weight is not None:
        sample_weight = class_weights(y, sample_weight, class_weight)
    logs = as_floats(getattr(model, f"{kind}_step")(_as_tensors((x, y, sample_weight))))
    if return_dict:
        return logs
    values = list(logs.values())
    return values[0] if len(values) == 1 else values


def predict_on_batch(model: Any, x: Any) -> Any:
    """Implement `Model.predict_on_batch`."""
    return _joined([model.predict_step(_as_tensors((x, None, None)))])
