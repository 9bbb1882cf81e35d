"""What a learner does in lesson 16, and sees."""

from tests.browser.cells import cell, choose, photograph, type_code
from tests.browser.conftest import Screenshot
from tests.browser.view import View
from tests.lessons.answers import SOLVED


def open_lesson_16(view: View, screenshot: Screenshot) -> None:
    """Predict zero or None, look for a fault in the wrong line, ask for the diagnosis, and type every solution."""
    choose(view, "question", 0)
    opened = cell(view, "observe-it").locator(".explorer")
    opened.wait_for()
    compared = cell(view, "observe-it").locator("table").first.inner_text()
    assert "0 and None" in compared
    assert "this is what one gets if None means zero" in compared
    cell(view, "rule-in-code").locator("pre", has_text="floor False").wait_for()
    patient = cell(view, "case-7").locator(".lab-case")
    assert "returns nan and [nan, 0.25]" in patient.inner_text()
    assert patient.locator("svg .lab-name").count()
    diagnosis = type_code(view, "account-text", "print(case_7.diagnosis())")
    diagnosis.get_by_text("Closed until you have tried").wait_for()
    wrong = SOLVED["16"]["exercise-7"].replace('"16.7", 4', '"16.7", 5')
    type_code(view, "exercise-7", wrong).get_by_text("SYMPTOM_FOR_CAUSE").wait_for()
    type_code(view, "account-text", "print(case_7.diagnosis())").get_by_text("line 4, nan_forward").wait_for()
    for name, source in SOLVED["16"].items():
        passed = type_code(view, name, source).get_by_text("Passed.")
        passed.wait_for()
    assert "2 of 3 points" in cell(view, "exercise-7").locator(".jp-OutputArea-output").inner_text()
    type_code(view, "account-text", "print(lessons.ward())").get_by_text("29 of 30 points").wait_for()
    photograph(view, screenshot, "16", ("hook", "question", "rule", "case-7", "case-8"))
