"""The built documentation site in a browser, with the network off.

Part of `make docs`, which builds the site first and names its folder in ``SITE``; `make test` has tests/site. Every
page opened here must be clean, as all pages of these fixtures: no error, and no request that leaves the machine.
"""

import os
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from tests.browser.conftest import OpenPage, Screenshot
from tests.browser.view import View
from tests.tree import ROOT

SITE = Path(os.environ.get("SITE", ROOT / "build" / "site")).resolve()
PAGES = [
    "index", "start", "where_it_runs", "lessons", "lessons/07_backwards_one_gate_at_a_time", "howto/debug_a_nan",
    "comparison", "performance", "ops", "api/tensor", "decisions/README",
]  # fmt: skip
AXE = ROOT / "tests" / "javascript" / "node_modules" / "axe-core" / "axe.min.js"
VIOLATIONS = """async () => {
    const { violations } = await axe.run(document, { iframes: false, resultTypes: ["violations"] });
    return violations.map(({ id, impact, nodes }) => ({ id, impact, where: nodes[0].html.slice(0, 200) }));
}"""

SHOWN_TWICE = """() => {
    const shown = [...document.querySelectorAll(".only-light, .only-dark")].filter((each) => each.offsetParent);
    return shown.length - new Set(shown.map((each) => each.alt)).size;
}"""

OpenSite = Callable[[str], View]


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing about requests."""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The address of a server of the site on this machine."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(SITE)))
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture
def open_site(address: str, new_view: Callable[..., View]) -> OpenSite:
    """Open a page of the site by its name."""

    def open_it(name: str) -> View:
        view = new_view(True)
        view.page.goto(f"{address}/{name}.html")
        return view

    return open_it


@pytest.mark.parametrize("name", PAGES)
def test_a_page_fits_its_window_and_has_no_serious_obstacle(
    name: str, open_site: OpenSite, screenshot: Screenshot
) -> None:
    view = open_site(name)
    if not AXE.exists():
        pytest.skip("axe-core is not installed; `make javascript` installs it")
    view.page.evaluate(AXE.read_text(encoding="utf-8"))
    for dark in (False, True):
        for width in (640, 1300):
            view.set_width(width)
            assert view.page.evaluate("() => document.documentElement.scrollWidth <= innerWidth"), f"{width} px"
            theme = "dark" if dark else "light"
            screenshot(view, f"site-{name.replace('/', '-')}-{width}-{theme}", dark=dark, width=width)
        view.set_dark(dark)
        assert view.page.evaluate(SHOWN_TWICE) == 0
        found = [v for v in view.page.evaluate(VIOLATIONS) if v["impact"] in {"serious", "critical"}]
        assert not found


def found(view: View) -> str:
    """Search for a word; return the addresses of what is found."""
    view.page.locator("input[name=q]").first.fill("cotangent")
    view.page.keyboard.press("Enter")
    links = view.page.locator("#search-results li a")
    view.page.get_by_text("Search finished").wait_for()  # results are shown one after the other
    return " ".join(links.evaluate_all("all => all.map(link => link.href)"))


def test_search_finds_a_word(open_site: OpenSite) -> None:
    assert "glossary" in found(open_site("index"))


def test_search_works_from_disk(open_page: OpenPage) -> None:
    view = open_page(SITE / "index.html", clean=False)  # the excerpts of what is found need a server
    assert "glossary" in found(view)
    assert not view.outside_requests


def test_the_recording_of_the_start_page_can_be_stepped_through(open_site: OpenSite) -> None:
    view = open_site("start")
    view.page.locator("iframe[src$='start-recording.html']").scroll_into_view_if_needed()
    frame = view.page.frame_locator("iframe[src$='start-recording.html']")
    frame.locator(".explorer").wait_for()
    frame.locator(".graph").first.focus()
    before = int(frame.locator(".explorer").get_attribute("data-step") or 0)
    view.page.keyboard.press("ArrowLeft" if before else "ArrowRight")
    assert int(frame.locator(".explorer").get_attribute("data-step") or 0) == (before - 1 if before else 1)


@pytest.mark.parametrize("lesson", ["01_what_is_a_derivative", "07_backwards_one_gate_at_a_time"])
def test_a_lesson_shows_pages_that_can_be_used(lesson: str, open_site: OpenSite) -> None:
    view = open_site(f"lessons/{lesson}")
    frame = view.page.locator(".stepping iframe").first
    frame.scroll_into_view_if_needed()
    frame.content_frame.locator("svg").first.wait_for()
