"""Learning-rate schedules: the rate as a function of the step."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from autodiff_lab.absent import answering as _answering
from autodiff_lab.errors import InvalidArgumentError
from autodiff_lab.layers.configured import Configured

__all__ = [
    "CosineDecay", "ExponentialDecay", "InverseTimeDecay", "LearningRateSchedule", "PiecewiseConstantDecay",
    "PolynomialDecay",
]  # fmt: skip


class LearningRateSchedule(Configured):
    """Base of schedules: call with a step, counted from 0, to get a rate."""

    def __call__(self, step: int) -> float:
        """Return the rate at a step."""
        raise NotImplementedError


class ExponentialDecay(LearningRateSchedule):
    """``initial * decay_rate ** (step / decay_steps)``.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.optimizers.schedules.ExponentialDecay(1.0, 10, 0.5)(20)
    0.25
    """

    def __init__(self, initial_learning_rate: float, decay_steps: int, decay_rate: float,
                 staircase: bool = False, name: str | None = None) -> None:  # fmt: skip
        self.initial_learning_rate, self.decay_steps, self.decay_rate = initial_learning_rate, decay_steps, decay_rate
        self.staircase, self.name = staircase, name or type(self).__name__

    def __call__(self, step: int) -> float:
        exponent = step / self.decay_steps
        return self.initial_learning_rate * self.decay_rate ** (math.floor(exponent) if self.staircase else exponent)


class CosineDecay(LearningRateSchedule):
    """Half a cosine from the initial rate to ``alpha`` times it: Loshchilov & Hutter 2017.

    With a `warmup_target` the rate first rises to it linearly over `warmup_steps`, and the cosine begins there.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> round(lab.optimizers.schedules.CosineDecay(1.0, 10)(5), 3)
    0.5
    >>> lab.optimizers.schedules.CosineDecay(0.0, 10, warmup_target=1.0, warmup_steps=4)(1)
    0.25
    """

    def __init__(self, initial_learning_rate: float, decay_steps: int, alpha: float = 0.0, name: str | None = None,
                 warmup_target: float | None = None, warmup_steps: int = 0) -> None:  # fmt: skip
        self.initial_learning_rate, self.decay_steps, self.alpha = initial_learning_rate, decay_steps, alpha
        self.name, self.warmup_target, self.warmup_steps = name or type(self).__name__, warmup_target, warmup_steps

    def __call__(self, step: int) -> float:
        start = self.initial_learning_rate
        if self.warmup_target is not None:
            if step < self.warmup_steps:
                return start + (self.warmup_target - start) * step / self.warmup_steps
            start, step = self.warmup_target, step - self.warmup_steps
        share = 0.5 * (1 + math.cos(math.pi * min(step, self.decay_steps) / self.decay_steps))
        return start * ((1 - self.alpha) * share + self.alpha)


class PiecewiseConstantDecay(LearningRateSchedule):
    """One rate up to each boundary, the last one after it.

    Raises
    ------
    InvalidArgumentError
        If there is not exactly one more value than boundaries.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> rate = lab.optimizers.schedules.PiecewiseConstantDecay([10], [1.0, 0.1])
    >>> rate(10), rate(11)
    (1.0, 0.1)
    """

    def __init__(self, boundaries: list[int], values: list[float], name: str | None = None) -> None:
        if len(values) != len(boundaries) + 1:
            raise InvalidArgumentError(
                f"PiecewiseConstantDecay: {len(boundaries)} boundaries need {len(boundaries) + 1} values, "
                f"got {len(values)}."
            )
        self.boundaries, self.values, self.name = boundaries, values, name or type(self).__name__

    def __call__(self, step: int) -> float:
        return self.values[sum(step > boundary for boundary in self.boundaries)]


class InverseTimeDecay(LearningRateSchedule):
    """``initial / (1 + decay_rate * step / decay_steps)``.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.optimizers.schedules.InverseTimeDecay(1.0, 10, 1.0)(10)
    0.5
    """

    def __init__(self, initial_learning_rate: float, decay_steps: int, decay_rate: float,
                 staircase: bool = False, name: str | None = None) -> None:  # fmt: skip
        self.initial_learning_rate, self.decay_steps, self.decay_rate = initial_learning_rate, decay_steps, decay_rate
        self.staircase, self.name = staircase, name or type(self).__name__

    def __call__(self, step: int) -> float:
        share = step / self.decay_steps
        return self.initial_learning_rate / (1 + self.decay_rate * (math.floor(share) if self.staircase else share))


class PolynomialDecay(LearningRateSchedule):
    """From the initial rate to `end_learning_rate` along a power of the remaining steps.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.optimizers.schedules.PolynomialDecay(1.0, 10, 0.0)(5)
    0.5
    """

    def __init__(self, initial_learning_rate: float, decay_steps: int, end_learning_rate: float = 1e-4,
                 power: float = 1.0, cycle: bool = False, name: str | None = None) -> None:  # fmt: skip
        self.initial_learning_rate, self.decay_steps = initial_learning_rate, decay_steps
        self.end_learning_rate, self.power, self.cycle = end_learning_rate, power, cycle
        self.name = name or type(self).__name__

    def __call__(self, step: int) -> float:
        steps = self.decay_steps * max(1, math.ceil(step / self.decay_steps)) if self.cycle else self.decay_steps
        left = 1 - min(step, steps) / steps
        return (self.initial_learning_rate - self.end_learning_rate) * left**self.power + self.end_learning_rate


if not TYPE_CHECKING:  # a checker reports every name that is missing
    __getattr__ = _answering(__name__)
