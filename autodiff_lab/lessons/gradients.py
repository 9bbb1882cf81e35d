"""Check gradients that a learner computed by hand: against the tape, and against engines that are wrong on purpose.

The idea behind a wrong answer is what `lab.teaching` finds: an idea that gives the answer at every point tried.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import autodiff_lab as lab
from autodiff_lab.lessons.attempt import attempt, checked, numbers, same, stop
from autodiff_lab.lessons.codes import CODES
from autodiff_lab.lessons.result import CheckResult, not_yet, passed
from autodiff_lab.teaching import diagnose_answer

Function = Callable[..., Any]
Numbers = dict[str, float]

_CALLED = {"STALE_LEAVES": "STALE"}
"""Ideas that the lessons do not distinguish from others."""
TRIALS = 6
"""Points at which an answer is tried."""


def gradients_of(function: Function, at: Numbers) -> Numbers:
    """Return the gradient of a function with respect to each argument, from the tape; 0 where there is no path.

    Examples
    --------
    >>> gradients_of(lambda x, y: x * y, {"x": 3.0, "y": 2.0})
    {'x': 2.0, 'y': 3.0}
    """
    sources = [lab.constant(value, dtype=lab.float64) for value in at.values()]
    with lab.GradientTape() as tape:
        tape.watch(sources)
        target = function(*sources)
    found = tape.gradient(target, sources, unconnected_gradients=lab.UnconnectedGradients.ZERO)
    return {name: float(value) for name, value in zip(at, found, strict=True)}


def diagnosis(function: Function, points: Sequence[Numbers], answers: Sequence[Numbers]) -> str:
    """Return the code of the wrong idea that explains all answers, or ``"OTHER"``.

    Examples
    --------
    >>> diagnosis(lambda x: x * x, [{"x": 3.0}, {"x": 1.5}], [{"x": 3.0}, {"x": 1.5}])
    'OVERWRITE'
    """
    said = diagnose_answer(recorded(function, points[0]), answers, points)
    found = [_CALLED.get(code, code) for code in said.codes or said.tie]
    # of two ideas that give the same numbers, the one that the lesson on going backwards cures
    known = sorted((code for code in found if code in CODES), key=lambda code: 7 not in CODES[code].lessons)
    return known[0] if known else "SIGN" if _signs_alone(function, points, answers) else "OTHER"


def recorded(function: Function, at: Numbers) -> lab.Recording:
    """Return the recording of a function with its gradient with respect to each argument."""
    sources = [lab.Variable(value, dtype=lab.float64, name=name) for name, value in at.items()]
    with lab.record() as recording, lab.GradientTape() as tape:
        tape.gradient(function(*sources), sources)
    return recording


def _signs_alone(function: Function, points: Sequence[Numbers], answers: Sequence[Numbers]) -> bool:
    """Return whether each derivative is right but for its sign, at all points alike."""
    right = [gradients_of(function, at) for at in points]
    return all(
        any(all(same(given[name], sign * true[name]) for given, true in zip(answers, right, strict=True))
            for sign in (1.0, -1.0))
        for name in right[0]
    )  # fmt: skip


def agree(some: Sequence[Numbers], others: Sequence[Numbers]) -> bool:
    """Return whether all numbers agree, name by name."""
    return all(same(one[name], other[name]) for one, other in zip(some, others, strict=True) for name in other)


@checked
def check_gradients(by_hand: Function, function: Function, seed: int | None = None) -> CheckResult:
    """Check a function that computes a gradient by hand, at fresh points.

    Parameters
    ----------
    by_hand : callable
        Takes numbers and returns a dict: the gradient of `function` with respect to each argument, by name.
    function : callable
        The function itself, of ops; its arguments have the names of the gradients.
    seed : int, optional
        Makes the points the same again; by default they are fresh each time.

    Returns
    -------
    CheckResult
        With the code of a misconception if one explains the answers.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> lessons.check_gradients(lambda x, y: {"x": y, "y": x}, lambda x, y: x * y)
    Passed. The gradients agree with the tape at 6 fresh points.
    >>> lessons.check_gradients(lambda x, y: {"x": x, "y": y}, lambda x, y: x * y).code
    'OWN_VALUE'
    """
    names = names_of(function)
    points = fresh_points(names, np.random.default_rng(seed))
    answers = [numbers(attempt(by_hand, *at.values()), names) for at in points]
    right = [gradients_of(function, at) for at in points]
    if agree(answers, right):
        return passed(f"The gradients agree with the tape at {TRIALS} fresh points.")
    code = diagnosis(function, points, answers)
    if code != "OTHER":
        return not_yet(code)
    wrong = [name for name in names if not agree([{name: a[name]} for a in answers], [{name: r[name]} for r in right])]
    which = " and ".join(filter(None, [", ".join(wrong[:-1]), wrong[-1]]))
    raise stop(
        "OTHER", f"The gradient with respect to {which} is not right, and it is none of the usual wrong answers."
    )


def names_of(function: Function) -> tuple[str, ...]:
    """Return the names of a function's arguments.

    Examples
    --------
    >>> names_of(lambda x, y: x * y)
    ('x', 'y')
    """
    code = function.__code__
    return tuple(code.co_varnames[: code.co_argcount])


def fresh_points(names: Sequence[str], rng: np.random.Generator) -> list[Numbers]:
    """Return points between −2 and 2 whose coordinates are well apart, so that no max is a tie and no two ideas agree.

    With each point comes its opposite, so that either input of a max wins somewhere.
    """
    points: list[Numbers] = []
    while len(points) < TRIALS:
        place = np.round(rng.uniform(-2, 2, len(names)), 2)
        gaps = np.abs(np.subtract.outer(place, place))[~np.eye(len(names), dtype=bool)]
        if np.all(np.abs(place) > 0.2) and np.all(gaps > 0.2) and np.all(np.abs(np.abs(place) - 1) > 0.1):
            points += [dict(zip(names, map(float, each), strict=True)) for each in (place, -place)]
    return points
