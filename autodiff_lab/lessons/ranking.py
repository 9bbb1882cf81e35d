"""Five ways to get a slope, dealt to be put in the order of their errors: exercise 3 of lesson 3."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from autodiff_lab.draw.steps import Steps
from autodiff_lab.exploring.steps import measure_steps
from autodiff_lab.lessons.attempt import checked, is_blank, stop
from autodiff_lab.lessons.result import CheckResult, not_yet, passed


@dataclass(frozen=True, slots=True)
class Method:
    """A way to get a slope: the tape, or a quotient with a step in a dtype."""

    formula: str
    h: float = 0.0
    dtype: str = "float64"

    def __str__(self) -> str:
        if self.formula == "tape":
            return "the tape"
        kind = "" if self.dtype == "float64" else f", {self.dtype}"
        return f"{self.formula}, h = {self.h:g}{kind}"


@dataclass(frozen=True, repr=False)
class Methods:
    """Five ways to get the slope of x³ at 1, by letter.  Dealt by `methods`."""

    by_letter: dict[str, Method]
    errors: dict[str, float] = field(default_factory=dict)

    def __repr__(self) -> str:
        return "\n".join(f"{letter}  {method}" for letter, method in self.by_letter.items())


def methods(seed: int | None = None) -> Methods:
    """Deal five ways to get the slope of x³ at 1, to be put in the order of their errors.

    Parameters
    ----------
    seed : int, optional
        Deals the same again.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> print(str(lessons.methods(seed=1)).count("h ="))
    4
    """
    rng = np.random.default_rng(seed)
    steps = measure_steps(lambda x: x * x * x, 1.0)
    while True:
        dealt = [
            Method("tape"),
            Method("one-sided", 10.0 ** -int(rng.integers(1, 5))),
            Method("one-sided", 10.0 ** -int(rng.integers(6, 11))),
            Method("one-sided", 10.0 ** -int(rng.integers(12, 16))),
            Method("central", 10.0 ** -int(rng.integers(3, 7)), str(rng.choice(["float64", "float64", "float32"]))),
        ]
        errors = [_error(steps, method) for method in dealt]
        apart = all(b > 4 * a for a, b in pairwise(sorted(errors)))
        ideas = [tuple(order) for _, order in _wrong_orders(steps, dealt)]
        if apart and len({*ideas, tuple(_order(errors))}) == len(ideas) + 1:
            break
    shuffled = rng.permutation(5).tolist()
    letters = dict(zip("abcde", (dealt[k] for k in shuffled), strict=True))
    return Methods(letters, {letter: errors[k] for letter, k in zip("abcde", shuffled, strict=True)})


def _error(steps: Steps, method: Method) -> float:
    """Return the error of a method: the largest around its step, because a single step may be lucky."""
    if method.formula == "tape":
        return 0.0
    errors, h = steps.errors(method.dtype, method.formula == "central"), steps.values[method.dtype].h
    near = np.abs(np.log10(h.astype(float)) - np.log10(method.h)) < 0.26
    return float(np.nanmax(errors[near]))


def _order(keys: Sequence[float]) -> list[int]:
    return sorted(range(len(keys)), key=lambda k: keys[k])


def _wrong_orders(steps: Steps, dealt: Sequence[Method]) -> Iterator[tuple[str, list[int]]]:
    """Yield the order that each wrong idea gives, as positions in what was dealt."""
    yield "SMALLER_IS_BETTER", _order([method.h for method in dealt])
    yield "LARGER_IS_SAFER", _order([-method.h if method.h else -np.inf for method in dealt])
    yield "WORST_FIRST", _order([-_error(steps, method) for method in dealt])
    one_sided = [
        method if method.formula == "tape" else Method("one-sided", method.h, method.dtype) for method in dealt
    ]
    if len({_error(steps, method) for method in one_sided}) == len(dealt):
        yield "ONE_SIDED", _order([_error(steps, method) for method in one_sided])
    if any(method.dtype == "float32" for method in dealt):
        yield "DTYPE_IGNORED", _order([_error(steps, Method(method.formula, method.h)) for method in dealt])


@checked
def check_order(order: Any, dealt: Methods) -> CheckResult:
    """Check the order of five methods by their errors, the smallest first.

    Parameters
    ----------
    order : str or sequence of str
        The five letters.
    dealt : Methods
        What `methods` dealt.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> dealt = lessons.methods(seed=1)
    >>> lessons.check_order(sorted(dealt.errors, key=dealt.errors.get), dealt)
    Passed. All five are in order, the tape first.
    """
    letters = _letters(order)
    truth = sorted(dealt.errors, key=lambda letter: dealt.errors[letter])
    if letters == truth:
        return passed("All five are in order, the tape first.")
    names = list(dealt.by_letter)
    steps = measure_steps(lambda x: x * x * x, 1.0)
    for code, wrong in _wrong_orders(steps, list(dealt.by_letter.values())):
        if letters == [names[k] for k in wrong]:
            return not_yet(code)
    if dealt.by_letter[letters[0]].formula != "tape":
        raise stop("DIFFERENCES_ARE_AUTODIFF")
    right = sum(one == other for one, other in zip(letters, truth, strict=True))
    raise stop("OTHER", f"{right} of 5 are in their place.", "Find each h in the picture, and read off its error.")


def _letters(order: Any) -> list[str]:
    if is_blank(order):
        raise stop("BLANK", "There is no order yet.")
    try:
        letters = [str(each).strip().lower() for each in order if str(each).strip(" ,<")]
    except TypeError:
        raise stop("RAISES", f"An order is five letters, but this is a {type(order).__name__}.") from None
    if sorted(letters) != list("abcde"):
        raise stop("RAISES", 'An order has each of the letters a to e once, like "abcde".')
    return letters
