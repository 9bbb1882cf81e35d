"""Tensors as pictures in a browser: cells on nodes, and on the card the sum that makes the cell under the pointer."""

from pathlib import Path

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab import lessons
from autodiff_lab.recording import Recording
from tests.browser.conftest import OpenPage, Screenshot
from tests.browser.pages import explorer, numbers, save, take_focus

LIT = """root => [...root.querySelectorAll(".flow")[0].querySelectorAll(".board svg")].map(board => {
    const lit = board.querySelector(".lit").getAttribute("d") ?? "";
    return (lit.match(/M/g) ?? []).length;
})"""


def layer() -> tuple[Recording, np.ndarray, np.ndarray]:
    """Record a layer with a bias, and return what the last product multiplies: the incoming gradient and W."""
    random = np.random.default_rng(0)
    x = lab.Variable(random.standard_normal((5, 8)), name="x")
    w = lab.Variable(random.standard_normal((8, 8)), name="W")
    b = lab.Variable(random.standard_normal(8), name="b")
    with lab.record() as recording:
        with lab.GradientTape() as tape:
            y = x @ w + b
            loss = lab.reduce_sum(y * y)
        tape.gradient(loss, [x, w, b])
    incoming = 2 * (x.numpy() @ w.numpy() + b.numpy())
    return recording, incoming, w.numpy()


def test_a_cell_of_the_result_lights_up_its_row_and_column_and_says_the_sum(
    open_page: OpenPage, tmp_path: Path, screenshot: Screenshot
) -> None:
    recording, incoming, w = layer()
    view = open_page(save(recording, tmp_path))
    page, root = view.page, explorer(view.page)
    take_focus(root)
    assert root.locator(".box .cells.value path").count() > 0
    page.keyboard.press("End")
    boards = root.locator(".flow").first.locator(".board")
    assert [board.inner_text() for board in boards.all()] == ["incoming [5×8]", "Wᵀ [8×8]", "to x [5×8]"]
    result = boards.nth(2).locator("svg")
    box = result.bounding_box()
    assert box is not None
    row, column = 2, 3
    page.mouse.move(box["x"] + 5 + 12 * column + 6, box["y"] + 5 + 12 * row + 6)
    said = root.locator(".flow").first.locator(".cell")
    assert said.inner_text().startswith("to x[2, 3] = ")
    assert root.evaluate(LIT) == [8, 8, 1], "a row of eight, a column of eight, and one cell"
    assert numbers(said.inner_text().rpartition("= ")[2])[0] == pytest.approx(
        float(incoming[row] @ w[column]), rel=1e-3
    )
    screenshot(view, "explorer-tensors")
    screenshot(view, "explorer-tensors-dark", dark=True)
    screenshot(view, "explorer-tensors-narrow", width=640)
    page.mouse.move(2, 2)
    assert root.evaluate(LIT) == [0, 0, 0]
    step = root.get_attribute("data-step")
    result.focus()
    for key in ("ArrowDown", "ArrowRight"):
        page.keyboard.press(key)
    assert said.inner_text().startswith("to x[1, 1] = ")
    assert root.get_attribute("data-step") == step, "the arrow keys of a table do not step"


def test_a_broadcast_bias_is_summed_along_a_bar(open_page: OpenPage, tmp_path: Path) -> None:
    recording, incoming, _ = layer()
    page = open_page(save(recording, tmp_path)).page
    root = explorer(page)
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    flow = root.locator(".flow").filter(has_text="to b")
    assert flow.locator(".lens").inner_text() == "[5×8] → sum axis 0 → [8]"
    assert flow.locator(".bar").count() == 1
    flow.locator(".board svg").last.focus()
    page.keyboard.press("ArrowRight")
    said = flow.locator(".cell").inner_text()
    assert said.startswith("to b[1] = ")
    assert numbers(said.rpartition("= ")[2])[0] == pytest.approx(float(incoming[:, 1].sum()), rel=1e-3)
    assert root.locator(".shares text").filter(has_text="sum axis 0").count() <= 1


def test_an_element_that_is_stretched_lights_up_its_copies(open_page: OpenPage, tmp_path: Path) -> None:
    page = open_page(save(lessons.shape_lens((3, 1), (1, 4)).recording, tmp_path)).page
    root = explorer(page)
    take_focus(root)
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    boards = root.locator(".board svg")
    assert [boards.nth(at).locator(".hatch").count() for at in range(3)] == [1, 1, 0]
    hatched = [(boards.nth(at).locator(".hatch").get_attribute("d") or "").count("M") for at in range(2)]
    assert hatched == [12 - 3, 12 - 4], "all but the first of each element"
    boards.nth(0).hover(position={"x": 5 + 2 * 12 + 6, "y": 5 + 12 + 6})
    assert root.locator(".card .cell").inner_text() == "a[1, 0] = 2, used 4 times"
    assert [(boards.nth(at).locator(".lit").get_attribute("d") or "").count("M") for at in range(3)] == [4, 0, 4]
    boards.nth(2).focus()
    page.keyboard.press("ArrowRight")
    assert root.locator(".card .cell").inner_text().endswith("[0, 1] = 1 + 20 = 21")
    assert [(boards.nth(at).locator(".lit").get_attribute("d") or "").count("M") for at in range(3)] == [1, 1, 1]


def test_odd_tensors_are_shown_and_nothing_throws(open_page: OpenPage, tmp_path: Path) -> None:
    """Numbers that are not finite, no elements, booleans, complex numbers, strings and many elements."""
    odd = np.array([np.nan, np.inf, -np.inf, -0.0, 1e300, -1e-300, 1.0, 2.0])
    with lab.record() as recording:
        _ = [
            lab.constant(odd, name="odd") + 1.0,
            lab.zeros((0, 8)) + 1.0,
            lab.constant([[True, False] * 5]) & lab.constant([[True] * 10]),
            lab.constant([1j] * 10) + 1.0,
            lab.constant(np.random.default_rng(0).standard_normal((30, 40)), name="many") * 2.0,
            lab.constant(np.arange(12.0).reshape(2, 3, 2)) * lab.constant(np.arange(2.0)),
        ]
    page = open_page(save(recording, tmp_path)).page
    root = explorer(page)
    page.keyboard.press("Home")
    for _ in recording.order:
        page.keyboard.press("ArrowRight")
        for board in root.locator(".board svg[tabindex]").all():
            board.focus()
        take_focus(root)
    bad = root.locator(".box .cells .level-bad")
    assert bad.count() >= 1, "nan and inf are crosses"
    assert root.locator(".box").filter(has_text="many").locator(".cells path").count() == 1, "a histogram"
