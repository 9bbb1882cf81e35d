"""Fixtures for tests in a browser: `jupyter`, `browser`, `open_notebook`, `open_page`, `screenshot`.

The server and the browser start once per test process, and end with its last test in a browser. A page whose test
passed goes on to the next test: a JupyterLab without its notebooks and kernels, because loading it takes longer than
most tests, and the page of a file with nothing in it, because a browser context of its own takes ten times as long as a
file.
Without Chromium these tests are skipped, and say so. ``CHROMIUM`` names an executable that is not on the PATH.
"""

import os
import shutil
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

# Everything that runs in a browser needs these; without them the tests are skipped rather than broken.
playwright = pytest.importorskip("playwright.sync_api", reason="the playwright package is not installed")

from playwright.sync_api import Browser, Locator, Page, ViewportSize, sync_playwright  # noqa: E402
from playwright.sync_api import Error as PlaywrightError  # noqa: E402

from tests.browser.jupyter_server import JupyterServer, serve  # noqa: E402
from tests.browser.view import View, kernel_is_ready, notebook_is_done, written  # noqa: E402

SECOND = 1000.0
PATIENCE = 120.0
"""Seconds until a wait for something in a page gives up: far more than any takes, as other tests need the cores too."""
WINDOW: ViewportSize = {"width": 1300, "height": 1000}
UNWANTED = (
    # A renderer in reserve, and one for each page of the suggestions below an address bar that nobody sees.
    *("SpareRendererForSitePerProcess", "WebUIOmniboxPopup", "WebUIOmniboxAimPopup", "WebUIOmniboxFullPopup"),
    # What Playwright switches off: Chromium goes by the last list that it is given.
    *("AvoidUnnecessaryBeforeUnloadCheckSync", "DestroyProfileOnBrowserClose", "HttpsUpgrades", "LensOverlay"),
    *("HttpsFirstBalancedModeAutoEnable", "MediaRouter", "PaintHolding", "ThirdPartyStoragePartitioning", "AimEnabled"),
    *("OptimizationHints", "NetworkTimeServiceQuerying", "PreconnectToSearch"),
)
"""Features of Chromium that cost a page a third of a second of processor time and change nothing that it shows."""
FLAGS = [
    "--no-sandbox",  # the sandbox refuses to start for root, and these pages are our own
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",  # containers give it 64 MB
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--force-color-profile=srgb",
    f"--disable-features={','.join(UNWANTED)}",
    # A request for another machine is seen, and goes nowhere.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
]


def find_chromium() -> str | None:
    """Return the Chromium to use: the one that CHROMIUM names, else the first of the usual names on the PATH."""
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, names)), None)


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """A headless Chromium."""
    executable = find_chromium()
    if executable is None:
        pytest.skip("no Chromium on this machine; `make chromium` installs it where it may")
    with sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=executable, headless=True, args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture(scope="package")
def jupyter(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[JupyterServer]:
    """A JupyterLab of its own. It asks for `browser` first: without one there is no point in starting it."""
    assert browser.is_connected()
    with serve(tmp_path_factory.mktemp("jupyter")) as server:
        yield server


class OpenNotebook(Protocol):
    """The type of the `open_notebook` fixture."""

    def __call__(
        self,
        what: Path | Sequence[str],
        *,
        run: bool = True,
        clean: bool = True,
        timeout: float = PATIENCE,
        own_page: bool = False,
    ) -> View: ...


class OpenPage(Protocol):
    """The type of the `open_page` fixture."""

    def __call__(self, file: Path, *, clean: bool = True, dark: bool = False, width: int = 1300) -> View: ...


def _as_new(page: Page, width: int = WINDOW["width"], dark: bool = False) -> Page:
    """Undo what a test has asked of a page, as if its context had just been made."""
    page.emulate_media(color_scheme="dark" if dark else "light", reduced_motion="reduce", forced_colors="none")
    page.set_viewport_size({**WINDOW, "width": width})
    return page


@dataclass
class Labs:
    """The JupyterLab page that waits for the next test, if there is one."""

    waiting: Page | None = None

    def take(self) -> Page | None:
        """Return the page that waits, as it would be if it had just been loaded."""
        page, self.waiting = self.waiting, None
        return None if page is None else _as_new(page)

    def keep(self, page: Page) -> bool:
        """Let a page wait, with its notebooks closed; return whether it can."""
        if self.waiting is not None:
            return False
        try:
            page.evaluate(
                """async () => {
                    const app = window.jupyterapp;
                    document.activeElement?.blur();
                    for (const widget of [...app.shell.widgets("main")]) widget.dispose(); // asks nobody to save
                    if (document.body.dataset.jpThemeLight === "false")
                        await app.commands.execute("apputils:change-theme", { theme: "JupyterLab Light" });
                }"""
            )
        except PlaywrightError:
            return False
        self.waiting = page
        return True


@dataclass
class Sheets:
    """Blank pages that wait for files; what is read from a file leaves nothing in a context: no cookie, no storage."""

    waiting: list[Page]

    def take(self, width: int, dark: bool) -> Page | None:
        """Return a blank page, if one waits."""
        return _as_new(self.waiting.pop(), width, dark) if self.waiting else None

    def keep(self, page: Page) -> bool:
        """Let a page wait, with nothing in it; return whether it can."""
        if len(self.waiting) == 3:  # no test opens more at a time
            return False
        try:
            page.mouse.move(0, 0)
            page.goto("about:blank")
        except PlaywrightError:
            return False
        self.waiting.append(page)
        return True


@pytest.fixture(scope="package")
def labs() -> Labs:
    """What is left of JupyterLab by one test for the next."""
    return Labs()


@pytest.fixture(scope="package")
def sheets() -> Sheets:
    """The pages of files that one test leaves for the next."""
    return Sheets([])


@pytest.fixture
def new_view(browser: Browser) -> Iterator[Callable[..., View]]:
    """Make views in contexts of their own, and when the test ends hold every one to be clean that promised to be."""
    made: list[tuple[View, bool]] = []

    def make(
        clean: bool, width: int = 1300, offline: bool = False, dark: bool = False, page: Page | None = None
    ) -> View:
        if page is None:
            context = browser.new_context(
                viewport={**WINDOW, "width": width},
                offline=offline,
                color_scheme="dark" if dark else "light",
                reduced_motion="reduce",
            )
            page = context.new_page()
            page.set_default_timeout(PATIENCE * SECOND)
        view = View(page)
        made.append((view, clean))
        return view

    yield make
    for view, clean in made:
        view.stop_listening()
        if not (clean and not view.problems() and view.keep is not None and view.keep(view.page)):
            view.page.context.close()
    for view, clean in made:
        if clean:
            view.assert_clean()


def _copy_in(what: Path | Sequence[str], server: JupyterServer) -> tuple[str, int]:
    """Put a notebook into the served folder; return its name there and how many of its cells run."""
    if isinstance(what, Path):
        notebook = nbformat.read(what, as_version=4)
        stem = what.stem
    else:
        kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
        notebook = new_notebook(cells=[new_code_cell(cell) for cell in what], metadata={"kernelspec": kernel})
        stem = "cells"
    name = f"{stem}-{uuid.uuid4().hex[:8]}.ipynb"
    for cell in notebook.cells:  # opened as a reader gets it after "clear all outputs", so that what shows was computed
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    nbformat.write(notebook, server.folder / name)
    return name, len(written(cell.source for cell in notebook.cells if cell.cell_type == "code"))


@pytest.fixture
def fresh_kernels(jupyter: JupyterServer) -> Iterator[None]:
    """End the test's kernels after its pages were closed; a page that loses its kernel complains."""
    yield
    jupyter.end_kernels()


@pytest.fixture
def open_notebook(
    jupyter: JupyterServer, fresh_kernels: None, new_view: Callable[..., View], labs: Labs
) -> OpenNotebook:
    """Open a notebook, or a list of cells, in JupyterLab; run all its cells; return when the last is done.

    ``run=False`` leaves the cells to the test; ``clean=False`` says that problems are expected and read by the test;
    ``own_page=True`` loads JupyterLab again, for tests of what a page does first or keeps.
    """

    def open_it(
        what: Path | Sequence[str],
        *,
        run: bool = True,
        clean: bool = True,
        timeout: float = PATIENCE,
        own_page: bool = False,
    ) -> View:
        name, count = _copy_in(what, jupyter)
        loaded = None if own_page else labs.take()
        view = new_view(clean, page=loaded)
        if loaded is None:
            view.page.goto(jupyter.address(name))
        else:
            view.page.evaluate("path => void window.jupyterapp.commands.execute('docmanager:open', { path })", name)
        view.keep = None if own_page else labs.keep
        kernel_is_ready(view.page, name, PATIENCE * SECOND)
        view.page.evaluate("() => window.jupyterapp.shell.collapseLeft()")  # the notebook gets the width
        if run:
            view.page.evaluate("() => void window.jupyterapp.commands.execute('notebook:run-all-cells')")
            notebook_is_done(view.page, count, timeout * SECOND)
        return view

    return open_it


@pytest.fixture
def open_page(new_view: Callable[..., View], sheets: Sheets) -> OpenPage:
    """Open an HTML file from disk with the network off."""

    def open_it(file: Path, *, clean: bool = True, dark: bool = False, width: int = 1300) -> View:
        view = new_view(clean, width=width, offline=True, dark=dark, page=sheets.take(width, dark))
        view.keep = sheets.keep
        view.page.goto(file.resolve().as_uri())
        return view

    return open_it


class Screenshot(Protocol):
    """The type of the `screenshot` fixture."""

    def __call__(
        self,
        view: View,
        name: str,
        dark: bool = False,
        width: int = 1300,
        height: int = 1000,
        of: Locator | None = None,
    ) -> None: ...


@pytest.fixture
def screenshot() -> Screenshot:
    """Photograph a view in `make screenshots`: ``screenshot(view, "explorer-dark", dark=True, width=640)``.

    Other runs need no pictures. They show each view once in each theme and once in each width, which is where a page
    complains.
    """
    shown = set[tuple[View, str | int]]()

    def is_new(view: View, what: str | int) -> bool:
        already = (view, what) in shown
        shown.add((view, what))
        return not already

    def take(
        view: View, name: str, dark: bool = False, width: int = 1300, height: int = 1000, of: Locator | None = None
    ) -> None:
        if os.environ.get("SCREENSHOTS") == "1":
            view.screenshot(name, dark, width, height, of)
            return
        if is_new(view, width):
            view.set_width(width, height)
        if is_new(view, "dark" if dark else "light"):
            view.set_dark(dark)

    return take
