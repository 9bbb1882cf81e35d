"""What a page shows before anything is touched: the whole program, its input and its loss, in letters one can read."""

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import autodiff_lab as lab
from autodiff_lab.recording import Recording
from tests.browser.conftest import OpenPage, Screenshot
from tests.browser.pages import explorer, read_step, save, take_focus
from tests.browser.test_training_page import recorded

SMALLEST = 11.0
"""Pixels on the screen."""
SIGHT = """root => {
    const panel = root.querySelector(".graph").getBoundingClientRect();
    const shown = text => text.textContent && getComputedStyle(text).display !== "none" && text.getClientRects().length;
    const boxes = [...root.querySelectorAll(".box")].map(box => {
        const at = box.querySelector(".body").getBoundingClientRect();
        const across = at.left >= panel.left && at.right <= panel.right;
        const inside = across && at.top >= panel.top && at.bottom <= panel.bottom;
        return { words: box.textContent, inside };
    });
    const scale = new DOMMatrix(getComputedStyle(root.querySelector(".world")).transform).a;
    const sizes = [...root.querySelectorAll(".box text, .box tspan")].filter(shown)
        .map(text => scale * parseFloat(getComputedStyle(text).fontSize));
    return { boxes, smallest: Math.min(...sizes), scale };
}"""
PROGRAMS = {
    "attention": ("X", "loss"),
    "cnn_step": ("images", "loss"),
    "rnn": ("input", "loss"),
    "rnn of 100": ("input", "loss"),
    "euler": ("stiffness", "loss"),
    "transformer_block": ("X", "loss"),
    "mlp_training": ("X", "loss"),
}


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_opens_whole_with_its_input_and_its_loss(
    name: str,
    open_page: OpenPage,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    figure: Callable[[str, str], None],
    screenshot: Screenshot,
) -> None:
    if name.endswith("100"):
        monkeypatch.setenv("RNN_STEPS", "100")
    recording = recorded(name.partition(" ")[0], monkeypatch)
    begun = time.process_time()
    file = save(recording, tmp_path)
    figure(f"CPU seconds to write the page of {name}", f"{time.process_time() - begun:.2f}")
    view = open_page(file, width=1300)
    root = explorer(view.page)
    seen = root.evaluate(SIGHT)
    assert all(box["inside"] for box in seen["boxes"]), [b["words"] for b in seen["boxes"] if not b["inside"]]
    words = " ".join(box["words"] for box in seen["boxes"])
    for wanted in PROGRAMS[name]:
        assert wanted in words, (wanted, words)
    assert round(seen["smallest"], 1) >= SMALLEST, seen
    for dark in (False, True):
        for wide in (1300, 640):
            theme = "dark" if dark else "light"
            screenshot(view, f"first-sight-{name.replace(' ', '-')}-{wide}-{theme}", dark=dark, width=wide)


@pytest.mark.slow
def test_a_loop_is_one_node_that_opens_at_the_current_iteration(
    open_page: OpenPage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = explorer(open_page(save(recorded("rnn", monkeypatch), tmp_path)).page)
    loop = root.locator('.box[data-key^="l"]')
    assert loop.count() == 1
    assert "for x in xs" in (loop.text_content() or "")
    assert "×20" in (loop.text_content() or "")
    assert loop.locator(".series").count() == 2, "the size of h, and of its gradient"
    assert root.locator(".edge.carried").count() == 1
    take_focus(root)
    root.page.keyboard.press("Home")
    for _ in range(13):
        root.page.keyboard.press("ArrowRight")
    assert loop.locator(".turn").is_visible()
    loop.click()
    root.page.keyboard.press("Enter")
    frame = root.locator(".box.frame .head")
    assert "3 of 20" in (frame.text_content() or ""), "the thirteenth of five ops each"
    root.page.keyboard.press("]")
    assert "4 of 20" in (frame.text_content() or "")
    root.page.keyboard.press("u")
    assert frame.count() == 0


@pytest.mark.slow
def test_a_training_loop_shows_the_loss_of_the_step_that_one_is_at(
    open_page: OpenPage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recording = recorded("mlp_training", monkeypatch)
    losses = [recording.tensors[sweep.targets[0]].snapshot.array for sweep in recording.sweeps]
    root = explorer(open_page(save(recording, tmp_path)).page)
    take_focus(root)
    value = root.locator('.box[data-key^="l"] .value')
    root.page.keyboard.press("Home")
    assert value.text_content() == "loss …"
    each = len(recording.order) // len(losses)
    for done, loss in enumerate(losses[:2], start=1):
        while read_step(root)["step"] < each * done:
            root.page.keyboard.press("ArrowRight")
        assert value.text_content() == f"loss {loss:.4g}"
    root.page.keyboard.press("End")
    assert value.text_content() == f"loss {losses[-1]:.4g}"


def test_full_screen_and_back(open_page: OpenPage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = open_page(save(recorded("attention", monkeypatch), tmp_path)).page
    root = explorer(page)
    root.get_by_role("button", name="Full screen").click()
    page.wait_for_function("document.fullscreenElement !== null")
    take_focus(root)
    page.keyboard.press("F")
    page.wait_for_function("document.fullscreenElement === null")


SMALL = """root => [...root.querySelectorAll(".box")].map(box => {
    const body = box.querySelector(".body").getBoundingClientRect();
    const shown = [...box.querySelectorAll(".chip, .small")].filter(text => text.getBoundingClientRect().width);
    const inside = shown.map(text => text.getBoundingClientRect()).every(({ left, right, top, bottom }) => (
        left >= body.left - 1 && right <= body.right + 1 && top >= body.top - 1 && bottom <= body.bottom + 1));
    const small = shown.filter(text => text.matches(".small"));
    return { inside, numbers: small.map(text => text.textContent), of: small.map(text => text.classList[1]) };
})"""


def chain() -> Recording:
    x = lab.Variable(0.7, name="x")
    with lab.record(title="a chain of eight") as recording, lab.GradientTape() as tape:
        y = lab.sin(lab.exp(lab.cos(lab.tanh(lab.sqrt(lab.square(lab.sigmoid(-x)))))))
        tape.gradient(y, x)
    return recording


def test_small_boxes_show_their_numbers_where_there_is_room(open_page: OpenPage, tmp_path: Path) -> None:
    page = open_page(save(chain(), tmp_path), width=900).page
    root = explorer(page)
    take_focus(root)
    page.keyboard.press("End")
    assert root.evaluate(SIGHT)["scale"] < 0.92
    seen = root.evaluate(SMALL)
    assert all(box["inside"] for box in seen), seen
    assert all(len(box["numbers"]) == 2 for box in seen), seen
    assert seen[0]["numbers"][0] == "0.7"
    assert not root.locator(".enlarge").is_visible()


def test_where_one_line_has_room_it_is_the_gradient_on_the_way_back(open_page: OpenPage, tmp_path: Path) -> None:
    x, w = lab.constant([[0.1], [0.2], [0.3], [0.4]], name="x"), lab.Variable([[1.0]], name="w")
    with lab.record() as recording:
        for _ in range(3):
            with lab.GradientTape() as tape:
                loss = lab.reduce_mean(lab.square(lab.tanh(x @ w) - 0.5))
            w.assign_sub(0.1 * tape.gradient(loss, w))
    root = explorer(open_page(save(recording, tmp_path), width=1040).page)
    take_focus(root)
    root.page.keyboard.press("Home")
    for presses, shown in ((5, {"small-value"}), (2, {"small-value", "small-gradient"})):
        for _ in range(presses):
            root.page.keyboard.press("ArrowRight")
        seen = root.evaluate(SMALL)
        assert all(box["inside"] and len(box["of"]) < 2 for box in seen), seen
        assert {kind for box in seen for kind in box["of"]} == shown, seen


def test_where_there_is_no_room_a_button_shows_the_numbers(open_page: OpenPage, tmp_path: Path) -> None:
    page = open_page(save(chain(), tmp_path), width=400).page
    root = explorer(page)
    take_focus(root)
    page.keyboard.press("End")
    for _ in range(4):
        page.keyboard.press("-")
    assert not any(box["numbers"] for box in root.evaluate(SMALL))
    root.locator(".enlarge").click()
    assert root.locator(".box .slot text.value").first.is_visible()
    assert not root.locator(".enlarge").is_visible()
    page.keyboard.press("Home")
    assert read_step(root)["step"] == 0, "the keys go to the picture again"


@pytest.mark.parametrize("error", [None, "AttributeError: no such name"])
def test_an_empty_recording_says_so_and_offers_nothing_to_drag(
    open_page: OpenPage, tmp_path: Path, error: str | None
) -> None:
    with lab.record() as recording:
        pass
    root = explorer(open_page(save(replace(recording, error=error), tmp_path, "empty")).page)
    said = "No op was recorded before the program ended with" if error else "No op was recorded: none ran"
    for place in (".notice", ".card", ".live"):
        assert said in root.locator(place).inner_text()
        assert (error or "") in root.locator(place).inner_text()
    assert "Drag" not in root.inner_text()
    assert "steps; nothing has run yet" not in root.inner_text()
