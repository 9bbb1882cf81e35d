"""A case of the clinic on a page: solved by keys, with a wrong line and a wrong cause on the way."""

from pathlib import Path

from autodiff_lab import lessons
from tests.browser.conftest import OpenPage, Screenshot


def test_a_case_is_solved_on_its_page_by_keys(open_page: OpenPage, screenshot: Screenshot, tmp_path: Path) -> None:
    view = open_page(lessons.case(7).to_html(tmp_path / "case.html"))
    root, keys = view.page.locator(".lab-clinic"), view.page.keyboard
    said, cause = root.locator(".verdict"), root.get_by_label("Cause")
    assert "returns nan and [nan, 0.25]" in root.inner_text()
    assert "sqrt(x - 2.0)" not in said.inner_text()

    def answer(line: int, name: str) -> str:
        root.get_by_role("button", name=f"Line {line}: ").focus()
        keys.press("Enter")
        cause.select_option(name)
        root.get_by_role("button", name="Answer").press("Enter")
        return said.inner_text()

    root.get_by_role("button", name="Answer").press("Enter")
    assert said.inner_text() == "Point at a line and name a cause first. Left: 3 of 3 points."
    assert "Left: 2 of 3 points" in answer(5, "nan_forward")
    assert "An earlier line passed it on" in said.inner_text()
    assert "Left: 1 of 3 points" in answer(4, "broadcast")
    for width in (1300, 640):
        for dark in (False, True):
            screenshot(view, f"clinic-page-{width}-{'dark' if dark else 'light'}", dark=dark, width=width)
    assert "Line and cause are right: 1 of 3 points." in answer(4, "nan_forward")
    assert "sqrt made root[0] = nan" in root.locator("pre").last.inner_text()
    assert root.get_by_role("button", name="Answer").is_disabled()
