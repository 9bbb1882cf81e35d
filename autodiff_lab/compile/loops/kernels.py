"""Kernels of fused loops: the wrapper between the generated Python and a compiled loop.

A wrapper flattens the inputs, allocates the outputs, calls the loop, and runs the lines with NumPy if the loop met an
angle too large for its argument reduction.  A loop over many elements is shared by threads in ranges of rows; their
partial sums are kept by row and added in order, so that results do not depend on the number of threads.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from autodiff_lab.compile.loops.narrow import FEW, narrowed
from autodiff_lab.compile.loops.parts import parts_of, texts_of
from autodiff_lab.compile.loops.positions import Moves, rows_within
from autodiff_lab.compile.loops.source import Kernel
from autodiff_lab.compile.loops.strided import Origin, origin_in, with_strided
from autodiff_lab.compile.loops.text import LONGEST_ROW, Writer, constant_rows, indented, with_names
from autodiff_lab.compile.program.expressions import functions_in
from autodiff_lab.compile.program.program import Line, Program
from autodiff_lab.compile.program.regions import Region
from autodiff_lab.kernels.base.order import in_order
from autodiff_lab.kernels.base.store import load
from autodiff_lab.kernels.base.threads import spread

PAYS = 50_000.0
"""Nanoseconds of work from which on another thread pays off: starting one takes about 15,000."""
_ARRAY, _LINE, _FUNCTION = 0.05, 0.03, 0.3
"""Measured nanoseconds per element of four bytes for an array, a line and an elementary function."""
_MERGE = {"sum": "add", "mean": "add", "prod": "multiply", "max": "maximum", "min": "minimum"}
_EMPTY = {"sum": "0.0", "mean": "0.0", "prod": "1.0", "max": 'number("-inf")', "min": 'number("inf")'}


def flat(array: Any) -> Any:
    """Return the elements in one dimension, contiguous, writable and aligned; a view if the array allows it."""
    if array.flags.carray:
        return array.reshape(-1)
    return in_order(array).reshape(-1)


def kernel_of(region: Region, program: Program, names: dict[int, str], title: str, moves: Moves) -> Kernel:
    """Compile a region, with what it moves itself."""

    def origin(value: int) -> Origin:
        return origin_in(program, value)

    region, strided = with_strided(moves.in_rows(region), program, LONGEST_ROW, origin)
    strided |= moves.strided()
    writer: Writer | None = None if strided or moves.puts else narrowed(region, program, origin)
    if writer is None:
        parts = parts_of(region, program, texts_of(region, program))
        writer = Writer(region, program, parts, strided, moves.puts)
    ins, outs = given_and_made(writer)
    function = _wrapper(writer, load(writer.module()).loop, ins, outs)
    backward = all(line.cause is not None for line in region.all)
    note = f"{len(region.all) + len(moves.lines)} ops in one loop"
    return Kernel(title, loop_source(writer, names, title), tuple(ins), tuple(outs), function, backward, note)


def reads_short_rows(region: Region, program: Program) -> bool:
    """Return whether a region reads rows of a few elements out of larger ones, where NumPy goes row by row."""
    writer = narrowed(region, program, lambda value: origin_in(program, value))
    return writer is not None and bool(writer.strided) and writer.region.columns < FEW


def given_and_made(writer: Writer) -> tuple[list[int], list[int]]:
    """Return the values that a loop takes and those that it returns."""
    parts = writer.parts
    stored = [writer.puts[i].outs[0] if i in writer.puts else i for i in parts.all_stored]
    made = [*stored, *(line.outs[0] for line in [*parts.over_rows, *parts.all_totals])]
    arrays = [writer.strided[i].base if i in writer.strided else i for i in parts.arrays]
    return list(dict.fromkeys([*arrays, *parts.single, *_positions(writer).values()])), made


def _positions(writer: Writer) -> dict[int, int]:
    """Return the positions of each value whose rows a loop picks or adds up."""
    picked = {i: one.positions for i, one in writer.strided.items() if one.positions is not None}
    return picked | {i: line.ins[1] for i, line in writer.puts.items()}


def loop_source(writer: Writer, names: dict[int, str], title: str) -> str:
    """Return the text of a loop with the user's names."""
    given = writer.shown(), writer.region, writer.program, names
    rows = with_names(*given, strided=writer.strided, puts=writer.puts)
    rows[0] = rows[0].replace("def loop", f"def {title}")
    return "\n".join([*constant_rows(writer.parts.constants, names), "@njit", *rows])


def _wrapper(writer: Writer, loop: Any, ins: list[int], outs: list[int]) -> Any:
    """Return the function that calls a loop: it takes the arrays of `ins` and returns a tuple of those of `outs`."""
    names = writer.names
    lines = dict.fromkeys([line.outs[0] for one in writer.strided.values() for line in one.lines])
    taken = [writer.program.made_by[i] for i in lines]
    bound: dict[str, Any] = {
        "loop": loop, "flat": flat, "empty": np.empty, "full": np.full, "spread": spread, "np": np,
        "zeros": np.zeros, "rows_within": rows_within, "number": writer.region.dtype.type,
        "plainly": plainly([*taken, *writer.region.all, *writer.puts.values()], writer.program, ins, outs),
        **{f"{names[i]}_at": one.starts for i, one in writer.strided.items() if one.positions is None},
    }  # fmt: skip
    arguments = ", ".join(names[i] for i in ins)
    body = _located(writer, arguments) + _outputs(writer)
    body += _in_ranges(writer) if writer.wide else _at_once(writer)
    body += [f"if far: return plainly({arguments})", *_finished(writer)]
    totals = {line.outs[0] for line in writer.parts.all_totals}
    results = {line.outs[0]: names[i] for i, line in writer.puts.items()}
    results |= {i: _result(writer, i) if i in totals else names[i] for i in outs if i not in results}
    body.append(f"return ({', '.join(results[i] for i in outs)},)")
    text = "\n".join([f"def kernel({arguments}):", *indented(body)])
    exec(compile(text, "<autodiff_lab kernel>", "exec"), bound)
    return bound["kernel"]


def _located(writer: Writer, arguments: str) -> list[str]:
    """Write the check of positions: the ops say what is wrong with one that lies outside."""
    made: dict[str, str] = {}
    text: list[str] = []
    for i, positions in _positions(writer).items():
        table = writer.puts[i].outs[0] if i in writer.puts else writer.strided[i].base
        check = f"rows_within({writer.names[positions]}, {writer.program.values[table].shape[0]})"
        text.append(f"{writer.names[i]}_at = {made.setdefault(check, check)}")
        if made[check] == check:
            text.append(f"if {writer.names[i]}_at is None: return plainly({arguments})")
            made[check] = f"{writer.names[i]}_at"
    return text


def _outputs(writer: Writer) -> list[str]:
    """Write the allocation of outputs; they own their memory, so that a variable can keep them."""
    made: list[str] = []
    for i in writer.parts.all_stored:
        value = writer.program.values[writer.puts[i].outs[0] if i in writer.puts else i]
        kind = value.dtype.name if value.dtype.kind in "bc" else writer.region.dtype.name
        how = "zeros" if i in writer.puts else "empty"
        made.append(f'{writer.names[i]} = {how}({value.shape}, "{kind}")')
    for line in writer.parts.over_rows:
        shape = (-(-writer.rows // writer.per), writer.region.columns) if writer.chunked else _shape(writer, line)
        made.append(f"{writer.name(line)} = full({shape}, {_EMPTY[line.op.name]}, number)")
    totals = writer.parts.all_totals if writer.wide else []
    return made + [f'sums_{writer.name(line)} = empty({writer.rows}, "float64")' for line in totals]


def _at_once(writer: Writer) -> list[str]:
    targets = ["far", *map(writer.name, writer.parts.all_totals)]
    arrays = [one.given for one in writer.arguments()]
    return [f"{', '.join(targets)} = loop(0, {writer.rows}, {', '.join(arrays)})"]


def _in_ranges(writer: Writer) -> list[str]:
    """Write the call that threads share in ranges of rows, or in chunks of rows if it sums over rows."""
    arrays = writer.arguments()
    given = ", ".join(f"a{n}" for n in range(len(arrays)))
    elements = int(PAYS / _cost(writer))
    if writer.chunked:
        call = f"loop(low * {writer.per}, min(high * {writer.per}, {writer.rows}), {given})"
        count, each = -(-writer.rows // writer.per), max(1, -(-elements // (writer.columns * writer.per)))
    else:
        call = f"loop(low, high, {given})"
        count, each = writer.rows, max(1, -(-elements // writer.columns))
    text = [f"a{n} = {one.given}" for n, one in enumerate(arrays)]
    return [*text, f"far = max(spread(lambda low, high: {call}, {count}, {each}))"]


def _cost(writer: Writer) -> float:
    """Return the approximate nanoseconds per element."""
    arrays = len(writer.parts.whole) + len(writer.parts.stored)
    functions = sum(len(functions_in(text)) for text in writer.parts.texts.values())
    each = _ARRAY * arrays + _LINE * len(writer.region.lines) + _FUNCTION * functions
    return each * writer.region.dtype.itemsize / 4


def _finished(writer: Writer) -> list[str]:
    """Write how partial results are put together, and divide means."""
    made: list[str] = []
    for line in writer.parts.over_rows:
        name, merge = writer.name(line), _MERGE[line.op.name]
        if writer.chunked:
            made.append(f"{name} = np.{merge}.reduce({name}, axis=0).reshape({_shape(writer, line)})")
        if line.op.name == "mean":
            made.append(f"{name} /= number({writer.region.rows})")
    for line in writer.parts.all_totals if writer.wide else []:
        name, count = writer.name(line), math.prod(writer.program.values[line.ins[0]].shape)
        divided = f" / number({count})" if line.op.name == "mean" else ""
        made.append(f"{name} = number(np.{_MERGE[line.op.name]}.reduce(sums_{name})){divided}")
    return made


def _result(writer: Writer, total: int) -> str:
    """Return the expression of a reduction of everything with the shape and dtype of its op."""
    shape, name = writer.program.values[total].shape, writer.names[total]
    return f"number({name})" if shape == () else f"full({shape}, {name}, number)"


def _shape(writer: Writer, line: Line) -> tuple[int, ...]:
    return writer.program.values[line.outs[0]].shape


def plainly(lines: Iterable[Line], program: Program, ins: Sequence[int], outs: Sequence[int]) -> Any:
    """Return a function that runs lines with NumPy, in the order of the trace."""
    ordered = sorted(lines, key=lambda line: program.place[line.outs[0]])
    constants = {i: program.constants[i] for line in ordered for i in line.ins if i in program.constants}

    def run(*arrays: Any) -> tuple[Any, ...]:
        values: dict[int, Any] = {**constants, **dict(zip(ins, arrays, strict=True))}
        with np.errstate(all="ignore"):
            for line in ordered:
                made = line.op.kernel(*(values[i] for i in line.ins), **line.params)
                values.update(zip(line.outs, made if made.__class__ is tuple else (made,), strict=True))
        return tuple([values[i] for i in outs])

    return run
