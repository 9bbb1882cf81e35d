"""The page of lesson 4: without a kernel any step can be typed, and the page says how far its formula reaches."""

from pathlib import Path

import pytest

from autodiff_lab import lessons
from tests.browser.conftest import OpenPage, Screenshot


@pytest.mark.slow
@pytest.mark.parametrize("width", [1300, 640])
def test_a_step_is_typed_and_its_parts_are_merged(
    width: int, tmp_path: Path, open_page: OpenPage, screenshot: Screenshot
) -> None:
    file = lessons.swell(lambda x: 4 * x * (1 - x), 3).to_html(tmp_path / "formula.html")
    view = open_page(file, width=width)
    page, keys = view.page, view.page.keyboard
    field, problem = page.locator("input.step"), page.locator(".problem")
    far = page.locator(".sentence").last
    assert field.input_value() == "4·x·(1 − x)"
    assert "It reaches the door at n = 19, Mount Everest at n = 30, the moon at n = 45, the Sun at n = 54." in (
        far.inner_text()
    )
    field.fill("4y(1 - y)")
    assert '"y" is not known.' in problem.inner_text()
    assert page.locator(".head").inner_text() == "x ← 4·x·(1 − x), 3 times"
    field.fill("x + 0.5")
    assert problem.inner_text() == ""
    assert "It does not reach the door in 60 rounds." in far.inner_text()
    field.fill("x^2 + sin(x)")
    assert page.locator(".head").inner_text() == "x ← x^2 + sin(x), 3 times"
    nodes = page.locator(".tree .node")
    assert nodes.count() == 36
    page.locator(".tree").focus()
    keys.press("m")
    assert nodes.count() == 11
    assert "9 of them are ops: the 9 entries of the tape." in page.locator(".sentence").nth(1).inner_text()
    assert page.get_by_role("button", name="Make all copies").is_disabled()
    page.get_by_role("button", name="Write every part").press("Enter")
    nodes.filter(has_text="sin").first.click()
    assert nodes.count() < 36
    for dark in (False, True):
        screenshot(view, f"swell-page-{width}-{'dark' if dark else 'light'}", dark=dark, width=width)
