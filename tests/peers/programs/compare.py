"""Describe the differences between two results of a statement.

A number is wrong if its distance from the float64 value is more than a few times the peer's distance plus the rounding
of the dtype; everything else (shapes, dtypes, integers, None, nan, infinities) is compared exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tests.peers.programs.peers import Answer
from tests.peers.programs.values import kind_of

EPSILON = {"float16": 2.0**-10, "bfloat16": 2.0**-7, "float32": 2.0**-23, "float64": 2.0**-52, "complex64": 2.0**-23,
           "complex128": 2.0**-52}  # fmt: skip
SMALLEST = {"float16": 1e-7}
WIDTH = {"values": 16.0, "first gradient": 64.0, "second gradient": 256.0}


@dataclass(frozen=True)
class Expected:
    """An array of the peer, the array that ours is compared with, and the tolerance."""

    array: np.ndarray
    exact: np.ndarray
    bound: float


@dataclass(frozen=True)
class Difference:
    """A difference: where it is, in words, and the arrays (None for no gradient at all).

    `expected` is what ours was compared with; `rounding` says that only the accuracy of some numbers is insufficient.
    """

    what: str
    words: str
    mine: Any = None
    theirs: Any = None
    expected: Expected | None = None
    rounding: bool = False

    def near(self) -> Any:
        """Say by element whether ours is what was expected, up to 1 % or the bound; False if shapes differ."""
        if self.mine is None or self.expected is None or self.mine.shape != self.expected.array.shape:
            return False
        return np.isclose(_wide(self.mine), self.expected.exact, 1e-2, self.expected.bound, equal_nan=True)


@dataclass
class Expectation:
    """What is expected of a statement: `Answer` with bounds; arrays that may not be there are None."""

    values: list[Expected] | None = None
    first: list[Expected | None] | None = None
    second: list[Expected | None] | None = None


def expectation(theirs: Answer, wide: Answer | None, near: Sequence[tuple[Answer, Answer]] = ()) -> Expectation:
    """Return what is expected where the peer gave an answer; `wide` is the peer's answer in 64 bits.

    `near` holds the same two answers for arguments close by.  Where large contributions cancel, the peer's distance
    from the number in 64 bits may happen to be 0; close by it is not, and tells what rounding costs.
    """
    wide = wide or Answer()
    expected = Expectation(
        _bounded("values", theirs.values, wide.values, []),
        _bounded("first gradient", theirs.first, wide.first, []),
        _bounded("second gradient", theirs.second, wide.second, theirs.first or []),
    )
    for answer, exact in near:
        _widen(expected.values, answer.values, exact.values)
        _widen(expected.first, answer.first, exact.first)
        _widen(expected.second, answer.second, exact.second)
    return expected


def _widen(expected: list[Any] | None, given: list[Any] | None, exact: list[Any] | None) -> None:
    if expected is None or given is None or exact is None or not len(expected) == len(given) == len(exact):
        return
    for at, (held, array, best) in enumerate(zip(expected, given, exact, strict=True)):
        known = held is not None and array is not None and best is not None and array.shape == best.shape
        if known and kind_of(array.dtype) in "fc":
            expected[at] = replace(held, bound=max(held.bound, 4.0 * _apart(_wide(array), _wide(best))))


def _apart(given: np.ndarray, exact: np.ndarray) -> float:
    finite = np.isfinite(given) & np.isfinite(exact)
    return float(np.max(np.abs(given[finite] - exact[finite]), initial=0.0))


def differences(mine: Answer, theirs: Expectation, documented: tuple[type, ...]) -> list[Difference]:
    """Return what differs between our answer and what is expected; `documented` is what we may raise."""
    if mine.error is not None and not isinstance(mine.error, documented):
        return [Difference("error", f"raises {_line(mine.error)}")]
    if theirs.values is None:
        return []
    if mine.error is not None:
        return [Difference("refusal", f"refuses: {_line(mine.error)}")]
    found = _arrays("values", mine.values, theirs.values)
    if found or theirs.first is None:
        return found
    if mine.first is None:
        words = f"the backward pass raises {_line(mine.late)}" if mine.late else "no gradient"
        return [Difference("first gradient", words)]
    found = _arrays("first gradient", mine.first, theirs.first)
    if found or theirs.second is None:
        return found
    if mine.second is None and mine.late:
        return [Difference("second gradient", f"the second backward pass raises {_line(mine.late)}")]
    return _arrays("second gradient", mine.second or [None] * len(theirs.second), theirs.second)


def _line(error: Any) -> str:
    return f"{type(error).__name__}: {(str(error).splitlines() or [''])[0][:160]}"


def _bounded(what: str, theirs: Any, wide: Any, beside: list[Any]) -> Any:
    if theirs is None:
        return None
    best = wide if wide is not None and len(wide) == len(theirs) else [None] * len(theirs)
    size = max((_largest(a) for a in beside if a is not None), default=0.0)
    pairs = zip(theirs, best, strict=True)
    return [None if array is None else _expected(what, array, exact, size) for array, exact in pairs]


def _largest(array: np.ndarray) -> float:
    return float(np.max(np.abs(array), initial=0.0, where=np.isfinite(array)))


def _expected(what: str, array: np.ndarray, best: np.ndarray | None, size: float) -> Expected:
    if kind_of(array.dtype) not in "fc":
        return Expected(array, array, 0.0)
    given = _wide(array)
    exact = given if best is None or best.shape != array.shape else _wide(best)
    epsilon = EPSILON[array.dtype.name] * (2.0 if array.dtype.name in ("float16", "bfloat16") else WIDTH[what])
    if best is None or array.dtype.name in ("float64", "complex128"):
        epsilon *= 512.0
    if what != "values":  # cotangents are about 1: where contributions cancel, their rounding stays
        size = max(size, 4.0 if array.dtype.name in ("float16", "bfloat16") else 0.01)
    bound = 4.0 * _apart(given, exact) + epsilon * max(_largest(exact), size) + SMALLEST.get(array.dtype.name, 1e-37)
    return Expected(array, exact, bound)


def _arrays(what: str, mine: Any, theirs: Any) -> list[Difference]:
    if len(mine) != len(theirs):
        return [Difference(what, f"{len(mine)} here, {len(theirs)} there")]
    return [
        Difference(what, words, ours, None if other is None else other.array, other, rounding="is allowed" in words)
        for ours, other in zip(mine, theirs, strict=True)
        if (words := _array(ours, other))
    ]


def _array(mine: np.ndarray | None, expected: Expected | None) -> str | None:
    if mine is None or expected is None:
        return None if mine is expected else _both(mine, expected)
    theirs = expected.array
    if mine.shape != theirs.shape:
        return f"shape {mine.shape} here, {theirs.shape} there"
    if mine.dtype != theirs.dtype:
        return f"dtype {mine.dtype} here, {theirs.dtype} there"
    if kind_of(mine.dtype) not in "fc":
        return None if np.array_equal(mine, theirs) else _both(mine, expected)
    a, b = _wide(mine), _wide(theirs)
    # The peer overflowed and ours did not: its own answer in 64 bits decides.
    with np.errstate(invalid="ignore"):
        close = np.abs(a - expected.exact) < 0.01 * np.abs(expected.exact)
    spared = ~np.isfinite(b) & np.isfinite(expected.exact) & close
    b = np.where(spared, a, b)
    infinite = ~np.isfinite(b) & ~np.isnan(b)
    if (
        not np.array_equal(np.isnan(a), np.isnan(b))
        or not np.array_equal(np.isfinite(a), np.isfinite(b))
        or not np.array_equal(a[infinite], b[infinite])
    ):
        return _both(mine, expected)
    finite = np.isfinite(b) & np.isfinite(expected.exact)
    worst = float(np.max(np.abs(a[finite] - expected.exact[finite]), initial=0.0))
    if worst <= expected.bound:
        return None
    return f"{_both(mine, expected)}, off by {worst:.2g} where {expected.bound:.2g} is allowed"


def _wide(array: np.ndarray) -> np.ndarray:
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)


def _both(mine: np.ndarray | None, theirs: Expected | None) -> str:
    return f"{_shown(mine)} here, {_shown(theirs and theirs.array)} there"


def _shown(array: np.ndarray | None) -> str:
    if array is None:
        return "None"
    return f"{np.array2string(array, precision=6, threshold=12, separator=', ')} {array.dtype}"
