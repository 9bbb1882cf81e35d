"""The five programs of lesson 6 whose gradient is None, and the check of their repair.

The programs stand in the notebook, where a learner mends them; their twins here are run to find the
intended value and, from `Recording.explain`, the right cause.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import autodiff_lab as lab
from autodiff_lab.explain import CAUSES
from autodiff_lab.lessons.attempt import a_kind, attempt, checked, is_blank, number, other, protect, same, stop
from autodiff_lab.lessons.exercise import Exercise
from autodiff_lab.lessons.result import CheckResult, passed
from autodiff_lab.lessons.source import readable
from autodiff_lab.lessons.taping import agrees, check_off_the_record

Program = Callable[[int], Any]
STEP = 1e-4


PROGRAMS: tuple[str, ...] = (
    """\
def snippet_1(v):
    x = lab.constant(float(v))
    with lab.GradientTape() as tape:
        y = x * x
    return x, y, tape.gradient(y, x)
""",
    """\
def snippet_2(v):
    x = lab.Variable(float(v))
    with lab.GradientTape() as tape:
        y = lab.square(np.sqrt(x) + 1.0)
    return x, y, tape.gradient(y, x)
""",
    """\
def snippet_3(v):
    x = lab.Variable(v)
    with lab.GradientTape() as tape:
        y = x * x * x
    return x, y, tape.gradient(y, x)
""",
    """\
def snippet_4(v):
    x = lab.Variable(float(v))
    total = lab.Variable(0.0)
    with lab.GradientTape() as tape:
        total.assign_add(3.0 * x)
        y = total * total
    return x, y, tape.gradient(y, x)
""",
    """\
def snippet_5(v):
    x = lab.Variable(float(v))
    area = x * x
    with lab.GradientTape() as tape:
        y = 2.0 * area + 1.0
    return x, y, tape.gradient(y, x)
""",
)
"""As text, because an explanation reads the user's lines, and lines of this package do not count as such."""
MEANT: tuple[Callable[[float], float], ...] = (
    lambda v: v * v,
    lambda v: (v**0.5 + 1.0) ** 2,
    lambda v: v**3,
    lambda v: 9.0 * v * v,
    lambda v: 2.0 * v * v + 1.0,
)
"""What each program computes, for central differences."""


def broken(number: int) -> Program:
    """Return one of the programs, from 1, as a function whose source lines can be read.

    Examples
    --------
    >>> x, y, slope = broken(1)(3)
    >>> print(y.numpy(), slope)
    9.0 None
    """
    names: dict[str, Any] = {"lab": lab, "np": np}
    exec(readable(PROGRAMS[number - 1], f"program {number}"), names)
    return names[f"snippet_{number}"]


def cause_of(program: Program, v: int = 3) -> tuple[str, str]:
    """Return the cause of a program's missing gradient, and the source line where the path is cut.

    Examples
    --------
    >>> cause_of(broken(1))
    ('not_watched', 'y = x * x')
    """
    with lab.record() as recording:
        x, y, _ = program(v)
    explanation = recording.explain(y, x)
    return explanation.cause, recording.line(explanation.place)


@checked
def check_repair(which: int, program: Program, cause: Any, seed: int | None = None) -> CheckResult:
    """Check a repaired program, and the name of what was wrong with it.

    Parameters
    ----------
    which : int
        The number of the program, from 1.
    program : callable
        ``program(v)`` returns x, y and the gradient of y with respect to x.
    cause : str
        A key of `autodiff_lab.explain.CAUSES`.
    seed : int, optional
        Makes the numbers the same again.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> from autodiff_lab.lessons.repairs import broken
    >>> lessons.check_repair(1, broken(1), cause=...).code
    'STILL_NONE'
    """
    meant = MEANT[which - 1]
    places = [int(v) for v in np.random.default_rng(seed).choice(np.arange(2, 10), 4, replace=False)]
    if which != 2:  # the root is not negative
        places[::2] = [-v for v in places[::2]]
    slopes: list[float | None] = []
    by_tape = True
    for v in places:
        with lab.record() as recording:
            y, slope = _parts(attempt(program, v), v)
        if not same(y, meant(v), 1e-3):
            raise stop("OTHER_FUNCTION")
        slopes.append(slope)
        by_tape = by_tape and bool(recording.sweeps)
    if any(slope is None for slope in slopes):
        raise stop("STILL_NONE", next_hint=_where(program, places[0]))
    wanted = [(meant(v + STEP) - meant(v - STEP)) / (2 * STEP) for v in places]
    if all(slope == 0.0 for slope in slopes):
        raise stop("NONE_IS_ZERO")
    if not all(map(agrees, slopes, wanted)):
        if len(set(slopes)) == 1:
            raise stop("ONE_NUMBER")
        raise other("number", "There is a gradient now, but it is not that of y.", "Is x used on every path to y?")
    if not by_tape:
        raise stop("ONE_NUMBER", "The numbers are right, but no tape computed them.",
                   "Call tape.gradient, and let it go through the whole program.")  # fmt: skip
    return _named(which, cause)


def _parts(result: Any, v: int) -> tuple[float, float | None]:
    if not isinstance(result, (tuple, list)) or len(result) != 3 or not same(number(result[0], "x"), v):
        raise stop("RAISES", "The program should still return x, y and the gradient, in this order.")
    return number(result[1], "y"), None if result[2] is None else number(result[2], "the gradient")


def _where(program: Program, v: int) -> str:
    """Say where the path is cut, without saying why; give the hint of the table where that is not known."""
    try:
        _, line = protect(lambda: cause_of(program, v), "the program")
    except Exception:  # noqa: BLE001 - a hint is a courtesy; the learner's program may do anything
        return ""
    return f"The path between x and y is cut at this line: {line}" if line else ""


def _named(number: int, cause: Any) -> CheckResult:
    if is_blank(cause):
        raise stop("BLANK", "The gradient is right. Now name what was wrong.", "Write one of the names in the table.")
    known = {"not_watched", "watched_too_late", "left_engine", "integer", "state_read", "stop_gradient", "outside_tape"}
    cause = cause.strip().lower() if isinstance(cause, str) else cause
    if not isinstance(cause, str) or cause not in CAUSES:
        said = repr(cause) if isinstance(cause, str) else a_kind(cause)
        raise stop("RAISES", f"The gradient is right; {said} is not the name of a cause.",
                   f"The names are {', '.join(sorted(known))}.")  # fmt: skip
    if cause != cause_of(broken(number))[0]:
        raise stop("WRONG_CAUSE")
    return passed(f"Fixed and named: {CAUSES[cause]}.")


def _repair(number: int) -> Exercise:
    def check(program: Any, cause: Any = ...) -> CheckResult:
        return check_repair(number, program, cause)

    return Exercise(f"None, {number} of {len(PROGRAMS)}", check)


EXERCISES: dict[str, Exercise] = {
    **{f"6.{number}": _repair(number) for number in range(1, len(PROGRAMS) + 1)},
    "6.6": Exercise("off the record", check_off_the_record),
}
