"""Checks of lesson 8 for which no engine is written: the idea behind a number, and where order does not matter."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from functools import cache
from typing import Any

import numpy as np

import autodiff_lab as lab
from autodiff_lab.errors import LabError
from autodiff_lab.lessons.attempt import a_kind, attempt, checked, is_blank, number, other, protect, same, stop
from autodiff_lab.lessons.exercise import Exercise
from autodiff_lab.lessons.result import CheckResult, passed
from autodiff_lab.recording.numbers import short
from autodiff_lab.teaching import IDEAS, Engine, wrong_engines

BEHIND = (6, 15, 27, 84)
"""The numbers of exercise 8.1: wrong dc/dx of y = 3x, a = 2y, b = 5y, c = a + b, for which 21 is right."""
LEAST = 4
"""Ops that a program of exercise 8.5 has at least."""
STEP, START = 0.1, 10.0
"""Of the training loop in exercise 8.6."""


@cache
def _given_by() -> dict[str, tuple[float, ...]]:
    """Return what each idea gives for dc/dx in exercise 8.1, by code."""
    x = lab.Variable(2.0, name="x")
    with lab.record() as recording, lab.GradientTape():
        y = 3.0 * x
        a = 2.0 * y
        b = 5.0 * y
        _ = a + b
    right = float(Engine().gradients(recording, ["x"])["x"])
    found: dict[str, set[float]] = {}
    for engine in wrong_engines():
        try:
            given = float(engine.gradients(recording, ["x"])["x"])
        except LabError:
            continue
        if not same(given, right):
            found.setdefault(engine.code, set()).add(given)
    return {code: tuple(sorted(given)) for code, given in found.items()}


@checked
def check_wrong_numbers(answers: Any) -> CheckResult:
    """Check which idea leads to each of four wrong gradients.

    Parameters
    ----------
    answers : mapping
        From each of 6, 15, 27 and 84 to a code of `autodiff_lab.teaching.IDEAS`.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> lessons.check_wrong_numbers({6: "OVERWRITE", 15: "CLOSED", 27: "EARLY", 84: "STALE"}).passed
    True
    >>> print(lessons.check_wrong_numbers({6: "EARLY", 15: "CLOSED", 27: "EARLY", 84: "STALE"}).message)
    EARLY does not give 6 here: it gives 27 or 36, depending on the order.
    """
    if is_blank(answers):
        raise stop("BLANK", "There is nothing here to check yet.")
    if not isinstance(answers, Mapping):
        raise stop("RAISES", f"A dict from numbers to codes was expected; this is {a_kind(answers)}.")
    given = {key: answers[key] for key in BEHIND if key in answers}
    left = [str(key) for key in BEHIND if is_blank(given.get(key))]
    if left:
        raise stop("BLANK", f"No code yet for {', '.join(left)}.")
    for key, said in given.items():
        code = said.strip().upper() if isinstance(said, str) else ""
        if code not in IDEAS:
            near = get_close_matches(code, IDEAS, 1, 0.6)
            raise stop("RAISES", f"For {key}, {said!r} is not a code." if isinstance(said, str)
                       else f"For {key}, a code in quotes was expected, but this is {a_kind(said)}.",
                       f"Did you mean {near[0]!r}?" if near else "Take one from the table.")  # fmt: skip
        numbers = _given_by().get(code, ())
        if not any(same(key, each) for each in numbers):
            told = " or ".join(short(each) for each in numbers) or "21, which is right"
            more = ", depending on the order" if len(numbers) > 1 and code in ("EARLY", "CLOSED") else ""
            raise stop("OTHER", f"{code} does not give {key} here: it gives {told}{more}.",
                       f'Step through it: lessons.engines(recording, ["{code}"]).')  # fmt: skip
    same_numbers = [code for code, numbers in _given_by().items() if 6.0 in numbers and 15.0 in numbers]
    return passed(
        "All four are explained.", f"6 and 15 do not settle it: {' and '.join(same_numbers)} both give either."
    )


@checked
def check_early(f: Callable[..., Any], seed: int | None = None) -> CheckResult:
    """Check a program on which an engine that pays out early is right all the same.

    Parameters
    ----------
    f : callable
        Of one to four tensors, made of at least four ops.
    seed : int, optional
        Makes the points the same again.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> from autodiff_lab import lessons
    >>> lessons.check_early(lambda x, y: lab.sin(x * y) + lab.exp(x)).passed
    True
    """
    if is_blank(f):
        raise stop("BLANK", "There is nothing here to check yet.")
    if not callable(f):
        raise stop("RAISES", f"A function was expected, but this is {a_kind(f)}.")
    names = _arguments(f)
    rng = np.random.default_rng(seed)
    variants = [engine for engine in wrong_engines() if engine.code == "EARLY"]
    for _ in range(4):
        at = {name: float(rng.uniform(0.3, 1.7)) for name in names}
        recording, ops = _recorded(f, at)
        if ops < LEAST:
            raise stop("OTHER", f"This is a program of {ops} ops.", f"Write one of at least {LEAST}.")
        right = protect(lambda r=recording: Engine().gradients(r), "the backward pass")
        result = recording.tensors[recording.sweeps[-1].targets[0]].snapshot.array
        if not all(map(math.isfinite, (float(np.asarray(result)), *map(_number, right.values())))):
            raise stop("OTHER", "It is not finite everywhere between 0.3 and 1.7.",
                       "Leave out logarithms and roots of what may be negative.")  # fmt: skip
        for engine in variants:
            _compare_early(engine, recording, right)
    return passed(
        "Paying out early does no harm here.", "No value on the way waits for a second booking: it is a tree."
    )


def _compare_early(engine: Engine, recording: lab.Recording, right: Mapping[str, Any]) -> None:
    """Compare an engine that pays out early with the right gradients.

    Raises
    ------
    Stopped
        If they differ, or the engine pays out so often that it does not come to an end.
    """
    hint = "Which value between the inputs and the result is used twice?"
    try:
        early = engine.gradients(recording)
    except LabError:
        raise stop("EARLY", "Here it pays out thousands of times: it follows every path.", hint) from None
    wrong = [name for name, g in right.items() if not same(_number(early[name]), _number(g))]
    if wrong:
        given, true = short(_number(early[wrong[-1]])), short(_number(right[wrong[-1]]))
        raise stop("EARLY", f"Here it is wrong: for {wrong[-1]} it gives {given}, and {true} is right.", hint)


def _arguments(f: Callable[..., Any]) -> list[str]:
    try:
        given = list(inspect.signature(f).parameters.values())
    except (TypeError, ValueError):
        given = []
    if not 1 <= len(given) <= 4 or any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD, p.KEYWORD_ONLY) for p in given):
        raise stop("RAISES", "A function of one to four tensors was expected.", "Begin it like: def f(x, y):")
    return [p.name for p in given]


def _recorded(f: Callable[..., Any], at: Mapping[str, float]) -> tuple[lab.Recording, int]:
    """Return the recording of a learner's program, and the number of its ops that depend on an input."""
    sources = [lab.Variable(value, dtype=lab.float64, name=name) for name, value in at.items()]
    with lab.record() as recording, lab.GradientTape() as tape:
        result = attempt(f, *sources)
        if not lab.is_tensor(result) or result.shape != ():
            raise stop("RAISES", f"The function should return one tensor without axes, but returns {a_kind(result)}.",
                       "Make it of +, *, lab.sin and the like.")  # fmt: skip
        found = protect(lambda: tape.gradient(result, sources), "the gradient of your function")
    if all(g is None for g in found):
        raise stop("OTHER", "The result does not depend on the inputs.", "Use x in it.")
    return recording, len(recording.sweeps[-1].steps)


def _number(gradient: Any) -> float:
    return 0.0 if gradient is None else float(np.asarray(gradient).reshape(-1)[0])


def _crossing() -> int:
    """Return the step after which w is below zero for the first time, if gradients pile up."""
    w, piled = START, 0.0
    for step in range(1, 1000):
        piled += w
        w -= STEP * piled
        if w < 0:
            return step
    raise AssertionError("w never crosses zero")


@checked
def check_uncleared(steps: Any) -> CheckResult:
    """Check after how many steps of a loop that never clears its gradient w is below zero for the first time.

    The loop goes downhill on w²/2 from w = 10 with a step of 0.1; the right answer is found by running it.

    Parameters
    ----------
    steps : int
        The answer; infinity for never.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> lessons.check_uncleared(float("inf")).code
    'STALE'
    """
    said = math.inf if isinstance(steps, str) and steps.strip().lower() == "never" else number(steps, "the step")
    if said == _crossing():
        return passed("It swings through zero, and out on the other side: momentum that nobody ordered.")
    if said == math.inf:
        raise stop("STALE", "It never would if each step began with an empty account: w would shrink by a tenth.",
                   "Book by hand: 10, then 10 + 9, then ...")  # fmt: skip
    raise other("number", _about(said), "Write down w and what the account holds, step by step.")


def _about(said: float) -> str:
    """Return what is said of a wrong number of steps."""
    if not said >= 1 or said != int(said):
        return "A number of steps is a whole number, from 1."
    return (
        f"After {int(said)} steps it is not below zero yet." if said < _crossing() else "It is below zero before that."
    )


EXERCISES: dict[str, Exercise] = {
    "8.1": Exercise("four wrong numbers", check_wrong_numbers),
    "8.5": Exercise("early, and right", check_early),
    "8.6": Exercise("a loop that never clears", check_uncleared),
}
