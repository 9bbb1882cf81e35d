"""What kernels over rows share: which threads work on a row, and the sums and maxima that they make together.

A group of 2^bits threads takes a row: a few lanes of a warp where it is short, up to a block of 512 threads where it is
long.  Neighbouring threads take neighbouring elements, and their parts of a sum meet by shuffles, a halving at a time:
always in the same order, so always with the same bits.  What a thread reads it keeps in registers, so that a row is
read once: 8 elements where many threads are to run beside each other, 40 of float32 where the row is long, which takes
all 128 registers that a thread of such a block may have.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from autodiff_lab.kernels.cuda.array import DeviceArray
from autodiff_lab.kernels.cuda.launching import DTYPES, MOST, SIMULATED, THREADS, Kernel, cuda, kernel, launch
from autodiff_lab.kernels.cuda.row_sums import WARP

KEPT = {"float32": (2, 4), "float64": (2, 4)} if SIMULATED else {"float32": (8, 40), "float64": (8, 16)}
"""Elements of a row that a thread keeps in registers, at most: in a kernel for short rows, and in one for long ones."""
MOST_THREADS = 64 if SIMULATED else 512
"""Threads of a block, at most: each may use 128 registers then."""
TOGETHER = 128 if SIMULATED else THREADS
"""Threads of a block in which several groups of more than a warp take a row each."""
MOST_STEP = 2047
"""A mask for the number of threads of a row; by it the compiler knows that no index is negative."""


class RowKernel:
    """A kernel over rows in up to four forms: for float32 and float64, for short rows and for long ones.

    Attributes
    ----------
    forms : dict of str to list of Kernel
        By dtype: the one that keeps few elements a thread, and the one that keeps many, unless none are kept.
    """

    def __init__(
        self, make: Callable[[int], Any], serves: tuple[str, ...], signatures: tuple[str, ...], keeps: bool
    ) -> None:
        self.forms: dict[str, list[Kernel]] = {dtype: [] for dtype in DTYPES}
        for dtype, kept in [(d, k) for d in DTYPES for k in KEPT[d][: 1 + keeps]]:
            run = make(kept)
            run.__name__ = f"{make.__name__}_{dtype}_{kept}"
            types = [re.sub(r"\bT\b", dtype, s) for s in signatures]
            self.forms[dtype].append(kernel(serves, *types, launch_bounds=MOST_THREADS)(run))

    def launch(self, x: DeviceArray, rows: int, length: int, *arguments: Any) -> None:
        """Run it on rows of the dtype of x, with the arguments, then rows, length and twice the threads of a row."""
        forms, (short, long) = self.forms[x.dtype.name], KEPT[x.dtype.name]
        is_long = len(forms) > 1 and length > short * MOST_THREADS
        lanes, kept = (WARP, long) if is_long else (1, short)
        while lanes < MOST_THREADS and length > kept * lanes:
            lanes *= 2
        threads, bits = max(lanes, TOGETHER if lanes > WARP else THREADS), lanes.bit_length() - 1
        launch(forms[is_long], -(-rows * lanes // threads), threads, *arguments, rows, length, bits, bits)


def row_kernel(
    serves: tuple[str, ...], *signatures: str, keeps: bool = True
) -> Callable[[Callable[[int], Any]], RowKernel]:
    """Declare a kernel over rows; what is decorated makes it for a number of elements that a thread keeps.

    Its last four arguments are int32: rows, length and twice the logarithm of the threads a row; the compiler does not
    know that they are the same, or it would hold the addresses that it read until it writes, two registers each.
    One that keeps nothing has no form for long rows.
    """
    types = tuple([f"{s}, int32, int32, int32, int32" for s in signatures])
    return lambda make: RowKernel(make, serves, types, keeps)


@cuda.jit(device=True)
def place(rows: Any, length: Any, bits: Any) -> Any:
    """The row of a thread, where its first element lies, and how many it takes, 2^bits apart.

    Masks tell the compiler that no index is negative; it would look for those that count from the end.
    """
    lanes = (1 << bits) & MOST_STEP
    lane = cuda.threadIdx.x & (lanes - 1) & 1023
    row = cuda.blockIdx.x * (cuda.blockDim.x >> bits) + (cuda.threadIdx.x >> bits)
    count = ((length - lane + lanes - 1) >> bits) if row < rows else 0
    return row & MOST, ((row * length) & MOST) + lane, count


def as_rows(x: DeviceArray, axis: int) -> tuple[DeviceArray, int, int]:
    """The elements with `axis` last and in a row, the number of rows and their length."""
    moved = x if axis == -1 else x.memory.wrap(x.memory.module.moveaxis(x.raw, axis, -1))
    flat = x.memory.wrap(x.memory.module.ascontiguousarray(moved.raw).reshape(-1))
    length = x.shape[axis]
    return flat, (x.size // length if length else 0), length


def from_rows(flat: DeviceArray, shape: tuple[int, ...], axis: int) -> DeviceArray:
    """An array of `shape` whose elements lie in `flat` with `axis` last."""
    if axis == -1:
        return flat.reshape(shape)
    moved = list(shape)
    moved.append(moved.pop(axis))
    return flat.memory.wrap(flat.memory.module.moveaxis(flat.raw.reshape(moved), -1, axis))
