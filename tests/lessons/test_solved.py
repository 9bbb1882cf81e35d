"""The teacher's version: every exercise answered, everything else as handed out; docs/solutions.md says the same."""

from pathlib import Path

import nbformat
import pytest

from tests.amputation import marked
from tests.lessons import solved
from tests.lessons.answers import SOLVED
from tests.lessons.play import LESSONS, number_of, sources
from tests.tree import ROOT


@pytest.mark.parametrize("lesson", marked(LESSONS, lambda lesson: lesson.startswith("15")))
def test_every_check_of_the_teachers_version_passes(lesson: str) -> None:
    notebook = solved.solved(lesson)
    nbformat.validate(notebook)
    filled = {cell.id: cell.source for cell in notebook.cells if cell.cell_type == "code"}
    shipped = sources(lesson)
    assert filled.keys() == shipped.keys()
    assert {key: source.strip() for key, source in filled.items()} == {
        key: source.strip() for key, source in (shipped | SOLVED[number_of(lesson)]).items()
    }, "what test_lessons.py plays"


def test_all_lessons_are_written(tmp_path: Path) -> None:
    solved.main(tmp_path / "new")
    assert sorted(path.stem for path in (tmp_path / "new").iterdir()) == LESSONS


def test_the_page_of_solutions_has_every_answer_under_its_lesson() -> None:
    text = (ROOT / "docs" / "solutions.md").read_text(encoding="utf-8")
    for lesson in LESSONS:
        part = text.partition(f"\n## Lesson {number_of(lesson).lstrip('0')} ")[2].partition("\n## ")[0]
        assert part.count("```py\n") == len(SOLVED[number_of(lesson)])
        for answer in SOLVED[number_of(lesson)].values():
            assert answer.strip() in part
