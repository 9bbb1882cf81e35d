"""A locked explorer shows nothing ahead of the lock, whatever key is pressed, and opens step by step."""

import pytest
from playwright.sync_api import Locator

from tests.browser.conftest import OpenNotebook

PROGRAM = """
import autodiff_lab as lab
from autodiff_lab import lessons

x, y = lab.Variable(3.17, name="x"), lab.Variable(1.71, name="y")
with lab.record() as recording:
    with lab.GradientTape() as tape:
        a = x * y
        b = lab.sin(a)
        f = b * x
    tape.gradient(f, [x, y])
lessons.locked_stepper(recording)
"""
AHEAD = ["2.062", "2.767", "3.526", "6.537"]
"""How the numbers begin that only the pass computes; 2.767 is the gradient of x."""
ANSWERS = [(("3.17", "-0.76"), []), (("2.06",), ["2.062"]), (("3.53", "6.54"), AHEAD)]
"""What the steps of the pass ask for, rounded to three digits or two, and the numbers that are seen then."""
KEYS = ["a", "d", "e", "e", "p", "ArrowUp", "p", "n", "N", "c", "i", "End", "Home", "]", "[", "Enter", "f", "t"]


def told(explorer: Locator) -> list[str]:
    """Return which numbers are in the picture, the card or the table: in text, titles or other attributes."""
    return list(explorer.evaluate("(root, numbers) => numbers.filter(n => root.outerHTML.includes(n))", AHEAD))


@pytest.mark.slow
def test_no_key_tells_what_is_ahead_of_the_lock(open_notebook: OpenNotebook) -> None:
    view = open_notebook([PROGRAM])
    explorer, keys = view.page.locator(".explorer"), view.page.keyboard
    explorer.wait_for()
    graph = explorer.locator(".graph").first
    boxes = explorer.locator(".graph [data-key]").count() or 5
    for _ in range(boxes + 1):
        graph.focus()
        keys.press("ArrowDown")
        for key in KEYS:
            graph.focus()
            keys.press(key)
            assert told(explorer) == [], key
        keys.press("Escape")
    graph.focus()
    keys.press("/")
    keys.type("2.0")
    assert told(explorer) == []
    keys.press("Escape")
    colours = explorer.locator("select[name=color]")
    assert colours.locator("option").all_inner_texts() == ["nothing", "value norm", "bytes"]
    for colour in ("value norm", "bytes"):
        colours.select_option(colour)
        assert told(explorer) == []


@pytest.mark.slow
def test_each_answer_opens_its_step_and_no_other(open_notebook: OpenNotebook) -> None:
    view = open_notebook([PROGRAM])
    explorer, keys = view.page.locator(".explorer"), view.page.keyboard
    explorer.wait_for()
    explorer.locator(".graph").first.focus()
    keys.press("t")
    known: list[str] = []
    for answers, opened in ANSWERS:
        keys.press("ArrowRight")
        fields = explorer.locator(".asks input")
        fields.first.wait_for()
        assert fields.count() == len(answers)
        fields.first.fill("9.99")
        fields.first.press("Enter")
        explorer.locator(".asks").get_by_text("Not yet: that is not what goes to").wait_for()
        fields.first.fill("ten")
        fields.first.press("Enter")
        explorer.locator(".asks").get_by_text("type a number").wait_for()
        for shown in (True, False):  # the keys open from within the field, and close again
            fields.first.press("?")
            assert explorer.locator(".help").is_visible() == shown
            assert fields.first.input_value() == "ten"
        assert told(explorer) == known
        for at, answer in enumerate(answers):
            fields.nth(at).fill(answer)
        fields.last.press("Enter")
        fields.first.wait_for(state="detached")
        known = opened
        assert told(explorer) == known
