"""Quotients by a number that is the same for all threads: one multiplication and a shift in place of a division.

A GPU has no instruction for a division of integers; some 25 do it, with a branch that keeps loads apart which
should be in flight together.  For n below 2^31 and a divisor d of at most 2^l, n / d rounded down is (n·m) >> (31 + l)
with m = 2^(31 + l) / d rounded down, plus 1 (Granlund and Montgomery 1994); the product stays below 2^63.

Positions: indices of any whole dtype, or rows of coordinates, as what kernels of gathering and scattering take.

Rows of coordinates become one number each, the place of their row in memory; a coordinate that is out of range makes it
-1, which gathers zeros and is left out where something is added.

Traffic: a coordinate is read and the position so far read and written, 12 bytes a coordinate of 32 bits; nothing beside
the rows that are moved.

Gathering on a GPU: rows picked by position along an axis, or by rows of coordinates.

A gather copies bits and knows no dtypes: elements are seen as words of 1, 4 or 8 bytes (two for a complex128).  Threads
of a block stand side by side along a row and below each other along the results; each moves two words of four rows, so
that four positions and then eight words are in flight, and what is worked out for a row serves both.

Traffic: every word that is picked is read and written once, 8 bytes an element of 4, and a position for each row: with
rows of 128 floats 1032 bytes a row for 32-bit positions, so that a gather runs at the speed of a copy; single elements
at random places read 32 bytes for 4, which is what memory gives.  Occupancy: 256 threads, no shared memory, 32
registers (38 for words of 8 bytes on a B200): 8 blocks a multiprocessor, with 16,000 words in flight.

A position that is out of range gives zeros, as in TensorFlow on a GPU: to raise, one would have to wait for the GPU.
`promises` asks all the same, and the error comes when a result is next read.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from autodiff_lab.kernels.checks import check_positions
from autodiff_lab.kernels.cuda.array import DeviceArray
from autodiff_lab.kernels.cuda.launching import THREADS, check_size, cuda, empty, flat, kernel, launch, striding
from autodiff_lab.kernels.indexing.reference import check_columns


def divisor(d: int) -> tuple[Any, int]:
    """Return what a kernel is given for a divisor from 1 to 2^31: a multiplier of 32 bits and a shift.

    Examples
    --------
    >>> from autodiff_lab.kernels.indexing.cuda_positions import divisor
    >>> multiplier, shift = divisor(7)
    >>> 1_000_000_000 * int(multiplier) >> shift == 1_000_000_000 // 7
    True
    """
    shift = 31 + (d - 1).bit_length()
    return np.uint32((1 << shift) // d + 1), shift


@cuda.jit(device=True)
def quotient(n: Any, multiplier: Any, shift: Any) -> Any:
    """Divide n by the divisor, rounding down, in 32 bits."""
    return np.int32(np.uint64(np.uint32(n)) * np.uint64(multiplier) >> np.uint64(shift))


@kernel(
    ("gather_nd", "scatter_nd", "scatter_axis", "segment_sum", "segment_max", "segment_min"),
    "int32[::1], int32[::1], int32, int32, int32, int32",
    "int64[::1], int32[::1], int32, int32, int32, int32",
)
def fold_coordinate(indices: Any, positions: Any, count: Any, depth: Any, at: Any, length: Any) -> None:
    """Add coordinate `at` of `depth` to positions: a thread for each position, and on by the size of the grid."""
    i = cuda.grid(1)
    while i < count:
        index = indices[np.uint32(i * depth + at)]
        before = positions[np.uint32(i)] if at > 0 else np.int32(0)
        good = index >= 0 and index < length and before >= 0
        positions[np.uint32(i)] = before * length + index if good else -1
        i += cuda.gridsize(1)


def taken_as_positions(indices: Any) -> DeviceArray | None:
    """Indices in a row, in 32 or 64 bits; None if they are none, or not on a GPU."""
    if indices.__class__ is not DeviceArray or indices.dtype.kind not in "iu":
        return None
    if indices.dtype in (np.int32, np.int64):
        return flat(indices)
    return flat(indices.astype(np.int64))  # a uint64 beyond 2^63 becomes negative, which is out of range too


def positions_of(indices: Any, lengths: tuple[int, ...]) -> DeviceArray | None:
    """Rows of coordinates (*s, k) into axes of k lengths as 32-bit positions in a row; None without coordinates."""
    coordinates = taken_as_positions(indices)
    if coordinates is None or not lengths:
        return None
    count, depth = coordinates.size // len(lengths), len(lengths)
    positions = empty(coordinates, (count,), np.int32)
    for at, length in enumerate(lengths):
        launch(fold_coordinate, striding(positions, count), THREADS, coordinates, positions, count, depth, at, length)
    return positions


ROWS = 4
"""Rows of which a thread moves two words."""
WIDEST = THREADS // 4
"""Threads side by side at most."""
WORDS: dict[int, Any] = {1: np.uint8, 4: np.uint32, 8: np.uint64, 16: np.uint64}
"""What elements of so many bytes are seen as."""
SIGNATURES = [
    f"{word}[::1], {index}[::1], {word}[::1], int32, int32, uint32, int32, int32, int32, int32"
    for word in ("uint8", "uint32", "uint64")
    for index in ("int32", "int64")
]


@kernel(("gather", "gather_nd"), *SIGNATURES)
def gather_rows(
    x: Any, positions: Any, made: Any, rows: Any, count: Any, multiplier: Any, shift: Any, length: Any, inner: Any,
    tiles: Any,
) -> None:  # fmt: skip
    """Row r of made, of `inner` words, becomes row positions[r % count] of the piece r // count of x.

    Nothing branches before the last loop: what is not to be read is read from a place that exists, and not used.
    """
    found = cuda.local.array(ROWS, positions.dtype)
    sources = cuda.local.array(ROWS, np.int32)
    left = cuda.local.array(ROWS, x.dtype)
    right = cuda.local.array(ROWS, x.dtype)
    wide, deep, block = cuda.blockDim.x, cuda.blockDim.y, cuda.blockIdx.x
    above = np.int32(np.uint32(block) // np.uint32(tiles)) if tiles > 1 else block
    column = np.int32((block - above * tiles) * 2 * wide + cuda.threadIdx.x)
    first = np.int32(above * ROWS * deep + cuda.threadIdx.y)
    if column >= inner:
        return
    beside = np.int32(wide if column + wide < inner else 0)
    last = np.int32(rows - 1)
    for k in range(ROWS):
        r = min(np.int32(first + k * deep), last)
        found[k] = positions[np.uint32(r - quotient(r, multiplier, shift) * count)]
    for k in range(ROWS):
        piece = quotient(min(np.int32(first + k * deep), last), multiplier, shift)
        source = np.int32((piece * length + np.int32(found[k])) * inner + column)
        sources[k] = source if found[k] >= 0 and found[k] < length else np.int32(-1)
    for k in range(ROWS):
        source = max(sources[k], np.int32(0))
        left[k] = x[np.uint32(source)]
        right[k] = x[np.uint32(source + beside)]
    for k in range(ROWS):
        r = np.int32(first + k * deep)
        if r < rows:
            good, at = sources[k] >= 0, np.int32(r * inner + column)
            made[np.uint32(at)] = left[k] if good else x.dtype.type(0)
            if beside > 0:
                made[np.uint32(at + beside)] = right[k] if good else x.dtype.type(0)


def row_shape(inner: int, each: int) -> tuple[int, int, int]:
    """Threads side by side, threads below each other, and blocks for all of a row, for threads of `each` columns."""
    tiles = -(-inner // (WIDEST * each))
    wide = -(-inner // (tiles * each))
    if tiles > 1:
        wide = -(-wide // 8) * 8  # reads of 32 bytes begin at multiples of 32 bytes
        tiles = -(-inner // (wide * each))
    return wide, THREADS // wide, tiles


def picked(x: DeviceArray, positions: DeviceArray, pieces: int, length: int, inner: int) -> DeviceArray:
    """Return the rows of `inner` elements at some positions of each piece (length, inner), in a row."""
    word = WORDS[x.itemsize]
    per = x.itemsize // np.dtype(word).itemsize
    seen, rows, inner = x.memory.wrap(flat(x).raw.view(word)), pieces * positions.size, inner * per
    # threads look at rows beyond the last
    check_size("gather", (pieces, length, inner), (rows + ROWS * THREADS, inner))
    made = empty(x, (rows * inner,), word)
    wide, deep, tiles = row_shape(inner, 2)
    blocks = -(-rows // (ROWS * deep)) * tiles
    sizes = rows, positions.size, *divisor(positions.size), length, inner, tiles
    launch(gather_rows, blocks, (wide, deep), seen, positions, made, *sizes)
    return x.memory.wrap(made.raw.view(x.dtype))


def gather(x: DeviceArray, indices: Any, axis: int) -> Any:
    """Pick elements of a negative axis, as `reference.gather`; what is out of range gives 0."""
    positions = taken_as_positions(indices)
    if positions is None or x.itemsize not in WORDS:
        return NotImplemented
    at = x.ndim + axis
    shape = (*x.shape[:at], *indices.shape, *x.shape[at + 1 :])
    check_size("gather", x.shape, shape)
    check_positions(indices, x.shape[axis], f"gather: an index of axis {axis % x.ndim} is not in")
    if not prod(shape):
        return empty(x, shape)
    if not x.size:
        return NotImplemented
    return picked(x, positions, prod(x.shape[:at]), x.shape[at], prod(x.shape[at + 1 :])).reshape(shape)


def gather_nd(x: DeviceArray, indices: Any, lead: int = 0) -> Any:
    """Pick elements by rows of coordinates, as `reference.gather_nd`; what is out of range gives 0."""
    if indices.__class__ is not DeviceArray or x.itemsize not in WORDS or not x.size:
        return NotImplemented
    depth = indices.shape[-1]
    if not depth:
        return NotImplemented
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
