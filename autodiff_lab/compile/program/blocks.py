"""Blocks: ops that a function on flat arrays computes in compiled code, inside a recurrence or as a step of a sequence.

A block is what the call needs beside the arrays: the function, its sizes, and which operands it reads along strides.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from autodiff_lab.compile.program.program import Line, Program, Value
from autodiff_lab.compile.program.transforms import FUNCTIONS
from autodiff_lab.engine.op import Op
from autodiff_lab.kernels.matmul.little_exponential import WIDEST, room_of

LARGEST_MATRIX = 32
"""Rows of the largest matrix that is not left to LAPACK, where a call of it stands by itself."""
LARGEST_IN_LOOP = 64
"""Rows of the largest matrix in a loop, which runs without Python only if all of it does."""
MOST_INSERTED, LONGEST_ORDER = 16, 64
"""Positions that are kept in order while a row of any length is read, and elements of a row that is ordered so."""
LONGEST_PRODUCTS = 100_000
"""Multiplications of the products of exponentials that are not left to BLAS, unless the matrices lie side by side."""
LONGEST_SUM = 4096
"""Elements of the longest sum, which is added up in its own precision."""
_FLOATS, _INTEGERS, _COMPLEX = ("float32", "float64"), ("int32", "int64"), ("complex64", "complex128")
_MATRICES, _POSITIONS = "autodiff_lab.kernels.matmul.little", "autodiff_lab.kernels.indexing.little"
_EXPONENTIALS = "autodiff_lab.kernels.matmul.little_exponential"
_ORDERS = "autodiff_lab.kernels.ordering.little"
_REDUCTIONS, _FOURIER = "autodiff_lab.kernels.reductions.little", "autodiff_lab.kernels.fourier.little"


class Block(NamedTuple):
    """A call ``function(result, [room,] *operands, *sizes, *strides)`` that returns 1 if it declines.

    Attributes
    ----------
    module, function : str
        What is called.
    sizes : tuple of int
        Numbers that are passed.
    matrices : tuple of bool
        For each operand, whether it is a stack of matrices: how far apart these, their rows and their columns lie is
        passed then.  Other operands are contiguous.
    room : int
        Elements of memory that it needs for itself; 0 if it takes none.
    """

    module: str
    function: str
    sizes: tuple[int, ...]
    matrices: tuple[bool, ...]
    room: int = 0


def block_of(line: Line, program: Program, *, in_loop: bool = False) -> Block | None:
    """Return the block that computes a line, None if there is none."""
    made = _BLOCKS.get(line.op.name)
    if made is None or len(line.outs) != 1:
        return None
    values = [program.values[i] for i in (*line.ins, *line.outs)]
    first, out = values[0], values[-1]
    free = not in_loop or line.op.name in _IN_LOOPS or (out.dtype.name in _FLOATS and line.op.name not in FUNCTIONS)
    if first.dtype.name not in (_GIVEN.get(line.op.name, _FLOATS) if free else _FLOATS):
        return None
    if out.dtype != first.dtype and not (free and line.op.name in _FINDING):
        return None
    if any(v.memory is not None or 0 in v.shape for v in values):
        return None
    found = made(line, values)
    most = LARGEST_IN_LOOP if in_loop else LARGEST_MATRIX
    return None if found is None or (found.matrices[0] and first.shape[-1] > most) else found


def _one_matrix(function: str) -> Callable[[Line, list[Value]], Block | None]:
    def made(line: Line, values: list[Value]) -> Block | None:
        *lead, n, _ = values[0].shape
        if len(line.ins) > 1:  # LU factors are there
            return None
        return Block(_MATRICES, function, (math.prod(lead), n), (True,), 0 if function == "cholesky" else n * n)

    return made


def _qr(line: Line, values: list[Value]) -> Block:
    *lead, m, n = values[0].shape
    return Block(_MATRICES, "qr", (math.prod(lead), m, n), (True,), m * n + 2 * n)


def _system(line: Line, values: list[Value]) -> Block | None:
    a, b = values[0].shape, values[1].shape
    if len(line.ins) > 2 or values[1].dtype != values[0].dtype or (a[:-2] != b[:-2] and a[:-2]):
        return None
    name = "solve" if line.op.name == "solve" else "triangular"
    how = (int(line.params["lower"]),) if name == "triangular" else ()
    return Block(_MATRICES, name, (math.prod(b[:-2]), *b[-2:], *how), (True, True), 0 if how else a[-1] ** 2)


def _exponential(line: Line, values: list[Value]) -> Block | None:
    *lead, n, _ = values[0].shape
    sizes, given = (math.prod(lead), n), len(line.ins)
    if values[-2].shape != values[0].shape or values[-2].dtype != values[0].dtype:
        return None
    if n > WIDEST and sizes[0] * n**3 > LONGEST_PRODUCTS:
        return None
    return Block(_EXPONENTIALS, line.op.name, sizes, (True,) * given, room_of(*sizes, given))


def _three_diagonals(line: Line, values: list[Value]) -> Block | None:
    diagonals, b, _ = values
    if diagonals.dtype != b.dtype or diagonals.shape[:-2] != b.shape[:-2]:
        return None
    n = b.shape[-2]
    return Block(_MATRICES, "tridiagonal", (math.prod(b.shape[:-2]), *b.shape[-2:]), (False, False), 3 * n)


def _along(axis: int, shape: tuple[int, ...]) -> tuple[int, int, int]:
    """Return how many rows are before an axis, its length, and how many elements are after it."""
    at = axis % len(shape)
    return math.prod(shape[:at]), shape[at], math.prod(shape[at + 1 :])


def _are_positions(value: Value) -> bool:
    return value.dtype.name in ("int32", "int64")


def _along_rows(line: Line, values: list[Value]) -> Block | None:
    axis, puts = line.params["axis"], line.op.name == "put_along"
    sizes = *_along(axis, values[-1 if puts else 0].shape), values[1].shape[axis], int(puts)
    alike = {v.shape[: axis + len(v.shape)] + v.shape[axis + len(v.shape) + 1 :] for v in values}
    fits = _are_positions(values[1]) and len(alike) == 1
    return Block(_POSITIONS, "along_rows", sizes, (False, False)) if fits else None


def _transformed(line: Line, values: list[Value]) -> Block | None:
    function, inverse = FUNCTIONS[line.op.name]
    x, roots, _ = values
    rows, n = math.prod(x.shape[:-1]), roots.shape[0]
    return Block(_FOURIER, function, (rows, n, inverse), (False, False), 2 * rows * n)


def _hot(line: Line, values: list[Value]) -> Block | None:
    out, (on, off) = values[-1], (line.params.get(key, default) for key, default in (("on", 1), ("off", 0)))
    if out.dtype.name not in (*_FLOATS, *_INTEGERS) or not {on, off} <= {0, 1}:
        return None
    sizes = (*_along(line.params.get("axis", -1), out.shape), int(on), int(off), int(line.op.name == "marked_classes"))
    return Block(_POSITIONS, "one_hot", sizes, (False,))


def _ordered(line: Line, values: list[Value]) -> Block | None:
    sizes, falls = _along(line.params.get("axis", -1), values[0].shape), line.params.get("descending", True)
    count = line.params.get("k", sizes[1])
    found = Block(_POSITIONS, "find_order", (*sizes, count, int(falls)), (False,))
    return found if count <= MOST_INSERTED or sizes[1] <= LONGEST_ORDER else None


def _gathered(line: Line, values: list[Value]) -> Block | None:
    x, positions, _ = values
    if not _are_positions(positions):
        return None
    sizes = (*_along(line.params["axis"], x.shape), math.prod(positions.shape))
    return Block(_POSITIONS, "gather", sizes, (False, False))


def _repeated(line: Line, values: list[Value]) -> Block:
    outer, length, inner = _along(line.params["axis"], values[0].shape)
    return Block(_POSITIONS, "repeat", (outer * length, inner, line.params["count"]), (False,))


def _scattered(line: Line, values: list[Value]) -> Block | None:
    g, positions, out = values
    if not _are_positions(positions) or len(g.shape) != len(out.shape) - 1 + len(positions.shape):
        return None
    sizes = (*_along(line.params["axis"], out.shape), math.prod(positions.shape))
    return Block(_POSITIONS, "scatter", sizes, (False, False))


def _moved(line: Line, values: list[Value]) -> Block | None:
    x, take, put, out = values
    if not (_are_positions(take) and _are_positions(put)):
        return None
    sizes = (x.shape[0], out.shape[0], math.prod(out.shape[1:]), math.prod(take.shape))
    return Block(_POSITIONS, "move", sizes, (False, False, False))


def _by_coordinates(line: Line, values: list[Value]) -> Block | None:
    given, coordinates, out = values
    gathers = line.op.name == "gather_nd"
    depth = coordinates.shape[-1] if coordinates.shape else 0
    if not _are_positions(coordinates) or not 0 < depth <= 4:
        return None
    lead = line.params.get("lead", 0) if gathers else len(out.shape) - len(line.params["shape"])
    whole = given.shape if gathers else out.shape
    lengths = whole[lead : lead + depth]
    if len(lengths) != depth:
        return None
    sizes = (math.prod(whole[:lead]), math.prod(whole[lead + depth :]), math.prod(coordinates.shape[:-1]), depth)
    return Block(_POSITIONS, line.op.name, (*sizes, *lengths, *(1,) * (4 - depth)), (False, False))


def _scanned(line: Line, values: list[Value]) -> Block | None:
    how = (int(line.params["exclusive"]), int(line.params["reverse"]), int(line.op.name == "cumprod"))
    return Block(_POSITIONS, "accumulate", (*_along(line.params["axis"], values[0].shape), *how), (False,))


def _topped(line: Line, values: list[Value]) -> Block | None:
    sizes = (*_along(line.params["axis"], values[0].shape), int(line.params["reverse"]))
    return Block(_POSITIONS, "accumulate_top", sizes, (False,))


def _recurrent(line: Line, values: list[Value]) -> Block | None:
    b, a, out = values
    if a.dtype != b.dtype or not a.shape == b.shape == out.shape:
        return None
    sizes = (*_along(line.params["axis"], b.shape), int(line.params["reverse"]))
    return Block(_POSITIONS, "recur", sizes, (False, False))


_REDUCED_BY = {
    "max": ("reduce_to_extreme", 1), "mean": ("reduce_sum", 1), "min": ("reduce_to_extreme", 0),
    "prod": ("reduce_prod", 0), "sum": ("reduce_sum", 0),
}  # fmt: skip
"""The function for each reduction, and what it is told."""
_OF_INTEGERS = {"all": 3, "any": 2, "max": 2, "min": 3, "prod": 1, "sum": 0}
"""What the function for integers is told; of bools the largest is true if any is."""


def _reduced(line: Line, values: list[Value]) -> Block | None:
    shape = values[0].shape
    axes = sorted(axis % len(shape) for axis in line.params["axes"]) if shape else []
    if not axes or axes != list(range(axes[0], axes[-1] + 1)):
        return None
    length = math.prod(shape[axes[0] : axes[-1] + 1])
    sizes = (math.prod(shape[: axes[0]]), length, math.prod(shape[axes[-1] + 1 :]))
    if values[0].dtype.kind == "c":
        return Block(_REDUCTIONS, "reduce_complex", (*sizes, int(line.op.name == "mean")), (False,))
    if values[0].dtype.kind != "f":
        return Block(_REDUCTIONS, "reduce_integers", (*sizes, _OF_INTEGERS[line.op.name]), (False,))
    name, how = _REDUCED_BY[line.op.name]
    return Block(_REDUCTIONS, name, (*sizes, how), (False,)) if length <= LONGEST_SUM else None


def _found(line: Line, values: list[Value]) -> Block | None:
    sizes = _along(line.params["axis"], values[0].shape)
    return Block(_REDUCTIONS, "find_extreme", (*sizes, int(line.op.name == "argmax")), (False,))


def _by_segment(line: Line, values: list[Value]) -> Block | None:
    x, positions, out = values
    if not _are_positions(positions) or len(positions.shape) != 1:
        return None
    sizes = (1, out.shape[0], math.prod(out.shape[1:]), positions.shape[0])
    if line.op.name == "segment_sum":
        return Block(_POSITIONS, "scatter", sizes, (False, False))
    limits, empty = np.finfo(x.dtype), line.params["empty"]
    if empty not in (0.0, limits.min, limits.max):
        return None
    how = (int(line.op.name == "segment_max"), int(np.sign(empty)))
    return Block(_POSITIONS, "extremes", (*sizes[1:], *how), (False, False), out.shape[0])


_CHANGES = {"tensor_scatter_nd_add": 1, "tensor_scatter_nd_sub": -1, "tensor_scatter_nd_update": 0}
LARGEST_COPY = 1 << 13
"""Elements of the largest array that is copied to change some of its rows; a variable changes rows in place."""


def _changed(line: Line, values: list[Value]) -> Block | None:
    x, updates, at, _ = values
    depth = at.shape[-1] if at.shape else 0
    if not _are_positions(at) or not 0 < depth <= min(4, len(x.shape)) or math.prod(x.shape) > LARGEST_COPY:
        return None
    if updates.dtype != x.dtype or updates.shape != (*at.shape[:-1], *x.shape[depth:]):
        return None
    sizes = (math.prod(x.shape[depth:]), math.prod(at.shape[:-1]), depth, *x.shape[:depth], *(1,) * (4 - depth))
    return Block(_POSITIONS, "change_rows", (*sizes, _CHANGES[line.op.name]), (False, False, False))


def _assumed(line: Line, values: list[Value]) -> Block | None:
    value = line.params["value"]
    return Block(_POSITIONS, "expect", (int(value[0]),), (False,)) if len(value) == 1 else None


def _searched(line: Line, values: list[Value]) -> Block | None:
    rows, wanted, _ = values
    if rows.dtype != wanted.dtype:
        return None
    count = math.prod(rows.shape[:-1])
    each = math.prod(wanted.shape) // count
    sizes = (count, rows.shape[-1], each, int(line.params["side"] == "right"))
    return Block(_ORDERS, "search", sizes, (False, False))


def _checked(line: Line, values: list[Value]) -> Block:
    return Block(_POSITIONS, "copy_finite", (math.prod(values[0].shape),), (False,))


_FINDING = frozenset(
    {*FUNCTIONS, "argmax", "argmin", "argsort", "marked_classes", "one_hot", "searchsorted", "top_positions"}
)
"""Blocks whose result has another dtype than what they are given."""
_IN_LOOPS = frozenset(
    {"all", "any", "argmax", "argmin", "argsort", "marked_classes", "one_hot", "searchsorted", "top_positions"}
)
"""Blocks that find or read positions or truth values, and which loops call as well; others make floats alone there."""
_GIVEN = {
    **dict.fromkeys(("argsort", "take_along", "top_positions", *_CHANGES), (*_FLOATS, *_INTEGERS)),
    **dict.fromkeys(("gather", "gather_nd", "repeat"), (*_FLOATS, *_INTEGERS, *_COMPLEX, "bool")),
    **dict.fromkeys(("scatter_axis", "scatter_nd"), (*_FLOATS, *_INTEGERS, *_COMPLEX)),
    **dict.fromkeys(("max", "min", "prod"), (*_FLOATS, *_INTEGERS)),
    **dict.fromkeys(FUNCTIONS, (*_FLOATS, *_COMPLEX)),
    "mean": (*_FLOATS, *_COMPLEX),
    "sum": (*_FLOATS, *_INTEGERS, *_COMPLEX),
    **dict.fromkeys(("cumprod", "cumsum"), (*_FLOATS, *_INTEGERS)),
    **dict.fromkeys(("all", "any"), ("bool",)),
    **dict.fromkeys(("marked_classes", "one_hot"), _INTEGERS),
    "expect": (*_INTEGERS, "bool"),
}
"""The dtypes of what blocks are given, for those that do not take floats alone."""
_BLOCKS: dict[str, Callable[[Line, list[Value]], Block | None]] = {
    "all": _reduced, "any": _reduced, "marked_classes": _hot, "one_hot": _hot, **dict.fromkeys(FUNCTIONS, _transformed),
    "argmax": _found, "argmin": _found, "argsort": _ordered, "cholesky": _one_matrix("cholesky"), "cumprod": _scanned,
    "cumsum": _scanned, "expect": _assumed, "expm": _exponential,
    "expm_frechet": _exponential, "finite": _checked, "put_along": _along_rows, "take_along": _along_rows,
    "top_positions": _ordered,
    "det": _one_matrix("determinant"), "det_log": _one_matrix("determinant_log"),
    "det_sign": _one_matrix("determinant_sign"), "gather": _gathered, "gather_nd": _by_coordinates,
    "inv": _one_matrix("inverse"), "max": _reduced, "mean": _reduced, "min": _reduced, "moved_rows": _moved,
    "prod": _reduced, "qr_packed": _qr, "recurrence": _recurrent, "repeat": _repeated, "running_top": _topped,
    "scatter_axis": _scattered,
    "scatter_nd": _by_coordinates, "searchsorted": _searched,
    "segment_max": _by_segment, "segment_min": _by_segment, "segment_sum": _by_segment, "solve": _system,
    "sum": _reduced, "tridiagonal_solve": _three_diagonals, "triangular_solve": _system,
    **dict.fromkeys(_CHANGES, _changed),
}  # fmt: skip

DET_SIGN = Op("det_sign", lambda x: np.linalg.slogdet(x)[0].astype(x.dtype)[()], None, 1,
              sentence="takes the sign of the determinant of {0}")  # fmt: skip
DET_LOG = Op("det_log", lambda x: np.linalg.slogdet(x)[1].astype(x.dtype)[()], None, 1,
             sentence="takes the logarithm of the determinant of {0}")  # fmt: skip
