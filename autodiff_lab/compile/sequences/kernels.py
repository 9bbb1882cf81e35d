"""Kernels of sequences: the call from Python, the memory between its steps, and the source that is shown.

Values that nobody outside sees lie in one room, at places that are fixed when the program is compiled; a place is used
again when its value is not needed any more.  Each call has a room of its own: calls in several threads, or one inside
another, do not meet.  What is returned is new memory in every call.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_lab.compile.loops.kernels import given_and_made, loop_source, plainly
from autodiff_lab.compile.loops.source import Kernel, assigned
from autodiff_lab.compile.loops.text import indented
from autodiff_lab.compile.program.lines import OtherValueError, call, comment
from autodiff_lab.compile.program.program import Line, Program, Value
from autodiff_lab.compile.program.regions import Region
from autodiff_lab.compile.recurrences.kernel import Call
from autodiff_lab.compile.sequences.tasks import Builder, Place
from autodiff_lab.kernels.base.order import in_order
from autodiff_lab.kernels.base.store import load
from autodiff_lab.kernels.indexing.little import OTHER_VALUE

LINE_BYTES = 64
"""Of a cache line; every value begins one."""
KEPT_BYTES = 1 << 20
"""Larger rooms are freed after each call."""

Item = tuple[str, Region | Line | Call]
"""A step and its title, which is that of a loop in what is shown."""


def sequence_kernel(items: list[Item], needed: set[int], program: Program, names: dict[int, str], title: str) -> Kernel:
    """Compile steps into one call; `needed` are the values that others use."""
    builder = Builder(program)
    for _, item in items:
        builder.add(item)
    lines = [line for _, item in items for line in lines_of(item)]
    outs = [i for line in lines for i in line.outs if i in needed]
    buffers = [builder.buffer_of_result(i) for i in outs]
    function = _wrapper(builder, outs, buffers, plainly(lines, program, builder.given, outs))
    backward = all(line.cause is not None for line in lines)
    source = _source(items, builder, outs, names, title)
    count = sum(len(item.lines) if isinstance(item, Call) else len(lines_of(item)) for _, item in items)
    note = f"{count} ops in one call"
    checked = tuple([i for line in lines for i in line.outs if i not in needed and not program.users[i]])
    turns = tuple([item.loop.rounds for _, item in items if isinstance(item, Call)])
    return Kernel(title, source, tuple(builder.given), tuple(outs), function, backward, note, turns, checked)


def lines_of(item: Region | Line | Call) -> tuple[Line, ...]:
    """Return the lines that a step computes; one stands for a whole loop over arrays."""
    return item.all if isinstance(item, Region) else (item.line if isinstance(item, Call) else item,)


def _wrapper(builder: Builder, outs: list[int], buffers: list[int], without: Any) -> Any:
    """Return the function that takes the arrays of what is given, and returns a tuple of results.

    `without` does the same with NumPy, for a call in which a step declines.
    """
    values = builder.program.values
    bases = {buffer: 2 + n for n, buffer in enumerate([*builder.given, *buffers])}
    steps, slots, size = _tables(builder, bases)
    first = 2 + len(bases) + sum(_words(values[i]) for i in builder.given if not values[i].shape)
    total = first + (size + LINE_BYTES) // 8 + len(slots)
    run = load(_entry(builder, outs, first)).run
    arguments = ", ".join(f"a{n}" for n in range(len(builder.given)))
    passed = ", ".join(f"a{n}" if values[i].shape else f"a{n}[()]" for n, i in enumerate(builder.given))
    made = ", ".join(f"b{n}" for n in range(len(outs)))
    results = ", ".join(f"b{n}" if values[i].shape else f"b{n}[0]" for n, i in enumerate(outs))
    text = [
        f"def sequence({arguments}):",
        *(f'    b{n} = empty({values[i].shape or 1}, "{values[i].dtype.name}")' for n, i in enumerate(outs)),
        "    try:",
        "        room = rooms.pop()",
        "    except IndexError:",
        f'        room = empty({total}, "int64")',
        "    if copies:",
        f"        {arguments}, = map(row_major, ({arguments},))",
        "    try:",
        f"        declined = run(steps, slots, room, {passed}, {made})",
        "    except TypeError:  # an array that is read-only or does not lie in order",
        "        copies.append(True)",
        f"        return sequence({arguments})",
        *["    rooms.append(room)"] * (8 * total <= KEPT_BYTES),
        f"    if declined == {OTHER_VALUE}:",
        "        raise other",
        "    if declined:",
        f"        return without({arguments})",
        f"    return ({results}{',' * bool(outs)})",
    ]
    bound = {
        "run": run, "steps": steps, "slots": slots, "rooms": [], "copies": [], "empty": np.empty, "without": without,
        "row_major": _row_major, "other": OtherValueError, "constants": builder.constants,
    }  # fmt: skip
    exec(compile("\n".join(text), "<autodiff_lab sequence>", "exec"), bound)
    return bound["sequence"]


def _words(value: Value) -> int:
    """Return how many places of eight bytes a single number takes."""
    return -(-value.dtype.itemsize // 8)


def _row_major(array: Any) -> Any:
    """Return an array as machine code takes it."""
    return array if array.flags.carray else in_order(array)


def _tables(builder: Builder, bases: dict[int, int]) -> tuple[Any, Any, int]:
    """Return steps and slots for `run_steps`, and the bytes of the values that only the sequence uses."""
    inside, size = _inside(builder, bases)
    steps: list[tuple[int, int]] = []
    slots: list[tuple[int, int]] = []
    for task in builder.tasks:
        steps.append((task.step.address, len(slots)))
        for slot in task.slots:
            if not isinstance(slot, Place):
                slots.append((0, slot))
            elif slot.buffer in bases:
                slots.append((bases[slot.buffer], slot.bytes))
            elif slot.buffer in inside:
                slots.append((1, inside[slot.buffer] + slot.bytes))
            else:
                slots.append((0, builder.constants[slot.buffer].ctypes.data + slot.bytes))
    return np.array(steps, np.int64), np.array(slots, np.int64), size


def _inside(builder: Builder, bases: dict[int, int]) -> tuple[dict[int, int], int]:
    """Return where in the room each value lies that only the sequence uses, and how many bytes they take."""
    last = {one.buffer: n for n, task in enumerate(builder.tasks) for one in task.slots if isinstance(one, Place)}
    ends: dict[int, list[int]] = {}
    for buffer, n in last.items():
        ends.setdefault(n, []).append(buffer)
    free: dict[int, list[int]] = {}
    inside: dict[int, int] = {}
    wide = {buffer: -(-size // LINE_BYTES) * LINE_BYTES for buffer, size in builder.sizes.items()}
    total = 0
    for n, task in enumerate(builder.tasks):
        for buffer in task.made:
            if buffer in bases:
                continue
            if free.get(wide[buffer]):
                inside[buffer] = free[wide[buffer]].pop()
            else:
                inside[buffer] = total
                total += wide[buffer]
        for buffer in ends.get(n, ()):
            if buffer in inside:
                free.setdefault(wide[buffer], []).append(inside[buffer])
    return inside, total


def _entry(builder: Builder, outs: list[int], first: int) -> str:
    """Write the function that Python calls: it notes where the arrays of a call lie, and runs the steps."""
    values = builder.program.values
    types = ["int64[:, ::1]", "int64[:, ::1]", "int64[::1]"]
    fill = [f"room[0], room[1] = 0, (room.ctypes.data + {8 * first + LINE_BYTES - 1}) & ~{LINE_BYTES - 1}"]
    names: list[str] = []
    place = 2 + len(builder.given) + len(outs)
    for n, i in enumerate([*builder.given, *outs]):
        name, kind, rank = f"a{n}", values[i].dtype.name, len(values[i].shape)
        names.append(name)
        numba_kind = "boolean" if kind == "bool" else kind
        if rank or n >= len(builder.given):
            types.append(f"{numba_kind}[{':, ' * (rank - 1)}::1]")
            fill.append(f"room[{2 + n}] = {name}.ctypes.data")
        else:  # a number
            types.append(numba_kind)
            fill.append(f"room[{2 + n}] = room.ctypes.data + {8 * place}")
            fill.append(f"at(room[{2 + n}], 1, numpy.{'bool_' if kind == 'bool' else kind})[0] = {name}")
            place += _words(values[i])
    module = [
        "import numpy",
        "from autodiff_lab.kernels.base.pointers import at, run_steps",
        f'@compiled("int64({", ".join(types)})", gathers=True)',
        f"def run(steps, slots, room, {', '.join(names)}):",
        *indented([*fill, "return run_steps(steps, slots, room)"]),
    ]
    return "\n".join(module) + "\n"


def _source(items: list[Item], builder: Builder, outs: list[int], names: dict[int, str], title: str) -> str:
    """Return the texts of the loops, and the steps in order."""
    loops: list[str] = []
    body: list[str] = []
    bound: dict[str, Any] = {}
    for name, item in items:
        if isinstance(item, Region):
            writer = builder.writers[item.all[-1].outs[0]]
            loops.append(loop_source(writer, names, name))
            ins, made = given_and_made(writer)
            text = assigned([names[i] for i in made], f"{name}({', '.join(names[i] for i in ins)})")
            words = f"{len(item.all)} op{'s' * (len(item.all) > 1)} in one loop"
        elif isinstance(item, Call):
            loops.append(item.shown(names))
            text = assigned([names[i] for i in item.outs], f"{item.title}({', '.join(names[i] for i in item.ins)})")
            words = item.note
        else:
            text = f"{names[item.outs[0]]} = {call(item, names, bound, builder.program)}"
            words = comment(item, builder.program, names)
        body.append(f"{text.ljust(44)}  # {words}")
    head = f"def {title}({', '.join(names[i] for i in builder.given)}):  # one call, from a table of the steps"
    result = f"return ({''.join(f'{names[i]}, ' for i in outs).strip()})"
    return "\n\n".join([*loops, "\n".join([head, *indented([*body, result])])])
