"""Compare the results of every library with the handwritten program in float64 before anything is timed."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.benchmarks.cases.case import Case, Data, Run
from tests.benchmarks.libraries.library import Library, Numpy


class WrongResult(AssertionError):
    """A library's results differ from the handwritten program's."""


def oracle(case: Case, data: Data) -> dict[str, np.ndarray]:
    """The outputs of a case by hand, in float64 throughout."""
    engine = Numpy()
    run = case.numpy(engine, {name: _doubled(value) for name, value in data.items()})  # type: ignore[attr-defined]
    return dict(zip(case.outputs, engine.outputs(run()), strict=True))


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
        Where it is above the case's tolerance, or a shape differs.
    """
    back = case.layouts.get(library.family, {})
    worst = 0.0
    for name, got in zip(case.outputs, library.outputs(run()), strict=True):
        found, want = back.get(name, np.asarray)(got), wanted[name]
        if found.shape != want.shape:
            raise WrongResult(f"{case.name}: {name} has shape {found.shape}, not {want.shape}")
        off = float(np.abs(found - want).max() / (np.abs(want).max() + 1e-30))
        if not off <= case.tolerance:  # nan is wrong too
            raise WrongResult(f"{case.name}: {name} is off by {off:.2g}, more than {case.tolerance:g}")
        worst = max(worst, off)
    return worst
