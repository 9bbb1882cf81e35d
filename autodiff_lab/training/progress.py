"""Progress of a training loop: a bar for each epoch where tqdm is installed, a line where it is not."""

from __future__ import annotations

import sys
import time
from typing import Any

from autodiff_lab.training.callbacks import Callback, Logs

_EVERY = 0.1
"""Seconds between two updates of the numbers beside the bar."""


def described(logs: Logs | None) -> str:
    """Return losses and metrics as text.

    Examples
    --------
    >>> described({"loss": 0.123456, "accuracy": 1.0})
    'loss: 0.1235 - accuracy: 1.0000'
    """
    return " - ".join(
        f"{name}: {value:.4f}" if 1e-3 <= abs(value) < 1e5 or not value else f"{name}: {value:.4e}"
        for name, value in (logs or {}).items()
    )


def chosen(verbose: Any) -> int:
    """Return what ``verbose="auto"`` stands for: bars on a screen, lines in a file; numbers are kept."""
    if verbose != "auto":
        return int(verbose)
    in_notebook = type(sys.stdout).__module__.startswith("ipykernel")
    return 1 if sys.stdout.isatty() or in_notebook else 2


class Lines(Callback):
    """One line for each epoch, with its time."""

    def on_epoch_begin(self, epoch: int, logs: Logs | None = None) -> None:
        self._began = time.perf_counter()

    def on_epoch_end(self, epoch: int, logs: Logs | None = None) -> None:
        seconds = time.perf_counter() - self._began
        print(f"Epoch {epoch + 1}/{self.params['epochs']} - {seconds:.1f} s - {described(logs)}")


class Bars(Callback):
    """One bar of tqdm for each epoch, with the losses and metrics so far beside it."""

    def __init__(self, bar: Any) -> None:
        self._make, self._bar, self._shown = bar, None, 0.0

    def on_epoch_begin(self, epoch: int, logs: Logs | None = None) -> None:
        name = f"Epoch {epoch + 1}/{self.params['epochs']}"
        self._bar = self._make(total=self.params["steps"] or None, desc=name, file=sys.stdout, dynamic_ncols=True)

    def on_train_batch_end(self, batch: int, logs: Logs | None = None) -> None:
        if self._bar is None:
            return
        now = time.monotonic()
        if now - self._shown >= _EVERY:
            self._bar.set_postfix_str(described(logs), refresh=False)
            self._shown = now
        self._bar.update()

    def on_epoch_end(self, epoch: int, logs: Logs | None = None) -> None:
        if self._bar is not None:
            self._bar.set_postfix_str(described(logs))
            self._bar.close()
            self._bar = None

    def on_train_end(self, logs: Logs | None = None) -> None:
        if self._bar is not None:  # an error or a callback ended the epoch early
            self._bar.close()


def progress(verbose: Any) -> list[Callback]:
    """Return the callbacks that show progress: none for 0, bars for 1, lines for 2."""
    wanted = chosen(verbose)
    if wanted == 1:
        try:
            from tqdm import tqdm
        except ImportError:  # lines tell the same
            return [Lines()]
        return [Bars(tqdm)]
    return [Lines()] if wanted else []
