"""``autodiff-lab record`` with realistic scripts: in folders with spaces, with threads, with typing errors."""

from pathlib import Path

import pytest

from autodiff_lab.cli import main

THREADED = """
import threading
import autodiff_lab as lab
thread = threading.Thread(target=lambda: lab.sin(1.0))
thread.start()
thread.join()
"""


def test_ops_in_threads_are_not_heard_and_that_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = tmp_path / "a folder" / "with threads.py"
    script.parent.mkdir()
    script.write_text(THREADED)
    assert main(["record", str(script)]) == 0
    said = capsys.readouterr().err
    assert "threads" in said
    assert "Try lab.record()" in said


@pytest.mark.parametrize("option", ["--html", "--json", "--svg"])
def test_the_script_is_not_written_over(option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = tmp_path / "train.py"
    script.write_text(THREADED)
    assert main(["record", str(script), option, str(script)]) == 2
    assert "the script itself" in capsys.readouterr().err
    assert script.read_text() == THREADED
