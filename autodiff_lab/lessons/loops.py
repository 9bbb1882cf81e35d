"""Checks of lesson 5: pairs of a value and its tangent go through loops, and through an if inside of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from autodiff_lab.lessons.attempt import a_kind, checked, is_blank, other, protect, same, stop
from autodiff_lab.lessons.duals import (
    MEASURED,
    TRIALS,
    H,
    check_parts,
    fresh_pair,
    operated,
    read_pair,
    spoiled,
    try_operator,
)
from autodiff_lab.lessons.result import CheckResult, passed


@checked
def check_loops(dual: Any, seed: int | None = None) -> CheckResult:
    """Check that pairs can be divided and compared, and so go through any loop: Babylon's root, and loops with an if.

    Parameters
    ----------
    dual : class
        As for `check_dual`, with ``/`` and ``>`` as well.
    seed : int, optional
        Makes numbers and loops the same again.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> print(lessons.check_loops(...).code)
    BLANK
    """
    check_parts(dual)
    rng = np.random.default_rng(seed)
    for op in ("+", "*", "/"):
        try_operator(dual, op, rng)
    _check_comparison(dual, rng)
    roots = [lambda a, rounds=rounds: babylon(a, rounds) for rounds in range(4, 4 + TRIALS)]
    loops = [_fresh_loop(rng) for _ in range(TRIALS)]
    starts = [float(a) for a in rng.uniform(1.5, 5.0, TRIALS)]
    cases: list[tuple[Callable[[Any], Any], float]] = [*zip(roots, starts, strict=True), *loops]
    for program, a in cases:
        made = protect(lambda program=program, a=a: program(dual(a, 1.0)), "your class")
        value, tangent = read_pair(made, "A loop")
        slope = (program(a + H) - program(a - H)) / (2 * H)
        if not (same(value, program(a)) and same(tangent, slope, MEASURED)):
            raise spoiled("loops")
    return passed(f"Babylon's root after 4 to {3 + TRIALS} rounds, and {TRIALS} fresh loops with an if: all agree with "
                  "central differences.")  # fmt: skip


def babylon(a: Any, rounds: int = 5) -> Any:
    """Return the square root of a number or a pair by repeated averaging.

    Examples
    --------
    >>> babylon(2.0, 3)
    1.4142156862745097
    """
    x: Any = 1.0
    for _ in range(rounds):
        x = 0.5 * (x + a / x)
    return x


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop that decides in every round.

    Examples
    --------
    >>> Loop(rounds=3, bound=2.0, more=1.0, factor=0.5)(1.5)
    1.7307692307692308
    """

    rounds: int
    bound: float
    more: float
    factor: float

    def __call__(self, a: Any) -> Any:
        """Return where the loop ends."""
        x = a * 1.0
        for _ in range(self.rounds):
            x = a / (x + self.more) if x > self.bound else x * self.factor + a
        return x

    def branches(self, a: float) -> list[bool]:
        """Return what the if said in each round."""
        return [Loop(k, self.bound, self.more, self.factor)(a) > self.bound for k in range(self.rounds)]


def _fresh_loop(rng: np.random.Generator) -> tuple[Loop, float]:
    """Return a loop that takes both branches, and a number near which it takes the same ones."""
    while True:
        bound, more, factor, a = (float(n) for n in rng.uniform((1.0, 0.5, 0.3, 0.8), (2.5, 2.0, 1.5, 2.5)))
        loop = Loop(int(rng.integers(4, 8)), bound, more, factor)
        taken = loop.branches(a)
        if 0 < sum(taken) < len(taken) and all(loop.branches(a + by) == taken for by in (-1e-3, 1e-3)):
            return loop, a


def _check_comparison(dual: Any, rng: np.random.Generator) -> None:
    """Try x > number, where value and tangent lie on different sides of it."""
    cases = [(float(v), float(t), float(v + t) / 2) for v, t in (fresh_pair(rng) for _ in range(2 * TRIALS))]
    said = [bool(_truth(operated(lambda v=v, t=t, c=c: dual(v, t) > c, "a comparison", ">"))) for v, t, c in cases]
    if said == [v > c for v, _, c in cases]:
        return
    if said == [t > c for _, t, c in cases]:
        raise stop("IF_BY_TANGENT")
    raise other("function", "x > number is not right: it should say what it says for the value alone.")


def _truth(said: Any) -> Any:
    if is_blank(said):
        raise stop("BLANK", "x > number gives nothing back.")
    if not isinstance(said, (bool, np.bool_)):
        raise stop("RAISES", f"x > number should be True or False, but is {a_kind(said)}.", "Compare the values.")
    return said
