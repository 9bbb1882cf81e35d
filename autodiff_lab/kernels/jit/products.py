"""Matrix products of our own, on CPUs with AVX-512: OpenBLAS's speed on large matrices, more on those of a small net.

What makes it fast:

- tiles of sums that stay in registers (`jit.tiles`);
- the right operand is read where it lies as long as few rows of the left pass over it; OpenBLAS copies both operands
  into an order of its own first, which takes a fifth of the time of a product of 64 rows;
- for more rows a strip of columns is copied, so that its lines do not fight for places in the cache;
- depth goes in blocks, so that a strip stays in the second cache.

Each sum is taken in the order of depth, whatever the shape, so bits hang on nothing else; a matrix times its own
transpose is symmetric.
"""
# pyright: reportCallIssue=false

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_lab.kernels.blas import PER_WORK, numpy_suits
from autodiff_lab.kernels.jit.compiling import loop, override
from autodiff_lab.kernels.jit.tiles import ROWS, WIDTH_BYTES, copy_width, tile_of_one, tile_of_rows
from autodiff_lab.kernels.libraries import has_wide_registers
from autodiff_lab.kernels.threads import spread

DEPTH = 1024
"""Steps of depth in one block."""
FEW_ROWS = 96
"""Rows up to which copying a strip costs more than reading it where it lies."""
MANY_ROWS = 256
"""Rows from which on arranging a right operand that lies transposed is a small part of the work."""
FAR_BYTES = 4096
"""Rows of the right operand that lie this far apart fight for the same places in the cache."""
WORTH_A_THREAD = 1 << 21
"""Multiplications below which a thread of its own does not pay."""


@loop("void({t}[:,:], {t}[:,:], {t}[:,::1], {t}[:,::1], {t}[:,::1], int64, int64)")
def _multiply(  # noqa: C901, PLR0912 - one nest of loops; the edges are dealt with where they are met
    x: Any, y: Any, out: Any, strip: Any, corner: Any, low: int, high: int
) -> None:
    """Rows from low to high of out = x y; `strip` and `corner` are room to work in."""
    size, width = x.itemsize, strip.shape[1]
    down, along = x.strides
    in_rows = y.strides[1] == size
    direct = in_rows and high - low <= FEW_ROWS and y.strides[0] < FAR_BYTES
    for begin in range(0, y.shape[0], DEPTH):
        depth = min(DEPTH, y.shape[0] - begin)
        for j in range(0, y.shape[1], width):
            columns = min(width, y.shape[1] - j)
            b, b_down = y.ctypes.data + begin * y.strides[0] + j * y.strides[1], y.strides[0]
            if columns < width or not direct:
                for k in range(depth):
                    if in_rows and columns == width:
                        copy_width(x, b + k * b_down, strip.ctypes.data + k * width * size)
                    else:
                        for c in range(width):
                            strip[k, c] = y[begin + k, j + c] if c < columns else 0
                b, b_down = strip.ctypes.data, width * size
            for i in range(low, high, ROWS):
                a = x.ctypes.data + i * down + begin * along
                rows = min(ROWS, high - i)
                place, place_down, more = out.ctypes.data + i * out.strides[0] + j * size, out.strides[0], begin > 0
                if columns < width:
                    place, place_down, more = corner.ctypes.data, width * size, False
                if rows == ROWS:
                    tile_of_rows(x, a, down, along, b, b_down, place, place_down, depth, more)
                else:
                    for r in range(rows):
                        tile_of_one(x, a + r * down, down, along, b, b_down, place + r * place_down, 0, depth, more)
                if columns < width:
                    for r in range(rows):
                        for c in range(columns):
                            out[i + r, j + c] = corner[r, c] + (out[i + r, j + c] if begin > 0 else 0)


def _sample(work: int, dtype: Any) -> tuple[Any, Any]:
    """A layer of a small net: 64 examples, 256 columns."""
    depth = max(ROWS, work * PER_WORK // (64 * 256))
    return [np.ones((64, depth), dtype), np.ones((depth, 256), dtype)], {}


@override(_multiply, dtypes=("float32", "float64") if has_wide_registers() else (), sample=_sample)
def matmul(x: Any, y: Any) -> Any:
    """Products of two matrices, or of a stack of rows and one matrix.

    Shapes that leave much of a tile empty are declined, and a right operand whose rows are not in order unless many
    rows make up for arranging it, and NumPy's library does not do that as well.
    """
    if y.ndim != 2 or x.ndim < 2 or x.dtype is not y.dtype:
        return NotImplemented
    if x.__class__ is not np.ndarray or y.__class__ is not np.ndarray:
        return NotImplemented
    k, n = y.shape
    width = WIDTH_BYTES // x.itemsize
    if x.shape[-1] != k or k < ROWS or n < width or (n % width and n < 8 * width):
        return NotImplemented
    if not (x.flags.behaved and y.flags.behaved):  # Numba takes nothing that is read-only, as cotangents of sums are
        return NotImplemented
    if x.ndim > 2:
        if not x.flags.c_contiguous:
            return NotImplemented
        made = matmul(x.reshape(-1, k), y)
        return made if made is NotImplemented else made.reshape(*x.shape[:-1], n)
    m = x.shape[0]
    if m < ROWS or (m % ROWS and m < 8 * ROWS):
        return NotImplemented
    if y.strides[1] != x.itemsize and (m < MANY_ROWS or numpy_suits()):
        return NotImplemented
    out = np.empty((m, n), x.dtype)
    run = _multiply[x.dtype]

    def rows(low: int, high: int) -> None:
        run(x, y, out, np.empty((min(k, DEPTH), width), x.dtype), np.empty((ROWS, width), x.dtype), low, high)

    spread(rows, m, max(ROWS, WORTH_A_THREAD // (k * n)))
    return out
