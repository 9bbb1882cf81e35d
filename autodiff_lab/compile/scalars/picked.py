"""Single numbers that are elements of arrays: read together, where one call for each would cost more than the work."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any

import numpy as np

from autodiff_lab.compile.program.looking import VIEWING, view_by
from autodiff_lab.compile.program.program import Program

FEWEST = 3
"""Elements of one array that are worth reading together."""
_MOST = 1 << 16
"""Elements of the largest array whose positions are listed to find one."""


def picked_together(
    ins: Sequence[int], function: Callable[..., Any], program: Program
) -> tuple[list[int], Callable[..., Any]]:
    """Return the inputs and the function of a kernel of single numbers, which takes arrays in place of their elements.

    Parameters
    ----------
    ins : sequence of int
        Single numbers.
    function : callable
        Takes them.
    program : Program
        Says of which arrays they are elements.
    """
    picks: dict[int, dict[int, int]] = {}
    for i in ins:
        found = _element(i, program)
        if found is not None:
            picks.setdefault(found[0], {})[i] = found[1]
    picks = {array: places for array, places in picks.items() if len(places) >= FEWEST}
    if not picks:
        return list(ins), function
    together = dict.fromkeys([i for places in picks.values() for i in places])
    others = [i for i in ins if i not in together]
    numbers = {i: n for n, i in enumerate([*together, *others])}
    arrange = itemgetter(*[numbers[i] for i in ins])
    positions, count = [np.array([*places.values()]) for places in picks.values()], len(picks)

    def run(*given: Any) -> Any:
        values: list[Any] = []
        for array, places in zip(given[:count], positions, strict=True):
            values += array.take(places).tolist()
        return function(*arrange(values + list(given[count:])))

    return [*picks, *others], run


def _element(value: int, program: Program) -> tuple[int, int] | None:
    """Return of which array a number is an element, and at which position, in the order of its elements."""
    lines = []
    while (line := program.made_by.get(value)) is not None and line.op.name in VIEWING:
        lines.append(line)
        value = line.ins[0]
    shape, dtype, *_ = program.values[value]
    if not lines or not len(shape) > 0 or np.prod(shape) > _MOST or dtype.kind != "f" or dtype.itemsize < 4:
        return None
    positions: Any = np.arange(np.prod(shape)).reshape(shape)
    for line in reversed(lines):
        positions = view_by(line.op)(positions, **line.params)
    return value, int(positions)
