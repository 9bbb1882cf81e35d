"""An exported page, opened from disk with the network off: it steps, it shows the numbers, and nothing else runs.

The fixtures require every page to be clean: no console error, no exception, no request.
"""

from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Browser

import autodiff_lab as lab
from autodiff_lab.draw.page import page as page_of
from autodiff_lab.recording import Recording
from tests.browser.conftest import OpenPage, Screenshot
from tests.browser.pages import explorer, numbers, read_boxes, read_step, save, take_focus
from tests.draw import handmade


def test_the_page_steps_by_keyboard_and_says_each_step(open_page: OpenPage, tmp_path: Path) -> None:
    view = open_page(save(handmade.sine(), tmp_path))
    root = explorer(view.page)
    assert read_step(root)["counter"] == "Step 3 of 6 · forward", "a page opens where the forward pass ends"
    take_focus(root)
    view.page.keyboard.press("Home")
    assert read_step(root)["counter"] == "Start · 6 steps"
    said = set()
    for step in range(1, 7):
        view.page.keyboard.press("ArrowRight")
        assert read_step(root)["step"] == step
        said.add(read_step(root)["live"])
    assert len(said) == 6, "every step has a sentence of its own"
    view.page.keyboard.press("ArrowRight")
    assert read_step(root)["step"] == 6, "after the last step there is none"
    view.page.keyboard.press("ArrowLeft")
    view.page.keyboard.press("ArrowLeft")
    assert read_step(root)["step"] == 4


def test_incoming_times_local_is_outgoing_and_contributions_add_up(open_page: OpenPage, tmp_path: Path) -> None:
    root = explorer(open_page(save(handmade.sine(), tmp_path)).page)
    take_focus(root)
    root.page.keyboard.press("End")
    first, second = read_step(root)["flows"]
    for flow in (first, second):
        product = numbers(flow["incoming"]["full"])[0] * numbers(flow["local"]["full"])[0]
        assert product == pytest.approx(numbers(flow["outgoing"]["full"])[0])
    assert [first["gathering"], second["gathering"]] == [
        "x has 2 of 3 contributions", "x has 3 of 3 contributions"]  # fmt: skip
    assert numbers(second["total"]["short"]) == [5.01]


def test_a_value_used_twice_has_two_edges_and_gradients_come_back_on_both(open_page: OpenPage, tmp_path: Path) -> None:
    root = explorer(open_page(save(handmade.sine(), tmp_path)).page)
    edges = root.locator('.edge[data-tensor="0"]')
    assert edges.count() == 3, "x goes into both inputs of the product and into the sine"
    assert root.locator(".back").count() == 0
    take_focus(root)
    root.page.keyboard.press("End")
    assert root.locator('.back[data-passed="yes"]').count() == 5
    root.page.keyboard.press("Home")
    assert root.locator('.back[data-passed="yes"]').count() == 0


def test_not_yet_zero_and_no_path_are_three_marks(open_page: OpenPage, tmp_path: Path) -> None:
    root = explorer(open_page(save(handmade.two_sweeps(), tmp_path)).page)
    take_focus(root)
    leaves = {box["label"]: box for box in read_boxes(root).values()}
    assert leaves["x"]["gradient"] == "…"
    root.page.keyboard.press("End")
    leaves = {box["label"]: box for box in read_boxes(root).values()}
    assert leaves["w"]["gradient"] == "no path"
    assert leaves["x"]["gradient"] == "0"
    root.page.keyboard.press("t")
    assert root.locator("td.gradient").all_inner_texts().count("no path") >= 1


def test_the_halo_is_around_the_current_node(open_page: OpenPage, tmp_path: Path) -> None:
    root = explorer(open_page(save(handmade.sine(), tmp_path)).page)
    take_focus(root)
    root.page.keyboard.press("ArrowRight")
    root.page.keyboard.press("ArrowRight")
    halo, box = root.locator(".halo").bounding_box(), root.locator('[data-key="a1"] .body').bounding_box()
    assert halo is not None
    assert box is not None
    assert halo["x"] < box["x"] < box["x"] + box["width"] < halo["x"] + halo["width"]
    assert halo["y"] < box["y"] < box["y"] + box["height"] < halo["y"] + halo["height"]


def test_a_click_on_a_node_goes_to_its_step_and_lights_up_its_consumers(open_page: OpenPage, tmp_path: Path) -> None:
    root = explorer(open_page(save(handmade.sine(), tmp_path)).page)
    root.locator('[data-key="a1"] .body').click()
    assert read_step(root)["step"] == 2
    root.locator('[data-key="t1"] .body').click()
    assert root.locator(".edge.lit").count() == 3
    assert sorted(root.locator(".box.lit").evaluate_all("boxes => boxes.map(box => box.dataset.key)")) == [
        "a0", "a1", "t1"]  # fmt: skip
    root.page.keyboard.press("End")
    root.locator('[data-key="a1"] .body').click()
    assert read_step(root)["step"] == 5, "in the backward phase a node stands for its step of the sweep"


def test_the_four_switches_are_independent(open_page: OpenPage, tmp_path: Path) -> None:
    root = explorer(open_page(save(handmade.two_layers(), tmp_path)).page)
    take_focus(root)
    root.page.keyboard.press("End")
    shown = {"values": ".box .value", "gradients": ".box .gradient", "shapes": ".box .shape", "names": ".op .name"}
    for switch, lines in shown.items():
        others = {name: root.locator(other).first.is_visible() for name, other in shown.items() if name != switch}
        box = root.get_by_role("checkbox", name=switch)
        before = box.is_checked()
        box.click()
        assert root.locator(lines).first.is_visible() is not before
        assert others == {name: root.locator(shown[name]).first.is_visible() for name in others}
        box.click()


def test_a_missing_gradient_is_told_before_anyone_asks(open_page: OpenPage, tmp_path: Path) -> None:
    w1, w2 = lab.Variable(2.0, name="w1"), lab.Variable(3.0, name="w2")
    with lab.record() as recording:
        with lab.GradientTape() as tape:
            y = lab.stop_gradient(lab.tanh(w1)) * w2
        tape.gradient(y, [w1, w2])
    root = explorer(open_page(save(recording, tmp_path)).page)
    (remark,) = root.locator(".remarks li").all_inner_texts()
    assert "w1" in remark
    assert "stop_gradient" in remark
    take_focus(root)
    root.page.keyboard.press("End")
    gradients = {box["label"]: box["gradient"] for box in read_boxes(root).values()}
    assert gradients["w1"] == "no path"
    assert numbers(gradients["w2"]) == [0.964]


def test_walking_the_graph_by_keyboard_is_spoken(open_page: OpenPage, tmp_path: Path) -> None:
    root = explorer(open_page(save(handmade.sine(), tmp_path)).page)
    take_focus(root)
    root.page.keyboard.press("Home")
    root.page.keyboard.press("ArrowDown")
    assert "x: float32 = 3" in read_step(root)["live"]
    root.page.keyboard.press("c")
    assert "multiply(x, x)" in read_step(root)["live"]
    root.page.keyboard.press("i")
    assert "x: float32" in read_step(root)["live"]


@pytest.mark.slow
def test_search_finds_and_shows_a_node(open_page: OpenPage, tmp_path: Path) -> None:
    root = explorer(open_page(save(handmade.many(300), tmp_path)).page)
    take_focus(root)
    root.page.keyboard.press("/")
    root.page.keyboard.type("%17")
    assert root.locator(".finder .count").inner_text().startswith("1 of")
    found = root.locator(".box.selected .body").bounding_box()
    panel = root.locator(".graph").bounding_box()
    assert found is not None
    assert panel is not None
    assert panel["x"] <= found["x"] <= panel["x"] + panel["width"]
    root.page.keyboard.press("Escape")
    assert root.locator(".finder").is_hidden()
    assert root.locator(".box.found").count() == 0


@pytest.mark.slow
def test_500_ops_open_whole_and_can_be_read_where_one_zooms_in(
    open_page: OpenPage, tmp_path: Path, screenshot: Screenshot
) -> None:
    view = open_page(save(handmade.many(500), tmp_path))
    root = explorer(view.page)
    last = root.locator('[data-key="a499"] .body')
    panel = root.locator(".graph").bounding_box()
    assert panel is not None
    for key in ("a0", "a250", "a499"):
        box = root.locator(f'[data-key="{key}"] .body').bounding_box()
        assert box is not None
        assert panel["x"] < box["x"] < panel["x"] + panel["width"]
        assert panel["y"] < box["y"] < panel["y"] + panel["height"]
    take_focus(root)
    while (last.bounding_box() or {"height": 100})["height"] < 60:
        root.page.keyboard.press("+")
    root.page.keyboard.press("ArrowLeft")
    shown = root.locator('[data-key="a498"] .value')
    assert shown.evaluate("text => text.getBoundingClientRect().height") > 10
    screenshot(view, "explorer-500-ops", of=root)


def test_a_graph_without_layout_falls_back_to_the_table_and_says_so(
    open_page: OpenPage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("autodiff_lab.draw.layout.MOST_A_SECOND", 0)
    view = open_page(save(handmade.many(900, reach=400), tmp_path))
    root = explorer(view.page)
    assert "900 nodes" in root.locator(".notice").inner_text() or "nodes" in root.locator(".notice").inner_text()
    take_focus(root)
    root.page.keyboard.press("Home")
    root.page.keyboard.press("ArrowRight")
    assert root.locator(".trace tbody tr.now").get_attribute("data-application") == "0"


def test_a_failed_op_is_marked_and_its_message_is_told(open_page: OpenPage, tmp_path: Path) -> None:
    root = explorer(open_page(save(handmade.failed(), tmp_path)).page)
    assert root.locator(".box.failed .value").text_content() == "failed"
    assert "inner lengths 3 and 2 differ" in root.locator(".failure").inner_text()


def hostile_everywhere() -> Recording:
    """Markup in every text that a recording holds."""
    bad = "<img src=x onerror='window.broken=1'></script><script>window.broken=1</script>${window.broken=1}"
    recording = handmade.hostile()
    ops = {name: replace(info, symbol=bad, sentence=bad, latex=r"\text{" + bad + "} {0}", locals_latex=(bad,))
           for name, info in handmade.sine().ops.items()} | {"<b>op</b>": replace(
               handmade.OPS["sin"], name="<b>op</b>", symbol=bad, sentence=bad + " {0}", latex=bad)}  # fmt: skip
    tensors = {key: replace(record, name=bad) for key, record in recording.tensors.items()}
    return replace(recording, ops=ops, tensors=tensors, title=bad, labels={handmade.FILE: bad})


def test_hostile_texts_are_shown_as_text(open_page: OpenPage, tmp_path: Path) -> None:
    for recording in (handmade.hostile(), hostile_everywhere()):
        view = open_page(save(recording, tmp_path))
        root = explorer(view.page)
        take_focus(root)
        for key in ("End", "t", "?", "ArrowDown", "Enter", "Home", "ArrowRight"):
            view.page.keyboard.press(key)
        assert view.page.evaluate("() => window.broken") is None
        assert root.locator("img, script, b, i").count() == 0
        assert view.page.locator("script").count() == 4, (
            "the page's own: the scene, the explorer packed, what unpacks it, the explorer"
        )
        assert "<script>" in view.page.title()


def test_a_name_of_a_million_letters_makes_no_large_page() -> None:
    pencil = handmade.Pencil(title="t" * 1_000_000)
    x = pencil.leaf(1.0, "x" * 1_000_000)
    pencil.run("sin", (x,), 0.84)
    assert len(page_of(pencil.done())) < 200_000


def test_without_javascript_the_picture_and_the_trace_are_there(browser: Browser, tmp_path: Path) -> None:
    context = browser.new_context(java_script_enabled=False, offline=True)
    try:
        page = context.new_page()
        page.goto(save(handmade.sine(), tmp_path).as_uri())
        assert page.locator("noscript svg").is_visible()
        assert "multiply" in page.locator("pre").inner_text()
        page.set_viewport_size({"width": 320, "height": 600})
        inside, room = (page.locator("pre").evaluate(f"pre => pre.{side}Width") for side in ("scroll", "client"))
        assert inside > room, "the trace is narrower than this test needs"
        assert page.evaluate("() => document.documentElement.scrollWidth") <= 320
    finally:
        context.close()


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [1300, 640])
def test_the_card_stands_beside_the_graph_or_below_it(
    open_page: OpenPage, tmp_path: Path, screenshot: Screenshot, width: int, dark: bool
) -> None:
    view = open_page(save(handmade.sine(), tmp_path), width=width, dark=dark)
    root = explorer(view.page)
    take_focus(root)
    root.page.keyboard.press("End")
    graph, card = root.locator(".graph").bounding_box(), root.locator(".card").bounding_box()
    assert graph is not None
    assert card is not None
    if width < 700:
        assert card["y"] >= graph["y"] + graph["height"]
    else:
        assert card["x"] >= graph["x"] + graph["width"]
    overflow = "() => document.documentElement.scrollWidth > document.documentElement.clientWidth"
    assert view.page.evaluate(overflow) is False
    screenshot(view, f"page-{width}-{'dark' if dark else 'light'}", dark=dark, width=width)


def test_forced_colours_keep_every_outline(open_page: OpenPage, tmp_path: Path, screenshot: Screenshot) -> None:
    view = open_page(save(handmade.sine(), tmp_path))
    view.page.emulate_media(forced_colors="active")
    root = explorer(view.page)
    for part, line in ((".box .body", "stroke"), (".edge .line", "stroke"), (".halo", "borderTopColor")):
        stroke = root.locator(part).first.evaluate("(element, line) => getComputedStyle(element)[line]", line)
        assert stroke not in {"none", "rgba(0, 0, 0, 0)"}, part
    screenshot(view, "page-forced-colours")
