"""How long the first call of a compiled training step takes, which traces and compiles; wall time and CPU time."""

from __future__ import annotations

import os

import autodiff_lab as lab
from tests.benchmarks import clock
from tests.benchmarks.probes.programs import net


def figures() -> dict[str, float]:
    """Seconds of the first call and of the second, which already runs what was compiled."""
    step, given = net()
    compiled = lab.function(step)
    before = _of_children()
    (cpu, wall), (_, later) = (clock.once(lambda: compiled(*given)) for _ in range(2))
    cpu += _of_children() - before
    return {"first call": wall, "CPU time of the first call": cpu, "second call": later}


def _of_children() -> float:
    """CPU seconds of processes that were started and have ended."""
    times = os.times()
    return times.children_user + times.children_system
