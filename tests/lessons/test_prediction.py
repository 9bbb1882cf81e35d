"""Predictions: committed once, shown with the outcome, and harmless in an unattended run."""

from __future__ import annotations

import ipywidgets
import pytest

import autodiff_lab as lab
from autodiff_lab import lessons
from autodiff_lab.errors import InvalidArgumentError
from autodiff_lab.lessons.prediction import read_number
from autodiff_lab.lessons.unlocked import LOCKED
from autodiff_lab.widgets.explorer import Explorer


def recorded() -> lab.Recording:
    x = lab.Variable(3.0, name="x")
    with lab.record("<b>square</b>") as recording, lab.GradientTape() as tape:
        y = x * x
        tape.gradient(y, x)
    return recording


def texts(widget: ipywidgets.Widget) -> str:
    """Return the text of every HTML widget inside."""
    inside = "".join(map(texts, getattr(widget, "children", ())))
    return inside + (widget.value if isinstance(widget, ipywidgets.HTML) else "")


def test_nothing_opens_before_a_commit() -> None:
    guess = lessons.predict("How much?")
    closed = guess.unlock(recorded(), outcome=6)
    assert not closed.is_open
    assert LOCKED in texts(closed)
    assert repr(closed) == LOCKED
    assert not any(isinstance(child, Explorer) for child in closed.children)


def test_the_button_commits_what_stands_in_the_field_and_opens_everything_that_waits() -> None:
    guess = lessons.predict("How much?")
    first, second = guess.unlock(recorded()), guess.unlock(outcome=6)
    guess._fields[0].value = "−5"
    guess._button.click()
    assert guess.answer == {"": -5.0}
    assert any(isinstance(child, Explorer) for child in first.children)
    assert repr(second) == "answer: predicted −5, it is 6: 11 too little"
    assert "−5" in texts(second)
    assert guess._button.disabled


def test_what_is_unlocked_after_the_commit_is_open_at_once() -> None:
    guess = lessons.predict("How much?", ["x", "y"]).commit(5, 3)
    opened = guess.unlock(recorded(), outcome={"x": 5, "y": 4})
    assert opened.is_open
    assert repr(opened) == "x: predicted 5, it is 5: as predicted\ny: predicted 3, it is 4: 1 too little"


def test_what_is_no_number_is_asked_for_again() -> None:
    guess = lessons.predict("How much?", ["x", "y"])
    guess._fields[0].value, guess._fields[1].value = "5", "a lot"
    guess._button.click()
    assert guess.answer is None
    assert "takes a number" in guess._note.value
    guess._fields[1].value = "1/4"
    guess._button.click()
    assert guess.answer == {"x": 5.0, "y": 0.25}


def test_the_enter_key_commits() -> None:
    guess = lessons.predict("How much?")
    guess._fields[0].value = "2"
    guess._on_enter(guess._fields[0], {"event": "submit"}, None)
    assert guess.answer == {"": 2.0}


def test_a_choice_is_compared_by_its_words() -> None:
    guess = lessons.predict("How often?", choices=["once", "twice"])
    guess._button.click()
    assert guess.answer is None
    guess._fields[0].value = "once"
    guess._button.click()
    assert repr(guess.unlock(outcome="twice")) == "answer: predicted once, it is twice: not as predicted"


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: lessons.predict("?").commit(1, 2),
        lambda: lessons.predict("?").commit("many"),
        lambda: lessons.predict("?", choices=["a", "b"]).commit("c"),
        lambda: lessons.predict("?", ["x"], choices=["a"]),
        lambda: lessons.predict("?", ["x"]).unlock(outcome={"y": 1}),
        lambda: lessons.predict("?").commit(1).unlock("a word"),
        lambda: lessons.predict("?", choices=["a", "b"]).commit("a").unlock(outcome=lambda: "c"),
        lambda: lessons.predict("?").then(3),
        lambda: lessons.predict("?", ideas={1: "NO_SUCH_CODE"}),
        lambda: lessons.predict("?", ["x", "y"], ideas={"z": {1: "SEED"}}),
        lambda: lessons.explain("1", "a sentence without gaps"),
        lambda: lessons.explain("1", "{} and {}").keep("one"),
        lambda: lessons.explain("1", "{} and {}").keep("one", " "),
    ],
)
def test_a_question_that_makes_no_sense_is_refused_with_words(wrong: object) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        wrong()
    assert len(str(caught.value)) > 15


@pytest.mark.parametrize("text", ["", "five", "nan", "inf", "1/0", "1e999", "2,5"])
def test_these_are_no_numbers(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        read_number(text)


def test_questions_and_answers_are_escaped() -> None:
    guess = lessons.predict("Is <script>alert(1)</script> safe?", choices=["<i>yes</i>", "no"]).commit("<i>yes</i>")
    shown = texts(guess) + texts(guess.unlock(outcome="no"))
    assert "<script>" not in shown
    assert "<i>yes" not in shown
    assert "&lt;i&gt;yes" in shown


def test_the_text_form_is_the_same_in_every_run() -> None:
    def words() -> list[str]:
        guess = lessons.predict("How much?", ["x"])
        closed = guess.unlock(recorded(), outcome={"x": 6})
        return [str(widget._repr_mimebundle_()["text/plain"]) for widget in (guess, closed)]

    assert words() == words() == ["How much? (x)\nNothing predicted yet.", LOCKED]


def test_marimo_which_shows_no_ipywidgets_gets_the_text_and_after_the_commit_the_picture() -> None:
    guess = lessons.predict("Is 1 < 2?")
    opened, compared = guess.unlock(recorded()), guess.unlock(outcome=6)
    kind, asked = guess._mime_()
    assert kind == "text/html"
    assert "Is 1 &lt; 2?\nNothing predicted yet." in asked
    assert LOCKED in opened._mime_()[1]
    assert "<svg" not in opened._mime_()[1]
    guess.commit(9)
    assert "You predicted 9." in guess._mime_()[1]
    assert opened._mime_()[1].count("<svg") == 1
    assert "predicted 9, it is 6: 3 too much" in compared._mime_()[1]
    assert "<svg" not in compared._mime_()[1]
    picture = guess.unlock(lessons.Picture("a line", "<svg id='line'/>"))
    assert "<svg id='line'/>" in picture._mime_()[1]


def test_the_answer_to_a_question_about_a_recording_opens_as_its_text() -> None:
    recording = recorded()
    guess = lessons.predict("How much?")
    opened = [guess.unlock(view) for view in (recording.ledger("x"), recording.explain("y", "x"))]
    assert not any("dy/dx" in texts(each) or "gradient of y" in texts(each) for each in opened)
    guess.commit(5)
    assert "dy/dx = 6 = 3 + 3" in texts(opened[0])
    assert "The gradient of y with respect to x is 6" in texts(opened[1])
    assert "dy/dx = 6 = 3 + 3" in opened[0]._mime_()[1]


def test_an_outcome_and_a_function_wait_for_the_commit() -> None:
    called: list[str] = []
    guess = lessons.predict("How much?")
    compared = guess.unlock(outcome=lambda: called.append("outcome") or 6)
    shown = guess.then(lambda: called.append("then") or print("five sines:", 20_000))
    drawn = guess.then(recorded)
    text = guess.then(lambda: {"x": 5})
    assert not called
    assert not any("20000" in texts(each) for each in (compared, shown, drawn, text))
    guess.commit(5)
    assert called == ["outcome", "then"]
    assert repr(compared) == "answer: predicted 5, it is 6: 1 too little"
    assert repr(shown) == "five sines: 20000"
    assert "five sines: 20000" in texts(shown)
    assert any(isinstance(child, Explorer) for child in drawn.children)
    assert repr(text) == "{'x': 5}"


@pytest.mark.parametrize(
    ("names", "ideas", "answers", "outcome", "said"),
    [
        ([""], {10: "WHOLE_TRIP"}, [10], 9, "the rate at an instant is the average over everything"),
        ([""], {10: "WHOLE_TRIP"}, [11], 9, None),
        ([""], {9: "WHOLE_TRIP"}, [9], 9, None),
        (["x", "y"], {"x": {2: "OVERWRITE", 3.0: "OVERWRITE"}}, [3, 3], {"x": 5, "y": 3},
         "a new contribution replaces the old one"),
    ],
)  # fmt: skip
def test_a_wrong_prediction_is_matched_to_its_idea(
    names: list[str], ideas: dict[object, object], answers: list[float], outcome: object, said: str | None
) -> None:
    guess = lessons.predict("How much?", names, ideas=ideas).commit(*answers)
    row = repr(guess.unlock(outcome=outcome)).splitlines()[0]
    assert ("this is what one gets if" in row) == (said is not None)
    assert said is None or row.endswith(said)


def test_a_choice_has_an_idea_as_well() -> None:
    guess = lessons.predict("How often?", choices=["once", "twice"], ideas={"once": "TOUCHES_ONCE"}).commit("once")
    assert "if a tangent meets the curve only where" in repr(guess.unlock(outcome=lambda: "twice"))


def test_an_explanation_is_kept_beside_the_prediction() -> None:
    guess = lessons.predict("How much?").commit(5)
    cloze = lessons.explain("1", "It is {} because of <b>{}</b>.", guess)
    assert repr(cloze) == "It is … because of <b>…</b>."
    cloze._gaps[0].value = "6"
    cloze._button.click()
    assert "Every gap" in texts(cloze)
    assert not cloze.kept
    cloze._gaps[1].value = "<i>two</i> paths"
    cloze._on_enter(cloze._gaps[1], {"event": "submit"}, None)
    assert cloze.kept == "It is 6 because of <b><i>two</i> paths</b>."
    assert cloze.kept in repr(guess)
    assert "<i>two" not in texts(cloze) + texts(guess)
    assert repr(cloze.keep(7, "three")) == "It is 7 because of <b>three</b>."
