"""One step of a training run under observation: which gradient reached which variable, and which units stayed at 0."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

import autodiff_lab as lab
from autodiff_lab.draw.lines import cut
from autodiff_lab.draw.training import Parameter, Sample, Units
from autodiff_lab.engine.variable import Variable
from autodiff_lab.errors import InvalidArgumentError
from autodiff_lab.events import OpApplied, SweepEnded, SweepStarted, TensorMet, VariableAssigned
from autodiff_lab.events.listener import observing
from autodiff_lab.recording.recorder import Recorder

RECTIFIERS = frozenset({"relu", "relu6", "crelu"})
BUDGET = 64 * 1024 * 1024
"""Bytes of values that the recording of one step holds."""


class ObservedStep:
    """The observer of one step."""

    def __init__(self, variables: dict[int, Variable]) -> None:
        self.recorder = Recorder(budget=BUDGET)
        self.variables = variables
        self.before = {key: _norm(variable.numpy()) for key, variable in variables.items()}
        self.reads: dict[int, int] = {}
        self.values: dict[int, Any] = {}
        self.sources: dict[int, tuple[int, ...]] = {}
        self.gradients: dict[int, float] = {}
        self.changes: dict[int, float] = {}
        self.held: dict[int, Any] = {}
        self.units: list[Units] = []

    def __call__(self, event: Any) -> None:
        """Note what an event says."""
        self.recorder(event)
        kind = event.__class__
        if kind is OpApplied:
            self.values.update(zip(event.outputs, event.values, strict=True))
            if event.cause is None and event.op in RECTIFIERS and event.values[0].ndim > 1:
                self.units.append(_units_of(event))
        elif kind is TensorMet:
            self.values[event.tensor] = event.value
            if event.variable in self.variables:
                self.reads[event.tensor] = event.variable
                self.held[event.variable] = event.value
        elif kind is SweepStarted:
            self.sources[event.sweep] = event.sources
        elif kind is SweepEnded:
            self._end(event)
        elif kind is VariableAssigned and event.variable in self.held:
            self._assign(event)

    def _end(self, event: SweepEnded) -> None:
        for source, result in zip(self.sources.pop(event.sweep, ()), event.results, strict=False):
            variable = self.reads.get(source)
            value = self.values.get(result) if result is not None else None
            if variable is not None and value is not None:
                self.gradients[variable] = _norm(value)

    def _assign(self, event: VariableAssigned) -> None:
        old, new = self.held[event.variable], event.value
        self.held[event.variable] = new
        before = self.before[event.variable]
        if np.shape(old) == np.shape(new) and before:
            self.changes[event.variable] = _norm(np.asarray(new) - np.asarray(old)) / before

    def sample(self, step: int, loss: float) -> Sample:
        """Return what was measured; a variable that no sweep asked for has no gradient to report."""
        rows = [
            Parameter(
                cut(variable.name.removesuffix(":0")), self.before[key], self.gradients.get(key), self.changes.get(key)
            )
            for key, variable in self.variables.items()
            if self.reads
        ]
        return Sample(step, loss, tuple(rows), tuple(self.units))


def _units_of(event: OpApplied) -> Units:
    """Count the units, those of the last axis, that are 0 for every example."""
    value = np.asarray(event.values[0])
    dead = np.all(value == 0, axis=tuple(range(value.ndim - 1)))
    return Units(f"{event.scope or 'program'}: {event.op}", int(dead.size), int(dead.sum()))


def _norm(value: Any) -> float:
    """Return the Euclidean norm of anything that a variable may hold."""
    array = np.asarray(getattr(value, "values", value))
    with np.errstate(over="ignore", invalid="ignore"):
        return float(np.linalg.norm(array.astype(np.complex128 if array.dtype.kind == "c" else np.float64).ravel()))


def trainable(model: Any, who: str) -> list[Variable]:
    """Return the variables of a model, a layer, or an iterable of variables; none for None.

    Raises
    ------
    InvalidArgumentError
        If there are none.

    Examples
    --------
    >>> trainable(None, "watch_training")
    []
    """
    variables: Iterable[Any] = () if model is None else getattr(model, "trainable_variables", model)
    if isinstance(variables, Variable):
        variables = (variables,)
    try:
        given = list(variables)
    except TypeError:
        given = [model]
    found = [each for each in given if isinstance(each, Variable)]
    if model is not None and (not found or len(found) < len(given)):
        raise InvalidArgumentError(
            f"{who}: expected a model, a layer or variables that can be trained, got "
            f"{type(model).__name__}{' without any' if not given else ''}. Build the model before, by calling it once."
        )
    return found


def observe_step(model: Any, loss: Callable[[], Any], who: str) -> Sample:
    """Compute a loss and its gradients under observation, and change nothing.

    Examples
    --------
    >>> w = lab.Variable([3.0, 4.0], name="w")
    >>> observe_step([w], lambda: lab.reduce_sum(w * w), "health").parameters
    (Parameter(name='w', weight=5.0, gradient=10.0, change=None),)
    """
    variables = trainable(model, who)
    observed = ObservedStep({variable._id: variable for variable in variables})  # pyright: ignore[reportPrivateUsage]
    with observing(observed):
        with lab.GradientTape() as tape:
            value = loss()
        if np.shape(value) != ():
            raise InvalidArgumentError(f"{who}: the loss must be one number, got shape {tuple(np.shape(value))}.")
        tape.gradient(value, variables)
    return observed.sample(1, float(value))
