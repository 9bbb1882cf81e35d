"""A type checker reads programs of users rightly: correct lines pass, wrong ones are errors, types are known."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.run import tool
from tests.tree import ROOT

PROGRAMS = ROOT / "tests" / "data" / "typed_use.py"
LINES = PROGRAMS.read_text(encoding="utf-8").splitlines()


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """What the checker says of the programs, as an installed package is checked: in its standard mode."""
    folder = tmp_path_factory.mktemp("typed")
    (folder / "program.py").write_text("\n".join(LINES) + "\n", encoding="utf-8")
    settings = {"typeCheckingMode": "standard", "extraPaths": [str(ROOT)], "pythonVersion": "3.11"}
    (folder / "pyrightconfig.json").write_text(json.dumps(settings), encoding="utf-8")
    run = subprocess.run(
        [tool("basedpyright"), "--project", str(folder), "--pythonpath", sys.executable, "--outputjson"],
        capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    return json.loads(run.stdout)["generalDiagnostics"]


@pytest.mark.extras
def test_every_wrong_line_is_an_error_and_no_other(found: list[dict[str, Any]]) -> None:
    expected = {
        number: mark[1] for number, line in enumerate(LINES, 1) if (mark := re.search(r"# wrong: (\w+)$", line))
    }
    errors = {one["range"]["start"]["line"] + 1: one.get("rule", "") for one in found if one["severity"] == "error"}
    assert len(expected) > 25
    assert errors == expected, "\n".join(
        f"line {number}: {LINES[number - 1]}: {errors.get(number)}"
        for number in sorted(expected.keys() ^ errors.keys())
    )


@pytest.mark.extras
def test_types_survive(found: list[dict[str, Any]]) -> None:
    revealed = {
        one["range"]["start"]["line"] + 1: match[1]
        for one in found
        if (match := re.search(r'^Type of .* is "(.*)"$', one["message"], re.DOTALL))
    }
    expected = {number: mark[1] for number, line in enumerate(LINES, 1) if (mark := re.search(r"# type: (.+)$", line))}
    assert len(expected) > 15
    assert revealed == expected


def test_the_marker_of_typed_packages_is_there() -> None:
    assert Path(ROOT, "autodiff_lab", "py.typed").read_text(encoding="utf-8") == ""
