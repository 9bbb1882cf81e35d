"""What lesson 14 measures: time for a call, bytes that go through the memory, values that a tape keeps.

Times differ from machine to machine and from run to run, so they are in the picture and never in its account.
"""

from __future__ import annotations

import time
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

import autodiff_lab as lab
from autodiff_lab.draw.charts import Steps, bars, steps
from autodiff_lab.lessons.pictures import Picture
from autodiff_lab.recording.numbers import short

Op = Callable[[Any], Any]
Chain = Callable[[Op, Any], Any]

OPS = 16
"""How many ops the chains of lesson 14 have."""
_LONGEST = 0.1
"""Seconds that are spent on one measurement."""


def seconds(call: Callable[[], Any]) -> float:
    """Return the time of one call in seconds: the shortest of many, for everything else is somebody else's work.

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
    """Return the time of a single call in seconds, whatever it was.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> lessons.once(lambda: None) < 1.0
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
    """

    def __init__(self, op_by_op: int, in_one_loop: int) -> None:
        told = {"op by op": op_by_op, "in one loop": in_one_loop}
        words = {name: f"{short(count / 1e6)} MB" for name, count in told.items()}
        account = "Moved between memory and processor: " + ", ".join(f"{name} {text}" for name, text in words.items())
        super().__init__(account, bars("Moved between memory and processor", told, words))
        object.__setattr__(self, "op_by_op", op_by_op)
        object.__setattr__(self, "in_one_loop", in_one_loop)


def traffic(function: Any) -> Traffic:
    """Count the bytes that a compiled function moves if its ops run one by one, and if they all run in one loop.

    Op by op each op reads its inputs and writes its result.  In one loop only what comes into the program is read, and
    only what leaves it is written.

    Parameters
    ----------
    function : Function
        One that has been called.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> from autodiff_lab import lessons
    >>> f = lab.function(lambda x: lab.sin(x) + 1.0)
    >>> _ = f(lab.ones([1_000_000]))
    >>> lessons.traffic(f)
    Moved between memory and processor: op by op 16 MB, in one loop 8 MB
    """
    program = function.program

    def size(values: Any) -> int:
        known = [program.values[i] for i in set(values)]
        return sum(int(np.prod(value.shape)) * value.dtype.itemsize for value in known if value.shape)

    each = sum(size(line.ins) + size(line.outs) for line in program.lines)
    return Traffic(each, size(program.inputs) + size(program.outputs))


@dataclass(frozen=True)
class Kept:
    """How a chain of ops went: what was kept, how often ops ran again, and the gradient.

    Attributes
    ----------
    line : Steps
        Values kept after each step.
    forward : int
        Ops that ran before the backward pass began.
    again : int
        Ops that ran once more.
    gradient : numpy.ndarray
        Of the sum of the result, by the input of the chain.
    """

    line: Steps
    forward: int
    again: int
    gradient: np.ndarray

    @property
    def peak(self) -> int:
        """The largest number of values that were kept at any time."""
        return max(self.line.kept)


def run_chain(chain: Chain, name: str = "", size: int = 1000) -> Kept:
    """Run a chain of ops forward and backward, and count the results of its op that are alive.

    Parameters
    ----------
    chain : callable
        ``chain(op, x)``: applies `op`, a function of one tensor.
    name : str
        What it is called in pictures.
    size : int
        Elements of x.

    Examples
    --------
    >>> def all_kept(op, x):
    ...     for _ in range(16):
    ...         x = op(x)
    ...     return x
    >>> run_chain(all_kept).peak
    16
    """
    alive: set[int] = set()
    kept: list[int] = []
    ran = [0]

    @lab.custom_gradient
    def op(x: Any) -> Any:
        y = lab.tanh(x)
        array = y._array  # pyright: ignore[reportPrivateUsage]
        alive.add(id(array))
        weakref.finalize(array, alive.discard, id(array))
        ran[0] += 1
        kept.append(len(alive))

        def back(g: Any) -> Any:
            share = g * (1.0 - y * y)
            kept.append(len(alive))
            return share

        return y, back

    x = lab.constant(np.linspace(-1.0, 1.0, size), dtype=lab.float32)
    with lab.GradientTape() as tape:
        tape.watch(x)
        y = lab.reduce_sum(chain(op, x))
    turn, forward = len(kept), ran[0]
    gradient = tape.gradient(y, x)
    del y
    kept.append(len(alive))
    found = np.zeros(size) if gradient is None else gradient.numpy()
    return Kept(Steps(name, tuple(kept), turn), forward, ran[0] - forward, found)


def memory_line(**chains: Chain) -> Picture:
    """Draw what a tape keeps while chains of ops run forward and backward, a line for each.

    Parameters
    ----------
    **chains : callable
        ``chain(op, x)``, by name; underscores become spaces.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> def all_kept(op, x):
    ...     for _ in range(16):
    ...         x = op(x)
    ...     return x
    >>> lessons.memory_line(all_kept=all_kept)
    all kept: at most 16 values kept, 16 ops forward, 0 of them again
    """
    found = [run_chain(chain, name.replace("_", " ")) for name, chain in chains.items()]
    told = [
        f"{one.line.name}: at most {one.peak} values kept, {one.forward} ops forward, {one.again} of them again"
        for one in found
    ]
    return Picture("\n".join(told), steps("What the tape keeps", [one.line for one in found]))
