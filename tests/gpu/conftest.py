"""Collects these tests where a GPU was asked for, and writes what they found to the file that GPU_JSON names."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.gpu.place import SIMULATED, WANTED, why_none

collect_ignore_glob = [] if WANTED else ["test_*.py"]
FOUND: dict[str, Any] = {"ops": {}}
"""What goes into the file, under the key "tests"."""


def pytest_report_header() -> str:
    """Say on what the tests run, or why they do not."""
    missing = why_none()
    return f"GPU: {missing or ('simulated by numba' if SIMULATED else 'real')}"


@pytest.fixture(scope="session", autouse=True)
def _gpu() -> None:
    """Fail where a GPU was asked for and there is none."""
    missing = why_none()
    assert not missing, missing


@pytest.fixture(scope="session")
def found() -> dict[str, Any]:
    """Where tests leave what the file is to hold."""
    return FOUND


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write the verdicts beside what others have written."""
    path = os.environ.get("GPU_JSON")
    if not path or not WANTED:
        return
    file = Path(path)
    told = json.loads(file.read_text()) if file.exists() else {}
    reporter: Any = session.config.pluginmanager.get_plugin("terminalreporter")
    counts = {kind: len(reporter.getreports(kind)) for kind in ("passed", "failed", "skipped")}
    verdicts = [op["verdict"] for modes in FOUND["ops"].values() for op in modes.values()]
    summary = {verdict: verdicts.count(verdict) for verdict in sorted(set(verdicts))}
    told["tests"] = {"simulated": SIMULATED, "counts": counts, "verdicts": summary, **FOUND}
    file.write_text(json.dumps(told, indent=1) + "\n")
