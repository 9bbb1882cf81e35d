"""What a notebook keeps of displayed widgets: each picture as an output of its own, scripts once, no old models."""

import base64
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest
from playwright.sync_api import Page

from tests.browser.conftest import OpenNotebook, OpenPage
from tests.browser.jupyter_server import JupyterServer
from tests.browser.pages import explorer
from tests.browser.view import View

RECORDED = """import autodiff_lab as lab

x = lab.Variable(3.0, name="x")
with lab.record("kept") as recording:
    with lab.GradientTape() as tape:
        y = x * x
    tape.gradient(y, x)
recording"""
EXPLORED = "lab.explore(lab.sin, -3, 3, x=1.0)"
COMPILED = """@lab.function
def squeezed(x):
    return lab.tanh(x * x)

squeezed(x)
squeezed"""
VIEW, STATE = "application/vnd.jupyter.widget-view+json", "application/vnd.jupyter.widget-state+json"
SVG = "image/svg+xml"


def saved(page: Page, jupyter: JupyterServer) -> Any:
    """Save the notebook that is open, and read its file."""
    page.evaluate("() => window.jupyterapp.commands.execute('docmanager:save')")
    page.wait_for_function("() => !window.jupyterapp.shell.currentWidget.context.model.dirty")
    name = page.evaluate("() => window.jupyterapp.shell.currentWidget.context.path")
    return nbformat.read(jupyter.folder / name, as_version=4)


def run_again(view: View, *cells: int) -> None:
    """Run cells again, and wait for each."""
    for cell in cells:
        view.page.evaluate(
            """async at => {
                window.jupyterapp.shell.currentWidget.content.activeCellIndex = at;
                await window.jupyterapp.commands.execute('notebook:run-cell');
            }""",
            cell,
        )


def models(notebook: Any) -> list[dict[str, Any]]:
    return [one["state"] for one in notebook.metadata["widgets"][STATE]["state"].values()]


@pytest.fixture
def three(open_notebook: OpenNotebook) -> View:
    """A recording, a curve and a compiled function, each displayed by a cell."""
    view = open_notebook([RECORDED, EXPLORED, COMPILED])
    explorer(view.page)
    view.page.locator(".lab-curves .curve").first.wait_for()
    view.page.locator(".lab-program-view .lab-node").first.wait_for()
    return view


@pytest.mark.slow
def test_each_widget_has_its_picture_as_an_output_of_its_own(
    three: View, jupyter: JupyterServer, open_page: OpenPage, tmp_path: Path
) -> None:
    hidden = three.page.locator(".jp-RenderedSVG")
    assert [hidden.nth(at).is_visible() for at in range(hidden.count())] == [False] * 3, "JupyterLab shows it once"
    notebook = saved(three.page, jupyter)
    kinds = [[set(output.data) for output in cell.outputs] for cell in notebook.cells]
    assert kinds == [[{VIEW, "text/plain"}, {SVG}]] * 3
    # The notebook as a viewer shows it that knows nothing but pictures.
    pictures = [output.data[SVG] for cell in notebook.cells for output in cell.outputs if SVG in output.data]
    sources = [f"data:{SVG};base64,{base64.b64encode(text.encode()).decode()}" for text in pictures]
    page = tmp_path / "pictures.html"
    page.write_text("<!doctype html>" + "".join(f'<img src="{source}">' for source in sources), "utf-8")
    shown = open_page(page).page.locator("img")
    assert [_size(shown.nth(at)) for at in range(shown.count())] == [True] * 3
    assert all(word in text for word, text in zip(("multiply", "sin", "tanh"), pictures, strict=True))


@pytest.mark.slow
def test_nbconvert_shows_the_pictures_without_a_network_and_without_options(
    three: View, jupyter: JupyterServer, new_view: Callable[..., View], tmp_path: Path
) -> None:
    from nbconvert import HTMLExporter

    notebook = saved(three.page, jupyter)
    assert len(models(notebook)) > 3, "the state of the widgets is in the file, so nbconvert prefers them"
    page = tmp_path / "converted.html"
    page.write_text(HTMLExporter().from_notebook_node(notebook)[0], "utf-8")
    view = new_view(False, offline=True)  # nbconvert's own page asks other hosts for scripts
    view.page.goto(page.as_uri(), wait_until="domcontentloaded")
    shown = view.page.locator(".jp-RenderedSVG img")
    assert [_size(shown.nth(at)) for at in range(shown.count())] == [True] * 3


def _size(image: Any) -> bool:
    image.wait_for()
    return image.evaluate("async image => { await image.decode(); return image.clientWidth > 100; }")


@pytest.mark.slow
def test_a_saved_notebook_has_each_script_once_and_no_model_of_an_earlier_run(
    open_notebook: OpenNotebook, jupyter: JupyterServer, figure: Callable[[str, str], None]
) -> None:
    view = open_notebook([RECORDED, *["recording"] * 4])
    for at in range(5):
        explorer(view.page, at)
    before = saved(view.page, jupyter)
    run_again(view, *[4] * 6)
    explorer(view.page, 4)
    after = saved(view.page, jupyter)
    sizes = [len(nbformat.writes(notebook)) for notebook in (before, after)]
    figure("saved notebook of 5 explorers", f"{sizes[0] / 1e3:,.0f} kB, after 6 re-runs {sizes[1] / 1e3:,.0f} kB")
    for notebook in (before, after):
        scripts = [state["script"] for state in models(notebook) if len(state.get("script", "")) > 10_000]
        assert len(scripts) == 1
        assert sum("scene" in state for state in models(notebook)) == 5
        assert not any(len(state.get("_esm", "")) > 10_000 for state in models(notebook))
    assert len(models(before)) == len(models(after))
    assert view.page.locator(".explorer").count() == 5


@pytest.mark.slow
def test_a_widget_that_was_let_go_opens_again_when_it_is_shown(open_notebook: OpenNotebook) -> None:
    view = open_notebook([RECORDED, "kept = recording.explore()", "shown = kept\nshown"])
    explorer(view.page, 1)
    view.page.evaluate(
        """() => {
            window.jupyterapp.shell.currentWidget.content.widgets[2].model.sharedModel.setSource('recording.title');
        }"""
    )
    run_again(view, 2)
    view.page.get_by_text("'kept'").wait_for()
    assert view.page.locator(".explorer").count() == 1
    view.page.evaluate(
        """() => {
            const source = 'import ipywidgets\\nkept.step = 1\\nipywidgets.VBox([kept])';
            window.jupyterapp.shell.currentWidget.content.widgets[2].model.sharedModel.setSource(source);
        }"""
    )
    run_again(view, 2)
    assert explorer(view.page, 1).get_attribute("data-step") == "1"


@pytest.mark.slow
def test_a_long_recording_is_kept_packed_and_opens_without_a_kernel(
    open_notebook: OpenNotebook, jupyter: JupyterServer, open_page: OpenPage
) -> None:
    long = """import autodiff_lab as lab

y = v = lab.Variable([0.01 * n for n in range(60)], name="v")
with lab.record("long") as recording:
    with lab.GradientTape() as tape:
        for op in (lab.sin, lab.tanh, lab.exp, lab.cos, lab.sigmoid, lab.square) * 3:
            y = op(y) + v
    tape.gradient(y, v)
recording.explore(max_bytes=70_000)"""
    view = open_notebook([long])
    assert "To stay below 70 kB" in explorer(view.page).locator(".size").inner_text()
    notebook = saved(view.page, jupyter)
    (state,) = [state for state in models(notebook) if "scene" in state]
    assert "steps" not in state["scene"], "it is packed"
    view.page.reload()
    root = explorer(view.page)
    root.locator(".graph").focus()
    view.page.keyboard.press("End")
    assert root.locator(".counter").inner_text().startswith("Step 72 of 72")
