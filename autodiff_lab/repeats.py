"""Repeats: where a sequence repeats itself with a period.

Loops leave no mark in a list of ops: whoever looks for them, the compiler in a trace or a picture in a recording,
first looks for stretches in which what happens is the same again after a fixed number of places.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

LONGEST_PERIOD = 2048
"""Ops of the longest turn of a loop that is found: two steps of a solver with limiters and their gradient have 700."""


class Repeat(NamedTuple):
    """A stretch of a sequence, from `start` up to but not including `end`, that repeats after `period` places."""

    start: int
    end: int
    period: int


def repeats(
    kinds: Sequence[Hashable], fewest: int, longest: int = LONGEST_PERIOD, between: Callable[[], object] = tuple
) -> list[Repeat]:
    """Return stretches of a sequence that repeat themselves, in order and without overlap.

    Where stretches overlap, the longer one wins, and of two equally long ones that with the shorter period.  The last
    repetition may be incomplete.

    Parameters
    ----------
    kinds : sequence of hashable
        What is compared.
    fewest : int
        The number of repetitions from which a stretch counts, at least 2.
    longest : int
        The longest period that is looked for.
    between : callable
        Called after each period, so that a long search may pause.

    Returns
    -------
    list of Repeat
        Takes time proportional to the length of the sequence times the longest period.

    Examples
    --------
    >>> repeats("xabababcccc", fewest=3)
    [Repeat(start=1, end=7, period=2), Repeat(start=7, end=11, period=1)]
    >>> repeats("abcabcab", fewest=3)
    []
    """
    found = sorted(_periodic(kinds, fewest, longest, between), key=lambda s: (s.start - s.end, s.period))
    free = np.ones(len(kinds), bool)
    kept: list[Repeat] = []
    for start, end, period in found:
        while start < end and not free[start]:
            start += 1
        taken = np.flatnonzero(~free[start:end])
        end = start + int(taken[0]) if taken.size else end
        if end - start >= fewest * period:
            free[start:end] = False
            kept.append(Repeat(start, end, period))
    return sorted(kept)


def _periodic(kinds: Sequence[Hashable], fewest: int, longest: int, between: Callable[[], object]) -> Iterator[Repeat]:
    """Yield every stretch that repeats, for each period."""
    number: dict[Hashable, int] = {}
    code = np.array([number.setdefault(kind, len(number)) for kind in kinds], np.int32)
    n = len(code)
    for period in range(1, min(longest, n // fewest) + 1):
        between()
        breaks = np.concatenate([[-1], np.flatnonzero(code[period:] != code[:-period]), [n - period]])
        for gap in np.flatnonzero(np.diff(breaks) > (fewest - 1) * period):
            yield Repeat(int(breaks[gap]) + 1, int(breaks[gap + 1]) + period, period)
