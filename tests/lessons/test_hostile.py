"""Whatever is typed, a check answers: no traceback, no pass, and no waiting beyond the deadline."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab import lessons
from autodiff_lab.lessons import CheckResult, deadline
from tests.amputation import marked
from tests.lessons.answers.hostile import HOSTILE

MORE = {"2.4": 1, "3.3": 1, "4.2": 1, "7.1": 1, "11.1": 1}
"""Exercises that take something besides the answer."""
EXERCISES = marked([key for key in lessons.EXERCISES if key not in MORE], lambda key: key.startswith("15."))


def attack(exercise: str, *more: object) -> None:
    for number, answer in enumerate(HOSTILE):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of coroutines that nothing waits for, and of divisions by zero
            found = lessons.check(exercise, answer, *more)
        assert isinstance(found, CheckResult), number
        assert not found.passed, number
        assert found.message, number
        assert found.next_hint, number
        assert "text/html" in found._repr_mimebundle_(), number


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inspect.unwrap(deadline.share_seconds), "__defaults__", (0.1,))


@pytest.mark.slow(keep=4)
@pytest.mark.usefixtures("soon")
@pytest.mark.parametrize("exercise", EXERCISES)
def test_hostile_answers_get_an_answer(exercise: str) -> None:
    attack(exercise)


@pytest.mark.usefixtures("soon")
def test_hostile_answers_to_a_puzzle_get_an_answer() -> None:
    attack("7.1", lessons.backward_puzzle(seed=7))


@pytest.mark.usefixtures("soon")
def test_hostile_verdicts_on_dealt_functions_get_an_answer() -> None:
    attack("11.1", lessons.patients(seed=7))


@pytest.mark.usefixtures("soon")
def test_hostile_answers_after_a_right_one_get_an_answer() -> None:
    def mended(x: Any) -> Any:
        return lab.where(x < 1.0, x, lab.sqrt(lab.where(x < 1.0, 1.0, x)))

    for answer in HOSTILE:
        for exercise, given in (("11.2", (mended, answer)), ("11.5", ("conversion", answer)),
                                ("11.3", ({"one": answer},)), ("11.3", ({"one": ("log", 1, answer)},))):  # fmt: skip
            found = lessons.check(exercise, *given)
            assert not found.passed, exercise
            assert found.message, exercise


def double(x: Any) -> Any:
    return x * 2.0 if x > 5.0 else x - 1.0


NAMES = ["mul", "times", "Multiply", "lab.multiply", lab.multiply, "multiply ", "*"], ["sub", "minus", "Subtract", "-"]


@pytest.mark.parametrize("entry", NAMES[0])
@pytest.mark.parametrize("other", NAMES[1])
def test_an_op_may_be_written_as_people_write_it(entry: object, other: str) -> None:
    for collect in (list, tuple, iter, np.array):
        said = lessons.check_entries(lambda x, c=collect: c([entry] if x > 5.0 else [other]), double, 0.0, 10.0)
        assert said.passed


@pytest.mark.parametrize("threshold", [4.5, 4.9, 5.1, 5.5])
def test_a_boundary_that_is_a_little_off_is_refused(threshold: float) -> None:
    found = lessons.check_entries(lambda x: ["*"] if x > threshold else ["-"], double, 0.0, 10.0)
    assert not found.passed


ACCEPTED: list[tuple[str, Callable[[], CheckResult]]] = [
    ("an interval as an array", lambda: lessons.check("1.2", np.array([-1.0, 2.0]))),
    ("an interval as a tensor", lambda: lessons.check("1.2", lab.constant([-1.0, 2.0]))),
    ("an interval as a list", lambda: lessons.check("1.2", [2, -1])),
    ("an array of one number", lambda: lessons.check("1.1", lambda f, a, b: np.array([(f(b) - f(a)) / (b - a)]))),
    ("a fraction", lambda: lessons.check("1.4", Fraction(27, 2))),
    ("a mode in capitals", lambda: lessons.check("10.3", lambda i, o: "Forward" if i < o else "REVERSE MODE")),
    ("a Hessian by lab.hessian", lambda: lessons.check("13.2", lambda x, y: lab.hessian(
        lambda p: (1 - p[0]) ** 2 + 100 * (p[1] - p[0] ** 2) ** 2)(lab.constant([x, y], dtype=lab.float64)))),
    ("a program that returns a list", lambda: lessons.check("6.1", squared, " Not_Watched ")),
]  # fmt: skip


def squared(v: int) -> list[Any]:
    x = lab.Variable(float(v))
    with lab.GradientTape() as tape:
        y = x * x
    return [x, y, tape.gradient(y, x)]


@pytest.mark.parametrize("answer", [row[1] for row in ACCEPTED], ids=[row[0] for row in ACCEPTED])
def test_a_right_answer_may_have_another_form(answer: Callable[[], CheckResult]) -> None:
    result = answer()
    assert result.passed, result


def by_hand(v: int) -> tuple[Any, Any, float]:
    x = lab.Variable(float(v))
    return x, x * x, 2.0 * v


def resets(tape: lab.GradientTape, x: Any) -> Any:
    tape.reset()
    with tape.stop_recording():
        return lab.sin(lab.sin(x))


@pytest.mark.parametrize(
    ("exercise", "answer", "more", "code"),
    [("6.1", by_hand, ["not_watched"], "ONE_NUMBER"), ("6.6", resets, [], "OTHER"), ("1.4", "13.5", [], "RAISES")],
)
def test_what_once_passed_wrongly_is_refused(exercise: str, answer: object, more: list[str], code: str) -> None:
    assert lessons.check(exercise, answer, *more).code == code
