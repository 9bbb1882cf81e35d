"""Repeats: the loops in a whole program, where an index may grow from iteration to iteration."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from autodiff_lab.compile.program.expressions import expression
from autodiff_lab.compile.program.program import Line, Program
from autodiff_lab.compile.program.reroll import Loop, find_loops
from autodiff_lab.compile.program.rewriting import hashable
from autodiff_lab.kernels.base.compiler import breathe

INDEXED = frozenset({"slice", "slice_axis", "take", "unslice", "pad_axis"})
"""Ops whose parameters name a place in an array, which may move by the same step in each turn."""


def loops_of(program: Program) -> list[Loop]:
    """Return the loops that a trace unrolled, by the lines of the program.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> @lab.function
    ... def run(x, w):
    ...     h = x[0]
    ...     for t in range(1, 9):
    ...         h = lab.tanh(h @ w) + x[t]
    ...     return h
    >>> _ = run(lab.ones((9, 2, 3)), lab.ones((3, 3)))
    >>> [(loop.period, loop.rounds) for loop in loops_of(run.program)]
    [(4, 8)]
    """
    found = [_kind(line, program) for line in program.lines]
    return find_loops(program.lines, [kind for kind, _ in found], [numbers for _, numbers in found])


def _kind(line: Line, program: Program) -> tuple[Any, tuple[int, ...]]:
    """Return what of a line must be the same in all turns, and the numbers that may grow."""
    breathe()
    known = [program.values[i][:2] for i in (*line.ins, *line.outs)]
    if line.op.name in INDEXED:
        numbers = tuple(_numbers(tuple(line.params.values())))
        params: Any = _without_numbers(tuple(line.params.items()))
    else:
        numbers, params = (), tuple((key, hashable(value)) for key, value in line.params.items())
    text = expression(line, program) if line.op.expression else ""
    return (id(line.op), params, text, line.cause is None, *known), numbers


def _numbers(value: Any) -> Iterator[int]:
    if value.__class__ is tuple:
        for item in value:
            yield from _numbers(item)
    elif value.__class__ is int:
        yield value


def _without_numbers(value: Any) -> Any:
    if value.__class__ is tuple:
        return tuple([_without_numbers(item) for item in value])
    return int if value.__class__ is int else value


class _Moving:
    """A number in the parameters of a line, written in terms of the turn."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


def in_terms_of_the_turn(line: Line, numbers: tuple[tuple[int, int], ...], write: Any) -> Line:
    """Return the line with each number that grows replaced by the text ``write(first, step)``."""
    if not any(step for _, step in numbers):
        return line
    each = iter(numbers)

    def moving(value: Any) -> Any:
        if value.__class__ is tuple:
            return tuple([moving(item) for item in value])
        if value.__class__ is not int:
            return value
        first, step = next(each)
        return _Moving(write(first, step)) if step else value

    return line._replace(params={key: moving(value) for key, value in line.params.items()})
