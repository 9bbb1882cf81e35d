"""How a training run goes: losses, and at some steps the health of every parameter, as values, words and a picture.

A `Sample` is what was measured in one step.  `suspects` says what of it should worry its reader, the worst first.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from autodiff_lab.draw.plots import Axis, Plot, line, points
from autodiff_lab.draw.plots import svg as drawn

VANISHING = 1e-4
"""Gradient norms below this part of the largest one are called vanishing."""
FAST, SLOW = 0.1, 1e-6
"""Relative changes of a parameter in one step beyond which it changes too fast, or hardly at all."""
MOST_DEAD = 0.5
"""Part of the units of a layer beyond which the dead ones are worth a word."""
MOST_POINTS = 400
"""Losses that a picture shows: of more, the smallest and the largest of each stretch."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A trainable variable in one step.

    Attributes
    ----------
    name : str
        Of the variable.
    weight : float
        The norm of its value.
    gradient : float or None
        The norm of its gradient; None where no gradient reached it.
    change : float or None
        The norm of what the step added, as a part of `weight`; None where the step did not assign it.
    """

    name: str
    weight: float
    gradient: float | None = None
    change: float | None = None


@dataclass(frozen=True, slots=True)
class Units:
    """The units of one rectifier in one step: `dead` of `count` were 0 for every example."""

    name: str
    count: int
    dead: int


@dataclass(frozen=True, slots=True)
class Sample:
    """What was measured in one step; parameters and units are in the order of the program."""

    step: int
    loss: float
    parameters: tuple[Parameter, ...] = ()
    units: tuple[Units, ...] = ()


@dataclass(frozen=True, slots=True)
class Suspect:
    """Something that should worry the reader: its subject, a sentence, how bad it is, and the parameters concerned."""

    name: str
    words: str
    weight: float
    parameters: tuple[str, ...] = ()


def suspects(sample: Sample) -> tuple[Suspect, ...]:
    """Return what is suspicious in a step, the worst first.

    Examples
    --------
    >>> step = Sample(7, 1.0, (Parameter("first", 1.0, 1e-9), Parameter("last", 1.0, 1.0)), (Units("relu", 32, 32),))
    >>> for suspect in suspects(step):
    ...     print(f"{suspect.name}: {suspect.words}")
    relu: all 32 units are 0 for every example, so no gradient passes them. Try a smaller step or a leaky rectifier.
    first: its gradient is 1,000,000,000 times smaller than the largest one, so it hardly learns.
    """
    found: list[Suspect] = []
    if not math.isfinite(sample.loss):
        found.append(Suspect("loss", f"it is {sample.loss}. The explanation of this step says where that began.", 1e9))
    norms = [p.gradient for p in sample.parameters if p.gradient is not None and math.isfinite(p.gradient)]
    largest = max(norms, default=0.0)
    heaviest = max((p.weight for p in sample.parameters if math.isfinite(p.weight)), default=0.0)
    vanishing = [p for p in sample.parameters if p.gradient and p.gradient < VANISHING * largest]
    for parameter in sample.parameters:
        if parameter not in vanishing:  # that it hardly changes is then no news
            found += _of_parameter(parameter, heaviest)
    found += _vanishing(vanishing, largest)
    for units in sample.units:
        part = units.dead / units.count if units.count else 0.0
        if part > MOST_DEAD:
            many = f"all {units.count}" if units.dead == units.count else f"{units.dead} of {units.count}"
            rest = ", so no gradient passes them" if units.dead == units.count else ""
            words = f"{many} units are 0 for every example{rest}. Try a smaller step or a leaky rectifier."
            found.append(Suspect(units.name, words, 100 * part + 1e4 * (part == 1)))
    return tuple(sorted(found, key=lambda suspect: -suspect.weight))


def _of_parameter(parameter: Parameter, heaviest: float) -> list[Suspect]:
    name, gradient, change = parameter.name, parameter.gradient, parameter.change
    if not math.isfinite(parameter.weight):
        return [Suspect(name, "its value is not finite any more.", 1e8, (name,))]
    if gradient is None:
        return [Suspect(name, "no gradient reaches it; tape.explain says why.", 1e3, (name,))]
    if not math.isfinite(gradient):
        return [Suspect(name, f"its gradient is {gradient}.", 1e7, (name,))]
    if gradient == 0.0:
        return [Suspect(name, "its gradient is exactly 0.", 5e2, (name,))]
    if change is not None and change > FAST and parameter.weight > 0.1 * heaviest:  # a bias near 0 may do so
        return [Suspect(name, f"it changes by {change:.0%} in one step. Try a smaller learning rate.", 50.0, (name,))]
    if change is not None and 0 < change < SLOW:
        words = f"it changes by only {change:.0e} of its size in one step. Try a larger learning rate."
        return [Suspect(name, words, 1.0, (name,))]
    return []


def _vanishing(parameters: Sequence[Parameter], largest: float) -> list[Suspect]:
    """Return one suspect for all parameters whose gradients vanish, named after the worst."""
    if not parameters:
        return []
    worst = min(parameters, key=lambda parameter: parameter.gradient or 0.0)
    ratio = largest / (worst.gradient or 1.0)
    times = f"{float(f'{ratio:.1g}'):,.0f}" if ratio < 1e15 else f"{ratio:.0e}"
    more = len(parameters) - 1
    name = f"{worst.name} and {more} more" if more else worst.name
    words = f"its gradient is {times} times smaller than the largest one, so it hardly learns."
    if more:
        words = f"their gradients are up to {times} times smaller than the largest one, so they hardly learn."
    return [Suspect(name, words, 10 * math.log10(ratio), tuple(parameter.name for parameter in parameters))]


def thinned(losses: Sequence[float], most: int = MOST_POINTS) -> tuple[list[int], list[float]]:
    """Return steps (from 1) and losses, at most about `most`; of each stretch the smallest and the largest remain.

    A loss that is not finite always remains, since it is what one looks for.

    Examples
    --------
    >>> thinned([3.0, 2.0, 9.0, 1.0], most=2)
    ([1, 3, 4], [3.0, 9.0, 1.0])
    """
    count = len(losses)
    if count <= most:
        return list(range(1, count + 1)), list(losses)
    values = np.asarray(losses, dtype=float)
    finite = np.where(np.isfinite(values), values, np.nan)
    kept = {0, count - 1, *np.flatnonzero(~np.isfinite(values))[:10].tolist()}
    for part in np.array_split(np.arange(count), max(1, most // 2)):
        inside = finite[part]
        if np.isfinite(inside).any():
            kept |= {int(part[np.nanargmin(inside)]), int(part[np.nanargmax(inside)])}
    places = sorted(kept)
    return [place + 1 for place in places], values[places].tolist()


def account(losses: Sequence[float], sample: Sample | None) -> str:
    """Return how a training goes, in words.

    Examples
    --------
    >>> print(account([2.0, 1.0], Sample(2, 1.0, (Parameter("kernel", 2.0, 0.5, 0.01),))))
    2 steps, loss 2 -> 1
    step 2       gradient  weight  change
      kernel          0.5       2   0.01
    nothing suspicious
    """
    if not losses:
        return "no step yet"
    lines = [f"{counted(len(losses))}, loss {losses[0]:.4g} -> {losses[-1]:.4g}"]
    if sample is None:
        return lines[0]
    wide = max([11, *(len(parameter.name) for parameter in sample.parameters)])
    lines.append(f"{f'step {sample.step}':<{wide + 2}}{'gradient':>8}  {'weight':>6}  {'change':>6}")
    for parameter in sample.parameters:
        cells = (_short(parameter.gradient, 8), _short(parameter.weight, 6), _short(parameter.change, 6))
        lines.append(f"  {parameter.name:<{wide}}{'  '.join(cells)}")
    lines += [f"  {units.name}: {units.dead} of {units.count} units dead" for units in sample.units if units.dead]
    found = suspects(sample)
    lines += [f"! {suspect.name}: {suspect.words}" for suspect in found] or ["nothing suspicious"]
    return "\n".join(lines)


def counted(steps: int) -> str:
    """Return a number of steps in words.

    Examples
    --------
    >>> counted(1), counted(1200)
    ('1 step', '1,200 steps')
    """
    return f"{steps:,} step{'' if steps == 1 else 's'}"


def _short(value: float | None, width: int) -> str:
    return f"{'-' if value is None else f'{value:.2g}':>{width}}"


def heights(losses: Sequence[float]) -> Axis:
    """Return the axis of all finite losses, logarithmic where they span more than a factor of 20.

    Examples
    --------
    >>> heights([100.0, 1.0, math.nan]).log, heights([]).hi
    (True, 2.0)
    """
    finite = [loss for loss in losses if math.isfinite(loss)] or [1.0]
    lo, hi = min(finite), max(finite)
    if lo > 0 and hi > 20 * lo:
        return Axis(lo / 1.2, hi * 1.2, "loss", log=True)
    margin = 0.08 * (hi - lo) or abs(hi) or 1.0
    return Axis(lo - margin, hi + margin, "loss")


def norms(samples: Sequence[Sample]) -> Axis:
    """Return the logarithmic axis of the gradients and weights of all samples, which stays as steps go by.

    Examples
    --------
    >>> norms([Sample(1, 2.0, (Parameter("w", 5.0, 2e-6),))])
    Axis(lo=1e-06, hi=10.0, name='', log=True)
    """
    found = (norm for sample in samples for p in sample.parameters for norm in (p.gradient, p.weight))
    sizes = [math.log10(norm) for norm in found if norm and math.isfinite(norm)]
    low = max(math.floor(min(sizes, default=-1)), -30)
    return Axis(10.0**low, 10.0 ** max(low + 1, min(math.ceil(max(sizes, default=1)), 30)), log=True)


def picture(losses: Sequence[float], samples: Sequence[Sample]) -> str:
    """Return the losses as a static SVG, with points at the steps that were sampled.

    Examples
    --------
    >>> picture([2.0, 1.0, 0.5], ())[:4]
    '<svg'
    """
    steps, values = thinned(losses)
    shown = [sample for sample in samples if math.isfinite(sample.loss)]
    marks = points([s.step for s in shown], [s.loss for s in shown], role="forward")
    layers = (line(steps, values, role="forward"), marks)
    words = account(losses, samples[-1] if samples else None)
    steps_axis = Axis(1.0, max(2.0, float(len(losses))), "step")
    return drawn(Plot(steps_axis, heights(losses), layers, title="Loss", account=words))
