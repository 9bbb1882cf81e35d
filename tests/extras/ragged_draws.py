"""The building blocks of random programs over ragged tensors: rows, and expected results from plain lists.

A program is written for any library with TensorFlow's names, so that the same one runs here and in TensorFlow.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

Nested = Any
UNKNOWN = object()


def tensor_of(lib: Any, rows: Nested, dtype: str, ragged_rank: int, inner: tuple[int, ...]) -> Any:
    """Nested lists as a ragged tensor of a library; the shape of what rows hold is known where there are none."""
    lengths, flat = [], rows
    for _ in range(ragged_rank):
        lengths.append([len(row) for row in flat])
        flat = [item for row in flat for item in row]
    values = lib.reshape(lib.constant(flat, getattr(lib, dtype)), (len(flat), *inner))
    return lib.RaggedTensor.from_nested_row_lengths(values, [lib.constant(n, lib.int64) for n in lengths])


@dataclass
class Program:
    """Rows, what is done to them, and what is expected; `UNKNOWN` where only TensorFlow can say."""

    name: str
    rows: Nested
    ragged_rank: int
    inner: tuple[int, ...]
    dtype: str
    run: Callable[[Any, Any], Any]
    expected: Any = UNKNOWN

    def source(self, lib: Any) -> Any:
        """The rows as a ragged tensor of a library."""
        return tensor_of(lib, self.rows, self.dtype, self.ragged_rank, self.inner)


def number(rng: random.Random, dtype: str) -> Any:
    """A number that every library computes with exactly, or nearly so."""
    if dtype == "bool":
        return rng.random() < 0.5
    if dtype == "string":
        return rng.choice([b"a", b"b", b"cd", b""])
    value = rng.randint(-4, 4)
    return value if dtype.startswith("int") else value / 2 + rng.choice([0.0, 0.125])


def make(rng: random.Random, shape: list[int | None], dtype: str, low: int = 0) -> Nested:
    """Rows of a shape in which None is a length of its own for each row."""
    if not shape:
        return number(rng, dtype)
    length = rng.randint(low, 3) if shape[0] is None else shape[0]
    return [make(rng, shape[1:], dtype, low) for _ in range(length)]


def each(function: Callable[..., Any], depth: int, *rows: Nested) -> Nested:
    """A function applied to the numbers at a depth."""
    if depth == 0:
        return function(*rows)
    return [each(function, depth - 1, *parts) for parts in zip(*rows, strict=True)]


def leaves(rows: Nested, depth: int) -> list[Any]:
    """All numbers, in order."""
    return [rows] if depth == 0 else [leaf for row in rows for leaf in leaves(row, depth - 1)]


def reduced(rows: Nested, depth: int, axes: set[int], finish: Callable[[list[Any]], Any], keep: bool) -> Nested:
    """A reduction, by sorting numbers into the cells of the result."""
    return _reduced([rows], depth, axes, 0, finish, keep)


def _reduced(stack: list[Nested], depth: int, axes: set[int], axis: int, finish: Any, keep: bool) -> Nested:
    """What becomes of nested lists that lie on each other."""
    if axis == depth:
        return finish(stack)
    if axis in axes:
        inside = _reduced([item for rows in stack for item in rows], depth, axes, axis + 1, finish, keep)
        return [inside] if keep else inside
    columns = [[item for item in column if item is not UNKNOWN] for column in zip_longest(*stack, fillvalue=UNKNOWN)]
    return [_reduced(column, depth, axes, axis + 1, finish, keep) for column in columns]


FINISH: dict[str, Callable[[list[Any]], Any]] = {
    "reduce_sum": sum,
    "reduce_prod": lambda v: 1 if not v else v[0] * FINISH["reduce_prod"](v[1:]),
    "reduce_mean": lambda v: sum(v) / len(v) if v else float("nan"),
    "reduce_max": lambda v: max(v) if v else UNKNOWN,
    "reduce_min": lambda v: min(v) if v else UNKNOWN,
    "reduce_any": any,
    "reduce_all": all,
    "reduce_variance": lambda v: sum((x - sum(v) / len(v)) ** 2 for x in v) / len(v) if v else float("nan"),
}


@dataclass
class Draw:
    """Random rows and the choices that a program makes about them."""

    rng: random.Random
    dtype: str
    shape: list[int | None]
    ragged_rank: int
    rows: Nested

    @property
    def inner(self) -> tuple[int, ...]:
        """The shape of what the innermost rows hold."""
        return tuple(n for n in self.shape[self.ragged_rank + 1 :] if n is not None)

    def tensor(self, lib: Any, rows: Nested, dtype: str | None = None) -> Any:
        """Other rows of this shape as a ragged tensor."""
        return tensor_of(lib, rows, dtype or self.dtype, self.ragged_rank, self.inner)

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    def axis(self, low: int = 0) -> int:
        """An axis, sometimes counted from the end."""
        found = self.rng.randint(low, self.ndim - 1)
        return found if self.rng.random() < 0.7 else found - self.ndim

    def program(self, name: str, run: Callable[[Any, Any], Any], expected: Any = UNKNOWN) -> Program:
        """A program on these rows."""
        return Program(name, self.rows, self.ragged_rank, self.inner, self.dtype, run, expected)

    def again(self, dtype: str | None = None) -> Nested:
        """Other numbers in the same rows."""
        return each(lambda _: number(self.rng, dtype or self.dtype), self.ndim, self.rows)


SHAPES: list[tuple[list[int | None], int]] = [
    ([3, None], 1), ([2, None], 1), ([1, None], 1), ([3, None, 2], 1), ([2, None, None], 2), ([3, None, None], 2),
    ([2, None, None, 2], 2), ([2, None, None, None], 3), ([4, None], 1),
]  # fmt: skip


def drawn(rng: random.Random, dtypes: tuple[str, ...] = ("float32", "float64", "int32", "int64")) -> Draw:
    shape, ragged_rank = rng.choice(SHAPES)
    dtype = rng.choice(dtypes)
    return Draw(rng, dtype, shape, ragged_rank, make(rng, shape, dtype))


def leaves_to(rows: Nested, levels: int) -> Nested:
    """Nested lists with some levels made one."""
    return rows if levels == 0 else [leaf for row in rows for leaf in leaves_to(row, levels - 1)]
