"""The source beside the graph: lines and nodes light up together, in a page, by pointer and by keys."""

from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Locator

import autodiff_lab as lab
from autodiff_lab.recording import Recording
from tests.browser.conftest import OpenNotebook, OpenPage, Screenshot
from tests.browser.pages import explorer, save, take_focus


def program() -> Recording:
    x = lab.Variable(0.5, name="x")
    with lab.record(title="lines") as recording:
        with lab.GradientTape() as tape:
            h = lab.tanh(x)
            y = lab.sin(h) * h
            z = lab.exp(y)
        tape.gradient(z, x)
    return recording


@pytest.fixture
def root(open_page: OpenPage, tmp_path: Path) -> Locator:
    found = explorer(open_page(save(program(), tmp_path), width=1300).page)
    take_focus(found)
    return found


def texts(root: Locator, chosen: str) -> list[str]:
    return [text.strip() for text in root.locator(chosen).all_text_contents()]


def test_the_line_of_the_step_is_marked_and_the_panel_closes(root: Locator) -> None:
    source = root.locator("section.source")
    assert source.is_hidden()
    root.page.keyboard.press("s")
    assert texts(root, ".source .now") == ["z = lab.exp(y)"]
    root.page.keyboard.press("ArrowRight")
    root.page.keyboard.press("ArrowRight")
    assert texts(root, ".source .now") == ["y = lab.sin(h) * h"]
    button = root.get_by_role("button", name="Source")
    assert button.get_attribute("aria-pressed") == "true"
    button.click()
    assert source.is_hidden()


def test_a_line_lights_its_nodes_and_a_click_selects_one_after_the_other(root: Locator) -> None:
    root.page.keyboard.press("s")
    line = root.locator(".source li", has_text="lab.sin(h) * h")
    line.hover()
    assert sorted(texts(root, ".box.lit .label")) == ["sin", "×"]
    line.click()
    first = texts(root, ".box.selected .label")
    line.click()
    assert sorted(first + texts(root, ".box.selected .label")) == ["sin", "×"]


def test_a_node_lights_its_line(root: Locator) -> None:
    root.page.keyboard.press("s")
    root.locator('.box[data-key="a0"]').hover()
    assert texts(root, ".source .lit") == ["h = lab.tanh(x)"]


def test_lines_are_reached_by_keys(root: Locator) -> None:
    root.page.keyboard.press("s")
    root.locator("section.source").focus()
    root.page.keyboard.press("ArrowDown")
    assert texts(root, ".box.selected .label") == ["tanh"]
    root.page.keyboard.press("ArrowUp")
    assert texts(root, ".source .lit") == ["z = lab.exp(y)"]


def test_a_recording_without_lines_says_so(open_page: OpenPage, tmp_path: Path) -> None:
    recording = replace(program(), sources={})
    root = explorer(open_page(save(recording, tmp_path)).page)
    take_focus(root)
    root.page.keyboard.press("s")
    assert root.locator("section.source").inner_text().strip() == "This recording has no source lines."


@pytest.mark.slow
def test_the_source_in_both_themes(open_page: OpenPage, tmp_path: Path, screenshot: Screenshot) -> None:
    for width, dark in ((1300, False), (640, True)):
        view = open_page(save(program(), tmp_path), width=width)
        root = explorer(view.page)
        take_focus(root)
        view.page.keyboard.press("s")
        screenshot(view, f"explorer-source-{width}", dark=dark, width=width)
        assert root.locator(".source .now").is_visible()


CELLS = [
    "import autodiff_lab as lab\n\nx = lab.Variable(0.5, name='x')",
    (
        "with lab.record() as recording:\n    with lab.GradientTape() as tape:\n        h = lab.tanh(x)\n"
        "        y = lab.sin(h)\n    tape.gradient(y, x)"
    ),
    "recording",
]


CURSOR = """() => {
    const node = getSelection().focusNode;
    return (node instanceof Element ? node : node?.parentElement)?.closest(".cm-line")?.textContent ?? "";
}"""


@pytest.mark.slow
def test_in_a_notebook_a_node_leads_to_its_line(open_notebook: OpenNotebook) -> None:
    view = open_notebook(CELLS)
    page, root = view.page, explorer(view.page)

    def at(line: str) -> None:
        page.wait_for_function(f"line => ({CURSOR})() === line", arg=line)

    take_focus(root)
    for key in ("Home", "ArrowRight", "l"):
        page.keyboard.press(key)
    at("        h = lab.tanh(x)")
    assert root.locator(".live").inner_text() == "Went to cell 2, line 3."
    take_focus(root)
    page.keyboard.press("ArrowRight")
    place = root.locator(".card button.place")
    assert place.inner_text() == "cell 2, line 4"
    place.click()
    at("        y = lab.sin(h)")
    page.keyboard.type("#")  # the cursor is there
    page.locator(".jp-Notebook .cm-line", has_text="#        y = lab.sin(h)").wait_for()
    take_focus(root)
    page.keyboard.press("l")
    assert "has changed since" in root.locator(".live").inner_text()


def test_a_page_without_cells_offers_no_way_to_them(root: Locator) -> None:
    root.page.keyboard.press("?")
    keys = texts(root, ".help kbd")
    assert "s" in keys
    assert "l" not in keys
    assert root.locator(".card .place").evaluate("place => place.tagName") == "SPAN"
