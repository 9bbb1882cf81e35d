"""Two backward passes side by side, and nested tapes as frames; by keys and by lists."""

from pathlib import Path

import pytest
from playwright.sync_api import Locator

import autodiff_lab as lab
from autodiff_lab.recording import Recording
from tests.browser.conftest import OpenPage, Screenshot
from tests.browser.pages import explorer, read_boxes, read_step, save, take_focus


def two_losses() -> Recording:
    w, b = lab.Variable(2.0, name="w"), lab.Variable(0.5, name="b")
    with lab.record(title="two losses") as recording:
        with lab.GradientTape(persistent=True) as tape:
            fit = w * 3.0 + b
            size = w * w
        tape.gradient(fit, [w, b])
        tape.gradient(size, [w, b])
    return recording


def second_derivative() -> Recording:
    x = lab.Variable(2.0, name="x")
    with lab.record(title="nested tapes") as recording:
        with lab.GradientTape() as outer:
            with lab.GradientTape() as inner:
                y = x * x * x
            slope = inner.gradient(y, x)
        outer.gradient(slope, x)
    return recording


@pytest.fixture
def root(open_page: OpenPage, tmp_path: Path) -> Locator:
    found = explorer(open_page(save(two_losses(), tmp_path)).page)
    take_focus(found)
    return found


def adjoints(root: Locator) -> list[list[str]]:
    return root.locator(".adjoints tr").evaluate_all("rows => rows.map(row => [...row.cells].map(c => c.textContent))")


def gradient_of(root: Locator, name: str) -> str:
    return next(box["gradient"] for box in read_boxes(root).values() if box["label"] == name)


def test_a_pass_is_chosen_by_a_key_and_by_its_list(root: Locator) -> None:
    page = root.page
    page.keyboard.press("End")
    assert gradient_of(root, "w") == "4"
    page.keyboard.press("g")
    assert gradient_of(root, "w") == "3"
    assert root.locator(".live").inner_text() == "Gradients of pass 1: ∂fit/∂(w, b)."
    root.get_by_label("gradients of").select_option("2: ∂size/∂(w, b)")
    assert (gradient_of(root, "w"), gradient_of(root, "b")) == ("4", "no path")


def test_two_passes_are_compared_and_either_is_stepped(root: Locator) -> None:
    page = root.page
    page.keyboard.press("G")
    assert adjoints(root)[0] == ["adjoint of", "1: ∂fit/∂(w, b)", "2: ∂size/∂(w, b)"]
    by_name = {box.get_attribute("data-key"): box.get_attribute("data-reach") for box in root.locator(".box").all()}
    reached = {label["label"]: by_name[key] for key, label in read_boxes(root).items()}
    assert (reached["w"], reached["b"]) == ("both", "one")
    for _ in range(len(by_name)):
        page.keyboard.press("ArrowDown")
        if root.locator(".box.selected .label").text_content() == "w":
            break
    assert adjoints(root)[1] == ["w", "3", "4"]
    page.keyboard.press("Escape")
    before = read_step(root)["step"]
    page.keyboard.press("ArrowLeft")  # back in pass 1; pass 2 stays where it is
    page.keyboard.press("x")
    assert "backward 2" in read_step(root)["counter"]
    page.keyboard.press("x")
    assert read_step(root)["step"] == before - 1
    page.keyboard.press("G")
    assert not adjoints(root)


def test_the_words_of_the_lists_say_what_they_are(root: Locator) -> None:
    assert root.locator(".passes").get_attribute("aria-label") == "Backward passes"
    root.page.keyboard.press("G")
    assert root.locator(".passes .legend").inner_text().split("\n") == ["only 1", "only 2", "both"]


@pytest.mark.parametrize("width", [1300, 640])
def test_two_passes_in_pictures(open_page: OpenPage, tmp_path: Path, screenshot: Screenshot, width: int) -> None:
    view = open_page(save(two_losses(), tmp_path), width=width)
    take_focus(explorer(view.page))
    view.page.keyboard.press("G")
    for dark in (False, True):
        screenshot(view, f"explorer-passes-{width}{'-dark' * dark}", dark=dark, width=width)


def test_nested_tapes_are_frames_that_close(open_page: OpenPage, tmp_path: Path, screenshot: Screenshot) -> None:
    view = open_page(save(second_derivative(), tmp_path))
    root = explorer(view.page)
    frames = root.locator(".box.frame .head")
    assert sorted(frames.all_text_contents()) == ["gradient of y6 ops", "inner tape2 ops"]
    assert root.locator(".box.of-pass").count() == root.locator(".box.of-tape").count() == 1
    screenshot(view, "explorer-nested-tapes")
    root.locator(".box.of-pass .close").click()
    assert root.locator(".box.frame").count() == 1
    assert "an outer tape recorded: 6 ops; Enter opens it" in root.locator(".inspector").inner_text()


def test_a_program_with_one_pass_has_no_lists(open_page: OpenPage, tmp_path: Path) -> None:
    x = lab.Variable(3.0, name="x")
    with lab.record() as recording, lab.GradientTape() as tape:
        tape.gradient(x * x, x)
    root = explorer(open_page(save(recording, tmp_path)).page)
    assert root.locator(".passes").is_hidden()
    take_focus(root)
    root.page.keyboard.press("?")
    assert "compare" not in root.locator(".help").inner_text()
