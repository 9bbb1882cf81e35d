"""Programs on a GPU: what a program needs there beside its kernels.

Its constants lie where they are used before the first call, and what runs counts as code of ours: an array of the CPU
that an op makes on its way is taken along, and told as traffic.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from autodiff_lab.compile.program import Program
from autodiff_lab.kernels.cuda.memory import KINDS
from autodiff_lab.kernels.cuda.traffic import inside


def with_constants_there(program: Program) -> Program:
    """The program with the arrays among its constants on the GPU, where all that use them are."""
    places: dict[int, set[Any]] = {}
    for line in program.lines:
        for i in line.ins:
            places.setdefault(i, set()).update(program.values[out].memory for out in line.outs)
    constants, values = dict(program.constants), dict(program.values)
    for i, array in program.constants.items():
        memory = next(iter(places.get(i, {None})))
        movable = isinstance(array, np.ndarray) and array.ndim > 0 and array.dtype.kind in KINDS
        if movable and memory is not None and len(places[i]) == 1 and i not in program.outputs:
            constants[i] = memory.upload(array)
            values[i] = values[i]._replace(memory=memory)
    return replace(program, constants=constants, values=values)


def on_gpu(run: Callable[..., Any], memory: Any) -> Callable[..., Any]:
    """A program's function that runs on a GPU, as code of ours."""

    def run_there(*arrays: Any) -> Any:
        with inside(), memory.using():
            return run(*arrays)

    return run_there
