"""Lesson 2: pads that are drawn on, as widgets, pages, predictions and exercises, and the numbers of the lesson."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import traitlets

import autodiff_lab as lab
from autodiff_lab import lessons
from autodiff_lab.draw.sketches import COLUMNS
from autodiff_lab.errors import BadInterval, ConversionError, InvalidArgumentError, NotCallable
from autodiff_lab.lessons.levels import Quartic, prices
from autodiff_lab.lessons.sketching import FUNCTIONS, SketchPrediction
from autodiff_lab.widgets.sketch_pad import SketchPad
from tests.draw.packed import unpacked

RIGHT = [9, 4, 1, -1, -2, -1, 1, 4, 9]


def cubic(x: lab.Tensor) -> lab.Tensor:
    return x * x * x - 3.0 * x


@pytest.fixture
def pad() -> SketchPad:
    return lessons.sketch_pad(cubic, -2.2, 2.2, order=2)


def test_what_is_drawn_is_shown_over_the_derivative_with_its_score(pad: SketchPad) -> None:
    assert "nothing drawn yet" in pad.account()
    closed = pad.picture()
    pad.draw(RIGHT)
    pad.reveal()
    assert pad.judged().passed
    assert "100 of 100" in pad.picture()
    assert "100 of 100" not in closed
    assert "cubic′(x): above 0 until -1, below until 1, above" in pad.account()
    pad.row = 2
    pad.draw(lambda x: 5.0 * x)
    assert pad.judged().passed
    assert pad.judged(row=1).score == 100


def test_before_it_is_shown_nothing_says_what_the_derivative_is(pad: SketchPad) -> None:
    pad.draw(0.0)
    assert "lab-line lab-backward" not in pad.picture()
    for text in (pad.account(), pad.picture(), repr(lessons.predict("Draw it.", sketch=pad))):
        assert "until" not in text
        assert "of 100" not in text


def test_a_sketch_that_is_shown_stays(pad: SketchPad) -> None:
    pad.draw(RIGHT)
    pad.reveal()
    with pytest.raises(InvalidArgumentError, match="shown already"):
        pad.draw(0.0)
    pad.reveal()
    assert pad.revealed == ["0.1"]


@pytest.mark.parametrize("sketch", ["nine", [], [[1.0, 2.0], [3.0, 4.0]], None, lambda x: "up", [1, "a"]])
def test_what_is_not_a_sketch_is_refused(pad: SketchPad, sketch: object) -> None:
    with pytest.raises(InvalidArgumentError, match="A sketch is a function of x"):
        pad.draw(sketch)


def test_the_pad_refuses_what_it_does_not_have(pad: SketchPad) -> None:
    with pytest.raises(InvalidArgumentError, match="Draw over the whole width"):
        pad.reveal()
    pad.draw(np.where(np.arange(COLUMNS) < 60, 1.0, np.nan))
    with pytest.raises(InvalidArgumentError, match="Draw over the whole width"):
        pad.reveal()
    for at, row in ((1, 1), (0, 3), (-1, 1)):
        with pytest.raises(InvalidArgumentError, match="no function"):
            pad.draw(0.0, at=at, row=row)
    with pytest.raises(traitlets.TraitError, match="121 heights"):
        pad.sketches = {"0.1": [1.0, 2.0]}
    with pytest.raises(InvalidArgumentError, match="at least one"):
        SketchPad()


def test_functions_that_cannot_be_sketched_are_refused() -> None:
    with pytest.raises(NotCallable):
        lessons.sketch_pad(3.0, -1, 1)  # type: ignore[arg-type]
    with pytest.raises(BadInterval):
        lessons.sketch_pad(cubic, 1, -1)
    for order in (0, 3, True):
        with pytest.raises(InvalidArgumentError, match="order of 1 or 2"):
            lessons.sketch_pad(cubic, -1, 1, order=order)
    with pytest.raises(ConversionError, match="sketch_pad: steps"):
        lessons.sketch_pad(lab.floor, -3, 3, name="steps")
    assert lessons.sketch_pad(lab.abs, -1, 1).curves[0].marks
    assert lessons.sketch_pad(lab.math.log, -1, 1)


def test_a_sketch_is_a_prediction_and_names_the_idea(pad: SketchPad) -> None:
    guess = lessons.predict("Draw f′.", sketch=pad)
    assert isinstance(guess, SketchPrediction)
    row, gated = guess.unlock(), guess.then(lambda: print("now open"))
    assert repr(row) == repr(gated) == "Closed until you commit a prediction above."
    pad.draw(lambda x: x**3 - 3 * x)
    assert guess.answer is None
    pad.reveal()  # what the button in the page does
    assert guess.answer is not None
    assert "it is above 0 until −1, below until 1, above" in repr(row)
    assert "this is what one gets if the derivative looks like the function" in repr(row)
    assert repr(gated) == "now open"
    assert "You drew a curve below 0 until −1.7" in repr(guess)


def test_a_sketch_is_the_only_answer_to_its_question(pad: SketchPad) -> None:
    for more in ({"choices": ["a", "b"]}, {"names": ["x", "y"]}, {"ideas": {1: "COPIED_F"}}):
        with pytest.raises(InvalidArgumentError, match="one answer"):
            lessons.predict("Draw f′.", sketch=pad, **more)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgumentError, match="takes a pad"):
        lessons.predict("Draw f′.", sketch=[1, 2])  # type: ignore[arg-type]


def test_pages_are_small_and_hold_no_sketch_of_the_sender(tmp_path: Path) -> None:
    game = lessons.slope_of_the_day()
    game.draw(lambda x: 0.0)
    game.reveal()
    score = game.judged().score
    page = game.to_html(tmp_path / "day.html")
    assert page.stat().st_size < 160_000
    text = page.read_text(encoding="utf-8")
    state = unpacked(text, "state")
    assert '"sketches":{}' in state
    assert '"revealed":[]' in state
    assert f'"best":{score}' in state
    assert "Slope of the day" in text
    assert lessons.sketch_pad(cubic, -2.2, 2.2).to_html(tmp_path / "pad.html").stat().st_size < 60_000


@pytest.mark.parametrize("seed", range(12))
def test_dealt_slopes_are_solved_by_their_slopes_and_by_nothing_that_is_dealt_wrong(seed: int) -> None:
    three = lessons.deal_slopes(seed)
    for at, curves in enumerate(three.curves):
        three.draw(-curves.rows[1], at)
    assert lessons.check("2.1", three).code == "FLIPPED_SLOPE"
    assert not three.revealed
    for at, curves in enumerate(three.curves):
        three.draw(curves.rows[1][::15], at)
    assert lessons.check("2.1", three).passed
    assert three.revealed == ["0.1", "1.1", "2.1"]


@pytest.mark.slow
def test_ideas_about_fresh_quartics_do_not_agree_by_chance() -> None:
    def slips(f: Quartic, lo: float, hi: float) -> list[float]:
        return [f.a + 0.1, f.b - 0.1]

    check_level: Any = lessons.check_level
    check_extrema: Any = lessons.check_extrema
    for seed in range(40):
        assert check_level(lambda f, lo, hi: f.level, seed).passed
        assert check_level(lambda f, lo, hi: [f.b], seed).code == "MISSED_TOUCH"
        assert check_level(lambda f, lo, hi: f.zeros(), seed).code == "ZEROS_OF_F"
        assert check_extrema(lambda f, lo, hi: f.steepest, seed).code == "STEEPEST"
        assert check_level(slips, seed).code == "OTHER"


def test_the_quartics_have_the_slopes_that_they_are_said_to_have() -> None:
    f = Quartic(4.0, 0.0, 3.0, 0.0)
    x = lab.constant(np.linspace(-1.2, 4.2, 55))
    assert np.allclose(lab.gradient(f)(x).numpy(), 4 * x.numpy() ** 3 - 12 * x.numpy() ** 2)
    assert np.allclose(f(x.numpy()), x.numpy() ** 4 - 4 * x.numpy() ** 3)


def test_the_numbers_of_the_lesson() -> None:
    """The announcement of 1972, x⁴ − 4x³, the bell, and the wave that the blank asks for."""
    t = lab.constant(np.linspace(0, 1, 11))
    first = lab.gradient(prices)
    second, third = lab.gradient(first), lab.gradient(lab.gradient(first))
    assert all((row(t).numpy() > 0).all() for row in (prices, first, second))
    assert np.allclose(third(t).numpy(), -1)
    bell = lab.gradient(lambda x: lab.exp(-x * x / 2))
    assert float(bell(-1.0)) == pytest.approx(0.6065, abs=1e-4)
    assert float(bell(1.0)) == pytest.approx(-0.6065, abs=1e-4)
    wave = lab.gradient(lambda x: lab.sin(x) + x / 2)
    assert float(wave(2 * np.pi / 3)) == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("seed", range(20))
def test_shuffled_curves_say_what_can_be_read_off_and_not_which_is_which(seed: int) -> None:
    dealt = lessons.shuffled_curves(seed=seed)
    assert sorted(dealt.letters) == ["A", "B", "C"]
    assert "′" not in dealt.account + dealt.svg.partition("<style")[0]
    assert re.findall(r"^  ([ABC]):", dealt.account, re.MULTILINE) == ["A", "B", "C"]
    assert lessons.check("2.4", dealt.letters, dealt).passed
    assert repr(lessons.shuffled_curves(seed=seed)) == repr(dealt)


def test_every_function_that_is_dealt_has_derivatives_on_its_interval() -> None:
    for f, lo, hi in FUNCTIONS:
        (curves,) = lessons.sketch_pad(f, lo, hi).curves
        assert all(np.isfinite(row).all() for row in curves.rows)
        assert not curves.marks
