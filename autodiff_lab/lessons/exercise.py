"""What the course knows of one exercise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from autodiff_lab.lessons.result import CheckResult


@dataclass(frozen=True, slots=True)
class Exercise:
    """One numbered exercise.

    Attributes
    ----------
    title : str
        A few words for the map of the course.
    check : callable
        ``check(answer, *more)``: the function behind it, with everything filled in that the notebook does not give.
    """

    title: str
    check: Callable[..., CheckResult]
