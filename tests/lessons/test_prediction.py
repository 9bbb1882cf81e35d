"""Predictions: committed once, shown with the outcome, and harmless in an unattended run."""

from __future__ import annotations

import ast
import json
from typing import Any

import pytest

import autodiff_lab as lab
from autodiff_lab import lessons
from autodiff_lab.errors import InvalidArgumentError
from autodiff_lab.lessons import CODES
from autodiff_lab.lessons.prediction import read_number
from autodiff_lab.lessons.questions import QUESTIONS
from autodiff_lab.lessons.unlocked import LOCKED
from autodiff_lab.widgets.explorer import Explorer
from autodiff_lab.widgets.form import Form
from tests.lessons.play import LESSONS, TRANSLATED, number_of, play, run, sources


def recorded() -> lab.Recording:
    x = lab.Variable(3.0, name="x")
    with lab.record("<b>square</b>") as recording, lab.GradientTape() as tape:
        y = x * x
        tape.gradient(y, x)
    return recording


def texts(form: Form) -> str:
    """Return all that a form tells the front end."""
    state = form.get_state(["parts", "values", "note", "button", "tip"])
    return json.dumps(state, ensure_ascii=False, default=str)


def bundle(form: Form) -> dict[str, str]:
    """Return what an output of a cell holds of a form."""
    made = form._repr_mimebundle_()
    assert made is not None
    return made[0]


def press(form: Form, *values: str) -> None:
    """Do what the button and Enter do, with the fields filled."""
    form.set_state({"submitted": {"values": list(values), "press": form.submitted.get("press", 0) + 1}})


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
    press(guess, "−5")
    assert guess.answer == {"": -5.0}
    assert any(isinstance(child, Explorer) for child in first.children)
    assert repr(second) == "answer: predicted −5, it is 6: 11 too little"
    assert "−5" in texts(second)
    assert guess.disabled
    assert guess.values == ["−5"]


def test_what_is_unlocked_after_the_commit_is_open_at_once() -> None:
    guess = lessons.predict("How much?", ["x", "y"]).commit(5, 3)
    opened = guess.unlock(recorded(), outcome={"x": 5, "y": 4})
    assert opened.is_open
    assert repr(opened) == "x: predicted 5, it is 5: as predicted\ny: predicted 3, it is 4: 1 too little"


def test_what_is_no_number_is_asked_for_again() -> None:
    guess = lessons.predict("How much?", ["x", "y"])
    press(guess, "5", "a lot")
    assert guess.answer is None
    assert "'a lot' is not a number" in guess.note
    press(guess, "5", "1/4")
    assert guess.answer == {"x": 5.0, "y": 0.25}


def test_what_is_committed_is_committed_once() -> None:
    guess = lessons.predict("How much?")
    press(guess, "2")
    press(guess, "3")
    assert guess.answer == {"": 2.0}


def test_a_choice_is_compared_by_its_words() -> None:
    guess = lessons.predict("How often?", choices=["once", "twice"])
    press(guess, "")
    assert guess.answer is None
    press(guess, "<never offered>")
    assert guess.answer is None
    press(guess, "once")
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


@pytest.mark.parametrize(
    "text",
    [
        "",
        "five",
        "nan",
        "inf",
        "1/0",
        "1e999",
        "10^999",
        "1,0,0",
        "12,34,567",
        "1,000,00",
        "1.5,5",
        "/2",
        "1/",
        "1,234",
    ],
)
def test_these_are_no_numbers(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        read_number(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1,000,000", 1e6), ("-1,000.5", -1000.5), ("1 000 000", 1e6), ("1\u202f000", 1e3), ("1'000", 1e3),
        ("2,5", 2.5), ("−0,25", -0.25), ("1,5000", 1.5), ("10^6", 1e6), ("2*10**6", 2e6),
        ("−3 · 10⁻²", -0.03), ("1e6", 1e6),
        ("1,000/4", 250.0), ("1/ 4", 0.25), ("−1/−4", 0.25),
    ],
)  # fmt: skip
def test_these_are(text: str, value: float) -> None:
    assert read_number(text) == pytest.approx(value, rel=1e-15)


def test_a_field_that_holds_no_number_is_named() -> None:
    guess = lessons.predict("How many?", ["forward", "backward"])
    for given, said in (
        (["1,000", "a lot"], "backward: 'a lot' is not a number."),
        (["", "1"], "forward: a number is "),
    ):
        guess._read(given)
        assert guess.note.startswith(said)
        assert guess.answer is None
    with pytest.raises(InvalidArgumentError, match=r"^1,234 may be 1234 or 1\.234\. Write it like 2\.5"):
        lessons.predict("How many?").commit("1,234")
    with pytest.raises(InvalidArgumentError, match=r"^'a lot' is not a number\. Write it like 2\.5"):
        lessons.predict("How many?").commit("a lot")


def test_only_the_package_writes_what_is_parsed_as_markup() -> None:
    guess = lessons.predict("Is <script>alert(1)</script> safe?", choices=["<i>yes</i>", "no"]).commit("<i>yes</i>")
    opened = guess.unlock(outcome="no")
    explained = lessons.explain("1", "<b>It</b> is {}.", guess).keep("<u>so</u>")
    parts = [part for form in (guess, opened, explained) for part in form.parts]
    markup = "".join(part["text"] for part in parts if part["kind"] == "markup")
    assert "&lt;i&gt;yes" in markup
    assert not any(tag in markup for tag in ("<script>", "<i>", "<b>", "<u>"))


def test_the_text_form_is_the_same_in_every_run() -> None:
    def words() -> list[str]:
        guess = lessons.predict("How much?", ["x"])
        closed = guess.unlock(recorded(), outcome={"x": 6})
        return [bundle(widget)["text/plain"] for widget in (guess, closed)]

    assert words() == words() == ["How much? (x)\nNothing predicted yet.", LOCKED]


def test_outside_notebooks_a_form_carries_what_it_opens_and_both_speak_through_it() -> None:
    guess = lessons.predict("Is 1 < 2?")
    opened = guess.unlock(recorded(), outcome=6)
    assert [part["kind"] for part in opened.parts] == ["markup"]
    guess.commit(9)
    (_, carried), (explorer,) = opened.parts, opened.children
    assert carried["kind"] == "widget"
    assert "export default" in carried["script"]
    assert ".explorer" in carried["style"]
    assert carried["state"]["step"] == explorer.step
    said: list[object] = []
    opened.send = lambda content, buffers=None: said.append(content)
    explorer.step = 0
    assert {"place": 1, "changes": {"step": 0}} in said
    assert opened.parts[1]["state"]["step"] == 0
    opened._handle_custom_msg({"place": 1, "changes": {"step": 1, "no such trait": 0}}, None)
    assert explorer.step == 1
    explorer.send({"kind": "hello"})
    assert said[-1] == {"place": 1, "content": {"kind": "hello"}}
    heard: list[object] = []
    explorer.on_msg(lambda _, content, __: heard.append(content))
    opened._handle_custom_msg({"place": 1, "content": {"kind": "open"}}, None)
    assert heard == [{"kind": "open"}]


def test_what_is_open_has_the_picture_of_its_widget() -> None:
    guess = lessons.predict("How much?")
    opened = guess.unlock(recorded())
    assert opened.picture() is None
    guess.commit(9)
    assert "<svg" in bundle(opened)["image/svg+xml"]
    picture = guess.unlock(lessons.Picture("a line", "<svg id='line'/>"))
    assert "<svg id='line'/>" in texts(picture)


def test_the_answer_to_a_question_about_a_recording_opens_as_its_text() -> None:
    recording = recorded()
    guess = lessons.predict("How much?")
    opened = [guess.unlock(view) for view in (recording.ledger("x"), recording.explain("y", "x"))]
    assert not any("dy/dx" in texts(each) or "gradient of y" in texts(each) for each in opened)
    guess.commit(5)
    assert "dy/dx = 6 = 3 + 3" in texts(opened[0])
    assert "The gradient of y with respect to x is 6" in texts(opened[1])


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
    press(cloze, "6", "")
    assert "Every gap" in texts(cloze)
    assert not cloze.kept
    press(cloze, "6", "<i>two</i> paths")
    assert cloze.kept == "It is 6 because of <b><i>two</i> paths</b>."
    assert cloze.kept in repr(guess)
    assert repr(cloze.keep(7, "three")) == "It is 7 because of <b>three</b>."


def asked(lesson: str) -> list[ast.Call]:
    """Return the calls of `lessons.predict` in a lesson, in order."""
    calls = [node for source in sources(lesson).values() for node in ast.walk(ast.parse(source))
             if isinstance(node, ast.Call) and ast.unparse(node.func) == "lessons.predict"]  # fmt: skip
    assert calls
    return calls


@pytest.mark.parametrize("lesson", [*LESSONS, *TRANSLATED])
def test_a_question_names_its_own_number(lesson: str) -> None:
    given = {n: word.value.value for n, call in enumerate(asked(lesson), start=1) for word in call.keywords
             if word.arg == "ideas" and isinstance(word.value, ast.Constant)}  # fmt: skip
    number = number_of(lesson).lstrip("0")
    assert given == {n: f"{number}.Q{n}" for n in given}
    assert set(given.values()) == {key for key in QUESTIONS if key.partition(".")[0] == number}


@pytest.mark.parametrize(
    ("lesson", "cell", "answers", "code"),
    [("09", "question", ["(100, 1)"], "ALL_PAIRS"), ("07", "question", [5, 3, 2], "MAX_SHARES"),
     ("de/01", "tangent-question", ["einmal, wo sie berührt"], "TOUCHES_ONCE"), ("02", "question", ["D"], "COPIED_F")],
)  # fmt: skip
def test_a_wrong_answer_is_matched_to_the_idea_behind_the_number(
    lesson: str, cell: str, answers: list[Any], code: str
) -> None:
    guess = run(sources(lesson)[cell], dict(play(lesson, stop_after=cell)[""]), "<question>")
    assert guess.idea_of(guess.names[-1], answers[-1]) == CODES[code].idea
    assert not any(entry.idea in texts(guess.commit(*answers)) for entry in CODES.values())
    assert code not in sources(lesson)[cell]


@pytest.mark.parametrize(
    ("number", "more", "says"),
    [("9.Q7", {"choices": "abc"}, 'ideas="9.Q1"'), ("9.Q1", {"choices": "a"}, "something else"),
     ("1.Q1", {"names": ["x", "y"]}, "something else")],
)  # fmt: skip
def test_a_number_of_no_such_question_is_refused(number: str, more: dict[str, Any], says: str) -> None:
    with pytest.raises(InvalidArgumentError, match=says):
        lessons.predict("?", ideas=number, **more)
