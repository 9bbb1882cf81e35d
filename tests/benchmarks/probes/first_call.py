"""How long the first call of a compiled training step takes, which traces and compiles; wall time."""

from __future__ import annotations

import autodiff_lab as lab
from tests.benchmarks import clock
from tests.benchmarks.probes.programs import net


def figures() -> dict[str, float]:
    """Seconds of the first call and of the second, which already runs what was compiled."""
    step, given = net()
    compiled = lab.function(step)
    (cpu, wall), (_, later) = (clock.once(lambda: compiled(*given)) for _ in range(2))
    return {"first call": wall, "of that, CPU time": cpu, "second call": later}
