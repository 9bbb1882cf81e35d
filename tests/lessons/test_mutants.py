"""Right answers with a slip never pass, right answers in another form always do, and mutated ones never raise."""

from __future__ import annotations

import contextlib
import inspect
import os
import random
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from autodiff_lab.errors import LabError
from autodiff_lab.lessons import CheckResult, deadline
from tests.amputation import marked
from tests.lessons import mutants
from tests.lessons.answers import RIGHT, SOLVED
from tests.lessons.play import LESSONS, answer, number_of, sources

COUNT = int(os.environ.get("FUZZ_COUNT", "1"))
"""How many slips, forms and mutants of each exercise."""
PLAYED = marked(LESSONS, lambda lesson: lesson.startswith("15"))
BROAD = {"03 exercise-step", "04 exercise-digits", "11 exercise-judge", "12 exercise-revive", "08 exercise-early"}
"""Where many answers are right: a range of numbers, or a program that has a property."""
FORMULAS = {"02 example-gaps", "02 example-blank", "04 example-gaps", "08 exercise-early"}
"""Where the answer is not a function of numbers: lists beside a given function, formulas as tuples, a program."""
UNORDERED = {"02 exercise-level", "02 exercise-extrema", "12 exercise-strokes", "14b example-blank"}
"""Where the order of the answer does not matter, or what a function is given is only where to look."""
HARMLESS = ("reversed", "nested", "right for whole numbers", "right for positive numbers")


@pytest.fixture(autouse=True)
def _quiet(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(inspect.unwrap(deadline.share_seconds), "__defaults__", (1.0,))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


def bases(lesson: str) -> Iterator[tuple[str, str]]:
    """Yield cells and a right answer to each, in the order of the lesson."""
    number = number_of(lesson)
    rng = random.Random(f"{lesson}{COUNT}")
    for cell in sources(lesson):
        known = [typed for where, key, typed in RIGHT if (where, key) == (number, cell)]
        known += [SOLVED[number][cell]] if cell in SOLVED[number] else []
        if known:
            yield cell, rng.choice(known)


def changed(lesson: str, cell: str, typed: str, change: Callable[[Any], Any]) -> Any:
    """Return what a cell shows if its answer is changed.

    Raises
    ------
    Skipped
        If the cell itself does not come to the check, because of the change or of what was drawn or played before.
    """
    through = mutants.Through(change)
    try:
        with contextlib.redirect_stdout(None):
            return answer(number_of(lesson), cell, typed, lessons=through)
    except Exception as error:
        if through.reached:
            raise
        raise mutants.Skipped from error


@pytest.mark.slow(keep=2)
@pytest.mark.parametrize("lesson", PLAYED)
def test_answers_made_from_right_ones(lesson: str) -> None:
    rng = random.Random(COUNT)
    amiss: list[tuple[Any, ...]] = []
    for cell, typed in bases(lesson):
        amiss += [(cell, typed, *each) for each in _slips(lesson, cell, typed, rng)]
        amiss += [(cell, typed, *each) for each in _forms(lesson, cell, typed, rng)]
        amiss += [(cell, *each) for each in _mutants(lesson, cell, typed, rng)]
    assert amiss == []


def _slips(lesson: str, cell: str, typed: str, rng: random.Random) -> Iterator[tuple[str, Any]]:
    where = f"{number_of(lesson)} {cell}"
    if where in BROAD | FORMULAS:
        return
    for name in rng.sample(sorted(mutants.SLIPS), min(COUNT, len(mutants.SLIPS))):
        made: list[mutants.Slip] = []
        with contextlib.suppress(mutants.Skipped):
            found = changed(
                lesson, cell, typed, lambda f, n=name, m=made: m.append(mutants.Slip(f, mutants.SLIPS[n])) or m[-1]
            )
            if found.passed and made[0].slipped and not (where in UNORDERED and name in HARMLESS):
                yield name, found


def _forms(lesson: str, cell: str, typed: str, rng: random.Random) -> Iterator[tuple[str, Any]]:
    if f"{number_of(lesson)} {cell}" in FORMULAS:
        return
    for name in rng.sample(sorted(mutants.FORMS), min(COUNT, len(mutants.FORMS))):
        with contextlib.suppress(mutants.Skipped):
            found = changed(lesson, cell, typed, lambda f, n=name: mutants.Slip(f, mutants.FORMS[n]).wrong)
            if not found.passed:
                yield name, found


def _mutants(lesson: str, cell: str, typed: str, rng: random.Random) -> Iterator[tuple[str, Any]]:
    for _ in range(COUNT):
        with contextlib.suppress(mutants.Skipped):
            text = mutants.mutated(typed, rng)
            try:
                found = changed(lesson, cell, text, lambda f: f)
            except (LabError, mutants.Skipped):
                continue  # said to whoever calls a check with other arguments
            except Exception as error:  # noqa: BLE001 - that is what is looked for
                yield text, repr(error)
                continue
            if not isinstance(found, CheckResult) or not (found.passed or found.message):
                yield text, found
