"""The browser fixtures do what the other tests rely on: widgets work, and every kind of problem is detected."""

from pathlib import Path

import pytest

from tests.browser.conftest import OpenNotebook, OpenPage
from tests.browser.view import leaves_the_machine

COUNTER = '''
import anywidget, ipywidgets, traitlets

class Counter(anywidget.AnyWidget):
    _esm = """
    export default { render({ model, el }) {
        const button = document.createElement("button");
        button.className = "counter";
        const show = () => { button.textContent = `pressed ${model.get("count")}`; };
        button.addEventListener("click", () => { model.set("count", model.get("count") + 1); model.save_changes(); });
        model.on("change:count", show);
        show();
        el.append(button);
    } };
    """
    count = traitlets.Int(0).tag(sync=True)

counter = Counter()
display(counter, ipywidgets.IntSlider(value=7, description="steps"))
'''


def test_a_widget_renders_in_jupyterlab_and_answers_a_click(open_notebook: OpenNotebook) -> None:
    view = open_notebook([COUNTER, "print('two', 1 + 1)"])
    button = view.page.locator("button.counter")
    assert button.inner_text() == "pressed 0"
    button.click()
    assert button.inner_text() == "pressed 1"
    assert view.page.locator(".widget-readout").inner_text() == "7"
    assert view.cell_outputs()[-1].strip() == "two 2"


def test_every_kind_of_problem_in_a_notebook_is_caught(open_notebook: OpenNotebook) -> None:
    page = """from IPython.display import HTML, Javascript
display(HTML('<img src="http://pictures.invalid/one.png">'))
display(Javascript('console.error("on purpose"); setTimeout(() => { throw new Error("nobody catches this") })'))"""
    view = open_notebook([page], clean=False)
    view.page.wait_for_timeout(200)
    assert set(view.outside_requests) == {"http://pictures.invalid/one.png"}
    assert "on purpose" in view.console_errors
    assert any("nobody catches this" in text for text in view.page_errors)
    assert len(view.problems()) >= 3


@pytest.mark.slow
def test_a_cell_that_raises_ends_the_wait_and_shows_its_error(open_notebook: OpenNotebook) -> None:
    view = open_notebook(["1 / 0", "print('never reached')"])
    assert "ZeroDivisionError" in view.cell_outputs()[0]
    assert len(view.cell_outputs()) == 1


@pytest.mark.slow
def test_the_dark_theme_and_a_narrow_window_reach_the_screenshot(open_notebook: OpenNotebook) -> None:
    view = open_notebook(["print('hello')"])
    background = "() => getComputedStyle(document.querySelector('.jp-Notebook')).backgroundColor"
    light = view.screenshot("house-light")
    light_background = view.page.evaluate(background)
    dark = view.screenshot("house-dark-narrow", dark=True, width=640)
    assert view.page.evaluate(background) != light_background
    assert view.page.evaluate("() => window.innerWidth") == 640
    assert light.read_bytes() != dark.read_bytes()


def test_a_page_opens_from_disk_with_the_network_off(open_page: OpenPage, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_text("<!doctype html><title>t</title><p id=p></p><script>p.textContent = navigator.onLine</script>")
    view = open_page(file)
    assert view.page.locator("#p").inner_text() == "false"
    assert not view.is_jupyter


def test_a_request_from_a_page_on_disk_is_caught(open_page: OpenPage, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_text('<!doctype html><link rel="stylesheet" href="https://styles.invalid/s.css">')
    view = open_page(file, clean=False)
    assert set(view.outside_requests) == {"https://styles.invalid/s.css"}


def test_only_other_machines_count_as_outside() -> None:
    assert leaves_the_machine("wss://example.org/socket")
    assert leaves_the_machine("http://127.0.0.1.example.org/")
    assert not leaves_the_machine("http://127.0.0.1:8888/lab")
    assert not leaves_the_machine("data:text/css,a")
    assert not leaves_the_machine("file:///page.html")
