"""Folds open in place, several at once, and stay as they were left: scopes and loops, by keys, clicks and search."""

from pathlib import Path

import pytest
from playwright.sync_api import Locator

import autodiff_lab as lab
from autodiff_lab.recording import Recording
from tests.browser.conftest import OpenNotebook, OpenPage, Screenshot
from tests.browser.pages import explorer, read_boxes, save, take_focus

TURNS = 8
COVERED = """root => {
    const found = [...root.querySelectorAll(".boxes .box .body")];
    const boxes = found.map(one => ({ one, ...one.getBoundingClientRect().toJSON() }));
    const before = (a, b) => a.right <= b.left + 1 || a.bottom <= b.top + 1;
    const covers = (a, b) => a.one !== b.one && !before(a, b) && !before(b, a);
    return boxes.filter(a => boxes.some(b => covers(a, b))).map(a => a.one.parentElement.dataset.key);
}"""


def program() -> Recording:
    """Two scopes side by side, one of them in another, and a loop behind them."""
    x, w = lab.constant([0.5, -1.0], name="x"), lab.Variable([0.3, 0.7], name="w")
    with lab.record(title="folds") as recording:
        with lab.GradientTape() as tape:
            with lab.name_scope("net"):
                with lab.name_scope("first"):
                    h = lab.tanh(x * w + 1.0)
                with lab.name_scope("second"):
                    h = lab.sin(h * w)
            with lab.name_scope("head"):
                y = lab.exp(h) * x
            for _ in range(TURNS):
                y = lab.sin(y) + w * y
            loss = lab.reduce_sum(y)
        tape.gradient(loss, w)
    return recording


@pytest.fixture
def root(open_page: OpenPage, tmp_path: Path) -> Locator:
    found = explorer(open_page(save(program(), tmp_path), width=1300).page)
    take_focus(found)
    return found


def open_fold(root: Locator, key: str) -> None:
    root.locator(f'.box[data-key="{key}"] .body').first.click()
    root.page.keyboard.press("Enter")


def frames(root: Locator) -> list[str]:
    return root.locator(".box.frame").evaluate_all("frames => frames.map(frame => frame.dataset.key)")


def test_scopes_open_side_by_side_and_inside_each_other(root: Locator) -> None:
    for key in ("snet", "snet/first", "shead", "snet/second"):
        open_fold(root, key)
        assert root.evaluate(COVERED) == []
    assert frames(root) == ["snet", "snet/first", "snet/second", "shead"]
    labels = root.locator(".boxes .box .label").all_text_contents()
    assert {"tanh", "sin", "exp"} <= set(labels)
    assert root.locator(".boxes .box.outside").count() == 0, "neighbours that are in sight are not drawn twice"
    root.page.keyboard.press("u")
    assert frames(root) == ["snet", "snet/first", "shead"], "the fold that was selected is closed, the others stay"
    root.locator('.frame[data-key="snet"] .close').click()
    assert frames(root) == ["shead"]


@pytest.mark.slow
def test_a_step_is_marked_inside_an_open_fold(root: Locator) -> None:
    open_fold(root, "snet")
    open_fold(root, "snet/first")
    root.page.keyboard.press("Home")
    for _ in range(3):
        root.page.keyboard.press("ArrowRight")
    root.page.wait_for_timeout(400)
    halo, tanh = root.locator(".halo").bounding_box(), root.locator('.box[data-key="a2"] .body').bounding_box()
    assert halo is not None
    assert tanh is not None
    assert halo["x"] < tanh["x"] + 2
    assert halo["y"] < tanh["y"] + 2
    assert halo["x"] + halo["width"] > tanh["x"] + tanh["width"] - 2


def test_an_open_loop_goes_along_with_the_steps(root: Locator) -> None:
    loop = root.locator('.box[data-key^="l"]')
    key = loop.get_attribute("data-key") or ""
    root.page.keyboard.press("Home")
    open_fold(root, key)
    frame = root.locator(".box.frame .head")
    assert f"1 of {TURNS}" in (frame.text_content() or "")
    root.page.keyboard.press("Escape")
    root.page.keyboard.press("End")
    assert f"1 of {TURNS}" in (frame.text_content() or ""), "the backward pass ends in the first iteration"
    root.page.keyboard.press("]")
    assert f"2 of {TURNS}" in (frame.text_content() or "")
    assert {"turn 1", "turn 3"} <= set(root.locator(".box.outside .label").all_text_contents())


@pytest.mark.slow
def test_a_search_opens_the_folds_around_what_it_finds(root: Locator) -> None:
    root.page.keyboard.press("/")
    root.page.keyboard.type("tanh")
    assert frames(root) == ["snet", "snet/first"]
    assert root.locator(".box.selected .label").text_content() == "tanh"


COUNT_GLIDES = """() => {
    const { animate } = Element.prototype;
    window.glides = 0;
    Element.prototype.animate = function (...given) {
        window.glides += Boolean(this.closest(".world"));
        return animate.apply(this, given);
    };
}"""


def test_folds_glide_unless_less_motion_is_asked_for(root: Locator) -> None:
    moving = "() => document.getAnimations().filter(one => one.effect.target.closest('.world')).length"
    root.page.evaluate(COUNT_GLIDES)  # they may be over before the page is asked
    root.page.emulate_media(reduced_motion="no-preference")
    open_fold(root, "snet")
    assert root.page.evaluate("glides") > 0
    root.page.emulate_media(reduced_motion="reduce")
    before = root.page.evaluate("glides")
    open_fold(root, "shead")
    assert root.page.evaluate("glides") == before
    root.page.keyboard.press("+")
    assert root.page.evaluate(moving) == 0


@pytest.mark.slow
def test_open_folds_in_the_dark_and_in_a_small_window(
    open_page: OpenPage, tmp_path: Path, screenshot: Screenshot
) -> None:
    for width, dark in ((1300, False), (640, True)):
        view = open_page(save(program(), tmp_path), width=width)
        shown = explorer(view.page)
        take_focus(shown)
        open_fold(shown, "snet")
        open_fold(shown, "snet/second")
        view.page.keyboard.press("Escape")
        screenshot(view, f"explorer-folds-{width}", dark=dark, width=width)
        assert frames(shown) == ["snet", "snet/second"]


NOTEBOOK = """import autodiff_lab as lab
from autodiff_lab.widgets.explorer import Explorer
x = lab.Variable(3.0, name="x")
with lab.record() as recording:
    with lab.name_scope("one"):
        y = lab.sin(x * x)
    with lab.name_scope("two"):
        z = lab.exp(y) + y
shown = Explorer(recording, unfolded=["one"])
shown"""


@pytest.mark.slow
def test_folds_stay_as_they_were_left_in_a_second_view(open_notebook: OpenNotebook) -> None:
    view = open_notebook([NOTEBOOK, "shown"])
    first, second = (view.page.locator(".explorer").nth(place) for place in (0, 1))
    assert "sone" in frames(first)
    open_fold(first, "stwo")
    second.locator('.frame[data-key="stwo"]').wait_for()
    assert frames(second) == ["sone", "stwo"]
    assert "sin" in [box["label"] for box in read_boxes(second).values()]
