"""The question that tells wrong ideas apart: another value, or the same values at other inputs.

A probe is chosen by running the engines that are left: the cheapest question to which all of them give different
answers.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from autodiff_lab.errors import LabError
from autodiff_lab.explain.expressions import spoken
from autodiff_lab.recording.numbers import short
from autodiff_lab.teaching.books import run
from autodiff_lab.teaching.engines import Engine
from autodiff_lab.teaching.evidence import agree
from autodiff_lab.teaching.program import Program

PLACES = (2.5, -1.5, 0.7, 3.25, -0.4, 1.3, 4.6, -2.2)
"""Where inputs are moved to."""
TRIES = 10
SAMPLES = 4


@dataclass(frozen=True)
class Probe:
    """A question whose answer settles which idea is behind another answer.

    Attributes
    ----------
    point : dict of str to number or array
        Values of inputs; empty for the recorded ones.
    names : tuple of str
        What gradients are asked for. Diagnose both answers together:
        ``diagnose_answer(recording, [first, second], points=[{}, probe.point])``.

    Examples
    --------
    >>> Probe({"x": 2.5}, ("x",))
    Put x = 2.5 and answer again: what is the gradient with respect to x?
    """

    point: dict[str, object] = field(default_factory=dict)
    names: tuple[str, ...] = ()

    def __repr__(self) -> str:
        asked = ", ".join(self.names)
        question = f"hat is the gradient with respect to {asked}?"
        if not self.point:
            return f"W{question}"
        inputs = ", ".join(f"{name} = {_shown(value)}" for name, value in self.point.items())
        return f"Put {inputs} and answer again: w{question}"


def _shown(value: Any) -> str:
    array = np.asarray(value)
    return short(array) if not array.shape else str(array.tolist())


Kind = list[Engine]
"""Engines that do the same to a program, whatever its inputs are; the first stands for all."""


def kinds_of(program: Program, engines: list[Engine]) -> list[Kind]:
    """Return engines in groups of those that give the same gradients for all values, at all of a few inputs."""
    if len(engines) < 2:
        return [[engine] for engine in engines]
    names = tuple(program.accounts)
    questions = [Probe({}, names), *(Probe(point, names) for point in itertools.islice(_points(program), SAMPLES))]
    kinds = [engines]
    for question in questions:
        kinds = [part for kind in kinds for part in _parted(program, question, kind)]
    order = {id(engine): at for at, engine in enumerate(engines)}
    return sorted(kinds, key=lambda kind: order[id(kind[0])])


def _parted(program: Program, question: Probe, engines: list[Engine]) -> list[list[Engine]]:
    """Return engines in groups of those that answer a question alike."""
    if len(engines) < 2:
        return [engines]
    try:
        there = program.at(question.point)
    except LabError:
        return [engines]
    parts: list[tuple[dict[str, Any], list[Engine]]] = []
    for engine in engines:
        try:
            books = run(there, engine)
        except Exception:  # noqa: BLE001 - an engine that has no answer there
            parts.append(({}, [engine]))
            continue
        found = {name: books.gradient(there.account(name).tensors) for name in question.names}
        for known, part in parts:
            if known and all(agree(known[name], found[name], there) for name in question.names):
                part.append(engine)
                break
        else:
            parts.append((found, [engine]))
    return [part for _, part in parts]


def find_probe(program: Program, trials: list[Any], kinds: list[Kind], from_right: bool) -> Probe | None:
    """Return the cheapest question that ideas with different codes answer differently.

    If `from_right`, the right engine has to answer differently as well, so that a slip shows.  Where no question tells
    all of them apart, the one that leaves the fewest pairs of ideas alike, and a second one follows; None if none
    tells any apart.
    """
    asked = tuple(dict.fromkeys(name for _, given in trials for name in given))
    engines = [*([Engine()] if from_right else []), *(kind[0] for kind in kinds)]
    best: tuple[int, Probe | None] = (_alike([engines]), None)
    for probe in _probes(program, asked):
        alike = _alike(_parted(program, probe, engines))
        if not alike:
            return probe
        best = min(best, (alike, probe), key=lambda pair: pair[0])
    return best[1]


def _alike(parts: list[Kind]) -> int:
    """Return how many pairs of engines with different codes answer alike; two wrong ones count twice."""
    return sum(
        2 if one.code and other.code else 1
        for part in parts
        for one, other in itertools.combinations(part, 2)
        if one.code != other.code
    )


def _probes(program: Program, asked: tuple[str, ...]) -> Iterator[Probe]:
    """Yield questions, the cheapest first."""
    others = [name for name in program.accounts if name not in asked]
    settled = {spoken(program.recording, key) for key in program.targets}
    for name in others:
        if name not in settled:
            yield Probe({}, (name,))
    if others:
        yield Probe({}, tuple(others))
    points = list(itertools.islice(_points(program), TRIES))
    sources = tuple(source.name for source in program.sources)
    for names in dict.fromkeys([asked, sources, tuple(program.accounts)]):
        for point in points:
            yield Probe(point, names)


def _points(program: Program) -> Iterator[dict[str, Any]]:
    """Yield values for the inputs at which nothing on the way is nan or infinite, far away and nearby in turns.

    Far away, maxima and relus take other branches; nearby they take the recorded ones.
    """
    for start in range(4 * TRIES):
        places = itertools.cycle(PLACES[start % len(PLACES) :] + PLACES[: start % len(PLACES)])
        point: dict[str, Any] = {}
        for source in program.sources:
            if source.tensors:
                old = program.number(source.tensors[0])
                moved = np.array([next(places) for _ in range(old.size)]).reshape(old.shape)
                if start % 2:
                    moved = np.round(old + moved / 8, 3)
                point[source.name] = moved.tolist() if old.shape else float(moved)
        try:
            there = program.at(point)
        except LabError:
            return
        if point and all(np.isfinite(array).all() for array in there.values.values() if array.dtype.kind in "fc"):
            yield point
