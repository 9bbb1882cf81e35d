"""Lesson 11: dealt functions have the verdicts that they should have, and the programs are those of the notebook."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab import lessons
from autodiff_lab.errors import InvalidArgumentError
from autodiff_lab.lessons.guarding import POINTS, PROGRAMS, birthplace
from autodiff_lab.lessons.unlocked import Unlocked
from autodiff_lab.lessons.verdicts import _IDEAS, TRUTH, VERDICTS, _judge, _strangers
from tests.lessons.play import play, sources

SEEDS = range(30)


@pytest.mark.slow(keep=7)
@pytest.mark.parametrize("seed", SEEDS)
def test_a_gradient_check_agrees_with_the_verdict_on_every_patient(seed: int) -> None:
    six = lessons.patients(seed)
    for each in six.by_letter.values():
        assert lab.testing.check_gradient(each.function, each.x).verdict == TRUTH[each.kind], each.program
    assert Counter(TRUTH[each.kind] for each in six.by_letter.values())["wrong rule"] == 2
    assert "nan" in repr(six)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_five_questions_have_a_clear_answer_for_every_function(seed: int) -> None:
    dealt = list(_strangers(np.random.default_rng(seed)))
    assert len(dealt) == 12
    assert {each.kind for each in dealt} == set(TRUTH)
    for each in dealt:
        x, slope = float(np.ravel(each.x)[0]), each.slope(each.x)
        if each.kind in ("random", "nan"):
            assert (each.value(x) != each.value(x)) is (each.kind == "random")
            assert bool(np.isfinite(slope)) is (each.kind == "random")
            continue
        off = {
            (at, h): abs(each.difference(x + at, h) / each.slope(x + at) - 1)
            for at, h in ((0, 1e-6), (0, 1e-3), (0.1, 1e-3))
        }
        wanted = {
            (0, 1e-6): each.kind in ("right", "lucky"),
            (0, 1e-3): each.kind in ("right", "lucky", "precision"),
            (0.1, 1e-3): TRUTH[each.kind] != "wrong rule",
        }
        for where, agrees in wanted.items():
            assert off[where] < 0.005 if agrees else off[where] > 0.03, (each.kind, where)


def test_no_idea_accuses_a_right_answer_and_each_is_named_by_what_it_answers() -> None:
    kinds = list(TRUTH)
    assert _judge(kinds, [TRUTH[kind] for kind in kinds]) == ""
    for code, on in _IDEAS[1:]:
        for kind, words in on.items():
            for word in words - {TRUTH[kind]}:
                said = [word if each == kind else TRUTH[each] for each in kinds]
                assert _judge(kinds, said) in (code, *[other for other, more in _IDEAS if word in more.get(kind, ())])
    wrong = ["agrees" if kind == "wrong" else TRUTH[kind] for kind in kinds]
    assert _judge(kinds, wrong) == "OTHER"
    assert _judge(["kink", "kink"], ["not finite", "kink"]) == "OTHER"  # an idea does not miss one of two
    assert set(TRUTH.values()) == set(VERDICTS)


def test_the_programs_whose_nan_is_looked_for_are_those_of_the_notebook() -> None:
    begin = sources("11")["exercise-begin"]
    assert all(program in begin for program in PROGRAMS.values())
    assert [birthplace(name) for name in PROGRAMS] == [
        ("log", 1, "forward"), ("log", 2, "forward"), ("sqrt", 2, "backward"),
    ]  # fmt: skip
    x = lab.Variable(POINTS["two"])
    with lab.GradientTape() as tape:
        loss = lab.math.log(-x)
    assert np.isnan(float(loss))
    assert float(tape.gradient(loss, x)) == 1.0  # a finite gradient of a loss that is nan


def test_the_numbers_of_the_lesson_are_right() -> None:
    names = play("11")[""]
    assert names["slopes_at_zero"]() == {"x": 1.0, "max + min": 2.0, "relu - relu": 0.0}
    assert names["report"].verdict == "kink"
    assert np.isnan(float(names["root_slope"]))
    slopes = [[float(lab.gradient(names[f])(lab.constant(v))) for v in (0.25, 1.0, 4.0)] for f in ("root", "safe_root")]
    assert slopes == [[1.0, 0.5, 0.25]] * 2
    assert float(lab.gradient(names["safe_root"])(lab.constant(0.0))) == 1.0
    opened = names["guess"].commit(1, 1, 1).unlock(names["report"], outcome=names["slopes_at_zero"])
    assert isinstance(opened, Unlocked)
    assert opened.account().count("kinks that cancel in the function cancel in its gradient too") == 2
    assert "lab-gradcheck" in opened.parts[-1]["text"]


def test_evidence_of_a_letter_that_was_not_dealt_is_refused() -> None:
    for letter in ("g", "", None, 3):
        with pytest.raises(InvalidArgumentError, match="letters are a to f"):
            lessons.patients(seed=1).evidence(letter)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgumentError, match="expected 'log'"):
        lessons.check_safe("cosine", lab.cos)


def test_another_length_is_never_taken_for_the_right_one_with_a_little_added() -> None:
    def function(x: lab.Tensor) -> lab.Tensor:
        return lab.reduce_sum(lab.abs(x))

    assert {lessons.check_safe("norm", function, seed).code for seed in range(300)} == {"CLIPPED"}
