"""In the kernel that executes a lesson: what a cell displays becomes a page that can be stepped through.

Objects with a `to_html` that writes a file are shown as a frame with that file. Other widgets show their text.
"""

from pathlib import Path
from typing import Any

from tests.site.pictures import frame

TITLES = {
    "Recording": ("A recording that can be stepped through", 640),
    "Explorer": ("A recording that can be stepped through", 640),
    "Puzzle": ("The forward pass of a puzzle", 640),
    "Function": ("A compiled function: its graph, program and source", 720),
    "CurveExplorer": ("A function above its derivative", 620),
}
"""Of what is shown in a frame: its title and height."""


class Stepping:
    """Writes pages into a folder, numbered in the order of the lesson."""

    def __init__(self, folder: Path, lesson: str) -> None:
        self.folder, self.lesson, self.count = folder, lesson, 0

    def shown(self, value: Any) -> str | None:
        """Return the frame that shows a value, or None for what has no page of its own."""
        kind = next((base.__name__ for base in type(value).__mro__ if base.__name__ in TITLES), None)
        if kind is None:
            return None
        self.count += 1
        name = f"{self.lesson}-{self.count}.html"
        (value.recording if kind in ("Explorer", "Puzzle") else value).to_html(self.folder / name)
        title, height = TITLES[kind]
        return frame(f"../{self.folder.name}/{name}", title, height)


def install(folder: str, lesson: str) -> None:
    """Change how this kernel displays values."""
    from IPython.core.getipython import get_ipython

    shell = get_ipython()
    assert shell is not None
    formatter: Any = shell.display_formatter
    stepping, plain = Stepping(Path(folder), lesson), formatter.format

    def format_(value: Any, include: Any = None, exclude: Any = None) -> Any:
        text = stepping.shown(value)
        return plain(value, include, exclude) if text is None else ({"text/html": text}, {})

    formatter.format = format_  # IPython's display hook and `display` both call it
