"""What every test gets: a summary of measured figures, quiet plotting, repeatable random examples.

Nothing here starts a browser or a kernel; ``tests/browser/conftest.py`` does.
"""

import os
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, settings

# Scripts, not tests: --doctest-modules would import them, and some run for minutes.
collect_ignore_glob = ["benchmarks/bench_*", "data/*", "javascript/*"]

os.environ.setdefault("MPLBACKEND", "Agg")
# Results must not hang on what a thread in the background has compiled by now; tests of kernels choose for themselves.
os.environ.setdefault("AUTODIFF_LAB_KERNELS", "numpy")

# The machines that run the tests differ in speed, so examples have no deadline and may be drawn slowly.
# CI draws the same examples every time.
settings.register_profile("here", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile(
    "ci", deadline=None, derandomize=True, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("ci" if os.environ.get("CI") else "here")

_FIGURE = "figure: "


@pytest.fixture
def figure(record_property: Callable[[str, object], None]) -> Callable[[str, str], None]:
    """Print a measured figure at the end of the run: ``figure("import autodiff_lab", "0.12 s")``.

    Times are reported and never asserted: the machines differ, and a test that fails on a busy one proves nothing.
    """

    def report(what: str, value: str) -> None:
        record_property(_FIGURE + what, value)

    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print what `figure` collected, from all workers."""
    lines = [
        f"{name.removeprefix(_FIGURE)}: {value}"
        for report in terminalreporter.getreports("passed")
        for name, value in report.user_properties
        if name.startswith(_FIGURE)
    ]
    if lines:
        terminalreporter.section("measured figures")
        for line in sorted(lines):
            terminalreporter.write_line(line)
