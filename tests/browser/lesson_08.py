"""What a learner does in lesson 8, by keys."""

from __future__ import annotations

from tests.browser.cells import cell, photograph, type_prediction
from tests.browser.conftest import Screenshot
from tests.browser.view import View


def open_lesson_8(view: View, screenshot: Screenshot) -> None:
    """Step four engines to their audits, count visits, and find the broken engine of a case."""
    type_prediction(view, "question", "2", "27")
    side_by_side = cell(view, "observe-it").locator(".lab-engines")
    side_by_side.wait_for()
    compared = cell(view, "observe-it").locator("table").first.inner_text()
    assert "6 too much; this is what one gets if a value may deliver as soon as anything has arrived" in compared
    panels = side_by_side.locator(".engine")
    audits = side_by_side.locator(".audit")
    assert panels.count() == 4
    assert not any(audits.nth(which).is_visible() for which in range(4))
    side_by_side.locator("button").nth(2).focus()
    for _ in range(4):
        view.page.keyboard.press("ArrowRight")
    assert "booking 4 of 6" in side_by_side.inner_text()
    assert "which now holds 7" in panels.nth(0).locator(".said").inner_text()
    assert "which now holds 2" in panels.nth(1).locator(".said").inner_text()
    assert "Too early: 1 of 2 bookings of y" in panels.nth(2).locator(".said").inner_text()
    stamps = side_by_side.locator("text.lab-stamp")
    assert [text for text in stamps.all_text_contents() if text] == ["paid out early"] * 2
    view.page.keyboard.press("End")
    assert [audits.nth(which).inner_text() for which in range(4)] == [
        "dc/dx = 21 = 15 + 6",
        "dc/dx = 6; paths add to 21; 15 missing",
        "dc/dx = 27; paths add to 21; 6 too much",
        "dc/dx = 6; paths add to 21; 15 missing",
    ]
    view.page.keyboard.press("Home")
    assert "Before the first booking" in panels.nth(3).locator(".said").inner_text()
    view.page.keyboard.press("End")
    question = cell(view, "cost-question")
    question.locator("input[type=radio]").nth(0).focus()
    view.page.keyboard.press("Space")
    question.get_by_role("button", name="Commit").press("Enter")
    cell(view, "cost-table").locator("pre", has_text="15 doublings: 65,535 visits, 15 entries").wait_for()
    assert "not as predicted" in cell(view, "cost-answer").locator("table").first.inner_text()
    case = cell(view, "share-game").locator(".lab-whodunnit")
    asked = case.locator("table.evidence tr")
    before = asked.count()
    case.locator("select").focus()
    view.page.keyboard.press("Tab")
    view.page.keyboard.press("Enter")
    assert asked.count() == before + 1
    assert "9 of 10 points" in case.inner_text()
    case.get_by_role("button", name="Accuse OVERWRITE").press("Enter")
    assert "It was not." in case.inner_text()
    case.get_by_role("button", name="Accuse CLOSED").press("Enter")
    assert "Solved with 1 question: 6 of 10 points." in case.locator(".verdict").inner_text()
    photograph(view, screenshot, "08", ("question", "own", "cost", "share"))
