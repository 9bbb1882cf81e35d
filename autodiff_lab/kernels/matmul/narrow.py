"""Products of a long matrix and a narrow one, in pieces that OpenBLAS multiplies as they lie.

Both matrices of a large product are copied first, into the order in which the kernel reads them; for few columns that
takes as long as multiplying.  The kernels for AVX-512 take products of up to a million multiplications as they are.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from autodiff_lab.kernels.base.choose import IN_USE
from autodiff_lab.kernels.base.threads import spread

AS_THEY_LIE = 1_000_000
"""Multiplications up to which OpenBLAS copies nothing (``sgemm_small_kernel_permit_skylakex.c``)."""
FEWEST, MOST = 2, 32
"""Columns of the narrow matrix: a vector has a kernel of its own, and with more columns copying matters less."""
LEAST = 64
"""Rows of a piece, below which calling BLAS for each takes what copying would."""
_FLOATS = (np.dtype(np.float32), np.dtype(np.float64))
_PIECES_OF_A_THREAD = 4


@cache
def are_taken_as_they_lie() -> bool:
    """Return whether NumPy's OpenBLAS runs kernels for AVX-512."""
    own = import_module("autodiff_lab.kernels.matmul.second_library").choice(False).own
    return own is not None and own.suits


def multiply(x: Any, y: Any) -> Any:
    """Return ``x @ y`` of matrices, or None where one call is as quick or results must not depend on the machine.

    A row-major x is cut into rows of the result, a transposed one into terms of its sums.
    """
    (m, k), n = x.shape, y.shape[1]
    if not FEWEST <= n <= MOST or m * k * n < 2 * AS_THEY_LIE or x.dtype != y.dtype or x.dtype not in _FLOATS:
        return None
    length, beside = (m, k) if x.flags.c_contiguous else (k, m)
    piece = AS_THEY_LIE // (beside * n)
    lies = (x.flags.c_contiguous or x.flags.f_contiguous) and (y.flags.c_contiguous or y.flags.f_contiguous)
    if not lies or piece < LEAST or length < 2 * piece or len(y) != k:
        return None
    if IN_USE["mode"] != "auto" or not are_taken_as_they_lie():
        return None
    return (_in_rows if x.flags.c_contiguous else _in_terms)(x, y, piece)


def _in_rows(x: Any, y: Any, piece: int) -> Any:
    made = np.empty((len(x), y.shape[1]), x.dtype)

    def part(low: int, high: int) -> None:
        for first in range(low, high, piece):
            last = min(first + piece, high)
            np.matmul(x[first:last], y, out=made[first:last])

    spread(part, len(x), _PIECES_OF_A_THREAD * piece)
    return made


def _in_terms(x: Any, y: Any, piece: int) -> Any:
    rows = x.T

    def part(low: int, high: int) -> Any:
        total = y[low : min(low + piece, high)].T @ rows[low : min(low + piece, high)]
        for first in range(low + piece, high, piece):
            last = min(first + piece, high)
            total += y[first:last].T @ rows[first:last]
        return total

    first, *others = spread(part, len(rows), _PIECES_OF_A_THREAD * piece)
    for other in others:
        first += other
    return np.ascontiguousarray(first.T)
