"""The lessons are saved as they ran; nbval checks that they give the same outputs again.

nbval silently skips cells that were saved without having been run, and never compares pictures or widgets, so this
file checks what nbval does not.
"""

import re

import nbformat
import pytest

from tests.tree import ROOT, project_files, shown

LESSONS = [path for path in project_files() if path.suffix == ".ipynb"]
PLAYED = [path for path in LESSONS if path.is_relative_to(ROOT / "tests" / "lessons" / "played")]
"""The same cells with every output; what learners open has none from the first question on."""


@pytest.mark.parametrize("path", PLAYED, ids=shown)
def test_every_cell_was_run_once_from_top_to_bottom(path: object) -> None:
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    counts = [cell.execution_count for cell in notebook.cells if cell.cell_type == "code" and cell.source.strip()]
    assert counts == list(range(1, len(counts) + 1))


@pytest.mark.parametrize("path", LESSONS, ids=shown)
def test_no_cell_was_saved_with_an_unexpected_error(path: object) -> None:
    notebook = nbformat.read(path, as_version=4)
    wrong = [
        f"cell {cell.execution_count}: {output.ename}: {output.evalue}"
        for cell in notebook.cells
        if cell.cell_type == "code" and "raises-exception" not in cell.metadata.get("tags", [])
        for output in cell.outputs
        if output.output_type == "error"
    ]
    assert not wrong


@pytest.mark.parametrize("path", LESSONS, ids=shown)
def test_a_lesson_opens_with_its_title_and_asks_for_the_plain_python_kernel(path: object) -> None:
    notebook = nbformat.read(path, as_version=4)
    assert notebook.cells[0].cell_type == "markdown"
    assert notebook.cells[0].source.startswith("# ")
    assert notebook.metadata.kernelspec.name == "python3"
    assert notebook.metadata.language_info.file_extension == ".py", "nbconvert names scripts by it"


@pytest.mark.parametrize("path", LESSONS, ids=shown)
def test_every_heading_starts_a_slide_and_other_text_a_slide_below_it(path: object) -> None:
    cells = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "markdown"]
    wanted = {cell.id: "slide" if cell.source.startswith(("# ", "## ")) else "subslide" for cell in cells}
    assert {cell.id: cell.metadata.get("slideshow", {}).get("slide_type") for cell in cells} == wanted


@pytest.mark.parametrize("path", PLAYED, ids=shown)
def test_a_lesson_has_at_most_40_cells_and_1000_words(path: object) -> None:
    """Code is not counted as words, what teachers unfold is."""
    cells = nbformat.read(path, as_version=4).cells
    text = " ".join(cell.source for cell in cells if cell.cell_type == "markdown")
    assert len(cells) <= 40
    assert len(re.sub(r"[`*#$_\\{}\[\]()|]", " ", text).split()) <= 1000
