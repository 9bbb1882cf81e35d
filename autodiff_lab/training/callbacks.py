"""Callbacks: functions of a training loop that run before and after each epoch and each batch."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from autodiff_lab.errors import InvalidArgumentError
from autodiff_lab.layers.configured import written

Logs = dict[str, float]
"""Losses and metrics by name, such as ``{"loss": 0.3, "val_loss": 0.4}``."""


class Callback:
    """Base of callbacks; override the hooks that matter. `model` and `params` are set before training begins.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> class Count(lab.callbacks.Callback):
    ...     def on_train_begin(self, logs=None):
    ...         self.epochs = 0
    ...     def on_epoch_end(self, epoch, logs=None):
    ...         self.epochs += 1
    >>> model, count = lab.Sequential([lab.layers.Dense(1)]), Count()
    >>> model.compile("sgd", "mse")
    >>> _ = model.fit([[1.0], [2.0]], [[2.0], [4.0]], epochs=3, callbacks=[count], verbose=0)
    >>> count.epochs
    3
    """

    model: Any = None
    params: dict[str, Any]

    def __repr__(self) -> str:
        settings = {name: value for name, value in vars(self).items() if isinstance(value, (bool, int, float, str))}
        return written(self, {name: value for name, value in settings.items() if not name.startswith("_")})

    def set_model(self, model: Any) -> None:
        """Set the model that is trained."""
        self.model = model

    def set_params(self, params: dict[str, Any]) -> None:
        """Set the parameters of the loop: ``epochs``, ``steps`` and ``verbose``."""
        self.params = params

    def on_train_begin(self, logs: Logs | None = None) -> None:
        """Run before the first epoch."""

    def on_train_end(self, logs: Logs | None = None) -> None:
        """Run after the last epoch."""

    def on_epoch_begin(self, epoch: int, logs: Logs | None = None) -> None:
        """Run before an epoch; epochs count from 0."""

    def on_epoch_end(self, epoch: int, logs: Logs | None = None) -> None:
        """Run after an epoch, with the losses and metrics of training and validation."""

    def on_train_batch_begin(self, batch: int, logs: Logs | None = None) -> None:
        """Run before a training step."""

    def on_train_batch_end(self, batch: int, logs: Logs | None = None) -> None:
        """Run after a training step, with the means of the epoch so far."""

    def on_test_begin(self, logs: Logs | None = None) -> None:
        """Run before an evaluation."""

    def on_test_end(self, logs: Logs | None = None) -> None:
        """Run after an evaluation."""

    def on_test_batch_begin(self, batch: int, logs: Logs | None = None) -> None:
        """Run before a batch is evaluated."""

    def on_test_batch_end(self, batch: int, logs: Logs | None = None) -> None:
        """Run after a batch was evaluated."""

    def on_predict_begin(self, logs: Logs | None = None) -> None:
        """Run before a prediction."""

    def on_predict_end(self, logs: Logs | None = None) -> None:
        """Run after a prediction."""


def listed(callbacks: Sequence[Callback] | Callback | None) -> list[Callback]:
    """Return what `fit` was given as a list: one callback may be given alone."""
    return [callbacks] if isinstance(callbacks, Callback) else list(callbacks or ())


class CallbackList:
    """Callbacks that are called together, in order, by training loops of your own as well.

    Raises
    ------
    InvalidArgumentError
        If one of them is not a callback.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> show = lab.callbacks.LambdaCallback(on_epoch_end=lambda epoch, logs: print(epoch, logs))
    >>> lab.callbacks.CallbackList([show], model=None).tell("on_epoch_end", 0, {"loss": 0.5})
    0 {'loss': 0.5}
    """

    def __init__(self, callbacks: list[Callback], model: Any, **params: Any) -> None:
        self.callbacks = callbacks
        for callback in callbacks:
            if not hasattr(callback, "set_model"):
                raise InvalidArgumentError(
                    f"callbacks must be instances of lab.callbacks.Callback, got {callback!r}. Try "
                    "lab.callbacks.LambdaCallback(on_epoch_end=function)."
                )
            callback.set_model(model)
            callback.set_params(params)
        self._of_batches = {
            moment: [method for c in callbacks if not _is_of_base(method := getattr(c, moment), moment)]
            for moment in ("on_train_batch_begin", "on_train_batch_end", "on_test_batch_begin", "on_test_batch_end")
        }

    def tell(self, moment: str, *given: Any) -> None:
        """Call the method of that name of every callback."""
        for callback in self.callbacks:
            getattr(callback, moment)(*given)

    def hears(self, moment: str) -> bool:
        """Return whether any callback overrides a method that runs at every batch."""
        return bool(self._of_batches[moment])

    def tell_batch(self, moment: str, batch: int, logs: Logs | None = None) -> None:
        """Call a method that runs at every batch, of the callbacks that override it."""
        for method in self._of_batches[moment]:
            method(batch, logs)


def _is_of_base(method: Any, moment: str) -> bool:
    """Return whether a callback does nothing at a moment: the method is that of the base class."""
    return getattr(method, "__func__", None) is getattr(Callback, moment)


class History(Callback):
    """The losses and metrics of each epoch: what `fit` returns.

    Attributes
    ----------
    epoch : list of int
        The epochs that were run.
    history : dict of str to list of float
        For each loss and metric, its values after those epochs.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> model = lab.Sequential([lab.layers.Dense(1, kernel_initializer="zeros")])
    >>> model.compile(lab.optimizers.SGD(0.0), "mse")
    >>> model.fit([[1.0], [2.0]], [[2.0], [4.0]], epochs=2, verbose=0).history
    {'loss': [10.0, 10.0]}
    """

    def __init__(self) -> None:
        self.epoch: list[int] = []
        self.history: dict[str, list[float]] = {}

    def on_epoch_end(self, epoch: int, logs: Logs | None = None) -> None:
        self.epoch.append(epoch)
        for name, value in (logs or {}).items():
            self.history.setdefault(name, []).append(value)

    def __repr__(self) -> str:
        last = ", ".join(f"{name} {values[-1]:.4g}" for name, values in self.history.items())
        return f"History({len(self.epoch)} epochs{'; last ' + last if last else ''})"


class TerminateOnNaN(Callback):
    """Stop training when the loss is not finite.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> guard = lab.callbacks.TerminateOnNaN()
    """

    def on_train_batch_end(self, batch: int, logs: Logs | None = None) -> None:
        loss = (logs or {}).get("loss", 0.0)
        if not np.isfinite(loss):
            print(f"Batch {batch}: the loss is {loss}; training stops. A lab.record() block finds the op that did it.")
            self.model.stop_training = True


class CSVLogger(Callback):
    """Write the losses and metrics of each epoch to a file of comma-separated values.

    Parameters
    ----------
    filename : str or Path
    separator : str
    append : bool
        Whether rows are added to a file that exists.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> log = lab.callbacks.CSVLogger("log.csv")
    """

    def __init__(self, filename: str | Path, separator: str = ",", append: bool = False) -> None:
        self.path, self.separator, self.append = Path(filename), separator, append

    def on_train_begin(self, logs: Logs | None = None) -> None:
        self._has_header = self.append and self.path.exists()
        if not self._has_header:
            self.path.write_text("", encoding="utf-8")

    def on_epoch_end(self, epoch: int, logs: Logs | None = None) -> None:
        with self.path.open("a", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, delimiter=self.separator)
            if not self._has_header:
                writer.writerow(["epoch", *(logs or {})])
                self._has_header = True
            writer.writerow([epoch, *(logs or {}).values()])


class LambdaCallback(Callback):
    """A callback made of functions.

    Parameters
    ----------
    **moments : callable
        Any method of `Callback` by its name, such as ``on_epoch_end=lambda epoch, logs: ...``.

    Raises
    ------
    InvalidArgumentError
        If a name is not that of a moment.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> show = lab.callbacks.LambdaCallback(on_epoch_end=lambda epoch, logs: print(epoch, logs))
    """

    def __init__(self, **moments: Callable[..., Any] | None) -> None:
        for name, function in moments.items():
            if not name.startswith("on_") or not hasattr(Callback, name):
                known = ", ".join(known for known in dir(Callback) if known.startswith("on_"))
                raise InvalidArgumentError(f"LambdaCallback: unknown hook {name!r}. Try one of: {known}.")
            if function is not None:
                setattr(self, name, function)
