"""Checkpoints as a board: values of a chain are kept in few slots, and a backward pass runs again what it lacks.

The backward pass needs the values from the last to the first.  One that is not held is computed again, from the nearest
one that is; on the way as many are kept as there are free slots.  The fewest ops are found as by Griewank and Walther,
"Algorithm 799: revolve" (2000): the first value that is kept divides a chain into two shorter ones.

Plain numbers; ``widgets/checkpoints/rules.js`` plays by the same rules in the page.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from autodiff_lab.draw.charts import MARGIN, WIDTH, chart
from autodiff_lab.draw.markup import words

MOST = 40
"""Values on the largest board."""
_STYLE = """
.lab-chart .lab-run { stroke: var(--lab-forward); stroke-width: 2; }
.lab-chart .lab-kept { fill: var(--lab-forward); }
"""


@dataclass(frozen=True, slots=True)
class Run:
    """Ops from a value that is held to the one that is needed.

    Attributes
    ----------
    start, end : int
        The value that it begins with, 0 for the input of the chain, and the one that it is for.
    kept : tuple of int
        What is kept on the way, `end` included, in order.
    """

    start: int
    end: int
    kept: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Played:
    """A board as far as it was played.

    Attributes
    ----------
    runs : tuple of Run
        In order; the first is the forward pass.
    asked : tuple of int or None
        Start, end and free slots of the run that waits for a choice; None at the end.
    choices : tuple of tuple of int
        For each choice that was made: start, end, free slots, then what was kept besides the end.
    """

    runs: tuple[Run, ...]
    asked: tuple[int, int, int] | None
    choices: tuple[tuple[int, ...], ...]

    @property
    def again(self) -> int:
        """How many ops ran again so far."""
        return sum(run.end - run.start for run in self.runs[1:])


@cache
def fewest_ops(values: int, slots: int) -> int:
    """Return the fewest ops that bring a backward pass over a chain, the forward pass included.

    Examples
    --------
    >>> fewest_ops(20, 5) - 20, fewest_ops(9, 3) - 9, fewest_ops(4, 1) - 4
    (15, 6, 6)
    """
    if values <= slots:
        return values
    if slots == 1:
        return values * (values + 1) // 2
    return min(
        first + fewest_ops(values - first, slots - 1) + fewest_ops(first - 1, slots) for first in range(1, values + 1)
    )


def ops_of(length: int, slots: int, kept: Sequence[int]) -> int:
    """Return the ops of a chain whose first run keeps these and its last value, the fewest from then on.

    Examples
    --------
    >>> ops_of(9, 3, [4, 7]) - 9, ops_of(9, 3, [3, 6]) - 9
    (6, 7)
    """
    ends = [0, *kept, length]
    gaps = (end - start - 1 for start, end in pairwise(ends))
    return length + sum(fewest_ops(gap, slots - taken) for taken, gap in enumerate(gaps))


def play(values: int, slots: int, choices: Iterable[Sequence[int]]) -> Played:
    """Play a board: choose where there is a choice, and run and step back everywhere else.

    Parameters
    ----------
    values, slots : int
        Of the board.
    choices : iterable of sequences of int
        What each run keeps besides the value that it is for, where not everything fits.

    Examples
    --------
    >>> played = play(9, 3, [[4, 7]])
    >>> played.again, played.asked, [run.start for run in played.runs]
    (6, None, [0, 7, 4, 0])
    """
    given = iter(choices)
    runs: list[Run] = []
    made: list[tuple[int, ...]] = []
    held: list[int] = []
    need = values
    while need:
        if held and held[-1] == need:
            held.pop()
            need -= 1
            continue
        start = held[-1] if held else 0
        free = slots - len(held)
        kept: Sequence[int] = range(start + 1, need)
        if need - start > free:
            kept = ()
            if free > 1:
                chosen = next(given, None)
                if chosen is None:
                    return Played(tuple(runs), (start, need, free), tuple(made))
                kept = sorted(chosen)
                made.append((start, need, free, *kept))
        runs.append(Run(start, need, (*kept, need)))
        held += runs[-1].kept
    return Played(tuple(runs), None, tuple(made))


def idea_of(length: int, slots: int, kept: Sequence[int]) -> str:
    """Return the code of the idea behind a choice that costs more ops than needed, "" if there is none or it is best.

    Examples
    --------
    >>> [idea_of(20, 5, kept) for kept in ([4, 8, 12, 16], [1, 2, 3, 4], [6, 11, 15, 18])]
    ['EQUAL_PIECES', 'FIRST_KEPT', '']
    """
    if ops_of(length, slots, kept) == fewest_ops(length, slots):
        return ""
    if not kept:
        return "ONE_CHECKPOINT"
    if len(kept) < slots - 1:
        return "SLOT_EMPTY"
    count = len(kept)
    if list(kept) == list(range(1, count + 1)):
        return "FIRST_KEPT"
    if list(kept) == list(range(length - count, length)):
        return "LAST_KEPT"
    ends = [0, *kept, length]
    gaps = [end - start for start, end in pairwise(ends)]
    if max(gaps) - min(gaps) <= 1:
        return "EQUAL_PIECES"
    return "CROWDED_EARLY" if gaps == sorted(gaps) else ""


def score(values: int, slots: int, played: Played) -> str:
    """Return how a game stands, in a sentence.

    Examples
    --------
    >>> score(9, 3, play(9, 3, [[3, 6]]))
    '7 ops ran again, 1 over par.'
    """
    if played.asked:
        start, end, free = played.asked
        return f"A run from {start or 'x'} to {end} waits: {free} slots are free, one of them for {end}."
    over = played.again - (fewest_ops(values, slots) - values)
    return f"{played.again} ops ran again, " + (f"{over} over par." if over else "which is par: no plan needs fewer.")


def account(values: int, slots: int, played: Played) -> str:
    """Return a game as text: a line for each run.

    Examples
    --------
    >>> print(account(9, 3, play(9, 3, [[4, 7]])))
    Checkpoints: 9 values, 3 slots, par 6
      run 1: from x to 9, kept 4, 7, 9
      run 2: from 7 to 8, kept 8
      run 3: from 4 to 6, kept 5, 6
      run 4: from x to 3, kept 1, 2, 3
    6 ops ran again, which is par: no plan needs fewer.
    """
    lines = [f"Checkpoints: {values} values, {slots} slots, par {fewest_ops(values, slots) - values}"]
    for number, run in enumerate(played.runs, start=1):
        lines.append(f"  run {number}: from {run.start or 'x'} to {run.end}, kept {', '.join(map(str, run.kept))}")
    return "\n".join([*lines, score(values, slots, played)])


def picture(values: int, slots: int, played: Played) -> str:
    """Return a game as an SVG: a row for each run, with a dot at every value that it keeps.

    Examples
    --------
    >>> picture(9, 3, play(9, 3, [[4, 7]])).count("lab-kept")
    10
    """
    title, *_, last = account(values, slots, played).splitlines()
    left, row = MARGIN + 24, 24.0
    across = (WIDTH - left - MARGIN) / values
    parts = [words("lab-title", MARGIN, 26, title)]
    for value in range(values + 1):
        x = left + value * across
        if values <= 20 or value % 2 == 0:
            parts.append(words("lab-muted", x, 52, str(value or "x"), "middle"))
    for number, run in enumerate(played.runs):
        y = 72 + number * row
        x = left + run.start * across
        parts.append(f'<path class="lab-run" d="M{x:.1f},{y:g}H{left + run.end * across:.1f}"/>')
        parts += [f'<circle class="lab-kept" cx="{left + kept * across:.1f}" cy="{y:g}" r="5"/>' for kept in run.kept]
    bottom = 72 + max(len(played.runs), 1) * row
    parts.append(words("", MARGIN, bottom + 8, last))
    return chart(title, account(values, slots, played), bottom + 24, parts, _STYLE)
