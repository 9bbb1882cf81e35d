"""Printed programs: a Program as text, one line for each op, with loops where lines repeat."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

from autodiff_lab.compile.program.program import Line, Program, brief, shown
from autodiff_lab.compile.program.repeats import loops_of
from autodiff_lab.compile.scalars.rolled import NotRolled, Roll, Writer

FEWEST_ROLLED = 60
"""Lines from which on loops are searched for."""


def text_of(program: Program) -> str:
    """Return the text of a program; repetitions in a long one are printed as loops.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> @lab.function
    ... def grow(x, rate):
    ...     for _ in range(50):
    ...         x = lab.sin(x) * rate + x
    ...     return x
    >>> _ = grow(lab.constant(1.0), lab.constant(0.5))
    >>> print(grow.program)
    %0: f32[] = argument x
    %1: f32[] = argument rate
    %4 = %0
    for i in range(50):
        %2: f32[] = sin(%4)
        %3: f32[] = multiply(%2, %1)
        %4: f32[] = add(%3, %4)
    return %4
    """
    roll = _rolled(program)
    number = _numbers(program, roll)
    values = program.values
    text = [f"{number[i]}: {values[i].kind} = argument {values[i].name}" for i in program.arguments]
    text += [f"{number[i]}: {values[i].kind} = variable {values[i].name}" for i in program.reads]
    text += [
        f"{number[i]}: {values[i].kind} = constant {shown(a)}" for i, a in program.constants.items() if i in number
    ]
    if roll is None:
        text += _flat(program, number)
        results = [number[i] for i in program.outputs]
    else:
        writer = _Printer(roll, number, program)
        text += [row for row in writer.body() if " = empty(" not in row]
        results = writer.results()
    last = len(program.results)
    text += [f"assign {name} = {value}" for name, value in zip(program.targets, results[last:], strict=True)]
    return "\n".join([*text, f"return {', '.join(results[:last])}".rstrip()])


def numbers_of(program: Program) -> dict[int, str]:
    """Return the number of each value in the printed program (``%4``); iterations of a loop share theirs."""
    return _numbers(program, _rolled(program))


def _rolled(program: Program) -> Roll | None:
    """Return the program with its loops, None if it is short or has too few."""
    lines = list(program.lines)
    if len(lines) < FEWEST_ROLLED or any(len(line.outs) != 1 for line in lines):
        return None
    try:
        roll = Roll(lines, list(program.outputs), loops_of(program))
    except NotRolled:
        return None
    return roll if 2 * roll.statements < len(lines) else None


def _numbers(program: Program, roll: Roll | None) -> dict[int, str]:
    """Return numbers for all values that are shown, in order."""
    tabled = {i for values in roll.tables for i in values} if roll is not None else set[int]()
    order = [*program.inputs, *(i for i in program.constants if i not in tabled)]
    free = count()
    number = {i: f"%{next(free)}" for i in dict.fromkeys(order)}
    for part in [list(program.lines)] if roll is None else roll.parts():
        if isinstance(part, list):
            number.update({i: f"%{next(free)}" for line in part for i in line.outs})
        elif roll is not None:
            names = [f"%{next(free)}" for _ in range(part.period)]
            lines = roll.lines[part.start : part.end]
            number.update({line.outs[0]: names[k % part.period] for k, line in enumerate(lines)})
    return number


def _flat(program: Program, number: dict[int, str]) -> Iterator[str]:
    backward = False
    for line in program.lines:
        if backward != (line.cause is not None):
            backward = not backward
            yield "backward:" if backward else "forward:"
        head = ", ".join(f"{number[i]}: {program.values[i].kind}" for i in line.outs)
        yield f"{head} = {_call(line, [number[i] for i in line.ins])}"


def _call(line: Line, given: list[str]) -> str:
    params = [f"{key}={brief(value)}" for key, value in line.params.items()]
    return f"{line.op.name}({', '.join([*given, *params])})"


class _Printer(Writer):
    """Writes a program with numbered values and their kinds."""

    def __init__(self, roll: Roll, number: dict[int, str], program: Program) -> None:
        super().__init__(roll, number, _call, set(), lambda line: "")
        self._program = program

    def _statement(self, line: Line, given: list[str], indent: str) -> None:
        out = line.outs[0]
        self.text.append(f"{indent}{self.names[out]}: {self._program.values[out].kind} = {_call(line, given)}")

    def _mark(self, backward: bool) -> list[str]:
        return ["backward:"] if backward else ["forward:"] if self.text else []
