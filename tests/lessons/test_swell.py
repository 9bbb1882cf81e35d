"""Lesson 4: what is counted agrees with formulas that are really written out, with tapes, and with pictures."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from traitlets import TraitError

import autodiff_lab as lab
from autodiff_lab import lessons
from autodiff_lab.draw.graph import graph
from autodiff_lab.draw.layout import layout
from autodiff_lab.draw.swell import Swell, reach
from autodiff_lab.errors import InvalidArgumentError, NotCallable
from autodiff_lab.lessons.swelling import swell_of
from autodiff_lab.lessons.written import repeated


def logistic(x: Any) -> Any:
    return 4 * x * (1 - x)


def size(formula: Any) -> int:
    return 1 + sum(map(size, formula[1:])) if isinstance(formula, tuple) else 1


def derivative(formula: Any) -> Any:
    if not isinstance(formula, tuple):
        return 1 if formula == "x" else 0
    sign, a, b = formula
    if sign == "-":
        return sign, derivative(a), derivative(b)
    return "+", ("*", derivative(a), b), ("*", a, derivative(b))


def different(formula: Any) -> set[Any]:
    inside = set[Any]().union(*map(different, formula[1:])) if isinstance(formula, tuple) else set[Any]()
    return inside | {formula}


def test_signs_are_those_of_formulas_that_are_written_out() -> None:
    counted = swell_of(logistic)
    for n in range(1, 7):
        formula = repeated(n)
        assert counted.signs(n) == size(formula)
        assert counted.derivative_signs(n) == size(derivative(formula))
        parts = different(formula)
        assert counted.merged(n) == (len(parts), sum(isinstance(part, tuple) for part in parts))


def test_the_figures_of_the_lesson() -> None:
    counted = swell_of(logistic)
    assert [counted.signs(n) for n in (1, 2, 3, 4, 5, 10)] == [7, 19, 43, 91, 187, 6139]
    assert [counted.derivative_signs(n) for n in (1, 2, 3, 4, 5, 10)] == [19, 73, 217, 577, 1441, 92161]
    assert counted.signs(50) == 6_755_399_441_055_739
    assert counted.derivative_signs(50) == 506_654_958_079_180_801
    assert [counted.entries[n] for n in (1, 4, 50)] == [3, 12, 150]
    assert reach(counted.derivative_signs(50)) == "is a pile of 17 million km: 44 times as far as the moon"
    factors = 3.2, 1.12, -3.3728, 1.68789
    assert np.prod(factors) == pytest.approx(-20.4034, abs=1e-4)


STEPS: dict[str, Any] = {
    "x": lambda x: x,
    "x·x + 0.3": lambda x: x * x + 0.3,
    "(x + 2 / x) / 2": lambda x: (x + 2 / x) / 2,
    "sin(x) + x^2": lambda x: lab.sin(x) + x**2,
    "x − (1 − x)": lambda x: x - (1 - x),
    "x·(x·x)": lambda x: x * (x * x),
    "(−x)^2": lambda x: (-x) ** 2,
    "maximum(x, 1 − x)": lambda x: lab.maximum(x, 1 - x),
}


@pytest.mark.parametrize("text", STEPS)
def test_a_tape_has_as_many_entries_as_are_counted(text: str) -> None:
    step = STEPS[text]
    counted = swell_of(step, 0.7, rounds=8)
    assert counted.text.replace("max(", "maximum(") == text
    x = lab.Variable(0.7, dtype=lab.float64)
    with lab.GradientTape() as tape:
        y: Any = x
        for n in range(9):
            assert len(tape.operations) == counted.entries[n]
            y = step(y)
    assert all(counted.merged(n)[1] == counted.entries[n] for n in range(9))


def test_what_is_computed_twice_has_two_entries_and_one_part() -> None:
    counted = swell_of(lambda x: x * x + x * x)
    assert counted.merged(3) == (7, 6)
    assert counted.entries[3] == 9
    assert counted.signs(2) == 31


def test_merged_parts_lie_where_the_picture_of_the_recording_has_them() -> None:
    counted = swell_of(logistic)
    for n in (1, 3, 4):
        x = lab.Variable(0.1, dtype=lab.float64, name="x")
        with lab.record() as recording, lab.GradientTape():
            rounds: list[Any] = [x]  # a name of its own would make a node wider
            for _ in range(n):
                rounds.append(logistic(rounds[-1]))
        boxes = layout(graph(recording)).boxes
        spots = {(box.x, box.y) for box in boxes.values()}
        parts = set[int]()
        waiting = [counted.roots[n]]
        while waiting:
            parts.add(waiting[-1])
            waiting += counted.parts[waiting.pop()].inputs
        drawn = [counted.places[part] for part in parts]
        assert len(set(drawn)) == len(parts)
        for x_place, y_place in drawn:  # the last node has nothing behind it, and may lie a pixel lower
            assert min(abs(x_place - x) + abs(y_place - y) for x, y in spots) <= 1.5


def test_a_branch_is_the_one_that_was_taken() -> None:
    assert swell_of(lambda x: x * x if x < 0.5 else x + 1, 0.1, 2).text == "x·x"
    assert swell_of(lambda x: x * x if x < 0.5 else x + 1, 0.9, 2).text == "x + 1"


@pytest.mark.filterwarnings("ignore:The derivative of")
@pytest.mark.parametrize(
    ("step", "words"),
    [
        (3, "expected a function"),
        (lambda x: None, "it returned None"),
        (lambda x: 0.5, r"it returned 0\.5"),
        (lambda x: 1 / 0, "the step raised ZeroDivisionError"),
        (lambda x: lab.stack([x, x]), r"it returned shape \(2,\)"),
        (lambda x: lab.reduce_sum(lab.stack([x, x])), r"an array of shape \(2,\)"),
        (lambda x: sum([x] * 200), "at most 100"),
    ],
)
def test_what_is_no_step_is_refused(step: Any, words: str) -> None:
    with pytest.raises((InvalidArgumentError, NotCallable), match=words):
        lessons.swell(step)


@pytest.mark.parametrize(
    ("options", "words"),
    [({"n": 0}, "1 to 60"), ({"n": 2.5}, "1 to 60"), ({"n": True}, "1 to 60"), ({"at": "x"}, "finite number"),
     ({"at": float("nan")}, "finite number")],
)  # fmt: skip
def test_rounds_and_the_start_are_numbers(options: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidArgumentError, match=words):
        lessons.swell(logistic, **options)


def test_the_traits_of_the_widget_are_checked() -> None:
    counter = lessons.swell(logistic)
    with pytest.raises(TraitError, match="expected 1 to 60"):
        counter.n = 61
    with pytest.raises(TraitError, match="parts are numbered"):
        counter.merged = [-1]
    counter.n, counter.merged = 4, [5, 0, 5]
    assert counter.merged == [0, 5]
    assert "4 times" in counter.account()
    assert counter.picture().startswith("<svg")


def test_the_derivative_can_be_left_out() -> None:
    counter = lessons.swell(logistic, 4, derivative=False)
    assert "derivative" not in counter.account()
    assert "derivative" not in counter.picture()
    assert counter.facts["derivative"] is False


def test_the_page_needs_no_kernel(tmp_path: Path) -> None:
    file = lessons.swell(logistic, 50).to_html(tmp_path / "formula.html")
    text = file.read_text(encoding="utf-8")
    assert len(text.encode()) < 160_000
    assert "http://" not in text.replace("http://www.w3.org/", "")


def test_a_step_that_changes_nothing_has_a_formula_of_one_sign() -> None:
    counted: Swell = swell_of(lambda x: x)
    assert (counted.text, counted.signs(60), counted.derivative_signs(60), counted.entries[60]) == ("x", 1, 1, 0)
    assert counted.plot(3).layers


def test_every_dealt_loop_has_the_entries_that_its_counts_say() -> None:
    for seed in range(40):
        loop = lessons.deal_loop(seed)
        for n in (0, 1, 5):
            assert loop.entries(n) == loop.counts["round"] * n + loop.counts["outside"]
        assert repr(loop).startswith("def program(x, n):")


def test_right_answers_pass_whatever_is_dealt() -> None:
    for seed in range(25):
        assert lessons.check_digits_left(lambda x, n: max(0, 15.95 - 0.301 * n), seed=seed).passed
        assert lessons.check_pair(lambda v, d: (4 * v * (1 - v), 4 * d - 8 * v * d), seed=seed).passed


def test_digits_lost_are_told_from_digits_left_in_every_draw() -> None:
    def digits_lost(x: float, n: int) -> float:
        return math.log10(abs(slope(x, n)))

    def slope(x: float, n: int) -> float:
        d = 1.0
        for _ in range(n):
            x, d = 4 * x * (1 - x), d * (4 - 8 * x)
        return d

    assert {lessons.check_digits_left(digits_lost, seed).code for seed in range(200)} == {"LOST_FOR_LEFT"}
