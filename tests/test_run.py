"""How ``make test`` ends: the output of every part, a table, and a status that reflects every failure."""

import sys

import pytest

from tests import run

ENDS = {"good": "print('== 2 passed in 1 s ==')", "bad": "print('it broke'); raise SystemExit(1)", "none": "exit(5)"}
"""What stands for a part, by what becomes of it."""


def closing(
    monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes], *arguments: str, **parts: str
) -> tuple[int, str, str]:
    """Run parts that end as they are told; return the status, what was printed before the table, and the table."""
    others = dict.fromkeys(run.PARTS, "good") | parts
    monkeypatch.setattr(run, "commands", lambda part, *_: [[sys.executable, "-c", ENDS[others[part]]]])
    status = run.main(list(arguments))
    said, _, table = capfdbinary.readouterr().out.decode().partition("=== all parts")
    return status, said, table


def test_all_parts_run_and_each_has_a_line(
    monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    status, said, table = closing(monkeypatch, capfdbinary)
    assert status == 0
    assert said.count("2 passed in 1 s") == len(run.PARTS)
    assert [line.split()[:2] for line in table.splitlines()[1:-1]] == [[part, "passed"] for part in run.PARTS]
    assert table.count("2 passed in 1 s") == len(run.OF_PYTEST)
    assert table.endswith("All parts passed.\n")


@pytest.mark.parametrize("part", run.PARTS)
def test_a_part_that_fails_is_named_and_fails_the_whole(
    part: str, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    status, said, table = closing(monkeypatch, capfdbinary, **{part: "bad"})
    assert status == 1
    assert "it broke" in said
    assert table.endswith(f"FAILED: {part}\n")


def test_a_part_may_lack_the_few_tests_that_were_asked_for_and_not_all_may(
    monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert closing(monkeypatch, capfdbinary, "--", "-k", "tape", simulator="none")[0] == 0
    assert closing(monkeypatch, capfdbinary, "--", "-k", "tape", tests="none", simulator="none")[0] == 1
    assert closing(monkeypatch, capfdbinary, simulator="none")[0] == 1


def test_with_what_pytest_is_told_the_parts_of_pytest_alone_run(
    monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    table = closing(monkeypatch, capfdbinary, "--", "-k", "tape")[2]
    assert [line.split()[0] for line in table.splitlines()[1:-1]] == list(run.OF_PYTEST)


def test_a_tool_that_is_missing_and_a_part_that_is_unknown_are_told(
    monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    monkeypatch.setattr(run, "commands", lambda *_: [["no-such-tool"]])
    monkeypatch.setattr(run.shutil, "which", lambda _: None)
    assert run.main(["types"]) == 1
    assert b"Try `make env`" in capfdbinary.readouterr().out
    assert run.main(["typos"]) == 2
    assert b"There is no part typos. Try one of tests, simulator, types, lint" in capfdbinary.readouterr().out
