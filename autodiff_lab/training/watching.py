"""Callbacks that follow a logged value: stop, save or slow down where it no longer improves."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

from autodiff_lab.errors import InvalidArgumentError
from autodiff_lab.training.callbacks import Callback, Logs


class _Watching(Callback):
    """Base of callbacks that follow whether a logged value improves."""

    def __init__(self, monitor: str, mode: str, min_delta: float) -> None:
        if mode not in ("auto", "min", "max"):
            raise InvalidArgumentError(f"{type(self).__name__}: mode must be 'auto', 'min' or 'max', got {mode!r}.")
        self.monitor, self.mode, self.min_delta = monitor, mode, abs(min_delta)
        self.best = math.nan

    def _value(self, logs: Logs | None) -> float:
        if self.monitor not in (logs or {}):
            raise InvalidArgumentError(
                f"{type(self).__name__}: {self.monitor!r} is not among the logged values, {sorted(logs or {})}."
                + (" Try fit(..., validation_data=...)." if self.monitor.startswith("val_") else "")
            )
        return float((logs or {})[self.monitor])

    def _improves(self, value: float, best: float) -> bool:
        if math.isnan(best):
            return not math.isnan(value)
        grows = self.mode == "max" or (self.mode == "auto" and _larger_is_better(self.monitor))
        return value - self.min_delta > best if grows else value + self.min_delta < best


def _larger_is_better(name: str) -> bool:
    """Return whether a metric is better the larger it is, judging by its name."""
    return any(word in name for word in ("acc", "auc", "precision", "recall", "f1"))


class EarlyStopping(_Watching):
    """Stop training when a logged value has not improved for some epochs.

    Parameters
    ----------
    monitor : str
        The value to follow.
    min_delta : float
        Smallest change that counts as an improvement.
    patience : int
        Epochs without improvement after which training stops.
    mode : {'auto', 'min', 'max'}
        Whether smaller or larger is better; 'auto' decides by the name.
    baseline : float, optional
        A value that must be reached first.
    restore_best_weights : bool
        Whether the weights of the best epoch are restored at the end.
    start_from_epoch : int
        Epochs to wait before following the value.
    verbose : int
        1 prints when training stops.

    Raises
    ------
    InvalidArgumentError
        If the mode is unknown, or (while training) the value is not logged.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> model = lab.Sequential([lab.layers.Dense(1)])
    >>> model.compile(lab.optimizers.SGD(0.0), "mse")
    >>> stopping = lab.callbacks.EarlyStopping(monitor="loss", patience=2)
    >>> len(model.fit([[1.0]], [[2.0]], epochs=50, callbacks=[stopping], verbose=0).epoch)
    3
    """

    def __init__(self, monitor: str = "val_loss", min_delta: float = 0.0, patience: int = 0, verbose: int = 0,
                 mode: str = "auto", baseline: float | None = None, restore_best_weights: bool = False,
                 start_from_epoch: int = 0) -> None:  # fmt: skip
        super().__init__(monitor, mode, min_delta)
        self.patience, self.verbose, self.baseline = patience, verbose, baseline
        self.restore_best_weights, self.start_from_epoch = restore_best_weights, start_from_epoch
        self.wait = self.stopped_epoch = self.best_epoch = 0
        self.best_weights: Any = None

    def on_train_begin(self, logs: Logs | None = None) -> None:
        self.wait = self.stopped_epoch = self.best_epoch = 0
        self.best, self.best_weights = math.nan, None

    def on_epoch_end(self, epoch: int, logs: Logs | None = None) -> None:
        value = self._value(logs)
        if epoch < self.start_from_epoch:
            return
        self.wait += 1
        if self._improves(value, self.best):
            self.best, self.best_epoch = value, epoch
            if self.restore_best_weights:
                self.best_weights = self.model.get_weights()
            if self.baseline is None or self._improves(value, self.baseline):
                self.wait = 0
        if self.wait >= self.patience and self.wait and epoch > 0:
            self.stopped_epoch = epoch
            self.model.stop_training = True

    def on_train_end(self, logs: Logs | None = None) -> None:
        if self.stopped_epoch and self.verbose:
            print(f"Epoch {self.stopped_epoch + 1}: early stopping")
        if self.best_weights is not None:
            self.model.set_weights(self.best_weights)


class ModelCheckpoint(_Watching):
    """Save the model, or its weights, after each epoch.

    Parameters
    ----------
    filepath : str or Path
        Where to; ``{epoch}`` and the names of logged values are filled in, as in ``"at-{epoch:02d}-{loss:.3f}.npz"``.
    monitor, mode
        The value to follow with `save_best_only`, as in `EarlyStopping`.
    save_best_only : bool
        Whether only an epoch better than all before is saved.
    save_weights_only : bool
        Whether `save_weights` is used instead of `save`.
    verbose : int
        1 prints what is saved.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> keep = lab.callbacks.ModelCheckpoint("best.npz", monitor="loss", save_best_only=True, save_weights_only=True)
    """

    def __init__(self, filepath: str | Path, monitor: str = "val_loss", verbose: int = 0, save_best_only: bool = False,
                 save_weights_only: bool = False, mode: str = "auto") -> None:  # fmt: skip
        super().__init__(monitor, mode, 0.0)
        self.filepath, self.verbose = str(filepath), verbose
        self.save_best_only, self.save_weights_only = save_best_only, save_weights_only

    def on_epoch_end(self, epoch: int, logs: Logs | None = None) -> None:
        if self.save_best_only:
            value = self._value(logs)
            if not self._improves(value, self.best):
                return
            self.best = value
        path = self.filepath.format(epoch=epoch + 1, **(logs or {}))
        if self.save_weights_only:
            self.model.save_weights(path)
        else:
            self.model.save(path)
        if self.verbose:
            print(f"Epoch {epoch + 1}: saved {path}")


class LearningRateScheduler(Callback):
    """Set the learning rate at the beginning of each epoch.

    Parameters
    ----------
    schedule : callable
        From the number of the epoch, counting from 0, and the current rate to the new rate.
    verbose : int
        1 prints the rate.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> halving = lab.callbacks.LearningRateScheduler(lambda epoch, rate: rate / 2 if epoch else rate)
    """

    def __init__(self, schedule: Callable[[int, float], float], verbose: int = 0) -> None:
        self.schedule, self.verbose = schedule, verbose

    def on_epoch_begin(self, epoch: int, logs: Logs | None = None) -> None:
        rate = float(self.schedule(epoch, self.model.optimizer.learning_rate))
        self.model.optimizer.learning_rate = rate
        if self.verbose:
            print(f"Epoch {epoch + 1}: learning rate {rate:g}")

    def on_epoch_end(self, epoch: int, logs: Logs | None = None) -> None:
        if logs is not None:
            logs["learning_rate"] = float(self.model.optimizer.learning_rate)


class ReduceLROnPlateau(_Watching):
    """Reduce the learning rate when a logged value has not improved for some epochs.

    Parameters
    ----------
    monitor, min_delta, mode
        As in `EarlyStopping`.
    factor : float
        By which the rate is multiplied; less than 1.
    patience : int
        Epochs without improvement after which the rate is reduced.
    cooldown : int
        Epochs to wait after that.
    min_lr : float
        Smallest rate.
    verbose : int
        1 prints the new rate.

    Raises
    ------
    InvalidArgumentError
        If the factor is not less than 1.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> slower = lab.callbacks.ReduceLROnPlateau(monitor="loss", factor=0.5, patience=3)
    """

    def __init__(self, monitor: str = "val_loss", factor: float = 0.1, patience: int = 10, verbose: int = 0,
                 mode: str = "auto", min_delta: float = 1e-4, cooldown: int = 0,
                 min_lr: float = 0.0) -> None:  # fmt: skip
        if not factor < 1:
            raise InvalidArgumentError(f"ReduceLROnPlateau: factor must be less than 1, got {factor}.")
        super().__init__(monitor, mode, min_delta)
        self.factor, self.patience, self.verbose = factor, patience, verbose
        self.cooldown, self.min_lr = cooldown, min_lr
        self.wait = self.cooling = 0

    def on_train_begin(self, logs: Logs | None = None) -> None:
        self.best, self.wait, self.cooling = math.nan, 0, 0

    def on_epoch_end(self, epoch: int, logs: Logs | None = None) -> None:
        value, optimizer = self._value(logs), self.model.optimizer
        if logs is not None:
            logs["learning_rate"] = float(optimizer.learning_rate)
        if self.cooling:
            self.cooling -= 1
            self.wait = 0
        if self._improves(value, self.best):
            self.best, self.wait = value, 0
        elif not self.cooling:
            self.wait += 1
            if self.wait >= self.patience and optimizer.learning_rate > self.min_lr:
                optimizer.learning_rate = max(optimizer.learning_rate * self.factor, self.min_lr)
                self.wait, self.cooling = 0, self.cooldown
                if self.verbose:
                    print(f"Epoch {epoch + 1}: learning rate reduced to {optimizer.learning_rate:g}")
