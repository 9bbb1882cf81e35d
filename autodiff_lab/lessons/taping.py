"""Checks of lesson 6, on what a tape records: entries in order, and none where none are wanted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import autodiff_lab as lab
from autodiff_lab.lessons.attempt import attempt, checked, is_blank, same, stop
from autodiff_lab.lessons.result import CheckResult, passed

SIGNS = {"+": "add", "-": "subtract", "*": "multiply", "/": "divide", "**": "pow", "mul": "multiply", "max": "maximum"}
DRAWN = 60
"""How many numbers are drawn in search of every path through a function."""
OF_EACH = 3
"""How many numbers are tried on each path."""


def entries_of(function: Callable[[Any], Any], x: float) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the entries that a tape holds after a function of a watched number, and all ops that ran.

    Examples
    --------
    >>> entries_of(lambda x: x * 2.0 if x > 1.0 else x, 3.0)
    (('multiply',), ('greater', 'multiply'))
    """
    variable = lab.Variable(x)
    with lab.record() as recording, lab.GradientTape() as tape:
        function(variable)
    return tape.operations, tuple(application.op for application in recording.forward)


@checked
def check_entries(
    entries: Callable[[float], Sequence[str]],
    function: Callable[[Any], Any],
    low: float,
    high: float,
    seed: int | None = None,
) -> CheckResult:
    """Check a function that predicts which entries a tape will hold, for fresh numbers on every path through it.

    Parameters
    ----------
    entries : callable
        ``entries(x)``: names of ops in the order in which they are recorded.
    function : callable
        The program that is recorded, of one number.
    low, high : float
        Where x is drawn from.
    seed : int, optional
        Makes the numbers the same again.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> double = lambda x: x * 2.0 if x > 5.0 else x
    >>> lessons.check_entries(lambda x: ["multiply"] if x > 5 else [], double, 0.0, 10.0)
    Passed. Right for fresh numbers on both paths through the function.
    >>> lessons.check_entries(lambda x: ["multiply"], double, 0.0, 10.0).code
    'SOURCE_TEXT'
    """
    ways: dict[tuple[str, ...], list[float]] = {}
    for x in np.random.default_rng(seed).uniform(low, high, DRAWN).round(2).tolist():
        ways.setdefault(entries_of(function, x)[0], []).append(x)
    for right, places in ways.items():
        for x in places[:OF_EACH]:
            said = _names(attempt(entries, x))
            if said != right:
                raise stop(_wrong_entries(said, right, entries_of(function, x)[1], list(ways)))
    paths = "both" if len(ways) == 2 else f"all {len(ways)}"
    where = f" on {paths} paths through the function" if len(ways) > 1 else ""
    return passed(f"Right for fresh numbers{where}.")


def _names(said: Any) -> tuple[str, ...]:
    if not isinstance(said, Sequence) or isinstance(said, str):
        raise stop("RAISES", 'A list of names was expected, like ["multiply", "add"].')
    if any(map(is_blank, said)):
        raise stop("BLANK", "The list still has blanks.")  # how many may depend on x, and so on chance
    return tuple(SIGNS.get(str(name), str(name)) for name in said)


def _wrong_entries(
    said: tuple[str, ...], right: tuple[str, ...], ran: tuple[str, ...], ways: Sequence[tuple[str, ...]]
) -> str:
    """Return the code of the idea behind a wrong list."""
    extra = Counter(said) - Counter(right)
    if extra:
        silent = Counter(ran) - Counter(right)
        if extra <= silent:
            return "EVERYTHING"
        elsewhere = Counter(name for way in ways for name in way)
        return "SOURCE_TEXT" if extra <= elsewhere + silent else "OTHER"
    return "ORDER" if len(said) == len(right) else "FORGOTTEN"


@checked
def check_off_the_record(report: Callable[[Any, Any], Any]) -> CheckResult:
    """Check a function that computes ``sin(sin(x))`` under an open tape and leaves no entry on it.

    Parameters
    ----------
    report : callable
        ``report(tape, x)``, the value.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> lessons.check_off_the_record(lambda tape, x: lab.sin(lab.sin(x))).code
    'EVERYTHING'
    """
    x = lab.Variable(np.linspace(0.0, 1.0, 1000, dtype=np.float32))
    with lab.GradientTape() as tape:
        value = attempt(report, tape, x)
    wanted = np.sin(np.sin(np.asarray(x.numpy(), dtype=np.float64)))
    given = np.asarray(value, dtype=np.float64)
    if given.shape != wanted.shape or not np.allclose(given, wanted, atol=1e-5):
        raise stop("OTHER_FUNCTION", "The value is not sin(sin(x)) any more.",
                   "Keep the line that computes it, and put it where the tape does not record.")  # fmt: skip
    if tape.operations:
        count = len(tape.operations)
        raise stop(
            "EVERYTHING",
            f"The value is right, and the tape holds {count} {'entry' if count == 1 else 'entries'} and "
            f"{tape.saved_bytes} bytes that will never be needed.",
            "A tape can be paused for the length of a block: tape.stop_recording().",
        )
    return passed("The value is right, and the tape holds nothing.")


def agrees(slope: Any, wanted: float) -> bool:
    """Return whether a float32 gradient is the expected number.

    Examples
    --------
    >>> agrees(lab.constant(6.00001), 6.0)
    True
    """
    return same(float(slope), wanted, 1e-3)
