"""Checks of lesson 6, on what a tape records: entries in order, and none where none are wanted."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

import autodiff_lab as lab
from autodiff_lab.errors import LabError
from autodiff_lab.lessons.attempt import (
    a_kind,
    array,
    attempt,
    checked,
    is_blank,
    listed,
    name_of,
    other,
    protect,
    same,
    stop,
)
from autodiff_lab.lessons.result import CheckResult, passed

SIGNS = {
    "+": "add", "plus": "add", "-": "subtract", "−": "subtract", "minus": "subtract", "sub": "subtract",
    "*": "multiply", "×": "multiply", "·": "multiply", "times": "multiply", "mul": "multiply", "/": "divide",
    "div": "divide", "**": "pow", "power": "pow", "max": "maximum", "min": "minimum", "neg": "negative",
}  # fmt: skip
"""What people write for the name of an op."""
DRAWN = 60
"""How many numbers are drawn, and tried."""
NEAR = 1e-3
"""How near to a boundary between two paths both sides are tried."""
EXACT = 64
"""One over the distance of the numbers that are taken for exact in float32."""
BLURRED = 1e-6
"""How near to a boundary nobody is asked: there, rounding to float32 decides on the path."""


def entries_of(function: Callable[[Any], Any], x: float) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the entries that a tape holds after a function of a watched number, and all ops that ran.

    Examples
    --------
    >>> entries_of(lambda x: x * 2.0 if x > 1.0 else x, 3.0)
    (('multiply',), ('greater', 'multiply'))
    """
    with lab.record() as recording:
        held = held_after(function, x)
    return held, tuple(application.op for application in recording.forward)


def held_after(function: Callable[[Any], Any], x: float) -> tuple[str, ...]:
    """Return the entries that a tape holds after a function of a watched number.

    Examples
    --------
    >>> held_after(lambda x: x * 2.0 if x > 1.0 else x, 3.0)
    ('multiply',)
    """
    variable = lab.Variable(x)
    with lab.GradientTape() as tape:
        function(variable)
    return tape.operations


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
    places = (
        np.arange(DRAWN) + np.random.default_rng(seed).random(DRAWN)
    ) / DRAWN  # one in each part, so none is missed
    drawn = (low + (high - low) * places).round(2).tolist()
    asked = protect(lambda: _asked(function, [float(low), *drawn, float(high)]), name_of(function))
    right = {x: held_after(function, x) for x in asked}
    ways = list(dict.fromkeys(right.values()))
    said = {x: _names(attempt(entries, x)) for x in right}
    wrong = [x for x in right if said[x] != right[x]]
    codes = {_wrong_entries(said[x], right[x], entries_of(function, x)[1], ways) for x in wrong}
    if codes:
        raise stop(codes.pop()) if len(codes) == 1 and codes != {"OTHER"} else other("list")
    paths = "both" if len(ways) == 2 else f"all {len(ways)}"
    where = f" on {paths} paths through the function" if len(ways) > 1 else ""
    return passed(f"Right for fresh numbers{where}.")


def _asked(function: Callable[[Any], Any], drawn: Iterable[float]) -> list[float]:
    """Return numbers that were drawn, and numbers on either side of every boundary between two paths.

    Where a boundary is a number that float32 holds exactly, such as 2, that number is asked as well.  Others that lie
    too near are not: the program compares them in float32 and a learner in float64, so both may be right.
    """
    numbers = sorted(set(drawn))
    boundaries = [x for pair in itertools.pairwise(numbers) for x in _boundary(function, *pair)]
    for at in boundaries:
        margin = BLURRED * max(1.0, abs(at))
        numbers = [x for x in numbers if abs(x - at) > 2 * margin]
        numbers += [at - NEAR / 2, at + NEAR / 2]
        exact = round(at * EXACT) / EXACT
        numbers += [exact] if abs(exact - at) <= margin else []
    return numbers


def _boundary(function: Callable[[Any], Any], left: float, right: float) -> tuple[float, ...]:
    """Return where the path changes between two numbers; nothing if it does not."""
    ways = held_after(function, left), held_after(function, right)
    if ways[0] == ways[1]:
        return ()
    while right - left > BLURRED * max(1.0, abs(left)):
        middle = (left + right) / 2
        if held_after(function, middle) == ways[0]:
            left = middle
        else:
            right = middle
    return ((left + right) / 2,)


def _names(said: Any) -> tuple[str, ...]:
    if isinstance(said, (str, Mapping)) or not isinstance(said, Iterable):
        raise stop("RAISES", f'A list of names was expected, like ["multiply", "add"], but this is {a_kind(said)}.')
    names = listed(said, "the list")
    if any(map(is_blank, names)):
        raise stop("BLANK", "The list still has blanks.")  # how many may depend on x, and so on chance
    return tuple(map(_op_name, names))


def _op_name(written: Any) -> str:
    """Return the name of an op as the registry writes it.

    >>> _op_name(" Lab.Multiply "), _op_name("-"), _op_name(lab.exp)
    ('multiply', 'subtract', 'exp')
    """
    name = getattr(written, "__name__", None) if callable(written) else written
    plain = name if isinstance(name, str) else a_kind(written)
    text = plain.strip().lower().removeprefix("lab.").removesuffix("()")
    return SIGNS.get(text, text)


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
        loss = lab.reduce_sum(x * x)  # the training step that is under way
        count, size = len(tape.operations), tape.saved_bytes
        value = attempt(report, tape, x)
        new, more = len(tape.operations) - count, tape.saved_bytes - size
        later = loss + 3.0 * lab.reduce_sum(x)  # and goes on
    wanted = np.sin(np.sin(np.linspace(0.0, 1.0, 1000)))
    given = array(value, "the value", None)
    if given.shape != wanted.shape or not np.allclose(given, wanted, atol=1e-5):
        raise stop("OTHER_FUNCTION", "The value is not sin(sin(x)) any more.",
                   "Keep the line that computes it, and put it where the tape does not record.")  # fmt: skip
    if new > 0:
        raise stop(
            "EVERYTHING",
            f"The value is right, and the tape holds {new} {'entry' if new == 1 else 'entries'} and "
            f"{more} bytes that will never be needed.",
            "A tape can be paused for the length of a block: tape.stop_recording().",
        )
    if new < 0 or not _still_trains(tape, later, x):
        raise stop(
            "OTHER",
            "The value is right, but the training step that the tape was recording is lost.",
            "Leave the tape open and its entries alone: let it pause while you compute, for the length of a block.",
        )
    return passed("The value is right, and the tape holds nothing of it.")


def _still_trains(tape: lab.GradientTape, loss: Any, x: Any) -> bool:
    """Return whether a tape still gives the gradient of x² + 3x, summed up."""
    at = x.numpy()
    try:
        found = tape.gradient(loss, x)
    except LabError:
        return False
    return found is not None and np.allclose(found.numpy(), 2 * at + 3)


def agrees(slope: Any, wanted: float) -> bool:
    """Return whether a float32 gradient is the expected number.

    Examples
    --------
    >>> agrees(lab.constant(6.00001), 6.0)
    True
    """
    return same(float(slope), wanted, 1e-3)
