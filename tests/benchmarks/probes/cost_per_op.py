"""The cost of an eager scalar op, forward and backward, which should be the same in short and long programs."""

from __future__ import annotations

import autodiff_lab as lab
from tests.benchmarks import clock
from tests.benchmarks.probes.programs import chain

LENGTHS = (10, 100, 1_000, 10_000, 100_000)


def figures() -> dict[str, float]:
    """CPU seconds an op."""
    x, w = lab.constant(0.3), lab.constant(0.0001)
    found = {}
    for length in LENGTHS:
        run, ops = chain(length // 3), 3 * (length // 3) + 1
        found[f"{length:,} ops"] = clock.least(lambda run=run: run(x, w), 1.0)[0] / ops
    return found
