"""Breakpoints in a page: a condition is typed, and keys run to the steps that meet it."""

from pathlib import Path

import pytest

import autodiff_lab as lab
from autodiff_lab.recording import Recording
from tests.browser.conftest import OpenPage, Screenshot
from tests.browser.pages import explorer, read_step, save, take_focus


def with_a_nan() -> Recording:
    x = lab.Variable([0.0, 4.0], name="x")
    with lab.record(title="breakpoints") as recording:
        with lab.GradientTape() as tape:
            root = lab.sqrt(x)
            loss = lab.reduce_sum(lab.where(x > 1.0, root, x))
        tape.gradient(loss, x)
    return recording


def test_a_page_runs_to_the_steps_that_meet_a_condition(open_page: OpenPage, tmp_path: Path) -> None:
    root = explorer(open_page(save(with_a_nan(), tmp_path)).page)
    page, answer = root.page, root.locator(".breakpoints .detail")
    take_focus(root)
    page.keyboard.press("Home")
    page.keyboard.press("b")
    page.keyboard.type('op="sqrt"')
    page.keyboard.press("Enter")
    assert read_step(root)["step"] == 1
    assert answer.inner_text() == "Stopped at step 1 (1 of 2)."
    page.keyboard.press("Escape")
    assert root.locator(".breakpoints").is_hidden()
    page.keyboard.press(".")
    assert "backward: sqrt" in read_step(root)["live"]
    page.keyboard.press(".")
    assert answer.inner_text() == "No later step meets this, 2 in all do."
    page.keyboard.press(",")
    assert read_step(root)["step"] == 1
    page.keyboard.press("b")
    page.keyboard.press("Control+a")
    page.keyboard.type("op=tan")
    page.keyboard.press("Enter")
    assert 'No step runs "tan"; there are' in answer.inner_text()
    assert read_step(root)["step"] == 1


@pytest.mark.slow
def test_the_first_number_that_is_too_large_is_found(
    open_page: OpenPage, tmp_path: Path, screenshot: Screenshot
) -> None:
    for width, dark in ((1300, False), (640, True)):
        view = open_page(save(with_a_nan(), tmp_path), width=width)
        root = explorer(view.page)
        take_focus(root)
        view.page.keyboard.press("Home")
        view.page.keyboard.press("b")
        view.page.keyboard.type("condition=value > 1")
        root.get_by_role("button", name="Run").click()
        assert read_step(root)["step"] == 1, "the square root of 4"
        screenshot(view, f"explorer-breakpoints-{width}", dark=dark, width=width)
