"""What a learner does in lesson 5, and sees."""

from tests.browser.cells import cell, choose, photograph, type_code
from tests.browser.conftest import Screenshot
from tests.browser.view import View
from tests.lessons.answers import SOLVED


def open_lesson_5(view: View, screenshot: Screenshot) -> None:
    """Predict what one sweep gives, ask for the tangents of a locked one, and type every solution."""
    choose(view, "question", 0)
    cell(view, "both-seeded").locator(".explorer").first.wait_for()
    assert "not as predicted" in cell(view, "both-seeded").locator("table").first.inner_text()
    fields = cell(view, "count-question").locator("input")
    fields.nth(0).fill("2410")
    fields.nth(1).fill("1")
    cell(view, "count-question").get_by_role("button", name="Commit").press("Enter")
    cell(view, "count-answer").locator("table").first.wait_for()
    assert "as predicted" in cell(view, "count-answer").locator("table").first.inner_text()
    locked = cell(view, "own-function").locator(".explorer").first
    locked.wait_for()
    locked.locator(".graph").first.click(position={"x": 5, "y": 5})
    field = locked.locator(".asks input").first
    if not field.count():
        view.page.keyboard.press("End")
    field.wait_for()
    asked = field.element_handle()
    field.fill("1e9")
    field.press("Enter")
    locked.get_by_text("Not yet").wait_for()
    field.press("F3")
    view.page.wait_for_function("asked => !asked.isConnected", arg=asked)
    for name, source in SOLVED["05"].items():
        type_code(view, name, source).get_by_text("Passed.").wait_for()
    photograph(view, screenshot, "05", ("question", "both-seeded", "own-function"))
