"""How long a tape of 10,000 scalar ops takes to compile; wall time."""

from __future__ import annotations

import autodiff_lab as lab
from tests.benchmarks import clock
from tests.benchmarks.probes.programs import chain


def figures() -> dict[str, float]:
    """Wall seconds of the first call beside those of an eager one and of a compiled one."""
    x, w, run = lab.constant(0.3), lab.constant(0.0001), chain(3333)
    compiled = lab.function(run)
    cpu, wall = clock.once(lambda: compiled(x, w))
    return {
        "first call": wall,
        "of that, CPU time": cpu,
        "later calls": clock.least(lambda: compiled(x, w), 0.5)[1],
        "eager": clock.least(lambda: run(x, w), 0.5)[1],
    }
