"""Checks of lesson 5: how many sweeps a gradient takes, the gradient by sweeps, and a seed with a unit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autodiff_lab.lessons.attempt import array, attempt, checked, finite, idea_behind, numbers, other, same, stop
from autodiff_lab.lessons.dealing import signed
from autodiff_lab.lessons.duals import check_dual
from autodiff_lab.lessons.exercise import Exercise
from autodiff_lab.lessons.loops import check_loops
from autodiff_lab.lessons.result import CheckResult, passed

TRIALS = 6
MODES = ("forward", "backward")
Array = np.ndarray


def _same(one: Any, wanted: Any) -> bool:
    found, right = np.asarray(one), np.asarray(wanted)
    return found.shape == right.shape and bool(np.allclose(found, right, rtol=1e-6, atol=1e-6))


@checked
def check_sweeps(sweeps: Callable[[int, int], Any], seed: int | None = None) -> CheckResult:
    """Check a function that counts the sweeps that a whole Jacobian takes.

    Parameters
    ----------
    sweeps : callable
        ``sweeps(inputs, outputs)`` returns a dict with the numbers of sweeps, ``"forward"`` and ``"backward"``.
    seed : int, optional
        Makes the sizes the same again.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> lessons.check_sweeps(lambda inputs, outputs: {"forward": outputs, "backward": inputs}).code
    'MODES_SWAPPED'
    """
    rng = np.random.default_rng(seed)
    sizes = [(5, 1), (1, 5), *(tuple(map(int, rng.choice(np.arange(2, 1000), 2, False))) for _ in range(TRIALS))]
    counted = [numbers(attempt(sweeps, *size), MODES) for size in sizes]
    answers = [[each[mode] for mode in MODES] for each in counted]
    if all(_same(answer, size) for answer, size in zip(answers, sizes, strict=True)):
        return passed(f"Right for 5 inputs and 1 output, for 1 and 5, and for {TRIALS} random pairs of sizes.")
    ideas = [[("MODES_SWAPPED", (m, n)), ("ONE_ENTRY", (n * m, n * m)), ("ONE_ENTRY", (n * m, m)),
              ("ALL_SEEDED", (1, 1)), ("ALL_SEEDED", (1, m))] for n, m in sizes]  # fmt: skip
    code = idea_behind(answers, ideas, _same)
    raise stop(code) if code else other("numbers")


class _Polynomial:
    """A function of several numbers, made of + and *, that remembers how it was called."""

    def __init__(self, rng: np.random.Generator, count: int) -> None:
        self.squares, self.products = (np.round(rng.uniform(0.5, 3.0, count), 2).tolist() for _ in range(2))
        self.pairs = False

    def __call__(self, *xs: Any) -> Any:
        """Return Σ sᵢ·xᵢ·xᵢ + pᵢ·xᵢ·xᵢ₊₁, where the last is multiplied by the first."""
        count = len(self.squares)
        if len(xs) != count:
            raise TypeError(f"f takes {count} numbers, one by one, and got {len(xs)}")
        self.pairs |= any(hasattr(x, "tangent") for x in xs)
        total: Any = 0.0
        for at, x in enumerate(xs):
            total = total + self.squares[at] * x * x + self.products[at] * (x * xs[(at + 1) % count])
        return total

    def gradient(self, xs: Sequence[float]) -> Array:
        """Return the partial derivatives."""
        count = len(xs)
        return np.array([
            2 * self.squares[at] * xs[at]
            + self.products[at] * xs[(at + 1) % count] + self.products[at - 1] * xs[at - 1]
            for at in range(count)
        ])  # fmt: skip


@checked
def check_swept_gradient(gradient: Callable[[Any, Any], Any], seed: int | None = None) -> CheckResult:
    """Check a function that fills a gradient by forward sweeps, an input at a time.

    Parameters
    ----------
    gradient : callable
        ``gradient(f, xs)``, the partial derivatives of ``f(*xs)`` as a list. f is made of ``+`` and ``*``, and takes
        pairs of any class that has an attribute `tangent`.
    seed : int, optional
        Makes functions and points the same again.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> lessons.check_swept_gradient(lambda f, xs: [f(*xs) for _ in xs]).code
    'VALUE'
    """
    rng = np.random.default_rng(seed)
    answers: list[Array] = []
    ideas: list[list[tuple[str, Any]]] = []
    for count in range(2, 2 + TRIALS):
        f = _Polynomial(rng, count)
        xs = [float(x) for x in np.round(signed(rng, 0.3, 2.0, count), 2)]
        answers.append(array(attempt(gradient, f, list(xs)), "the gradient", None))
        right, here = f.gradient(xs), float(f(*xs))
        ideas.append([("", right), ("ALL_SEEDED", right.sum()), ("ALL_SEEDED", np.full(1, right.sum())),
                      ("ALL_SEEDED", np.full(count, right.sum())), ("SEEDS_KEPT", np.cumsum(right)),
                      ("NO_SEED", np.zeros(count)), ("VALUE", np.full(count, here)),
                      ("VALUE", np.array(here))])  # fmt: skip
        if _same(answers[-1], right) and not f.pairs:
            raise other("function", "The numbers are right, but f was never called with a pair.",
                        "Call f with a Dual for each input; its result has the tangent.")  # fmt: skip
    if all(_same(answer, each[0][1]) for answer, each in zip(answers, ideas, strict=True)):
        return passed(f"Right for {TRIALS} fresh functions, of 2 to {1 + TRIALS} numbers.")
    code = idea_behind(answers, [each[1:] for each in ideas], _same)
    if code:
        raise stop(code)
    bad = next((a for a, each in zip(answers, ideas, strict=True) if a.shape != each[0][1].shape), None)
    if bad is not None:
        kind = "a single number" if bad.shape == () else f"an array of shape {bad.shape}"
        raise stop("RAISES", f"The gradient should have a number for each input, but is {kind}.")
    raise other("array")


def payment(loan: Any, yearly: Any, months: int) -> Any:
    """Return what is paid each month for a loan at a yearly rate, for numbers and pairs alike.

    Examples
    --------
    >>> round(payment(200_000.0, 0.04, 360), 2)
    954.83
    """
    rate: Any = yearly * (1 / 12)
    growth: Any = 1.0
    for _ in range(months):
        growth = growth * (1.0 + rate)
    return loan * rate * growth / (growth + -1.0)


def _slopes(loan: float, yearly: float, months: int) -> tuple[float, float]:
    """Return the derivatives of the payment with respect to the loan and to the yearly rate, by formula."""
    rate = yearly / 12
    growth = (1 + rate) ** months
    by_rate = loan * growth * (growth - 1 - months * rate / (1 + rate)) / (growth - 1) ** 2
    return payment(loan, yearly, months) / loan, by_rate / 12


@checked
def check_per_point(per_point: Callable[[float, float, int], Any], seed: int | None = None) -> CheckResult:
    """Check a function that says how fast the payment for a loan changes per percentage point of the rate.

    Parameters
    ----------
    per_point : callable
        ``per_point(loan, yearly, months)``; the yearly rate is 0.04 for 4 %.
    seed : int, optional
        Makes loans and rates the same again.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> from autodiff_lab.lessons.sweeping import payment
    >>> def difference(loan, yearly, months):
    ...     return payment(loan, yearly + 0.01, months) - payment(loan, yearly, months)
    >>> lessons.check_per_point(difference).code
    'CHANGE'
    """
    rng = np.random.default_rng(seed)
    cases = [(200_000.0, 0.04, 360)]
    units = [1000.0] * (TRIALS - 1) + [0.1]  # beside the slope for a large loan, that with respect to the loan vanishes
    cases += [(each * int(rng.integers(50, 400)), int(rng.integers(4, 18)) / 200, int(rng.integers(5, 25)) * 12)
              for each in units]  # fmt: skip
    answers = [finite(attempt(per_point, *case), "the change per percentage point") for case in cases]
    ideas: list[list[tuple[str, float]]] = []
    for loan, yearly, months in cases:
        here = payment(loan, yearly, months)
        by_loan, by_rate = _slopes(loan, yearly, months)
        ideas.append([
            ("", by_rate / 100), ("CHANGE", payment(loan, yearly + 0.01, months) - here),
            ("CHANGE", here - payment(loan, yearly - 0.01, months)), ("VALUE", here), ("WRONG_UNIT", by_rate),
            ("WRONG_UNIT", by_rate * 12), ("WRONG_UNIT", by_rate * 12 / 100), ("WRONG_UNIT", by_rate / 12),
            ("WRONG_UNIT", by_rate * yearly), ("OTHER_INPUT", by_loan), ("OTHER_INPUT", by_loan / 100),
            ("ALL_SEEDED", by_rate + by_loan), ("ALL_SEEDED", (by_rate + by_loan) / 100), ("NO_SEED", 0.0),
        ])  # fmt: skip
    if all(same(answer, each[0][1]) for answer, each in zip(answers, ideas, strict=True)):
        said, real = ideas[0][0][1], ideas[0][1][1]
        return passed(f"Right for this loan and for {TRIALS} others. At {cases[0][1]:.0%} the payment changes by "
                      f"{said:.2f} per point; the next point really costs {real:.2f}. Why not the same? "
                      "See lesson 13.")  # fmt: skip
    code = idea_behind(answers, [each[1:] for each in ideas])
    raise stop(code) if code else other("number")


EXERCISES: dict[str, Exercise] = {
    "5.1": Exercise("pairs of value and tangent", check_dual),
    "5.2": Exercise("through loops and ifs", check_loops),
    "5.3": Exercise("how many sweeps", check_sweeps),
    "5.4": Exercise("a gradient by sweeps", check_swept_gradient),
    "5.5": Exercise("one percentage point", check_per_point),
}
