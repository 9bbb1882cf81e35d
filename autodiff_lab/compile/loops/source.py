"""The generated module: one Python function that runs a Program, step by step.

A step is a line of the program, written with NumPy, or a `Kernel` that a back end made of many lines.  The source is
made for reading: it has names from the user's program, marks the backward pass, and comments each op.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from autodiff_lab.compile.program.lines import call, comment, has_static_shape
from autodiff_lab.compile.program.program import Line, Program, shown
from autodiff_lab.compile.program.registers import MOST, registers

LARGE = 65_536
"""Values of at least this many bytes are deleted as soon as nothing uses them."""


class ShapeChanged(Exception):
    """A result has another shape than in the trace: the function must run eagerly."""


@dataclass(frozen=True)
class Kernel:
    """Many lines made into one call.

    Attributes
    ----------
    title, source : str
        Its name in the generated module, and its readable source.
    ins, outs : tuple of int
        Values that it takes and returns.
    function : callable
        Takes the arrays of `ins`, returns a tuple of the arrays of `outs`.
    turns : tuple of int
        Of each loop in it that the trace unrolled.
    checked : tuple of int
        Values that it computes although nothing reads them, since they may end the program.
    """

    title: str
    source: str
    ins: tuple[int, ...]
    outs: tuple[int, ...]
    function: Any
    backward: bool = False
    note: str = ""
    turns: tuple[int, ...] = ()
    checked: tuple[int, ...] = ()


Step = Line | Kernel


@dataclass(frozen=True)
class Code:
    """The function that runs, and the source that is shown."""

    source: str
    run: Any
    kernels: tuple[Kernel, ...] = ()
    skipped: tuple[str, ...] = ()  # runs of lines that a back end could not compile, and why
    unrolled: tuple[str, ...] = ()  # loops over arrays that run line by line, and why
    silent: bool = False  # whether no line runs with NumPy, which may warn


def check(value: Any, shape: tuple[int, ...]) -> None:
    """Raise `ShapeChanged` if a value does not have the shape that it had in the trace."""
    if value.shape != shape:
        raise ShapeChanged


def generate(program: Program, steps: list[Step], names: dict[int, str], traced: Program | None = None) -> Code:
    """Write and load the module of a program; `traced` is the program whose ops are counted."""
    bound: dict[str, Any] = {"np": np, "check": check}
    constants = [line for i in program.constants for line in _constant(program, i, names, bound)]
    about = _about(traced or program)
    text = [*constants, "", *_function(program, steps, names, bound, about)]
    kernels = tuple({k.title: k for k in steps if isinstance(k, Kernel)}.values())
    silent = all(isinstance(step, Kernel) for step in steps)
    source, runs = _shown(text, kernels), text
    if sum(len(step.outs) for step in steps) > MOST:
        places, start = registers(program, steps, names, {*bound, *(names[i] for i in program.inputs)})
        runs = _function(program, steps, places, bound, about, start)
    return Code(source, _load("\n".join(runs), bound), kernels, silent=silent)


def _function(
    program: Program,
    steps: list[Step],
    names: dict[int, str],
    bound: dict[str, Any],
    about: str,
    start: Sequence[str] = (),
) -> list[str]:
    """Write the function, whose first statements are those of `start`."""
    body = list(start)
    backward: bool | None = None
    ends = last_uses(program, steps)
    for n, step in enumerate(steps):
        is_backward = step.backward if isinstance(step, Kernel) else step.cause is not None
        if is_backward != backward:
            backward = is_backward
            body.append(f"# {'backward' if backward else 'forward'}")
        body += _kernel_step(step, names, bound) if isinstance(step, Kernel) else _line(step, program, names, bound)
        if n in ends:
            body.append(f"{' = '.join(names[i] for i in ends[n])} = None" if start else _deleted(ends[n], names))
    arguments = ", ".join(names[i] for i in program.inputs)
    results = "".join(f"{names[i]}, " for i in program.outputs).strip()
    head = [f"def program({arguments}):", f'    """{about}"""']
    return [*head, *(f"    {line}" for line in body), f"    return ({results})"]


def _deleted(values: list[int], names: dict[int, str]) -> str:
    return f"del {', '.join(names[i] for i in values)}"


def last_uses(program: Program, steps: list[Step]) -> dict[int, list[int]]:
    """Return by step the large values that nothing uses after it: later arrays take their memory."""
    last: dict[int, int] = {}
    for n, step in enumerate(steps):
        last.update(dict.fromkeys([*step.ins, *step.outs], n))
    kept = {*program.inputs, *program.outputs, *program.constants}
    ends: dict[int, list[int]] = {}
    for i, n in last.items():
        value = program.values[i]
        if i not in kept and math.prod(value.shape) * value.dtype.itemsize >= LARGE:
            ends.setdefault(n, []).append(i)
    return ends


def _about(program: Program) -> str:
    count = sum(line.cause is None for line in program.lines)
    back = len(program.lines) - count
    return f"{count} op{'' if count == 1 else 's'} forward" + (f", {back} backward." if back else ".")


def _constant(program: Program, i: int, names: dict[int, str], bound: dict[str, Any]) -> list[str]:
    array = program.constants[i]
    bound[names[i]] = array
    return [f"# {names[i]} = {program.values[i].kind} {shown(array)}"]


def _line(line: Line, program: Program, names: dict[int, str], bound: dict[str, Any]) -> list[str]:
    outs = ", ".join(names[i] for i in line.outs)
    text = f"{outs} = {call(line, names, bound, program)}"
    made = [f"{text.ljust(44)}  # {comment(line, program, names)}"]
    if not has_static_shape(line):
        made += [f"check({names[i]}, {program.values[i].shape})" for i in line.outs]
    return made


def _kernel_step(kernel: Kernel, names: dict[int, str], bound: dict[str, Any]) -> list[str]:
    bound[kernel.title] = kernel.function
    text = assigned([names[i] for i in kernel.outs], f"{kernel.title}({', '.join(names[i] for i in kernel.ins)})")
    return [f"{text.ljust(44)}  # {kernel.note}"]


def assigned(names: list[str], call: str) -> str:
    """Return the text of a call whose results get names; one that only checks something has none."""
    return f"{', '.join(names)}, = {call}" if names else call


def _shown(text: list[str], kernels: tuple[Kernel, ...]) -> str:
    parts = ["import numpy as np", *(k.source for k in kernels), "\n".join(text).strip()]
    return "\n\n".join(parts) + "\n"


def _load(text: str, bound: dict[str, Any]) -> Any:
    """Execute the source with its kernels, under a module name of this package, for which warnings are silenced."""
    scope = {**bound, "__name__": "autodiff_lab.compile.generated"}
    exec(compile(text, "<autodiff_lab program>", "exec"), scope)
    return scope["program"]
