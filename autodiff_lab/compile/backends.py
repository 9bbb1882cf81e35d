"""Back ends: choose how each part of a program runs.

If Numba is installed, runs of elementwise lines become fused loops.  Everything else runs with NumPy, through the
kernels of the eager ops.
"""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from autodiff_lab.compile.loops.kernels import kernel_of, reads_short_rows
from autodiff_lab.compile.loops.pairs import paired
from autodiff_lab.compile.loops.positions import Moves, find_moves
from autodiff_lab.compile.loops.source import Code, Kernel, Step, generate
from autodiff_lab.compile.program.components import in_components
from autodiff_lab.compile.program.finding import find_regions
from autodiff_lab.compile.program.looking import VIEWING
from autodiff_lab.compile.program.lowering import lowered
from autodiff_lab.compile.program.names import names_of
from autodiff_lab.compile.program.program import Line, Program
from autodiff_lab.compile.program.regions import Region
from autodiff_lab.compile.program.scanning import with_scans_apart
from autodiff_lab.compile.program.stepping import with_steps_in_front
from autodiff_lab.compile.recurrences.kernel import Call, with_recurrences
from autodiff_lab.compile.scalars.kernels import scalar_kernel
from autodiff_lab.compile.sequences.elements import in_short_rows
from autodiff_lab.compile.sequences.finding import in_sequences
from autodiff_lab.kernels.base.choose import Chosen


def code_of(program: Program, backend: str) -> Code:
    """Return the code of a program; ``"numpy"`` runs the kernels of the eager ops, line by line.

    So does a program of single numbers on a GPU.
    """
    traced: Program | None = None
    memory, skipped, unrolled = program.memory, list[str](), list[str]()
    if memory is None:
        by_line = backend == "numpy" or find_spec("numba") is None
    else:
        scalar = not any(value.memory is not None and value.shape for value in program.values.values())
        by_line = backend == "numpy" or scalar
        if scalar and len(program.lines) > 1:
            skipped.append(f"{len(program.lines)} ops of single numbers, which a GPU does not speed up, run one by one")
    if by_line:
        names = names_of(program)
        steps: list[Step] = list(program.lines)
    else:
        program = lowered(in_components(with_scans_apart(with_steps_in_front(program))))
        calls: dict[int, Call] = {}
        if memory is None:
            traced, (program, calls) = program, with_recurrences(program, skipped, unrolled)
        names = names_of(program)
        steps = fused(program, names, skipped, calls)
        for step in steps if memory is None else ():
            if isinstance(step, Line) and isinstance(step.op.kernel, Chosen):
                values = [program.values[i] for i in step.ins]  # now, so that no call waits or differs
                step.op.kernel.prepare(values[0].dtype, values, step.params)
    if memory is None:
        return replace(generate(program, steps, names, traced), skipped=tuple(skipped), unrolled=tuple(unrolled))
    launch = _on_gpu("launch")
    code = generate(launch.with_constants_there(program, steps), steps, names)
    return replace(code, run=launch.on_gpu(code.run, memory), skipped=tuple(skipped))


def fused(program: Program, names: dict[int, str], skipped: list[str], calls: dict[int, Call]) -> list[Step]:
    """Return the steps of a program in which runs of elementwise lines are loops, and small steps are sequences.

    `calls` stand for recurrences.
    """
    regions, outside, stage = find_regions(program)
    moves = find_moves(regions, outside, stage, program)
    order = {id(line): n for n, line in enumerate(program.lines)}
    timed: list[tuple[int, int, str, Region | Step | Call]] = []
    kept: set[int] = set()  # results of ops that no loop can do after all
    for number, region in enumerate(regions, start=1):
        if region.memory is not None:
            region, left = _on_gpu("kernels").without_row_sums(region, program)
            outside += left
        place = min(order[id(line)] for line in region.all)
        own = moves.of(region)
        kernel = _kernel(region, program, names, number, skipped, own) if own.lines else None
        if kernel is None:
            kept.update(line.outs[0] for line in own.lines)
        timed.append((region.stage, place, f"loop_{number}", region if kernel is None else kernel))
    moved = {line.outs[0] for line in moves.lines} - kept
    outside = [line for line in outside if line.outs[0] not in moved]
    pairs, outside = paired(program, outside, stage, names)
    timed += [(stage[line.outs[0]], order[id(line)], kernel.title, kernel) for line, kernel in pairs]
    for line in outside:
        one = calls.get(line.outs[0])
        timed.append((stage[line.outs[0]], order[id(line)], "", line if one is None else one))
    timed.sort(key=lambda item: item[:2])
    found = [(title, item) for *_, title, item in timed]
    if program.memory is None:
        found = in_sequences(found, program, names, skipped)
    steps: list[Step] = []
    for title, item in found:
        if not isinstance(item, Region):
            steps.append(item.kernel(names) if isinstance(item, Call) else item)
            continue
        kernel = _kernel(item, program, names, int(title.rpartition("_")[2]), skipped, Moves())
        steps += [kernel] if kernel is not None else sorted(item.all, key=lambda line: order[id(line)])
    return _without_idle_views(steps, program)


def _without_idle_views(steps: list[Step], program: Program) -> list[Step]:
    """Leave out elements and other views that no step reads, as kernels of single numbers take whole arrays."""
    kept: list[Step] = []
    needed = set(program.outputs)
    for step in reversed(steps):
        if not isinstance(step, Line) or step.op.name not in VIEWING or not needed.isdisjoint(step.outs):
            kept.append(step)
            needed.update(step.ins)
    return kept[::-1]


def _kernel(
    region: Region, program: Program, names: dict[int, str], number: int, skipped: list[str], moves: Moves
) -> Kernel | None:
    """Return the kernel of a region, None if NumPy is to run it; `skipped` gets the error of a compiler."""
    alone = region.memory is None and len(region.lines) == 1 and in_short_rows(region.lines[0], program)
    alone = alone or bool(moves.lines)
    if (
        not region.is_loop
        and not alone
        and (region.memory is not None or (region.shape and not reads_short_rows(region, program)))
    ):
        return None
    try:
        if region.memory is not None:
            return _on_gpu("kernels").kernel_on_gpu(region, program, names, f"kernel_{number}")
        if region.shape:
            return kernel_of(region, program, names, f"loop_{number}", moves)
        return scalar_kernel(region, program, names, f"scalars_{number}")
    except Exception as error:  # noqa: BLE001 - whatever a compiler says, NumPy does the work
        skipped.append(f"{len(region.all)} ops over {region.shape}: {type(error).__name__}: {error}")
        return None


def _on_gpu(name: str) -> Any:
    """Import a module of CUDA kernels, which needs Numba."""
    return import_module(f"autodiff_lab.compile.loops.cuda.{name}")
