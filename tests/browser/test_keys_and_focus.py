"""Whose keys are whose: the contract of docs/explorer.md between the widgets and the notebook or page around them."""

from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page

from autodiff_lab.recording import Recording
from tests.browser.conftest import OpenNotebook, OpenPage, Screenshot
from tests.browser.jupyter_server import JupyterServer
from tests.browser.pages import explorer, read_step, save, take_focus
from tests.browser.test_training_page import recorded

PROGRAM = """import autodiff_lab as lab
from autodiff_lab import lessons

x = lab.Variable(3.0, name="x")
with lab.record() as recording, lab.GradientTape() as tape:
    y = x * x + lab.sin(x)
recording"""
FUNCTION = """@lab.function
def half(x):
    return lab.sin(x) / 2.0
_ = half(lab.constant([1.0, 2.0]))
half"""
CELLS = [
    PROGRAM,
    "lab.explore(lab.sin, -1, 3)",
    "lessons.jacobian_map(lab.nn.softmax, lab.constant([1.0, 2.0, 3.0]))",
    FUNCTION,
    "a_last_cell = 1",
]
WIDGETS = {
    ".explorer": (".graph", "Home", "root => root.dataset.step"),
    ".lab-curves": (".handle.point", "ArrowRight", "root => root.querySelector('.readout').textContent"),
    ".lab-jacobian-map": (".board", "ArrowRight", "root => root.querySelector('.said').textContent"),
    ".lab-program-view": (".stage", "ArrowDown", "root => root.querySelector('.said').textContent"),
}
"""What has the focus, a key that changes something, and how to read what changed."""
EDITING = ["a", "b", "d", "d", "x", "m", "y", "z"]
"""Keys that would insert, delete or change cells if the notebook got them."""
ACTIVE = "() => window.jupyterapp.shell.currentWidget.content.activeCellIndex"
FOCUSED_CELL = """() => [...document.querySelectorAll(".jp-Notebook .jp-Cell")].indexOf(document.activeElement)"""


def counts(page: Page) -> list[int | None]:
    """How often each cell has run."""
    return page.evaluate(
        "() => window.jupyterapp.shell.currentWidget.content.widgets.map(cell => cell.model.executionCount)"
    )


@pytest.mark.slow
def test_plain_keys_are_the_widgets_and_the_others_the_notebooks(
    open_notebook: OpenNotebook, jupyter: JupyterServer
) -> None:
    view = open_notebook(CELLS)
    page = view.page
    file = jupyter.folder / page.url.rpartition("/")[2].partition("?")[0]
    cells = page.locator(".jp-Notebook .jp-Cell").count()
    for at, (name, (target, key, read)) in enumerate(WIDGETS.items()):
        root = page.locator(name)
        hint = root.locator(".lab-hint")
        assert hint.is_visible(), name
        assert hint.inner_text().startswith("click or press Tab, then "), name
        root.locator(target).first.focus()
        assert not hint.is_visible(), name
        before = root.evaluate(read)
        page.keyboard.press(key)
        assert root.evaluate(read) != before, name
        for letter in EDITING:
            page.keyboard.press(letter)
        assert page.locator(".jp-Notebook .jp-Cell").count() == cells, name
        assert page.locator(".jp-MarkdownCell").count() == 0, name
        check_saving(page, file)
        root.locator(target).first.focus()
        for _press in range(3):  # the first may deselect something
            page.keyboard.press("Escape")
        assert page.evaluate(FOCUSED_CELL) == at, f"Escape in {name} gives the focus back to its cell"
        root.locator(target).first.focus()
        ran = counts(page)
        page.keyboard.press("Shift+Enter")
        page.wait_for_function(f"before => ({ACTIVE})() === before + 1", arg=at)
        page.wait_for_function(
            "before => { const cells = window.jupyterapp.shell.currentWidget.content.widgets;"
            " return cells[before[0]].model.executionCount > before[1]; }",
            arg=[at, ran[at]],
        )
        assert page.evaluate(FOCUSED_CELL) == at + 1, "the notebook keeps the focus, so that Shift+Enter goes on"


def check_saving(page: Page, file: Path) -> None:
    """Press Ctrl+S, and wait for the time of the file to change."""
    before = file.stat().st_mtime_ns
    page.evaluate("() => { window.jupyterapp.shell.currentWidget.model.dirty = true; }")
    for wait in range(100):
        if wait % 25 == 0:  # the notebook leaves out what is asked for while it still saves
            page.keyboard.press("Control+s")
        if file.stat().st_mtime_ns != before:
            return
        page.wait_for_timeout(100)
    pytest.fail("Ctrl+S did not save the notebook")


LESSON = """import autodiff_lab as lab
from autodiff_lab import lessons

x = lab.Variable(3.0, name="x")
with lab.record() as recording:
    with lab.GradientTape() as tape:
        y = x * x
    tape.gradient(y, x)
guess = lessons.predict("What is the gradient?")
guess"""


@pytest.mark.slow
def test_unlocking_moves_the_focus_into_the_picture(open_notebook: OpenNotebook) -> None:
    page = open_notebook([LESSON, "guess.unlock(recording)", "a_last_cell = 1"]).page
    page.get_by_placeholder("a number").fill("6")
    page.keyboard.press("Enter")
    page.locator(".explorer").wait_for()
    page.wait_for_function("() => document.activeElement.matches('.explorer .graph')")
    root = explorer(page)
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    assert read_step(root)["step"] == 1
    page.keyboard.press("Escape")
    assert page.evaluate(FOCUSED_CELL) == 1
    # A cell that is run and stays the current one gives its picture the focus; one that is left does not.
    page.keyboard.press("Control+Enter")
    page.wait_for_function("() => document.activeElement.matches('.explorer .graph')")


@pytest.mark.slow
def test_the_wheel_scrolls_the_page_and_with_ctrl_zooms(open_notebook: OpenNotebook, screenshot: Screenshot) -> None:
    """At 200 % zoom a window of 1300 by 1000 has 650 by 500 pixels: the sentence stays, however far one scrolls."""
    view = open_notebook([PROGRAM, *["pass"] * 30])
    view.set_width(650, 500)
    page = view.page
    root = explorer(page)
    root.scroll_into_view_if_needed()
    take_focus(root)
    page.keyboard.press("End")
    check_the_wheel(page, root, "document.querySelector('.jp-WindowedPanel-outer').scrollTop")
    screenshot(view, "explorer-zoomed-200", width=650, height=500)
    strip = root.locator(".live")
    head = page.locator(".jp-WindowedPanel-outer").bounding_box()
    for by in (0, 60, 120):
        page.evaluate(
            """by => { const outer = document.querySelector('.jp-WindowedPanel-outer');
            const strip = document.querySelector('.explorer header').getBoundingClientRect();
            outer.scrollTop += strip.bottom - outer.getBoundingClientRect().top + by; }""",
            by,
        )
        page.wait_for_timeout(50)
        box = strip.bounding_box()
        assert box is not None
        assert head is not None
        assert abs(box["y"] - head["y"]) < 2, f"{by} pixels further the sentence sticks to the top of the notebook"
        assert strip.inner_text().startswith("Step 3 of 3")
    graph, last = root.locator(".graph").bounding_box(), root.locator(".transport").bounding_box()
    assert graph is not None
    assert last is not None
    assert last["y"] + last["height"] - graph["y"] + 65 < head["height"], "sentence, graph and buttons fit together"


def check_the_wheel(page: Page, root: Locator, scrolled: str) -> None:
    """Turn the wheel over the graph, which has the focus, without Ctrl and with it."""
    box = root.locator(".graph").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    scale = "() => new DOMMatrix(getComputedStyle(document.querySelector('.explorer .world')).transform).a"
    at_first = page.evaluate(scale)
    top = page.evaluate(f"() => {scrolled}")
    page.mouse.wheel(0, 40)
    page.wait_for_function(f"top => {scrolled} > top", arg=top)
    assert page.evaluate(scale) == at_first
    top = page.evaluate(f"() => {scrolled}")
    page.keyboard.down("Control")
    page.mouse.wheel(0, -40)
    page.keyboard.up("Control")
    page.wait_for_function(f"before => ({scale})() > before", arg=at_first)
    assert page.evaluate(f"() => {scrolled}") == top


HEIGHTS = """root => {
    const [whole, button] = [root, root.querySelector(".tool.next")].map(part => part.getBoundingClientRect());
    return [whole.height, button.y - whole.y];
}"""


@pytest.mark.slow
@pytest.mark.parametrize("width", [1300, 640])
def test_nothing_moves_between_steps(
    width: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, open_page: OpenPage
) -> None:
    """The page of the RNN, whose steps have one, two or three contributions; in the notebook's own size of panels."""
    recording: Recording = recorded("rnn", monkeypatch)
    page = open_page(save(recording, tmp_path), width=width).page
    root = explorer(page)
    seen: set[tuple[float, ...]] = set()
    page.keyboard.press("Home")
    for _ in range(30):
        seen.add(tuple(root.evaluate(HEIGHTS)))
        page.keyboard.press("ArrowRight")
    page.keyboard.press("End")
    for _ in range(30):
        seen.add(tuple(root.evaluate(HEIGHTS)))
        page.keyboard.press("ArrowLeft")
    assert len(seen) == 1, f"height of the explorer and place of its buttons: {sorted(seen)}"
