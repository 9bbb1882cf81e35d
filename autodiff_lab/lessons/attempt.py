"""Run what a learner wrote: a blank, an exception or a strange value becomes a friendly result, never a traceback.

A check is a function under `checked`.  Whatever stops it early is a `Stopped` that carries the result.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, ParamSpec

from autodiff_lab.lessons.result import CheckResult, not_yet

P = ParamSpec("P")


class Stopped(Exception):
    """Ends a check with a result."""

    def __init__(self, result: CheckResult) -> None:
        super().__init__(result.message)
        self.result = result


def checked(check: Callable[P, CheckResult]) -> Callable[P, CheckResult]:
    """Make a check return the result of a `Stopped` that is raised in it.

    Examples
    --------
    >>> @checked
    ... def check(answer):
    ...     return not_yet("OTHER") if number(answer, "answer") != 3.0 else not_yet("BLANK")
    >>> check(...).code
    'BLANK'
    """

    @wraps(check)
    def run(*args: P.args, **kwargs: P.kwargs) -> CheckResult:
        try:
            return check(*args, **kwargs)
        except Stopped as stopped:
            return stopped.result

    return run


def stop(code: str, message: str = "", next_hint: str = "") -> Stopped:
    """Return what a check raises to end with this code."""
    return Stopped(not_yet(code, message, next_hint))


def is_blank(value: Any) -> bool:
    """Return whether a value is the ``...`` that an exercise comes with, or None."""
    return value is ... or value is None


def attempt(function: Any, *arguments: Any) -> Any:
    """Call a learner's function.

    Raises
    ------
    Stopped
        If it is not a function, has blanks left, or raises.
    """
    if is_blank(function):
        raise stop("BLANK", "There is nothing here to check yet.")
    name = getattr(function, "__name__", "your function")
    if not callable(function):
        raise stop("RAISES", f"A function was expected, but this is a {type(function).__name__}.")
    try:
        value = function(*arguments)
    except Exception as error:  # noqa: BLE001 - whatever a learner's code raises belongs in the note
        if "ellipsis" in str(error).lower():
            raise stop("BLANK", f"{name} still has a blank (...).") from None
        message = f"{name} raised {type(error).__name__}: {error}"
        raise stop(
            "RAISES", message, f"Call {name} in a new cell with small numbers; the message names the line."
        ) from None
    if value is None:  # most often printed instead; no ... is left that the usual hint could speak of
        raise stop("BLANK", f"{name} returns nothing.", "End it with a return: a check cannot see printed text.")
    if is_blank(value):
        raise stop("BLANK", f"{name} returns a blank (...).")
    return value


def number(value: Any, what: str) -> float:
    """Return a learner's number as a float; tensors and NumPy scalars will do.

    Raises
    ------
    Stopped
        If it is blank or not a number.
    """
    if is_blank(value):
        raise stop("BLANK", f"{what[:1].upper()}{what[1:]} is still blank.")
    try:
        return float(value)
    except (TypeError, ValueError):
        kind = type(value).__name__
        raise stop("RAISES", f"{what[:1].upper()}{what[1:]} should be a number, but is a {kind}.") from None
    except OverflowError:
        raise stop("RAISES", f"{what[:1].upper()}{what[1:]} is a number too large for a float.") from None


def numbers(values: Any, names: tuple[str, ...]) -> dict[str, float]:
    """Return a learner's numbers by name.

    Raises
    ------
    Stopped
        If it is not a mapping, a name is missing, or a value is blank or not a number.

    Examples
    --------
    >>> numbers({"x": 1, "y": 2.5}, ("x", "y"))
    {'x': 1.0, 'y': 2.5}
    """
    if is_blank(values):
        raise stop("BLANK", "There is nothing here to check yet.")
    if not isinstance(values, Mapping):
        example = f'{{"{names[0]}": 1.0, ...}}'
        raise stop("RAISES", f"Numbers by name were expected, like {example}; this is a {type(values).__name__}.")
    left = [name for name in names if is_blank(values.get(name))]
    if left:
        count = "One blank is" if len(left) == 1 else f"{len(left)} blanks are"
        raise stop("BLANK", f"{count} left: {', '.join(left)}.")
    return {name: number(values[name], name) for name in names}


def same(one: float, other: float, tolerance: float = 1e-6) -> bool:
    """Return whether two numbers agree, relative to their size; nan agrees with nothing.

    Examples
    --------
    >>> same(1e9, 1e9 + 1.0), same(1.0, 1.1), same(float("nan"), float("nan"))
    (True, False, False)
    """
    return math.isclose(one, other, rel_tol=tolerance, abs_tol=tolerance)
