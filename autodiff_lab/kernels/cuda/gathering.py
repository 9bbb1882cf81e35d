"""Gathering on a GPU: rows picked by position along an axis, or by rows of coordinates.

A gather copies bits and knows no dtypes: elements are seen as words of 1, 4 or 8 bytes (two for a complex128).  Threads
of a block stand side by side along the part of a row that lies in a piece, up to 64 words, and below each other along
the results; each moves eight rows, so that eight positions and then eight words are in flight.

Traffic: every word that is picked is read and written once, 8 bytes an element of 4, and a position for each row: with
rows of 128 floats 1032 bytes a row for 32-bit positions, so that a gather runs at the speed of a copy; single elements
at random places read 32 bytes for 4, which is what memory gives.  Occupancy: 256 threads, no shared memory, at most 40
registers: 6 blocks a multiprocessor, with 12,000 words in flight.

A position that is out of range gives zeros, as in TensorFlow on a GPU: to raise, one would have to wait for the GPU.
`promises` asks all the same, and the error comes when a result is next read.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from autodiff_lab.kernels.arrays import check_positions
from autodiff_lab.kernels.cuda.array import DeviceArray
from autodiff_lab.kernels.cuda.launching import THREADS, check_size, cuda, empty, flat, kernel, launch
from autodiff_lab.kernels.cuda.scatter_positions import positions_of, taken_as_positions
from autodiff_lab.kernels.reference.scatter import check_columns

BATCH = 8
"""Rows that a thread moves."""
WIDEST = THREADS // 4
"""Columns of a block at most."""
WORDS: dict[int, Any] = {1: np.uint8, 4: np.uint32, 8: np.uint64, 16: np.uint64}
"""What elements of so many bytes are seen as."""
SIGNATURES = [
    f"{word}[::1], {index}[::1], {word}[::1], int32, int32, int32, int32, int32, int32, int32"
    for word in ("uint8", "uint32", "uint64")
    for index in ("int32", "int64")
]


@kernel(("gather", "gather_nd"), *SIGNATURES)
def gather_rows(
    x: Any, positions: Any, made: Any, rows: Any, count: Any, length: Any, inner: Any, wide: Any, deep: Any, tiles: Any
) -> None:
    """Row r of made, of `inner` words, becomes row positions[r % count] of the piece r // count of x."""
    sources = cuda.local.array(BATCH, np.int32)
    words = cuda.local.array(BATCH, x.dtype)
    t, block = cuda.threadIdx.x, np.uint32(cuda.blockIdx.x)
    above = np.int32(block // np.uint32(tiles))
    row = np.int32(np.uint32(t) // np.uint32(wide))
    column = (np.int32(block) - above * tiles) * wide + t - row * wide
    first = above * BATCH * deep + row
    if row >= deep or column >= inner:
        return
    for k in range(BATCH):
        r = first + k * deep
        sources[k] = -1
        if r < rows:
            piece = np.int32(np.uint32(r) // np.uint32(count))
            position = positions[np.uint32(r - piece * count)]
            if position >= 0 and position < length:
                sources[k] = (piece * length + position) * inner + column
    for k in range(BATCH):
        words[k] = x[np.uint32(sources[k])] if sources[k] >= 0 else x.dtype.type(0)
    for k in range(BATCH):
        r = first + k * deep
        if r < rows:
            made[np.uint32(r * inner + column)] = words[k]


def row_shape(inner: int) -> tuple[int, int, int]:
    """Columns of a block, rows of a block, and blocks for all columns of a row."""
    tiles = -(-inner // WIDEST)
    wide = -(-inner // tiles)
    if tiles > 1:
        wide = -(-wide // 8) * 8  # reads of 32 bytes begin at multiples of 32 bytes
        tiles = -(-inner // wide)
    return wide, THREADS // wide, tiles


def picked(x: DeviceArray, positions: DeviceArray, pieces: int, length: int, inner: int) -> DeviceArray:
    """The rows of `inner` elements at some positions of each piece (length, inner), in a row."""
    word = WORDS[x.itemsize]
    per = x.itemsize // np.dtype(word).itemsize
    seen, rows, inner = x.memory.wrap(flat(x).raw.view(word)), pieces * positions.size, inner * per
    check_size("gather", (pieces, length, inner), (rows, inner))
    made = empty(x, (rows * inner,), word)
    wide, deep, tiles = row_shape(inner)
    blocks = -(-rows // (BATCH * deep)) * tiles
    launch(gather_rows, blocks, THREADS, seen, positions, made, rows, positions.size, length, inner, wide, deep, tiles)
    return x.memory.wrap(made.raw.view(x.dtype))


def gather(x: DeviceArray, indices: Any, axis: int) -> Any:
    """Pick elements of a negative axis, as `reference.gathering.gather`; what is out of range gives 0."""
    positions = taken_as_positions(indices)
    if positions is None or x.itemsize not in WORDS:
        return NotImplemented
    at = x.ndim + axis
    shape = (*x.shape[:at], *indices.shape, *x.shape[at + 1 :])
    check_size("gather", x.shape, shape)
    check_positions(indices, x.shape[axis], f"gather: an index of axis {axis} is not in")
    if not prod(shape):
        return empty(x, shape)
    if not x.size:
        return NotImplemented
    return picked(x, positions, prod(x.shape[:at]), x.shape[at], prod(x.shape[at + 1 :])).reshape(shape)


def gather_nd(x: DeviceArray, indices: Any, lead: int = 0) -> Any:
    """Pick elements by rows of coordinates, as `reference.gathering.gather_nd`; what is out of range gives 0."""
    if indices.__class__ is not DeviceArray or x.itemsize not in WORDS or not x.size:
        return NotImplemented
    depth = indices.shape[-1]
    check_columns(indices, x.shape[lead:], "gather_nd")
    counted, rest = x.shape[lead : lead + depth], x.shape[lead + depth :]
    shape = (*x.shape[:lead], *indices.shape[:-1], *rest)
    check_size("gather_nd", x.shape, shape)
    positions = positions_of(indices, counted)
    if positions is None:
        return NotImplemented
    if not prod(shape):
        return empty(x, shape)
    return picked(x, positions, prod(x.shape[:lead]), prod(counted), prod(rest)).reshape(shape)
