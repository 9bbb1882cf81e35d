"""A pytest plugin that writes a line of JSON for each test as it ends, so that an interrupted run is not lost."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

VARIABLE = "AUTODIFF_LAB_GPU_RECORD"
"""The environment names the file."""


def pytest_runtest_logreport(report: Any) -> None:
    """Write what became of a test; of its preparation only what went wrong or was skipped."""
    if report.when == "call" or report.outcome != "passed":
        _write({"test": report.nodeid, "outcome": report.outcome, "seconds": report.duration, "why": _why(report)})


def pytest_collectreport(report: Any) -> None:
    """A file that cannot be read is a test that failed."""
    if report.failed:
        _write({"test": report.nodeid, "outcome": "failed", "seconds": 0.0, "why": _why(report)})


def _why(report: Any) -> str:
    if report.outcome == "skipped" and isinstance(report.longrepr, tuple):
        return str(report.longrepr[2]).removeprefix("Skipped: ")
    crash = getattr(report.longrepr, "reprcrash", None)
    words = str(report.longrepr or "") if crash is None else str(crash.message)
    return "" if report.outcome == "passed" else " ".join(words.split())[-400 if crash is None else None :][:400]


def _write(line: dict[str, Any]) -> None:
    with Path(os.environ[VARIABLE]).open("a", encoding="utf-8") as record:
        record.write(json.dumps(line) + "\n")
