"""A user's training loop in an exported page: iterations, gradients as leaves, no edge across a box."""

import runpy
from pathlib import Path

import pytest

import autodiff_lab as lab
from autodiff_lab.recording import Recording
from tests.browser.conftest import OpenPage, Screenshot
from tests.browser.pages import explorer, numbers, read_boxes, read_step, save, take_focus
from tests.draw.test_training import loop

PROGRAMS = Path(__file__).parents[1] / "data"

COVERED = """root => {
    const apart = (a, b) => a.right <= b.left || b.right <= a.left || a.bottom <= b.top + 1 || b.bottom <= a.top + 1;
    const boxes = [...root.querySelectorAll(".box .body")].map(box => box.getBoundingClientRect());
    const labels = [...root.querySelectorAll(".shares text")].filter(label => label.textContent);
    return [labels.length, labels.filter(label => {
        const room = label.getBoundingClientRect();
        const ink = { left: room.left, right: room.right, top: room.top + 3, bottom: room.bottom - 3 };
        return boxes.some(box => !apart(ink, box));
    }).map(label => label.textContent)];
}"""


def recorded(name: str, monkeypatch: pytest.MonkeyPatch) -> Recording:
    """Record one of the programs as the shell command does."""
    monkeypatch.setattr("builtins.print", lambda *_: None)
    with lab.record(title=f"{name}.py") as recording:
        runpy.run_path(str(PROGRAMS / f"{name}.py"))
    return recording.so_far()


def test_one_turn_is_open_and_the_picture_goes_along(open_page: OpenPage, tmp_path: Path) -> None:
    root = explorer(open_page(save(loop(named=False), tmp_path)).page)

    def opened() -> list[str | None]:
        return [frame.get_attribute("data-key") for frame in root.locator(".box.frame").all()]

    assert opened() == ["spass 1"]
    take_focus(root)
    seen = opened()
    while "backward" not in read_step(root)["counter"] or opened() == ["spass 1"]:
        root.page.keyboard.press("ArrowRight")
        seen += opened()
    assert set(seen) == {"spass 1", "spass 2"}
    here = read_step(root)
    root.page.keyboard.press("]")
    assert opened() == ["spass 3"]
    assert read_step(root)["application"] > here["application"]
    assert "backward" in read_step(root)["counter"], "the same step of the next turn"
    root.locator(".menu summary").click()
    root.get_by_role("button", name="Previous iteration").click()
    assert read_step(root)["step"] == here["step"]


def test_a_gradient_appears_when_its_pass_delivers_it(open_page: OpenPage, tmp_path: Path) -> None:
    root = explorer(open_page(save(loop(named=False), tmp_path)).page)
    take_focus(root)

    def shown() -> str:
        return next(box["value"] for box in read_boxes(root).values() if box["label"] == "∂loss/∂w")

    assert shown() == "…"
    while shown() == "…":
        root.page.keyboard.press("ArrowRight")
    assert "backward" in read_step(root)["counter"]
    assert numbers(shown()) == [-8], "mean of 2 (0 − 2) times 1, 2 and 3"
    assert root.locator(".edge.adjoint").count() == 1


@pytest.mark.slow
@pytest.mark.parametrize("name", ["two_layer_net", "newton"])
def test_numbers_beside_edges_cover_no_box(
    name: str, open_page: OpenPage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = explorer(open_page(save(recorded(name, monkeypatch), tmp_path)).page)
    take_focus(root)
    for folded in root.locator(".box.loop").all():
        folded.click()
        root.page.keyboard.press("Enter")
    labels = 0
    for _ in range(16):
        root.page.keyboard.press("ArrowRight")
        count, covering = root.evaluate(COVERED)
        labels += count
        assert covering == []
    assert labels >= 2, "long numbers stay on the card, short ones are there"


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize(("width", "height"), [(1300, 1000), (1300, 500), (640, 1000)])
def test_the_page_fills_the_window(
    open_page: OpenPage,
    tmp_path: Path,
    screenshot: Screenshot,
    monkeypatch: pytest.MonkeyPatch,
    width: int,
    height: int,
) -> None:
    view = open_page(save(recorded("newton", monkeypatch), tmp_path), width=width)
    view.set_width(width, height)
    root = explorer(view.page)
    graph, whole = root.locator(".graph").bounding_box(), root.bounding_box()
    assert graph is not None
    assert whole is not None
    assert graph["height"] >= min(420, height - 320)
    assert whole["height"] >= height - 40
    assert view.page.evaluate("() => document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    screenshot(view, f"training-{width}-{height}", width=width, height=height)
