"""Checks of lesson 14b on paper: what a plan holds, how far it reaches, what it costs; and the two bulbs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autodiff_lab.draw.checkpoints import fewest_ops, idea_of
from autodiff_lab.lessons.attempt import attempt, checked, finite, idea_behind, other, same, stop
from autodiff_lab.lessons.checkpoints import HINT, kept_by, ops_over
from autodiff_lab.lessons.exercise import Exercise
from autodiff_lab.lessons.result import CheckResult, passed


@checked
def check_pieces(kept: Callable[[int, int], Any], seed: int | None = None) -> CheckResult:
    """Check how many values are held at most if a chain of ops is cut into equal pieces.

    Parameters
    ----------
    kept : callable
        ``kept(ops, pieces)``; the number of pieces divides that of ops.
    seed : int, optional
        Makes the numbers the same again.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> lessons.check_pieces(lambda ops, pieces: pieces - 1 + ops // pieces)
    Passed. Right for 6 chains.
    >>> lessons.check_pieces(lambda ops, pieces: ops // pieces).code
    'INPUTS_FORGOTTEN'
    """
    rng = np.random.default_rng(seed)
    trials = [(int(inside) * int(pieces), int(pieces)) for inside, pieces in rng.integers(3, 9, (6, 2))]
    found = [finite(attempt(kept, *trial), "the number of values") for trial in trials]
    return _judge(found, trials, lambda n, k: [
        ("", k - 1 + n // k), ("INPUTS_FORGOTTEN", n // k), ("INPUTS_FORGOTTEN", n // k - 1), ("X_COUNTED", k + n // k),
        ("ONE_CHECKPOINT", k), ("ONE_CHECKPOINT", k - 1), ("ALL_KEPT", n), ("ALL_KEPT", n + k), ("ALL_KEPT", n + k - 1),
    ], "chains")  # fmt: skip


@checked
def check_reach(reach: Callable[[int], Any]) -> CheckResult:
    """Check the longest chain that some slots bring back if no value is computed more than twice.

    Parameters
    ----------
    reach : callable
        ``reach(slots)``.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> lessons.check_reach(lambda slots: slots * (slots + 3) // 2)
    Passed. Right for 7 numbers of slots.
    >>> lessons.check_reach(lambda slots: slots * (slots + 1)).code
    'EQUAL_PIECES'
    """
    trials = [(slots,) for slots in range(2, 9)]
    found = [finite(attempt(reach, *trial), "the number of values") for trial in trials]
    return _judge(found, trials, lambda s: [
        ("", s * (s + 3) // 2), ("EQUAL_PIECES", s * (s + 1)), ("EQUAL_PIECES", s * s), ("EQUAL_PIECES", s * (s + 2)),
        ("INPUTS_FORGOTTEN", s * (s + 1) // 2), ("ALL_KEPT", s), ("ALL_KEPT", 2 * s),
    ], "numbers of slots")  # fmt: skip


@checked
def check_staircase(staircase: Callable[[int], Any]) -> CheckResult:
    """Check which values a first run keeps so that some slots bring back the longest chain, each value computed twice.

    Parameters
    ----------
    staircase : callable
        ``staircase(slots)``: numbers of values in a chain of ``slots (slots + 3) / 2`` values.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> lessons.check_staircase(lambda slots: [6, 11, 15, 18] if slots == 5 else [1]).code
    'OTHER'
    """
    found: list[tuple[int, int, list[int]]] = []
    for slots in range(2, 8):
        values = slots * (slots + 3) // 2
        found.append((values, slots, kept_by(attempt(staircase, slots), values, slots)))
    if not any(ops_over(*each) for each in found):
        return passed("Every chain comes back, and no value is computed more than twice.")
    codes = {idea_of(*each) for each in found[1:]}  # with two slots one value is kept: every idea looks the same
    if len(codes) == 1 and codes != {""}:
        raise stop(codes.pop())
    values, slots, kept = next(each for each in found if ops_over(*each))
    told = f"With {slots} slots and {values} values, {kept} costs {ops_over(values, slots, kept)} ops too many."
    raise other("list", told, HINT)


@checked
def check_fewest(fewest: Callable[[int, int], Any]) -> CheckResult:
    """Check a function that counts the fewest ops that run again.

    Parameters
    ----------
    fewest : callable
        ``fewest(values, slots)``: par of the board, also where everything fits.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> lessons.check_fewest(lambda values, slots: max(values - slots, 0)).code
    'ONCE_ENOUGH'
    """
    trials = [(values, slots) for slots in (1, 2, 3, 4) for values in (1, 2, 3, 5, 8, 10)]
    found = [finite(attempt(fewest, *trial), "the number of ops") for trial in trials]
    return _judge(found, trials, lambda n, s: [
        ("", fewest_ops(n, s) - n), ("ONCE_ENOUGH", max(n - s, 0)), ("ONCE_ENOUGH", n - s),
        ("FORWARD_COUNTED", fewest_ops(n, s)), ("ONE_CHECKPOINT", n * (n - 1) // 2), ("HALVES", _halved(n, s) - n),
    ], "boards")  # fmt: skip


def _halved(values: int, slots: int) -> int:
    """Return the ops of a plan that keeps the value in the middle of every gap."""
    if values <= slots or slots == 1:
        return fewest_ops(values, slots)
    first = (values + 1) // 2
    return first + _halved(values - first, slots - 1) + _halved(first - 1, slots)


@checked
def check_bulbs(drops: Callable[[int], Any], seed: int | None = None) -> CheckResult:
    """Check how many drops find the highest floor from which a bulb survives, with two bulbs and in the worst case.

    Parameters
    ----------
    drops : callable
        ``drops(floors)``.
    seed : int, optional
        Makes the buildings the same again.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> lessons.check_bulbs(lambda floors: floors).code
    'ONE_CHECKPOINT'
    """
    rng = np.random.default_rng(seed)
    trials = [(36,), (37,), (100,), *((int(n),) for n in rng.integers(40, 400, 5))]
    found = [finite(attempt(drops, *trial), "the number of drops") for trial in trials]

    def guesses(n: int) -> list[tuple[str, float]]:
        root = math.sqrt(n)
        side = math.ceil(root)
        return [
            ("", math.ceil((math.sqrt(8 * n + 1) - 1) / 2)), ("ONE_CHECKPOINT", n), ("ONE_CHECKPOINT", n - 1),
            *(("EQUAL_PIECES", each) for each in (math.ceil(n / side) + side - 1, 2 * side, 2 * side - 1, 2 * root,
                                                  2 * root - 1, 2 * math.isqrt(n), 2 * math.isqrt(n) - 1)),
            *(("HALVES", each) for each in (math.ceil(n / 2), n // 2, n // 2 + 1, math.ceil(math.log2(n + 1)),
                                            math.ceil(math.log2(n)), math.log2(n))),
        ]  # fmt: skip

    return _judge(found, trials, guesses, "buildings")


def _judge(found: list[float], trials: Sequence[tuple[int, ...]], guesses: Callable[..., list[tuple[str, float]]],
           what: str) -> CheckResult:  # fmt: skip
    """Return that all answers are right, or stop with the idea that explains all of them."""
    ideas = [guesses(*trial) for trial in trials]
    if all(same(answer, each[0][1]) for answer, each in zip(found, ideas, strict=True)):
        return passed(f"Right for {len(trials)} {what}.")
    code = idea_behind(found, [each[1:] for each in ideas])
    raise stop(code) if code else other("number")


EXERCISES: dict[str, Exercise] = {
    "14b.3": Exercise("what par is", check_fewest),
    "14b.4": Exercise("two bulbs", check_bulbs),
}
