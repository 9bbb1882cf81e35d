"""Each lesson in a real JupyterLab: it runs from top to bottom, its pictures are there, and a prediction opens them."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator

from tests.browser.conftest import OpenNotebook
from tests.browser.view import View
from tests.tree import ROOT

LESSONS = sorted((ROOT / "notebooks").glob("[0-9][0-9]_*.ipynb"))
PREDICTION = ".autodiff-lab-prediction"
LOCKED = "Closed until you commit a prediction above."


def show_all(view: View) -> None:
    """Render every cell: JupyterLab keeps those that are out of sight out of the page."""
    view.page.evaluate(
        """() => {
            const { content } = window.jupyterapp.shell.currentWidget;
            content.notebookConfig = { ...content.notebookConfig, windowingMode: 'none' };
        }"""
    )
    view.page.wait_for_timeout(500)


def cell(view: View, name: str) -> Locator:
    """Return the cell with this id."""
    index = view.page.evaluate(
        """name => window.jupyterapp.shell.currentWidget.content.widgets
            .findIndex(cell => cell.model.id === name)""",
        name,
    )
    return view.page.locator(".jp-Notebook .jp-Cell").nth(index)


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_a_lesson_runs_and_looks_as_it_should(
    path: Path, open_notebook: OpenNotebook, screenshot: Callable[..., Path]
) -> None:
    view = open_notebook(path)
    show_all(view)
    cells = view.page.locator(".jp-Notebook .jp-Cell")
    assert view.page.locator(".jp-OutputArea .jupyter-widgets").count() >= 2
    assert view.page.locator(PREDICTION).count() >= 1
    assert view.page.get_by_text(LOCKED).count() >= 1
    assert not view.page.get_by_text("Error displaying widget").count()
    for number in range(0, cells.count(), 4):
        for dark in (False, True):
            cells.nth(number).evaluate("cell => cell.scrollIntoView()")
            screenshot(view, f"lesson-{path.stem[:2]}-{number:02d}-{'dark' if dark else 'light'}", dark=dark)
