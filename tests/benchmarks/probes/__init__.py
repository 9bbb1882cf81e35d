"""Measurements of this engine only: each probe runs in fresh processes and prints its figures as JSON.

A probe is a module with ``figures() -> dict[str, float]``: seconds, under the labels that the table shows.  Those that
measure a first call (`FROM_CACHES`) run twice, with empty caches and with filled ones.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tests.benchmarks.environments import FOLDER, variables
from tests.benchmarks.process import Gone, Process

if TYPE_CHECKING:
    from tests.benchmarks.rounds import Plan

PROBES = {
    "recording": "Recording, off and on",
    "dispatch": "A compiled call before it computes",
    "cost_per_op": "An eager op, from short programs to long ones",
    "first_call": "The first call of a compiled training step",
    "long_tape": "Compiling a tape of 10,000 single numbers",
}
FROM_CACHES = {"first_call", "long_tape"}
Figures = dict[str, float]


def measure(name: str, plan: Plan) -> dict[str, Figures]:
    """The figures of a probe; of those that compile, with empty and with filled caches."""
    caches = FOLDER / "caches" / f"probe-{name}"
    shutil.rmtree(caches, ignore_errors=True)
    runs = ("empty caches", "filled caches") if name in FROM_CACHES else ("",)
    return {run: _once(name, caches, plan, run) for run in runs}


def _once(name: str, caches: Path, plan: Plan, run: str) -> Figures:
    core = [] if plan.core is None else [str(plan.core)]
    label = f"probe-{name}-{run.replace(' ', '-')}".rstrip("-")
    process = Process(Path(sys.executable), ["tests.benchmarks.probes", name, *core], variables(caches), label)
    try:
        return process.answer()
    except Gone as why:
        print(f"{PROBES[name]}: {why}")
        return {}
    finally:
        process.end()
