"""The cells of a lesson in a browser: find one, answer its question, type into it, photograph it."""

import os
from collections.abc import Sequence

from playwright.sync_api import Locator

from tests.browser.conftest import Screenshot
from tests.browser.view import View

PREDICTION = ".autodiff-lab-prediction"


def cell(view: View, name: str) -> Locator:
    """Return the cell with this id."""
    index = view.page.evaluate(
        """name => window.jupyterapp.shell.currentWidget.content.widgets
            .findIndex(cell => cell.model.id === name)""",
        name,
    )
    return view.page.locator(".jp-Notebook .jp-Cell").nth(index)


def type_prediction(view: View, name: str, *answers: str) -> None:
    """Fill the fields of a question and press Enter in the last."""
    fields = cell(view, name).locator(f"{PREDICTION} input")
    for number, answer in enumerate(answers):
        fields.nth(number).fill(answer)
    fields.nth(len(answers) - 1).press("Enter")


def choose(view: View, question: str, choice: int) -> None:
    """Choose an answer by keys, and commit it."""
    cell(view, question).locator("input[type=radio]").nth(choice).focus()
    view.page.keyboard.press("Space")
    cell(view, question).get_by_role("button", name="Commit").press("Enter")


def type_code(view: View, name: str, source: str) -> Locator:
    """Replace what a cell contains by the keyboard, run it, and return what it shows."""
    cell(view, name).locator(".cm-content").focus()
    view.page.keyboard.press("Control+A")
    view.page.keyboard.insert_text(source.strip())
    view.page.keyboard.press("Control+Enter")
    return cell(view, name).locator(".jp-OutputArea-output")


def photograph(view: View, screenshot: Screenshot, lesson: str, places: Sequence[str]) -> None:
    """In `make screenshots`, photograph the cells with these ids, wide and narrow, light and dark.

    Other runs only look for the cells: JupyterLab would draw whatever is scrolled to.
    """
    widgets = "window.jupyterapp.shell.currentWidget.content.widgets"
    assert set(places) <= set(view.page.evaluate(f"() => {widgets}.map(cell => cell.model.id)"))
    for width in (1300, 640) if os.environ.get("SCREENSHOTS") == "1" else ():
        for dark in (False, True):
            for place in places:
                cell(view, place).evaluate("cell => cell.scrollIntoView()")
                name = f"lesson-{lesson}-{place}-{width}-{'dark' if dark else 'light'}"
                screenshot(view, name, dark=dark, width=width, height=1200)
