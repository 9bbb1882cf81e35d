"""A case of the clinic as a page without a kernel: point at the line, name the cause, read what the engine says.

`autodiff_lab.lessons.clinic` gathers the facts, among them the answers: a page has no engine that could find them.
"""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import Any

from autodiff_lab.draw.page import document

_HERE = Path(__file__).parent


def page(facts: dict[str, Any]) -> str:
    """Return the page of a case; without JavaScript it shows the complaint and the program."""
    lines = "\n".join(f"{number:2}  {line}" for number, line in enumerate(facts["program"], 1))
    still = escape(f"{facts['title']}\n{facts['complaint']}\n\n{lines}\n\nAnswering needs JavaScript.")
    return document(facts["title"], {"facts": facts}, _HERE, f"<pre>{still}</pre>")
