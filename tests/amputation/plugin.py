"""The pytest plugin of an amputated run: deselect tests of the hidden parts, and count the tests that ran."""

import json
import os
from pathlib import Path

import pytest

from tests.amputation import EXTRAS, is_about_what_is_hidden
from tests.tree import PACKAGE

EXAMPLES = {
    "autodiff_lab.ops.nn.embedding.embedding_lookup_sparse", "autodiff_lab.ops.structured.structured",
    *(f"autodiff_lab.engine.configuration.{name}" for name in (
        "get_memory_info", "reset_memory_stats", "set_memory_growth", "simulate_gpu",
    )),
}  # fmt: skip
"""Docstrings of the core whose examples need a hidden part."""


def pytest_configure() -> None:
    """Refuse a run that hides nothing."""
    if EXTRAS:
        raise pytest.UsageError(
            "nothing is hidden in this process; an amputated run is started by `make test-amputated`"
        )


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leave out files about hidden parts, and the package, of which doctest reads every name."""
    return True if is_about_what_is_hidden(collection_path) or collection_path == PACKAGE / "__init__.py" else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect what needs the hidden parts."""
    left_out = [item for item in items if item.get_closest_marker("extras") is not None or item.name in EXAMPLES]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in set(left_out)]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Write how many tests passed, and why others were skipped, for the process that started this one."""
    place = os.environ.get("AMPUTATION_COUNTS")
    if place:
        stats = terminalreporter.stats
        counts = {kind: len(stats.get(kind, [])) for kind in ("passed", "failed", "error", "deselected", "xfailed")}
        reasons = [str(report.longrepr) for report in stats.get("skipped", [])]
        Path(place).write_text(json.dumps({**counts, "skipped": reasons}), encoding="utf-8")
