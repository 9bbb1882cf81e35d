"""One library on the GPU, in a separate process: ``python -m tests.benchmarks.gpu.worker PEER SCALE``.

It prints one JSON object when it is ready, then one for each that it reads: ``{"do": "check", "case": ..., "file":
...}`` computes at a small size and leaves the outputs in a file, ``{"do": "measure", "case": ...}`` times, and ``{"do":
"bandwidth"}`` copies.
"""

from __future__ import annotations

import gc
import json
import sys
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np

from tests.benchmarks.gpu.clock import Clock, clock_of, measure
from tests.benchmarks.gpu.engines import Engine, engine
from tests.benchmarks.gpu.listed import PROGRAMS
from tests.benchmarks.gpu.programs import Program, Run
from tests.benchmarks.process import without_folders
from tests.benchmarks.worker import own_output

COPIED = 1 << 30
"""Bytes of the array that is copied to learn the bandwidth."""


class Worker:
    """What answers.

    Attributes
    ----------
    engine : Engine
        The library.
    scale : str
        In which cases are timed: ``"full"``, in the simulator ``"tiny"``.
    """

    def __init__(self, peer: str, scale: str) -> None:
        self.engine: Engine = engine(peer)
        self.scale = scale
        self.clock: Clock = Clock() if self.engine.why else clock_of(self.engine)

    def answer(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Do what one line says."""
        what: Callable[..., dict[str, Any]] = getattr(self, asked.pop("do"))
        try:
            return what(**asked)
        except Exception as error:  # noqa: BLE001 - a library that fails in one case is measured in the others
            return {"missing": without_folders(f"{type(error).__name__}: {' '.join(str(error).split())[:300]}")}
        finally:
            gc.collect()
            self.clock.forget()

    def check(self, case: str, file: str) -> dict[str, Any]:
        """Leave the outputs of the second call, as a first one may trace, in a file."""
        program = PROGRAMS[case]
        run = prepared(self.engine, program, "tiny" if self.scale == "tiny" else "check")
        run()
        np.savez(file, *outputs(self.engine, program, run))
        return {"checked": True}

    def measure(self, case: str, seconds: float) -> dict[str, Any]:
        """Time one case, and take its memory."""
        program = PROGRAMS[case]
        run = prepared(self.engine, program, self.scale)
        found = measure(self.clock, run, program.times if self.scale == "full" else 1, seconds)
        found["peak"] = self.clock.peak(run)
        if getattr(self.engine, "compiled", False):
            found["fallbacks"] = self.engine.fallbacks()  # type: ignore[attr-defined]
        return found

    def bandwidth(self) -> dict[str, Any]:
        """Copy an array on the GPU; bytes read and written a second."""
        from autodiff_lab.kernels.cuda import gpus

        cupy = gpus.memory_of(0).module
        size = COPIED if self.scale == "full" else 1 << 16
        one, other = cupy.ones(size, np.uint8), cupy.zeros(size, np.uint8)
        if gpus.simulated():
            copy = lambda: np.copyto(other, one)  # noqa: E731
        else:
            stream = cupy.cuda.get_current_stream()
            copy = lambda: other.data.copy_from_device_async(one.data, size, stream)  # noqa: E731
        times = [self.clock.sample(copy, 5) for _ in range(12)][2:]
        taken = median(wall if device is None else device for device, wall in times)
        return {"bandwidth": 2 * size / taken, "copied": size}


def prepared(engine: Engine, program: Program, scale: str) -> Run:
    """The call of a program, its inputs on the GPU."""
    return program.make(engine, engine.arrays(program.data(scale)))


def outputs(engine: Engine, program: Program, run: Run) -> list[np.ndarray]:
    """What a call gives, as NumPy arrays."""
    return [engine.host(result, kind) for result, kind in zip(run(), program.kinds, strict=True)]


def main() -> None:
    """Answer until the input ends."""
    out = own_output()
    peer, scale = sys.argv[1:]
    worker = Worker(peer, scale)
    why = worker.engine.why
    print(json.dumps({"missing": why} if why else {"version": worker.engine.version()}), file=out)
    for line in () if why else sys.stdin:
        print(json.dumps(worker.answer(json.loads(line))), file=out)


if __name__ == "__main__":
    main()
