"""Every widget: photographs in both themes and widths, hostile names, two views of which one is closed."""

from pathlib import Path

import pytest

from tests.browser.conftest import OpenNotebook, OpenPage, Screenshot
from tests.browser.test_panels import AXE, VIOLATIONS
from tests.tree import ROOT
from tests.widgets.examples import EXAMPLES, NAMED, write
from tests.widgets.test_bad_input import NAMES

WIDE = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"


@pytest.mark.slow
@pytest.mark.parametrize("kind", EXAMPLES)
def test_a_widget_in_both_themes_and_widths(
    kind: str, open_page: OpenPage, tmp_path: Path, screenshot: Screenshot
) -> None:
    view = open_page(write(EXAMPLES[kind]("f"), tmp_path / "page.html"))
    root = view.page.locator(".autodiff-lab .autodiff-lab, main .autodiff-lab, .explorer").first
    root.wait_for()
    for dark in (False, True):
        for width in (1300, 640):
            screenshot(view, f"widget-{kind}-{width}-{'dark' if dark else 'light'}", dark=dark, width=width)
            assert view.page.evaluate(WIDE) <= 0, "nothing sticks out of the page"
    if not AXE.exists():
        pytest.skip("axe-core is not installed; `make javascript` installs it")
    view.page.evaluate(AXE.read_text(encoding="utf-8"))
    assert view.page.evaluate(VIOLATIONS) == []


@pytest.mark.slow
@pytest.mark.parametrize("kind", NAMED)
def test_a_hostile_name_is_text_and_breaks_nothing(kind: str, open_page: OpenPage, tmp_path: Path) -> None:
    for name in (NAMES["markup"], NAMES["right to left"] + NAMES["emoji"], NAMES["10,000 characters"]):
        view = open_page(write(EXAMPLES[kind](name), tmp_path / "page.html"), width=640)
        view.page.locator("main > *").first.wait_for()
        assert view.page.evaluate("() => window.broken") is None
        assert view.page.locator("main img, main script").count() == 0
        assert view.page.evaluate(WIDE) <= 0, name[:40]


@pytest.mark.slow
def test_two_views_of_each_model_one_of_them_closed(open_notebook: OpenNotebook) -> None:
    made = [f"shown = EXAMPLES[{kind!r}]('f')\nshown" for kind in EXAMPLES]
    cells = [f"import sys\nsys.path.insert(0, {str(ROOT)!r})\nfrom tests.widgets.examples import EXAMPLES"]
    for cell in made:
        cells += [cell, "shown"]
    view = open_notebook(cells)
    page = view.page
    page.evaluate(
        """() => {
            const cells = window.jupyterapp.shell.currentWidget.content.widgets;
            for (let at = 1; at < cells.length; at += 2) cells[at].model.outputs.clear();
        }"""
    )
    for at in range(len(EXAMPLES)):
        closed, cell = (page.locator(".jp-Notebook .jp-Cell").nth(1 + 2 * at + k) for k in (0, 1))
        cell.scroll_into_view_if_needed()
        root = cell.locator(".autodiff-lab").first
        root.wait_for()
        root.locator("[tabindex='0'], button, input").first.focus()
        for key in ("ArrowRight", "ArrowLeft", "End"):
            page.keyboard.press(key)
        assert root.is_visible()
        assert not closed.locator(".autodiff-lab").count()
