"""What a learner does in lesson 2: sketches by keys and by pen, and is told the idea behind a wrong sketch."""

import re

from tests.browser.cells import cell, choose, photograph, type_code, type_prediction
from tests.browser.conftest import Screenshot
from tests.browser.view import View
from tests.lessons.answers import SOLVED

PLACES = ("hook", "again", "observe", "own-function", "level", "rule", "exercise", "exercise-four", "share")
RANGE = 20
"""Presses of an arrow from 0 to the top of the panel."""


def draw_by_keys(view: View, pad: str, heights: list[float]) -> None:
    """Move the nine handles of the pad in a cell to these parts of the panel's height."""
    keys = view.page.keyboard
    cell(view, pad).locator("svg.pad").focus()
    for height in heights:
        keys.press("ArrowRight")
        for _ in range(abs(round(height * RANGE))):
            keys.press("ArrowUp" if height > 0 else "ArrowDown")


def draw_by_pen(view: View, pad: str, heights: list[float]) -> None:
    """Draw a line with the pointer through these parts of the height, from the left end to the right one."""
    svg = cell(view, pad).locator("svg.pad")
    svg.scroll_into_view_if_needed()
    box = svg.bounding_box()
    assert box is not None
    left, width, middle, half = box["x"] + 56, box["width"] - 80, box["y"] + 385, 115
    view.page.mouse.move(left, middle - half * heights[0])
    view.page.mouse.down()
    for k, height in enumerate(heights):
        view.page.mouse.move(left + width * k / (len(heights) - 1), middle - half * height, steps=4)
    view.page.mouse.up()


def open_lesson_2(view: View, screenshot: Screenshot) -> None:
    """Commit all three predictions, two of them wrong, draw f′ and f″, and pass every check by keys."""
    keys = view.page.keyboard
    choose(view, "question", 3)
    cell(view, "prices-answer").get_by_text("the derivative looks like the function").wait_for()
    asked = cell(view, "sketch-question").locator(".lab-sketch-pad")
    asked.locator("svg.pad").focus()
    keys.press("Enter")
    asked.get_by_text("Draw over the whole width first; nothing is drawn yet.").wait_for()
    keys.press(".")
    asked.get_by_text("the straight line is the tangent").wait_for()  # the slope itself is not told before
    draw_by_keys(view, "sketch-question", [-0.25, 0.1, 0.15, 0.1, 0, -0.1, -0.15, -0.1, 0.25])
    assert "Handle 9 of 9, at x = 2.2" in asked.inner_text()
    keys.press("Enter")
    asked.get_by_text("this is what one gets if the derivative looks like the function").wait_for()
    opened = cell(view, "observe-it").locator(".lab-sketch-pad")
    opened.wait_for()
    compared = cell(view, "observe-it").locator("table").first.inner_text()
    assert "above 0 until −1, below until 1, above" in compared
    cell(view, "sketch-question").get_by_text("You drew a curve below 0 until").wait_for()

    opened.locator("svg.pad").focus()
    for _ in range(8):
        keys.press(".")
    opened.get_by_text("the height of the dot below").wait_for()
    assert opened.locator("circle.role-backward").count() >= 16
    draw_by_pen(view, "observe-it", [0.77, 0.35, 0.04, -0.14, -0.2, -0.14, 0.04, 0.35, 0.77])
    words = opened.locator(".words").inner_text()
    assert re.fullmatch(r"Your sketch: above 0 until −[01][.\d]*, below until [01][.\d]*, above\.", words), words
    keys.press("Enter")
    opened.get_by_text("of 100: this is f′(x).").wait_for()
    assert opened.locator("rect.sign").count() == 4
    keys.press("n")
    opened.locator(".head", has_text="Draw f″(x): how steep is f′(x)?").wait_for()
    draw_by_keys(view, "observe-it", [-0.65, -0.5, -0.35, -0.15, 0, 0.15, 0.35, 0.5, 0.65])
    keys.press("Enter")
    opened.get_by_text("of 100: this is f″(x).").wait_for()
    keys.press("Escape")

    type_prediction(view, "level-question", "2", "2")
    cell(view, "level-answer").locator(".autodiff-lab svg").first.wait_for()
    cell(view, "level-answer").get_by_text("where the slope is 0 there is a highest or lowest point").wait_for()
    cell(view, "rule-in-code").get_by_text("g′ is 0 at 3: − before, + after").wait_for()
    assert "100" not in cell(view, "share-game").locator(".sentence").first.inner_text()

    dealt = cell(view, "exercise-pad").locator(".lab-sketch-pad")
    assert dealt.get_by_role("button", name="Lay the derivative").is_hidden()
    draw_by_keys(view, "exercise-pad", [0, 0, 0, 0.05, 0.05, 0.05, 0, -0.2, -0.85])
    keys.press("n")
    dealt.get_by_text("function 2 of 3").wait_for()
    for name, source in SOLVED["02"].items():
        type_code(view, name, source).get_by_text("Passed.").wait_for()
    dealt.get_by_text("of 100: this is g′(x).").wait_for()  # a passed check shows the derivatives
    photograph(view, screenshot, "02", PLACES)
