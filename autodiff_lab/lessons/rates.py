"""Checks of lesson 1: average rates, an interval that matches a point, a tangent followed far enough, a table.

The functions a check makes up are fresh cubics; derivatives come from the tape.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import autodiff_lab as lab
from autodiff_lab.lessons.attempt import (
    a_kind,
    attempt,
    checked,
    finite,
    idea_behind,
    is_blank,
    listed,
    other,
    same,
    stop,
)
from autodiff_lab.lessons.exercise import Exercise
from autodiff_lab.lessons.result import CheckResult, passed

TRIALS = 8
NARROWEST = 0.1
"""Width below which an interval is as good as a point."""

Function = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Cubic:
    """A cubic for plain numbers and tensors alike.

    Examples
    --------
    >>> Cubic(1.0, 0.0, 6.0, 0.0)(2.0)
    20.0
    """

    p: float
    q: float
    r: float
    s: float

    def __call__(self, x: Any) -> Any:
        """Return the value at x."""
        return ((self.p * x + self.q) * x + self.r) * x + self.s


def slope(function: Function, x: float) -> float:
    """Return the derivative of a function at x, from the tape.

    Examples
    --------
    >>> slope(Cubic(1.0, 0.0, 6.0, 0.0), 1.0)
    9.0
    """
    point = lab.constant(x, dtype=lab.float64)
    with lab.GradientTape() as tape:
        tape.watch(point)
        value = function(point)
    found = tape.gradient(value, point)
    return 0.0 if found is None else float(found)


def _fresh(rng: np.random.Generator, sign: float) -> tuple[Cubic, float, float]:
    """Return a cubic and an interval over which it rises or falls: never flat, where a quotient upside down is none."""
    while True:
        p, q, r, s = (float(c) for c in rng.choice([-3, -2, -1, 1, 2, 3], 4))
        a = float(rng.integers(-12, 8)) / 4
        cubic, b = Cubic(p, q, r, s + 0.5), a + float(rng.integers(3, 12)) / 4
        if sign * (cubic(b) - cubic(a)) > 0.1:
            return cubic, a, b


def _wrong_rates(f: Function, a: float, b: float) -> Iterator[tuple[str, float]]:
    """Yield what each wrong idea makes of an average rate."""
    rise, run = f(b) - f(a), b - a
    yield "CHANGE", rise
    yield "UPSIDE_DOWN", run / rise
    yield "FLIPPED", -rise / run
    for point in (a, b, (a + b) / 2):
        yield "ONE_POINT", slope(f, point)
    yield "AVERAGE_VALUE", (f(a) + f(b)) / 2
    yield "AVERAGE_VALUE", (f(b) - f(a)) / 2
    yield "VALUE", f(a)
    yield "VALUE", f(b)


@checked
def check_average_rate(avg_rate: Callable[[Function, float, float], float], seed: int | None = None) -> CheckResult:
    """Check a function that computes the average rate of ``f`` from ``a`` to ``b``, on fresh random cubics.

    Parameters
    ----------
    avg_rate : callable
        ``avg_rate(f, a, b)``, a number.
    seed : int, optional
        Makes the cubics the same again.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> lessons.check_average_rate(lambda f, a, b: (f(b) - f(a)) / (b - a))
    Passed. Right for 8 fresh cubics on 8 intervals.
    >>> lessons.check_average_rate(lambda f, a, b: f(b) - f(a)).code
    'CHANGE'
    """
    rng = np.random.default_rng(seed)
    trials = [_fresh(rng, sign) for sign in (1.0, -1.0) for _ in range(TRIALS // 2)]  # a size alone is half right
    answers = [finite(attempt(avg_rate, *trial), "the rate") for trial in trials]
    right = [(f(b) - f(a)) / (b - a) for f, a, b in trials]
    if all(map(same, answers, right)):
        return passed(f"Right for {TRIALS} fresh cubics on {TRIALS} intervals.")
    code = idea_behind(answers, [list(_wrong_rates(*trial)) for trial in trials])
    raise stop(code) if code else other("number")


@checked
def check_interval(interval: Any, function: Function, at: float) -> CheckResult:
    """Check an interval on which the average rate of a function equals its rate at one point.

    Parameters
    ----------
    interval : pair of float
        Its two ends.
    function : callable
        Of one number or Tensor.
    at : float
        The point.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> lessons.check_interval((0.0, 2.0), lambda x: x * x, at=1.0)
    Passed. The secant over your interval is parallel to the tangent.
    >>> lessons.check_interval((1.0, 1.0), lambda x: x * x, at=1.0).code
    'NO_WIDTH'
    """
    a, b = _ends(interval)
    if a == b:
        raise stop("NO_WIDTH")
    rate, wanted = float((function(b) - function(a)) / (b - a)), slope(function, at)
    off = abs(rate - wanted)
    wide = abs(b - a) >= NARROWEST
    if wide and same(rate, wanted):
        return passed("The secant over your interval is parallel to the tangent.")
    if not wide or off <= 0.02 * max(1.0, abs(wanted)):
        raise stop("NEARLY")
    if same((a + b) / 2, at):
        raise stop("SYMMETRIC")
    which = "larger" if rate > wanted else "smaller"
    raise stop("OTHER", f"Over your interval the average rate is {which} than the rate at {at:g}.",
               "Keep one end and move the other: does the average rate come nearer?")  # fmt: skip


def _ends(interval: Any) -> tuple[float, float]:
    if is_blank(interval):
        raise stop("BLANK", "There is no interval yet.")
    hint = "Write both ends in parentheses, like (0.0, 2.0)."
    if isinstance(interval, (str, Mapping, set)) or not isinstance(interval, Iterable):
        raise stop("RAISES", f"An interval is a pair of numbers, but this is {a_kind(interval)}.", hint)
    ends = listed(interval, "the interval")
    if len(ends) != 2:
        raise stop("RAISES", f"An interval is a pair of numbers, but this has {len(ends)}.", hint)
    return finite(ends[0], "the left end"), finite(ends[1], "the right end")


def meets_again(function: Function, a: float) -> float:
    """Return where the tangent of a cubic at a meets the cubic a second time.

    Above its tangent a cubic is p·(x − a)²·(x − r), so that its height one step to either side gives r.

    Examples
    --------
    >>> meets_again(Cubic(1.0, 0.0, 6.0, 0.0), 1.0)
    -2.0
    """
    value, rate = function(a), slope(function, a)
    right, left = (function(a + step) - value - rate * step for step in (1.0, -1.0))
    return a + 1.0 - 2.0 * right / (right - left)


@checked
def check_meeting(again: Callable[[float], float], function: Function, seed: int | None = None) -> CheckResult:
    """Check a function that says where the tangent at ``a`` meets a cubic again, for fresh ``a``.

    Parameters
    ----------
    again : callable
        ``again(a)``, a number.
    function : callable
        The cubic.
    seed : int, optional
        Makes the points the same again.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> lessons.check_meeting(lambda a: a, lambda x: x * x * x).code
    'TOUCHES_ONCE'
    """
    points = (
        np.random.default_rng(seed).choice([-3.0, -2.5, -1.5, -0.5, 0.75, 1.25, 2.0, 4.0], 5, replace=False).tolist()
    )
    answers = [finite(attempt(again, a), "the meeting point") for a in points]
    right = [meets_again(function, a) for a in points]
    if all(same(answer, r, 1e-5) for answer, r in zip(answers, right, strict=True)):
        return passed("Right for 5 fresh points, to the left and to the right of 0.")
    if all(map(same, answers, points)):
        raise stop("TOUCHES_ONCE")
    mirrored = ([-r for r in right], [2 * a - r for a, r in zip(points, right, strict=True)])
    if any(all(same(x, y, 1e-5) for x, y in zip(answers, wrong, strict=True)) for wrong in mirrored):
        raise stop("WRONG_SIDE")
    if len({round(answer, 6) for answer in answers}) == 1:
        raise stop("OTHER", "This is the same place for every a, but it should move when a moves.",
                   "Read it off at a = 1 and at a = 2, and write down what both have in common.")  # fmt: skip
    raise other("number", next_hint="Read it off in the explorer for a = 1, a = 2 and a = −1: how does it depend on a?")


@checked
def check_rate_from_table(estimate: Any, times: Sequence[float], values: Sequence[float], at: float) -> CheckResult:
    """Check an estimate of a rate at one row of a table.

    Parameters
    ----------
    estimate : float
        In units of the values for each unit of time.
    times, values : sequence of float
        The table.
    at : float
        One of the inner times.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> lessons.check_rate_from_table(9.0, [0, 2, 4], [0, 1, 9], at=2).code
    'CHANGE'
    """
    said = finite(estimate, "the estimate")
    k = list(times).index(at)
    before = (values[k] - values[k - 1]) / (times[k] - times[k - 1])
    after = (values[k + 1] - values[k]) / (times[k + 1] - times[k])
    low, high = min(before, after), max(before, after)
    if low - 1e-9 <= said <= high + 1e-9:
        return passed(
            "It lies between the average rates just before and just after. Halfway between them is closer still."
        )
    changes = [values[j] - values[i] for i in range(len(values)) for j in range(i + 1, len(values))]
    total = (values[-1] - values[0]) / (times[-1] - times[0])
    guesses = [("VALUE", values[k]), ("WHOLE_TRIP", total), ("WHOLE_TRIP", (values[k] - values[0]) / (at - times[0]))]
    guesses += [("CHANGE", change) for change in changes]
    for code, guess in guesses:
        if same(said, guess, 1e-3):
            raise stop(code)
    if said and low <= 1 / said <= high:
        raise stop("UPSIDE_DOWN")
    raise stop("OTHER", f"That is too {'slow' if said < low else 'fast'} for the rows around t = {at:g}.",
               "Work out the average rate over the interval just before, and over the one just after.")  # fmt: skip


def _climb(x: Any) -> Any:
    """Return the function of lesson 1."""
    return x * x * x + 6 * x


_SECONDS, _METRES = (0, 2, 4, 6, 8), (0, 1, 8, 27, 64)

EXERCISES: dict[str, Exercise] = {
    "1.1": Exercise("average rate", check_average_rate),
    "1.2": Exercise("the interval that matches", lambda ends: check_interval(ends, _climb, at=1.0)),
    "1.3": Exercise("the second meeting", lambda again: check_meeting(again, _climb)),
    "1.4": Exercise("a rocket", lambda speed: check_rate_from_table(speed, _SECONDS, _METRES, at=6)),
}
