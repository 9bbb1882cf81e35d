"""No answer can be read before a prediction is committed: each lesson is opened as a learner opens it, and searched.

What a question closes is found by running the lesson, committing something, and reading what opens. Then the lesson as
it ships is searched for it: sources below the question, saved outputs, metadata, hidden cells, and all that a run from
top to bottom draws while the questions are open. Text below a question may not state its answer either.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass
from functools import cache
from typing import Any

import nbformat
import pytest

from autodiff_lab.lessons import Prediction
from autodiff_lab.widgets.form import Form
from tests.amputation import marked
from tests.lessons.leaks import Piece, Secrets, long_lines, search
from tests.lessons.play import LESSONS, NOTEBOOKS, cells, run, sources
from tests.lessons.renew import PLAYED, QUESTION, shipped

METADATA = {"slideshow", "tags", "editable"}


@dataclass
class Opened:
    """A lesson that ran unattended: what its cells draw, and its questions by the cell that shows them."""

    drawn: dict[str, str]
    questions: dict[str, Prediction]


def texts(value: Any) -> str:
    """Return all that a notebook would show of a value, as text."""
    children = "".join(map(texts, getattr(value, "children", ())))
    own = value.value if isinstance(getattr(value, "value", None), str) else ""
    if isinstance(value, Form):
        own = f"{value.note}\n" + "\n".join(part.get("text", "") for part in value.parts)
    picture = getattr(value, "svg", "")
    return f"{value!r}\n{own}\n{children}\n{picture if isinstance(picture, str) else ''}"


def open_lesson(lesson: str, changes: Mapping[str, str]) -> Opened:
    """Run a lesson with some cells replaced, to the end or to the last of those, and commit nothing."""
    last = list(changes)[-1:]
    names: dict[str, Any] = {"__name__": "__main__"}
    opened = Opened({}, {})
    for count, (key, source) in enumerate(sources(lesson).items(), start=1):
        printed = io.StringIO()
        with redirect_stdout(printed):
            value = run(changes.get(key, source), names, f"<lesson cell {count}>")
        if isinstance(value, Prediction):
            opened.questions[key] = value
        opened.drawn[key] = printed.getvalue() + ("" if value is None else texts(value))
        if [key] == last:
            break
    return opened


@cache
def as_shipped(lesson: str) -> tuple[dict[str, str], Secrets]:
    """Return what a lesson draws, and then commit something to every question and read what opens."""
    opened = open_lesson(lesson, {})
    found = Secrets({}, set())
    for key, question in opened.questions.items():
        question.commit(*(question.choices[:1] or [-12345.0] * len(question.names)))
        found.outcomes[key] = [value for each in question._waiting for value in each.outcomes.values()]
        found.lines |= long_lines("\n".join(each.printed for each in question._waiting))
    return opened.drawn, found


def readable(lesson: str, changes: Mapping[str, str] | None = None, notebook: Any = None) -> list[str]:
    """Return the places where an answer can be read before the commit, with some cells changed."""
    changes = changes or {}
    drawn, secrets = as_shipped(lesson)
    drawn = open_lesson(lesson, changes).drawn if changes else drawn
    pieces: list[Piece] = []
    for cell in cells(lesson):
        kind = "code" if cell.cell_type == "code" else "text"
        pieces.append(Piece(cell.id, kind, changes.get(cell.id, cell.source)))
        if cell.id in drawn:
            pieces.append(Piece(cell.id, "drawn", drawn[cell.id]))
    return search(pieces, secrets) + (list(_saved(notebook)) if notebook is not None else [])


def _saved(notebook: Any) -> Iterator[str]:
    asked = False
    for cell in notebook.cells:
        asked = asked or (cell.cell_type == "code" and QUESTION in cell.source)
        if asked and cell.get("outputs"):
            yield f"saved below {cell.id}"
        if set(cell.metadata) - METADATA or cell.get("attachments"):
            yield f"metadata of {cell.id}: {sorted(set(cell.metadata) - METADATA)}"
    if "widgets" in notebook.metadata:
        yield "widgets in the metadata"


def simulates_a_gpu(lesson: str) -> bool:
    return lesson.startswith("15")


@pytest.mark.slow(keep=4)
@pytest.mark.parametrize("lesson", marked(LESSONS, simulates_a_gpu))
def test_no_answer_can_be_read_before_the_commit(lesson: str) -> None:
    (path,) = NOTEBOOKS.glob(f"{lesson}.ipynb")
    assert as_shipped(lesson)[1].outcomes
    assert list(readable(lesson, notebook=nbformat.read(path, as_version=4))) == []


@pytest.mark.parametrize(("lesson", "told"), [("03", "smaller|worse"), ("09", "loss|gradient")])
def test_a_subtitle_leaves_the_questions_open(lesson: str, told: str) -> None:
    """Lesson 3 asks which step is worse, lesson 9 whether the loss is right and then whether the gradient is."""
    (title,) = [cell.source for cell in cells(lesson) if cell.id == "title"]
    assert not re.search(told, title.partition("- **Needs**")[0])


def without_the_gate(source: str) -> str:
    """Return a cell that shows at once what it shows after the commit."""

    def call(match: re.Match[str]) -> str:
        return match[1] if "(" in match[1] or "." in match[1] else f"{match[1]}()"

    return re.sub(r"^\w*guess\.then\((?:lambda: )?(.*)\)$", call, source, flags=re.MULTILINE)


PUT_BACK: list[tuple[str, str, str, str]] = [
    ("01", "tangent-answer", "outcome=meetings", 'outcome="twice"'),
    ("01", "observe-it", "outcome=lambda: rate_at_1", "outcome=9"),
    ("01", "observe-it", "outcome=lambda: rate_at_1", "outcome=lambda: 9.0"),
    ("02", "prices-answer", "outcome=lambda: prices.letters[0]", 'outcome="B"'),
    ("02", "level-answer", "outcome=counted", 'outcome={"level": 2, "highest or lowest": 1}'),
    ("04", "observe-it", 'outcome=lambda: {"n = 4": run(4)[2], "n = 50": run(50)[2]}',
     'outcome={"n = 4": 12, "n = 50": 150}'),
    ("04", "digits-answer", "outcome=lambda: str(int(-math.log10(abs(run(50)[0] - exactly(50)))))", 'outcome="1"'),
    ("07", "exp-answer", "outcome=lambda: delivered", 'outcome="7.389"'),
    ("08", "observe-it", "outcome=booked", 'outcome={"bookings on y": 2, "dc/dx": 21}'),
    ("08", "cost-answer", "outcome=how_often", 'outcome="about two million times"'),
    ("13", "observe-it", "outcome=gone_through", 'outcome="what inner.gradient computed, then the program"'),
    ("13", "fourth-answer", "outcome=fourth", 'outcome="sin x"'),
    ("15", "observe-it", '"blocks": needed', '"blocks": 3'),
    ("11", "where-answer", 'outcome=lambda: f"{float(root_slope):g}"', 'outcome="nan"'),
    ("14b", "observe-it", '"kept": counted.peak', '"kept": 7'),
    ("01", "rule", "small, 18 is what remains.", "small, 18 is what remains. At 1 the same gives **9**."),
    ("01", "exercise-two", "You know the rate of f at x = 1.", "At x = 1 the rate of f is 9."),
    ("06", "rule", "7 − 2 = **5** entries", "7 − 2 = **5** entries, and above, with 12 km, 4 − 1 = 3"),
    ("07", "rule", "because the other one is 4", "because the other one is 4. Above, 1 × 3 = 3 goes to a"),
    ("07", "next", "**You can now**", "exp x is 7.389 at 2. **You can now**"),
    ("08", "rule", "10 × 3 = **30**", "10 × 3 = **30**; above, 7 × 3 = **21**"),
    ("12", "rule", "## The rule", "## The rule\n\nThe angle was 39.3 degrees."),
    ("09", "question", 'ideas="9.Q1"', 'ideas={"(100,)": "ALL_PAIRS"}'),
    ("07", "question", 'ideas="7.Q1"', 'ideas={"for x": {2: "OVERWRITE"}}'),
    ("12", "rule", "the largest k rules", "the largest k rules, here $2/10$"),
    ("15", "observe-it", "needed = ", "needed = -(-20 // 8)\nneeded = "),
    ("16", "observe-it", "outcome=as_words", 'outcome="0 and None"'),
    *[(lesson, cell, "", "") for lesson, cell in (
        ("11", "blame-answer"), ("11", "rule-in-code"),
        ("04", "rule-in-code"), ("04", "account-text"), ("04", "lost"),
        ("01", "shrink-it"), ("01", "rule-in-code"), ("02", "rule-in-code"),
        ("06", "entries-printed"), ("06", "bytes-bars"),
        ("08", "rule-in-code"), ("08", "account-text"), ("09", "both-trained"), ("12", "rule-in-code"),
        ("10", "same-numbers"), ("10", "summed-table"), ("14a", "account-text"),
        ("14b", "rule-in-code"), ("14b", "account-text"), ("15", "rule-in-code"), ("16", "rule-in-code"),
        ("13", "frames-nested"))],
]  # fmt: skip
"""The leaks that lessons once had: lesson, cell, what stands there now, what stood there; without, an open print."""


@pytest.mark.slow(keep=10)
@pytest.mark.parametrize(("lesson", "cell", "now", "then"), marked(PUT_BACK, lambda row: row[0] == "15"))
def test_every_leak_that_is_put_back_is_found(lesson: str, cell: str, now: str, then: str) -> None:
    (lesson,) = [name for name in LESSONS if name.startswith(lesson)]
    source = {each.id: each.source for each in cells(lesson)}[cell]
    changed = source.replace(now, then) if now else without_the_gate(source)
    assert changed != source
    assert list(readable(lesson, {cell: changed}))


@pytest.mark.parametrize(
    ("outcome", "words"),
    [
        (9.0, "The slope is 9."), (9.0, "dy/dx = 9\n"), (9.0, "f′(1) = 9"), (9.0, "slope f′(x) 9"),
        (155.83, "155.83 and 74.4"),
        ("twice", " twice\n"), ("a gradient of zeros", "It gives a gradient of zeros here."),
    ],
)  # fmt: skip
def test_what_a_cell_draws_may_not_state_an_outcome(outcome: object, words: str) -> None:
    """As the page draws it: labels, titles and alternative texts are pieces as well."""
    closed = Secrets({"question": [outcome]}, {"printed after the commit"})
    asked = [Piece("before", "drawn", words), Piece("question", "drawn", words)]
    assert search([*asked, Piece("answer", "drawn", "a tick at 9, and 9.5; thrice")], closed) == []
    assert search([*asked, Piece("answer", "drawn", words)], closed) == [f"answer says {outcome!r}"]
    assert search([*asked, Piece("answer", "drawn", "1\n printed  after the commit\n")], closed)


@pytest.mark.parametrize("lesson", LESSONS)
def test_saved_outputs_and_metadata_are_searched(lesson: str) -> None:
    notebook = nbformat.read(PLAYED / f"{lesson}.ipynb", as_version=4)
    assert list(_saved(notebook))
    clean = shipped(notebook)
    assert list(_saved(clean)) == []
    clean.cells[0].metadata["answer"] = 9
    assert list(_saved(clean)) == ["metadata of title: ['answer']"]
    hidden = shipped(notebook)
    hidden.cells[-1].metadata["jupyter"] = {"source_hidden": True}
    assert list(_saved(hidden))


@pytest.mark.parametrize("lesson", LESSONS)
def test_the_played_lesson_has_the_cells_of_the_shipped_one(lesson: str) -> None:
    """Nbval runs the played lessons; since the cells are the same, running the shipped ones would show nothing new."""
    kept = nbformat.read(PLAYED / f"{lesson}.ipynb", as_version=4).cells
    assert [(c.id, c.cell_type, c.source) for c in kept] == [(c.id, c.cell_type, c.source) for c in cells(lesson)]


def test_there_is_no_played_lesson_without_a_lesson() -> None:
    assert {path.stem for path in PLAYED.glob("*.ipynb")} == set(LESSONS)
