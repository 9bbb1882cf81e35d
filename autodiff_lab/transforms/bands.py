"""Bands: stacks of cotangents that are zero but for some diagonals, kept as those diagonals.

Elementwise rules scale the columns of a stack of unit cotangents and slices shift them, so that of n × n elements n
matter.  See `structured` for what rules are given.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from autodiff_lab.engine.namespace import RAW
from autodiff_lab.transforms.structured import RULES, Structured

MOST_DIAGONALS = 8
"""With more diagonals than that the whole stack is quicker."""


class Piece(NamedTuple):
    """Values on the diagonal ``row = column - offset``, from column `first` on; those outside of the stack are 0."""

    offset: int
    first: int
    value: Any

    @property
    def length(self) -> int:
        """Number of columns."""
        return self.value.shape[0]


class Bands(Structured):
    """A stack of cotangents, as a matrix with one cotangent a row; pieces on one diagonal are added where they meet."""

    __slots__ = ("pieces",)

    def __init__(self, shape: tuple[int, ...], pieces: list[Piece]) -> None:
        self.shape, self.pieces = shape, pieces

    @property
    def dtype(self) -> np.dtype[Any]:
        """Element type."""
        return self.pieces[0].value.dtype

    def whole(self) -> np.ndarray[Any, Any]:
        """Make the stack as an array."""
        offsets, firsts, values = zip(*self.pieces, strict=True)
        return diagonals(*values, offsets=offsets, firsts=firsts, shape=self.shape)


def unit_stack(y: Any) -> Bands:
    """Make the stack of unit cotangents of an array."""
    return Bands((y.size, *y.shape), [Piece(0, 0, np.ones(y.size, y.dtype))])


@lru_cache(64)
def diagonal_places(
    offsets: tuple[int, ...], firsts: tuple[int, ...], lengths: tuple[int, ...], rows: int, columns: int
) -> tuple[tuple[slice, slice, bool], ...]:
    """Find of each piece what of it lies in the stack, where among all elements, and whether a piece lies there."""
    made: list[tuple[slice, slice, bool]] = []
    for n, (offset, first, length) in enumerate(zip(offsets, firsts, lengths, strict=True)):
        low = max(first, offset)
        high = max(low, min(first + length, rows + offset))
        start, step = (low - offset) * columns + low, columns + 1
        place = slice(start, max(start, start + (high - low - 1) * step + 1), step)
        made.append((slice(low - first, high - first), place, offset in offsets[:n]))
    return tuple(made)


def diagonals(*pieces: Any, offsets: tuple[int, ...], firsts: tuple[int, ...], shape: tuple[int, ...]) -> Any:
    """Put pieces on diagonals of zeros."""
    whole = np.zeros(shape, pieces[0].dtype)
    flat = whole.reshape(-1)
    lengths = tuple([piece.size for piece in pieces])
    places = diagonal_places(offsets, firsts, lengths, shape[0], math.prod(shape[1:]))
    for piece, (part, place, taken) in zip(pieces, places, strict=True):
        if taken:
            flat[place] += piece[part]
        else:
            flat[place] = piece[part]
    return whole


# --- rules: what ops make of bands; None where they need the whole stack ---------------------------------------------


def _merged(ops: Any, g: Bands) -> Bands:
    """Add up pieces of one diagonal."""
    kept: dict[int, Piece] = {}
    for piece in g.pieces:
        other = kept.get(piece.offset)
        if other is not None:
            first = min(other.first, piece.first)
            length = max(other.first + other.length, piece.first + piece.length) - first
            value = _padded(ops, other, first, length) + _padded(ops, piece, first, length)
            piece = Piece(piece.offset, first, value)
        kept[piece.offset] = piece
    return g if len(kept) == len(g.pieces) else Bands(g.shape, list(kept.values()))


def _padded(ops: Any, piece: Piece, first: int, length: int) -> Any:
    """Put zeros around a piece."""
    if piece.length == length:
        return piece.value
    start, stop = piece.first - first, piece.first - first + piece.length
    if not ops.raw:
        return ops.unslice(piece.value, items=(("s", start, stop, None),), shape=(length,))
    value = np.zeros(length, piece.value.dtype)  # for a third of the price
    value[start:stop] = piece.value
    return value


def _by_column(ops: Any, by: Any, stack: tuple[int, ...]) -> Any:
    """Give an operand as one number, or one for each column; None where it is something else."""
    shape, each = getattr(by, "shape", ()), stack[1:]
    if not shape:
        return by
    if shape == each:
        return by if len(each) == 1 else by.reshape((math.prod(each),))
    padded = (1,) * (len(stack) - len(shape)) + shape
    if (
        len(padded) != len(stack)
        or padded[0] != 1
        or any(n not in (1, m) for n, m in zip(padded[1:], each, strict=True))
    ):
        return None
    if math.prod(shape) == 1:
        return by.reshape(())
    spread = ops.broadcast_to(by.reshape(padded[1:]), shape=each)  # a row or a column of a matrix
    return spread.reshape((math.prod(each),))


def _columnwise(function: Callable[[Any, Any], Any], g: Bands, by: Any) -> Bands:
    """Apply a function to each piece and what belongs to its columns; single numbers belong to all."""
    columns = by.shape[0] if getattr(by, "shape", ()) else 0
    pieces: list[Piece] = []
    for offset, first, value in g.pieces:
        length = value.shape[0]
        mine = by if not columns or length == columns else by[first : first + length]
        pieces.append(Piece(offset, first, function(value, mine)))
    return Bands(g.shape, pieces)


def _scaled(ops: Any, function: Callable[[Any, Any], Any], g: Any, by: Any) -> Bands | None:
    """Multiply or divide each column by its own factor."""
    if g.__class__ is not Bands or by.__class__ is Bands:
        return None
    if ops.raw:
        elsewhere = function(g.dtype.type(0), by)  # what becomes of all that is outside the bands
        if np.count_nonzero(elsewhere) or elsewhere.dtype != g.dtype:
            return None
        if (
            len(g.pieces) == 1 and elsewhere.shape == g.shape[1:] == g.pieces[0].value.shape
        ):  # most of them, spelled out
            offset, first, value = g.pieces[0]
            return Bands(g.shape, [Piece(offset, first, function(value, by))])
    elif by.dtype != g.dtype:
        return None
    factor = _by_column(ops, by, g.shape)
    if factor is None:
        return None
    if len(g.pieces) > 1:
        g = _merged(ops, g)
    if not ops.raw:
        columns = g.columns
        g = Bands(g.shape, [Piece(p.offset, 0, _padded(ops, p, 0, columns)) for p in g.pieces])
    return _columnwise(function, g, factor)


def _multiply(ops: Any, x: Any, y: Any) -> Bands | None:
    return _scaled(ops, operator.mul, x, y) if x.__class__ is Bands else _scaled(ops, operator.mul, y, x)


def _divide(ops: Any, x: Any, y: Any) -> Bands | None:
    return _scaled(ops, operator.truediv, x, y)


def _gate(ops: Any, g: Any, mask: Any) -> Bands | None:
    return _scaled(ops, ops.gate, g, mask)


def _choosing(name: str) -> Callable[..., Bands | None]:
    def choose(ops: Any, g: Any, condition: Any) -> Bands | None:
        """Keep some columns; the others become 0."""
        if condition.shape != g.shape[1:]:
            return None
        return _columnwise(getattr(ops, name), g, _by_column(ops, condition, g.shape))

    return choose


def _negative(ops: Any, g: Bands) -> Bands:
    return Bands(g.shape, [Piece(offset, first, -value) for offset, first, value in g.pieces])


def _add(ops: Any, x: Any, y: Any) -> Bands | None:
    """Add pieces of the same place, and put others side by side."""
    if x.__class__ is not Bands or y.__class__ is not Bands or x.shape != y.shape or x.dtype != y.dtype:
        return None
    pieces = {(p[0], p[1], p[2].shape[0]): p for p in x.pieces}
    for p in y.pieces:
        key = (p[0], p[1], p[2].shape[0])
        pieces[key] = Piece(p[0], p[1], pieces[key].value + p.value) if key in pieces else p
    made = Bands(x.shape, list(pieces.values()))
    if len(pieces) > MOST_DIAGONALS:
        made = _merged(ops, made)
    return made if len(made.pieces) <= MOST_DIAGONALS else None


def _subtract(ops: Any, x: Any, y: Any) -> Bands | None:
    return _add(ops, x, _negative(ops, y)) if x.__class__ is y.__class__ else None


def _range(items: Any, shape: tuple[int, ...]) -> range | None:
    """Find the columns that an index takes where only one axis matters and it takes a stretch of that."""
    if len(shape) == 1 == len(items) and items[0][0] == "s":
        found = range(*slice(*items[0][1:]).indices(shape[0]))
        return found if found.step == 1 and found else None
    matters: list[tuple[Any, int]] = []
    axes = iter(shape)
    for item in items:
        if item[0] != "n":
            length = next(axes, None)
            if length is None:
                return None
            if length != 1:
                matters.append((item, length))
    matters += [(("s", None, None, None), length) for length in axes if length != 1]
    if len(matters) != 1 or matters[0][0][0] != "s":
        return None
    found = range(*slice(*matters[0][0][1:]).indices(matters[0][1]))
    return found if found.step == 1 and found else None


def _slice(ops: Any, g: Bands, items: Any) -> Bands | None:
    taken = _range(items, g.shape[1:])
    if taken is None:
        return None
    start, stop = taken.start, taken.stop
    pieces: list[Piece] = []
    for p in g.pieces:
        low, high = max(p.first, start), min(p.first + p.length, stop)
        if low < high:
            value = p.value if high - low == p.length else p.value[low - p.first : high - p.first]
            pieces.append(Piece(p.offset - start, low - start, value))
    inner = (len(taken),) if g.ndim == 2 == 1 + len(items) else _shape_of("slice", g.shape[1:], items=items)
    return Bands((g.shape[0], *inner), pieces) if pieces and math.prod(inner) == len(taken) else None


def _shape_of(op: str, shape: tuple[int, ...], **params: Any) -> tuple[int, ...]:
    return getattr(RAW, op)(np.broadcast_to(np.float32(0), shape), **params).shape


def _unslice(ops: Any, g: Bands, items: Any, shape: tuple[int, ...]) -> Bands | None:
    taken = _range(items, shape)
    if taken is None or len(taken) != g.columns:
        return None
    by = taken.start
    return Bands((g.shape[0], *shape), [Piece(p.offset + by, p.first + by, p.value) for p in g.pieces])


def _accumulate_parts(ops: Any, *values: Any, places: Any, shape: tuple[int, ...], onto: bool) -> Any:
    """Shift each band to where a slice took it from, and add them."""
    found = values[0] if onto else None
    for value, (op, params) in zip(values[onto:], places, strict=True):
        usable = op == "slice" and value.__class__ is Bands
        band = _unslice(ops, value, shape=shape[1:], **dict(params)) if usable else None
        found = band if found is None else _add(ops, found, band)
        if found is None:
            return None
    return found


def _reshape(ops: Any, g: Bands, shape: tuple[int, ...]) -> Bands | None:
    return Bands(shape, g.pieces) if shape[0] == g.shape[0] and math.prod(shape[1:]) == g.columns else None


def _transpose(ops: Any, g: Bands, perm: tuple[int, ...]) -> Bands | None:
    """Move axes of length 1, which moves no element."""
    if len(perm) == g.ndim or sum(n != 1 for n in g.shape[1:]) != 1:
        return None
    return Bands((g.shape[0], *_shape_of("transpose", g.shape[1:], perm=perm)), g.pieces)


def _matmul(ops: Any, x: Any, y: Any) -> Any:
    """Multiply unit rows by a matrix, or a matrix by unit columns: a scaled row of the matrix for each cotangent."""
    left = x.__class__ is Bands
    g, matrix = (x, y) if left else (y, x)
    if matrix.__class__ is Bands or len(matrix.shape) != 2 or matrix.dtype != g.dtype:
        return None
    if len(g.pieces) > 1:
        g = _merged(ops, g)
    piece, count, inner = g.pieces[0], g.shape[0], g.shape[1:]
    if len(g.pieces) > 1 or piece.offset or piece.length != count:
        return None
    if inner not in (((count,), (1, count)) if left else ((count, 1),)):
        return None
    if ops.raw and not np.logical_and.reduce(np.isfinite(matrix), axis=None):
        return None
    rows = matrix if left else matrix.T
    product = piece.value.reshape((count, 1)) * rows
    if not ops.raw:
        product = ops.finite(product)
    return product.reshape((count, *inner[:-1], rows.shape[1]) if left else (count, rows.shape[1], 1))


def _sum(ops: Any, g: Bands, axes: tuple[int, ...], keepdims: bool) -> Any:
    """Add the elements of each cotangent up: what lies on the diagonals, by rows."""
    count, rank = g.shape[0], g.ndim
    left = [k for k in range(1, rank) if k - rank not in axes and k not in axes]
    if any(axis in (0, -rank) for axis in axes) or any(g.shape[k] != 1 for k in left):
        return None
    total: Any = None
    for offset, first, value in _merged(ops, g).pieces:
        low, high = max(first, offset), min(first + value.shape[0], count + offset)
        if low < high:
            part = value if high - low == value.shape[0] else value[low - first : high - first]
            part = _padded(ops, Piece(offset, low - offset, part), 0, count)
            total = part if total is None else total + part
    if total is None:
        return None
    if not ops.raw:
        total = ops.finite(total)
    shape = (count, *([1] * (rank - 1) if keepdims else [1 for _ in left]))
    return total if shape == total.shape else total.reshape(shape)


_RULES: dict[str, Callable[..., Any]] = {
    "accumulate_parts": _accumulate_parts, "add": _add, "divide": _divide, "gate": _gate, "matmul": _matmul,
    "multiply": _multiply, "negative": _negative, "reshape": _reshape, "select": _choosing("select"),
    "select_not": _choosing("select_not"), "slice": _slice, "subtract": _subtract, "sum": _sum,
    "transpose": _transpose, "unslice": _unslice,
}  # fmt: skip


CHEAP = frozenset(_RULES)
"""Ops whose rules leave bands what they are, as those of elementwise ops do, if shapes allow."""


def _of_bands(rule: Callable[..., Any]) -> Callable[..., Any]:
    def apply(ops: Any, *given: Any, **params: Any) -> Any:
        if any(isinstance(one, Structured) and one.__class__ is not Bands for one in given):
            return None
        return rule(ops, *given, **params)

    return apply


for _name, _rule in _RULES.items():
    RULES.setdefault(_name, []).append(_of_bands(_rule))
