"""The function explorer in a browser: mouse, keys and text, against derivatives from the textbook."""

import math
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect

import autodiff_lab as lab
from tests.browser.conftest import OpenNotebook, OpenPage, Screenshot
from tests.browser.view import View

NOTEBOOK = """import autodiff_lab as lab

explorer = lab.explore(lambda x: x**3 + 6 * x, -3, 3, secant=True, x=1.0, other=2.0)
explorer"""


def cubic(x: float) -> float:
    return x**3 + 6 * x


def cubic_slope(x: float) -> float:
    return 3 * x * x + 6


def shown(view: View, key: str) -> float:
    """Read one of the numbers above the picture."""
    text = view.page.locator(f".lab-curves .{key} dd").inner_text()
    return float(text.removeprefix("≈ ").replace("−", "-"))


def full(view: View, key: str) -> float:
    """Read the same number with all its digits, as the pointer shows it."""
    return float(view.page.locator(f".lab-curves .{key} dd").get_attribute("title") or "nan")


def handle(view: View, name: str = "point") -> Locator:
    return view.page.locator(f".lab-curves .handle.{name}")


def drag(view: View, name: str, by: float) -> None:
    """Drag a handle by pixels to the right."""
    grip = handle(view, name)
    grip.hover()  # waits until it stands still and would get the click
    box = grip.bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    view.page.mouse.move(x, y)
    view.page.mouse.down()
    view.page.mouse.move(x + by / 2, y + 40, steps=3)
    view.page.mouse.move(x + by, y - 10, steps=3)
    view.page.mouse.up()


def press(view: View, *keys: str) -> None:
    for key in keys:
        view.page.keyboard.press(key)


@pytest.fixture
def page(open_page: OpenPage, tmp_path: Path) -> Callable[..., View]:
    """Write an explorer as a page and open it from disk, with the network off."""

    def open_it(*arguments: object, dark: bool = False, width: int = 1300, **options: object) -> View:
        file = lab.explore(*arguments, **options).to_html(tmp_path / "explorer.html")
        return open_page(file, dark=dark, width=width)

    return open_it


def test_dragging_shows_the_slope_that_the_formula_gives(page: Callable[..., View]) -> None:
    view = page(lambda x: x**3 + 6 * x, -3, 3, x=-1.5)
    seen: set[float] = set()
    for by in (120, 90, -40, 200):
        drag(view, "point", by)
        x = full(view, "x")
        seen.add(x)
        assert full(view, "value0") == pytest.approx(cubic(x), rel=1e-12)
        assert full(view, "value1") == pytest.approx(cubic_slope(x), rel=1e-12)
        assert shown(view, "value1") == pytest.approx(cubic_slope(x), rel=1e-3)
    assert len(seen) == 4


def test_the_tangent_on_the_screen_has_that_slope(page: Callable[..., View]) -> None:
    view = page(lab.sin, -5, 5, x=1.0)
    drawn = view.page.evaluate("""() => {
        const number = (of, name) => Number(of.getAttribute(name));
        const tangent = document.querySelector(".tangent");
        const grid = [...document.querySelectorAll(".row0 .grid, .row0 .zero")];
        const labels = [...document.querySelectorAll(".row0 .up")].map(label => label.textContent.replace("−", "-"));
        const heights = grid.filter(line => line.getAttribute("y1") === line.getAttribute("y2"));
        const [y1, y2] = [heights[0], heights[heights.length - 1]].map(line => number(line, "y1"));
        const perUnit = (y2 - y1) / (Number(labels[labels.length - 1]) - Number(labels[0]));
        const width = number(document.querySelector(".row0 svg"), "width") / 10;
        const rise = number(tangent, "y2") - number(tangent, "y1");
        return (rise / perUnit) / ((number(tangent, "x2") - number(tangent, "x1")) / width);
    }""")
    assert drawn == pytest.approx(math.cos(1.0), abs=1e-3)


def test_a_press_puts_the_point_under_the_pointer(page: Callable[..., View]) -> None:
    for width in (1300, 640, 300):
        view = page(lab.sin, -5, 5, width=width)
        grid = view.page.locator(".lab-curves .row0 .grid, .lab-curves .row0 .zero")
        lines = [box for box in (line.bounding_box() for line in grid.all()) if box and box["height"] > box["width"]]
        view.page.mouse.click(lines[-1]["x"] + lines[-1]["width"] / 2, lines[-1]["y"] + 60)
        label = view.page.locator(".lab-curves .tick.across").last.text_content()
        assert full(view, "x") == pytest.approx(float(label or "nan"), abs=0.03)


def test_keys_step_by_samples_and_the_sentence_follows(page: Callable[..., View]) -> None:
    view = page(lab.sin, -5, 5, x=0.0)
    handle(view).focus()
    press(view, "ArrowRight", "ArrowRight", "ArrowLeft")
    assert full(view, "x") == pytest.approx(0.025)
    press(view, "Shift+ArrowRight")
    assert full(view, "x") == pytest.approx(0.275)
    assert full(view, "value1") == pytest.approx(math.cos(0.275), rel=1e-12)
    sentence = view.page.locator(".lab-curves .sentence")
    assert sentence.get_attribute("aria-live") == "polite"
    assert sentence.inner_text() == "At x = 0.275, sin(x) is 0.2715 and rising with slope 0.9624."
    press(view, "End")
    assert full(view, "x") == 5
    assert handle(view).get_attribute("aria-valuenow") == "5"
    press(view, "Home")
    assert full(view, "x") == -5


def test_the_keyboard_reaches_everything(page: Callable[..., View]) -> None:
    view = page(lab.sin, -5, 5, secant=True)
    reached: list[str] = []
    for _ in range(14):
        press(view, "Tab")
        reached.append(
            view.page.evaluate(
                "() => document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent"
            )
        )
    assert {"point on the curve", "second point of the secant"} <= set(reached)
    assert any("Zoom in" in name for name in reached)
    assert "Table of the values in view" in reached


def test_the_second_derivative_can_be_switched_on(page: Callable[..., View]) -> None:
    view = page(lab.sin, -5, 5, x=1.0)
    assert view.page.locator(".lab-curves .curve").count() == 2
    handle(view).focus()
    press(view, "d")
    assert view.page.locator(".lab-curves .curve").count() == 3
    assert full(view, "value2") == pytest.approx(-math.sin(1.0), rel=1e-12)
    view.page.get_by_label("derivatives").select_option("1")
    assert view.page.locator(".lab-curves .curve").count() == 2


def test_the_average_rate_becomes_the_slope_as_the_interval_shrinks(page: Callable[..., View]) -> None:
    view = page(lambda x: x**3 + 6 * x, 0, 2, n=401, secant=True, x=0.0, other=2.0)
    assert shown(view, "rate") == 10
    handle(view, "other").focus()
    gaps: list[float] = []
    for _ in range(39):
        press(view, "Shift+ArrowLeft")
        gaps.append(abs(full(view, "rate") - full(view, "value1")))
    assert gaps == sorted(gaps, reverse=True)
    assert gaps[-1] < 0.01
    press(view, "Shift+ArrowLeft")
    assert "0/0" in view.page.locator(".lab-curves .sentence").inner_text()


def test_looking_closer_without_a_kernel_interpolates_and_says_so(page: Callable[..., View]) -> None:
    view = page(lab.sin, -5, 5, x=1.0)
    handle(view).focus()
    press(view, *"++++++++")
    status = view.page.locator(".lab-curves .status")
    assert status.inner_text() == (
        "enlarged 256×, interpolated between the samples: there is no kernel to ask for finer ones"
    )
    assert full(view, "value1") == pytest.approx(math.cos(1.0), rel=1e-12)
    press(view, "ArrowRight")
    assert view.page.locator(".lab-curves .value0 dd").inner_text().startswith("≈")
    assert full(view, "value0") == pytest.approx(math.sin(full(view, "x")), abs=1e-9)
    press(view, "0")
    assert status.inner_text() == "401 samples in view, each derivative computed by the tape"


def test_the_wheel_scrolls_the_page_and_enlarges_with_ctrl(page: Callable[..., View]) -> None:
    view = page(lab.sin, -5, 5)
    box = view.page.locator(".lab-curves .picture").bounding_box()
    assert box is not None
    view.page.mouse.move(box["x"] + 300, box["y"] + 100)
    view.page.mouse.wheel(0, -240)
    view.page.wait_for_timeout(50)
    status = view.page.locator(".lab-curves .status")
    assert "enlarged" not in status.inner_text()
    view.page.keyboard.down("Control")
    view.page.mouse.wheel(0, -240)
    view.page.keyboard.up("Control")
    view.page.wait_for_function(
        "() => document.querySelector('.lab-curves .status').textContent.includes('enlarged 2×')"
    )


def test_a_kink_has_open_circles_and_is_told(page: Callable[..., View]) -> None:
    view = page(lab.abs, -2, 2, x=0.0)
    assert view.page.locator(".lab-curves .mark").count() == 3
    assert view.page.locator(".lab-curves .sentence").inner_text() == (
        "At x = 0 there is a kink: slope −1 from the left, 1 from the right; the tape says 0."
    )


def test_the_table_holds_the_values(page: Callable[..., View]) -> None:
    view = page(lab.sin, -5, 5)
    view.page.get_by_text("Table of the values in view").click()
    rows = view.page.locator(".lab-curves tbody tr")
    rows.nth(20).wait_for()
    assert rows.count() == 21
    cells = [float(text.replace("−", "-")) for text in rows.nth(3).locator("td").all_inner_texts()]
    x = cells[0]
    assert cells[1:] == pytest.approx([math.sin(x), math.cos(x), -math.sin(x)], abs=1e-3)


def test_a_finger_drags_the_point(browser: object, tmp_path: Path) -> None:
    file = lab.explore(lab.sin, -5, 5, x=0.0).to_html(tmp_path / "touch.html")
    context = browser.new_context(viewport={"width": 640, "height": 900}, has_touch=True)
    view = View(context.new_page())
    view.page.goto(file.resolve().as_uri())
    box = view.page.locator(".lab-curves .picture").bounding_box()
    assert box is not None
    view.page.touchscreen.tap(box["x"] + box["width"] * 0.7, box["y"] + 80)
    x = full(view, "x")
    assert x > 1
    assert full(view, "value1") == pytest.approx(math.cos(x), rel=1e-12)
    view.assert_clean()
    context.close()


@pytest.mark.slow
def test_in_jupyterlab_the_kernel_gives_finer_samples_and_hears_where_the_point_is(
    open_notebook: OpenNotebook, screenshot: Screenshot
) -> None:
    view = open_notebook([NOTEBOOK])
    view.page.wait_for_selector(".lab-curves .handle.point")
    assert shown(view, "rate") == 13
    drag(view, "point", 60)
    x = full(view, "x")
    assert full(view, "value1") == pytest.approx(cubic_slope(x), rel=1e-12)
    press(view, *"+++++++")
    view.page.wait_for_function(
        "() => /enlarged 128×, \\d+ samples/.test(document.querySelector('.lab-curves .status').textContent)"
    )
    press(view, "ArrowRight", "ArrowRight", "ArrowRight")
    finer = full(view, "x")
    assert 0 < finer - x < 0.001
    assert full(view, "value1") == pytest.approx(cubic_slope(finer), rel=1e-12)
    assert not view.page.locator(".lab-curves .value1 dd").inner_text().startswith("≈")
    screenshot(view, "curves-notebook-zoomed", of=view.page.locator(".lab-curves"))
    press(view, "0")
    view.page.wait_for_timeout(300)
    heard = run_cell(view, "print(explorer.x, explorer.secant)")
    assert float(heard.split()[0]) == pytest.approx(finer, rel=1e-12)
    run_cell(view, "explorer.x = -2.01")
    view.page.wait_for_function("() => document.querySelector('.lab-curves .x dd').title.startsWith('-2.01')")
    for dark in (False, True):
        for width in (1300, 640):
            name = f"curves-notebook-{'dark' if dark else 'light'}-{width}"
            screenshot(view, name, dark=dark, width=width, of=view.page.locator(".lab-curves"))


@pytest.mark.slow
def test_two_views_of_one_explorer_show_the_same_point(open_notebook: OpenNotebook) -> None:
    view = open_notebook([NOTEBOOK, "explorer"])
    view.page.wait_for_function("() => document.querySelectorAll('.lab-curves .handle.point').length === 2")
    handle(view).first.focus()
    press(view, "Shift+ArrowRight", "s")
    moved = view.page.locator(".lab-curves .x dd").first.get_attribute("title")
    assert float(moved or "nan") > 1.0
    view.page.wait_for_function(
        "x => [...document.querySelectorAll('.lab-curves .x dd')].every(shown => shown.title === x)", arg=moved
    )
    expect(view.page.get_by_label("secant", exact=True).nth(1)).not_to_be_checked()  # after the point, if keys are slow


def run_cell(view: View, code: str) -> str:
    """Run code in the kernel of the notebook, beside its cells, and return what it printed."""
    return view.page.evaluate(
        """async code => {
            const kernel = window.jupyterapp.shell.currentWidget.sessionContext.session.kernel;
            const future = kernel.requestExecute({ code });
            let printed = "";
            future.onIOPub = message => { printed += message.content.text ?? ""; };
            await future.done;
            return printed;
        }""",
        code,
    )


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("width", [1300, 640])
@pytest.mark.parametrize("dark", [False, True])
def test_the_exported_page_fits_and_is_photographed(page: Callable[..., View], dark: bool, width: int) -> None:
    view = page(lambda x: lab.abs(x * x - 2.0) - x, -3, 3, order=2, secant=True, x=1.0, dark=dark, width=width)
    assert view.page.evaluate("() => document.documentElement.scrollWidth <= window.innerWidth")
    texts = view.page.locator(".lab-curves svg text").all_text_contents()
    assert {"f(x)", "f′(x)", "f″(x)", "x"} <= set(texts)
    assert not any(re.search("NaN|undefined|Infinity", text) for text in texts)
    view.screenshot(f"curves-page-{'dark' if dark else 'light'}-{width}", dark=dark, width=width)


@pytest.mark.slow
def test_keys_with_ctrl_and_shift_enter_belong_to_the_notebook_and_escape_gives_the_focus_back(
    open_notebook: OpenNotebook,
) -> None:
    view = open_notebook([NOTEBOOK])
    handle(view).focus()
    press(view, "x", "ArrowRight")
    assert view.page.locator(".jp-Notebook .jp-Cell").count() == 1, "x would cut the cell"
    view.page.evaluate("() => { window.jupyterapp.shell.currentWidget.context.model.dirty = true; }")
    press(view, "Control+s")
    view.page.wait_for_function("() => !window.jupyterapp.shell.currentWidget.context.model.dirty")
    press(view, "Escape")
    assert view.page.evaluate("() => !document.activeElement.closest('.lab-curves')")
    handle(view).focus()
    press(view, "Shift+Enter")
    view.page.wait_for_function("() => document.querySelectorAll('.jp-Notebook .jp-Cell').length === 2")


@pytest.mark.slow
def test_a_slider_and_zooming_out_ask_the_kernel(open_notebook: OpenNotebook) -> None:
    source = "import autodiff_lab as lab\n\nlab.explore(lambda x, a: a * x * x, -1, 1, x=0.5, a=2.0)"
    view = open_notebook([source])
    assert full(view, "value0") == 0.5
    view.page.locator(".lab-curves .sliders input").press("End")
    view.page.wait_for_function("() => document.querySelector('.lab-curves .value0 dd').title === '1'")
    assert full(view, "value1") == 4.0
    handle(view).focus()
    press(view, "-")
    view.page.wait_for_function("() => [...document.querySelectorAll('.across')].some(t => t.textContent === '−2.0')")
    assert full(view, "value0") == 1.0
    press(view, "l", "t", "Shift+ArrowRight")
    assert view.page.locator(".lab-curves .traced").count() == 2
    press(view, "d", "d")
    assert view.page.locator(".lab-curves .plot").count() == 1


def test_order_zero_shows_f_alone(page: Callable[..., View]) -> None:
    view = page(lab.sin, -5, 5, order=0)
    assert view.page.locator(".lab-curves .curve").count() == 1
    handle(view).focus()
    press(view, "ArrowRight", "d")
    assert view.page.locator(".lab-curves .curve").count() == 2
