"""Lessons in other languages: complete, current, the same program, and nothing to be read before the commit."""

import re
from pathlib import Path

import nbformat
import pytest

from tests.lessons import translate
from tests.lessons.answers import SOLVED
from tests.lessons.play import NOTEBOOKS, TRANSLATED, cells, number_of, play, results
from tests.lessons.test_leaks import as_shipped, readable
from tests.lessons.translate import catalogues, target, translated, wrong
from tests.tree import shown

GERMAN = translate.CATALOGUES / "de" / "01.toml"


@pytest.mark.parametrize("catalogue", catalogues(), ids=shown)
def test_a_catalogue_has_every_cell_and_follows_the_original(catalogue: Path) -> None:
    assert wrong(catalogue) == []


@pytest.mark.parametrize("catalogue", catalogues(), ids=shown)
def test_the_notebook_is_what_the_catalogue_makes(catalogue: Path) -> None:
    """Otherwise: python -m tests.lessons.translate."""
    made, kept = translated(catalogue), nbformat.read(target(catalogue), as_version=4)
    assert kept == made
    original = cells(f"{catalogue.stem}_")
    assert [(cell.id, cell.cell_type) for cell in kept.cells] == [(cell.id, cell.cell_type) for cell in original]
    text = " ".join(cell.source for cell in kept.cells if cell.cell_type == "markdown")
    assert len(re.sub(r"[`*#$_\\{}\[\]()|]", " ", text).split()) <= 1000


def test_every_translated_lesson_has_a_catalogue() -> None:
    assert sorted(NOTEBOOKS.glob("*/*.ipynb")) == [target(catalogue) for catalogue in catalogues()]
    assert GERMAN in catalogues()


@pytest.mark.parametrize("lesson", TRANSLATED)
def test_it_plays_as_the_original_does(lesson: str) -> None:
    """The answers are the same, so a solved one passes every check; as shipped every check waits."""
    solved = results(play(lesson, SOLVED[number_of(lesson)]))
    assert [key for key, result in solved.items() if not result.passed] == []
    assert set(SOLVED[number_of(lesson)]) <= set(solved)
    waiting = {key for key, result in results(play(lesson)).items() if not result.passed}
    assert waiting >= set(SOLVED[number_of(lesson)])


@pytest.mark.parametrize("lesson", TRANSLATED)
def test_no_answer_can_be_read_in_it(lesson: str) -> None:
    assert as_shipped(lesson)[1].outcomes
    assert readable(lesson, notebook=nbformat.read(NOTEBOOKS / f"{lesson}.ipynb", as_version=4)) == []
    assert readable(lesson, {"rule": "Bei 1 ist die Ableitung **9**."} if lesson.startswith("de/01") else {})


def changed(tmp_path: Path, old: str, new: str) -> list[str]:
    """Return what is wrong with the German catalogue after a change."""
    text = GERMAN.read_text(encoding="utf-8")
    assert old in text
    path = tmp_path / "01.toml"
    path.write_text(text.replace(old, new), encoding="utf-8")
    return wrong(path)


def test_a_changed_original_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    copies = [nbformat.from_dict(dict(cell)) for cell in cells("01_")]
    for cell in copies:
        if cell.id in {"hook", "shrink-it"}:
            cell.source += "\n# and more"
    monkeypatch.setattr(translate, "cells", lambda lesson: tuple(copies))
    assert [re.findall(r"toml, ([\w-]+): the English cell has changed", line) for line in wrong(GERMAN)] == [
        ["hook"], ["shrink-it"],
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('["twice", "zweimal"],', "", "tangent-question: 'twice' is not translated"),
        ("die mittlere Änderungsrate {rate:.6g}", "{rate:.3g}", "shrink-it: more than strings and comments"),
        ('"# hier deine', '"+ 1 # hier deine', "own-function: more than strings and comments"),
        ("[cells.transfer]", "[cells.transfers]", 'has no [cells.transfer]; its original is "'),
        ("average rate from 0 to 2:", "average rate from 0 to 3:", "function: 'average rate from 0 to 3:' is not in"),
    ],
)
def test_what_a_translation_must_not_do_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old: str, new: str, told: str
) -> None:
    monkeypatch.setattr(translate, "shown", lambda path: "the catalogue")
    assert any(told in line for line in changed(tmp_path, old, new))


def test_a_new_catalogue_starts_with_the_english_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(translate, "CATALOGUES", tmp_path)
    monkeypatch.setattr(translate, "shown", lambda path: path.name)
    path = translate.start("fr", "07")
    assert wrong(path) == []
    assert [cell.source for cell in translated(path).cells] == [cell.source for cell in cells("07_")]
    with pytest.raises(FileExistsError):
        translate.start("fr", "07")
