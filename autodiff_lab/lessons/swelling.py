"""The swell of lesson 4: a step that is repeated, as a formula, its derivative, and a tape; made from recordings."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextvars import Context
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

import autodiff_lab as lab
from autodiff_lab.draw.graph import graph
from autodiff_lab.draw.layout import layout
from autodiff_lab.draw.model import Graph
from autodiff_lab.draw.swell import Part, Swell
from autodiff_lab.errors import InvalidArgumentError, LayoutFailed, MissingPackage, NotCallable
from autodiff_lab.explain.subjects import subject
from autodiff_lab.recording import Recording
from autodiff_lab.recording.numbers import short

if TYPE_CHECKING:
    from autodiff_lab.widgets.swell import SwellCounter

ROUNDS = 60
"""How many rounds are counted."""
DRAWN = 21
"""The most parts of a recording whose picture gives the places."""
MOST_OPS = 100
"""Ops of one round."""
_KINDS = {
    "add": "sum", "subtract": "sum", "negative": "sum", "multiply": "product", "divide": "quotient", "pow": "power",
}  # fmt: skip


def swell(
    step: Callable[[Any], Any], n: int = 3, *, at: float = 0.1, derivative: bool = True
) -> SwellCounter:  # fmt: skip
    """Open the formula of a repeated step as a tree whose equal parts can be merged, beside the length of a tape.

    The program is run and recorded; where it branches, the formula is that of the branch that was taken.

    Parameters
    ----------
    step : callable
        One round: of one number, a Tensor of shape () and dtype float64, returning the next.
    n : int
        Rounds at first, 1 to 60.
    at : float
        Where x begins.
    derivative : bool
        Whether the signs of the derivative are counted as well.

    Returns
    -------
    SwellCounter
        A widget; ``.account()`` says the same as text, and ``.to_html(path)`` writes a page that needs no kernel, in
        which any step can be typed.

    Raises
    ------
    NotCallable
        If the step is not a function.
    InvalidArgumentError
        If n is not an integer from 1 to 60, the step raises, computes with arrays or returns something other than a
        tensor, or has more than 100 ops.
    MissingPackage
        Where anywidget is not installed.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> print(lessons.swell(lambda x: x * x + 1, 4).account())
    x ← x·x + 1, 4 times
      formula, written out: 61 signs
      its derivative, nothing simplified: 257 signs
      equal parts merged: 10 parts, 8 of them ops
      tape: 8 entries
      on paper the derivative fits on a page
    """
    if not callable(step):
        raise NotCallable(f"step: expected a function, got {type(step).__name__}. Try lambda x: 4 * x * (1 - x).")
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or not 1 <= n <= ROUNDS:
        raise InvalidArgumentError(f"n: expected an integer from 1 to {ROUNDS}, got {n!r}.")
    if isinstance(at, bool) or not isinstance(at, (int, float, np.number)) or not math.isfinite(at):
        raise InvalidArgumentError(f"at: expected a finite number, got {at!r}. Try 0.1.")
    counted = swell_of(step, float(at))
    try:
        from autodiff_lab.widgets.swell import SwellCounter
    except ImportError as error:
        raise MissingPackage.of("The swell", "anywidget", "lab") from error
    return SwellCounter(counted, int(n), derivative=derivative)


def swell_of(step: Callable[[Any], Any], at: float = 0.1, rounds: int = ROUNDS) -> Swell:
    """Return what a repeated step is made of.

    Parameters
    ----------
    step : callable
        As for `swell`.
    at : float
        Where x begins.
    rounds : int
        How often it is repeated.

    Examples
    --------
    >>> counted = swell_of(lambda x: 4 * x * (1 - x))
    >>> counted.text, [counted.signs(n) for n in (1, 2, 3)], counted.merged(4), counted.entries[50]
    ('4·x·(1 − x)', [7, 19, 43], (15, 12), 150)
    """
    recording, results, entries = Context().run(_recorded, step, at, rounds)
    reading = _Reading(recording, results[0])
    roots = tuple(reading.part(key) for key in results)
    found = Swell(tuple(reading.parts), roots, entries)
    drawn = [n for n in range(1, rounds + 1) if found.merged(n)[0] <= DRAWN]
    for n in reversed(drawn):
        again, ends, _ = Context().run(_recorded, step, at, n)
        spots = _places(graph(again), _Reading(again, ends[0]), ends[-1], found)
        if len(spots) == found.merged(n)[0]:  # else the picture folds rounds
            return replace(found, places=spots)
    return found


def _recorded(step: Callable[[Any], Any], at: float, rounds: int) -> tuple[Recording, list[int], tuple[int, ...]]:
    """Return the recording of a loop, the keys of x before and after each round, and the entries of the tape then."""
    x = lab.Variable(at, dtype=lab.float64, name="x")
    values: list[Any] = [x]
    entries = [0]
    with lab.record() as recording, lab.GradientTape() as tape, np.errstate(all="ignore"):
        for number in range(rounds):
            try:
                value = step(values[-1])
            except Exception as error:
                said = str(error).splitlines()[0] if str(error) else type(error).__name__
                raise InvalidArgumentError(f"swell: the step raised {type(error).__name__}: {said}") from error
            if not lab.is_tensor(value) or value.shape != ():
                got = f"shape {tuple(value.shape)}" if lab.is_tensor(value) else repr(value)[:40]
                raise InvalidArgumentError(
                    f"swell: the step should return the next x, a tensor of shape (); it returned {got}.\n"
                    "Try lambda x: 4 * x * (1 - x), with functions such as lab.sin."
                )
            values.append(value)
            entries.append(len(tape.operations))
            if not number and entries[-1] > MOST_OPS:
                raise InvalidArgumentError(f"swell: one round has {entries[-1]} ops, and at most {MOST_OPS} are drawn.")
    keys = [subject(recording, value).tensors for value in values]
    first = keys[0][0] if keys[0] else -1
    return recording, [first, *(key[-1] if key else first for key in keys[1:])], tuple(entries)


class _Reading:
    """The parts of a recording, equal ones once."""

    def __init__(self, recording: Recording, x: int) -> None:
        self.recording, self.x = recording, x
        self.parts: list[Part] = []
        self._known: dict[Part, int] = {}
        self.of: dict[int, int] = {}

    def part(self, key: int) -> int:
        """Return the index of the part that a tensor is."""
        waiting = [key]
        while waiting:
            current = waiting[-1]
            inputs = self._inputs(current)
            missing = [each for each in inputs if each not in self.of]
            if missing:
                waiting += reversed(missing)
                continue
            waiting.pop()
            if current not in self.of:
                part = self._made(current, tuple(self.of[each] for each in inputs))
                if part not in self._known:
                    self._known[part] = len(self.parts)
                    self.parts.append(part)
                self.of[current] = self._known[part]
        return self.of[key]

    def _inputs(self, key: int) -> tuple[int, ...]:
        record = self.recording.tensors.get(key)
        if record is None or record.application is None:
            return ()
        return self.recording.applications[record.application].inputs

    def _made(self, key: int, inputs: tuple[int, ...]) -> Part:
        record = self.recording.tensors.get(key)
        if record is None or key == self.x:
            return Part("x", "x")
        if record.snapshot.shape != ():
            raise InvalidArgumentError(
                f"swell: the step computes with an array of shape {tuple(record.snapshot.shape)}; formulas of single "
                "numbers are drawn."
            )
        if record.application is None:
            return Part(short(float(np.asarray(record.snapshot.array)), minus="−"), "number")
        op = self.recording.applications[record.application].op
        kind = _KINDS.get(op, "call")
        if kind == "power" and self.parts[inputs[1]].kind != "number":
            kind = "call"
        known = self.recording.ops.get(op)
        symbol = known.symbol if known is not None else ""
        return Part(symbol if symbol and "x" not in symbol else op, kind, inputs)


def _places(drawn: Graph, reading: _Reading, end: int, found: Swell) -> dict[int, tuple[float, float]]:
    """Return where the picture of a recording shows the parts; of equal ones, where it shows the first."""
    reading.part(end)
    index = {part: at for at, part in enumerate(found.parts)}
    same: list[int] = []
    for part in reading.parts:
        same.append(index[Part(part.sign, part.kind, tuple(same[i] for i in part.inputs))])
    shown: dict[int, str] = {}
    for node in drawn.nodes:
        for key in node.tensors:
            if key in reading.of:
                shown.setdefault(same[reading.of[key]], node.key)
    if len(shown) < len(same):
        return {}
    try:
        boxes = layout(drawn).boxes
    except LayoutFailed:
        return {}
    return {part: (round(boxes[key].x, 1), round(boxes[key].y, 1)) for part, key in shown.items()}
