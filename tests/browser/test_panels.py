"""The panels of the explorer for everybody: axe with all of them open, and the elements of large values by keys."""

from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Locator

import autodiff_lab as lab
from autodiff_lab.recording import Recording
from tests.browser.conftest import OpenPage, Screenshot
from tests.browser.pages import explorer, save, take_focus
from tests.tree import ROOT

AXE = ROOT / "tests" / "javascript" / "node_modules" / "axe-core" / "axe.min.js"
VIOLATIONS = """async () => (await axe.run(document)).violations
    .map(({ id, nodes }) => `${id}: ${nodes.map(node => node.target).join(", ")}`)"""


def large() -> Recording:
    w = lab.Variable(np.arange(240.0).reshape(20, 12), name="w")
    with lab.record(title="a large value") as recording:
        with lab.GradientTape(persistent=True) as tape:
            square = w * w
            loss = lab.reduce_sum(square)
        tape.gradient(loss, w)
        tape.gradient(square, w)
    return recording


@pytest.fixture
def root(open_page: OpenPage, tmp_path: Path) -> Locator:
    found = explorer(open_page(save(large(), tmp_path)).page)
    take_focus(found)
    return found


def tell(root: Locator, name: str) -> None:
    """Show the card of a tensor."""
    take_focus(root)
    root.page.keyboard.press("/")
    root.page.keyboard.type(name)
    root.page.keyboard.press("Escape")


def test_elements_that_were_summed_up_are_computed_page_by_page(root: Locator) -> None:
    tell(root, "square")
    summary = root.locator(".elements summary")
    assert summary.inner_text() == "Its 240 elements"
    summary.focus()
    root.page.keyboard.press("Enter")
    rows = root.locator(".elements tr")
    rows.first.wait_for()
    assert rows.count() == 12
    assert rows.nth(1).inner_text().split() == ["[0,", "6]", "36", "49", "64", "81", "100", "121"]
    assert "computed in this page" in root.locator(".elements").inner_text()
    root.get_by_role("button", name="next", exact=True).focus()
    root.page.keyboard.press("Space")
    assert root.locator(".elements [role=status]").inner_text() == "rows 13 to 24 of 40"
    assert rows.first.inner_text().split()[:3] == ["[6,", "0]", "5184"]
    root.get_by_role("button", name="previous", exact=True).click()
    assert root.get_by_role("button", name="previous", exact=True).is_disabled()


def test_elements_that_were_kept_say_nothing_of_computing(root: Locator) -> None:
    tell(root, "w")
    root.locator(".elements summary").click()
    assert root.locator(".elements tr").first.inner_text().split()[2:5] == ["0", "1", "2"]
    assert "computed" not in root.locator(".elements").inner_text()


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("dark", [False, True])
def test_axe_finds_nothing_with_every_panel_open(
    open_page: OpenPage, tmp_path: Path, screenshot: Screenshot, dark: bool
) -> None:
    if not AXE.exists():
        pytest.skip("axe-core is not installed; `make javascript` installs it")
    view = open_page(save(large(), tmp_path), dark=dark)
    root = explorer(view.page)
    take_focus(root)
    for key in ("s", "t", "G", "?", "b"):
        view.page.keyboard.press(key)
        if key == "b":
            view.page.keyboard.type("op=tan")
            view.page.keyboard.press("Enter")
            view.page.keyboard.press("Escape")
    view.page.keyboard.press("b")
    tell(root, "square")
    root.locator(".elements summary").click()
    screenshot(view, f"explorer-panels{'-dark' * dark}", dark=dark)
    view.page.evaluate(AXE.read_text(encoding="utf-8"))
    assert view.page.evaluate(VIOLATIONS) == []


def test_the_source_panel_and_the_breakpoints_are_reached_by_tab(root: Locator) -> None:
    page = root.page
    page.keyboard.press("s")
    for _ in range(12):
        page.keyboard.press("Shift+Tab")
        if page.evaluate("() => document.activeElement.classList.contains('source')"):
            break
    assert root.get_by_role("region", name="Source").evaluate("panel => panel === document.activeElement")
    page.keyboard.press("ArrowDown")
    assert root.locator(".box.selected").count() == 1
    page.keyboard.press("b")
    assert root.get_by_label("Stop where").evaluate("field => field === document.activeElement")
    page.keyboard.press("Escape")
    assert root.locator(".graph").evaluate("graph => graph === document.activeElement")
