"""The GPU benchmarks run in the simulator at tiny sizes, so that they still work when a GPU is available."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.benchmarks.gpu import machine
from tests.benchmarks.gpu.listed import NAMES, PROGRAMS
from tests.benchmarks.gpu.programs import FUNCTION, LAB
from tests.tree import ROOT


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run one of the commands in a process of its own, as its libraries read switches when they are imported."""
    given = {name: value for name, value in os.environ.items() if not name.startswith(("NUMBA", "AUTODIFF_LAB"))}
    return subprocess.run(
        [sys.executable, "-m", *arguments], cwd=ROOT, env={**given, **environment},
        capture_output=True, text=True, check=False, timeout=400,
    )  # fmt: skip


@pytest.fixture(scope="module")
def figures(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What one run in the simulator writes, beside what was in the file."""
    path = tmp_path_factory.mktemp("gpu") / "gpu.json"
    path.write_text('{"tests": {"passed": 1}}', encoding="utf-8")
    done = run("tests.benchmarks.gpu", "--json", str(path), NUMBA_ENABLE_CUDASIM="1", AUTODIFF_LAB_GPU_SMALL="1")
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.mark.slow
@pytest.mark.extras
def test_every_case_is_right_and_measured_in_both_modes(
    figures: dict[str, Any], figure: Callable[[str, str], None]
) -> None:
    rows = figures["bench"]["rows"]
    assert list(rows) == list(NAMES)
    for name, row in rows.items():
        assert set(row) == {LAB, FUNCTION} - PROGRAMS[name].apart
        for found in row.values():
            assert found["error"] <= PROGRAMS[name].tolerance
            assert found["wall"]["low"] <= found["wall"]["median"] <= found["wall"]["high"]
            assert not found.get("fallbacks"), f"{name} under lab.function ran op by op"
    figure("benchmarks of the GPU in the simulator", f"{figures['bench']['seconds']:.0f} s")


@pytest.mark.extras
def test_the_file_names_the_machine_and_keeps_what_other_commands_wrote(figures: dict[str, Any]) -> None:
    assert figures["machine"]["card"] == "simulated"
    assert figures["tests"] == {"passed": 1}
    assert set(figures["bench"]["left_out"]) == {"torch", "jax"}
    assert figures["bench"]["targets"] == []  # tiny sizes say nothing about them


@pytest.mark.parametrize("command", ["tests.benchmarks.gpu", "tests.benchmarks.gpu.device_tests"])
def test_without_a_gpu_a_sentence_and_a_status_of_its_own(command: str) -> None:
    if not machine.why_none():
        pytest.skip("this machine has a GPU")
    done = run(command, "--dry-run")
    assert done.returncode == machine.NO_GPU
    last = done.stdout.splitlines()[-1]
    assert last.startswith("Nothing is ")
    assert machine.why_none() in last


@pytest.mark.slow
def test_the_tests_of_a_gpu_are_counted_with_their_reasons(tmp_path: Path) -> None:
    """A run of pytest without the project's plugins, in the simulator: what passes, fails and is skipped."""
    (tmp_path / "test_three.py").write_text(
        "import pytest\n\ndef test_one(): pass\n\ndef test_two(): assert 1 + 1 == 3\n\n"
        "@pytest.mark.skip(reason='no such card')\ndef test_three(): pass\n",
        encoding="utf-8",
    )
    command = (
        "tests.benchmarks.gpu.device_tests",
        "--json",
        str(tmp_path / "gpu.json"),
        str(tmp_path / "test_three.py"),
    )
    done = run(*command, NUMBA_ENABLE_CUDASIM="1")
    assert done.returncode == 1, done.stdout + done.stderr
    found = json.loads((tmp_path / "gpu.json").read_text(encoding="utf-8"))["tests"]
    assert (found["passed"], found["failed"], found["skipped"]) == (1, 1, {"no such card": 1})
    assert "1 + 1" in found["failures"][0]["why"] or "assert" in found["failures"][0]["why"]
    assert "1 passed, 1 failed, 1 skipped" in done.stdout


@pytest.mark.slow
def test_a_run_that_is_cut_off_says_so(tmp_path: Path) -> None:
    """What had ended by then is kept."""
    (tmp_path / "test_slow.py").write_text(
        "import time\n\ndef test_one(): pass\n\ndef test_two(): time.sleep(600)\n", encoding="utf-8"
    )
    where = ("--json", str(tmp_path / "gpu.json"), str(tmp_path / "test_slow.py"), "--seconds")
    for seconds in ("6", "60"):  # a busy machine may need the first time for starting Python
        done = run("tests.benchmarks.gpu.device_tests", *where, seconds, NUMBA_ENABLE_CUDASIM="1")
        if "1 passed" in done.stdout:
            break
    assert done.returncode == 1, done.stdout + done.stderr
    assert "1 passed, 0 failed, 0 skipped" in done.stdout
    assert "the time was up" in done.stdout
