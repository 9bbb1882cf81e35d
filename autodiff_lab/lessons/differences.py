"""Checks of lesson 3: difference quotients, good steps, and how long to average.

Polynomials are fresh in every run, and their differences are exact up to rounding, so that every wrong formula has its
own numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

import autodiff_lab as lab
from autodiff_lab.draw.steps import ROUNDOFF, Steps
from autodiff_lab.exploring.steps import measure_steps
from autodiff_lab.lessons.attempt import attempt, checked, number, same, stop
from autodiff_lab.lessons.exercise import Exercise
from autodiff_lab.lessons.ranking import check_order
from autodiff_lab.lessons.rates import Cubic, Function, slope
from autodiff_lab.lessons.result import CheckResult, not_yet, passed

TRIALS = 8
DECADE = 10.0
NEAR = 1e-6
"""Relative difference up to which a quotient counts as the same: float32 has no more digits."""
EXACT = 1e-12
"""The same where only rounding in float64 is allowed."""

Quotient = Callable[[Function, float, float], float]
Trial = tuple[Cubic, float, float]


def _fresh(rng: np.random.Generator, square: bool) -> Trial:
    """Return a cubic, or a square, a point where it is neither level nor straight, and a step."""
    while True:
        p, q, r, s = (float(c) for c in rng.choice([-3, -2, -1, 1, 2, 3], 4))
        f = Cubic(0.0 if square else p, q, r, s + 0.5)
        x, h = float(rng.integers(-8, 9)) / 4, float(rng.choice([0.125, 0.25, 0.375, 0.75]))
        if min(abs(slope(f, x)), abs(f(x + h) - f(x - h)), abs(f(x + h) - 2 * f(x) + f(x - h))) > 0.05:
            return f, x, h


def _wrong_slopes(f: Function, x: float, h: float) -> Iterator[tuple[str, float]]:
    """Yield what each wrong idea makes of a central difference, always in the same order."""
    right, here, left = f(x + h), f(x), f(x - h)
    both = right - left
    yield "DIFFERENCES_ARE_AUTODIFF", slope(f, x)
    yield "ONE_SIDED", (right - here) / h
    yield "BACKWARD", (here - left) / h
    yield "HALF_FORGOTTEN", both / h
    yield "SAME_POINT", 0.0
    yield "FLIPPED", -both / (2 * h)
    yield "CHANGE", both
    yield "CHANGE", right - here
    yield "TIMES_H", both / 2 * h
    yield "DIVIDED_TWICE", both / (4 * h)
    yield "DIVIDED_TWICE", both / (2 * h * h)
    yield "DIVIDED_TWICE", (right - here) / (2 * h)
    yield "VALUE", here


def _wrong_bends(f: Function, x: float, h: float) -> Iterator[tuple[str, float]]:
    """Yield what each wrong idea makes of a second difference."""
    right, here, left = f(x + h), f(x), f(x - h)
    bend = right - 2 * here + left
    yield "DIVIDED_ONCE", bend / h
    yield "DIVIDED_ONCE", bend / (2 * h)
    yield "CHANGE", bend
    yield "MIDDLE_ONCE", (right - here + left) / h**2
    yield "FLIPPED", -bend / h**2
    yield "FIRST_FOR_SECOND", (right - left) / (2 * h)
    yield "FIRST_FOR_SECOND", slope(f, x)
    yield "FIRST_FOR_SECOND", (right - here) / h
    yield "DIVIDED_TWICE", bend / (2 * h**2)
    yield "DIVIDED_TWICE", bend / (4 * h**2)


def _compared(
    quotient: Any, trials: Sequence[Trial], truth: Quotient,
    wrong: Callable[[Function, float, float], Iterator[tuple[str, float]]], praise: str,
) -> CheckResult:  # fmt: skip
    """Return a pass if all trials agree with the truth, else the one idea that explains all of them."""
    answers = [number(attempt(quotient, *trial), "the quotient") for trial in trials]
    if all(same(answer, truth(*trial), NEAR) for answer, trial in zip(answers, trials, strict=True)):
        return passed(praise)
    for guesses in zip(*(wrong(*trial) for trial in trials), strict=True):
        code = guesses[0][0]
        near = EXACT if code == "DIFFERENCES_ARE_AUTODIFF" else NEAR
        if all(same(answer, guess, near) for answer, (_, guess) in zip(answers, guesses, strict=True)):
            return not_yet(code)
    doubled = [number(attempt(quotient, f, x, 2 * h), "the quotient") for f, x, h in trials]
    if all(same(answer, other, NEAR) for answer, other in zip(answers, doubled, strict=True)):
        raise stop("H_IGNORED")
    raise stop("OTHER", next_hint="Try it on f(x) = x² at x = 1 with h = 0.5, on paper and by your code.")


@checked
def check_central(central: Quotient, seed: int | None = None) -> CheckResult:
    """Check a function that measures the slope of ``f`` at ``x`` with a step ``h`` to both sides.

    Parameters
    ----------
    central : callable
        ``central(f, x, h)``, a number.
    seed : int, optional
        Makes the polynomials the same again.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> lessons.check_central(lambda f, x, h: (f(x + h) - f(x - h)) / (2 * h))
    Passed. Exact for 4 quadratics; for 4 cubics p·x³ + … the error is p·h², as it should be.
    >>> lessons.check_central(lambda f, x, h: (f(x + h) - f(x)) / h).code
    'ONE_SIDED'
    """
    rng = np.random.default_rng(seed)
    trials = [_fresh(rng, square=k < TRIALS // 2) for k in range(TRIALS)]
    half = TRIALS // 2
    praise = f"Exact for {half} quadratics; for {half} cubics p·x³ + … the error is p·h², as it should be."
    return _compared(central, trials, lambda f, x, h: (f(x + h) - f(x - h)) / (2 * h), _wrong_slopes, praise)


@checked
def check_one_sided(one_sided: Quotient, seed: int | None = None) -> CheckResult:
    """Check a function that measures the slope of ``f`` at ``x`` with a step ``h`` to the right.

    Parameters
    ----------
    one_sided : callable
        ``one_sided(f, x, h)``, a number.
    seed : int, optional
        Makes the polynomials the same again.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> lessons.check_one_sided(lambda f, x, h: (f(x + h) - f(x)) / h)
    Passed. Right for 8 fresh polynomials.
    """
    rng = np.random.default_rng(seed)
    trials = [_fresh(rng, square=False) for _ in range(TRIALS)]
    praise = f"Right for {TRIALS} fresh polynomials."
    wrong = lambda f, x, h: (row for row in _wrong_slopes(f, x, h) if row[0] != "ONE_SIDED")  # noqa: E731
    return _compared(one_sided, trials, lambda f, x, h: (f(x + h) - f(x)) / h, wrong, praise)


@checked
def check_second_difference(second: Quotient, seed: int | None = None) -> CheckResult:
    """Check a function that measures the second derivative of ``f`` at ``x`` from three values a step apart.

    Parameters
    ----------
    second : callable
        ``second(f, x, h)``, a number.
    seed : int, optional
        Makes the polynomials the same again.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> lessons.check_second_difference(lambda f, x, h: (f(x + h) - 2 * f(x) + f(x - h)) / h**2)
    Passed. Right for 8 fresh cubics, for which this is exact.
    >>> lessons.check_second_difference(lambda f, x, h: (f(x + h) - 2 * f(x) + f(x - h)) / h).code
    'DIVIDED_ONCE'
    """
    rng = np.random.default_rng(seed)
    trials = [_fresh(rng, square=False) for _ in range(TRIALS)]
    praise = f"Right for {TRIALS} fresh cubics, for which this is exact."
    return _compared(second, trials, lambda f, x, h: (f(x + h) - 2 * f(x) + f(x - h)) / h**2, _wrong_bends, praise)


_SMOOTH: tuple[tuple[str, Function], ...] = (
    ("exp", lab.exp),
    ("sin", lab.sin),
    ("x³", lambda x: x * x * x),
    ("1/x", lambda x: 1.0 / x),
)
_CASES = [(dtype, central) for dtype in ROUNDOFF for central in (False, True)]


def best_step(steps: Steps, dtype: str, central: bool) -> float:
    """Return the step at which both errors are equal in size: 2√(ε|f/f″|) one-sided, ∛(3ε|f/f‴|) central.

    Examples
    --------
    >>> round(best_step(measure_steps(lab.exp, 1.0), "float64", central=True) * 1e6)
    7
    """
    here, eps = abs(float(steps.values[dtype].here)), ROUNDOFF[dtype]
    if central:
        return (3 * eps * here / abs(steps.derivatives[2])) ** (1 / 3)
    return 2 * (eps * here / abs(steps.derivatives[1])) ** 0.5


@checked
def check_good_step(
    good_step: Callable[[Function, float, str, bool], float], seed: int | None = None
) -> CheckResult:  # fmt: skip
    """Check a function that chooses a step: within a decade of the best for exp, sin, x³ and 1/x, at fresh points.

    Parameters
    ----------
    good_step : callable
        ``good_step(f, x, dtype, central)``, a positive number; dtype is ``"float64"`` or ``"float32"``, central a bool.
    seed : int, optional
        Makes the points the same again.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> def good_step(f, x, dtype, central):
    ...     return np.finfo(dtype).eps ** (1 / 3 if central else 1 / 2)
    >>> lessons.check_good_step(good_step)
    Passed. Within a decade of the best step in 16 cases.
    >>> lessons.check_good_step(lambda f, x, dtype, central: 1e-15).code
    'SMALLER_IS_BETTER'
    """
    rng = np.random.default_rng(seed)
    ratios: dict[tuple[str, bool], list[float]] = {case: [] for case in _CASES}
    chosen: dict[tuple[str, bool], list[float]] = {case: [] for case in _CASES}
    for name, f in _SMOOTH:
        x = float(rng.uniform(0.7, 1.3))
        steps = measure_steps(f, x, name, per_decade=8)
        for dtype, central in _CASES:
            h = number(attempt(good_step, f, x, dtype, central), "the step")
            if not (0 < h < np.inf):
                raise stop("OTHER", "A step is a positive number.", "Start from the distance of 1 to the next number.")
            chosen[dtype, central].append(h)
            ratios[dtype, central].append(h / best_step(steps, dtype, central))
    good = {case: all(1 / DECADE <= ratio <= DECADE for ratio in found) for case, found in ratios.items()}
    if all(good.values()):
        return passed(f"Within a decade of the best step in {len(_SMOOTH) * len(_CASES)} cases.")
    raise stop(_idea_of_steps(chosen, ratios, good) or "OTHER")


def _idea_of_steps(
    chosen: dict[tuple[str, bool], list[float]], ratios: dict[tuple[str, bool], list[float]],
    good: dict[tuple[str, bool], bool],
) -> str:  # fmt: skip
    """Return the code of the idea that explains all steps, or an empty string."""
    every = [ratio for found in ratios.values() for ratio in found]
    if max(every) < 1 / DECADE:
        return "SMALLER_IS_BETTER"
    if min(every) > DECADE:
        return "LARGER_IS_SAFER"
    blind = all(chosen["float64", central] == chosen["float32", central] for central in (False, True))
    if blind and any(good.values()):
        return "DTYPE_IGNORED"
    alike = all(chosen[dtype, False] == chosen[dtype, True] for dtype in ROUNDOFF)
    if alike and any(good.values()):
        return "FORMULA_IGNORED"
    return ""


@checked
def check_averaging_time(seconds: Any, noise: float = 1.0, acceleration: float = 0.1) -> CheckResult:
    """Check over how many seconds a speed is measured from positions that are off by up to `noise` metres.

    Over T seconds the two positions contribute an error of 2·noise/T; the speed itself, which changes by `acceleration`
    each second, contributes acceleration·T/2.

    Parameters
    ----------
    seconds : float
        The answer.
    noise : float
        In metres.
    acceleration : float
        In metres per second squared.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> lessons.check_averaging_time(6.0).passed, lessons.check_averaging_time(0.5).code
    (True, 'SMALLER_IS_BETTER')
    """
    said = number(seconds, "the time")
    if not said > 0:
        raise stop("OTHER", "A time is a positive number of seconds.", "Try 1 second, and work out both errors.")
    best = 2 * (noise / acceleration) ** 0.5
    worse = (best / said + said / best) / 2
    if worse <= 1.25:
        return passed("Both errors are about equally large, and their sum is near its smallest value.")
    raise stop("SMALLER_IS_BETTER" if said < best else "LARGER_IS_SAFER")


EXERCISES: dict[str, Exercise] = {
    "3.1": Exercise("central difference", check_central),
    "3.2": Exercise("a good step", check_good_step),
    "3.3": Exercise("five methods in order", check_order),
    "3.4": Exercise("a runner's speed", check_averaging_time),
}
