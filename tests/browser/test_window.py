"""The picture in windows that change: it is as high as the window of now allows, whatever windows there were before."""

from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page

import autodiff_lab as lab
from autodiff_lab.recording import Recording
from tests.browser.conftest import OpenPage
from tests.browser.pages import explorer, save, take_focus

WITHOUT_PAGE = """() => {
    for (const { cssRules } of document.styleSheets) {
        for (const rule of cssRules) {
            if (/calc\\(100vh|flex: 1 0 min/.test(rule.cssText)) rule.style.cssText = "";
        }
    }
}"""
"""Undoes what fills a page with the picture, so that it has its own height, as in a notebook."""
NARROW = [(600, 600), (600, 450), (300, 300), (1400, 450)]


def tall() -> Recording:
    """Record many branches beside each other, which need the height."""
    x = lab.Variable(0.5, name="x")
    with lab.record(title="branches") as recording, lab.GradientTape() as tape:
        y = lab.add_n([op(x) for op in (lab.sin, lab.cos, lab.tan, lab.exp, lab.sqrt, lab.tanh, lab.square, lab.sinh)])
    tape.gradient(y, x)
    return recording


def opened(open_page: OpenPage, folder: Path, width: int) -> Locator:
    """Open the picture as a notebook shows it."""
    page = open_page(save(tall(), folder), width=width).page
    root = explorer(page)
    page.evaluate(WITHOUT_PAGE)
    return root


def height(root: Locator) -> int:
    """Height of the graph, once it has settled."""
    root.page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    return int(root.locator(".graph").evaluate("graph => graph.clientHeight"))


def resize(page: Page, width: int, height: int) -> None:
    page.set_viewport_size({"width": width, "height": height})


@pytest.mark.parametrize("touched", [False, True])
def test_a_picture_that_was_once_narrow_is_high_again(open_page: OpenPage, tmp_path: Path, touched: bool) -> None:
    root = opened(open_page, tmp_path, 1400)
    first = height(root)
    if touched:
        take_focus(root)
        root.page.keyboard.press("+")
    for size in NARROW:
        resize(root.page, *size)
        assert height(root) < first
    resize(root.page, 1400, 1000)
    assert height(root) == first


def test_a_picture_that_was_hidden_keeps_its_height(open_page: OpenPage, tmp_path: Path) -> None:
    root = opened(open_page, tmp_path, 1400)
    first = height(root)
    root.evaluate("root => { root.style.display = 'none'; }")
    assert height(root) == 0
    root.evaluate("root => { root.style.display = ''; }")
    assert height(root) == first


def test_the_height_stays_from_step_to_step(open_page: OpenPage, tmp_path: Path) -> None:
    root = opened(open_page, tmp_path, 900)
    resize(root.page, 900, 700)
    take_focus(root)
    seen = set[int]()
    for _ in range(20):
        root.page.keyboard.press("ArrowRight")
        seen.add(height(root))
    assert len(seen) == 1
