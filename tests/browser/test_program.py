"""The program explorer in a browser: a line selected in one view is highlighted in the others, by key or pointer."""

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator

import autodiff_lab as lab
from autodiff_lab.exploring.program import program_view
from tests.browser.conftest import OpenNotebook, OpenPage, Screenshot

STEP = """
@lab.function
def step(x, w):
    with lab.GradientTape() as tape:
        tape.watch(w)
        hidden = lab.tanh(x @ w)
        loss = lab.reduce_mean(hidden * hidden)
    return tape.gradient(loss, w)
_ = step(lab.ones((5, 3)), lab.ones((3, 4)))
step
"""
HALVED = """
@lab.function
def halved(x):
    if float(x) > 1.0:
        return x / 2.0
    return x
_ = halved(lab.constant(4.0))
halved
"""
CELLS = ["import autodiff_lab as lab", STEP.strip(), HALVED.strip()]


def layer(x: Any, w: Any) -> Any:
    with lab.GradientTape() as tape:
        tape.watch(w)
        hidden = lab.tanh(x @ w)
        loss = lab.reduce_mean(hidden * hidden)
    return tape.gradient(loss, w)


@pytest.fixture
def function() -> Any:
    made = lab.function(layer)
    made(lab.ones((5, 3)), lab.ones((3, 4)))
    return made


def marked(root: Locator) -> tuple[list[str], list[str], list[str]]:
    """What is marked: nodes by their first line, rows of the program, rows of the source."""
    nodes = root.locator(".lab-node.now .lab-label").all_text_contents()
    program = root.locator(".program .row.now > code:first-child").all_text_contents()
    source = [text.strip() for text in root.locator(".source .row.now > code:first-child").all_text_contents()]
    return nodes, program, source


@pytest.mark.slow
def test_keys_and_pointer_mark_the_same_op_in_all_three_views(
    open_page: OpenPage, tmp_path: Path, function: Any
) -> None:
    function.to_html(tmp_path / "page.html")
    view = open_page(tmp_path / "page.html")
    root = view.page.locator(".lab-program-view")
    items, at = program_view(function).items, -1
    root.locator(".program .rows").focus()
    view.page.keyboard.press("Home")
    for _ in range(len(items)):
        at = int(root.locator(".lab-node.now").first.get_attribute("data-at") or -1)
        nodes, program, source = marked(root)
        assert len(nodes) == 1
        assert program[0].startswith(f"{items[at].number}:")
        assert any(items[at].name in line for line in source)
        assert items[at].name in root.locator(".said").inner_text()
        view.page.keyboard.press("ArrowDown")
    assert at == len(items) - 1  # the walk ends at the last op
    view.page.keyboard.press("Escape")
    assert marked(root) == ([], [], [])
    root.locator(".lab-node", has_text="tanh").first.click()
    assert "tanh(" in marked(root)[1][0]
    root.locator(".source .row", has_text="matmul").first.click()
    assert marked(root)[0][0].startswith("matmul")
    root.locator(".program .row", has_text="tanh").hover()
    assert root.locator(".lab-node.near .lab-label").all_text_contents()[0].startswith("tanh")
    assert marked(root)[0][0].startswith("matmul")  # a pointer that passes moves nothing
    view.page.keyboard.press("?")
    assert root.locator(".help").is_visible()


def test_a_loop_is_marked_as_a_whole(open_page: OpenPage, tmp_path: Path, function: Any) -> None:
    pytest.importorskip("numba", reason="numba is not installed, so there are no fused loops")
    function.to_html(tmp_path / "page.html")
    view = open_page(tmp_path / "page.html")
    root = view.page.locator(".lab-program-view")
    root.locator(".stage").focus()
    view.page.keyboard.press("l")
    loop = program_view(function).loops[0]
    assert root.locator(".lab-node.now").count() == len(loop.items)
    assert loop.title in root.locator(".said").inner_text()
    assert root.locator(".source .row.now", has_text=f"= {loop.title}(").count() == 1


def test_without_javascript_the_page_has_the_picture_and_both_texts(
    browser: Any, tmp_path: Path, function: Any
) -> None:
    function.to_html(tmp_path / "page.html")
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((tmp_path / "page.html").as_uri())
    assert page.locator("noscript svg .lab-node").count() or "lab-node" in page.content()
    assert "return %" in page.locator("pre").first.inner_text()
    assert "def program(" in page.locator("pre").last.inner_text()
    context.close()


@pytest.mark.slow
def test_in_a_notebook_a_function_shows_itself_or_why_not(open_notebook: OpenNotebook, screenshot: Screenshot) -> None:
    view = open_notebook(CELLS)
    shown = view.page.locator(".lab-program-view")
    shown.nth(1).wait_for()
    assert "if float(x) > 1.0:" in shown.nth(1).locator(".why").inner_text()
    assert "cell 3, line 3" in shown.nth(1).locator(".why").inner_text()
    root = shown.first
    root.locator(".program .rows").click(position={"x": 60, "y": 8})
    before = root.locator(".said").inner_text()
    view.page.keyboard.press("ArrowDown")
    view.page.keyboard.press("ArrowDown")
    assert root.locator(".said").inner_text() != before
    assert view.page.locator(".jp-Notebook .jp-Cell").count() == len(CELLS)  # the notebook kept its cells to itself
    for width in (1300, 640):
        for dark in (False, True):
            name = f"program-{width}-{'dark' if dark else 'light'}"
            screenshot(view, name, dark=dark, width=width, height=1200)
