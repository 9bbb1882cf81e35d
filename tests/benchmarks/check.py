"""Compare the results of every library with a reference in float64 before anything is timed.

The cases come with a program by hand; the reference of the other programs is what JAX computes in float64, kept in a
file that all libraries read.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from tests.benchmarks.cases.case import Case, Data, Run
from tests.benchmarks.libraries.library import Library, Numpy


class WrongResult(AssertionError):
    """A library's results differ from the reference."""


def oracle(case: Case, data: Data, engine: Any = None, *, doubled: bool = True) -> dict[str, np.ndarray]:
    """The outputs, in float64 throughout: of the program by hand, or of a library that takes its place."""
    engine = engine or Numpy()
    run = getattr(case, engine.family)(engine, {name: _doubled(x) if doubled else x for name, x in data.items()})
    return dict(zip(case.outputs, engine.outputs(run()), strict=True))


def kept(path: Path) -> dict[str, np.ndarray]:
    """The outputs that a process of another environment has written."""
    with np.load(path) as file:
        return dict(file)


def _doubled(value: Any) -> Any:
    if isinstance(value, list):
        return [_doubled(one) for one in value]
    return value.astype(np.float64) if getattr(value, "dtype", None) == np.float32 else value


def prepare(case: Case, library: Library, data: Data) -> Run:
    """The call that is timed."""
    return getattr(case, library.family)(library, data)


def error(case: Case, library: Library, run: Run, wanted: dict[str, np.ndarray]) -> float:
    """The largest error of a call's outputs, relative to the largest magnitude of each.

    Raises
    ------
    WrongResult
        Where it is more than the case allows, or a shape differs.
    """
    back = case.layouts.get(library.family, {})
    getattr(run, "reset", lambda: None)()  # what trains begins again
    worst = 0.0
    for name, got in zip(case.outputs, library.outputs(run()), strict=True):
        found, want = back.get(name, np.asarray)(got), wanted[name]
        if found.shape != want.shape:
            raise WrongResult(f"{case.name}: {name} has shape {found.shape}, not {want.shape}")
        off = float(np.abs(found - want).max() / (np.abs(want).max() + 1e-30))
        if not off <= case.allowed(name):  # nan is wrong too
            raise WrongResult(f"{case.name}: {name} is off by {off:.2g}, more than {case.allowed(name):g}")
        worst = max(worst, off)
    return worst
