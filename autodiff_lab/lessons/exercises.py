"""The exercises of the course by number: `check` looks them up, notes the answer, and `progress` draws how far one is.

Each module of checks has a table ``EXERCISES``; this one joins them.
"""

from __future__ import annotations

import inspect
from difflib import get_close_matches
from typing import Any

from autodiff_lab.errors import InvalidArgumentError
from autodiff_lab.lessons import (
    booking,
    broadcasting,
    casework,
    checkpoints,
    compiling,
    costs,
    curvature,
    differences,
    downhill,
    emitting,
    guarding,
    iterating,
    launches,
    levels,
    orders,
    plans,
    products,
    puzzle,
    rates,
    repairs,
    store,
    sweeping,
    verdicts,
)
from autodiff_lab.lessons.attempt import is_blank
from autodiff_lab.lessons.exercise import Exercise
from autodiff_lab.lessons.result import CheckResult

_TABLES = (
    rates,
    levels,
    differences,
    iterating,
    sweeping,
    downhill,
    repairs,
    puzzle,
    booking,
    orders,
    broadcasting,
    products,
    verdicts,
    guarding,
    curvature,
    compiling,
    costs,
    checkpoints,
    plans,
    launches,
    casework,
    emitting,
)


def _order(exercise: str) -> tuple[int, str, int]:
    """Return what sorts the numbers of exercises: 2.10 after 2.9, and 14b after 14a."""
    lesson, _, number = exercise.partition(".")
    digits = "".join(filter(str.isdigit, lesson))
    return int(digits), lesson, int(number)


_ALL = {key: entry for table in _TABLES for key, entry in table.EXERCISES.items()}
EXERCISES: dict[str, Exercise] = {key: _ALL[key] for key in sorted(_ALL, key=_order)}
"""By number, in the order of the course."""


def check(exercise: str, answer: Any = ..., *more: Any, **options: Any) -> CheckResult:
    """Check an answer to a numbered exercise, and note the result for `progress`.

    Parameters
    ----------
    exercise : str
        Its number, such as ``"7.2"``: the lesson, a point, the exercise.
    answer : object
        What was asked for: a function, numbers, a list.
    *more, **options
        What the exercise needs besides, as its cell shows.

    Raises
    ------
    InvalidArgumentError
        If there is no such exercise, or it takes other arguments.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> lessons.check("1.1", lambda f, a, b: (f(b) - f(a)) / (b - a))
    Passed. Right for 8 fresh cubics on 8 intervals.
    >>> lessons.check("1.1", lambda f, a, b: f(b) - f(a)).code
    'CHANGE'
    """
    key = str(exercise).strip()
    if key not in EXERCISES:
        near = get_close_matches(key, EXERCISES, 1, 0.0)
        raise InvalidArgumentError(
            f'There is no exercise {key!r}. Write its number as text, like lessons.check("{near[0]}", ...).'
        )
    try:
        inspect.signature(EXERCISES[key].check).bind(answer, *more, **options)
    except TypeError as wrong:
        raise InvalidArgumentError(f"Exercise {key} takes other arguments: {wrong}. Look at its cell.") from None
    found = EXERCISES[key].check(answer, *more, **options)
    if found.code != "BLANK" and not is_blank(answer):
        store.note(key, found.passed, found.code)
    return found
