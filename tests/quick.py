"""A pytest plugin that leaves slow tests out: ``python -m pytest -p tests.quick``, as `make test` does.

A test that takes more than two seconds is marked ``slow``.  Of a parametrized one ``slow(keep=3)`` lets three cases
run, the first, the last and one between them.  Whatever is left out is counted, and `make test-all` runs it.
"""

from collections import defaultdict

import pytest

LEFT_OUT = pytest.StashKey[int]()
"""How many tests a process has left out."""


def kept(cases: int, keep: int) -> set[int]:
    """Return which of so many cases run: ``keep`` of them, spread evenly.

    Example:
        >>> sorted(kept(9, 3)), sorted(kept(9, 1)), sorted(kept(2, 5)), kept(9, 0)
        ([0, 4, 8], [0], [0, 1], set())

    """
    if keep >= cases:
        return set(range(cases))
    return {place * (cases - 1) // max(1, keep - 1) for place in range(keep)}


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the cases of slow tests that are not kept."""
    slow: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        if item.get_closest_marker("slow"):
            slow[item.nodeid.partition("[")[0]].append(item)
    left_out = set()
    for cases in slow.values():
        mark = cases[0].get_closest_marker("slow")
        run = kept(len(cases), mark.kwargs.get("keep", 0) if mark else 0)
        left_out.update(case for place, case in enumerate(cases) if place not in run)
    config.stash[LEFT_OUT] = len(left_out)
    if left_out:
        items[:] = [item for item in items if item not in left_out]
        config.hook.pytest_deselected(items=list(left_out))


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Let a worker of pytest-xdist tell the process that writes the summary."""
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["left_out"] = session.config.stash.get(LEFT_OUT, 0)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: object) -> None:
    """Take over what a worker says; all of them collect the same tests."""
    told = getattr(node, "workeroutput", {}).get("left_out", 0)
    config: pytest.Config = getattr(node, "config")  # noqa: B009 - pytest-xdist has no types
    config.stash[LEFT_OUT] = max(told, config.stash.get(LEFT_OUT, 0))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how many tests did not run, and which command runs them."""
    count = terminalreporter.config.stash.get(LEFT_OUT, 0)
    if count:
        terminalreporter.write_line(f"{count} slow tests were left out; `make test-all` runs them.")
