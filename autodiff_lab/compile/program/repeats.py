"""Repeats: the loops in a whole program, where an index may grow from iteration to iteration."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from autodiff_lab.compile.program.expressions import expression
from autodiff_lab.compile.program.program import Line, Program
from autodiff_lab.compile.program.reroll import FEWEST_ROUNDS, Loop, find_loops
from autodiff_lab.compile.program.rewriting import hashable
from autodiff_lab.kernels.base.compiler import breathe
from autodiff_lab.repeats import repeats

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


def kept_apart(program: Program) -> list[tuple[int, str]]:
    """Return the loops that ops of several results keep from being found: the turns, and the name of such an op.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> @lab.function
    ... def run(x):
    ...     for _ in range(6):
    ...         values, vectors = lab.linalg.eigh(x)
    ...         x = x + vectors * lab.sin(values)
    ...     return x
    >>> _ = run(lab.linalg.diag([1.0, 2.0, 3.0]))
    >>> kept_apart(run.program)
    [(6, 'eigh')]
    """
    often = Counter(line.op.name for line in program.lines if len(line.outs) != 1)
    if max(often.values(), default=0) < FEWEST_ROUNDS:
        return []
    kinds = [(_kind(line, program)[0], len(line.ins)) for line in program.lines]
    found: list[tuple[int, str]] = []
    for start, end, period in repeats(kinds, FEWEST_ROUNDS, between=breathe):
        names = dict.fromkeys(line.op.name for line in program.lines[start : start + period] if len(line.outs) != 1)
        found += [((end - start) // period, name) for name in names]
    return found


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
