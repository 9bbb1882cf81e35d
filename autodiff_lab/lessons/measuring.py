"""What lesson 14a measures: the time of a call, and the bytes that pass between memory and processor.

Times differ from machine to machine and from run to run, so they are in the picture and never in its account.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from autodiff_lab.draw.charts import bars
from autodiff_lab.lessons.pictures import Picture
from autodiff_lab.recording.numbers import short

_LONGEST = 0.1
"""Seconds that are spent on one measurement."""


def seconds(call: Callable[[], Any]) -> float:
    """Return the time of one call in seconds: the shortest of many, as longer ones include other work.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> lessons.seconds(lambda: None) < 1.0
    True
    """
    best, spent = float("inf"), 0.0
    while spent < _LONGEST:
        begin = time.perf_counter()
        call()
        took = time.perf_counter() - begin
        best, spent = min(best, took), spent + took + 1e-5
    return best


def once(call: Callable[[], Any]) -> float:
    """Return the time of a single call in seconds.

    >>> once(lambda: None) < 1.0
    True
    """
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


def times(title: str, measured: Mapping[str, float]) -> Picture:
    """Draw times as bars.

    Parameters
    ----------
    title : str
        What is compared.
    measured : mapping of str to float
        Seconds.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> lessons.times("One call", {"eager": 0.008, "compiled": 0.002})
    One call: eager, compiled. The picture has the times of this machine.
    """
    told = {name: _duration(value) for name, value in measured.items()}
    account = f"{title}: {', '.join(measured)}. The picture has the times of this machine."
    return Picture(account, bars(title, measured, told))


def _duration(value: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if value >= size:
            return f"{short(value / size, 3)} {unit}"
    return f"{short(value / 1e-9, 3)} ns"


class Traffic(Picture):
    """What a program moves between memory and processor; made by `traffic`.

    Attributes
    ----------
    op_by_op, in_one_loop : int
        Bytes.
    in_pieces : int
        Bytes op by op, on one piece of the arrays after the other, with a cache; 0 if that was not asked for.
    """

    def __init__(self, op_by_op: int, in_one_loop: int, in_pieces: int = 0) -> None:
        told = {"op by op": op_by_op, "op by op, in pieces": in_pieces, "in one loop": in_one_loop}
        told = {name: count for name, count in told.items() if count or name != "op by op, in pieces"}
        words = {name: f"{short(count / 1e6)} MB" for name, count in told.items()}
        account = "Moved between memory and processor: " + ", ".join(f"{name} {text}" for name, text in words.items())
        super().__init__(account, bars("Moved between memory and processor", told, words))
        object.__setattr__(self, "op_by_op", op_by_op)
        object.__setattr__(self, "in_one_loop", in_one_loop)
        object.__setattr__(self, "in_pieces", in_pieces)


def traffic(function: Any, pieces: int = 0, cache: int = 1_000_000) -> Traffic:
    """Count the bytes that a compiled function moves if its ops run one by one, and if they all run in one loop.

    Op by op each op reads its inputs and writes its result.  In one loop only what comes into the program is read, and
    only what leaves it is written.

    Parameters
    ----------
    function : Function
        One that has been called.
    pieces : int, optional
        Also count for an elementwise function that runs op by op on this many equal pieces of its arrays, one after
        the other.  What was used last is then in a simulated cache, and not read from memory again.
    cache : int, optional
        The size of that cache in bytes.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> from autodiff_lab import lessons
    >>> f = lab.function(lambda x: lab.sin(x) + 1.0)
    >>> _ = f(lab.ones([1_000_000]))
    >>> lessons.traffic(f)
    Moved between memory and processor: op by op 16 MB, in one loop 8 MB
    >>> lessons.traffic(f, pieces=100)
    Moved between memory and processor: op by op 16 MB, op by op, in pieces 8 MB, in one loop 8 MB
    >>> lessons.traffic(f, pieces=2).in_pieces
    16000000
    """
    program = function.program

    def size(values: Any) -> int:
        known = [program.values[i] for i in set(values)]
        return sum(int(np.prod(value.shape)) * value.dtype.itemsize for value in known if value.shape)

    each = sum(size(line.ins) + size(line.outs) for line in program.lines)
    cached = _through_a_cache(program, lambda value: size([value]), cache * pieces) if pieces else 0
    return Traffic(each, size(program.inputs) + size(program.outputs), cached)


def _through_a_cache(program: Any, size: Callable[[int], int], room: int) -> int:
    """Return the bytes that are read and written if what was used last stays in a cache as long as there is room.

    A value that is not used again is dropped without being written.  All pieces do the same, so whole values pass
    through the caches of all pieces together.
    """
    last = {value: n for n, line in enumerate(program.lines) for value in line.ins}
    last |= dict.fromkeys(program.outputs, len(program.lines))
    held: dict[int, bool] = {}  # the value that was used last comes last; whether memory has it
    moved = 0
    for n, line in enumerate(program.lines):
        for value in dict.fromkeys(line.ins):
            moved += 0 if value in held else size(value)
            held[value] = held.pop(value, True)
        held |= dict.fromkeys(line.outs, False)
        held = {value: saved for value, saved in held.items() if last.get(value, -1) > n}
        while sum(map(size, held)) > room:
            value = next(iter(held))
            moved += 0 if held.pop(value) else size(value)
    return moved + sum(size(value) for value, saved in held.items() if not saved)
