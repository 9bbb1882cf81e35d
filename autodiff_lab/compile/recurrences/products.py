"""Products in loops over arrays that tiles compute faster than BLAS: those of small matrices, as in sequences."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from autodiff_lab.compile.recurrences.body import VALUE
from autodiff_lab.compile.recurrences.statements import Product
from autodiff_lab.compile.recurrences.views import View
from autodiff_lab.compile.sequences.texts import LARGEST_RIGHT, MOST_WORK, product_text
from autodiff_lab.kernels.base.store import load

NARROWEST = 8
"""Columns of the narrowest result: narrower ones fill few lanes of a vector."""

WRITTEN_OUT, LONGEST = 64, 8
"""Multiplications of the largest product that is written out, for which a call would take longer; its longest side."""


class Tiled(NamedTuple):
    """The step of a product: its address, and its slots after those of the three matrices.

    If `copies`, the right operand, which no turn changes, is copied before the loop, so that its rows are contiguous.
    """

    address: int
    slots: tuple[int, ...]
    copies: bool


def tiled(piece: Product, kind: str) -> Tiled | None:
    """Return how tiles compute a product, None where BLAS does."""
    from autodiff_lab.kernels.convolution.numba_tiles import BYTES  # which asks LLVM about the processor

    (x, y), z = piece.ins, piece.target
    (m, k), n = x.shape[-2:], y.shape[-1]
    large = m * k * n > MOST_WORK[BYTES] or k * n * np.dtype(kind).itemsize > LARGEST_RIGHT
    if piece.onto is not None or z.shape[:-2] or large or n < NARROWEST:
        return None
    (x_down, flips_x), (y_down, flips_y) = along(x), along(y)
    if flips_y and not (isinstance(y.base, tuple) and y.base[0] == VALUE and not y.moves):
        return None
    step = load(product_text(kind, flips_x, m, n, column=False)).step
    return Tiled(step.address, (m, k, n, 1, x_down, n if flips_y else y_down, 0, 0), flips_y)


def along(matrix: View) -> tuple[int, bool]:
    """Return how far rows lie apart, or columns where those are contiguous, and whether they are."""
    (m, n), (a, b) = matrix.shape[-2:], matrix.strides[-2:]
    if (b == 1 or n == 1) and (a >= n or m == 1):
        return max(a if m > 1 else n, 1), False
    return max(b if n > 1 else m, 1), True


def is_small(m: int, k: int, n: int) -> bool:
    """Return whether a product of m x k and k x n matrices is written out in numbers."""
    return m * k * n <= WRITTEN_OUT and max(m, k, n) <= LONGEST


def written_out(piece: Product, element: Callable[..., str]) -> list[str]:
    """Write a product of small matrices in numbers; `element` says where one lies, without the last bracket."""
    (x, y), z = piece.ins, piece.target
    (m, k), n = x.shape[-2:], y.shape[-1]
    rows = [f"left{i}_{p} = {element(x, i, p)}]" for i in range(m) for p in range(k)]
    rows += [f"right{p}_{j} = {element(y, p, j)}]" for p in range(k) for j in range(n)]
    for i in range(m):
        for j in range(n):
            to = f"{element(z, i, j)}]"
            terms = [*[to] * (piece.onto is not None), *(f"left{i}_{p} * right{p}_{j}" for p in range(k))]
            rows.append(f"{to} = {' + '.join(terms)}")
    return rows


def copied_in_rows(name: str, array: str, offset: int, shape: tuple[int, ...], strides: tuple[int, ...]) -> list[str]:
    """Write the copy of a matrix in which rows are contiguous."""
    (k, n), (down, right) = shape, strides
    return [
        f"{name} = empty({math.prod(shape)}, number)",
        f"for i in range({k}):",
        f"    for j in range({n}):",
        f"        {name}[i * {n} + j] = {array}[{offset} + i * {down} + j * {right}]",
    ]
