"""The picture at the head of the README is of the README's own program, at a backward step, light and dark.

With ``RENEW_PICTURES`` set (`make docs-pictures`) the pictures go into docs/images.
"""

import contextlib
import io
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from autodiff_lab.recording import Recording
from tests.browser.conftest import OpenPage
from tests.browser.pages import explorer, read_step, take_focus
from tests.test_documents import examples
from tests.tree import ROOT

IMAGES = ROOT / "docs" / "images"


def recording_of_the_readme() -> Recording:
    """Run the README's examples up to the first recording."""
    readme = ROOT / "README.md"
    names: dict[str, object] = {"__name__": "__main__"}
    with contextlib.redirect_stdout(io.StringIO()):
        for example in examples(readme.read_text(encoding="utf-8")):
            exec(compile("\n" * (example.line - 1) + example.code, str(readme), "exec"), names)
            found = names.get("recording")
            if isinstance(found, Recording):
                return found
    pytest.fail("the README makes no recording")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_program_of_the_readme_can_be_stepped_through(
    theme: str, open_page: OpenPage, tmp_path: Path, screenshot: Callable[..., Path]
) -> None:
    recording = recording_of_the_readme()
    recording.to_html(tmp_path / "page.html")
    view = open_page(tmp_path / "page.html", dark=theme == "dark")
    root = explorer(view.page)
    take_focus(root)
    backward = next(i for i, m in enumerate(recording.order) if m.sweep is not None and _op(recording, i) == "tanh")
    view.page.keyboard.press("Home")
    for _ in range(backward + 1):
        view.page.keyboard.press("ArrowRight")
    step = read_step(root)
    assert step["step"] == backward + 1
    assert "tanh" in step["live"]
    taken = screenshot(view, f"readme-{theme}", dark=theme == "dark", width=1320, height=640, of=root)
    if os.environ.get("RENEW_PICTURES"):
        IMAGES.mkdir(exist_ok=True)
        shutil.copyfile(taken, IMAGES / f"explorer-{theme}.png")
    assert (IMAGES / f"explorer-{theme}.png").exists()


def _op(recording: Recording, moment: int) -> str:
    return recording.applications[recording.order[moment].application].op
