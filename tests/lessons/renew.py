"""Run every lesson and save it twice: with all its outputs in tests/lessons/played/, and as a learner opens it.

``make lessons-played`` does it.  A learner's copy, in notebooks/, has no output from the first question on: what a
question closes cannot be read in a saved output, and a lesson that was not run yet looks like one.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import nbformat

from tests.tree import ROOT

NOTEBOOKS = ROOT / "notebooks"
PLAYED = ROOT / "tests" / "lessons" / "played"
QUESTION = "lessons.predict("
SLOW = "autodiff_lab: compiling "
"""Begins what is said of a compilation that takes long, which depends on the machine."""


def shipped(notebook: Any) -> Any:
    """Return a notebook without its outputs from the first question on; run counts and run times go everywhere."""
    notebook = nbformat.from_dict(notebook)
    asked = False
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        if cell.cell_type != "code":
            continue
        asked = asked or QUESTION in cell.source
        cell.execution_count = None
        if asked:
            cell.outputs = []
    notebook.metadata.pop("widgets", None)
    return notebook


def played(notebook: Any) -> Any:
    """Run a notebook from top to bottom, and return it with its outputs; widgets are kept as their text."""
    from nbclient import NotebookClient

    notebook = nbformat.from_dict(notebook)
    NotebookClient(notebook, timeout=300, kernel_name="python3", store_widget_state=False).execute(cwd=str(NOTEBOOKS))
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        if "outputs" in cell:
            cell.outputs = [one for one in cell.outputs if SLOW not in one.get("text", "")]
        drop_widgets(cell)
    notebook.metadata.pop("widgets", None)
    return notebook


def drop_widgets(cell: Any) -> None:
    """Keep of a cell's widgets their text and their picture, in one output."""
    live = "application/vnd.jupyter.widget-view+json"
    outputs, last = [], {}
    for output in cell.get("outputs", ()):
        data = output.get("data", {})
        if list(data) == ["image/svg+xml"] and live in last:
            last.update(data)
        else:
            last = data
            outputs.append(output)
    for output in outputs:
        output.get("data", {}).pop(live, None)
    if "outputs" in cell:
        cell.outputs = outputs


def main(wanted: list[str]) -> None:
    """Renew the lessons whose file names begin with one of these, or all."""
    PLAYED.mkdir(exist_ok=True)
    for path in sorted(NOTEBOOKS.glob("[0-9][0-9]*.ipynb")):
        if wanted and not path.name.startswith(tuple(wanted)):
            continue
        done = played(nbformat.read(path, as_version=4))
        nbformat.write(done, PLAYED / path.name)
        nbformat.write(shipped(done), path)
        print(path.name)
    for path in PLAYED.glob("*.ipynb"):
        if not (NOTEBOOKS / path.name).exists():
            Path(path).unlink()


if __name__ == "__main__":
    main(sys.argv[1:])
