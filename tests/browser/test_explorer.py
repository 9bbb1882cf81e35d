"""The explorer inside a real JupyterLab: a recording displays itself, keys stay inside, the kernel gets the step."""

import pytest

from tests.browser.conftest import OpenNotebook, Screenshot
from tests.browser.pages import explorer, read_boxes, read_step, take_focus
from tests.browser.view import View

PROGRAM = """import autodiff_lab as lab

x = lab.Variable(3.0, name="x")
with lab.record() as recording:
    with lab.GradientTape() as tape:
        y = x * x + lab.sin(x)
    tape.gradient(y, x)"""
NET = """import autodiff_lab as lab

data = lab.constant([[0.5, -1.0, 2.0]], name="data")
w1 = lab.Variable(lab.fill([3, 4], 0.3), name="w1")
w2 = lab.Variable(lab.fill([4, 1], -0.2), name="w2")
with lab.record() as recording:
    with lab.GradientTape() as tape:
        with lab.name_scope("layer1"):
            hidden = lab.tanh(data @ w1)
        with lab.name_scope("layer2"):
            output = hidden @ w2
        loss = lab.reduce_sum(output * output)
    tape.gradient(loss, [w1, w2])
recording"""
KEYS = [
    "Home", "ArrowRight", "ArrowRight", "End", "ArrowLeft", "t", "?", "?", "ArrowDown", "c", "i", "Enter", "Escape",
    "f", "+", "-", "b", "Escape", "a", "d", "d", "y", "m", "End",
]  # fmt: skip
"""Ours, and some that would edit the notebook if JupyterLab saw them."""


def test_a_recording_displays_as_an_explorer_that_steps(open_notebook: OpenNotebook, screenshot: Screenshot) -> None:
    view = open_notebook([PROGRAM, "recording"])
    root = explorer(view.page)
    assert read_step(root)["counter"] == "Step 3 of 6 · forward"
    take_focus(root)
    for step in (4, 5, 6):
        view.page.keyboard.press("ArrowRight")
        assert read_step(root)["step"] == step
    leaf = next(box for box in read_boxes(root).values() if box["label"] == "x")
    assert (leaf["value"], leaf["gradient"]) == ("3", "5.01")
    assert root.locator(".card .place").inner_text() == "cell 1, line 6"
    assert root.locator(".card .line").inner_text() == "y = x * x + lab.sin(x)"
    screenshot(view, "explorer-jupyterlab-light")
    screenshot(view, "explorer-jupyterlab-dark", dark=True)
    screenshot(view, "explorer-jupyterlab-narrow", width=760)


@pytest.mark.slow
def test_the_formula_of_a_rule_is_mathml(open_notebook: OpenNotebook) -> None:
    view = open_notebook([PROGRAM, "recording"])
    root = explorer(view.page)
    take_focus(root)
    view.page.keyboard.press("ArrowRight")
    view.page.keyboard.press("ArrowRight")
    rule = root.locator(".flow math")
    assert rule.count() == 1
    assert rule.evaluate("element => element.namespaceURI") == "http://www.w3.org/1998/Math/MathML"
    assert rule.evaluate("element => element.textContent.replace(/\\s/g, '')") == "cosx"


@pytest.mark.slow
def test_keys_pressed_in_the_explorer_do_not_edit_the_notebook(open_notebook: OpenNotebook) -> None:
    view = open_notebook([PROGRAM, "recording"])
    root = explorer(view.page)
    cells = view.page.locator(".jp-Notebook .jp-Cell")
    before = cells.count()
    take_focus(root)
    for key in KEYS:
        view.page.keyboard.press(key)
    assert cells.count() == before
    assert view.page.locator(".jp-MarkdownCell").count() == 0
    assert read_step(root)["step"] == 6
    assert root.locator(".graph").evaluate("panel => panel === document.activeElement")


@pytest.mark.slow
def test_two_views_of_one_explorer_go_together(open_notebook: OpenNotebook) -> None:
    make = "from autodiff_lab.widgets.explorer import Explorer\nexplorer = Explorer(recording)"
    view = open_notebook([PROGRAM, make, "display(explorer, explorer)"])
    first, second = explorer(view.page, 0), explorer(view.page, 1)
    take_focus(second)
    view.page.keyboard.press("End")
    assert read_step(first)["step"] == read_step(second)["step"] == 6
    assert read_boxes(first) == read_boxes(second)
    assert view.page.evaluate(
        "() => document.querySelectorAll('.explorer [id]').length") == 0, "ids of two views would collide"  # fmt: skip


@pytest.mark.slow
def test_the_kernel_is_told_the_step_and_can_set_it(open_notebook: OpenNotebook) -> None:
    show = "from autodiff_lab.widgets.explorer import Explorer\nexplorer = Explorer(recording, step=0)\nexplorer"
    view = open_notebook([PROGRAM, show, ""])
    root = explorer(view.page)
    take_focus(root)
    view.page.keyboard.press("ArrowRight")
    run_in_last_cell(view, "print('the kernel has', explorer.step)")
    view.page.wait_for_function("() => document.body.innerText.includes('the kernel has 1')")
    run_in_last_cell(view, "explorer.step = 5")
    view.page.wait_for_function("() => document.querySelector('.explorer').dataset.step === '5'")
    assert read_step(root)["counter"] == "Step 5 of 6 · backward"


def run_in_last_cell(view: View, source: str) -> None:
    """Write into the last cell of the notebook and run it."""
    view.page.locator(".jp-Notebook .jp-Cell").last.locator(".cm-content").click()
    view.page.keyboard.type(source)
    view.page.keyboard.press("Shift+Enter")


@pytest.mark.slow
def test_ten_fast_key_presses_are_ten_steps(open_notebook: OpenNotebook) -> None:
    """The front end never waits for the kernel, so that no press is lost."""
    view = open_notebook([NET])
    root = explorer(view.page)
    take_focus(root)
    view.page.keyboard.press("Home")
    view.page.evaluate("""() => {
        const panel = document.querySelector(".explorer .graph");
        const press = () => panel.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true }));
        for (let count = 0; count < 10; count += 1) press();
    }""")
    assert read_step(root)["step"] == 10
    view.page.wait_for_timeout(300)
    assert read_step(root)["step"] == 10, "the kernel's echo does not turn the clock back"


@pytest.mark.slow
def test_scopes_fold_in_the_notebook(open_notebook: OpenNotebook, screenshot: Screenshot) -> None:
    view = open_notebook([NET])
    root = explorer(view.page)
    assert {"slayer1", "slayer2"} <= set(read_boxes(root))
    root.locator('[data-key="slayer1"] .body').dblclick()
    assert root.locator(".box.frame").count() == 1, "it opens in place"
    labels = [box["label"] for box in read_boxes(root).values()]
    assert "tanh" in labels
    screenshot(view, "explorer-scope")


@pytest.mark.slow
def test_an_explorer_that_is_gone_leaves_nothing_behind(open_notebook: OpenNotebook) -> None:
    """Clearing the output ends a running player and takes every listener away: nothing throws afterwards."""
    view = open_notebook([PROGRAM, "recording"])
    root = explorer(view.page)
    take_focus(root)
    view.page.keyboard.press("Home")
    view.page.keyboard.press(" ")
    view.page.evaluate("() => window.jupyterapp.commands.execute('notebook:clear-all-cell-outputs')")
    root.wait_for(state="detached")
    view.page.wait_for_timeout(1200)
    view.assert_clean()


RAISES = """import autodiff_lab as lab
try:
    with lab.record() as recording:
        lab.constant([1.0, 2.0]) + lab.constant([1.0, 2.0, 3.0])
except ValueError:
    pass
recording"""


@pytest.mark.slow
def test_a_program_that_raises_leaves_a_recording_that_shows_where(open_notebook: OpenNotebook) -> None:
    root = explorer(open_notebook([RAISES]).page)
    assert root.locator(".box.failed").count() == 1
    assert root.locator(".failure").inner_text().startswith("failed ")
    assert root.locator(".card .place").inner_text() == "cell 1, line 4"
