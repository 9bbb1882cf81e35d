"""The pictures of the README show its own programs: the recording, step by step, and the compiled function.

With ``RENEW_PICTURES`` set (`make docs-pictures`) the pictures go into docs/images.
"""

import contextlib
import io
import os
import shutil
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from autodiff_lab.recording import Recording
from tests.browser.conftest import OpenPage
from tests.browser.moving import LIMIT, frames, save
from tests.browser.pages import explorer, read_step, take_focus
from tests.test_documents import examples
from tests.tree import ROOT

IMAGES = ROOT / "docs" / "images"


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the examples in a folder of their own: they write files."""
    monkeypatch.chdir(tmp_path)


def made_by_the_readme(wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """Run the README's examples until one has made what is wanted; the names they made."""
    readme = ROOT / "README.md"
    names: dict[str, Any] = {"__name__": "__main__"}
    with contextlib.redirect_stdout(io.StringIO()):
        for example in examples(readme.read_text(encoding="utf-8")):
            exec(compile("\n" * (example.line - 1) + example.code, str(readme), "exec"), names)
            if wanted(names):
                return names
    pytest.fail("the README does not make it")


def keep(taken: Path, name: str) -> None:
    """Put a picture into the documentation if that is asked for; it must be there in any case."""
    if os.environ.get("RENEW_PICTURES"):
        IMAGES.mkdir(exist_ok=True)
        shutil.copyfile(taken, IMAGES / name)
    assert (IMAGES / name).exists()


@pytest.mark.slow
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_program_of_the_readme_can_be_stepped_through(theme: str, open_page: OpenPage, tmp_path: Path) -> None:
    recording = made_by_the_readme(lambda names: isinstance(names.get("recording"), Recording))["recording"]
    recording.to_html(tmp_path / "page.html")
    view = open_page(tmp_path / "page.html", dark=theme == "dark")
    root = explorer(view.page)
    take_focus(root)
    backward = next(i for i, m in enumerate(recording.order) if m.sweep is not None)
    view.set_width(1320, 600)
    view.page.keyboard.press("Home")
    for _ in range(backward):
        view.page.keyboard.press("ArrowRight")
    assert read_step(root)["step"] == backward
    steps = len(recording.order) - backward
    taken = frames(view.page, root, steps)
    assert read_step(root)["step"] == len(recording.order)
    assert all(one.tobytes() != other.tobytes() for one, other in pairwise(taken))
    size = save(taken, [2.0, *[1.8] * (steps - 1), 4.0], tmp_path / "moving.png")
    assert size < LIMIT, f"{size:,} bytes"
    keep(tmp_path / "moving.png", f"stepping-{theme}.png")
    taken[-1].save(tmp_path / "still.png", optimize=True)
    keep(tmp_path / "still.png", f"explorer-{theme}.png")


@pytest.mark.slow
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_compiled_function_of_the_readme_shows_its_program(theme: str, open_page: OpenPage, tmp_path: Path) -> None:
    train = made_by_the_readme(lambda names: "train" in names and names["train"].compiled)["train"]
    train.to_html(tmp_path / "page.html")
    view = open_page(tmp_path / "page.html", dark=theme == "dark")
    root = view.page.locator(".lab-program-view").first
    root.locator(".program .row", has_text="tanh(").first.click()
    assert root.locator(".source .row.now").count() == 1
    taken = view.screenshot(f"readme-program-{theme}", dark=theme == "dark", width=1320, height=900, of=root)
    keep(taken, f"program-{theme}.png")
