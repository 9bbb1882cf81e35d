"""Slabs: how the kernels of convolutions multiply matrices in parts.

A block of threads makes a tile of a product.  Going along the inner axis by 8 at a time, it copies a slab of either
factor into shared memory, and each thread adds to its part of the tile a column of the left slab times a row of the
right one.  For 8 by 8 sums in registers a thread reads 16 numbers, by 4 loads, and multiplies 64 times: with fewer
sums, shared memory would be busier than the arithmetic.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from autodiff_lab.kernels.cuda.convolution_axes import inlined
from autodiff_lab.kernels.cuda.launching import cuda

DEPTH = 8
"""Columns of a left slab, rows of a right one."""
DEPTH_BITS = 3
GROUP = 4
"""Numbers that a thread reads at once: 16 bytes in float32."""
PLACES = 4
"""Numbers that shared memory keeps of a pixel: its place on three axes, and where its window begins in the source."""
uint64: Any = np.uint64
"""An index of this type is not tested for counting from the end, so that neighbouring loads can become one."""


class Tile(NamedTuple):
    """How a block's work is laid out.

    Attributes
    ----------
    rows, columns : int
        Of the part of the product that a block makes.
    high, wide : int
        Of the part of it that a thread makes, in groups of 4 that lie apart, so that the groups of neighbouring threads
        are neighbours in shared memory.
    """

    rows: int
    columns: int
    high: int
    wide: int

    @property
    def threads(self) -> int:
        """Threads of a block."""
        return self.rows * self.columns // (self.high * self.wide)

    @property
    def bounds(self) -> tuple[int, int]:
        """Threads of a block, and blocks that a multiprocessor shall hold: 16 warps, with 128 registers a thread."""
        return self.threads, max(1, 512 // self.threads)

    @property
    def across(self) -> int:
        """Threads of a block beside each other; those above each other follow."""
        return self.columns // self.wide

    @property
    def apart(self) -> tuple[int, int]:
        """How far a thread's groups lie apart in a slab's line, left and right."""
        return self.rows * GROUP // self.high, self.columns * GROUP // self.wide


@inlined
def multiplied(left: Any, right: Any, sums: Any, a: Any, b: Any, high: Any, wide: Any, apart: Any) -> None:
    """Add the products of a column of the left slab and a row of the right one to a thread's sums."""
    column, row = cuda.local.array(8, left.dtype), cuda.local.array(8, left.dtype)
    for i in range(high):
        column[i] = left[uint64(a + i // GROUP * apart[0] + i % GROUP)]
    for j in range(wide):
        row[j] = right[uint64(b + j // GROUP * apart[1] + j % GROUP)]
    for i in range(high):
        for j in range(wide):
            sums[i * wide + j] += column[i] * row[j]


@inlined
def multiplied_slabs(left: Any, right: Any, sums: Any, a: Any, b: Any, high: Any, wide: Any, apart: Any,
                     lines: Any) -> None:  # fmt: skip
    """Add the products of two slabs, whose lines have the lengths `lines`, to a thread's sums.

    Written out, so that loads of the next column run beside products of this one.
    """
    multiplied(left, right, sums, a, b, high, wide, apart)
    multiplied(left, right, sums, a + lines[0], b + lines[1], high, wide, apart)
    multiplied(left, right, sums, a + 2 * lines[0], b + 2 * lines[1], high, wide, apart)
    multiplied(left, right, sums, a + 3 * lines[0], b + 3 * lines[1], high, wide, apart)
    multiplied(left, right, sums, a + 4 * lines[0], b + 4 * lines[1], high, wide, apart)
    multiplied(left, right, sums, a + 5 * lines[0], b + 5 * lines[1], high, wide, apart)
    multiplied(left, right, sums, a + 6 * lines[0], b + 6 * lines[1], high, wide, apart)
    multiplied(left, right, sums, a + 7 * lines[0], b + 7 * lines[1], high, wide, apart)


@inlined
def slot(column: Any, across_bits: Any, apart: Any) -> Any:
    """Where a column of the tile lies in a line of the right slab.

    Column thread + j·across is the j-th of a thread: 8 neighbouring threads write 8 neighbouring numbers of the result,
    while the columns of one thread lie beside each other here, in groups of 4.
    """
    number = column >> across_bits
    return (number >> 2) * apart + (column & (1 << across_bits) - 1) * GROUP + (number & 3)
