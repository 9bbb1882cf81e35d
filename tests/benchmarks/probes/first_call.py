"""What it takes to compile a training step, and what calls take meanwhile, which run eagerly."""

from __future__ import annotations

import os
import time
from typing import Any

import autodiff_lab as lab
from autodiff_lab.kernels.base import compiler, elsewhere
from tests.benchmarks import clock
from tests.benchmarks.probes.programs import net

CALLS = 100
MOST = 3000
"""Calls after which the probe gives up on a busy machine."""


def figures() -> dict[str, float]:
    """CPU seconds of both processes that compile a step, and wall seconds of calls until another one is ready."""
    step, given = net()
    compiled = lab.function(step)
    before, began = _of_children(), time.process_time()
    first = clock.once(lambda: compiled(*given))[1]
    compiled.compile(*given)
    compiler.wait()
    elsewhere.close()
    spent = time.process_time() - began + _of_children() - before
    told = {"first call": first, "CPU time until the program is ready": spent}
    if compiler.waits():  # on one core the first call is all there is to wait for
        return told

    def another(images: Any, labels: Any) -> Any:
        return lab.sigmoid(step(images, labels) + 1.0)

    another(*given)
    eager = sorted(clock.once(lambda: another(*given))[1] for _ in range(CALLS))
    again = lab.function(another)
    calls: list[float] = []
    while not calls or (not again.compiled and len(calls) < MOST):
        calls.append(clock.once(lambda: again(*given))[1])
    windows = [sum(calls[i : i + CALLS]) for i in range(max(1, len(calls) - CALLS + 1))]
    return told | {
        "an eager call": eager[CALLS // 2],
        "a call until the program is ready, in the slowest 100 of them": max(windows) / min(len(calls), CALLS),
        "the longest of them but the first": max([*calls[1:], eager[0]]),
    }


def _of_children() -> float:
    """CPU seconds of processes that were started and have ended."""
    times = os.times()
    return times.children_user + times.children_system
