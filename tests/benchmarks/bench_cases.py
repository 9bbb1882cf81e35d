"""Timings of the cases of the table over time: eager, compiled and by hand, in one process (`make bench-history`)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.benchmarks.cases import CASES
from tests.benchmarks.cases.case import Case
from tests.benchmarks.check import error, oracle, prepare
from tests.benchmarks.clock import settle
from tests.benchmarks.libraries import PEERS

OURS = [name for name, peer in PEERS.items() if not peer.environment]


@pytest.mark.parametrize("name", OURS)
@pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))
def test_case(case: Case, name: str, benchmark: Any) -> None:
    benchmark.group = case.name
    library, data = PEERS[name].library(), case.data()
    run = prepare(case, library, data)
    benchmark.extra_info["error"] = error(case, library, run, oracle(case, data))
    settle(run)
    benchmark(run)
    benchmark.extra_info["fallbacks"] = library.fallbacks()
