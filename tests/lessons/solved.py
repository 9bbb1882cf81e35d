"""Write the lessons with an answer in every exercise: ``make lessons-solved``, the teacher's version.

The answers are those with which the tests solve the lessons; the cells keep their ids, so that a learner's copy can be
compared cell by cell.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import nbformat

from tests.lessons.answers import SOLVED
from tests.lessons.play import LESSONS, NOTEBOOKS, number_of


def solved(lesson: str) -> Any:
    """Return a lesson, by its file name without the ending, with an answer in every exercise and no outputs."""
    notebook = nbformat.read(NOTEBOOKS / f"{lesson}.ipynb", as_version=4)
    answers = SOLVED.get(number_of(lesson), {})
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
            cell.source = answers.get(cell.id, cell.source).strip("\n")
    return notebook


def main(folder: Path) -> None:
    """Write all lessons to a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for lesson in LESSONS:
        nbformat.write(solved(lesson), folder / f"{lesson}.ipynb")
    print(f"wrote {len(LESSONS)} solved lessons to {folder}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
