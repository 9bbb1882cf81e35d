"""Kernels of fused loops: what stands between the generated Python and a compiled loop.

A wrapper is written for each loop: it flattens the inputs, makes the outputs, calls the loop, and lets NumPy do the
lines one by one where the loop met an angle too large for its reduction.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autodiff_lab.compile.lines import comment
from autodiff_lab.compile.loops import BLOCK, Parts, Writer, constant_text, module_text, parts_of, split_sizes
from autodiff_lab.compile.program import Line, Program
from autodiff_lab.compile.regions import Region
from autodiff_lab.compile.source import Kernel
from autodiff_lab.kernels.store import load


def flat(array: Any) -> Any:
    """The elements in a row, in memory that Numba takes; a view where the array allows it."""
    flags = array.flags
    if flags.c_contiguous and flags.writeable:
        return array.reshape(-1)
    return np.array(array).reshape(-1)


def kernel_of(region: Region, program: Program, needed: set[int], names: dict[int, str], title: str) -> Kernel:
    """Compile a region; `needed` are the values that something outside uses."""
    parts = parts_of(region, program, needed)
    loop = load(module_text(region, program, parts)).loop
    outs = [*parts.stored, *(line.outs[0] for line in [*parts.row_sums, *parts.column_sums, *parts.totals])]
    ins = [*parts.whole, *parts.row, *parts.column, *parts.single]
    function = _wrapper(region, program, parts, ins, outs, loop)
    constants = [f"{names[i]} = {constant_text(v)}" for i, v in parts.constants.items()]
    text = Writer(region, program, parts, names).text(title)
    text = _with_comments(text, region, program, names)
    source = "\n".join([*constants, "@njit", *text])
    backward = all(line.cause is not None for line in region.all)
    note = f"{len(region.all)} ops in one loop"
    return Kernel(title, source, tuple(ins), tuple(outs), function, backward, note)


def _with_comments(text: list[str], region: Region, program: Program, names: dict[int, str]) -> list[str]:
    """Put the words of each op behind its statement."""
    said = {f"{names[line.outs[0]]}_i": comment(line, program, names) for line in region.lines}
    made: list[str] = []
    for row in text:
        words = said.get(row.strip().partition(" = ")[0])
        made.append(f"{row.ljust(52)}  # {words}" if words else row)
    return made


def _wrapper(region: Region, program: Program, parts: Parts, ins: list[int], outs: list[int], loop: Any) -> Any:
    sizes = split_sizes(region)
    rows, columns = sizes or (-(-math.prod(region.shape) // BLOCK), BLOCK)
    name = {i: f"v{n}" for n, i in enumerate(dict.fromkeys([*ins, *outs]))}
    bound: dict[str, Any] = {"loop": loop, "flat": flat, "empty": np.empty, "zeros": np.zeros}
    bound["number"] = region.dtype.type
    bound["plainly"] = _plain_runner(region.all, program, ins, outs, parts)
    body: list[str] = []
    arrays = [f"flat({name[i]})" for i in [*parts.whole, *parts.row, *parts.column]]
    arrays += [name[i] if program.values[i].shape == () else f"{name[i]}.reshape(())[()]" for i in parts.single]
    for i in parts.stored:
        kind = "bool" if program.values[i].dtype.kind == "b" else region.dtype.name
        body.append(f'{name[i]} = empty({region.shape}, "{kind}")')
    body += [f"{name[i]} = zeros({program.values[i].shape}, number)" for i in (line.outs[0] for line in parts.row_sums)]
    body += [
        f"{name[i]} = empty({program.values[i].shape}, number)" for i in (line.outs[0] for line in parts.column_sums)
    ]
    made = [*parts.stored, *(line.outs[0] for line in [*parts.row_sums, *parts.column_sums])]
    # Outputs own their memory, so that a variable can keep them; the loop sees them in one row.
    arrays += [name[i] if len(program.values[i].shape) == 1 else f"{name[i]}.reshape(-1)" for i in made]
    totals = [name[line.outs[0]] for line in parts.totals]
    call = f"loop({', '.join([str(rows), str(columns), *arrays])})"
    body.append(f"{', '.join(['far', *totals])} = {call}")
    body.append(f"if far: return plainly({', '.join(name[i] for i in ins)})")
    results: list[str] = []
    for i in outs:
        shape = program.values[i].shape
        one = name[i] in totals
        if one:
            results.append(f"number({name[i]})" if shape == () else f"zeros({shape}, number) + number({name[i]})")
        else:
            results.append(name[i])
    body.append(f"return ({', '.join(results)},)")
    text = "\n".join([f"def kernel({', '.join(name[i] for i in ins)}):", *(f"    {line}" for line in body)])
    exec(compile(text, "<autodiff_lab kernel>", "exec"), bound)
    return bound["kernel"]


def _plain_runner(lines: list[Line], program: Program, ins: list[int], outs: list[int], parts: Parts) -> Any:
    """Run the lines of a region with NumPy, in the order in which they were traced."""
    order = {id(line): n for n, line in enumerate(program.lines)}
    ordered = sorted(lines, key=lambda line: order[id(line)])
    constants = {i: program.constants[i] for i in parts.constants}

    def plainly(*arrays: Any) -> tuple[Any, ...]:
        values: dict[int, Any] = {**constants, **dict(zip(ins, arrays, strict=True))}
        with np.errstate(all="ignore"):
            for line in ordered:
                values[line.outs[0]] = line.op.kernel(*(values[i] for i in line.ins), **line.params)
        return tuple([values[i] for i in outs])

    return plainly
