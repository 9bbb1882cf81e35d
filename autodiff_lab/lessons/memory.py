"""What lesson 14b counts: the values that a tape keeps while a chain of ops runs forward and backward."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import autodiff_lab as lab
from autodiff_lab.draw.charts import Steps, steps
from autodiff_lab.lessons.pictures import Picture

Op = Callable[[Any], Any]
Chain = Callable[[Op, Any], Any]

OPS = 16
"""How many ops the chains of lesson 14b have."""


@dataclass(frozen=True)
class Kept:
    """The outcome of a chain of ops: what was kept, how many ops ran again, and the gradient.

    Attributes
    ----------
    line : Steps
        Values kept after each step.
    forward, again : int
        Ops that ran before the backward pass began, and ops that ran once more.
    gradient : numpy.ndarray
        Of the sum of the result, with respect to the input of the chain.
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
    """Run a chain of ops forward and backward, and count how many of its results are alive.

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
