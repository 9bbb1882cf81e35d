"""JupyterLab, Notebook, Voila and marimo as a learner installs them: the widgets draw, and the keyboard steps them.

`make test-front-ends` installs the wheel and the four into an environment of their own, and names its Python in
``FRONT_ENDS_PYTHON``.  The servers have no settings of ours but those that came with the wheel.
"""

import json
import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from playwright.sync_api import Page

from tests.browser.jupyter_server import _free_port
from tests.browser.pages import explorer, read_step, take_focus
from tests.browser.view import View, kernel_is_ready, notebook_is_done, written
from tests.tree import ROOT

PYTHON = os.environ.get("FRONT_ENDS_PYTHON", sys.executable)
pytestmark = pytest.mark.skipif(
    "FRONT_ENDS_PYTHON" not in os.environ, reason="takes an environment with four front ends: make test-front-ends"
)
RECORDED = """import autodiff_lab as lab

x = lab.Variable(3.0, name="x")
with lab.record("everywhere") as recording:
    with lab.GradientTape() as tape:
        y = x * x
    tape.gradient(y, x)

curve = lab.explore(lambda x: x * x * x, -2.0, 2.0)


@lab.function
def squeezed(x):
    return lab.tanh(x * x)


squeezed(x)
"""
WIDGETS = ("recording", "curve", "squeezed")
FIGURE = """%matplotlib inline
import matplotlib.pyplot as plt

plt.plot([0, 1], [0, 1]);"""
MARIMO = """import marimo

app = marimo.App()


@app.cell
def recorded():
{cell}
    return {names}


{shown}
@app.cell
def asked():
    from autodiff_lab import lessons

    guess = lessons.predict("How many times h does f grow if x grows by h?")
    guess
    return (guess,)


@app.cell
def opened(guess, recording):
    guess.unlock(recording, outcome=6)
    return


app.run() if __name__ == "__main__" else None
"""
MARIMO_CELL = """@app.cell
def _({name}):
    {name}
    return


"""
PREDICTION = """from autodiff_lab import lessons

guess = lessons.predict("f = x·x at x = 3. How many times h does f grow if x grows by h?")
display(guess, guess.unlock(recording, outcome=6))"""
RUN_ALL = "() => void window.jupyterapp.commands.execute('notebook:run-all-cells')"


def _environment(root: Path) -> dict[str, str]:
    """The user's environment without the checkout, and with everything that is written below `root`."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("JUPYTER", "PYTHON"))}
    folders = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "JUPYTERLAB_SETTINGS_DIR",
               "JUPYTERLAB_WORKSPACES_DIR", "IPYTHONDIR", "XDG_CONFIG_HOME",
               "XDG_CACHE_HOME", "XDG_STATE_HOME")  # fmt: skip
    return {**kept, **{name: str(root / name.lower()) for name in folders}, "HOME": str(root)}


@contextmanager
def started(root: Path, *words: str, ready: str = "/api/status") -> Generator[str]:
    """Run a server, given as the words after ``python -m`` with {port} in them; yield its address."""
    port = _free_port()
    url, log = f"http://127.0.0.1:{port}", root / f"server-{port}.log"
    command = [PYTHON, "-m", *(word.format(port=port) for word in words)]
    with log.open("wb") as output:
        process = subprocess.Popen(command, cwd=root, env=_environment(root), stdout=output, stderr=output)
        try:
            _wait(process, url + ready, log)
            yield url
        finally:
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _wait(process: "subprocess.Popen[bytes]", url: str, log: Path) -> None:
    end = time.monotonic() + 90
    while process.poll() is None and time.monotonic() < end:
        try:
            with urllib.request.urlopen(url, timeout=20):
                return
        except OSError:
            time.sleep(0.2)
    raise RuntimeError(f"the server did not start:\n{log.read_text('utf-8')[-3000:]}")


def _jupyter(application: str, traits: str) -> tuple[str, ...]:
    return (
        application, "--no-browser", "--allow-root", "--ip=127.0.0.1", "--port={port}", "--ServerApp.port_retries=0",
        "--IdentityProvider.token=", f"--{traits}.expose_app_in_browser=True",
    )  # fmt: skip


def _notebook(folder: Path, *more: str) -> str:
    cells = [new_code_cell(source) for source in (RECORDED, *WIDGETS, *more)]
    metadata = {
        "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"},
        "language_info": {"name": "python", "file_extension": ".py"},
    }
    nbformat.write(new_notebook(cells=cells, metadata=metadata), folder / "cells.ipynb")
    return "cells.ipynb"


def _all_draw(page: Page) -> None:
    """The three widgets draw, and the keyboard goes to the end of the backward pass."""
    root = explorer(page)
    take_focus(root)
    page.keyboard.press("End")
    assert read_step(root)["step"] == 2
    page.locator(".lab-curves .curve").nth(1).wait_for()
    page.locator(".lab-program-view .lab-node", has_text="tanh").first.wait_for()


def _predict(page: Page) -> None:
    """A prediction typed into its field and committed by Enter opens what waits for it, which the keyboard steps."""
    shown = page.locator(".explorer").count()
    field = page.get_by_label("How many times h does f grow").first
    field.fill("nine")
    field.press("Enter")
    page.get_by_text("Write it like 2.5").wait_for()
    field.fill("9")
    field.press("Enter")
    page.get_by_text("3 too much").wait_for()
    page.get_by_text("You predicted 9.").wait_for()
    assert field.is_disabled()
    opened = page.locator(".lab-form .explorer")
    opened.wait_for()
    assert page.locator(".explorer").count() == shown + 1
    take_focus(opened)
    page.keyboard.press("End")
    assert read_step(opened)["step"] == 2


@pytest.fixture
def view(new_view: Callable[..., View]) -> View:
    return new_view(False)  # what the front ends themselves complain of is not ours


def test_lesson_1_in_plain_jupyterlab_is_saved_and_reopened_with_its_pictures(view: View, tmp_path: Path) -> None:
    where = "import autodiff_lab, pathlib; print(pathlib.Path(autodiff_lab.__file__).parent)"
    found = subprocess.run(
        [PYTHON, "-c", where], cwd=tmp_path, env=_environment(tmp_path), capture_output=True, text=True, check=True
    )
    (lesson,) = Path(found.stdout.strip(), "_notebooks").glob("01_*.ipynb")
    notebook = nbformat.read(lesson, as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    nbformat.write(notebook, tmp_path / lesson.name)
    count = len(written(cell.source for cell in notebook.cells if cell.cell_type == "code"))
    page, pictures = view.page, ".jp-OutputArea .autodiff-lab"
    with started(tmp_path, *_jupyter("jupyterlab", "LabApp")) as url:
        page.goto(f"{url}/lab/tree/{lesson.name}?reset")
        kernel_is_ready(page, lesson.name, 90_000)
        page.evaluate(RUN_ALL)
        notebook_is_done(page, count, 120_000)
        before = _scrolled(page, pictures)
        page.evaluate("() => window.jupyterapp.commands.execute('docmanager:save')")
        page.wait_for_function("() => !window.jupyterapp.shell.currentWidget.context.model.dirty")
        page.goto("about:blank")
    assert before
    with started(tmp_path, *_jupyter("jupyterlab", "LabApp")) as url:
        page.goto(f"{url}/lab/tree/{lesson.name}?reset")
        kernel_is_ready(page, lesson.name, 90_000)
        page.locator(pictures).first.wait_for(timeout=60_000)
        assert _scrolled(page, pictures) == before
        assert not page.get_by_text("model not found").count()
        page.goto("about:blank")


def _scrolled(page: Page, pictures: str) -> int:
    """Count pictures, with every cell in the page once: JupyterLab draws the cells that are in sight."""
    cells = page.evaluate("() => window.jupyterapp.shell.currentWidget.content.widgets.length")
    found: set[str] = set()
    for place in range(cells):
        page.evaluate("place => window.jupyterapp.shell.currentWidget.content.scrollToItem(place)", place)
        page.wait_for_timeout(150)
        found |= {
            json.dumps([place, n])
            for n in range(
                page.evaluate(
                    """([place, pictures]) => window.jupyterapp.shell.currentWidget.content.widgets[place]
                        .node.querySelectorAll(pictures).length""",
                    [place, pictures],
                )
            )
        }
    return len(found)


def test_notebook_7(view: View, tmp_path: Path) -> None:
    name = _notebook(tmp_path, PREDICTION)
    with started(tmp_path, *_jupyter("notebook", "JupyterNotebookApp")) as url:
        view.page.goto(f"{url}/notebooks/{name}")
        kernel_is_ready(view.page, name, 90_000)
        view.page.evaluate(RUN_ALL)
        _all_draw(view.page)
        _predict(view.page)
        view.page.goto("about:blank")


def test_voila(view: View, tmp_path: Path) -> None:
    name = _notebook(tmp_path, PREDICTION)
    with started(tmp_path, "voila", name, "--no-browser", "--port={port}", ready="/") as url:
        view.page.goto(url, timeout=90_000)
        _all_draw(view.page)
        _predict(view.page)
        view.page.goto("about:blank")


def test_marimo(view: View, tmp_path: Path) -> None:
    cell = "".join(f"    {line}\n" if line else "\n" for line in RECORDED.splitlines())
    shown = "".join(MARIMO_CELL.format(name=name) for name in WIDGETS)
    program = MARIMO.format(cell=cell, names=", ".join(WIDGETS), shown=shown)
    (tmp_path / "program.py").write_text(program, "utf-8")
    options = ("--headless", "--no-token", "--port={port}", "--host=127.0.0.1")
    with started(tmp_path, "marimo", "run", *options, "program.py", ready="/health") as url:
        view.page.goto(url)
        _all_draw(view.page)
        _predict(view.page)
        view.page.goto("about:blank")


def test_nbconvert_makes_pages_with_pictures_slides_and_scripts(view: View, tmp_path: Path) -> None:
    name = _notebook(tmp_path, FIGURE)
    for words in (["html", "--execute"], ["slides", "--execute"], ["script"]):
        run = subprocess.run(
            [PYTHON, "-m", "nbconvert", "--to", *words, name],
            cwd=tmp_path,
            env=_environment(tmp_path),
            capture_output=True,
            text=True,
            check=False,
        )
        assert run.returncode == 0, run.stderr
    for page in ("cells.html", "cells.slides.html"):
        view.page.goto((tmp_path / page).as_uri(), wait_until="domcontentloaded")
        for kind in ("SVG", "Image"):
            picture = view.page.locator(f".jp-Rendered{kind} img").first
            picture.wait_for(state="attached")
            assert picture.evaluate("async image => { await image.decode(); return image.naturalWidth; }") > 100
    assert (tmp_path / "cells.py").read_text("utf-8").count("lab.record") == 1


def test_a_lesson_has_a_slide_for_each_of_its_parts(view: View, tmp_path: Path) -> None:
    (lesson,) = (ROOT / "notebooks").glob("01_*.ipynb")
    command = (PYTHON, "-m", "nbconvert", "--to", "slides", "--output-dir", str(tmp_path), str(lesson))
    subprocess.run(command, cwd=tmp_path, env=_environment(tmp_path), capture_output=True, check=True)
    view.page.goto((tmp_path / f"{lesson.stem}.slides.html").as_uri(), wait_until="domcontentloaded")
    found = view.page.locator(".slides > section > section:first-child").locator("h1, h2").all_text_contents()
    cells = nbformat.read(lesson, as_version=4).cells
    firsts = [cell.source.partition("\n")[0] for cell in cells if cell.cell_type == "markdown"]
    assert [heading.removesuffix("¶") for heading in found] == [
        line.lstrip("# ") for line in firsts if line.startswith(("# ", "## "))
    ]
