"""The game of lesson 8: one engine is broken, only its numbers are shown, and each question costs a point.

The answers of every suspect to every question are computed when a case is dealt, so that a case can be played on a page
without a kernel.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from autodiff_lab.lessons.attempt import same
from autodiff_lab.lessons.puzzle import BackwardPuzzle, backward_puzzle
from autodiff_lab.teaching import Engine, Program, program_of, replay, run, wrong_engines

if TYPE_CHECKING:
    from autodiff_lab.widgets.whodunnit import Whodunnit

SUSPECTS = ("OVERWRITE", "EARLY", "CLOSED", "STALE", "ONE_PATH", "AVERAGED", "OWN_VALUE", "LOCAL_ONLY", "CHAIN_ADDED")
LEAST, MOST = 5, 6
"""Suspects of a case."""
OTHER_POINTS = 2
"""Further inputs at which questions may be asked."""

Answers = list[float]


def whodunnit(seed: int | None = None) -> Whodunnit:
    """Deal a case: a program, a broken engine of which only numbers are shown, and suspects.

    A question asks what the engine reports for one value, at these inputs or at others, and costs a point; a wrong
    accusation costs three. ``case.ask("a")`` and ``case.accuse("EARLY")`` do what the buttons do.

    Parameters
    ----------
    seed : int, optional
        Deals the same case again; by default a fresh one.

    Returns
    -------
    Whodunnit
        A widget; ``.to_html(path)`` writes the case as a page that needs no kernel.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> case = lessons.whodunnit(seed=8)
    >>> case.score, len(case.asked)
    (10, 1)
    >>> case.ask("a")
    >>> case.score, len(case.asked)
    (9, 2)
    """
    from autodiff_lab.widgets.whodunnit import Whodunnit

    seed = secrets.randbelow(9000) + 1000 if seed is None else seed
    rng = np.random.default_rng(seed)
    while True:
        facts = _case(backward_puzzle(int(rng.integers(1 << 31))), rng)
        if facts is not None:
            return Whodunnit(facts | {"title": f"Case {seed}"})


def _case(puzzle: BackwardPuzzle, rng: np.random.Generator) -> dict[str, Any] | None:
    """Return the facts of a case on a program; None if too few suspects can be told apart there."""
    program = program_of(puzzle.recording)
    points = [dict(puzzle.inputs), *_other_points(puzzle.inputs, rng)]
    questions = [(name, at) for at in range(len(points)) for name in (*puzzle.inputs, *reversed(puzzle.blanks[1:4]))]
    right = _asked(program, Engine(), points, questions)
    answers: dict[str, Answers] = {}
    for code in SUSPECTS:
        given = _asked(program, _shortest(puzzle, code), points, questions)
        # On the inputs of the case and elsewhere, an engine has to be wrong, and to differ from all other suspects.
        if not _alike(given, right) and not any(_alike(given, other) for other in answers.values()):
            answers[code] = given
    kept = [str(code) for code in rng.permutation(list(answers))[:MOST]]
    if len(kept) < LEAST:
        return None
    culprit = int(rng.integers(len(kept)))
    first = _first(right, [answers[code] for code in kept], culprit, len(puzzle.blanks) - 1)
    if first is None:
        return None
    ideas = {engine.code: engine.idea for engine in wrong_engines()}
    return {
        "program": puzzle.program,
        "questions": [{"name": name, "at": _told(points[at], points[0]) if at else ""} for name, at in questions],
        "suspects": [{"code": code, "idea": ideas[code]} for code in kept],
        "answers": [answers[code] for code in kept],
        "right": right,
        "culprit": culprit,
        "first": first,
    }


def _other_points(inputs: Mapping[str, float], rng: np.random.Generator) -> list[dict[str, float]]:
    """Return further inputs: those of the case with one of them changed."""
    names = [str(name) for name in rng.permutation(list(inputs))[:OTHER_POINTS]]
    return [dict(inputs) | {name: inputs[name] + float(rng.choice([-1.5, 0.5, 2.0]))} for name in names]


def _told(point: Mapping[str, float], usual: Mapping[str, float]) -> str:
    return ", ".join(f"{name} = {value:g}".replace("-", "−") for name, value in point.items() if value != usual[name])


def _asked(program: Program, engine: Engine, points: Any, questions: Any) -> Answers:
    """Return what an engine reports for every question."""
    books = [run(program.at(point), engine) for point in points]
    found: Answers = []
    for name, at in questions:
        gradient = books[at].gradient(program.account(name).tensors)
        found.append(0.0 if gradient is None else round(float(np.asarray(gradient)), 6))
    return found


def _shortest(puzzle: BackwardPuzzle, code: str) -> Engine:
    """Return the variant of an idea whose pass has the fewest steps, as `engines` shows it."""
    variants = [engine for engine in wrong_engines() if engine.code == code]
    return min(variants, key=lambda engine: len(replay(puzzle.recording, engine).sweeps[-1].steps))


def _alike(one: Answers, other: Answers) -> bool:
    return all(map(same, one, other))


def _first(right: Answers, answers: list[Answers], culprit: int, count: int) -> int | None:
    """Return the question whose answer is given away: a wrong one that most suspects would give, but not all."""
    ties = {}
    for question in range(count):
        said = answers[culprit][question]
        if not same(said, right[question]):
            ties[question] = sum(same(said, each[question]) for each in answers)
    fitting = {question: tie for question, tie in ties.items() if 1 < tie < len(answers)}
    return max(fitting, key=lambda question: fitting[question]) if fitting else None
