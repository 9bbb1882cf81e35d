"""The static checks, run as tests so that one command and one closing line cover everything."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tree import ROOT


def run_tool(name: str, *arguments: str) -> None:
    """Run a tool of the environment over the project and fail with what it printed."""
    beside_python = Path(sys.executable).parent / name
    tool = str(beside_python) if beside_python.exists() else shutil.which(name)
    if tool is None:
        pytest.skip(f"{name} is not installed; `make env` installs it")
    run = subprocess.run([tool, *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr


def test_ruff_finds_nothing() -> None:
    run_tool("ruff", "check", "--quiet", "--output-format", "concise", ".")


def test_the_code_is_formatted() -> None:
    run_tool("ruff", "format", "--check", "--output-format", "concise", ".")


def test_the_type_checker_finds_nothing() -> None:
    run_tool("basedpyright")
