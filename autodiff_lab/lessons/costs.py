"""Checks of lesson 14a on what things cost: calls of a compiled function, and the traffic of loops.

Nothing here asks for a time: times differ from run to run, counts do not.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from autodiff_lab.lessons.attempt import attempt, checked, finite, idea_behind, number, numbers, other, same, stop
from autodiff_lab.lessons.exercise import Exercise
from autodiff_lab.lessons.result import CheckResult, passed

TRIALS = 6


@checked
def check_total(total: Callable[[float, float, int], float], seed: int | None = None) -> CheckResult:
    """Check the time that n calls of a compiled function take together.

    Parameters
    ----------
    total : callable
        ``total(first, later, n)``: seconds of the first call, of each later one, and the number of calls.
    seed : int, optional
        Makes the numbers the same again.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> lessons.check_total(lambda first, later, n: n * later).code
    'FIRST_CALL'
    """
    rng = np.random.default_rng(seed)
    trials = [(float(rng.uniform(1, 3)), float(rng.uniform(0.01, 0.1)), int(rng.integers(3, 90)))
              for _ in range(TRIALS)]  # fmt: skip
    found = [finite(attempt(total, *trial), "the time") for trial in trials]
    if not all(same(one, first + (n - 1) * later) for one, (first, later, n) in zip(found, trials, strict=True)):
        code = idea_behind(found, [[("FIRST_CALL", n * later), ("FIRST_CALL", n * first),
                                    ("FIRST_TWICE", first + n * later)] for first, later, n in trials])  # fmt: skip
        raise stop(code) if code else other("number")
    return passed(f"Right for {TRIALS} pairs of times.")


@checked
def check_pays(pays_from: Callable[[float, float, float], float], seed: int | None = None) -> CheckResult:
    """Check after how many calls compiling has paid off.

    Parameters
    ----------
    pays_from : callable
        ``pays_from(first, later, eager)`` in seconds: the smallest number of calls that take no longer compiled than
        eagerly, ``np.inf`` if there is none.
    seed : int, optional
        Makes the numbers the same again.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> lessons.check_pays(lambda first, later, eager: 1).code
    'FIRST_CALL'
    """
    rng = np.random.default_rng(seed)
    answers: list[float] = []
    trials: list[list[tuple[str, float]]] = []
    for _ in range(TRIALS):
        first, later = float(rng.uniform(0.5, 3)), float(rng.uniform(0.03, 0.04))
        eager = later * float(rng.uniform(1.2, 1.4))  # so close that counting the first call twice changes the answer
        answers.append(number(attempt(pays_from, first, later, eager), "the number of calls"))
        right, twice = (first - later) / (eager - later), first / (eager - later)
        trials.append([("", math.ceil(right)), ("FIRST_CALL", 1), ("FIRST_CALL", 0), ("FIRST_TWICE", twice),
                       ("FIRST_TWICE", math.ceil(twice)), ("ONE_EARLY", right), ("ONE_EARLY", math.floor(right)),
                       ("ONE_EARLY", math.ceil(right) + 1), ("ONE_EARLY", math.floor(right) - 1)])  # fmt: skip
    if not all(same(answer, ideas[0][1]) for answer, ideas in zip(answers, trials, strict=True)):
        code = idea_behind(answers, [ideas[1:] for ideas in trials])
        raise stop(code) if code else other("number")
    never = number(attempt(pays_from, 1.0, 0.05, 0.05), "the number of calls")
    slower = number(attempt(pays_from, 1.0, 0.06, 0.05), "the number of calls")
    if not (math.isinf(never) and math.isinf(slower)):
        raise stop("ALWAYS_PAYS")
    return passed("Right, and it says when it never pays.")


@checked
def check_traffic(moved: Callable[[int, int], Any], names: tuple[str, str] = ("op by op", "in one loop"),
                  seed: int | None = None) -> CheckResult:  # fmt: skip
    """Check how much data a chain of ops with one input each moves.

    Parameters
    ----------
    moved : callable
        ``moved(ops, size)`` with the number of ops and the size of one array; returns both amounts by name.
    names : tuple of str
        What the two are called.
    seed : int, optional
        Makes the numbers the same again.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> lessons.check_traffic(lambda ops, size: {"op by op": ops * size, "in one loop": size}).code
    'WRITES_ONLY'
    """
    rng = np.random.default_rng(seed)
    trials = [(int(rng.integers(3, 30)), int(rng.integers(2, 50))) for _ in range(TRIALS)]
    found = [numbers(attempt(moved, ops, size), names) for ops, size in trials]
    pairs = [(each[names[0]], each[names[1]]) for each in found]

    def fits(answer: tuple[float, float], wanted: tuple[float, float]) -> bool:
        return all(math.isnan(right) or same(one, right) for one, right in zip(answer, wanted, strict=True))

    if not all(fits(pair, (2 * ops * size, 2 * size)) for pair, (ops, size) in zip(pairs, trials, strict=True)):
        ideas = [[("WRITES_ONLY", (ops * size, math.nan)), ("WRITES_ONLY", (2 * ops * size, size)),
                  ("ALL_STORED", (each, each))]
                 for (ops, size), (each, _) in zip(trials, pairs, strict=True)]  # fmt: skip
        code = idea_behind(pairs, ideas, fits)
        raise stop(code) if code else other("numbers")
    return passed("Right for every length that was tried.")


_WAYS = ("treatment by treatment", "painting by painting")

EXERCISES: dict[str, Exercise] = {
    "14a.4": Exercise("the restorer's walks", lambda walks: check_traffic(walks, names=_WAYS))
}
