"""The learning rate of an optimizer: a number, a variable or a schedule.

A program reads a variable in every call, and asks a schedule before it runs, so that a step whose rate changes is
compiled once.  A number is a constant of the program; when another one is assigned it becomes a variable.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from autodiff_lab.engine.devices import device
from autodiff_lab.engine.tensor import Tensor, wrap
from autodiff_lab.engine.variable import Variable
from autodiff_lab.errors import InvalidArgumentError
from autodiff_lab.events.listener import SINKS, name_scope, sinks_now, trace_now, unheard
from autodiff_lab.layers.schedules import LearningRateSchedule
from autodiff_lab.ops.array.casting import cast

_NO_NUMBERS = (LearningRateSchedule, Variable, Tensor)
_TAKEN: WeakKeyDictionary[Any, dict[Variable, tuple[int, int]]] = WeakKeyDictionary()
"""For each trace and step count of an optimizer: how many steps were taken, and the value of the count then."""
_RATES: WeakKeyDictionary[Any, dict[tuple[int, Variable, int], Tensor]] = WeakKeyDictionary()
"""For each trace, schedule, step count and step: the rate, which all variables of the step share."""


def step_taken(trace: Any, iterations: Variable) -> None:
    """Note that an optimizer has taken a step under a trace."""
    steps = _TAKEN.setdefault(trace, {})
    count = steps.get(iterations, (0, 0))[0]
    steps[iterations] = count + 1, trace.assigned[iterations]


def rate_in(trace: Any, schedule: LearningRateSchedule, iterations: Variable) -> Tensor:
    """Return the rate at a traced step: Python asks the schedule for it in every call, before the program runs."""
    count, value = _TAKEN.get(trace, {}).get(iterations, (0, None))
    if trace.assigned.get(iterations) != value:
        trace.refuse("the step count of an optimizer whose learning rate follows a schedule is assigned")
    rates, key = _RATES.setdefault(trace, {}), (id(schedule), iterations, count)
    if key in rates:
        return rates[key]

    def make() -> Any:
        return np.float64(schedule(int(iterations._array) + count))

    sinks = sinks_now()
    SINKS.set(())
    try:
        rate = wrap(np.float64(schedule(int(iterations._array))))  # the trace runs eagerly: the count has advanced
    finally:
        SINKS.set(sinks)
    trace.note_late(rate, "rate", make, None)
    rates[key] = rate
    return rate


def checked_rate(value: Any) -> Any:
    """Check that a learning rate is a number or a schedule, and return it.

    Examples
    --------
    >>> checked_rate(0.1)
    0.1
    """
    return (
        value if isinstance(value, LearningRateSchedule) else number(value, "learning_rate", "a number or a schedule")
    )


def number(value: Any, what: str, wanted: str = "a number") -> Any:
    """Check that a setting is a number, and return it unchanged.

    Raises
    ------
    InvalidArgumentError
        If it is not.

    Examples
    --------
    >>> number(0.9, "momentum")
    0.9
    """
    try:
        if isinstance(value, (str, bytes)):
            raise TypeError
        float(value)
    except (TypeError, ValueError):
        raise InvalidArgumentError(f"{what} must be {wanted}, got {value!r}. Try a number such as 0.1.") from None
    return value


class Rate(float):
    """The learning rate of an optimizer at the current step: a number that can be assigned to.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> optimizer = lab.optimizers.Adam(0.1)
    >>> optimizer.learning_rate.assign(0.05)
    0.05
    >>> optimizer.learning_rate.numpy()
    np.float32(0.05)
    """

    optimizer: Any

    def assign(self, value: Any) -> Rate:
        """Change the rate of the optimizer, and return it; a schedule is replaced."""
        if isinstance(self.optimizer._rate, Variable):
            self.optimizer._rate.assign(value)
        else:
            self.optimizer.learning_rate = value
        return self.optimizer.learning_rate

    def numpy(self) -> np.float32:
        """Return the rate as a NumPy number."""
        return np.float32(self)

    value = numpy


class Rated:
    """The part of an optimizer that knows its learning rate."""

    iterations: Variable
    name: str
    _rate: Any
    _own_rate: Variable | None = None
    """What holds the rate once a number was replaced by another one."""

    @property
    def learning_rate(self) -> Rate:
        """The rate at the current step, a number; assign to it, or call its `assign`, to change it."""
        rate = Rate(self._number())
        rate.optimizer = self
        return rate

    @learning_rate.setter
    def learning_rate(self, value: Any) -> None:
        rate, own = checked_rate(value), self._own_rate
        if isinstance(rate, _NO_NUMBERS) or not self._has_formula():
            self._rate = rate
        elif own is not None and self._rate is own:
            with unheard() if trace_now() is None else nullcontext():  # a trace has to hear of it
                own.assign(rate)
        elif isinstance(self._rate, _NO_NUMBERS) or self._rate != rate:
            self._rate = self._own_rate = self._in_variable(rate)

    lr = learning_rate

    def _in_variable(self, rate: Any) -> Variable:
        """Return a variable with the rate, which programs read in every call."""
        with device("/CPU:0"), name_scope(""), unheard():
            return Variable(float(rate), dtype="float64", trainable=False, name=f"{self.name}/learning_rate")

    def _has_formula(self) -> bool:
        """Return whether the rule is a built-in one, which takes the rate from `_rate_now`."""
        raise NotImplementedError

    def _setting(self) -> Any:
        """Return the rate as a new optimizer is given it: a number or a schedule."""
        return self._rate if isinstance(self._rate, LearningRateSchedule) else float(self._rate)

    def _number(self) -> float:
        """Return the rate at the current step."""
        if not isinstance(self._rate, LearningRateSchedule):
            return float(self._rate)
        trace = trace_now()
        if trace is not None:
            trace.refuse("the learning rate follows a schedule")
        return float(self._rate(int(self.iterations._array)))

    def _rate_for(self, gradient: Any) -> Any:
        """Return the rate of this step, by which `change` multiplies a gradient; under a trace it may be a tensor."""
        rate = self._rate_now()
        return cast(rate, gradient.dtype) if isinstance(rate, Tensor) else rate

    def _rate_now(self) -> Any:
        """Return the rate of this step, in float64; under a trace, a separate value if it may differ between calls."""
        trace = trace_now()
        if trace is None or not isinstance(self._rate, _NO_NUMBERS):
            return self._number()
        if not isinstance(self._rate, LearningRateSchedule):
            return cast(self._rate, "float64")
        return rate_in(trace, self._rate, self.iterations)
