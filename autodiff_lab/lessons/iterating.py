"""Checks of lesson 4: a pair that is carried, the length of a tape, the digits that are left, and what autodiff is."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal, localcontext
from typing import Any

import numpy as np

from autodiff_lab.lessons.attempt import (
    attempt,
    checked,
    finite,
    idea_behind,
    is_blank,
    listed,
    number,
    other,
    same,
    stop,
)
from autodiff_lab.lessons.exercise import Exercise
from autodiff_lab.lessons.result import CheckResult, passed
from autodiff_lab.lessons.written import check_tape_length

TRIALS = 8
ROUNDS = 20
EXACT = 1e-12
"""How well an answer agrees that was not measured with a step."""
NEAR = 1e-9
UNIT = 2.0**-53
CLOSE = 1.5
"""How many digits an answer may be off: one, and a little for rounding it."""

Carry = Callable[[float, float, float], float]
_PAIRS: dict[str, tuple[Callable[[float], float], dict[str, Sequence[Carry]]]] = {
    "4x(1 - x)": (
        lambda v: 4 * v * (1 - v),
        {
            "": [lambda v, d, w: 4 * d * (1 - 2 * v)],
            "UPDATED_TOO_EARLY": [lambda v, d, w: 4 * d * (1 - 2 * w)],
            "LOCAL_ONLY": [lambda v, d, w: 4 * (1 - 2 * v)],
            "CHAIN_ADDED": [lambda v, d, w: d + 4 * (1 - 2 * v)],
            "HALF_PRODUCT": [lambda v, d, w: 4 * d * (1 - v), lambda v, d, w: -4 * d * v],
            "PRODUCT_OF_SLOPES": [lambda v, d, w: -4 * d * d, lambda v, d, w: -4 * d],
            "MINUS_LOST": [lambda v, d, w: 4 * d],
            "SIGN": [lambda v, d, w: -4 * d * (1 - 2 * v)],
        },
    ),
    "x*x - 1": (
        lambda v: v * v - 1,
        {
            "": [lambda v, d, w: 2 * v * d],
            "UPDATED_TOO_EARLY": [lambda v, d, w: 2 * w * d],
            "LOCAL_ONLY": [lambda v, d, w: 2 * v],
            "CHAIN_ADDED": [lambda v, d, w: d + 2 * v],
            "HALF_PRODUCT": [lambda v, d, w: v * d],
            "PRODUCT_OF_SLOPES": [lambda v, d, w: d * d],
            "SIGN": [lambda v, d, w: -2 * v * d],
        },
    ),
}
"""By step: its value, and by code what becomes of (v, d), with w the new value; the empty code is right."""


@checked
def check_pair(step: Callable[[float, float], Any], of: str = "4x(1 - x)", seed: int | None = None) -> CheckResult:
    """Check a function that takes a value and a derivative through one round.

    Parameters
    ----------
    step : callable
        ``step(v, d)``, returning the new value and the new derivative.
    of : str
        ``"4x(1 - x)"``, whose 20 rounds are then compared with their closed form sin²(2²⁰ asin √x), or ``"x*x - 1"``.
    seed : int, optional
        Makes the numbers the same again.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> lessons.check_pair(lambda v, d: (4 * v * (1 - v), 4 * d * (1 - 2 * v)))
    Passed. Right for 8 fresh pairs, and still after 20 rounds.
    >>> lessons.check_pair(lambda v, d: (4 * v * (1 - v), 4 * (1 - 2 * v))).code
    'LOCAL_ONLY'
    """
    rng = np.random.default_rng(seed)
    value, carries = _PAIRS[of]
    sides = rng.choice([0.05, 0.55], TRIALS)
    dealt = [
        (float(side + rng.uniform(0.05, 0.35)), float(rng.uniform(0.4, 3) * rng.choice([-1, 1]))) for side in sides
    ]
    found = [_pair(attempt(step, v, d)) for v, d in dealt]
    new = [value(v) for v, _ in dealt]
    made = {
        code: [[each(v, d, w) for (v, d), w in zip(dealt, new, strict=True)] for each in several]
        for code, several in carries.items()
    }
    right = made.pop("")[0]
    values_fit = all(same(v, w, EXACT) for (v, _), w in zip(found, new, strict=True))
    derivatives = [d for _, d in found]
    if all(same(d, truth, NEAR) for d, truth in zip(derivatives, right, strict=True)) and not values_fit:
        raise stop("VALUE_LOST", "The derivatives are right, and the values are not. The next round needs both.")
    if all(same(v, truth, NEAR) for (v, _), truth in zip(found, right, strict=True)):
        raise stop("OTHER", "The pair comes back in the wrong order.", "Return the value first, then the derivative.")
    if not values_fit and all(same(v, w, 1e-5) for (v, _), w in zip(found, new, strict=True)):
        hint = "Plain Python numbers are float64; of a tensor, say dtype=lab.float64."
        raise stop("OTHER", "The value has about six right digits, as float32 has.", hint)
    if not values_fit:
        raise other("function", "The value is not that of one round.", f"The round is x ← {of}. Start with that line.")
    if all(same(d, truth, EXACT) for d, truth in zip(derivatives, right, strict=True)):
        return _many_rounds(step, rng) if of == "4x(1 - x)" else passed(f"Right for {TRIALS} fresh pairs.")
    for code, several in made.items():
        if any(all(same(d, wrong, NEAR) for d, wrong in zip(derivatives, each, strict=True)) for each in several):
            local = code == "LOCAL_ONLY"
            raise stop(code, "This is the local derivative alone: d is not used." * local,
                       "Start with d = 0: x does not move at all. What should come out?" * local)  # fmt: skip
    if all(same(d, truth, 1e-3) for d, truth in zip(derivatives, right, strict=True)):
        raise stop("DIFFERENCES_ARE_AUTODIFF", "This is right to a few digits only, as a measured slope is.",
                   "Carry d by the rule for products: no h is needed.")  # fmt: skip
    raise other("function")


def _pair(answer: Any) -> tuple[float, float]:
    pair = listed(answer, "the pair")
    if len(pair) != 2:
        raise stop(
            "RAISES", f"A pair was expected, and {len(pair)} came back.", "Return two numbers: value, derivative."
        )
    return number(pair[0], "the new value"), number(pair[1], "the new derivative")


def _many_rounds(step: Callable[[float, float], Any], rng: np.random.Generator) -> CheckResult:
    """Compare 20 rounds with x = sin²(2²⁰ θ), whose derivative is 2²⁰ sin(2·2²⁰ θ) / sin(2θ)."""
    for start in rng.uniform(0.1, 0.9, 3).tolist():
        v, d = start, 1.0
        for _ in range(ROUNDS):
            v, d = _pair(attempt(step, v, d))
        angle, times = math.asin(math.sqrt(start)), 2.0**ROUNDS
        slope = times * math.sin(2 * times * angle) / math.sin(2 * angle)
        if not same(v, math.sin(times * angle) ** 2, 1e-6) or abs(d - slope) > 1e-6 * times:
            raise stop(
                "OTHER", f"One round is right, and {ROUNDS} in a row are not.", "Does it keep something between calls?"
            )
    return passed(f"Right for {TRIALS} fresh pairs, and still after {ROUNDS} rounds.")


def carried(x: float, n: int) -> tuple[float, float]:
    """Return x and its derivative after n rounds of 4x(1 − x), in float64.

    Examples
    --------
    >>> [round(each, 4) for each in carried(0.1, 4)]
    [0.8219, -20.4034]
    """
    v, d = float(x), 1.0
    for _ in range(n):
        v, d = 4 * v * (1 - v), 4 * d * (1 - 2 * v)
    return v, d


def true_digits(x: float, n: int) -> float:
    """Return how many digits of x after n rounds of 4x(1 − x) are right, at least 0; measured in 120 digits.

    Examples
    --------
    >>> [round(true_digits(0.1, n)) for n in (4, 50, 60)]
    [16, 2, 0]
    """
    with localcontext() as context:
        context.prec = 120
        exact = Decimal(repr(x))
        for _ in range(n):
            exact = 4 * exact * (1 - exact)
        off = float(abs(Decimal(carried(x, n)[0]) - exact))
    return min(max(-math.log10(off), 0.0), 16.0) if off else 16.0


def _estimate(x: float, n: int) -> float:
    """Return how many digits the derivative promises."""
    return min(max(-math.log10(max(abs(carried(x, n)[1]) * UNIT * x, 1e-300)), 0.0), 16.0)


def _digits_from(x: float, n: int) -> dict[str, float]:
    """Return how many digits each wrong idea leaves."""
    size = max(abs(carried(x, n)[1]) * UNIT * x, 1e-300)
    return {
        "ERRORS_ADD": 16 - math.log10(n),
        "ONE_DIGIT_A_ROUND": max(16.0 - n, 0.0),
        "OTHER_BASE": max(-math.log2(size), 0.0),
        "OTHER_BASE ": max(-math.log(size), 0.0),
        "LOST_FOR_LEFT": 16 - _estimate(x, n),
        "LOST_FOR_LEFT ": math.log10(size / UNIT),  # and no end at 16, where none are left
    }


@checked
def check_digits_left(digits_left: Callable[[float, int], float], seed: int | None = None) -> CheckResult:
    """Check a function that says how many digits are right after n rounds of 4x(1 − x), within one digit.

    Parameters
    ----------
    digits_left : callable
        ``digits_left(x, n)``, 0 or more.
    seed : int, optional
        Makes the numbers the same again.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> lessons.check_digits_left(lambda x, n: max(0, 16 - 0.3 * n))
    Passed. Within one digit of what float64 really keeps, from 5 rounds to 60.
    >>> lessons.check_digits_left(lambda x, n: 16).code
    'EXACT_IS_TRUE'
    """
    rng = np.random.default_rng(seed)
    dealt: list[tuple[float, int]] = []
    for n in (5, 12, 20, 28, 35, 42, 48, 60):
        while True:  # a single error may be small by luck, and then says nothing
            x = round(float(rng.uniform(0.3, 0.9)), 3)
            promised, usual = _estimate(x, n), max(15.95 - 0.301 * n, 0.0)
            if abs(promised - usual) < 0.4 and abs(true_digits(x, n) - promised) < 0.5:
                dealt.append((x, n))
                break
    found = [finite(attempt(digits_left, x, n), "the number of digits") for x, n in dealt]
    bounds = [sorted((true_digits(x, n), _estimate(x, n))) for x, n in dealt]
    if all(low - CLOSE <= said <= high + CLOSE for said, (low, high) in zip(found, bounds, strict=True)):
        return passed("Within one digit of what float64 really keeps, from 5 rounds to 60.")
    if all(said >= 14.9 for said in found):
        raise stop("EXACT_IS_TRUE")
    near = lambda one, two: abs(max(one, 0.0) - two) <= 2.2  # noqa: E731
    ideas = [[(code.strip(), guess) for code, guess in _digits_from(x, n).items()] for x, n in dealt]
    code = idea_behind(found, ideas, near)
    if (
        not code
        and all(said <= high + CLOSE for said, (_, high) in zip(found, bounds, strict=True))
        and min(found) < -1
    ):
        raise stop("OTHER", "A number of digits is not negative.", "Put max(0, ...) around it.")
    raise stop(code) if code else other("function")


_KINDS = {"a": "AUTODIFF_IS_SYMBOLIC", "b": "DIFFERENCES_ARE_AUTODIFF", "c": "", "d": "EXACT_IS_TRUE"}


@checked
def check_what_a_tape_does(letter: Any) -> CheckResult:
    """Check what a tape does: the letter of one of four answers.

    Parameters
    ----------
    letter : str
        ``"a"`` to ``"d"``.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> lessons.check_what_a_tape_does("a").code
    'AUTODIFF_IS_SYMBOLIC'
    """
    if is_blank(letter):
        raise stop("BLANK", "No letter yet.")
    said = letter.strip().lower() if isinstance(letter, str) else ""
    if said not in _KINDS:
        raise stop("RAISES", "One of the letters a to d was expected.", 'Write it in quotes, like "a".')
    if _KINDS[said]:
        raise stop(_KINDS[said])
    return passed("Numbers, one local derivative for each op that ran: neither a formula nor a measurement.")


_DAYS: Mapping[float, str] = {
    14.0: "ONE_DIGIT_A_ROUND", 15.0: "ONE_DIGIT_A_ROUND", 16.0: "ONE_DIGIT_A_ROUND", 5e14: "ERRORS_ADD",
    1e15: "ERRORS_ADD", 34.0: "OTHER_BASE", 34.538776394910684: "OTHER_BASE", 35.0: "OTHER_BASE",
}  # fmt: skip
"""Wrong days, with the idea behind each."""


@checked
def check_day(day: Any) -> CheckResult:
    """Check the day on which an error of 1e-16 that doubles every day has grown to 10 %.

    Parameters
    ----------
    day : float
        Its number; the error is 1e-16 on day 0.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> lessons.check_day(50)
    Passed. 2⁵⁰ is about 1e15. One digit better at the start would give three days more.
    >>> lessons.check_day(15).code
    'ONE_DIGIT_A_ROUND'
    """
    said = finite(day, "the day")
    if 49.8 <= said <= 50.0:
        return passed("2⁵⁰ is about 1e15. One digit better at the start would give three days more.")
    code = next((code for wrong, code in _DAYS.items() if same(said, wrong, 1e-3)), "")
    if not code and same(said, 49.0):
        raise stop("OTHER", "On that day the error is 2⁴⁹ · 1e-16, which is 5.6 %.", "One more doubling.")
    raise stop(code) if code else other("number")


EXERCISES: dict[str, Exercise] = {
    "4.1": Exercise("carry a pair", check_pair),
    "4.2": Exercise("the length of a tape", check_tape_length),
    "4.3": Exercise("digits left", check_digits_left),
    "4.4": Exercise("what a tape does", check_what_a_tape_does),
    "4.5": Exercise("the forecast", check_day),
}
