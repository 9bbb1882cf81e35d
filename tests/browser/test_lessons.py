"""Each lesson in a real JupyterLab: it runs from top to bottom, its pictures are there, and a prediction opens them."""

import os
from pathlib import Path

import nbformat
import pytest

from tests.browser.cells import PREDICTION, cell, photograph, type_prediction
from tests.browser.conftest import OpenNotebook, Screenshot
from tests.browser.leaks import commit_the_rest, missed, opened, pieces
from tests.browser.lesson_02 import open_lesson_2
from tests.browser.lesson_04 import open_lesson_4
from tests.browser.lesson_05 import open_lesson_5
from tests.browser.lesson_08 import open_lesson_8
from tests.browser.lesson_09 import open_lesson_9
from tests.browser.lesson_12 import open_lesson_12
from tests.browser.lesson_14 import open_lesson_14a, open_lesson_14b
from tests.browser.lesson_16 import open_lesson_16
from tests.browser.view import POLLING, View, notebook_is_done
from tests.lessons.leaks import search
from tests.lessons.play import number_of
from tests.lessons.renew import SLOW
from tests.tree import ROOT

PLAYED = ROOT / "tests" / "lessons" / "played"
LESSONS = sorted((ROOT / "notebooks").glob("[0-9][0-9]*_*.ipynb"))
LOCKED = "Closed until you commit a prediction above."


def play(open_notebook: OpenNotebook, path: Path) -> View:
    """Open a lesson with every cell in the page, and run it."""
    view = open_notebook(path, run=False)
    view.page.wait_for_function(
        "() => document.querySelectorAll('.jp-Notebook .jp-Cell').length"
        " === window.jupyterapp.shell.currentWidget.content.widgets.length",
        polling=POLLING,
    )
    count = view.page.evaluate(
        "() => window.jupyterapp.shell.currentWidget.content.widgets.filter(c => c.model.type === 'code').length"
    )
    view.page.evaluate("() => void window.jupyterapp.commands.execute('notebook:run-all-cells')")
    notebook_is_done(view.page, count, 120_000)
    return view


def saved_warnings(path: Path) -> list[str]:
    """Return what a lesson, when it was played, said on the standard error stream."""
    played = nbformat.read(PLAYED / path.name, as_version=4)
    outputs = [output for cell in played.cells for output in cell.get("outputs", ())]
    return [output.text.strip() for output in outputs if output.get("name") == "stderr"]


def warnings_of(view: View) -> list[str]:
    """Return what a page shows of the standard error stream, but that something compiles for long on a busy machine."""
    warned = view.page.locator("[data-mime-type='application/vnd.jupyter.stderr']").all_inner_texts()
    lines = ([line for line in text.splitlines() if not line.startswith(SLOW)] for text in warned)
    return [text for text in ("\n".join(each).strip() for each in lines) if text]


def open_lesson_7(view: View, screenshot: Screenshot) -> None:
    """Predict, correct the prediction, and open the backward pass step by step with the keyboard, by right numbers."""
    type_prediction(view, "question", "2", "not sure", "0")
    cell(view, "question").get_by_text("takes a number").wait_for()
    closed = cell(view, "observe-it").get_by_text(LOCKED)
    assert closed.count() == 1
    type_prediction(view, "question", "2", "−1", "0")
    explorer = cell(view, "observe-it").locator(".explorer")
    explorer.wait_for()
    assert not closed.count()
    compared = cell(view, "compare-it").locator("table").first.inner_text()
    assert "3 too little" in compared
    assert "as predicted" in compared
    explorer.locator(".graph").first.click(position={"x": 5, "y": 5})
    for number, answers in enumerate((("3", "2"), ("2", "0"), ("3", "3")), start=4):
        view.page.keyboard.press("ArrowRight")
        fields = explorer.locator(".asks input")
        fields.first.wait_for()
        assert explorer.get_attribute("data-step") == str(number - 1)
        fields.last.fill("7")
        fields.last.press("Enter")
        explorer.locator(".asks").get_by_text("Not yet").wait_for()
        for at, answer in enumerate(answers):
            fields.nth(at).fill(answer)
        fields.last.press("Enter")
        fields.first.wait_for(state="detached")
        assert f"step {number} of 6" in explorer.locator(".live").inner_text().lower()
    own = cell(view, "own-function").locator(".explorer")
    own.locator(".graph").first.click(position={"x": 5, "y": 5})
    view.page.keyboard.press("End")
    own.locator(".asks input").first.wait_for()
    view.page.keyboard.press("F3")
    view.page.keyboard.press("Escape")
    photograph(view, screenshot, "07", ("question",))


def open_lesson_1(view: View, screenshot: Screenshot) -> None:
    """Answer with a number and with a choice; each answer opens a picture."""
    type_prediction(view, "question", "10")
    cell(view, "observe-it").locator(".autodiff-lab svg").first.wait_for()
    compared = cell(view, "observe-it").locator("table").first.inner_text()
    assert "1 too much; this is what one gets if the rate at an instant is the average over everything" in compared
    cell(view, "shrink-it").locator("pre", has_text="1.001 ").get_by_text("9.003").wait_for()
    gaps = cell(view, "explain-it").locator("input")
    for number, words in enumerate(("10", "I took the average", "9", "f bends")):
        gaps.nth(number).fill(words)
    gaps.nth(3).press("Enter")
    cell(view, "question").get_by_text("I took the average").wait_for()
    cell(view, "tangent-question").locator("input[type=radio]").first.check()
    cell(view, "tangent-question").get_by_role("button", name="Commit").click()
    cell(view, "tangent-answer").locator(".autodiff-lab svg").first.wait_for()
    assert "not as predicted" in cell(view, "tangent-answer").locator("table").first.inner_text()
    photograph(view, screenshot, "01", ("question", "tangent-question"))


def open_lesson_3(view: View, screenshot: Screenshot) -> None:
    """Move the step by keys until the digits are gone, and play the game to its end."""
    for question, answer, choice in (("question", "observe-it", 1), ("central-question", "central-answer", 1)):
        cell(view, question).locator("input[type=radio]").nth(choice).focus()
        view.page.keyboard.press("Space")
        cell(view, question).get_by_role("button", name="Commit").press("Enter")
        cell(view, answer).locator(".lab-steps-plot").wait_for()
    assert "not as predicted" in cell(view, "observe-it").locator("table").first.inner_text()
    assert "not as predicted" not in cell(view, "central-answer").locator("table").first.inner_text()
    opened = cell(view, "observe-it").locator(".lab-steps-plot")
    said, strip = opened.locator(".sentence"), opened.locator(".strip")
    assert "With h = 0.01 the slope comes out as 0.5361" in said.inner_text()
    opened.locator("svg.plot").focus()
    for _ in range(12):
        view.page.keyboard.press("ArrowLeft")
    assert "With h = 1e−14" in said.inner_text()
    assert "digits are left" in said.inner_text()
    assert strip.locator("s").first.inner_text().startswith("0.84147098480")
    view.page.keyboard.press("c")
    assert opened.get_by_label("central").is_checked()
    view.page.keyboard.press("Home")
    type_prediction(view, "best-question", "-16")
    assert "8 too little" in cell(view, "best-answer").locator("table").first.inner_text()
    game = cell(view, "share-game").locator(".lab-steps-plot")
    assert game.locator(".strip").is_hidden()
    game.locator("svg.plot").focus()
    for _ in range(5):
        view.page.keyboard.press("Enter")
        view.page.keyboard.press("ArrowLeft")
        view.page.keyboard.press("ArrowLeft")
    assert "5 of 5 tries used" in game.inner_text()
    assert "Your best step" in game.locator(".sentence").inner_text()
    photograph(view, screenshot, "03", ("question", "central-question", "rule", "share"))


def open_lesson_6(view: View, screenshot: Screenshot) -> None:
    """Count the entries of a tape and its bytes."""
    type_prediction(view, "entries-question", "2", "4")
    cell(view, "entries-answer").locator(".explorer").wait_for()
    assert "1 too much" in cell(view, "entries-answer").locator("table").first.inner_text()
    type_prediction(view, "bytes-question", "20000", "24000")
    compared = cell(view, "bytes-answer").locator("table").first
    compared.wait_for()
    assert "as predicted" in compared.inner_text()
    assert "4000 too much" in compared.inner_text()
    photograph(view, screenshot, "06", ("entries-question",))


def open_lesson_10(view: View, screenshot: Screenshot) -> None:
    """Walk the map of a Jacobian with the keys, and press an element."""
    type_prediction(view, "question", "72", "6")
    opened = cell(view, "observe-it").locator(".lab-jacobian-map")
    opened.wait_for()
    assert "6 too little" in cell(view, "observe-it").locator("table").first.inner_text()
    said = opened.locator(".said")
    assert "C[0,0] grows by 1 for each unit of A[0,0]" in said.inner_text()
    opened.locator(".board").focus()
    for key in ("ArrowDown", "ArrowRight"):
        view.page.keyboard.press(key)
    assert "row 2 of 6, column 2 of 12" in said.inner_text()
    assert "Bᵀ[1,1]" in said.inner_text()
    factor = opened.locator("svg").nth(1).locator(".lab-on.lab-entry")
    assert factor.get_attribute("visibility") == "visible"
    view.page.keyboard.press("End")
    assert "C[0,1] does not use A[2,3]" in said.inner_text()
    assert factor.get_attribute("visibility") == "hidden"
    opened.locator("rect[data-role=column][data-row='1'][data-column='2']").click()
    assert "of 12: C[0,1] does not use A[1,2]" in said.inner_text()
    for width in (1300, 640):
        for dark in (False, True):
            name = f"lesson-10-open-{width}-{'dark' if dark else 'light'}"
            screenshot(view, name, dark=dark, width=width, height=1200, of=opened)


def open_lesson_11(view: View, screenshot: Screenshot) -> None:
    """Predict three slopes, a nan and its birthplace by keys, then solve an exercise by typing."""
    type_prediction(view, "question", "1", "1", "0")
    opened = cell(view, "observe-it")
    opened.locator(".lab-gradcheck svg").first.wait_for()
    told = opened.locator("table").first.inner_text()
    assert "1 too little" in told
    assert "kinks that cancel" in told
    assert "the tape, dashed: 2" in (opened.locator(".lab-gradcheck svg").first.text_content() or "")
    for question, answer, choice in (("where-question", "where-answer", 3), ("blame-question", "blame-answer", 1)):
        cell(view, question).locator("input[type=radio]").nth(choice).focus()
        view.page.keyboard.press("Space")
        cell(view, question).get_by_role("button", name="Commit").press("Enter")
        cell(view, answer).locator(".explorer").wait_for()
    assert "as predicted" in cell(view, "where-answer").locator("table").first.inner_text()
    explorer = cell(view, "where-answer").locator(".explorer")
    explorer.locator(".graph").first.click(position={"x": 5, "y": 5})
    view.page.keyboard.press("End")
    explorer.filter(has_text="nan").wait_for()
    assert "sqrt made y = nan" in cell(view, "blame-answer").locator("pre").first.inner_text()
    assert "nan" in cell(view, "rule-in-code").locator("pre").last.inner_text()
    editor = cell(view, "transfer-answer").locator(".cm-content")
    editor.click()
    view.page.keyboard.press("Control+a")
    view.page.keyboard.type('lessons.check("11.5", "conversion", "before")')
    view.page.keyboard.press("Shift+Enter")
    cell(view, "transfer-answer").get_by_text("Passed.").wait_for()
    photograph(view, screenshot, "11", ("question", "own", "where-question", "blame-answer", "rule", "exercise"))


def open_lesson_13(view: View, screenshot: Screenshot) -> None:
    """Be both tapes: type what each op delivers, read which pass it is; open the fourth derivative."""
    for question, answer, choice in (("question", "observe-it", 0), ("fourth-question", "fourth-answer", 0)):
        cell(view, question).locator("input[type=radio]").nth(choice).check()
        cell(view, question).get_by_role("button", name="Commit").click()
        cell(view, answer).locator("table").first.wait_for()
    explorer = cell(view, "observe-it").locator(".explorer")
    explorer.wait_for()
    assert "not as predicted" in cell(view, "observe-it").locator("table").first.inner_text()
    assert "not as predicted" not in cell(view, "fourth-answer").locator("table").first.inner_text()
    assert cell(view, "fourth-answer").locator("svg.lab-static .lab-name").count() == 6  # f, four derivatives, x
    assert cell(view, "frames-nested").locator("img, svg.lab-frames").count() == 2
    keys = view.page.keyboard
    explorer.locator(".graph").first.click(position={"x": 5, "y": 5})
    keys.press("Home")
    passes: list[str] = []
    for _ in range(40):
        passes.append(explorer.locator(".live").inner_text())
        if "Step 17 of 17" in passes[-1]:
            break
        fields = explorer.locator(".asks input")
        if not fields.count():
            keys.press("ArrowRight")
        elif "Step 4," in passes[-1]:
            for field, number in zip(fields.all(), ("2", "4"), strict=True):
                field.fill(number)
            fields.last.press("Enter")
        else:
            fields.first.press("F3")
        view.page.wait_for_timeout(100)
    told = "\n".join(passes)
    assert "Step 2 of 17, forward: multiply" in told
    assert "Step 3 of 17, run by backward 1 from y: multiply" in told
    assert "Step 4 of 17, backward 1 from y: multiply" in told
    assert "Step 17 of 17, backward 2 from dy: multiply" in told
    labels = explorer.locator(".phases button, .phases option").all_inner_texts()
    assert labels == ["forward", "backward 1 from y", "backward 2 from dy"]
    photograph(view, screenshot, "13", ("question", "frames", "fourth-question"))


def open_lesson_15(view: View, screenshot: Screenshot) -> None:
    """Open the maps from threads to elements."""
    type_prediction(view, "question", "2", "4")
    cell(view, "observe-it").locator("svg.lab-chart").wait_for()
    assert cell(view, "observe-it").locator("svg.lab-chart .lab-idle").count() == 4
    assert "1 too little" in cell(view, "observe-it").locator("table").first.inner_text()
    type_prediction(view, "strided-question", "3")
    cell(view, "strided-answer").locator("svg.lab-chart").wait_for()
    cell(view, "sum-question").locator("input[type=radio]").first.check()
    cell(view, "sum-question").get_by_role("button", name="Commit").click()
    cell(view, "no-barrier").locator("svg.lab-chart").wait_for()
    assert "threads wait for each other by themselves" in cell(view, "no-barrier").inner_text()
    assert "/GPU:0" in cell(view, "tape-on-gpu").inner_text()
    photograph(view, screenshot, "15", ("hook", "question", "strided-question", "sum-question", "exercise", "account"))


def open_lesson_17(view: View, screenshot: Screenshot) -> None:
    """Count the calls, open the ledger of the faulty framework and its picture, and read PyTorch's advice."""
    type_prediction(view, "question", "2", "3", "4")
    explorer = cell(view, "observe-it").locator(".explorer")
    explorer.wait_for()
    assert "2 too little" in cell(view, "observe-it").locator("table").first.inner_text()
    assert cell(view, "fault-answer").get_by_text(LOCKED).count() == 2
    type_prediction(view, "fault-question", "11", "11")
    cell(view, "fault-answer").locator("pre", has_text="dy/dx = 3").wait_for()
    compared = cell(view, "fault-answer").locator("table").first.inner_text()
    assert "8 too much" in compared
    assert "as predicted" in compared
    faulty = cell(view, "fault-answer").locator(".explorer")
    faulty.wait_for()
    faulty.locator(".graph").first.click(position={"x": 5, "y": 5})
    view.page.keyboard.press("End")
    view.page.wait_for_timeout(200)
    cell(view, "dialect-question").locator("input[type=radio]").first.check()
    cell(view, "dialect-question").get_by_role("button", name="Commit").click()
    cell(view, "dialect-answer").locator("pre", has_text="requires_grad=True").wait_for()
    assert "not as predicted" in cell(view, "dialect-answer").locator("table").first.inner_text()
    photograph(
        view, screenshot, "17", ("question", "own-program", "fault-question", "fault-answer", "torch", "dialect-answer")
    )


@pytest.fixture
def screenshot(screenshot: Screenshot) -> Screenshot:
    """Photograph in `make screenshots`, and do nothing else: test_all_widgets.py shows what each view is made of.

    A lesson has fifty cells, and JupyterLab draws all of them again for another theme or width.
    """
    return screenshot if os.environ.get("SCREENSHOTS") == "1" else lambda *_, **__: None


OPEN = {
    "01": open_lesson_1,
    "02": open_lesson_2,
    "03": open_lesson_3,
    "04": open_lesson_4,
    "05": open_lesson_5,
    "06": open_lesson_6,
    "07": open_lesson_7,
    "08": open_lesson_8,
    "09": open_lesson_9,
    "10": open_lesson_10,
    "11": open_lesson_11,
    "12": open_lesson_12,
    "13": open_lesson_13,
    "14a": open_lesson_14a,
    "14b": open_lesson_14b,
    "15": open_lesson_15,
    "16": open_lesson_16,
    "17": open_lesson_17,
}
"""What a learner does in each lesson, and sees."""


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_a_lesson_runs_and_opens_with_a_prediction(
    path: Path, open_notebook: OpenNotebook, screenshot: Screenshot
) -> None:
    view = play(open_notebook, path)
    cells = view.page.locator(".jp-Notebook .jp-Cell")
    view.page.locator(PREDICTION).first.wait_for()
    view.page.locator(".jp-OutputArea .autodiff-lab").nth(1).wait_for(state="attached")
    view.page.get_by_text(LOCKED).first.wait_for(state="attached")
    assert not view.page.get_by_text("Error displaying widget").count()
    assert not view.page.locator("[data-mime-type='application/vnd.jupyter.error']").all_inner_texts()
    assert warnings_of(view) == saved_warnings(path), "only what the lesson is about"
    for number in range(0, cells.count() if os.environ.get("SCREENSHOTS") == "1" else 0, 8):
        for dark in (False, True):
            cells.nth(number).evaluate("cell => cell.scrollIntoView()")
            screenshot(view, f"lesson-{number_of(path.stem)}-{number:02d}-{'dark' if dark else 'light'}", dark=dark)
    before = pieces(view)
    assert missed(view) == []
    OPEN[number_of(path.stem)](view, screenshot)
    commit_the_rest(view)
    closed = opened(view, before)
    assert any(closed.outcomes.values())
    assert search(before, closed) == [], "read before anything was committed"
