"""What every test gets: a summary of measured figures, quiet plotting, repeatable random examples, a quick collection.

Nothing here starts a browser or a kernel; ``tests/browser/conftest.py`` does.
"""

import gc
import os
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

# Scripts, not tests: --doctest-modules would import them, and some run for minutes.
collect_ignore_glob = ["benchmarks/bench_*", "data/*", "javascript/*", "adapters/programs/*", "adapters/faults/*"]

os.environ.setdefault("MPLBACKEND", "Agg")
# Results must not depend on what a background thread has compiled by now; tests of kernels choose for themselves.
os.environ.setdefault("AUTODIFF_LAB_KERNELS", "numpy")
# Nor on when another process has compiled a program; tests of that start processes of their own.
os.environ.setdefault("AUTODIFF_LAB_COMPILE", "wait")
# Nor on what somebody has solved on this machine.
os.environ["AUTODIFF_LAB_PROGRESS"] = "off"
# OpenBLAS reads this when it loads. Its idle threads otherwise spin for 2**26 cycles after each product, on cores that
# other tests need.
os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")

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


class FailuresAtOnce:
    """Name a test as soon as it fails: a whole run goes on for minutes, and a run that is cut off has no summary."""

    def __init__(self, terminal: pytest.TerminalReporter) -> None:
        self.terminal = terminal

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed and self.terminal.verbosity <= 0:
            self.terminal.ensure_newline()
            self.terminal.write_line(f"FAILED {report.nodeid} ({report.when})", red=True)


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    terminal = config.pluginmanager.get_plugin("terminalreporter")
    if terminal is not None:  # a worker of pytest-xdist has none
        config.pluginmanager.register(FailuresAtOnce(terminal))
    if config.pluginmanager.hasplugin("nbval"):
        _leave_out_what_depends_on_the_machine()


def _leave_out_what_depends_on_the_machine() -> None:
    """Have nbval compare what a lesson prints without the line that says that something is being compiled for long."""
    from nbval.plugin import IPyNbCell

    from tests.lessons.renew import SLOW

    compare = IPyNbCell.compare_outputs

    def compare_the_rest(cell: Any, found: list[Any], *given: Any, **more: Any) -> Any:
        return compare(cell, [output for output in found if SLOW not in output.get("text", "")], *given, **more)

    IPyNbCell.compare_outputs = compare_the_rest


@contextmanager
def _one_at_a_time(config: pytest.Config) -> Generator[None]:
    """Let the workers of a run collect one after the other.

    After a checkout each file has to be compiled, with its assertions rewritten: 13 s, which every worker would spend.
    """
    first = Path(config.args[0].partition("::")[0])  # another run of other folders need not wait
    try:
        import fcntl
    except ImportError:  # on Windows each compiles for itself
        fcntl = None
    if fcntl is None or not hasattr(config, "workerinput") or not first.exists():
        yield
        return
    place = os.open(first, os.O_RDONLY)
    try:
        fcntl.flock(place, fcntl.LOCK_EX)
        yield
    finally:
        os.close(place)  # which gives the lock back, as the end of a process does


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """Collect the tests without the garbage collector, which would go through them all again and again."""
    gc.disable()
    try:
        with _one_at_a_time(session.config):
            return (yield)
    finally:
        gc.collect()
        gc.freeze()  # the tests live as long as the process
        gc.enable()


WAITING = tuple(Path(__file__).parent / name for name in ("browser/test_lessons.py", "browser", "lessons/played"))
"""Tests that wait for a page or a kernel half of their time, the longest file first."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Let workers begin with what waits, as others use the cores meanwhile; the file with the fewest tests comes last.

    pytest-xdist by itself goes by the number of tests alone: long tests that wait came last, with an idle core.
    """
    if not hasattr(config, "workerinput"):
        return
    counted = Counter(item.path for item in items)
    waits = {path: next((n for n, one in enumerate(WAITING) if path.is_relative_to(one)), 9) for path in counted}
    items.sort(key=lambda item: (waits[item.path], -counted[item.path], item.path))


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
