"""A recording that runs, in an exported page with the network off: drag an input, type into a tensor, all follows."""

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.recording import Recording
from tests.browser.conftest import OpenPage, Screenshot
from tests.browser.pages import explorer, numbers, read_step, save, take_focus

DRAG = """async ({ root, frames }) => {
    const box = root.querySelector(".box.tunable").getBoundingClientRect();
    const body = root.querySelector(".box.tunable .body");
    const at = (kind, x) => (kind === "pointerdown" ? body : document).dispatchEvent(
        new PointerEvent(kind, { clientX: x, clientY: box.y + 9, button: 0, bubbles: true, cancelable: true }));
    at("pointerdown", box.x);
    const started = performance.now();
    for (let frame = 1; frame <= frames; frame += 1) {
        performance.mark(`frame ${frame}`);
        at("pointermove", box.x + 4 + 2 * frame);
        await new Promise(done => requestAnimationFrame(() => setTimeout(done)));
    }
    performance.mark(`frame ${frames + 1}`);
    const took = performance.now() - started;
    at("pointerup", box.x + 4 + 2 * frames);
    return took / frames;
}"""


def sine() -> Recording:
    x = lab.Variable(3.0, name="x")
    with lab.record(title="y = x·x + sin x") as recording:
        with lab.GradientTape() as tape:
            y = x * x + lab.sin(x)
            if y > 5:
                y = y * 1.0
        tape.gradient(y, x)
    return recording


def chain(count: int) -> Recording:
    """Record a chain of scalar ops and its gradient: `count` ops forward."""
    x = lab.Variable(0.5, name="x")
    with lab.record() as recording:
        with lab.GradientTape() as tape:
            y = x * 1.0
            for at in range(count - 1):
                with lab.name_scope("some" if at % 10 else "other"):
                    y = lab.sin(y) if at % 3 else y + x
        tape.gradient(y, x)
    return recording


def tensors() -> Recording:
    b = lab.Variable([[1.0, 2.0], [3.0, -1.0]], name="B")
    with lab.record() as recording:
        with lab.GradientTape() as tape:
            y = lab.reduce_sum(lab.tanh(b @ b))
        tape.gradient(y, b)
    return recording


def test_a_dragged_input_changes_values_gradients_card_and_table(open_page: OpenPage, tmp_path: Path) -> None:
    view = open_page(save(sine(), tmp_path))
    root = explorer(view.page)
    take_focus(root)
    view.page.keyboard.press("End")
    view.page.keyboard.press("t")
    input_box = root.locator(".box.tunable")
    input_box.hover()  # waits until it stands still and would get the click; `mouse.move` alone waits for nothing
    box = input_box.bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    view.page.mouse.move(x, y)
    view.page.mouse.down()
    view.page.mouse.move(x - 40, y, steps=4)
    view.page.mouse.up()
    new = 3.0 - 0.01 * 20
    assert root.locator(".box.tunable .value").text_content() == "2.8"
    want = 2 * new + math.cos(new)
    step = read_step(root)
    assert numbers(step["flows"][1]["total"]["full"])[0] == pytest.approx(want, rel=1e-6)
    assert numbers(step["flows"][1]["local"]["full"])[0] == pytest.approx(new)
    row = root.locator('.trace tr[data-tensor="0"]')
    assert numbers(row.locator(".gradient").get_attribute("data-full") or "")[0] == pytest.approx(want, rel=1e-6)
    assert "x (was 3)" in root.locator(".tuner").inner_text()
    take_focus(root)
    for _ in range(3):
        view.page.keyboard.press("ArrowLeft")
    assert root.locator('.box[data-key="a0"] .value').text_content() == "7.84", "stepping goes on with the new numbers"
    assert "another way" not in root.locator(".tuner").inner_text()
    view.page.keyboard.press("r")
    assert root.locator(".box.tunable .value").text_content() == "3"
    assert root.locator(".tuner .reset").is_hidden()


def test_keys_change_an_input_and_say_when_python_might_have_gone_another_way(
    open_page: OpenPage, tmp_path: Path, screenshot: Screenshot
) -> None:
    view = open_page(save(sine(), tmp_path))
    root = explorer(view.page)
    take_focus(root)
    while "x:" not in root.locator(".inspector").inner_text():
        view.page.keyboard.press("ArrowDown")
    for _ in range(3):
        view.page.keyboard.press("Shift+ArrowLeft")
    assert root.locator(".box.tunable .value").text_content() == "2.7"
    view.page.keyboard.press("Enter")
    view.page.keyboard.type("1.5")
    assert "it was True, now False: Python might have gone another way" in root.locator(".tuner").inner_text()
    screenshot(view, "a_changed_input")
    view.page.keyboard.press("Escape")
    view.page.keyboard.press("r")
    assert "another way" not in root.locator(".tuner").inner_text()


def test_a_cell_of_a_tensor_can_be_typed_and_nonsense_is_refused(open_page: OpenPage, tmp_path: Path) -> None:
    view = open_page(save(tensors(), tmp_path))
    root = explorer(view.page)
    root.locator(".box.variable").click()
    cell = root.get_by_label("B[0, 1]")
    cell.fill("7")
    assert cell.input_value() == "7", "a field that gets the focus is replaced by what is typed"
    cell.fill("abc")
    assert cell.get_attribute("aria-invalid") is not None
    cell.fill("0.25")
    assert cell.get_attribute("aria-invalid") is None
    cell.press("Enter")
    view.page.keyboard.press("End")
    b = np.array([[1.0, 0.25], [3.0, -1.0]])
    slope = 1 - np.tanh(b @ b) ** 2
    want = slope @ b.T + b.T @ slope
    total = numbers(read_step(root)["flows"][1]["total"]["full"])
    assert total == pytest.approx(want.ravel().tolist(), rel=1e-5)
    assert "[[1, 0.25], [3, −1]]" in (root.locator(".box.variable .value").text_content() or "")


@pytest.mark.slow
def test_frames_while_dragging(open_page: OpenPage, tmp_path: Path, figure: Callable[[str, str], None]) -> None:
    view = open_page(save(chain(50), tmp_path))
    root = explorer(view.page)
    before = root.locator(".box.tunable .value").text_content()
    took = root.evaluate("(root, frames) => (" + DRAG + ")({ root, frames })", 40)
    assert root.locator(".box.tunable .value").text_content() != before
    figure("dragging an input of a graph of 50 ops", f"{1000 / took:.0f} frames a second")


def test_a_finger_drags_as_a_mouse_does(open_page: OpenPage, tmp_path: Path) -> None:
    view = open_page(save(sine(), tmp_path))
    view.set_width(390)
    root = explorer(view.page)
    box = root.locator(".box.tunable").bounding_box()
    assert box is not None
    view.keep = None  # it has a session of its own with the browser
    touch = view.page.context.new_cdp_session(view.page)
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    touch.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": x, "y": y}]})
    for across in (10, 20, 30, 40):
        touch.send("Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": [{"x": x + across, "y": y}]})
    touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    assert "x (was 3)" in root.locator(".tuner").inner_text()
