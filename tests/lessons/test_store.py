"""Progress: kept in one file, by two processes at once, through damage, and without a folder to write to."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from autodiff_lab import lessons
from autodiff_lab.errors import InvalidArgumentError
from autodiff_lab.lessons import store
from autodiff_lab.lessons.map import COURSE, course_map
from autodiff_lab.lessons.store import Tried, note, read
from tests.tree import ROOT


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "new" / "progress.json"
    monkeypatch.setenv("AUTODIFF_LAB_PROGRESS", str(place))
    monkeypatch.setattr(store, "_session", {})
    return place


def test_answers_are_counted_and_a_solved_exercise_stays_solved(file: Path) -> None:
    lessons.check("1.1", ...)
    assert not file.exists(), "a blank is not an answer"
    lessons.check("1.1", lambda f, a, b: f(b) - f(a))
    lessons.check("1.1", lambda f, a, b: (f(b) - f(a)) / (b - a))
    lessons.check("1.1", lambda f, a, b: f(b) - f(a))
    assert read() == {"1.1": Tried(True, 3, {"CHANGE": 2})}
    assert "1 What is a derivative?: 1 of 4 exercises" in repr(lessons.progress())
    assert sorted(path.name for path in file.parent.iterdir()) == ["progress.json"]


@pytest.mark.slow
def test_two_processes_lose_nothing(file: Path) -> None:
    program = "from autodiff_lab.lessons.store import note\nfor _ in range(40): note('1.1', False, 'CHANGE')"
    command = [sys.executable, "-c", program]
    running = [subprocess.Popen(command, cwd=ROOT) for _ in range(2)]
    assert [process.wait() for process in running] == [0, 0]
    assert read()["1.1"] == Tried(False, 80, {"CHANGE": 80})


@pytest.mark.parametrize("text", ["", "{", "[]", "3", '{"exercises": []}', "\x00\xff", "[" * 100_000])
def test_a_damaged_file_is_kept_beside_a_new_one(file: Path, text: str) -> None:
    file.parent.mkdir()
    file.write_text(text, encoding="utf-8")
    assert read() == {}
    note("1.1", True, "")
    assert read() == {"1.1": Tried(True, 1, {})}
    assert file.with_suffix(".damaged.json").read_text(encoding="utf-8") == text


@pytest.mark.parametrize("entry", [None, 3, [], {"tries": "many"}, {"tries": -1, "codes": [], "passed": "yes"},
                                   {"tries": True, "codes": {"A": None}}])  # fmt: skip
def test_an_entry_that_makes_no_sense_counts_as_nothing(file: Path, entry: object) -> None:
    file.parent.mkdir()
    file.write_text(json.dumps({"exercises": {"1.1": entry}, "more": 1}), encoding="utf-8")
    assert not read()["1.1"].passed
    assert read()["1.1"].tries == 0
    lessons.progress()
    note("1.1", True, "")
    assert json.loads(file.read_text(encoding="utf-8"))["more"] == 1


def test_where_nothing_can_be_written_progress_lasts_as_long_as_the_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "_session", {})
    (tmp_path / "a file").write_text("", encoding="utf-8")
    for place in (str(tmp_path / "a file" / "below.json"), "off"):
        monkeypatch.setenv("AUTODIFF_LAB_PROGRESS", place)
        note("1.1", True, "")
    assert read()["1.1"].tries == 2


def test_a_lock_that_was_left_behind_is_removed(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "PATIENCE", 0.05)
    file.parent.mkdir()
    file.with_suffix(".lock").write_text("", encoding="utf-8")
    note("1.1", True, "")
    assert read()["1.1"].passed
    assert not file.with_suffix(".lock").exists()


@pytest.mark.parametrize("number", ["99.1", "", 1.1j, "1.1.1", None, "one"])
def test_a_number_that_no_exercise_has_is_refused(number: object) -> None:
    with pytest.raises(InvalidArgumentError, match="There is no exercise"):
        lessons.check(number, 3)  # type: ignore[arg-type]


def test_what_else_an_exercise_needs_is_asked_for() -> None:
    with pytest.raises(InvalidArgumentError, match="puzzle"):
        lessons.check("7.1", {})
    with pytest.raises(InvalidArgumentError, match=r"1\.1 takes other arguments"):
        lessons.check("1.1", 3, 4, 5, 6)


def test_every_lesson_on_the_map_has_a_name_and_the_picture_says_what_the_text_says() -> None:
    assert {number.partition(".")[0] for number in lessons.EXERCISES} <= set(COURSE)
    drawn = course_map({"1.1": Tried(True, 1, {}), "1.2": Tried(False, 2, {"NO_WIDTH": 1, "NEARLY": 1})})
    assert drawn.svg.count("lab-dot lab-passed") == 1 + 1  # and one in the legend
    assert drawn.svg.count("lab-dot lab-tried") == 1 + 1
    assert drawn.svg.count('class="lab-stop') == len(drawn.account.splitlines()) - 1
    assert "1 What is a derivative?: 1 of 4 exercises; tried: 1.2 (NO_WIDTH, NEARLY)" in drawn.account
