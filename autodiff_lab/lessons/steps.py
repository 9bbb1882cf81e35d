"""Pictures of lesson 3: the error of a measured slope against the step, and a game about the best step."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

import autodiff_lab as lab
from autodiff_lab.draw.steps import Steps, Values
from autodiff_lab.exploring.steps import explore_steps, measure_steps

if TYPE_CHECKING:
    from autodiff_lab.widgets.step_plot import StepPlot

PER_DECADE = 8
_FUNCTIONS: tuple[tuple[str, Callable[[Any], Any], float], ...] = (
    ("sin x", lab.sin, 1.0),
    ("x³", lambda x: x * x * x, 1.0),
    ("sin 500x", lambda x: lab.sin(500.0 * x), 0.3),
    ("exp x", lab.exp, 2.0),
    ("x²", lambda x: x * x, 3000.0),
    ("1/x", lambda x: 1.0 / x, 0.02),
    ("1000 + sin x", lambda x: 1000.0 + lab.sin(x), 1.0),
    ("tanh 40x", lambda x: lab.tanh(40.0 * x), 0.01),
)
"""What the game deals: the best step lies between 1e-11 and 1e-5."""


def step_plot(f: Callable[[Any], Any], x: float, *, name: str | None = None) -> StepPlot:
    """Open the error of measured slopes against the step, with the digits that cancel.

    The same as `autodiff_lab.explore_steps`, which describes arguments and errors.

    Parameters
    ----------
    f : callable
        Of one Tensor.
    x : float
        The point.
    name : str, optional
        The name to show.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> print(lessons.step_plot(lambda x: x * x * x, 1.0).account().splitlines()[1].strip())
    float64, one-sided: best step near 1e-8, error near 1e-7
    """
    return explore_steps(f, x, name=name)


def step_game(seed: int | None = None) -> StepPlot:
    """Deal a function whose best step is to be found in five tries; errors show only for the steps that are tried.

    Parameters
    ----------
    seed : int, optional
        Deals the same function again.

    Returns
    -------
    StepPlot
        A widget; ``.to_html(path)`` writes the game as a page that needs no kernel.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> lessons.step_game(seed=0).account()
    'Find the best step for 1000 + sin x at 1 in five tries.'
    """
    from autodiff_lab.widgets.step_plot import StepPlot

    start = int(np.random.default_rng(seed).integers(len(_FUNCTIONS)))
    return StepPlot(*(_dealt(*each) for each in _FUNCTIONS), game=True, start=start)


def _dealt(name: str, f: Callable[[Any], Any], x: float) -> Steps:
    """Return what one game needs: one formula, one dtype."""
    steps = measure_steps(f, x, name, PER_DECADE)
    values = steps.values["float64"]
    kept = Values(values.here, values.h, values.plus, np.array([]))
    return Steps(name, x, steps.derivatives, {"float64": kept})
