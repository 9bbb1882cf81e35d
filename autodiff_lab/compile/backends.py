"""Back ends: which part of a program runs as what.

With Numba at hand (an extra), runs of elementwise lines become fused loops.  Everything else, and everything where
Numba is missing, runs with NumPy, through the very kernels of the eager ops.
"""

from __future__ import annotations

from importlib.util import find_spec

from autodiff_lab.compile.kernels import kernel_of
from autodiff_lab.compile.names import names_of
from autodiff_lab.compile.program import Line, Program
from autodiff_lab.compile.regions import Region, find_regions
from autodiff_lab.compile.source import Code, Step, generate


def code_of(program: Program, backend: str) -> Code:
    """The code of a program; ``"numpy"`` runs the kernels of the eager ops, line by line."""
    names = names_of(program)
    if backend == "numpy" or find_spec("numba") is None:
        return generate(program, list(program.lines), names)
    return generate(program, fused(program, names), names)


def fused(program: Program, names: dict[int, str]) -> list[Step]:
    """The steps of a program in which runs of elementwise lines are loops."""
    regions, outside, stage = find_regions(program)
    order = {id(line): n for n, line in enumerate(program.lines)}
    timed: list[tuple[int, int, Region | Line]] = [(stage[line.outs[0]], order[id(line)], line) for line in outside]
    for region in regions:
        if len(region.all) < 2:
            timed += [(region.stage, order[id(line)], line) for line in region.all]
        else:
            timed.append((region.stage, min(order[id(line)] for line in region.all), region))
    timed.sort(key=lambda item: item[:2])
    steps: list[Step] = []
    for number, (_, _, part) in enumerate(timed):
        if isinstance(part, Region):
            needed = _used_elsewhere(program, part)
            steps.append(kernel_of(part, program, needed, names, f"loop_{number}"))
        else:
            steps.append(part)
    return steps


def _used_elsewhere(program: Program, region: Region) -> set[int]:
    mine = {id(line) for line in region.all}
    return set(program.outputs) | {i for line in program.lines if id(line) not in mine for i in line.ins}
