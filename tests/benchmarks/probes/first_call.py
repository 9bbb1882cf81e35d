"""How long the first call of a compiled training step takes, which traces and compiles; wall time."""

from __future__ import annotations

import autodiff_lab as lab
from tests.benchmarks import clock
from tests.benchmarks.probes.programs import net


def figures() -> dict[str, float]:
    """Wall seconds of the first call and of the second, which already runs what was compiled."""
    step, given = net()
    compiled = lab.function(step)
    return {
        "first call": clock.once(lambda: compiled(*given))[1],
        "second call": clock.once(lambda: compiled(*given))[1],
    }
