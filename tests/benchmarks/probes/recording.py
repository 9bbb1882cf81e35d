"""The cost of recording: the same three programs plain and under `record`, which keeps values, gradients and lines."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import autodiff_lab as lab
from tests.benchmarks import clock
from tests.benchmarks.probes.programs import graph, net, neuron

SECONDS = 0.4


def figures() -> dict[str, float]:
    """CPU seconds of each program, plain and recorded."""
    step, given = net()
    found = {}
    for name, run in (("4 small ops", neuron()), ("a training step", lambda: step(*given)), ("500 small ops", graph())):
        turns = [(clock.least(run, SECONDS)[0], clock.least(_recorded(run), SECONDS)[0]) for _ in range(3)]
        found[f"{name}, plain"], found[f"{name}, recorded"] = map(min, zip(*turns, strict=True))
    return found


def _recorded(run: Callable[[], Any]) -> Callable[[], Any]:
    def recorded() -> Any:
        with lab.record() as recording:
            run()
        return recording

    return recorded
