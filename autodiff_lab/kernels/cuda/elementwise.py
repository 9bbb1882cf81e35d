"""What generated kernels are made of: scalar functions, and the folding of what threads found.

`lab.function` writes one kernel for a run of elementwise ops and their reductions; its text calls the names that
`namespace` gives, for float32 or float64, so that a kernel of float32 has no instruction of float64.  The angles of
sine, cosine and tangent may be as large as they like.

Threads fold their values in a fixed order, with shuffles inside a warp and through shared memory between warps: the
same bits at every run.  What the blocks found lies in memory, and `fold` puts it together in a second launch, because
blocks do not wait for each other.  It reads `count` rows of `columns` numbers, 4 bytes each and a few MB at most, which
the second-level cache still holds; 256 threads and 1 or 2 kB of shared memory a block, some 30 registers.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from autodiff_lab.kernels.cuda import elementwise_single as single
from autodiff_lab.kernels.cuda.array import DeviceArray
from autodiff_lab.kernels.cuda.launching import SIMULATED, THREADS, Kernel, cuda, kernel, launch, math

WARP = 32
ALL = 0xFFFFFFFF
"""The mask of a shuffle in which every thread of a warp takes part."""
BLOCKS = 4 if SIMULATED else 4096
"""Blocks of a grid that reduces, at most: six rounds of a large GPU, of which the last may be nearly empty; the same on
every GPU, so that sums have the same bits on all of them."""


@cuda.jit(device=True)
def choose(condition: Any, x: Any, y: Any) -> Any:
    """One of two values."""
    return x if condition else y


@cuda.jit(device=True)
def larger(x: Any, y: Any) -> Any:
    """The larger of two numbers; nan if one is."""
    return x if x >= y or math.isnan(x) else y


@cuda.jit(device=True)
def smaller(x: Any, y: Any) -> Any:
    """The smaller of two numbers; nan if one is."""
    return x if x <= y or math.isnan(x) else y


@cuda.jit(device=True)
def add(x: Any, y: Any) -> Any:
    """Write x + y."""
    return x + y


@cuda.jit(device=True)
def multiply(x: Any, y: Any) -> Any:
    """Write x·y."""
    return x * y


@cuda.jit(device=True)
def divide(x: Any, y: Any) -> Any:
    """Write x / y."""
    return x / y


@cuda.jit(device=True)
def rsqrt(x: Any) -> Any:
    """Write 1 / √x."""
    return 1.0 / math.sqrt(x)


_QUICK: dict[str, dict[str, Any]] = {
    "float32": {name: getattr(single, name) for name in ("quotient", "sqrt", "rsqrt", "sin", "cos", "tan", "is_far")},
    "float64": {"quotient": divide, "rsqrt": rsqrt},
}
"""What a dtype has in place of the library's functions."""


def _functions(number: Any, whole: float) -> dict[str, Any]:
    """Functions that need constants of their dtype; from `whole` on every number is a whole one."""
    zero, one, most = number(0), number(1), number(whole)
    quotient = _QUICK[number.__name__].get("quotient", divide)

    @cuda.jit(device=True)
    def sigmoid(x: Any) -> Any:
        shrunk = math.exp(-abs(x))  # never too large
        return quotient(choose(x < zero, shrunk, one), one + shrunk)

    @cuda.jit(device=True)
    def softplus(x: Any) -> Any:
        return larger(x, zero) + math.log1p(math.exp(-abs(x)))

    @cuda.jit(device=True)
    def nearest(x: Any) -> Any:
        size = abs(x)
        rounded = (size + most) - most  # the last bit of a number this large is 1: the sum is rounded to a whole one
        return math.copysign(choose(size < most, rounded, size), x)

    return {"sigmoid": sigmoid, "softplus": softplus, "nearest": nearest}


def _normal_cdf(dtype: str) -> Any:
    """The library's, which keeps its digits far out."""
    if SIMULATED:
        return import_module("scipy.special").ndtr
    library = import_module("numba.cuda.libdevice")
    return library.normcdff if dtype == "float32" else library.normcdf


_LIBRARY = ("exp", "expm1", "log", "log1p", "sin", "cos", "tan", "tanh", "erf", "erfc", "sqrt", "floor", "ceil")
_WHOLE = {"float32": 2.0**23, "float64": 2.0**52}
_spaces: dict[str, dict[str, Any]] = {}


def namespace(dtype: str) -> dict[str, Any]:
    """The names that the text of a generated kernel may use, for ``"float32"`` or ``"float64"``."""
    if dtype not in _spaces:
        number = np.dtype(dtype).type
        _spaces[dtype] = {
            "cuda": cuda, "uint32": np.uint32, "number": number, "zero": number(0), "one": number(1),
            "infinity": number(np.inf), "THREADS": THREADS, "WARP": WARP, "choose": choose, "larger": larger,
            "smaller": smaller, "power": math.pow, "add_in_block": add_in_block, "add_in_row": add_in_row,
            "multiply_in_block": multiply_in_block, "multiply_in_row": multiply_in_row,
            "largest_in_block": largest_in_block, "largest_in_row": largest_in_row,
            "smallest_in_block": smallest_in_block, "smallest_in_row": smallest_in_row,
            "add_in_column": add_in_column, "multiply_in_column": multiply_in_column,
            "largest_in_column": largest_in_column, "smallest_in_column": smallest_in_column,
            **{name: getattr(math, name) for name in _LIBRARY},
            **_QUICK[dtype],
            "normal_cdf": _normal_cdf(dtype),
            **_functions(number, _WHOLE[dtype]),
        }  # fmt: skip
    return dict(_spaces[dtype])


def _in_row(step: Any) -> Any:
    """How the threads of a row, which are neighbours along x, fold what they found; every one of them gets it."""

    @cuda.jit(device=True)
    def fold(value: Any, held: Any) -> Any:
        width = cuda.blockDim.x
        apart = min(width, WARP) // 2
        while apart > 0:
            value = step(value, cuda.shfl_xor_sync(ALL, value, apart))
            apart //= 2
        if width > WARP:
            warps, lane = width // WARP, cuda.threadIdx.x
            first = cuda.threadIdx.y * warps
            if lane % WARP == 0:
                held[first + lane // WARP] = value
            cuda.syncthreads()
            value = held[first]
            for other in range(1, warps):
                value = step(value, held[first + other])
            cuda.syncthreads()  # or a quick warp would overwrite what a slow one reads
        return value

    return fold


def _in_block(step: Any) -> Any:
    """How all threads of a block fold what they found; every one of them gets it."""

    @cuda.jit(device=True)
    def fold(value: Any, held: Any) -> Any:
        apart = WARP // 2
        while apart > 0:
            value = step(value, cuda.shfl_xor_sync(ALL, value, apart))
            apart //= 2
        thread = cuda.threadIdx.y * cuda.blockDim.x + cuda.threadIdx.x
        if thread % WARP == 0:
            held[thread // WARP] = value
        cuda.syncthreads()
        value = held[0]
        for other in range(1, THREADS // WARP):
            value = step(value, held[other])
        cuda.syncthreads()
        return value

    return fold


def _in_column(step: Any) -> Any:
    """How the threads of a column, which lie along y, fold what they found; the first of them gets it."""

    @cuda.jit(device=True)
    def fold(value: Any, held: Any) -> Any:
        width, lane = cuda.blockDim.x, cuda.threadIdx.y
        place = lane * width + cuda.threadIdx.x
        held[place] = value
        cuda.syncthreads()
        apart = cuda.blockDim.y // 2
        while apart > 0:
            if lane < apart:
                held[place] = step(held[place], held[place + apart * width])
            cuda.syncthreads()
            apart //= 2
        value = held[place]
        cuda.syncthreads()
        return value

    return fold


add_in_row, multiply_in_row, largest_in_row, smallest_in_row = map(_in_row, (add, multiply, larger, smaller))
add_in_block, multiply_in_block, largest_in_block, smallest_in_block = map(_in_block, (add, multiply, larger, smaller))
add_in_column, multiply_in_column, largest_in_column, smallest_in_column = map(
    _in_column, (add, multiply, larger, smaller)
)


def _fold(name: str, step: Any, in_column: Any, start: float) -> Kernel:
    """The kernel of the second stage: `count` rows of parts become one."""

    def fold(parts: Any, made: Any, count: Any, columns: Any, divisor: Any) -> None:
        """Fold the rows of parts into one, and divide it."""
        held = cuda.shared.array(THREADS, parts.dtype)
        column = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
        value, height = parts.dtype.type(start), cuda.blockDim.y
        if column < columns:
            row = cuda.threadIdx.y
            while row + 3 * height < count:  # four reads under way
                at = row * columns + column
                a, b = parts[at], parts[at + height * columns]
                c, d = parts[at + 2 * height * columns], parts[at + 3 * height * columns]
                value = step(value, step(step(a, b), step(c, d)))
                row += 4 * height
            while row < count:
                value = step(value, parts[row * columns + column])
                row += height
        value = in_column(value, held)
        if column < columns and cuda.threadIdx.y == 0:
            made[column] = value / divisor

    fold.__name__ = name
    declare: Callable[[Callable[..., None]], Kernel] = kernel(("fused",), "T[::1], T[::1], int32, int32, T")
    return declare(fold)


FOLDS = {
    "sum": _fold("fold_sums", add, add_in_column, 0.0),
    "prod": _fold("fold_products", multiply, multiply_in_column, 1.0),
    "max": _fold("fold_largest", larger, largest_in_column, -np.inf),
    "min": _fold("fold_smallest", smaller, smallest_in_column, np.inf),
}
FOLDS["mean"] = FOLDS["sum"]
"""The kernels of the second stage, by the name of the reduction."""


def folded(op: str, parts: DeviceArray, made: DeviceArray, count: int, columns: int, divisor: int) -> None:
    """Fold `count` rows of parts into the elements of `made`, and divide them by `divisor`."""
    width = 1
    while width < columns and width < min(WARP, THREADS):
        width *= 2
    number = parts.dtype.type
    launch(
        FOLDS[op], -(-columns // width), (width, THREADS // width), parts, made, np.int32(count), np.int32(columns),
        number(divisor),
    )  # fmt: skip
