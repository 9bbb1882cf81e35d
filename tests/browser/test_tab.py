"""The package in a browser tab, where no name resolves: recorded, drawn, explained and compiled by the page itself."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from time import perf_counter

import pytest

from tests.browser.view import View
from tests.tab.interpreter import SMOKE, artifacts, facts_in
from tests.tree import PACKAGE, ROOT

PAGES = Path(__file__).parent / "tab"
SHIM = ROOT / "tests/javascript/node_modules/@bjorn3/browser_wasi_shim/dist"


class _Quiet(SimpleHTTPRequestHandler):
    extensions_map = {**SimpleHTTPRequestHandler.extensions_map, ".wasm": "application/wasm"}  # noqa: RUF012

    def log_message(self, format: str, *args: object) -> None:
        """Keep the requests out of the tests' output."""


@contextmanager
def served(folder: Path) -> Generator[str]:
    """Serve a folder on a port of this machine, and yield the address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder))) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


def _site(folder: Path) -> None:
    """Lay out what the page loads: the interpreter, what stands for a system, and the package's files."""
    module, library = artifacts()
    if not SHIM.is_dir():
        pytest.skip("@bjorn3/browser_wasi_shim is not installed; `make javascript` installs it")
    for page in PAGES.iterdir():
        shutil.copy(page, folder)
    (folder / "python.wasm").symlink_to(module)
    (folder / "python315.zip").symlink_to(library)
    (folder / "shim").symlink_to(SHIM)
    files = [path for path in PACKAGE.rglob("*") if path.suffix in {".py", ".js", ".css", ".json", ".svg"}]
    texts = {f"{PACKAGE.name}/{path.relative_to(PACKAGE).as_posix()}": path.read_text("utf-8") for path in files}
    (folder / "packages.json").write_text(json.dumps({**texts, SMOKE.name: SMOKE.read_text("utf-8")}), "utf-8")


@pytest.mark.slow
def test_a_tab_gives_what_this_python_gives(
    new_view: Callable[..., View], tmp_path: Path, figure: Callable[[str, str], None]
) -> None:
    _site(tmp_path)
    here = subprocess.run([sys.executable, SMOKE], cwd=ROOT, capture_output=True, text=True, check=True)
    with served(tmp_path) as address:
        view = new_view(True)
        begin = perf_counter()
        view.page.goto(f"{address}/index.html")
        view.page.wait_for_selector("#output[data-status]", timeout=180_000)
        figure("the smoke test in a tab", f"{perf_counter() - begin:.1f} s")
        output = view.page.inner_text("#output")
        assert view.page.get_attribute("#output", "data-status") == "0", output
        view.page.goto("about:blank")
    found, expected = facts_in(output), facts_in(here.stdout)
    assert not found.pop("numba")
    assert expected.pop("numba")
    assert found == expected
