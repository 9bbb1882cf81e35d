"""Words and numbers have room: titles, formulas, headings and tables in a narrow page; nothing covers what is shown."""

from pathlib import Path

import pytest
from playwright.sync_api import Locator

import autodiff_lab as lab
from autodiff_lab import lessons
from autodiff_lab.recording import Recording
from autodiff_lab.widgets.form import Form
from tests.browser.conftest import OpenPage
from tests.browser.pages import explorer, save, take_focus

NARROW = 740
"""Pixels of a window in which the card is as narrow as it gets beside the graph."""
LINES = """element => {
    const range = document.createRange();
    range.selectNodeContents(element);
    return new Set([...range.getClientRects()].map(line => Math.round(line.top))).size;
}"""


def branches() -> Recording:
    x = lab.Variable(0.0, name="x")
    with lab.record(title="a function of your own with a long title") as recording, lab.GradientTape() as tape:
        y = lab.where(x < 1.0, x, lab.sqrt(x))
        tape.gradient(y, x)
    return recording


def classified() -> Recording:
    hidden, W = lab.constant([[1.0, 2.0]], name="hidden"), lab.Variable([[1.0, 2.0], [3.0, 4.0]], name="W")
    with lab.record(title="classes") as recording, lab.GradientTape() as tape:
        logits = hidden @ W
        loss = lab.reduce_mean(lab.nn.sparse_softmax_cross_entropy_with_logits([1], logits))
        tape.gradient(loss, W)
    return recording


@pytest.fixture
def narrow(open_page: OpenPage, tmp_path: Path) -> Locator:
    root = explorer(open_page(save(branches(), tmp_path), width=NARROW).page)
    take_focus(root)
    return root


def test_a_long_title_is_whole_and_the_phases_stand_below(narrow: Locator) -> None:
    title, phases = narrow.locator("h2"), narrow.locator(".phases")
    assert title.evaluate("title => title.scrollWidth <= title.clientWidth")
    assert phases.evaluate("phases => phases.offsetTop") > title.evaluate("title => title.offsetTop")
    narrow.page.set_viewport_size({"width": 1400, "height": 900})
    narrow.page.wait_for_function("() => !document.querySelector('.explorer header.crowded')")
    tops = [part.evaluate("part => part.getBoundingClientRect().top") for part in (title, phases)]
    assert abs(tops[0] - tops[1]) < 20, "where there is room they share a row"


def test_a_wide_formula_fits_the_card(narrow: Locator) -> None:
    narrow.page.keyboard.press("Home")
    for _ in range(3):
        narrow.page.keyboard.press("ArrowRight")
        assert narrow.locator(".card .rule").evaluate("rule => rule.scrollWidth <= rule.clientWidth")
    assert narrow.locator(".card").evaluate("card => card.scrollWidth <= card.clientWidth")


def test_headings_break_after_underscores_and_names_stay_apart(open_page: OpenPage, tmp_path: Path) -> None:
    root = explorer(open_page(save(classified(), tmp_path), width=NARROW).page)
    take_focus(root)
    root.page.keyboard.press("Home")
    root.page.keyboard.press("ArrowRight")
    space = root.locator(".card .rule math mspace")
    assert space.count() == 1, "hidden W, not hiddenW"
    root.page.keyboard.press("ArrowRight")
    name = root.locator(".card h3 .op")
    assert name.text_content() == "sparse_softmax_cross_entropy"
    assert name.evaluate(LINES) == 2
    root.page.keyboard.press("ArrowRight")
    assert (root.locator(".card .rule mi").last.text_content() or "").endswith("softma‥")


def test_the_tip_is_silent_while_one_steps(narrow: Locator) -> None:
    box, tip, keys = narrow.locator(".box.op .body").first, narrow.locator(".inspector"), narrow.page.keyboard
    box.hover()
    assert tip.inner_text()
    keys.press("ArrowRight")
    assert not tip.is_visible()
    keys.press("ArrowLeft")
    assert not tip.is_visible(), "the pointer rests"
    box.hover(position={"x": 5, "y": 5})
    assert tip.inner_text()
    box.click()
    assert tip.inner_text(), "what was clicked is told"
    keys.press("ArrowRight")
    assert not tip.is_visible()


def test_the_size_is_in_the_menu_unless_numbers_were_left_out(narrow: Locator, tmp_path: Path) -> None:
    size = narrow.locator(".size")
    assert not size.is_visible()
    narrow.get_by_label("More").click()
    assert size.inner_text().endswith("kB as a page")
    rows = lab.Variable([[0.125 * row + column for column in range(40)] for row in range(40)])
    with lab.record() as recording:
        for _ in range(30):
            rows = lab.sin(rows)
    page = tmp_path / "thin.html"
    recording.to_html(page, max_bytes=140_000)
    narrow.page.goto(page.as_uri())
    assert "keeps everything" in explorer(narrow.page).locator(".size").inner_text()


def test_a_table_of_predictions_breaks_no_word(open_page: OpenPage, tmp_path: Path) -> None:
    guess = lessons.predict("What is the gradient?").commit(1)
    table = guess.unlock(outcome=lambda: float("nan"))._table()
    file = tmp_path / "form.html"
    file.write_text(f'<style>{Form._css}</style><div class="autodiff-lab lab-form">{table}</div>', encoding="utf-8")
    page = open_page(file, width=400).page
    cells = page.locator(".lab-form table :is(th, td)")
    cells.first.wait_for(state="attached")
    assert cells.evaluate_all(f"cells => cells.slice(1, 3).map({LINES})") == [1, 1], "the heads"
    assert page.get_by_role("cell", name="nan", exact=True).evaluate(LINES) == 1


def test_the_line_of_the_step_runs_through_no_label(open_page: OpenPage, tmp_path: Path) -> None:
    plot = lab.explore_steps(lambda x: x * x * x, 1.0)
    page = open_page(plot.to_html(tmp_path / "steps.html"), width=1400).page
    page.locator(".now-line").wait_for(state="attached")
    rects = "nodes => nodes.map(node => node.getBoundingClientRect()).map(({ left, right }) => [left, right])"
    ((line, _),) = page.locator(".now-line").evaluate_all(rects)
    labels = page.locator("text.label").evaluate_all(rects)
    assert len(labels) == 2
    assert not any(left <= line <= right for left, right in labels)


def test_paper_has_the_picture_and_the_card_and_nothing_to_press(narrow: Locator) -> None:
    narrow.page.emulate_media(media="print")
    for part in (".tools", ".transport", ".lab-hint", ".size"):
        assert not narrow.locator(part).first.is_visible(), part
    assert narrow.locator(".phase:visible").all_inner_texts() == ["forward"]
    assert narrow.locator(".graph").is_visible()
    assert narrow.locator(".card").is_visible()
    assert narrow.locator(".graph").evaluate("graph => getComputedStyle(graph).outlineStyle") == "none"
    narrow.page.emulate_media(media="screen")


def test_how_often_a_loop_runs_stays_inside_its_box(open_page: OpenPage, tmp_path: Path) -> None:
    y = x = lab.Variable(0.1, name="x")
    with lab.record(title="rounds") as recording, lab.GradientTape() as tape:
        for _each_of_the_rounds in range(167): y = 3.7 * y * (1.0 - y)  # fmt: skip  # noqa: E701
        tape.gradient(y, x)
    root = explorer(open_page(save(recording, tmp_path), width=1300).page)
    times = root.locator(".box .times", has_text="×167")
    assert times.evaluate(
        "times => times.getBoundingClientRect().right "
        "<= times.closest('.box').querySelector('.body').getBoundingClientRect().right"
    )


def test_a_name_behind_a_symbol_with_an_arrow_has_no_other_one(open_page: OpenPage, tmp_path: Path) -> None:
    x = lab.Variable([1.0, 2.0], name="x")
    with lab.record(title="sums") as recording:
        y = lab.cumsum(x)
    root = explorer(open_page(save(recording, tmp_path), width=1300).page)
    assert (root.locator(".box.op .head").text_content() or "").startswith("Σ→y")
    assert "Σ→ → y" not in recording.to_svg()
    del y


def test_paper_has_no_buttons_of_a_function(open_page: OpenPage, tmp_path: Path) -> None:
    shown = lab.explore(lambda x, a: lab.sin(a * x), -1.0, 1.0, n=41, a=2.0)
    page = open_page(shown.to_html(tmp_path / "curve.html")).page
    page.locator(".curve").first.wait_for(state="attached")
    page.emulate_media(media="print")
    assert page.locator("button:visible, input:visible, select:visible, summary:visible").count() == 0
    assert page.locator(".sliders").inner_text().split() == ["a", "2"]
    page.emulate_media(media="screen")


def test_an_edge_to_a_closed_pass_goes_around_the_open_one(open_page: OpenPage, tmp_path: Path) -> None:
    X, w = lab.constant([[0.1, 0.2], [0.3, 0.4]], name="X"), lab.Variable([[0.3], [0.5]], name="w")
    with lab.record(title="training") as recording:
        for _ in range(3):
            with lab.GradientTape() as tape:
                loss = lab.reduce_mean(lab.square(lab.tanh(X @ w) - 0.5))
            w.assign_sub(0.1 * tape.gradient(loss, w))
    root = explorer(open_page(save(recording, tmp_path), width=1400).page)
    assert root.locator(".box.frame").count() == 1
    through = """root => {
        const frame = root.querySelector(".box.frame .body").getBoundingClientRect();
        const last = [...root.querySelectorAll(".box.scope .body")].map(box => box.getBoundingClientRect());
        return [...root.querySelectorAll(".edge > .line")].filter(line => {
            const matrix = line.getScreenCTM();
            const at = share => line.getPointAtLength(line.getTotalLength() * share).matrixTransform(matrix);
            const [end, middle] = [at(1), Array.from({ length: 30 }, (_, k) => at(k / 30))];
            const toClosed = last.some(({ left, right, top, bottom }) => (
                end.x > left - 9 && end.x < right && end.y > top && end.y < bottom));
            return toClosed && middle.some(({ x, y }) => (
                x > frame.left + 3 && x < frame.right - 3 && y > frame.top + 3 && y < frame.bottom - 3));
        }).length;
    }"""
    assert root.evaluate(through) == 0
