"""A notebook that is saved, closed and opened with a new kernel: the pictures are there before any cell runs."""

import nbformat
import pytest

from tests.browser.conftest import OpenNotebook
from tests.browser.jupyter_server import JupyterServer
from tests.browser.pages import explorer, read_step, take_focus

RECORDED = """import autodiff_lab as lab

x = lab.Variable(3.0, name="x")
with lab.record("reopened") as recording:
    with lab.GradientTape() as tape:
        y = x * x
    tape.gradient(y, x)
recording"""
EXPLORED = "lab.explore(lab.sin, -3, 3, x=1.0)"


@pytest.mark.slow
def test_a_saved_notebook_shows_its_pictures_before_any_cell_runs(
    jupyter: JupyterServer, open_notebook: OpenNotebook
) -> None:
    first = open_notebook([RECORDED, EXPLORED], own_page=True)
    explorer(first.page)
    name = first.page.evaluate("() => window.jupyterapp.shell.currentWidget.context.path")
    first.page.evaluate("() => window.jupyterapp.commands.execute('docmanager:save')")
    first.page.wait_for_function("() => !window.jupyterapp.shell.currentWidget.context.model.dirty")
    assert "widgets" in nbformat.read(jupyter.folder / name, as_version=4).metadata
    first.page.goto("about:blank")
    jupyter.end_kernels()
    first.page.goto(jupyter.address(name))
    root = explorer(first.page)
    assert not first.page.get_by_text("model not found").count()
    take_focus(root)
    first.page.keyboard.press("End")
    assert read_step(root)["step"] == 2
    first.page.locator(".handle.point").first.wait_for()
    # The widget manager looks for a saved model for two seconds. On a busy machine the notebook may be read later: then
    # it complains on the console, and draws the widget a second time, which the lines above have seen.
    first.console_errors[:] = [text for text in first.console_errors if "widget model not found" not in text]
