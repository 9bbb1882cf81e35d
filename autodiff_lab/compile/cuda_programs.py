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
from autodiff_lab.compile.source import Step
from autodiff_lab.kernels.cuda.array import DeviceArray
from autodiff_lab.kernels.cuda.memory import KINDS
from autodiff_lab.kernels.cuda.traffic import inside


def with_constants_there(program: Program, steps: list[Step]) -> Program:
    """The program with the constants that its steps use on the GPU, and no others.

    Many are numbers in the text of kernels and need no memory.  One that was on the CPU goes to the GPU if all that use
    it are there.
    """
    values = program.values
    users: dict[int, list[Any]] = {}
    for step in steps:
        for i in step.ins:
            users.setdefault(i, []).append(values[step.outs[0]].memory)
    kept: dict[int, Any] = {}
    for i, array in program.constants.items():
        if i not in users and i not in program.outputs:
            continue
        memory = values[i].memory
        if memory is None and isinstance(array, np.ndarray) and array.ndim and array.dtype.kind in KINDS:
            places = users.get(i, [None])
            memory = places[0] if i not in program.outputs and all(place is places[0] for place in places) else None
        kept[i] = array if memory is None or array.__class__ is DeviceArray else memory.upload(array)
    return replace(program, constants=kept)


def on_gpu(run: Callable[..., Any], memory: Any) -> Callable[..., Any]:
    """A program's function that runs on a GPU, as code of ours."""

    def run_there(*arrays: Any) -> Any:
        with inside(), memory.using():
            return run(*arrays)

    return run_there
