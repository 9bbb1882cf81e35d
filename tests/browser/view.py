"""A page under observation: its errors and warnings, its network requests, and its screenshots.

`View` wraps a Playwright page. Fixtures in ``conftest.py`` create one for a notebook or a file and, when the test ends,
require it to be clean: no console error, no uncaught exception, no request that leaves the machine.
"""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import ConsoleMessage, Locator, Page

SCREENSHOTS = Path(__file__).resolve().parent / "screenshots"
POLLING = 50.0
"""Milliseconds between two looks at a condition that takes long to come true.

Playwright otherwise asks for every frame, and a page that is asked for frames draws them.
"""
HERE = {"127.0.0.1", "localhost", "[::1]", "::1"}


def leaves_the_machine(url: str) -> bool:
    """Tell whether an address is on another machine; ``data:``, ``blob:`` and ``file:`` addresses are not."""
    parts = urlsplit(url)
    return parts.scheme in {"http", "https", "ws", "wss"} and (parts.hostname or "") not in HERE


class View:
    """A page, with all errors and warnings since it was opened.

    Attributes
    ----------
    page
        The Playwright page.
    console_errors, page_errors
        Messages of ``console.error``, and of uncaught exceptions.
    outside_requests
        Requested addresses on other machines; a clean page requests none.
    keep
        Hands the page on to another test, if that can be; None if no other may go on with it.
    """

    def __init__(self, page: Page) -> None:
        self.page = page
        self.console_errors: list[str] = []
        self.page_errors: list[str] = []
        self.outside_requests: list[str] = []
        self.keep: Callable[[Page], bool] | None = None
        self._listeners: dict[Any, Callable[[Any], None]] = {
            "console": self._on_console,
            "pageerror": lambda error: self.page_errors.append(str(error)),
            "request": lambda request: self._on_address(request.url),
            "websocket": lambda websocket: self._on_address(websocket.url),
        }
        for event, listener in self._listeners.items():
            page.on(event, listener)

    def stop_listening(self) -> None:
        """Leave the page to another view: what it says from now on is none of this one's."""
        for event, listener in self._listeners.items():
            self.page.remove_listener(event, listener)

    def _on_console(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.console_errors.append(message.text)

    def _on_address(self, url: str) -> None:
        if leaves_the_machine(url):
            self.outside_requests.append(url)

    def problems(self) -> list[str]:
        """Return everything that a clean page would not have, a line each."""
        return [
            *(f"console error: {text}" for text in self.console_errors),
            *(f"uncaught exception: {text}" for text in self.page_errors),
            *(f"request that leaves the machine: {url}" for url in self.outside_requests),
        ]

    def assert_clean(self) -> None:
        """Fail with the list of problems, if there are any."""
        assert not self.problems(), "\n".join(self.problems())

    @property
    def is_jupyter(self) -> bool:
        """Whether the page is JupyterLab, and not a file."""
        return bool(self.page.evaluate("() => Boolean(window.jupyterapp)"))

    def set_dark(self, dark: bool) -> None:
        """Switch to the dark theme or back: JupyterLab's own, or the preference that a plain page reads."""
        self.page.emulate_media(color_scheme="dark" if dark else "light")
        if not self.is_jupyter or dark == (self.page.evaluate("() => document.body.dataset.jpThemeLight") == "false"):
            return
        theme = "JupyterLab Dark" if dark else "JupyterLab Light"
        self.page.evaluate("theme => window.jupyterapp.commands.execute('apputils:change-theme', { theme })", theme)
        self.page.wait_for_function(
            "light => document.body.dataset.jpThemeLight === light", arg="false" if dark else "true"
        )
        self.page.wait_for_function("() => !document.getElementById('jupyterlab-splash')")

    def set_width(self, width: int, height: int = 1000) -> None:
        """Resize the window, in CSS pixels, and wait until the page has been laid out again."""
        self.page.set_viewport_size({"width": width, "height": height})
        self.page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def cell_outputs(self) -> list[str]:
        """Return the text of every output of the notebook, in order."""
        return self.page.locator(".jp-OutputArea-output").all_inner_texts()

    def screenshot(
        self, name: str, dark: bool = False, width: int = 1300, height: int = 1000, of: Locator | None = None
    ) -> Path:
        """Photograph the window, or one element `of` it, into ``screenshots/<name>.png``, and return the path."""
        SCREENSHOTS.mkdir(exist_ok=True)
        path = SCREENSHOTS / f"{name}.png"
        self.set_width(width, height)
        self.set_dark(dark)
        if of is None:
            self.page.screenshot(path=path)
        else:
            of.scroll_into_view_if_needed()
            of.screenshot(path=path)
        return path


def kernel_is_ready(page: Page, notebook: str, timeout: float) -> None:
    """Wait until this notebook is in front, alone, and its kernel is idle.

    A page of JupyterLab opens its launcher when it has nothing else to show, and may do so after the notebook was asked
    for: whatever came in front is closed.
    """
    page.wait_for_function(
        """notebook => {
            const shell = window.jupyterapp?.shell;
            const open = shell ? [...shell.widgets("main")] : [];
            const wanted = open.find(widget => widget.context?.path === notebook);
            if (!wanted?.context.isReady || wanted.sessionContext.session?.kernel?.status !== "idle") return false;
            for (const widget of open) if (widget !== wanted) widget.dispose(); // asks nobody to save
            if (shell.currentWidget !== wanted) shell.activateById(wanted.id);
            return shell.currentWidget === wanted && wanted.node.querySelector(".jp-Cell")?.offsetParent != null;
        }""",
        arg=notebook,
        polling=POLLING,
        timeout=timeout,
    )


def notebook_is_done(page: Page, counted: int, timeout: float) -> None:
    """Wait until the kernel is idle and every one of the `counted` code cells has run.

    A cell that raised counts as run, and stops the cells below it; so an error ends the wait as well.
    """
    page.wait_for_function(
        """counted => {
            const { content, sessionContext } = window.jupyterapp.shell.currentWidget;
            if (sessionContext.session?.kernel?.status !== 'idle') return false;
            const cells = content.widgets.map(cell => cell.model).filter(model => model.type === 'code');
            const ran = cells.filter(model => model.executionCount !== null && model.executionState !== 'running');
            const types = ({ outputs }) => Array.from({ length: outputs.length }, (_, at) => outputs.get(at).type);
            return ran.length >= counted || cells.some(model => types(model).includes('error'));
        }""",
        arg=counted,
        polling=POLLING,
        timeout=timeout,
    )


def written(cells: Iterable[str]) -> list[str]:
    """Return the cells that run, those with anything in them."""
    return [cell for cell in cells if cell.strip()]
