"""Sums into zeros by position: what the rules of gathering need, and sums over segments.

All three come down to rows that are added up by position.  `np.add.at` is several times as fast on a vector as on rows,
so it is given the position of every element.

Elements picked by position along an axis, by rows of coordinates, or by a condition.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from autodiff_lab.errors import InvalidArgumentError
from autodiff_lab.kernels.arrays import bits_of, full, on_gpu, ranked, word_of, zeros
from autodiff_lab.kernels.base.halves import in_float32, is_half
from autodiff_lab.kernels.checks import are_positions, check_positions


def columns(indices: Any) -> tuple[Any, ...]:
    """Rows of coordinates as one array for each axis."""
    indices = ranked(indices)
    return tuple([indices[..., k] for k in range(indices.shape[-1])])


MANY_COORDINATES = 512
"""Coordinates from which on one position for each row of them is quicker to pick by."""


def pointed(x: Any, indices: Any, lead: int = 0) -> tuple[Any, tuple[Any, ...]]:
    """Return a view of x, and the index into it that rows of coordinates are, which count from axis `lead` on.

    Rows of no coordinates stand for the whole: it becomes the only element of an axis of its own.
    """
    x, indices = ranked(x), ranked(indices)
    if indices.shape[-1]:
        return x, (slice(None),) * lead + columns(indices)
    at = zeros(indices.shape[:-1], indices, np.int64)
    return x.reshape(*x.shape[:lead], 1, *x.shape[lead:]), (*(slice(None),) * lead, at)


def check_columns(indices: Any, shape: tuple[int, ...], what: str) -> None:
    """Check rows of coordinates against the shape that they point into.

    Raises
    ------
    InvalidArgumentError
        If there are more coordinates than axes, or one lies outside.
    """
    if indices.__class__ is np.ndarray and indices.shape[-1:] == (1,) and shape and are_positions(indices, shape[0]):
        return  # as most are
    indices = ranked(indices)
    depth = indices.shape[-1]
    if depth > len(shape):
        raise InvalidArgumentError(f"{what}: rows of {depth} indices for a tensor of rank {len(shape)}")
    for k in range(depth):
        column = indices if depth == 1 else indices[..., k]  # to make a view takes as long as to check few positions
        if on_gpu(column) or not are_positions(column, shape[k]):
            check_positions(column, shape[k], f"{what}: an index of axis {k} is not in")


def add_rows(total: Any, positions: Any, rows: Any) -> None:
    """Add rows (n, *s) up in a row-major total (m, *s), by their positions (n)."""
    if rows.ndim == 1 or not rows.size or on_gpu(rows):
        np.add.at(total, positions, rows)
        return
    width = rows.size // len(rows)
    if width == 1:
        np.add.at(total.reshape(-1), positions, rows.reshape(-1))
        return
    at = positions.astype(np.int64, copy=False)[:, None] * width + np.arange(width)
    np.add.at(total.reshape(-1), at.reshape(-1), rows.reshape(-1))


FEW_ROWS = 1024
"""Rows up to which it is kept where they begin."""


def starts_of(lead: tuple[int, ...], length: int) -> Any:
    """Return where rows of a length begin that are laid end to end, as int64 of shape `lead`, not to be written to."""
    return _starts(lead, length) if math.prod(lead) <= FEW_ROWS else _starts.__wrapped__(lead, length)


@lru_cache(256)
def _starts(lead: tuple[int, ...], length: int) -> Any:
    starts = np.arange(0, math.prod(lead) * length, length) if length else np.zeros(math.prod(lead), np.int64)
    starts = starts.reshape(lead)
    starts.setflags(write=False)
    return starts


def as_rows(indices: Any, shape: tuple[int, ...]) -> tuple[Any, int, int]:
    """Return the positions (n) that rows of coordinates (*i, k) have among the m rows of c elements of a shape.

    Returns
    -------
    positions, m, c
    """
    depth = indices.shape[-1]
    if depth == 1:
        return indices.reshape(-1), shape[0], math.prod(shape[1:])
    positions = indices[..., 0].astype(np.int64) if depth else np.zeros(indices.shape[:-1], np.int64)
    for k in range(1, depth):
        positions = positions * shape[k] + indices[..., k]
    return positions.ravel(), math.prod(shape[:depth]), math.prod(shape[depth:])


_FOLDS = {"add": np.add, "sub": np.add, "max": np.maximum, "min": np.minimum, "mul": np.multiply}


def change_rows(total: Any, rows: Any, positions: Any, how: str) -> Any:
    """Change rows (m, c) of a total by rows (n, c) at positions (n), in place; return the total.

    Parameters
    ----------
    how : str
        ``"update"``: replaced, where one position is named twice by the last; ``"add"``, ``"sub"``, ``"max"``,
        ``"min"``, ``"mul"``, ``"div"``: what NumPy's function of the element and each of its rows gives.
    """
    if how == "update":
        total[positions] = rows
        return total
    if how == "div":
        np.divide.at(total, positions, rows)
        return total
    if not positions.size:
        return total
    if how in ("add", "sub") and not is_half(rows.dtype) and total.flags.c_contiguous and rows.dtype == total.dtype:
        add_rows(total, positions, rows if how == "add" else -rows)
        return total
    order = np.argsort(positions, kind="stable")
    found = positions[order]
    starts = np.flatnonzero(np.concatenate(([True], found[1:] != found[:-1])))
    wide = rows.astype(np.float32) if is_half(rows.dtype) else rows
    folded = wide[order]
    if starts.size < order.size:
        folded = _FOLDS[how].reduceat(folded, starts, axis=0)
    at = found[starts]
    change = np.subtract if how == "sub" else _FOLDS[how]
    total[at] = change(total[at].astype(wide.dtype, copy=False), folded).astype(total.dtype, copy=False)
    return total


@in_float32
def scatter_axis(g: Any, indices: Any, axis: int, length: int) -> Any:
    """Add elements up by position along a negative axis of the result, which has that length.

    The axes of the indices stand in g in the place of that axis.
    """
    g, indices = ranked(g), ranked(indices)
    first = g.ndim + axis + 1 - indices.ndim  # where the axes of the indices begin in g
    if not first:  # most calls: of rows
        total = zeros((length, *g.shape[indices.ndim :]), g)
        add_rows(total, indices.ravel(), g if indices.ndim == 1 else g.reshape(indices.size, *total.shape[1:]))
        return total
    moved = np.moveaxis(g, range(first, first + indices.ndim), range(indices.ndim))
    total = zeros((length, *moved.shape[indices.ndim :]), g)
    add_rows(total, indices.ravel(), moved.reshape(indices.size, *total.shape[1:]))
    return np.moveaxis(total, 0, first)


@in_float32
def scatter_nd(g: Any, indices: Any, shape: tuple[int, ...]) -> Any:
    """Add elements up by rows of coordinates; axes of g before those of the indices are a stack.

    Raises
    ------
    InvalidArgumentError
        If there are more coordinates than axes, or one lies outside.
    """
    g = ranked(g)
    lead = g.ndim - (np.ndim(indices) - 1) - (len(shape) - np.shape(indices)[-1])
    check_columns(indices, tuple(shape), "scatter_nd")
    total = zeros(g.shape[:lead] + tuple(shape), g)
    np.add.at(*pointed(total, indices, lead), g)
    return total


@in_float32
def segment_sum(x: Any, ids: Any, count: int) -> Any:
    """Add rows (n, *s) up by segment (n), into (count, *s)."""
    total = zeros((count, *x.shape[1:]), x)
    add_rows(total, ids, x)
    return total


def segment_max(x: Any, ids: Any, count: int, empty: float) -> Any:
    """Largest of the rows (n, *s) of each segment (n), into (count, *s); `empty` where there is none."""
    return _extreme(np.maximum, -np.inf, x, ids, count, empty)


def segment_min(x: Any, ids: Any, count: int, empty: float) -> Any:
    """Least of the rows of each segment, as `segment_max`."""
    return _extreme(np.minimum, np.inf, x, ids, count, empty)


def _extreme(ufunc: Any, start: float, x: Any, ids: Any, count: int, empty: float) -> Any:
    limit = start if x.dtype.kind in "fV" else np.iinfo(x.dtype).min if start < 0 else np.iinfo(x.dtype).max
    best = full((count, *x.shape[1:]), limit, x)
    ufunc.at(best, ids, x)
    if not on_gpu(x):
        best[np.bincount(ids, minlength=count) == 0] = empty
        return best
    held = full((count,), False, x, np.bool_)  # CuPy's bincount asks for the largest number, which waits
    held[ids] = True
    return np.where(held.reshape((count,) + (1,) * (x.ndim - 1)), best, x.dtype.type(empty))


def gather(x: Any, indices: Any, axis: int) -> Any:
    """Pick elements of an axis; the axes of the indices stand in its place.

    Raises
    ------
    InvalidArgumentError
        If an index is out of range; on a GPU when a result is next read.
    """
    if indices.__class__ is not np.ndarray and on_gpu(indices):
        check_positions(indices, x.shape[axis], f"gather: an index of axis {axis % x.ndim} is not in")
    elif not are_positions(indices, x.shape[axis]):
        bad = next(int(i) for i in np.ravel(indices) if not 0 <= i < x.shape[axis])
        cure = ". Negative indices do not count from the end: try index % length" if -x.shape[axis] <= bad < 0 else ""
        raise InvalidArgumentError(f"gather: index {bad} is not in [0, {x.shape[axis]}), the length of the axis{cure}")
    taken = x.take(indices, axis=axis) if x.__class__ is np.ndarray else np.take(x, indices, axis=axis)
    return taken if isinstance(taken, bytes) else taken[()]  # NumPy gives up the string of an array of strings


def gather_nd(x: Any, indices: Any, lead: int = 0) -> Any:
    """Pick elements by rows of coordinates, which count from axis `lead` on.

    Raises
    ------
    InvalidArgumentError
        If there are more coordinates than axes, or one is out of range.
    """
    check_columns(indices, np.shape(x)[lead:], "gather_nd")
    depth = np.shape(indices)[-1]
    if depth > 1 and x.__class__ is indices.__class__ is np.ndarray and indices.size >= MANY_COORDINATES:
        rows, count, _ = as_rows(indices, x.shape[lead : lead + depth])
        flat = x.reshape(*x.shape[:lead], count, *x.shape[lead + depth :])
        return flat.take(rows.reshape(indices.shape[:-1]), axis=lead)
    x, at = pointed(x, indices, lead)
    return x[at]


SHORT_CHOICE = 1 << 15
"""Elements of rows that are chosen as a whole, from which on masks of bits are as quick."""


def choose_elements(x: Any, y: Any, condition: Any) -> Any:
    """Take the elements of x where a condition holds, those of y elsewhere, broadcast."""
    word = word_of(x if x.ndim else y)
    repeated = condition.shape[-1:] == (1,) and max(x.size, y.size) < SHORT_CHOICE  # whole rows, no branch is missed
    if word is None or x.dtype != y.dtype or condition.dtype != np.bool_ or repeated:
        return np.where(condition, x, y)[()]
    if _is_nothing(y):
        return np.bitwise_and(x.view(word), bits_of(condition, word)).view(x.dtype)
    if _is_nothing(x):
        return np.bitwise_and(y.view(word), condition.astype(word) - word(1)).view(y.dtype)
    if word is np.int64:  # as quick as this, for numbers so wide
        return np.where(condition, x, y)[()]
    made = np.bitwise_and(np.bitwise_xor(x.view(word), y.view(word)), bits_of(condition, word))
    return np.bitwise_xor(made, y.view(word), out=made).view(x.dtype)


def _is_nothing(x: Any) -> bool:
    """Return whether a value is one number without any bit: zero, but not minus zero."""
    return not x.ndim and not any(x.tobytes())
