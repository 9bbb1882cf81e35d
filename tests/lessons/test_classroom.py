"""The results of a class: counted right, without anything that tells who answered, whatever the files hold."""

from __future__ import annotations

import csv
import json
import os
from pathlib import Path
from xml.etree import ElementTree

import pytest

from autodiff_lab import lessons
from autodiff_lab.cli import main
from autodiff_lab.errors import InvalidArgumentError

HOSTILE = {
    "empty": b"",
    "half": b'{"exercises": {"1.1"',
    "deep": b"[" * 200_000,
    "list": b"[]",
    "other": b'{"people": ["Ada"]}',
    "no entries": b'{"exercises": []}',
    "bytes": b"\xff\x00\x80",
    "large": b'{"exercises": {}, "more": "' + b"x" * 1_100_000 + b'"}',
}


def entry(passed: bool, tries: object, **codes: object) -> dict[str, object]:
    return {"passed": passed, "tries": tries, "codes": codes}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    learners = {
        "Ada Lovelace": {"1.1": entry(True, 3, CHANGE=2), "7.1": entry(False, 1, OVERWRITE=1)},
        "Grace Hopper": {"1.1": entry(True, 1)},
        "Emmy Noether": {
            "1.1": entry(False, 2, CHANGE=1, FLIPPED=1), "=cmd|' /C calc'!A0": entry(True, 1),
            "1.2": entry(True, 1, Emmy=1), "1.3": entry(True, "many"), "1.4": 3,
        },
    }  # fmt: skip
    for name, exercises in learners.items():
        (tmp_path / name).mkdir()
        document = {"exercises": exercises, "name": name, "time": "2026-11-24T09:00"}
        (tmp_path / name / "progress.json").write_text(json.dumps(document), encoding="utf-8")
    return tmp_path


def test_learners_and_misconceptions_are_counted(folder: Path) -> None:
    found = lessons.class_results(folder)
    rows = list(csv.DictReader(found.to_csv(folder / "class.csv").splitlines()))
    told = [(r["exercise"], r["misconception"], r["learners"], r["answers"], r["solved"]) for r in rows]
    assert told == [
        ("1.1", "", "3", "6", "2"),
        ("1.1", "CHANGE", "2", "3", "1"),
        ("1.1", "FLIPPED", "1", "1", "0"),
        ("1.2", "", "1", "1", "1"),
        ("7.1", "", "1", "1", "0"),
        ("7.1", "OVERWRITE", "1", "1", "0"),
    ]
    assert found.learners == 3
    assert (folder / "class.csv").read_text(encoding="utf-8") == found.to_csv()


def test_nothing_tells_who_answered(folder: Path) -> None:
    found = lessons.class_results(folder)
    shown = (found.to_csv(), found.account(), repr(found), found.picture().svg, found.picture().account)
    for text in shown:
        for word in ("Ada", "Grace", "Emmy", "cmd", "2026", str(folder)):
            assert word not in text
    ElementTree.fromstring(found.picture().svg)
    for at, path in enumerate(sorted(folder.rglob("progress.json"))):
        path.rename(path.with_name(f"{9 - at}.json"))
    assert lessons.class_results(folder).to_csv() == found.to_csv()


def test_damaged_files_are_named_and_left_alone(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = lessons.class_results(folder).to_csv()
    for name, content in HOSTILE.items():
        (folder / f"{name}.json").write_bytes(content)
    (folder / "a folder.json").mkdir()
    (folder / "a link.json").symlink_to(folder / "nowhere")
    os.mkfifo(folder / "a pipe.json")
    found = lessons.class_results([folder, folder / "Ada Lovelace", folder / "Ada Lovelace" / "progress.json"])
    assert found.to_csv() == before
    named = {Path(path).stem for path in found.skipped}
    assert named == {*HOSTILE, "a folder", "a link", "a pipe"}
    assert all((folder / f"{name}.json").read_bytes() == content for name, content in HOSTILE.items())
    assert main(["results", str(folder), "--csv", str(folder / "c.csv"), "--svg", str(folder / "c.svg")]) == 0
    said = capsys.readouterr()
    assert "1.1 average rate: 2 of 3 solved, CHANGE 2, FLIPPED 1" in said.out
    assert f"not counted: {folder / 'half.json'}: it is damaged: not JSON" in said.err
    assert (folder / "c.csv").read_text(encoding="utf-8") == before
    assert (folder / "c.svg").read_text(encoding="utf-8").startswith("<svg")


def test_a_folder_without_progress_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["results", str(tmp_path)]) == 1
    assert capsys.readouterr().out == "0 learners, 0 exercises tried\n"
    assert main(["results", str(tmp_path / "nowhere")]) == 1
    assert "there is no file or folder" in capsys.readouterr().err
    assert main(["results", str(tmp_path), "--open"]) == 2
    with pytest.raises(InvalidArgumentError, match="no file or folder"):
        lessons.class_results(tmp_path / "nowhere")
