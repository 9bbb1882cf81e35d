"""Compare what a library computes on the GPU at a small size with this project on the CPU in float64."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tests.benchmarks.gpu.engines import Lab
from tests.benchmarks.gpu.programs import Program
from tests.benchmarks.gpu.worker import outputs, prepared


def oracle(program: Program, scale: str) -> list[np.ndarray]:
    """What the second call of a program gives by the NumPy kernels in float64."""
    engine = Lab(place="/CPU:0", dtype=np.float64)
    with engine.lab.use_kernels("numpy"):
        run = prepared(engine, program, scale)
        run()
        return outputs(engine, program, run)


def error(program: Program, file: Path, wanted: list[np.ndarray]) -> tuple[float, str]:
    """The largest error of the outputs in a file, relative to the largest magnitude of each; what is wrong, if so."""
    with np.load(file) as found:
        made = [found[name] for name in found.files]
    worst = 0.0
    for at, (got, want) in enumerate(zip(made, wanted, strict=True)):
        if got.shape != want.shape:
            return np.inf, f"output {at} has shape {got.shape}, not {want.shape}"
        off = float(np.abs(got - want).max(initial=0) / (np.abs(want).max(initial=0) + 1e-30))
        if not off <= program.tolerance:  # nan is wrong too
            return off, f"output {at} is off by {off:.2g}, more than {program.tolerance:g}"
        worst = max(worst, off)
    return worst, ""
