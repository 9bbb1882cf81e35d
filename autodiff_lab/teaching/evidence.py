"""Compare answers with gradients, and weigh what an answer proves.

People round. A number with at least three significant digits agrees with whatever rounds to it; all others agree to
the precision of the program.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autodiff_lab.teaching.program import Program

CLOSE = 1e-6
"""How closely numbers agree, relative to their size."""
ENOUGH = 5
"""From this many numbers on, a single flipped sign is taken for an idea about signs."""
SEVERAL = 3
"""From this many numbers on, one that is off by 1 or 2 is taken for an idea that is applied everywhere."""
SMALL = 1000
"""Integers up to this size are reached by accident too easily to prove anything alone."""


def agree(given: Any, found: Any, program: Program) -> bool:
    """Return whether an answer is a gradient: up to rounding, with the same shape, None and zero being the same."""
    if given is None or found is None:
        other = found if given is None else given
        return other is None or not np.any(other)
    given, found = np.asarray(given), np.asarray(found)
    if given.shape != found.shape and not given.size == found.size == 1:
        return False
    tolerance = precision(program)
    if given.size == 1 and given.dtype.kind == found.dtype.kind == "f":
        return _agree_as_numbers(given.item(), found.item(), tolerance)
    one, two = given.reshape(-1), found.reshape(-1)
    with np.errstate(all="ignore"):
        close = np.isclose(one, two, rtol=tolerance, atol=1e-3 * tolerance, equal_nan=True)
    if close.all():
        return True
    if np.iscomplexobj(one) or np.iscomplexobj(two):
        return False
    return _rounded(one, two, close)


def _agree_as_numbers(given: float, found: float, tolerance: float) -> bool:
    """Return what `agree` does of two real numbers: most answers are, and NumPy takes ten times as long for them."""
    if given == found or (math.isnan(given) and math.isnan(found)):
        return True
    if not (math.isfinite(given) and math.isfinite(found)):
        return False
    return abs(given - found) <= max(1e-3 * tolerance + tolerance * abs(found), _half_a_place([given]))


def precision(program: Program) -> float:
    """Return how closely the numbers of a program agree with exact ones, relative to their size."""
    dtypes = {program.recording.tensors[key].snapshot.dtype for key in program.targets}
    if dtypes & {"float16", "bfloat16"}:
        return 2e-2
    return 1e-5 if "float32" in dtypes else CLOSE


def _rounded(given: Any, found: Any, close: Any) -> bool:
    """Return whether numbers are others rounded to so many places that the largest has three digits or more."""
    if not (np.isfinite(given).all() and np.isfinite(found[~close]).all()):
        return False
    return bool(np.all(close | (np.abs(found - given) <= _half_a_place(given.tolist()))))


def _half_a_place(given: list[float]) -> float:
    """Return half of the last place of rounded numbers; 0 if the largest has fewer than three digits."""
    places, largest = max(map(_places, given)), max(map(abs, given))
    if places < 1 or largest == 0 or math.floor(math.log10(largest)) + 1 + places < 3:
        return 0.0
    return 0.5000001 * 10.0**-places


def _places(number: float) -> int:
    """Return how many digits after the point a number is written with."""
    mantissa, _, exponent = f"{number!r}".lower().partition("e")
    digits = mantissa.partition(".")[2]
    return (0 if digits == "0" else len(digits)) - int(exponent or 0)


def wrong_numbers(trials: list[Any], right: list[Any]) -> list[tuple[str, Any, Any]]:
    """Return the numbers of answers that are not right: the name, what was given and what is right."""
    return [
        (name, given[name], truth[name])
        for (program, given), truth in zip(trials, right, strict=True)
        for name in given
        if not agree(given[name], truth[name], program)
    ]


def is_single(trials: list[Any]) -> bool:
    """Return whether all that was given is one small integer: it proves nothing about an idea."""
    given = [value for _, answers in trials for value in answers.values()]
    if len(given) != 1 or given[0] is None or np.size(given[0]) != 1:
        return False
    number = _number(given[0])
    return math.isfinite(number) and number == round(number) and abs(number) <= SMALL


def is_slip(trials: list[Any], off: list[tuple[str, Any, Any]], about_signs: bool, everywhere: bool) -> bool:
    """Return whether one number alone is wrong, and only by 1 or 2 or by its sign.

    The sign counts for an idea about signs where at least five numbers were given, and 1 or 2 for an idea that is
    applied everywhere where at least three were: of all slips, 2 in 100 happen to agree with one of those, and 9 with
    an idea at a single value.
    """
    _, given, truth = off[0]
    if len(off) > 1 or given is None or np.size(given) != 1:
        return False
    number, true = _number(given), 0.0 if truth is None else _number(truth)
    count = sum(np.size(value) for _, answers in trials for value in answers.values())
    flipped = math.isclose(number, -true, rel_tol=1e-6)
    if any(math.isclose(abs(number - true), slip, rel_tol=1e-6) for slip in (1.0, 2.0)):
        return flipped or not (everywhere and count >= SEVERAL)
    return flipped and not (about_signs and count >= ENOUGH)


def _number(value: Any) -> float:
    return float(np.real(np.asarray(value).reshape(-1)[0]))
