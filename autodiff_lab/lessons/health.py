"""The health of the gradients of a network on one batch, layer by layer: lesson 12."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import autodiff_lab as lab
from autodiff_lab.draw.plots import Axis, Plot, line, points, svg
from autodiff_lab.draw.training import Sample, account, suspects
from autodiff_lab.errors import InvalidArgumentError, NotCallable
from autodiff_lab.exploring.observing import observe_step
from autodiff_lab.lessons.forms import DRAWS, Shown

SHOWN_BELOW = 1e-30
"""Norms below this are drawn there."""


class Health(Shown):
    """Norms of gradients and weights by layer, dead units, and what is suspicious.  Made by `health`.

    Attributes
    ----------
    sample : Sample
        What was measured.
    """

    def __init__(self, sample: Sample) -> None:
        self.sample = sample
        shown: list[Any] = [self.picture()]
        if DRAWS:
            from autodiff_lab.widgets.training import TrainingView

            view = TrainingView("Gradients of one batch")
            view.tell([sample.loss], [sample], ended=True)
            shown.append(view)
        super().__init__(*shown)

    @property
    def gradients(self) -> dict[str, float]:
        """The norm of each weight matrix's gradient, by the name of its layer, in the order of the program."""
        return {
            parameter.name.rpartition("/")[0] or parameter.name: parameter.gradient or 0.0
            for parameter in self.sample.parameters
            if not parameter.name.endswith("bias")
        }

    def account(self) -> str:
        """Return the table as text, rounded to one digit so that every machine says the same."""
        lines = [f"loss {self.sample.loss:.1f}", f"{'layer':<12}gradient  per weight"]
        weights = {each.name.rpartition("/")[0] or each.name: each.weight for each in self.sample.parameters
                   if not each.name.endswith("bias")}  # fmt: skip
        for name, gradient in self.gradients.items():
            ratio = gradient / weights[name] if weights[name] else math.nan
            lines.append(f"{name:<12}{gradient:>8.0e}  {ratio:>10.0e}")
        lines += [
            f"{units.name}: {units.dead} of {units.count} units dead" for units in self.sample.units if units.dead
        ]
        lines += [f"! {each.name}: {each.words}" for each in suspects(self.sample)] or ["nothing suspicious"]
        return "\n".join(lines)

    def picture(self) -> str:
        """Return the norms of the gradients, from the first layer to the last, as a static SVG."""
        norms = np.array(list(self.gradients.values()), dtype=float)
        known = norms[np.isfinite(norms) & (norms > 0)]
        low, high = (known.min(), known.max()) if len(known) else (0.1, 1.0)
        lo, hi = math.floor(math.log10(max(low, SHOWN_BELOW))), math.ceil(math.log10(high) + 1e-9)
        layer = np.arange(1, len(norms) + 1, dtype=float)
        heights = np.clip(norms, 10.0**lo, None)
        marks = points(layer, heights, "backward", 4)
        x = Axis(0.5, len(norms) + 0.5, "layer, from the input to the loss")
        y = Axis(10.0**lo / 1.5, 10.0 ** max(hi, lo + 1) * 1.5, "norm of the gradient", log=True)
        words = account([self.sample.loss], self.sample)
        layers = (line(layer, heights, "backward", faint=True), marks)
        return svg(Plot(x, y, layers, (), "Norm of the gradient by layer", words), height=260.0)


def health(model: Callable[[Any], Any], batch: Any, loss: Callable[[Any, Any], Any] | None = None) -> Health:
    """Measure the gradients of a network on one batch, layer by layer; nothing is changed.

    Parameters
    ----------
    model : Model, Module or Layer
        Returns logits; its `trainable_variables` are looked at, in order.
    batch : pair
        Inputs and labels.
    loss : callable, optional
        ``loss(labels, outputs)``, a number; by default the mean cross entropy of integer labels with logits.

    Returns
    -------
    Health
        Norms on a logarithmic axis in the order of the layers, the ratio to the weights, units that are 0 for every
        example, and what is suspicious, the worst first; `print` gives the table.

    Raises
    ------
    NotCallable
        If the model cannot be called.
    InvalidArgumentError
        If the batch is not a pair, the model has nothing to train, or the loss is not one number.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> from autodiff_lab import lessons
    >>> images, labels, _, _ = lessons.digits()
    >>> lab.random.set_seed(0)
    >>> deep = [lab.layers.Dense(32, activation="sigmoid") for _ in range(10)]
    >>> found = lessons.health(lab.keras.Sequential([*deep, lab.layers.Dense(10)]), (images[:256], labels[:256]))
    >>> norms = list(found.gradients.values())
    >>> round(np.log10(norms[-1] / norms[0]))
    6
    """
    if not callable(model):
        raise NotCallable(f"health: expected a model, got {type(model).__name__}. Try lab.keras.Sequential([...]).")
    if not isinstance(batch, tuple | list) or len(batch) != 2:
        raise InvalidArgumentError("health: expected inputs and labels as a pair. Try health(model, (images, labels)).")
    images, labels = batch
    judge = loss or _cross_entropy
    model(lab.constant(images))  # a first call makes the variables of layers that wait for a shape
    return Health(observe_step(model, lambda: judge(labels, model(lab.constant(images))), "health"))


def _cross_entropy(labels: Any, logits: Any) -> Any:
    return lab.reduce_mean(lab.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
