"""Draw a random program from a seed: statements one after the other, each over inputs and earlier results."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tests.peers.programs.values import KINDS, SHAPES, Call, Ref, kind_of, numbers

MOST_ELEMENTS = 24


class Unfit(Exception):
    """The statement cannot be drawn over these values."""


@dataclass
class Pool:
    """The values of a program so far: inputs and results, as arrays."""

    choice: random.Random
    arrays: list[np.ndarray | None] = field(default_factory=list[Any])
    inputs: dict[int, np.ndarray] = field(default_factory=dict[int, np.ndarray])

    def __getitem__(self, ref: Ref) -> np.ndarray:
        found = self.arrays[ref.at]
        if found is None:
            raise Unfit
        return found

    def new(self, dtype: str, shape: tuple[int, ...], manner: str = "any") -> Ref:
        """Return a new input."""
        self.inputs[len(self.arrays)] = array = numbers(self.choice, dtype, tuple(shape), manner)
        self.arrays.append(array)
        return Ref(len(self.arrays) - 1)

    def dtype(self, kinds: str) -> str:
        """Return the name of a dtype of one of these kinds."""
        return self.choice.choice(KINDS[self.choice.choice(kinds)])

    def shape(self, least: int = 0, most: int = 4) -> tuple[int, ...]:
        """Return a shape of a rank between the two."""
        return self.choice.choice([shape for shape in SHAPES if least <= len(shape) <= most])

    def take(self, kinds: str, least: int = 0, most: int = 4, manner: str = "any") -> Ref:
        """Return a value of one of these kinds and of a rank between the two: an old one, or a new input."""
        if manner == "any" and self.choice.random() < 0.6:
            names = {name for kind in kinds for name in KINDS[kind]}
            fit = [
                Ref(at)
                for at, array in enumerate(self.arrays)
                if array is not None and array.dtype.name in names and least <= array.ndim <= most
                and array.size <= MOST_ELEMENTS
            ]  # fmt: skip
            if fit:
                return self.choice.choice(fit)
        return self.new(self.dtype(kinds), self.shape(least, most), manner)

    def beside(self, ref: Ref, manner: str = "any") -> Ref:
        """Return a value of the same dtype whose shape broadcasts with that of another."""
        array = self[ref]
        if manner == "any" and self.choice.random() < 0.3:
            fit = [Ref(at) for at, other in enumerate(self.arrays) if at != ref.at and _meets(other, array)]
            if fit:
                return self.choice.choice(fit)
        return self.new(array.dtype.name, self.related(array.shape), manner)

    def related(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Return a shape that broadcasts with this one."""
        way = self.choice.random()
        if way < 0.5:
            return shape
        made = [1 if self.choice.random() < 0.3 else length for length in shape]
        made = made[self.choice.randrange(len(made) + 1) :]
        return (2, *made) if way > 0.9 and len(made) == len(shape) and len(shape) < 3 else tuple(made)

    def axis(self, ref: Ref) -> int:
        """Return an axis, negative at times."""
        rank = self[ref].ndim
        if not rank:
            raise Unfit
        return self.choice.randrange(-rank, rank)

    def chance(self, share: float) -> bool:
        """Return True this often."""
        return self.choice.random() < share


def _meets(other: np.ndarray | None, array: np.ndarray) -> bool:
    if other is None or other.dtype != array.dtype:
        return False
    try:
        return int(np.prod(np.broadcast_shapes(other.shape, array.shape))) <= MOST_ELEMENTS
    except ValueError:
        return False


@dataclass
class Program:
    """A program: its inputs by number, and its statements, each with the number of its first result."""

    seed: int
    inputs: dict[int, np.ndarray]
    calls: list[tuple[int, Call]]


def program(seed: int, table: list[Any], run: Callable[[Call, Pool], list[np.ndarray] | None]) -> Program:
    """Return the program of a seed.

    Parameters
    ----------
    seed : int
        The same seed gives the same program, as long as the table and the peer are the same.
    table : list of callables
        Each draws a statement over a pool, or raises `Unfit`.
    run : callable
        Runs a statement with the peer; its results, or None where the peer refuses it.
    """
    choice = random.Random(seed)
    pool = Pool(choice)
    calls: list[tuple[int, Call]] = []
    for _ in range(choice.randrange(1, 6)):
        for _ in range(20):
            kept, had = dict(pool.inputs), len(pool.arrays)
            try:
                call = choice.choice(table)(pool)
            except Unfit:
                pool.inputs, pool.arrays[had:] = kept, []
                continue
            calls.append((len(pool.arrays), call))
            results = run(call, pool)
            shown = results or [None]
            pool.arrays.append(shown[0] if shown[0] is not None and kind_of(shown[0].dtype) != "?" else None)
            break
    return Program(seed, pool.inputs, calls)
