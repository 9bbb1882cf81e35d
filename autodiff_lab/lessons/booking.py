"""Checks of lesson 8: engines that learners repair.

They walk fresh programs and are compared with central differences; a walk over 40 doublings shows whether
each entry is visited once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from autodiff_lab.lessons.attempt import (
    Stopped,
    a_kind,
    attempt,
    checked,
    idea_behind,
    number,
    other,
    protect,
    same,
    stop,
)
from autodiff_lab.lessons.deadline import share_seconds
from autodiff_lab.lessons.entries import WRONG, Accounts, Dealt, deal, doublings, stale, walk_backwards
from autodiff_lab.lessons.exercise import Exercise
from autodiff_lab.lessons.result import CheckResult, passed

PROGRAMS = 200
CLOSE = 1e-5
"""Relative difference up to which a gradient agrees with a central difference."""
PATIENCE = 1.0
"""Seconds for the walk over 40 doublings."""

PlainEngine = Callable[..., Any]


@checked
def check_engine(engine: PlainEngine, seed: int | None = None) -> CheckResult:
    """Check an engine that goes backwards through entries, on fresh programs and on 40 doublings.

    Parameters
    ----------
    engine : callable
        ``engine(entries, end)`` returns the gradients of `end` by name. Each entry is the name of a result and a list
        of pairs: the name of an input, and the local derivative.
    seed : int, optional
        Makes the programs the same again.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> def engine(entries, end):
    ...     accounts = {end: 1.0}
    ...     for out, uses in reversed(entries):
    ...         for name, local in uses:
    ...             accounts[name] = accounts.get(name, 0.0) + accounts[out] * local
    ...     return accounts
    >>> lessons.check_engine(engine)
    Passed. Right on 200 fresh programs, and in time on 40 doublings.
    """
    programs: list[Dealt] = []
    answers: list[Accounts] = []
    for each in _programs(seed):
        programs.append(each)
        answers.append(_accounts(attempt(engine, each.copy(), each.end), each))
    _stop_if_wrong(programs, answers)
    _walk_doublings(lambda each: attempt(engine, each.copy(), each.end))
    return passed(f"Right on {PROGRAMS} fresh programs, and in time on 40 doublings.")


@checked
def check_clean_engine(engine: PlainEngine, seed: int | None = None) -> CheckResult:
    """Check an engine whose ledger is kept from pass to pass: what an earlier pass left must not count.

    Parameters
    ----------
    engine : callable
        ``engine(entries, end, ledger)``, as for `check_engine`; the ledger is a dict that may not be empty.
    seed : int, optional
        Makes the programs the same again.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> def engine(entries, end, ledger):
    ...     ledger[end] = 1.0
    ...     for out, uses in reversed(entries):
    ...         for name, local in uses:
    ...             ledger[name] = ledger.get(name, 0.0) + ledger[out] * local
    ...     return ledger
    >>> lessons.check_clean_engine(engine).code
    'STALE'
    """
    programs: list[Dealt] = []
    first: list[Accounts] = []
    again: list[Accounts] = []
    dirty: list[Accounts] = []
    for each in _programs(seed):
        programs.append(each)
        ledger: Accounts = {}
        first.append(_accounts(attempt(engine, each.copy(), each.end, ledger), each))
        again.append(_accounts(attempt(engine, each.copy(), each.end, ledger), each))
        dirty.append(_accounts(attempt(engine, each.copy(), each.end, _left(each)), each))
    _stop_if_wrong(programs, first)
    if not all(map(_right, dirty, programs)):
        if all(map(_right, again, programs)):
            raise stop("FIRST_RUN_ONLY")
        code = idea_behind(dirty, [list(stale(each, _left(each))) for each in programs], _agree)
        raise stop(code) if code else other("function", "The first pass is right, and a second one is not.")
    if not all(map(_right, again, programs)):
        raise other("function", "A pass on a ledger that the engine has left itself is not right.")
    _walk_doublings(lambda each: attempt(engine, each.copy(), each.end, _left(each)))
    return passed(
        f"Right on {PROGRAMS} fresh programs, whatever an earlier pass has left, and in time on 40 doublings."
    )


def _programs(seed: int | None) -> Iterator[Dealt]:
    """Deal programs one by one: an engine that stops at the first needs no other."""
    rng = np.random.default_rng(seed)
    return (deal(rng) for _ in range(PROGRAMS))


def _left(each: Dealt) -> Accounts:
    """Return a ledger as an earlier pass over the same program leaves it."""
    return walk_backwards(each.entries, each.end)


def _accounts(value: Any, each: Dealt) -> Accounts:
    """Return what a learner's engine reports; an account that was never opened holds 0."""
    if not isinstance(value, Mapping):
        raise stop("RAISES", f"The engine should return its accounts, a dict by name; this is {a_kind(value)}.",
                   "End it with: return accounts.")  # fmt: skip
    held = protect(lambda: {name: value.get(name, 0.0) for name in each.gradients}, "your engine")
    return {name: g if type(g) is float else number(g, f"the account of {name}") for name, g in held.items()}


def _right(answer: Accounts, each: Dealt) -> bool:
    return all(same(answer[name], slope, CLOSE) for name, slope in each.gradients.items())


def _agree(answer: Accounts, given: Accounts) -> bool:
    return all(same(held, given.get(name, 0.0)) for name, held in answer.items())


def _stop_if_wrong(programs: Sequence[Dealt], answers: Sequence[Accounts]) -> None:
    """Name the idea that explains the answers to all programs.

    Raises
    ------
    Stopped
        If an answer is wrong.
    """
    if all(map(_right, answers, programs)):
        return
    ideas = ([(code, engine(each.entries, each.end)) for code, engine in WRONG] for each in programs)
    code = idea_behind(answers, list(ideas), _agree)
    if code:
        raise stop(code)
    wrong = sum(not _right(answer, each) for answer, each in zip(answers, programs, strict=True))
    raise other(
        "function", f"{wrong} of {len(programs)} fresh programs come out wrong, and it is none of the usual mistakes.",
        "Walk through y = 3x, a = 2y, b = 5y, c = a + b with a pencil: who is visited, and what is booked?",
    )  # fmt: skip


def _walk_doublings(walk: Callable[[Dealt], Any]) -> None:
    """Run a right engine on a program of 2⁴⁰ paths.

    Raises
    ------
    Stopped
        If it does not come to an end in time, or its numbers are wrong.
    """
    chain = doublings()
    try:
        with share_seconds(PATIENCE):
            answer = _accounts(walk(chain), chain)
    except Stopped as stopped:
        raise stop("EVERY_PATH") if stopped.result.code == "TOO_LONG" else stopped from None
    if not _right(answer, chain):
        raise other("function", "Right on fresh programs, but the gradient of 40 doublings is not 2⁴⁰.")


EXERCISES: dict[str, Exercise] = {
    "8.2": Exercise("repair the first engine", check_engine),
    "8.3": Exercise("repair the second", check_engine),
    "8.4": Exercise("repair the third", check_clean_engine),
}
