"""Measured slopes of lesson 3: the figures of its rule, the page that needs no kernel, and what a bad function is."""

import math
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab import lessons
from autodiff_lab.draw.plots import svg
from autodiff_lab.draw.steps import Steps
from autodiff_lab.errors import ConversionError, InvalidArgumentError, NotCallable, ShapeMismatch
from autodiff_lab.exploring.steps import measure_steps
from autodiff_lab.lessons.differences import best_step


@pytest.fixture(scope="module")
def sine() -> Steps:
    return measure_steps(lab.sin, 1.0)


@pytest.mark.parametrize(
    ("dtype", "central", "best", "error"),
    [("float64", False, 2.1e-8, 1e-8), ("float64", True, 8.0e-6, 1e-11), ("float32", False, 4.9e-4, 3e-4),
     ("float32", True, 6.5e-3, 1e-5)],
)  # fmt: skip
def test_the_best_step_is_where_the_rule_says(
    sine: Steps, dtype: str, central: bool, best: float, error: float
) -> None:
    assert best_step(sine, dtype, central) == pytest.approx(best, rel=0.02)
    found, least = sine.best(dtype, central)
    assert 0.1 < found / best < 10
    assert 0.1 < least / error < 10


def test_the_errors_fall_and_rise_with_the_slopes_of_the_guide_lines(sine: Steps) -> None:
    h = sine.values["float64"].h
    for central, low, high, slope in ((False, 1e-5, 1e-2, 1), (True, 1e-3, 1e-1, 2), (False, 1e-13, 1e-10, -1)):
        part = (h > low) & (h < high)
        errors = sine.errors("float64", central)[part]
        assert np.polyfit(np.log10(h[part]), np.log10(errors), 1)[0] == pytest.approx(slope, abs=0.12)


def test_the_table_of_the_lesson_is_that_of_fractions() -> None:
    """x³ needs products alone, so every machine prints these errors."""
    steps = measure_steps(lambda x: x * x * x, 1.0)
    h = steps.values["float64"].h.tolist()
    for power, one, both in ((-2, 3.01e-2, 1.00e-4), (-8, 3.97e-9, 7.13e-9), (-14, 2.40e-3, 2.40e-3)):
        at = h.index(float(f"1e{power}"))
        assert steps.errors()[at] == pytest.approx(one, rel=2e-3)
        assert steps.errors(central=True)[at] == pytest.approx(both, rel=2e-3)


def test_float32_is_computed_in_float32(sine: Steps) -> None:
    values = sine.values["float32"]
    assert {values.h.dtype.name, values.plus.dtype.name, values.slopes(central=True).dtype.name} == {"float32"}
    at = int(np.argmin(np.abs(values.h - 1e-6)))
    assert values.slopes(central=False)[at] == pytest.approx(0.48, abs=0.07)


@pytest.mark.parametrize(
    ("f", "x", "error", "words"),
    [
        (3.0, 1.0, NotCallable, "expected a function"),
        (lab.sin, "one", ConversionError, "expected a number"),
        (lab.sin, math.inf, InvalidArgumentError, "a finite number"),
        (math.sin, 1.0, InvalidArgumentError, "such as lab.sin instead of math.sin"),
        (lab.math.log, -1.0, InvalidArgumentError, "nan at x = -1"),
        (lambda x: lab.stack([x, x]), 1.0, ShapeMismatch, "one number for each number"),
        (lambda x: 1 / 0, 1.0, InvalidArgumentError, "ZeroDivisionError"),
    ],
)
def test_bad_functions_are_refused_with_a_way_out(f: Any, x: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        lab.explore_steps(f, x)


@pytest.mark.parametrize("f", [lambda x: 3.0 * x, lab.abs, lambda x: x - x + 2.0, lambda x: x * lab.constant(2.0)])
def test_functions_without_curvature_or_with_a_dtype_of_their_own_still_have_a_picture(f: Any) -> None:
    shown = lab.explore_steps(f, 0.5)
    for dtype in ("float64", "float32"):
        for central in (False, True):
            assert "nan" not in svg(shown.steps[0].plot(dtype, central))
    assert len(shown.account().splitlines()) == 5


def test_steps_out_of_the_domain_are_gaps() -> None:
    steps = measure_steps(lab.math.log, 0.5)
    errors = steps.errors(central=True)
    assert np.isnan(errors[steps.values["float64"].h > 0.6]).all()
    assert np.isfinite(errors[steps.values["float64"].h < 0.4]).all()


@pytest.mark.slow
def test_the_game_says_nothing_of_the_answer_and_its_page_is_small(tmp_path: Any) -> None:
    game = lessons.step_game(seed=1)
    assert game.picture() is None
    assert "1e-" not in game.account()
    assert repr(game.account()) == repr(lessons.step_game(seed=1).account())
    assert len({lessons.step_game(seed).start for seed in range(30)}) == len(game.dealt)
    for each in game.steps:
        assert 1e-11 < each.best()[0] < 1e-4
    size = game.to_html(tmp_path / "game.html").stat().st_size
    assert size < 160_000
    assert lab.explore_steps(lab.sin, 1.0).to_html(tmp_path / "plot.html").stat().st_size < 160_000


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf])
def test_a_step_is_positive_and_finite(bad: float) -> None:
    shown = lab.explore_steps(lab.sin, 1.0)
    with pytest.raises(Exception, match="positive and finite"):
        shown.h = bad


@pytest.mark.parametrize("seed", range(8))
def test_dealt_methods_have_one_order_that_no_idea_gives(seed: int) -> None:
    dealt = lessons.methods(seed)
    truth = sorted(dealt.errors, key=lambda letter: dealt.errors[letter])
    assert lessons.check_order(truth, dealt).passed
    assert dealt.by_letter[truth[0]].formula == "tape"
    codes = [lessons.check_order(list(order), dealt).code for order in (truth[::-1], truth[1:] + truth[:1])]
    assert codes[0] == "WORST_FIRST"
    assert codes[1] in {"DIFFERENCES_ARE_AUTODIFF", "LARGER_IS_SAFER"}


def test_a_figure_of_steps_names_its_lines_and_prints_nothing_in_a_notebook() -> None:
    pytest.importorskip("matplotlib").use("Agg")
    axes = lab.plot_steps(lab.sin, 1.0, central=True)
    assert axes.get_legend() is None
    assert {text.get_text() for text in axes.texts} == {"slope 2", "slope −1"}
    assert axes._ipython_display_() is None
    with pytest.raises(InvalidArgumentError, match="float64"):
        lab.plot_steps(lab.sin, 1.0, dtype="int32")
