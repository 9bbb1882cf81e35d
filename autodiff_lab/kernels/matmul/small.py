"""Products of small matrices inside compiled code, where a call of a library would cost more than the arithmetic.

Generated modules import it.  The tiles are those of the convolutions: up to twelve rows by two vectors of
sums that stay in registers while all the depth passes by.  The right operand is read where it lies, so it should fit
the second cache.  Arrays are flat; ``x_at`` is where a matrix begins in one, ``x_down`` how far apart its rows are, in
elements.  Sums are taken in the order of the depth, with fused multiply-adds, except in `add_rows`, whose vectors each
sum a part.
"""
# ruff: noqa: ANN001

# pyright: reportCallIssue=false
from __future__ import annotations

import functools
from typing import Any

import numpy as np

from autodiff_lab.kernels.base.deferred import register_jitable
from autodiff_lab.kernels.convolution.numba_tiles import BYTES, ROWS, Width, tile_of, width_of
from autodiff_lab.kernels.maths.bits import add_up

_HERE = np.zeros(1, np.int64)


def tiles_of(m: int, n: int, itemsize: int) -> tuple[tuple[int, ...], tuple[Width, ...]]:
    """Return the numbers of rows and the widths that tiles of an (m, n) matrix have."""
    wide = 2 * BYTES // itemsize
    rows = {min(ROWS, m - i) for i in range(0, m, ROWS)}
    return tuple(sorted(rows)), tuple(sorted({width_of(min(wide, n - j), itemsize) for j in range(0, n, wide)}))


@functools.cache
def _multiplying(kind: str, rows: tuple[int, ...], widths: tuple[Width, ...]) -> Any:
    tile, transposed = tile_of(kind, rows, widths), kind == "taps"

    @register_jitable
    def multiply(x, x_at, x_down, y, y_at, y_down, out, out_at, out_down, m, k, n) -> None:
        wide = 2 * BYTES // x.itemsize
        apart, stride = 1 if transposed else x_down, x_down if transposed else 1
        for j in range(0, n, wide):
            for i in range(0, m, ROWS):
                tile(
                    x, x_at + i * apart, _HERE, 0, 1, k, apart, stride, y, y_at + j, y_down,
                    out, out_at + i * out_down + j, out_down, min(ROWS, m - i), min(wide, n - j), 0,
                )  # fmt: skip

    return multiply


multiply = functools.partial(_multiplying, "pixels")
"""Return what writes x y for x (m, k) and y (k, n), both with rows in order, as is the result; k is at least 1.

Given are `rows` and `widths` of `tiles_of`: machine code is the same for all sizes that have these.
"""
multiply_transposed = functools.partial(_multiplying, "taps")
"""Return what writes xᵀ y for x (k, m) and y (k, n), as `multiply` does."""


@functools.cache
def multiply_by_column(rows: tuple[int, ...], widths: tuple[Width, ...]) -> Any:
    """Return what writes x y for x (m, k) with rows in order and y (k, 1) in one piece; of any size."""

    @register_jitable
    def multiply(x, x_at, x_down, y, y_at, y_down, out, out_at, out_down, m, k, n) -> None:
        add_rows(x, x_at, x_down, y, y_at, out, out_at, out_down, m, k)

    return multiply


@register_jitable
def add_rows(x, x_at, x_down, y, y_at, out, out_at, out_down, m, k) -> None:
    """Write x y for x (m, k) with rows in order and a vector y."""
    there = y[y_at : y_at + k]  # indices from 0 on, for LLVM to see that none counts from the end
    for i in range(m):
        row = x[x_at + i * x_down : x_at + i * x_down + k]
        total = x.dtype.type(0)
        for p in range(k):
            total = add_up(total, row[p] * there[p])
        out[out_at + i * out_down] = total
