"""Whodunnit: every case can be solved, its answers are those of engines, and points are counted alike everywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from autodiff_lab import lessons
from autodiff_lab.errors import InvalidArgumentError
from autodiff_lab.lessons.attempt import same
from autodiff_lab.widgets.whodunnit import Whodunnit

LARGEST_PAGE = 160_000
SEEDS = range(30)


def slope(case: Whodunnit, name: str) -> float:
    """Return the central difference of the case's program with respect to an input."""
    lines = case.facts["program"].splitlines()
    inputs = dict(part.split(" = ") for part in lines[0].split(", "))

    def f(by: float) -> float:
        values: dict[str, Any] = {key: float(value) + by * (key == name) for key, value in inputs.items()}
        exec("\n".join(lines[1:]), {"max": max}, values)
        return values["f"]

    return (f(1e-4) - f(-1e-4)) / 2e-4


@pytest.mark.parametrize("seed", SEEDS)
def test_a_case_can_be_solved(seed: int) -> None:
    facts = lessons.whodunnit(seed).facts
    answers, culprit, first = facts["answers"], facts["culprit"], facts["first"]
    said = answers[culprit]
    assert not same(said[first], facts["right"][first])
    tied = [each for each in answers if same(each[first], said[first])]
    assert 1 < len(tied) < len(answers)
    for each in answers:
        assert not all(map(same, each, facts["right"]))
        assert sum(all(map(same, each, other)) for other in answers) == 1


@pytest.mark.slow(keep=4)
@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_called_right_is_right(seed: int) -> None:
    case = lessons.whodunnit(seed)
    for question, right in zip(case.facts["questions"], case.facts["right"], strict=True):
        if question["name"] in "xyz" and not question["at"]:
            assert right == pytest.approx(slope(case, question["name"]), abs=1e-5)


@pytest.mark.slow
def test_the_same_seed_deals_the_same_case_and_another_one_another() -> None:
    assert lessons.whodunnit(3).facts == lessons.whodunnit(3).facts
    assert len({lessons.whodunnit(seed).facts["program"] for seed in SEEDS}) > len(SEEDS) - 5


def test_questions_and_wrong_accusations_cost_points() -> None:
    case = lessons.whodunnit(8)
    codes = [each["code"] for each in case.facts["suspects"]]
    culprit = codes.pop(case.facts["culprit"])
    case.ask("a")
    case.ask("a")
    elsewhere = next(each["at"] for each in case.facts["questions"] if each["at"])
    case.ask("x", elsewhere)
    assert case.score == 8
    case.accuse(codes[0])
    assert (case.score, case.solved) == (5, False)
    case.accuse(culprit)
    case.ask("b")
    case.accuse(codes[1])
    assert (case.score, case.solved) == (5, True)
    assert f"{culprit}: " in repr(case)
    assert repr(case).count("(it was)") == repr(case).count("(it was not)") == 1
    assert repr(case).endswith("5 of 10 points, solved")


def test_the_page_holds_the_case_as_it_was_dealt(tmp_path: Path) -> None:
    case = lessons.whodunnit(8)
    case.ask("a")
    page = case.to_html(tmp_path / "case.html")
    assert page.stat().st_size < LARGEST_PAGE
    assert f'"asked":[{case.facts["first"]}],"accused":[]' in page.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["q", None, "<b>", "f"])
def test_a_question_that_does_not_exist_is_refused(name: Any) -> None:
    with pytest.raises(InvalidArgumentError, match="There is no question"):
        lessons.whodunnit(8).ask(name)


def test_somebody_who_is_not_a_suspect_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="Did you mean 'EARLY'"):
        lessons.whodunnit(8).accuse("earlier")
