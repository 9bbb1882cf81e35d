"""Checks of lesson 14 on what things cost: calls of a compiled function, and the traffic of loops.

Nothing here asks for a time: times differ from run to run, counts do not.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from autodiff_lab.lessons.attempt import attempt, checked, number, numbers, same, stop
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
    for _ in range(TRIALS):
        first, later, n = float(rng.uniform(1, 3)), float(rng.uniform(0.01, 0.1)), int(rng.integers(3, 90))
        found = number(attempt(total, first, later, n), "the time")
        ideas = [("FIRST_CALL", n * later), ("FIRST_CALL", n * first), ("FIRST_TWICE", first + n * later)]
        if not same(found, first + (n - 1) * later):
            raise stop(next((code for code, wrong in ideas if same(found, wrong)), "OTHER"))
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
    for _ in range(TRIALS):
        first, later = float(rng.uniform(0.5, 3)), float(rng.uniform(0.03, 0.04))
        eager = later * float(rng.uniform(1.2, 1.4))  # so near that counting the first call twice is no matter of one
        found = number(attempt(pays_from, first, later, eager), "the number of calls")
        right = (first - later) / (eager - later)
        if found == math.ceil(right):
            continue
        ideas = [("FIRST_CALL", 1), ("FIRST_CALL", 0), ("FIRST_TWICE", first / (eager - later))]
        ideas += [("FIRST_TWICE", math.ceil(first / (eager - later)))]
        code = next((code for code, wrong in ideas if same(found, wrong)), "OTHER")
        raise stop("ONE_EARLY" if code == "OTHER" and abs(found - right) < 2 else code)
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
    for _ in range(TRIALS):
        ops, size = int(rng.integers(3, 30)), int(rng.integers(2, 50))
        found = numbers(attempt(moved, ops, size), names)
        each, together = found[names[0]], found[names[1]]
        if same(each, 2 * ops * size) and same(together, 2 * size):
            continue
        if same(each, ops * size) or (same(each, 2 * ops * size) and same(together, size)):
            raise stop("WRITES_ONLY")
        raise stop("ALL_STORED" if same(each, together) else "OTHER")
    return passed("Right for every length that was tried.")


_WAYS = ("treatment by treatment", "painting by painting")

EXERCISES: dict[str, Exercise] = {
    "14.5": Exercise("the restorer's walks", lambda walks: check_traffic(walks, names=_WAYS))
}
