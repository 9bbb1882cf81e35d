"""What a learner does in lesson 9, and sees."""

from tests.browser.cells import cell, choose, photograph, type_code
from tests.browser.conftest import Screenshot
from tests.browser.view import View
from tests.lessons.answers import SOLVED


def open_lesson_9(view: View, screenshot: Screenshot) -> None:
    """Predict a shape, a loss and a gradient, type every solution, and play the drill."""
    choose(view, "question", 0)
    opened = cell(view, "observe-it").locator(".explorer")
    opened.wait_for()
    compared = cell(view, "observe-it").locator("table").first.inner_text()
    assert "(100, 100)" in compared
    assert "a difference of n numbers and n numbers is n numbers" in compared
    opened.locator(".graph").first.click(position={"x": 5, "y": 5})
    view.page.keyboard.press("End")
    assert "sum axis 1" in opened.inner_text()
    choose(view, "loss-question", 0)
    cell(view, "loss-answer").locator("table").first.wait_for()
    assert "not as predicted" in cell(view, "loss-answer").locator("table").first.inner_text()
    choose(view, "gradient-question", 2)
    cell(view, "gradient-answer").locator("table").first.wait_for()
    assert "not as predicted" not in cell(view, "gradient-answer").locator("table").first.inner_text()
    cell(view, "both-trained").locator("pre", has_text="bias 9.02, loss from 155.83 to 74.43").wait_for()
    cell(view, "own-shapes").locator(".explorer .grids").first.wait_for()
    for name, source in SOLVED["09"].items():
        type_code(view, name, source).get_by_text("Passed.").wait_for()
    drill = cell(view, "share-drill").locator(".lab-drill")
    drill.locator("input").focus()
    for typed in ("3 4 5", "1"):
        view.page.keyboard.type(typed)
        view.page.keyboard.press("Enter")
    drill.get_by_text("Summed: axis 0, which b does not have; axis 2, where b has 1 and the result 5.").wait_for()
    view.page.keyboard.press("Enter")
    assert "2 of 10 · 1 right" in drill.inner_text()
    while "right in" not in drill.inner_text():
        view.page.keyboard.type("x")
        view.page.keyboard.press("Enter")
        view.page.keyboard.press("Enter")
    photograph(view, screenshot, "09", ("question", "observe-it", "both-trained", "own-shapes", "exercise", "share"))
