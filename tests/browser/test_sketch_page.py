"""The slope of the day as a page without a kernel: drawn by pen, told with a score, saved as one picture."""

from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from autodiff_lab import lessons
from autodiff_lab.draw.sketches import reach
from tests.browser.conftest import OpenPage, Screenshot


@pytest.mark.slow
def test_the_slope_of_the_day_is_drawn_beaten_and_saved(
    open_page: OpenPage, screenshot: Screenshot, tmp_path: Path
) -> None:
    game = lessons.slope_of_the_day()
    game.best = 60
    view = open_page(game.to_html(tmp_path / "day.html"))
    pad = view.page.locator(".lab-sketch-pad")
    pad.locator(".head", has_text="60 of 100 to beat").wait_for()
    today = view.page.evaluate("() => Math.floor(Date.now() / 86400000)")
    curves = game.curves[today % len(game.curves)]
    assert f"function {today % len(game.curves) + 1} of 24" in pad.inner_text()
    screenshot(view, "sketch-page-empty")
    box = pad.locator("svg.pad").bounding_box()
    assert box is not None
    left, width, middle = box["x"] + 56, box["width"] - 80, box["y"] + 385
    parts = np.clip(curves.rows[1] / reach(curves, 1), -1, 1)[::4]
    mouse = view.page.mouse
    for number, part in enumerate(parts):
        mouse.move(left + width * number / (len(parts) - 1), middle - 115 * float(part))
        if not number:
            mouse.down()
    mouse.up()
    pad.get_by_role("button", name="Lay the derivative").click()
    pad.get_by_text("of 100: this is f′(x).").wait_for()
    assert "You beat it." in pad.inner_text()
    for dark in (False, True):
        screenshot(view, f"sketch-page-shown-{'dark' if dark else 'light'}", dark=dark, width=640)
    with view.page.expect_download() as saved:
        pad.get_by_role("button", name="Save the sketch").click()
    file = tmp_path / "sketch.svg"
    saved.value.save_as(file)
    (tmp_path / "seen.html").write_text(f"<body>{file.read_text(encoding='utf-8')}", encoding="utf-8")
    screenshot(open_page(tmp_path / "seen.html"), "sketch-saved", height=620)
    picture = ElementTree.fromstring(file.read_text(encoding="utf-8"))
    words = "".join(picture.itertext())
    assert "of 100: this is f′(x)." in words
    assert "Slope of the day" in words
    assert "class=" not in file.read_text(encoding="utf-8")
    pad.get_by_role("button", name="Go on").click()
    pad.get_by_text("Nothing is drawn yet.").wait_for()


@pytest.mark.slow
def test_the_pad_is_a_picture_of_its_own_in_the_kernel(open_page: OpenPage, tmp_path: Path) -> None:
    pad = lessons.sketch_pad(lambda x: x * x * x - 3.0 * x, -2.2, 2.2)
    pad.draw([9, 4, 1, -1, -2, -1, 1, 4, 9])
    pad.reveal()
    view = open_page(pad.to_html(tmp_path / "pad.html"))
    view.page.get_by_text("100 of 100: this is f′(x).").wait_for()
    assert view.page.get_by_text("Your sketch: above 0 until −0.86, below until 0.86, above.").count()
