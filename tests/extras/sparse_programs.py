"""Random programs over sparse tensors: an op with its arguments, and NumPy's result for the dense arrays."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

SHAPES = [(3,), (2, 3), (3, 2), (2, 2, 3), (4, 1), (1, 3), (0, 3)]
DTYPES = ("float32", "float64", "int32", "int64", "complex64", "complex128")


@dataclass
class Program:
    """Values at some coordinates, what is done to them, and the whole array that is expected."""

    name: str
    indices: np.ndarray[Any, Any]
    values: np.ndarray[Any, Any]
    shape: tuple[int, ...]
    run: Callable[[Any, Any], Any]
    expected: np.ndarray[Any, Any]

    def tensor(self, lib: Any, values: Any = None) -> Any:
        """The sparse tensor, of a library, perhaps with other values."""
        given = lib.constant(self.values) if values is None else values
        return lib.SparseTensor(self.indices, given, self.shape)


@dataclass
class Draw:
    """Random values at random coordinates in row-major order, and the whole array."""

    rng: random.Random
    dtype: str
    shape: tuple[int, ...]

    def numbers(self, count: int) -> np.ndarray[Any, Any]:
        """Numbers other than 0."""
        found = [self.rng.choice([-3, -2, -1, 1, 2, 4]) for _ in range(count)]
        turned = np.array([1j**k for k in range(count)]) if self.dtype.startswith("c") else np.ones(count)
        return (np.array(found) * turned).astype(self.dtype)

    def sparse(self) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        """Coordinates, values and the whole."""
        size = int(np.prod(self.shape))
        places = np.sort(self.rng.sample(range(size), self.rng.randint(0, min(size, 5)))).astype(np.int64)
        values, whole = self.numbers(len(places)), np.zeros(size, self.dtype)
        whole[places] = values
        indices = np.stack(np.unravel_index(places, self.shape), axis=1).astype(np.int64)
        return indices, values, whole.reshape(self.shape)


def reductions(d: Draw, whole: Any) -> Any:
    rank = whole.ndim
    axis = d.rng.choice([None, *range(-rank, rank), list(range(rank))])
    keep, sparse = d.rng.random() < 0.5, d.rng.random() < 0.3
    return (f"reduce_sum {axis} {keep} {sparse}",
            lambda lib, x: lib.sparse.reduce_sum(x, axis, keep, output_is_sparse=sparse),
            whole.sum(axis=tuple(axis) if isinstance(axis, list) else axis, keepdims=keep))  # fmt: skip


def moves(d: Draw, whole: Any) -> Any:
    rank = whole.ndim
    axis, perm = d.rng.randrange(rank), d.rng.sample(range(rank), rank)
    start, size = [d.rng.randint(0, 1) for _ in range(rank)], [d.rng.randint(1, 3) for _ in range(rank)]
    cut = tuple(slice(a, a + n) for a, n in zip(start, size, strict=True))
    return d.rng.choice([
        ("transpose", lambda lib, x: lib.sparse.transpose(x, perm), whole.transpose(perm)),
        ("reshape", lambda lib, x: lib.sparse.reshape(x, [whole.size, 1]), whole.reshape(-1, 1)),
        ("expand_dims", lambda lib, x: lib.sparse.expand_dims(x, axis), np.expand_dims(whole, axis)),
        ("concat", lambda lib, x: lib.sparse.concat(axis, [x, x]), np.concatenate([whole, whole], axis)),
        ("slice", lambda lib, x: lib.sparse.slice(x, start, size), whole[cut]),
        ("reorder", lambda lib, x: lib.sparse.reorder(x), whole),
    ])  # fmt: skip


def arithmetic(d: Draw, whole: Any) -> Any:
    indices, values, other = d.sparse()
    dense = d.numbers(other.size).reshape(other.shape)

    def second(lib: Any) -> Any:
        return lib.SparseTensor(indices, lib.constant(values), d.shape)

    found = [
        ("add", lambda lib, x: lib.sparse.add(x, second(lib)), whole + other),
        ("add dense", lambda lib, x: lib.sparse.add(x, lib.constant(dense)), whole + dense),
        ("to_dense", lambda lib, x: lib.sparse.to_dense(x), whole),
        ("map_values", lambda lib, x: lib.sparse.map_values(lib.multiply, x, x), whole * whole),
    ]
    if not d.dtype.startswith("c"):
        found += [
            ("maximum", lambda lib, x: lib.sparse.maximum(x, second(lib)), np.maximum(whole, other)),
            ("minimum", lambda lib, x: lib.sparse.minimum(x, second(lib)), np.minimum(whole, other)),
            ("multiply", lambda lib, x: x * lib.constant(dense), whole * dense),
            (
                "to_dense default",
                lambda lib, x: lib.sparse.to_dense(x, default_value=7),
                np.where(whole == 0, 7, whole),
            ),
        ]
    return d.rng.choice(found)


def products(d: Draw, whole: Any) -> Any:
    if whole.ndim != 2 or d.dtype.startswith("i"):
        return reductions(d, whole)
    a, b, first = (d.rng.random() < 0.5 for _ in range(3))
    left = whole.conj().T if a else whole
    dense = d.numbers(2 * left.shape[1]).reshape(left.shape[1], 2)
    given = np.ascontiguousarray(dense.conj().T) if b else dense
    if first:
        return (f"product {a} {b}", lambda lib, x: lib.sparse.sparse_dense_matmul(x, lib.constant(given), a, b),
                left @ dense)  # fmt: skip
    flipped = np.ascontiguousarray(dense.T) if not b else np.ascontiguousarray(dense.conj())
    return (f"product of dense {b} {a}",
            lambda lib, x: lib.sparse.sparse_dense_matmul(lib.constant(flipped), x, b, not a),
            dense.T @ (whole if not a else whole.conj().T).conj().T)  # fmt: skip


FAMILIES = (reductions, moves, arithmetic, arithmetic, products, products)


def program(seed: int) -> Program:
    """The program of a seed."""
    rng = random.Random(seed)
    d = Draw(rng, rng.choice(DTYPES), rng.choice(SHAPES))
    indices, values, whole = d.sparse()
    name, run, expected = rng.choice(FAMILIES)(d, whole)
    return Program(name, indices, values, d.shape, run, np.asarray(expected))
