"""What a learner does in lesson 4, by keys: merges the parts of a tree, moves n, and types every solution."""

from tests.browser.cells import cell, choose, photograph, type_code, type_prediction
from tests.browser.conftest import Screenshot
from tests.browser.view import View
from tests.lessons.answers import SOLVED


def open_lesson_4(view: View, screenshot: Screenshot) -> None:
    """Commit all three predictions, merge the tree of 43 signs and then that of 91, and solve the exercises."""
    keys = view.page.keyboard
    type_prediction(view, "question", "91", "50")
    opened = cell(view, "observe-it").locator(".lab-swell")
    opened.wait_for()
    compared = cell(view, "observe-it").locator("table").first.inner_text()
    assert "79 too much; this is what one gets if a tape is as long as the formula" in compared
    assert "every line of a program leaves one entry" in compared
    assert "derivative" not in (opened.text_content() or "")
    tree, said = opened.locator("svg.tree"), opened.locator(".sentence").first
    assert tree.locator(".node").count() == 43
    tree.focus()
    for key in ("ArrowRight", "ArrowLeft", "ArrowDown", "ArrowLeft", "ArrowDown"):
        keys.press(key)
    assert said.inner_text().startswith("4·(4·x·(1 − x))·(1 − 4·x·(1 − x)) stands 2 times in the formula, 2 times in")
    assert tree.locator(".node.copy").count() == 1
    keys.press("Enter")
    assert "is needed 2 times, and is one node now" in said.inner_text()
    assert tree.locator(".node").count() == 43 - 19
    keys.press("m")
    assert tree.locator(".node").count() == 12
    keys.press("+")
    assert "91" in opened.locator("tr", has_text="formula").inner_text()
    assert "15 parts, no two alike. 12 of them are ops: the 12 entries of the tape." in said.inner_text()
    keys.press("w")
    assert "91 nodes are too many to draw. Merge equal parts." in (tree.text_content() or "")
    opened.locator("input[type=range]").focus()
    keys.press("End")
    opened.get_by_text("n = 60").first.wait_for()

    type_prediction(view, "signs-question", "182")
    both = cell(view, "signs-answer").locator(".lab-swell")
    both.wait_for()
    assert "395 too little" in cell(view, "signs-answer").locator("table").first.inner_text()
    assert "577" in both.locator("tr", has_text="its derivative").inner_text()
    both.locator("svg.tree").focus()
    keys.press("m")
    assert both.locator(".node").count() == 15
    for _ in range(46):
        keys.press("+")
    assert "is a pile of 17 million km: 44 times as far as the moon" in both.inner_text()
    keys.press("Escape")
    cell(view, "own-step").locator(".lab-swell").wait_for()
    assert "x ← x·x + 0.3, 3 times" in cell(view, "own-step").inner_text()

    choose(view, "digits-question", 0)
    cell(view, "digits-answer").locator("table").first.wait_for()
    told = cell(view, "digits-answer").locator("table").first.inner_text()
    assert "this is what one gets if an exact derivative belongs to an exact result" in told
    cell(view, "lost").locator("pre", has_text="0.5600  0.5392").wait_for()
    cell(view, "rule-in-code").locator("pre", has_text="577").wait_for()
    for name, source in SOLVED["04"].items():
        type_code(view, name, source).get_by_text("Passed.").wait_for()
    photograph(
        view, screenshot, "04", ("hook", "question", "observe", "again", "own", "third", "rule", "exercise", "share")
    )
