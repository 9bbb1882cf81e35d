"""Find, trace, ask: what a node depends on, paths, edges as tensors, cuts, search by shape; by keys and by clicks."""

from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Locator, Page

import autodiff_lab as lab
from autodiff_lab.recording import Recording
from autodiff_lab.recording.model import TensorRecord
from tests.browser.conftest import OpenPage, Screenshot
from tests.browser.pages import explorer, read_step, save, take_focus
from tests.browser.view import View


def with_a_cut() -> Recording:
    lost, kept = lab.Variable(0.5, name="lost"), lab.Variable(2.0, name="kept")
    x = lab.constant(np.ones((3, 4), np.float32), name="x")
    with lab.record(title="a cut") as recording:
        with lab.GradientTape() as tape:
            h = lab.tanh(lost * x)
            y = lab.reduce_sum(lab.stop_gradient(h) * kept + lab.sin(kept))
        tape.gradient(y, [lost, kept])
    return recording


@pytest.fixture
def view(open_page: OpenPage, tmp_path: Path) -> View:
    return open_page(save(with_a_cut(), tmp_path))


@pytest.fixture
def root(view: View) -> Locator:
    found = explorer(view.page)
    take_focus(found)
    return found


MIDDLE = """path => {
    const { x, y } = path.getPointAtLength(path.getTotalLength() / 2).matrixTransform(path.getScreenCTM());
    return [x, y];
}"""


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def labels(root: Locator, chosen: str) -> list[str]:
    return sorted(root.locator(f".box{chosen} .label").all_text_contents())


def search(root: Locator, word: str) -> None:
    press(root.page, "/")
    root.page.keyboard.type(word)


def card(root: Locator) -> dict[str, str]:
    terms, told = (root.locator(f".card .values {tag}").all_inner_texts() for tag in ("dt", "dd"))
    return {"": root.locator(".card h3").inner_text(), **dict(zip(terms, told, strict=True))}


@pytest.mark.slow
def test_ancestors_descendants_and_a_path_by_keys(view: View, root: Locator, screenshot: Screenshot) -> None:
    search(root, "sin")
    press(root.page, "Escape", "a")
    assert labels(root, ".traced") == ["kept", "sin"]
    assert root.locator(".box:not(.traced)").first.evaluate("box => getComputedStyle(box).opacity") == "0.45"
    assert root.locator(".live").inner_text() == "sin depends on 1 node."
    assert root.locator(".inspector").inner_text() == "sin depends on 1 node."
    press(root.page, "a")
    assert not root.locator(".tracing").count()
    press(root.page, "d")
    assert labels(root, ".traced") == ["+", "sin", "Σ"]
    press(root.page, "Escape", "p")
    search(root, "Σ")
    press(root.page, "Escape", "p")
    assert labels(root, ".traced") == ["+", "sin", "Σ"]
    assert "path of 2 edges" in root.locator(".live").inner_text()
    screenshot(view, "find-and-trace-path")


@pytest.mark.slow
def test_a_path_by_clicks(root: Locator) -> None:
    root.locator(".box", has_text="kept").first.click()
    root.locator(".box", has_text="Σ").click(modifiers=["Shift"])
    assert labels(root, ".traced")[-1] == "Σ"
    assert len(labels(root, ".traced")) == 4
    root.locator(".box", has_text="lost").click()
    root.locator(".box", has_text="sin").click(modifiers=["Shift"])
    assert "No path" in root.locator(".live").inner_text()
    assert not root.locator(".tracing").count()


@pytest.mark.slow
def test_an_edge_is_a_tensor_by_key_and_by_click(root: Locator) -> None:
    press(root.page, "End")
    search(root, "tanh")
    press(root.page, "Escape", "e", "e")
    told = card(root)
    assert (told[""], told["shape"], told["dtype"], told["adjoint"]) == ("h", "[3×4]", "float32", "no path")
    assert told["produced"].startswith("tanh at ")
    assert told["used"].startswith("stop_gradient at ")
    assert "stop_gradient" in told["cut"]
    press(root.page, "c", "e")
    assert root.locator(".edge.selected").count() == 1
    press(root.page, "Enter")
    assert read_step(root)["counter"].startswith("Step 2 of")
    x, y = root.locator(".edge .hit").first.evaluate(MIDDLE)
    root.page.mouse.click(x, y)
    assert root.locator(".card .counter").inner_text() == "Tensor"
    press(root.page, "ArrowRight")
    assert read_step(root)["counter"].startswith("Step 3 of")
    press(root.page, "e", "Escape")
    assert not root.locator(".edge.selected").count()


def test_the_ops_on_a_tensor_s_card_are_links(root: Locator) -> None:
    search(root, "kept")
    assert card(root)[""] == "kept"
    root.locator(".card button", has_text="sin").click()
    assert read_step(root)["counter"].startswith("Step ")
    press(root.page, "Home")
    assert read_step(root)["step"] == 0


@pytest.mark.slow
def test_the_remark_leads_to_the_cut_and_what_lies_behind_it_is_told_apart(
    view: View, root: Locator, screenshot: Screenshot
) -> None:
    slash = root.locator(".edge .cut")
    assert not slash.is_visible()
    root.locator(".remarks button").click()
    assert slash.is_visible()
    assert slash.text_content() == "cut"
    assert card(root)[""] == "h"
    behind = root.locator(".box", has_text="lost").locator(".gradient")
    assert behind.text_content() == "no path"
    colours = [one.evaluate("text => getComputedStyle(text).fill") for one in (behind, slash.locator("text"))]
    assert colours[0] != colours[1]
    screenshot(view, "find-and-trace-cut", dark=True)


def test_a_cut_shows_where_the_whole_gradient_is_lost(open_page: OpenPage, tmp_path: Path) -> None:
    lost = lab.Variable(0.5, name="lost")
    with lab.record() as recording, lab.GradientTape() as tape:
        tape.gradient(lab.stop_gradient(lab.tanh(lost)) * 2.0, lost)
    root = explorer(open_page(save(recording, tmp_path)).page)
    assert read_step(root)["step"] == len(recording.order), "a pass without a step is over when the program is"
    assert root.locator(".edge .cut").is_visible()
    assert root.locator(".box", has_text="lost").locator(".gradient").text_content() == "no path"


def test_the_graph_is_walked_as_a_tree_and_every_move_is_announced(open_page: OpenPage, tmp_path: Path) -> None:
    x = lab.Variable(3.0, name="x")
    with lab.record() as recording, lab.GradientTape() as tape, lab.name_scope("inside"):
        tape.gradient(lab.add(x * x, lab.sin(x), name="y"), x)
    root = explorer(open_page(save(recording, tmp_path)).page)
    take_focus(root)
    told = []
    for key in ("Home", "Shift+ArrowDown", "ArrowDown", "ArrowDown", "Enter", "i", "i", "Shift+ArrowDown", "u"):
        root.page.keyboard.press(key)
        told.append(root.locator(".live").inner_text())
    assert told[1] == "Go to an input (i) or to a consumer (c) first."
    assert told[4].startswith("Opened")
    assert told[5].startswith("node 3 of 3 of inside: add(x * x, sin(x)); y: ")
    assert told[6].startswith("input 1 of 2 of y: multiply(x, x); x * x: ")
    assert told[7].startswith("input 2 of 2 of y: sin(x); ")
    assert told[8].startswith("Closed")


@pytest.mark.slow
def test_search_by_shape_and_the_next_step_that_touches_a_node(root: Locator) -> None:
    search(root, "(3, 4)")
    assert root.locator(".count").inner_text() == "1 of 6"
    assert card(root)["shape"] == "[3×4]"
    press(root.page, "Enter")
    assert root.locator(".count").inner_text() == "2 of 6"
    press(root.page, "Escape", "Home")
    search(root, "sin")
    press(root.page, "Escape", "n")
    first = read_step(root)
    assert first["counter"].endswith("forward")
    assert "sin" in first["live"]
    press(root.page, "n")
    assert read_step(root)["counter"].endswith("backward")
    press(root.page, "N")
    assert read_step(root)["step"] == first["step"]


@pytest.mark.slow
def test_nodes_are_coloured_by_a_measure_with_its_number_and_by_one_of_the_user(
    open_page: OpenPage, tmp_path: Path, screenshot: Screenshot
) -> None:
    def rank(record: TensorRecord) -> float | None:
        return {"lost": 1.0, "h": 10.0, "y": 100.0}.get(record.name or "")

    file = tmp_path / "page.html"
    with_a_cut().to_html(file, color=rank)
    view = open_page(file)
    root = explorer(view.page)
    shades = {box.locator(".label").text_content(): box for box in root.locator(".box").all()}
    assert root.locator("select[name=color]").input_value() == "rank"
    assert [shades[name].get_attribute("data-level") for name in ("lost", "tanh", "Σ", "kept")] == ["1", "3", "5", "0"]
    assert [shades[name].locator(".measure").text_content() for name in ("lost", "Σ")] == ["1", "100"]
    assert shades["kept"].locator(".measure").count() == 0
    assert "as recorded" in root.locator(".switches").inner_text()
    screenshot(view, "find-and-trace-own-colour")
    fill = "box => getComputedStyle(box.querySelector('.body')).fill"
    coloured = shades["Σ"].evaluate(fill)
    root.locator("select[name=color]").select_option("bytes")
    assert shades["tanh"].locator(".measure").text_content() == "48 B"
    screenshot(view, "find-and-trace-bytes", dark=True, width=640)
    root.locator("select[name=color]").select_option("nothing")
    assert root.locator(".measure").count() == 0
    view.set_dark(False)
    assert shades["Σ"].evaluate(fill) != coloured


def test_the_bytes_that_a_step_holds_and_those_of_each_value(root: Locator) -> None:
    press(root.page, "Home")
    told = root.locator(".transport .detail").first
    assert told.inner_text() == "56 B held"  # two variables of 4 bytes and x
    press(root.page, *["ArrowRight"] * 4)
    assert told.inner_text() == "104 B held"  # the variables, and what the product takes and makes
    press(root.page, "End", "t")
    assert told.inner_text() == "16 B held"  # the variables, y, and the gradient of `kept`
    row = root.locator('.trace tr:has(.op:text-is("tanh"))')
    assert row.locator(".bytes").inner_text() == "48 B"


def test_a_tone_for_each_step_once_sound_is_on(open_page: OpenPage, tmp_path: Path) -> None:
    x = lab.Variable(1.0, name="x")
    with lab.record() as recording:
        with lab.GradientTape() as tape:
            y = x * 4.0
            z = y / 16.0
        tape.gradient(z, x)
    root = explorer(open_page(save(recording, tmp_path)).page)
    root.evaluate(
        """() => {
            window.played = [];
            const Tone = window.OscillatorNode;
            window.OscillatorNode = function (context, options) {
                window.played.push([options.type, Math.round(options.frequency)]);
                return new Tone(context, options);
            };
        }"""
    )
    take_focus(root)
    press(root.page, "Home", "ArrowRight", "Home", "m", *["ArrowRight"] * 3, "m", "ArrowRight")
    assert root.evaluate("() => window.played") == [["sine", 880], ["sine", 220], ["triangle", 440]]
