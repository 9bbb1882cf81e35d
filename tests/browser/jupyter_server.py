"""A real JupyterLab for the tests: its own port, token and folders, and no process left behind.

``conftest.py`` starts one per test process. Everything that Jupyter and IPython write goes to a temporary folder, so
that neither the developer's settings affect a test nor a test the developer's settings.
"""

import json
import secrets
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from autodiff_lab.cli import lessons

START_SECONDS = 90
STOP_SECONDS = 20


@dataclass(frozen=True)
class JupyterServer:
    """A running server: its address, its token, the folder that it serves, and its log."""

    url: str
    token: str
    folder: Path
    log: Path

    def address(self, notebook: str) -> str:
        """Return the address that opens a notebook of the folder in a fresh workspace."""
        return f"{self.url}/lab/tree/{notebook}?reset&token={self.token}"

    def request(self, path: str, method: str = "GET") -> bytes:
        """Call the server's own interface."""
        request = urllib.request.Request(
            self.url + path, method=method, headers={"Authorization": f"token {self.token}"}
        )
        with urllib.request.urlopen(request, timeout=120) as answer:
            return answer.read()

    def end_kernels(self) -> None:
        """End every kernel, so that a long run of tests does not fill the memory."""
        for kernel in json.loads(self.request("/api/kernels")):
            self.request(f"/api/kernels/{kernel['id']}", method="DELETE")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _environment(root: Path) -> dict[str, str]:
    folders = {
        "JUPYTER_CONFIG_DIR": "config",
        "JUPYTER_DATA_DIR": "data",
        "JUPYTER_RUNTIME_DIR": "runtime",
        "JUPYTERLAB_SETTINGS_DIR": "settings",
        "JUPYTERLAB_WORKSPACES_DIR": "workspaces",
        "IPYTHONDIR": "ipython",
    }
    return {
        **lessons.environment(),  # as the lessons are started
        **{name: str(root / folder) for name, folder in folders.items()},
        "JUPYTER_PLATFORM_DIRS": "1",
    }


def _write_settings(root: Path) -> None:
    """Switch off what would disturb a test, in files, because JupyterLab has no options for it."""
    # No news, and no question about them.
    settings = root / "settings" / "@jupyterlab" / "apputils-extension"
    settings.mkdir(parents=True)
    answers = {"fetchNews": "false", "checkForUpdates": False}
    (settings / "notification.jupyterlab-settings").write_text(json.dumps(answers), encoding="utf-8")
    # Cells out of sight are in the page too: a test that counts outputs must not depend on where the page is scrolled.
    notebook = root / "settings" / "@jupyterlab" / "notebook-extension"
    notebook.mkdir(parents=True)
    (notebook / "tracker.jupyterlab-settings").write_text(json.dumps({"windowingMode": "none"}), encoding="utf-8")
    # A caret that blinks has the page drawn sixty times a second, for as long as a test lasts.
    editor = root / "settings" / "@jupyterlab" / "codemirror-extension"
    editor.mkdir(parents=True)
    steady = {"defaultConfig": {"cursorBlinkRate": 0}}
    (editor / "plugin.jupyterlab-settings").write_text(json.dumps(steady), encoding="utf-8")
    # No debugger: it questions each kernel, and logs an error if that one ends before it has answered.
    pages = root / "config" / "labconfig"
    pages.mkdir(parents=True)
    disabled = {"disabledExtensions": {"@jupyterlab/debugger-extension": True}}
    (pages / "page_config.json").write_text(json.dumps(disabled), encoding="utf-8")


def _command(port: int, token: str, folder: Path) -> list[str]:
    options = {
        "ip": "127.0.0.1",
        "port": port,
        "ServerApp.port_retries": 0,
        "IdentityProvider.token": token,
        "ServerApp.root_dir": folder,
        "ServerApp.shutdown_no_activity_timeout": 900,  # should the test process die, so does the server
        "FileIdManager.db_path": ":memory:",
        "LabApp.expose_app_in_browser": True,
        "LabApp.check_for_updates_class": "jupyterlab.NeverCheckForUpdate",
        "LabApp.extension_manager": "readonly",
    }
    return [
        sys.executable,
        *("-m", "jupyterlab", "--no-browser", "--allow-root"),
        *(f"--{name}={value}" for name, value in options.items()),
    ]


def _wait_until_up(server: JupyterServer, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        if process.poll() is not None:
            break
        try:
            server.request("/api/status")
        except OSError:
            time.sleep(0.2)
        else:
            return
    raise RuntimeError(f"JupyterLab did not start:\n{server.log.read_text(encoding='utf-8')[-3000:]}")


def _stop(server: JupyterServer, process: subprocess.Popen[bytes]) -> None:
    """Ask the server to end, so that it ends its kernels first; insist only if it does not."""
    try:
        server.request("/api/shutdown", method="POST")
    except OSError:
        process.terminate()
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


@contextmanager
def serve(root: Path) -> Generator[JupyterServer]:
    """Run JupyterLab with everything it keeps below `root`, and end it on leaving."""
    folder = root / "notebooks"
    folder.mkdir()
    _write_settings(root)
    port, token = _free_port(), secrets.token_hex(16)
    server = JupyterServer(f"http://127.0.0.1:{port}", token, folder, root / "server.log")
    with server.log.open("wb") as log:
        process = subprocess.Popen(
            _command(port, token, folder),
            env=_environment(root),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
        try:
            _wait_until_up(server, process)
            yield server
        finally:
            _stop(server, process)
