"""Re-rolling: find the loops in a straight line of ops that repeats itself.

A trace unrolls the loops of the user's Python; here they are found again.  Ops repeat with a period, and repetitions
are one loop if each operand follows one law: it is computed in the same iteration, in an earlier one, or before the
loop; or it is read from what an earlier loop kept, upwards or downwards (a backward pass), or from a table of constants
and arguments.  Numbers in a line, such as the index of a slice, change by the same amount from one iteration to the
next.  Nothing is guessed: an iteration belongs to a loop only if the law names, for every operand, the very value that
the line reads.  Whatever has operands and results can be searched: scalars, arrays, or a program to be printed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from autodiff_lab.kernels.base.compiler import breathe
from autodiff_lab.repeats import Repeat, repeats

FEWEST_ROUNDS, LONGEST_MEMORY = 4, 2
_NONE = np.iinfo(np.int64).min
_MULTIPLES = 4
"""Multiples of a period that are tried too: ops may repeat more often than their operands do."""


class Inside(NamedTuple):
    """The operand is computed by statement `at` of the same iteration."""

    at: int


class Before(NamedTuple):
    """The operand is the same value in all iterations, computed before the loop."""

    value: int


class Carried(NamedTuple):
    """The operand was computed by statement `at` `lag` iterations ago; `first` are its values in the first ones."""

    at: int
    lag: int
    first: tuple[int, ...]


class Kept(NamedTuple):
    """The operand was computed by statement `at` of an earlier loop in its iteration ``first + step · i``.

    Iteration -1 stands for the value before that loop: `initial`, None if it is not read.
    """

    loop: int
    at: int
    first: int
    step: int
    initial: int | None


class Tabled(NamedTuple):
    """The operand is another constant or argument in each iteration."""

    values: tuple[int, ...]


Law = Inside | Before | Carried | Kept | Tabled


class Repeated(Protocol):
    """What may repeat itself: a line with operands and results."""

    @property
    def ins(self) -> tuple[int, ...]:
        """Values that it reads."""
        ...

    @property
    def outs(self) -> tuple[int, ...]:
        """Values that it computes."""
        ...


class Loop(NamedTuple):
    """`rounds` iterations of `period` lines from line `start` on.

    Attributes
    ----------
    laws : tuple of tuple of Law
        The law of each operand, by statement.
    numbers : tuple of tuple of (int, int)
        By statement, each number in the first iteration, and by how much it grows from one to the next.
    """

    start: int
    period: int
    rounds: int
    laws: tuple[tuple[Law, ...], ...]
    numbers: tuple[tuple[tuple[int, int], ...], ...] = ()

    @property
    def end(self) -> int:
        """The first line after the loop."""
        return self.start + self.period * self.rounds


def find_loops(
    lines: Sequence[Repeated], kinds: Sequence[Any], numbers: Sequence[tuple[int, ...]] | None = None
) -> list[Loop]:
    """Return the loops in a list of lines, in order; a line without exactly one result is part of none.

    Parameters
    ----------
    lines : sequence
        What computes values from values.
    kinds : sequence
        For each line, what must be equal in all iterations.
    numbers : sequence of tuple of int, optional
        For each line, integers that may grow from one iteration to the next.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> def grow(x):
    ...     for _ in range(20):
    ...         x = lab.sin(x) * 0.5 + x
    ...     return x
    >>> compiled = lab.function(grow)
    >>> _ = compiled(lab.constant(1.0))
    >>> lines = compiled.program.lines
    >>> [(loop.start, loop.period, loop.rounds) for loop in find_loops(lines, [line.op.name for line in lines])]
    [(0, 3, 20)]
    """
    return _Finder(lines, kinds, numbers).found()


def without(loops: Sequence[Loop], lines: Sequence[Repeated], gone: set[int]) -> list[Loop]:
    """Return the loops without some of them: what others read of those is now another value in each iteration."""
    number = {n: k for k, n in enumerate(n for n in range(len(loops)) if n not in gone)}

    def now(law: Law, rounds: int) -> Law:
        if not isinstance(law, Kept):
            return law
        if law.loop in number:
            return law._replace(loop=number[law.loop])
        start, period = loops[law.loop].start + law.at, loops[law.loop].period
        turns = [law.first + law.step * k for k in range(rounds)]
        made = [lines[start + turn * period].outs[0] if turn >= 0 else law.initial for turn in turns]
        return Tabled(tuple([value for value in made if value is not None]))

    left = [loops[n] for n in number]
    return [one._replace(laws=tuple(tuple(now(law, one.rounds) for law in mine) for mine in one.laws)) for one in left]


class _Finder:
    """Finds loops; values are numbered, lines by position and values from outside by negative integers."""

    def __init__(
        self, lines: Sequence[Repeated], kinds: Sequence[Any], numbers: Sequence[tuple[int, ...]] | None
    ) -> None:
        self.lines, self.kinds, self.numbers = lines, kinds, numbers
        self.number: dict[int, int] = {line.outs[0]: n for n, line in enumerate(lines) if len(line.outs) == 1}
        self.outside: list[int] = []
        widest = max((len(line.ins) for line in lines), default=0)
        self.ins = np.full((widest, len(lines)), _NONE, np.int64)
        for n, line in enumerate(lines):
            for k, value in enumerate(line.ins):
                self.ins[k, n] = self._numbered(value)
        self.loops: list[Loop] = []

    def _numbered(self, value: int) -> int:
        found = self.number.get(value)
        if found is None:
            self.outside.append(value)
            found = self.number[value] = -len(self.outside)
        return found

    def value(self, number: int) -> int:
        """Return the value with a number."""
        return self.lines[number].outs[0] if number >= 0 else self.outside[-1 - number]

    def found(self) -> list[Loop]:
        """Return the loops in all stretches where the ops repeat."""
        for start, end, period in self._stretches():
            while end - start >= FEWEST_ROUNDS * period:
                loop = self._loop(start, end, period)
                if loop is None:
                    break
                self.loops.append(loop)
                start = loop.end
        return self.loops

    def _stretches(self) -> list[Repeat]:
        """Return where the ops repeat; a line without exactly one result is like no other."""
        given = enumerate(zip(self.kinds, self.lines, strict=True))
        kinds = [(kind, len(line.ins), n if len(line.outs) != 1 else None) for n, (kind, line) in given]
        return repeats(kinds, FEWEST_ROUNDS, between=breathe)

    # --- whether what they read follows laws -----------------------------------------------------------------------

    def _loop(self, start: int, end: int, period: int) -> Loop | None:
        """Return the longest loop that begins near the start of a stretch."""
        best: Loop | None = None
        for multiple in range(1, _MULTIPLES + 1):
            long = period * multiple
            for first in range(start, min(start + 2 * long, end - FEWEST_ROUNDS * long) + 1):
                loop = self._lawful(first, (end - first) // long, long)
                if loop is not None and (best is None or loop.end - loop.start > best.end - best.start):
                    best = loop
                if best is not None and end - best.end < long:
                    return best
            if best is not None:
                return best
        return best

    def _lawful(self, start: int, count: int, period: int) -> Loop | None:
        """Return the loop of at most `count` iterations; one that breaks a law ends it."""
        laws: list[tuple[Law, ...]] = []
        numbers: list[tuple[tuple[int, int], ...]] = []
        blocks = self.ins[:, start : start + count * period].reshape(len(self.ins), count, period)
        for at in range(period):
            mine: list[Law] = []
            for k in range(len(self.lines[start + at].ins)):
                law, holds = self._law(blocks[k, :count, at], start, at, period)
                if law is None or holds < FEWEST_ROUNDS:
                    return None
                count = min(count, holds)
                mine.append(law)
            laws.append(tuple(mine))
            if self.numbers is not None:
                rule, holds = _growth([self.numbers[start + k * period + at] for k in range(count)])
                count = min(count, holds)
                if count < FEWEST_ROUNDS:
                    return None
                numbers.append(rule)
        cut = tuple(
            tuple(Tabled(law.values[:count]) if isinstance(law, Tabled) else law for law in mine) for mine in laws
        )
        return Loop(start, period, count, cut, tuple(numbers))

    def _law(self, read: Any, start: int, at: int, period: int) -> tuple[Law | None, int]:
        """Return the law of an operand, and for how many iterations it holds."""
        breathe()
        if read[1] < start and read[1] == read[0]:
            return Before(self.value(int(read[0]))), _holds(read == read[0])
        if read[LONGEST_MEMORY] >= start:
            return self._made_here(read, start, at, period)
        kept = self._kept(read)
        if kept is not None:
            return kept
        if read[0] < 0:
            rounds = _holds(read < 0)
            return Tabled(tuple(self.value(int(i)) for i in read[:rounds])), rounds
        return None, 0

    def _made_here(self, read: Any, start: int, at: int, period: int) -> tuple[Law | None, int]:
        """Return the law of an operand that this loop computed, in this iteration or an earlier one."""
        far = read - (start + period * np.arange(len(read)))
        position = int(far[LONGEST_MEMORY])
        lag = max(0, -(position // period))
        if lag == 0:
            return (Inside(position), _holds(far == position)) if position < at else (None, 0)
        if lag > LONGEST_MEMORY or bool((read[:lag] >= start).any()):
            return None, 0
        first = tuple(self.value(int(i)) for i in read[:lag])
        return Carried(position % period, lag, first), lag + _holds(far[lag:] == position)

    def _kept(self, read: Any) -> tuple[Kept, int] | None:
        """Return the law of an operand that an earlier loop computed, one of its iterations after the other."""
        for number, loop in enumerate(self.loops):
            if not loop.start <= read[1] < loop.end:
                continue
            at, step = int((read[1] - loop.start) % loop.period), int((read[2] - read[1]) // loop.period)
            first = int((read[1] - loop.start) // loop.period) - step
            rounds = first + step * np.arange(len(read))
            expected = np.where((rounds >= 0) & (rounds < loop.rounds), loop.start + loop.period * rounds + at, _NONE)
            initial: int | None = None
            entry = np.flatnonzero(rounds == -1)
            if step in (1, -1) and entry.size and int(read[entry[0]]) < loop.start:
                value = self.value(int(read[entry[0]]))
                if (at, value) in _entries(loop):
                    initial = value
                    expected[entry[0]] = read[entry[0]]
            holds = _holds(read == expected)
            if step in (1, -1) and holds:
                used = initial if entry.size and entry[0] < holds else None
                return Kept(number, at, first, step, used), holds
        return None


def _entries(loop: Loop) -> set[tuple[int, int]]:
    """Return what a loop carries into its first iteration, with the statement that computes it in the others."""
    carried = (law for mine in loop.laws for law in mine if isinstance(law, Carried) and law.lag == 1)
    return {(law.at, law.first[0]) for law in carried}


def _growth(rows: list[tuple[int, ...]]) -> tuple[tuple[tuple[int, int], ...], int]:
    """Return the first numbers and their steps, and for how many iterations they hold."""
    if not rows[0]:
        return (), len(rows)
    table = np.array(rows)
    step = table[1] - table[0]
    expected = table[0] + step * np.arange(len(rows))[:, None]
    return tuple(zip(table[0].tolist(), step.tolist(), strict=True)), _holds((table == expected).all(axis=1))


def _holds(true: Any) -> int:
    """Return how many elements are true before the first false one."""
    false = np.flatnonzero(~true)
    return int(false[0]) if false.size else len(true)
