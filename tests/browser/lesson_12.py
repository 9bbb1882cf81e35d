"""What a learner does in lesson 12, by keys: moves the start, holes in two, looks at the gradients of ten layers."""

from tests.browser.cells import cell, choose, photograph, type_code, type_prediction
from tests.browser.conftest import Screenshot
from tests.browser.view import View
from tests.lessons.answers import SOLVED


def open_lesson_12(view: View, screenshot: Screenshot) -> None:
    """Commit all three predictions, play both games to the end, and pass the check of the second."""
    keys = view.page.keyboard
    type_prediction(view, "question", "0")
    field = cell(view, "observe-it").locator(".lab-surface")
    field.wait_for()
    compared = cell(view, "observe-it").locator("table").first.inner_text()
    assert "39.3 too little; this is what one gets if minus the gradient points to the minimum" in compared
    field.locator("svg.plot").focus()
    keys.press("ArrowRight")
    field.locator(".sentence", has_text="step 1 of 50, at (9.5, 0.5)").wait_for()
    for _ in range(2):
        keys.press("Shift+ArrowLeft")
    field.locator(".head", has_text="from (9.04, 1)").wait_for()
    field.locator(".sentence", has_text="step 1 of 50, at (8.588, 0.5)").wait_for()  # the kernel ran the path again

    type_prediction(view, "limit-question", "2")
    assert "the flattest direction" in cell(view, "limit-answer").locator("table").first.inner_text()
    course = cell(view, "limit-answer").locator(".lab-golf")
    course.wait_for()
    course.locator("svg.plot").focus()
    keys.press("s")
    for _ in range(5):
        keys.press("ArrowRight")
    assert "always takes 0.1 needs 85 strokes" in course.inner_text()
    assert "this error is gone" in (course.locator(".bars").text_content() or "")
    keys.press("Enter")
    assert "Stroke 1: 0.1 to (9, 0), f = 40.5." in course.inner_text()
    course.locator("input.length").fill("1")
    course.locator("input.length").press("Enter")
    assert course.inner_text().startswith("Golf on valley: 2 strokes, par 3, best 2")
    assert "In the hole after 2 strokes, 1 under par." in course.inner_text()
    keys.press("Escape")

    choose(view, "layers-question", 0)
    health = cell(view, "layers-answer").locator(".lab-training")
    health.wait_for()
    assert "not as predicted" in cell(view, "layers-answer").locator("table").first.inner_text()
    assert health.locator("tbody tr").count() == 22
    assert "they hardly learn" in health.inner_text()
    cell(view, "own-network").locator(".lab-training").wait_for()

    game = cell(view, "exercise-play").locator(".lab-golf")
    game.locator("input.length").focus()
    for length in ("1/10", "1/6"):
        keys.press("Control+A")
        keys.type(length)
        keys.press("Enter")
    game.get_by_text("In the hole after 2 strokes").first.wait_for()
    keys.press("Tab")  # leaving the field keeps all digits of 1/6
    assert "this error is gone" in (game.locator(".bars").text_content() or "")
    played = {**SOLVED["12"], "exercise-par": 'lessons.check("12.5", game)'}
    for name, source in played.items():
        type_code(view, name, source).get_by_text("Passed.").wait_for()
    photograph(view, screenshot, "12", ("question", "again", "layers", "rule", "exercise", "exercise-five", "share"))
