"""`watch_training`: losses and the health of the gradients, layer by layer, while a training loop runs.

Now and then a step is observed: the events of that step say which gradient reached which variable, what was assigned,
and which units of a rectifier were 0 for the whole batch.  Between these steps a watch only notes the loss.  A step is
left out where observing would take more than a tenth of the time.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterable
from contextlib import AbstractContextManager
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from autodiff_lab.draw.training import Sample, account, picture
from autodiff_lab.engine.variable import Variable
from autodiff_lab.errors import InvalidArgumentError, NotInRecording
from autodiff_lab.events.listener import observing
from autodiff_lab.exploring.observing import ObservedStep, trainable
from autodiff_lab.recording.block import names_around
from autodiff_lab.recording.recorder import Recorder
from autodiff_lab.training.callbacks import Callback, Logs

if TYPE_CHECKING:
    from autodiff_lab.recording.recording import Recording
    from autodiff_lab.widgets.training import TrainingView

MOST_TIME = 0.1
"""Part of the time of a training that observing steps may take."""
FREE = 0.05
"""Seconds that observing may take in any case, so that a training of a few steps is seen as well."""
EVERY_SECOND = 0.25
"""Seconds between two updates of the widget."""
KEPT = 4
"""Steps whose recordings are kept: the latest ones, and the first that went wrong."""


class TrainingWatch(Callback):
    """What `watch_training` returns: a block around a loop, or a callback of `Model.fit`.

    Attributes
    ----------
    losses : list of float
        One for each step.
    samples : list of Sample
        What was measured in the steps that were observed, in order.
    every : int
        Every how many steps one is observed, at most.
    """

    def __init__(self, variables: Iterable[Variable], every: int, steps: int | None, title: str) -> None:
        self._variables = {variable._id: variable for variable in variables}  # pyright: ignore[reportPrivateUsage]
        self.every, self.steps, self.title = every, steps, title
        self.losses: list[float] = []
        self.samples: list[Sample] = []
        self._recorders: dict[int, Recorder] = {}
        self._first_wrong: int | None = None
        self._step: ObservedStep | None = None
        self._block: AbstractContextManager[Any] | None = None
        self._next = 1
        self._plain: list[float] = []
        self._extra = self._dearest = 0.0
        self._began = self._started = self._shown = 0.0
        self._view: TrainingView | None = None
        self._slot: Any = None
        self._opened: Any = None

    def __enter__(self) -> Self:
        self._started = self._began = time.perf_counter()
        self._show()
        self._observe()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._block is not None:
            self._block.__exit__(None, None, None)
            self._block = self._step = None
        self._update(ended=True)

    def step(self, loss: Any) -> None:
        """Note that a step is over.

        Parameters
        ----------
        loss : float or Tensor
            Its loss, one number.

        Raises
        ------
        InvalidArgumentError
            If the loss is not one number.
        """
        seconds = time.perf_counter() - self._began
        if self._block is not None:  # before the loss is read, which would be an event as well
            self._block.__exit__(None, None, None)
            self._block = None
        value = _number(loss)
        self.losses.append(value)
        number = len(self.losses)
        if self._step is not None:
            self._measure(self._step, number, value, seconds)
        elif number > 1:
            self._plain.append(seconds)
            del self._plain[:-50]
        if not math.isfinite(value) and number + 1 < self._next:
            self._next = number + 1  # what follows a loss that is not finite is worth a look
        self._update()
        self._observe()
        self._began = time.perf_counter()

    def recording(self, step: int | None = None) -> Recording:
        """Return the recording of a step that was observed.

        Parameters
        ----------
        step : int, optional
            From 1.  By default the first step that went wrong, or else the latest one.

        Raises
        ------
        NotInRecording
            If that step was not observed, or its recording is not kept any more.
        """
        if step is None:
            step = self._first_wrong or max(self._recorders, default=0)
        if step not in self._recorders:
            kept = ", ".join(map(str, sorted(self._recorders))) or "none"
            raise NotInRecording(
                f"Step {step} is not among the steps whose recordings are kept: {kept}. "
                "Try watch_training(..., every=1) around the steps in question."
            )
        return self._recorders[step].recording()

    @property
    def recorded(self) -> tuple[int, ...]:
        """The steps of which there is a recording."""
        return tuple(sorted(self._recorders))

    def __repr__(self) -> str:
        return account(self.losses, self.samples[-1] if self.samples else None)

    def to_svg(self) -> str:
        """Return the losses as a static picture, an SVG."""
        return picture(self.losses, self.samples)

    def on_train_begin(self, logs: Logs | None = None) -> None:
        """Begin, as the block does; `fit` knows how many steps there will be."""
        if not self._variables:
            self._variables = {v._id: v for v in self.model.trainable_variables}  # pyright: ignore[reportPrivateUsage]
        epochs, steps = self.params.get("epochs"), self.params.get("steps")
        if self.steps is None and epochs and steps:
            self.steps = epochs * steps
        self.__enter__()

    def on_train_batch_end(self, batch: int, logs: Logs | None = None) -> None:
        """Note the loss of a batch."""
        self.step((logs or {}).get("loss", math.nan))

    def on_train_end(self, logs: Logs | None = None) -> None:
        """End, as the block does."""
        self.__exit__(None, None, None)

    def _observe(self) -> None:
        """Observe the next step, if it is its turn and there is time for it."""
        if len(self.losses) + 1 < self._next:
            return
        elapsed = time.perf_counter() - self._started
        if self._extra + self._dearest > max(FREE, MOST_TIME * (elapsed - self._extra)):
            return
        self._step = ObservedStep(self._variables)
        self._block = observing(self._step)
        self._block.__enter__()

    def _measure(self, observed: ObservedStep, number: int, loss: float, seconds: float) -> None:
        """Keep what was observed, and decide when to look again."""
        began = time.perf_counter()
        sample = observed.sample(number, loss)
        self.samples.append(sample)
        observed.recorder.names = names_around(3)
        observed.recorder.title = f"step {number}"
        self._recorders[number] = observed.recorder
        broken = not math.isfinite(loss) or any(not math.isfinite(p.gradient or 0.0) for p in sample.parameters)
        if broken and self._first_wrong is None:
            self._first_wrong = number
        spare = [step for step in sorted(self._recorders) if step != self._first_wrong]
        for step in spare[: max(0, len(self._recorders) - KEPT)]:
            del self._recorders[step]
        taken = seconds + time.perf_counter() - began
        if self._plain:
            self._dearest = max(0.0, taken - float(np.median(self._plain)))
            self._extra += self._dearest
        self._next = number + (self.every if self._plain else 2)
        self._step = None

    def _show(self) -> None:
        """Show the view, in a notebook with widgets."""
        if self._view is not None or not _in_notebook():
            return
        try:
            from IPython.display import display

            from autodiff_lab.widgets.training import TrainingView
        except ImportError:
            return
        self._view = TrainingView(title=self.title or "Training", opened=self._open)
        display(self._view)
        self._slot = display({"text/plain": ""}, raw=True, display_id=True)
        self._update()

    def _update(self, *, ended: bool = False) -> None:
        now = time.perf_counter()
        if self._view is None or (now - self._shown < EVERY_SECOND and not ended):
            return
        self._shown = now
        seconds = now - self._started
        done = len(self.losses)
        left = (self.steps - done) * seconds / done if self.steps and done else None
        times: dict[str, Any] = {"steps": self.steps, "left": left, "ended": ended}
        self._view.tell(self.losses, self.samples, self.recorded, **times)

    def _open(self, step: int) -> None:
        """Open a step in the explorer, below the view."""
        if self._slot is not None and step in self._recorders:
            from autodiff_lab.widgets.explorer import Explorer

            if self._opened is not None:
                self._opened.let_go()
            self._opened = Explorer(self.recording(step))
            data, metadata = self._opened._repr_mimebundle_() or ({}, {})
            self._slot.update(data, metadata=metadata, raw=True)  # displayed, it would be an output of its own


def _in_notebook() -> bool:
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return getattr(shell, "kernel", None) is not None


def _number(loss: Any) -> float:
    array = np.asarray(loss.numpy() if hasattr(loss, "numpy") else loss)
    if array.size != 1 or array.dtype.kind not in "biuf":
        raise InvalidArgumentError(
            f"watch.step: the loss must be one number, got {array.dtype} of shape {array.shape}. "
            "Try lab.reduce_mean(loss)."
        )
    return float(array.reshape(()))


def watch_training(
    model: object = None, *, every: int = 10, steps: int | None = None, title: str = ""
) -> TrainingWatch:
    """Watch a training loop: its losses, and the gradients, weights and dead units of every layer.

    Parameters
    ----------
    model : Model, Module, or iterable of Variable, optional
        What is trained.  `Model.fit` fills it in.
    every : int
        Every how many steps one is observed; more rarely where that would take over a tenth of the time.
    steps : int, optional
        How many there will be, for the time that is left.
    title : str
        Of the view.

    Returns
    -------
    TrainingWatch
        A block around a loop that calls `step` with the loss, or a callback of `Model.fit`.  In a notebook it shows a
        view that follows the training; elsewhere `print(watch)` says how it goes.

    Raises
    ------
    InvalidArgumentError
        If there is nothing to train in `model`, or `every` is not a positive integer.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> w = lab.Variable([1.0, -2.0], name="w")
    >>> optimizer = lab.optimizers.SGD(0.1)
    >>> with lab.watch_training([w], every=5) as watch:
    ...     for _ in range(20):
    ...         with lab.GradientTape() as tape:
    ...             loss = lab.reduce_sum(w * w)
    ...         _ = optimizer.apply_gradients([(tape.gradient(loss, w), w)])
    ...         watch.step(loss)
    >>> print(watch)  # doctest: +ELLIPSIS
    20 steps, loss 5 -> 0.00103...
    step ...
    >>> watch.recording()
    <Recording 'step ...>
    """
    found = trainable(model, "watch_training")
    if isinstance(every, bool) or not isinstance(every, int) or every < 1:
        raise InvalidArgumentError(f"watch_training: every must be a positive integer, got {every!r}.")
    return TrainingWatch(found, every, steps, title)
