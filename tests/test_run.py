"""How ``make test`` ends: the output of every part, a table, and a status that reflects every failure."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests import run
from tests.tree import ROOT

ENDS = {"good": "print('== 2 passed in 1 s ==')", "bad": "print('it broke'); raise SystemExit(1)", "none": "exit(5)"}
"""What stands for a part, by what becomes of it."""


def closing(
    monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes], *arguments: str, **parts: str
) -> tuple[int, str, str]:
    """Run parts that end as they are told; return the status, what was printed before the table, and the table."""
    others = dict.fromkeys(run.PARTS, "good") | parts
    monkeypatch.setattr(run, "commands", lambda part, *_, slow: [[sys.executable, "-c", ENDS[others[part]]]])
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
    monkeypatch.setattr(run, "commands", lambda *_, slow: [["no-such-tool"]])
    monkeypatch.setattr(run.shutil, "which", lambda _: None)
    assert run.main(["types"]) == 1
    assert b"Try `make env`" in capfdbinary.readouterr().out
    assert run.main(["typos"]) == 2
    assert b"There is no part typos. Try one of tests, simulator, types, lint" in capfdbinary.readouterr().out


SLOW_TESTS = """
import pytest

def test_quick():
    pass

@pytest.mark.slow
def test_slow():
    raise AssertionError("it is left out")

@pytest.mark.slow(keep=2)
@pytest.mark.parametrize("case", range(5))
def test_cases(case):
    assert case in (0, 4)
"""


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("workers", ["1", "0"])
def test_slow_tests_are_left_out_and_counted(workers: str, tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(SLOW_TESTS)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = slow\n")
    given = [sys.executable, "-m", "pytest", "-p", "tests.quick", "-n", workers, "-c", str(tmp_path / "pytest.ini")]
    done = subprocess.run([*given, str(tmp_path)], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert "3 passed" in done.stdout
    assert "4 slow tests were left out; `make test-all` runs them." in done.stdout


def test_what_is_slow_is_left_out_unless_parts_or_tests_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def note(_part: str, _workers: str, _chosen: list[str], *, slow: bool) -> list[list[str]]:
        asked.append(slow)
        return [[sys.executable, "-c", ENDS["good"]]]

    monkeypatch.setattr(run, "commands", note)
    for arguments in ([], ["types"], ["--", "-k", "tape"]):
        assert run.main(arguments) == 0
    assert asked == [False] * len(run.PARTS) + [True] * (1 + len(run.OF_PYTEST))
