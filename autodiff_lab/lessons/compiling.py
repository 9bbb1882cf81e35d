"""Checks of lesson 14a on functions that should be compiled."""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from typing import Any

import numpy as np

import autodiff_lab as lab
from autodiff_lab.compile import Function
from autodiff_lab.lessons.attempt import a_kind, array, attempt, checked, is_blank, listed, other, stop
from autodiff_lab.lessons.exercise import Exercise
from autodiff_lab.lessons.result import CheckResult, passed


def reference(name: str, x: np.ndarray) -> np.ndarray:
    """Return what the functions of the exercise compute, in NumPy."""
    total = x.sum()
    return {"limited": x / total if total > 10.0 else x, "centred": x - x.mean()}[name]


@contextmanager
def _without_the_reason() -> Generator[None]:
    """Keep back what a function says when it runs eagerly: to ask for that is a part of the exercise."""
    log = logging.getLogger("autodiff_lab")
    before, log.disabled = log.disabled, True
    try:
        yield
    finally:
        log.disabled = before


@checked
def check_compiled(function: Any, seed: int | None = None) -> CheckResult:
    """Check that a function of lesson 14a gives what it gave, and runs as a program.

    Parameters
    ----------
    function : Function
        ``limited`` or ``centred``, made with ``@lab.function``.
    seed : int, optional
        Makes the numbers the same again.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> from autodiff_lab import lessons
    >>> @lab.function
    ... def centred(x):
    ...     return x - float(lab.reduce_mean(x))
    >>> lessons.check_compiled(centred).code
    'STILL_EAGER'
    """
    name = getattr(function, "__name__", "")
    if is_blank(function):
        raise stop("BLANK", "There is nothing here to check yet.")
    if name not in ("limited", "centred"):
        raise stop("RAISES", "Keep the name of the function; the check uses it to know what should come out.")
    if not isinstance(function, Function):
        raise stop("STILL_EAGER", "This is a plain function: @lab.function is missing.", "Put it back above the def.")
    rng, x = np.random.default_rng(seed), np.ones(8, np.float32)
    before = function.fallbacks
    for total in (9.5, 10.5, 2.0, 200.0, 9.999, 10.001):  # on both sides of the 10 in `limited`
        x = rng.uniform(0.1, 1.0, 8)
        x[0] *= -0.5
        x = (x * (total / x.sum())).astype(np.float32)
        with _without_the_reason():
            found = attempt(function, lab.constant(x))
        if not isinstance(found, lab.Tensor):
            raise stop("RAISES", f"A tensor was expected, but this is {a_kind(found)}.")
        given = array(found, "the result", None)
        if given.shape != x.shape or not np.allclose(given, reference(name, x), rtol=1e-4, atol=1e-6):
            raise other("function", f"{name} no longer gives what it gave before.",
                        "Compare it with the version above it, where the sum is a little below 10 and a little above."
                        if name == "limited" else "Compare it with the version above it.")  # fmt: skip
    function.compile(lab.constant(x))
    latest = function._latest  # pyright: ignore[reportPrivateUsage]
    if function.fallbacks > before or latest is None or latest.assumed:
        raise stop("STILL_EAGER")
    return passed(f"{name} gives what it gave, as one program.")


@checked
def check_one_program(run: Callable[[Any, Any, list[float]], Any]) -> CheckResult:
    """Check that a function is called with many rates and compiled once.

    Parameters
    ----------
    run : callable
        ``run(step, x, rates)``: the results of ``step(x, rate)`` for all rates, as a list.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> lessons.check_one_program(lambda step, x, rates: [step(x, rate) for rate in rates]).code
    'RETRACED'
    """
    rates = [1.0 / (k + 1) for k in range(8)]
    step = lab.function(lambda x, rate: x - rate * x)
    x = lab.constant([1.0, 2.0, 4.0])
    given = attempt(run, step, x, rates)
    if isinstance(given, (str, dict)) or not isinstance(given, (Iterable, lab.Tensor)):
        raise stop("RAISES", f"A list with one result for each rate was expected, but this is {a_kind(given)}.")
    found = [array(one, "each result", None) for one in listed(given, "the list of results")]
    wanted = np.array([[1, 2, 4]]) * (1 - np.array(rates))[:, None]
    if [one.shape for one in found] != [(3,)] * len(rates) or not np.allclose(found, wanted):
        raise other("list", "These are not the results of step for all rates.", "step(x, rate), once for each rate.")
    programs = len(step._entries)  # pyright: ignore[reportPrivateUsage]
    if not programs:
        raise stop("STILL_EAGER", "The results are right, but step was never called.", "Call step for each rate.")
    if programs > 1:
        raise stop("RETRACED", f"step was compiled {programs} times: every number got its own program.")
    return passed("8 rates, and one program.")


EXERCISES: dict[str, Exercise] = {
    "14a.1": Exercise("a branch in a program", check_compiled),
    "14a.2": Exercise("a number that leaves", check_compiled),
    "14a.3": Exercise("one program for all rates", check_one_program),
}
