"""Values normalized to mean 0 and variance 1; the references are in `kernels.normalization.reference`.

An array is viewed as (a, n, b, d) and normalized over n and d: rows where b is 1, otherwise columns, of which d
neighbours form a group.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autodiff_lab.kernels.base.loops import override, row_major, rows_of_ones
from autodiff_lab.kernels.normalization import numba_columns as columns
from autodiff_lab.kernels.normalization import numba_rows as rows
from autodiff_lab.kernels.reductions.reference import shape_over

Axes = tuple[int, ...]
FEW = 32_768
"""Elements in columns below which NumPy is quicker: putting statistics together costs tens of microseconds."""


def sizes(shape: tuple[int, ...], axes: Axes) -> tuple[int, int, int, int] | None:
    """Return a, n, b and d; None if the axes are not of that form, or the array is empty."""
    if not axes or 0 in shape:
        return None
    rank = len(shape)
    gone = [k - rank in axes for k in range(rank)]
    runs = [k for k in range(rank) if k == 0 or gone[k] != gone[k - 1]]  # where a run of axes begins
    spans = [(gone[k], math.prod(shape[k:end])) for k, end in zip(runs, [*runs[1:], rank], strict=True)]
    if not spans[0][0]:
        a, spans = spans[0][1], spans[1:]
    else:
        a = 1
    lengths = [length for _, length in spans] + [1] * (3 - len(spans))
    return (a, *lengths) if len(lengths) == 3 else None  # type: ignore[return-value]


def planes(x: Any, axes: Axes, *others: Any) -> tuple[Any, int] | None:
    """Return an array (a, n, b·d), and d; one of rows (a, n, 1) for rows; None for what is left to the reference."""
    found = sizes(x.shape, axes)
    if found is None or any(other.shape != x.shape or other.dtype != x.dtype for other in others):
        return None
    a, n, b, d = found
    if b * d > 1 and x.size < FEW:
        return None
    return row_major(x).reshape(a, n, b * d), d


_ROWS: dict[str, Any] = {"axes": (-1,), "epsilon": 1e-3}


@override(rows.moments, *columns.LOOPS, sample=rows_of_ones(axes=(-1,)))
def moments(x: Any, axes: Axes) -> Any:
    """Mean and variance of rows, columns, or groups of columns."""
    seen = planes(x, axes)
    if seen is None:
        return NotImplemented
    plane, d = seen
    a, n, w = plane.shape
    found = rows.moments_over(plane.reshape(a, n)) if w == 1 else columns.moments_over(plane, d)
    shape = shape_over(x, axes, True)
    return found[0].reshape(shape), found[1].reshape(shape)


@override(rows.forward, *columns.LOOPS, sample=rows_of_ones(**_ROWS))
def plain_normalize(x: Any, axes: Axes, epsilon: float) -> Any:
    """Normalize rows, columns, or groups of columns."""
    seen = planes(x, axes)
    if seen is None:
        return NotImplemented
    plane, d = seen
    a, n, w = plane.shape
    if w == 1:
        return rows.forward_over(plane.reshape(a, n), np.ones(n, x.dtype), np.zeros(n, x.dtype), epsilon).reshape(
            x.shape
        )
    return columns.forward_over(plane, np.ones(w, x.dtype), np.zeros(w, x.dtype), epsilon, d).reshape(x.shape)


@override(rows.grad, *columns.LOOPS, sample=rows_of_ones(2, **_ROWS))
def plain_normalize_grad(g: Any, x: Any, axes: Axes, epsilon: float) -> Any:
    """Gradient of rows, columns, or groups of columns."""
    seen = planes(x, axes, g)
    if seen is None:
        return NotImplemented
    plane, d = seen
    a, n, w = plane.shape
    g_plane = row_major(g).reshape(plane.shape)
    if w == 1:
        flat = rows.grad_over(g_plane.reshape(a, n), plane.reshape(a, n), np.ones(n, x.dtype), epsilon)
        return flat.reshape(x.shape)
    return columns.grad_over(g_plane, plane, np.ones(w, x.dtype), epsilon, d)[0].reshape(x.shape)


def _scales(plane: Any, d: int, scale: Any, x: Any, axes: Axes) -> bool:
    """Return whether a scale has one number for each element of a row, or for each column."""
    a, _, w = plane.shape
    rank = scale.ndim
    there = {k for k in range(-rank, 0) if scale.shape[k] != 1}
    kept = {k for k in range(-x.ndim, 0) if x.shape[k] != 1}
    if scale.dtype != x.dtype or d > 1 or rank > x.ndim:
        return False
    if w == 1:
        return there == kept & set(axes)
    return a == 1 and there == kept - set(axes)


@override(rows.forward, *columns.LOOPS, sample=rows_of_ones(1, 2, **_ROWS))
def normalize(x: Any, scale: Any, offset: Any, axes: Axes, epsilon: float) -> Any:
    """Normalize rows or columns, with a scale and an offset."""
    seen = planes(x, axes)
    if seen is None or scale.shape != offset.shape or offset.dtype != x.dtype or not _scales(*seen, scale, x, axes):
        return NotImplemented
    plane = seen[0]
    a, n, w = plane.shape
    scale, offset = row_major(scale).reshape(-1), row_major(offset).reshape(-1)
    if w == 1:
        return rows.forward_over(plane.reshape(a, n), scale, offset, epsilon).reshape(x.shape)
    return columns.forward_over(plane, scale, offset, epsilon).reshape(x.shape)


@override(rows.scaled_grad, *columns.LOOPS, sample=rows_of_ones(2, 1, **_ROWS))
def normalize_grad(g: Any, x: Any, scale: Any, axes: Axes, epsilon: float) -> Any:
    """Gradients of rows or columns, of the scale and of the offset."""
    seen = planes(x, axes, g)
    if seen is None or not _scales(*seen, scale, x, axes):
        return NotImplemented
    plane = seen[0]
    a, n, w = plane.shape
    g_plane, flat = row_major(g).reshape(plane.shape), row_major(scale).reshape(-1)
    if w == 1:
        of_x, *rest = rows.scaled_grad_over(g_plane.reshape(a, n), plane.reshape(a, n), flat, epsilon)
    else:
        of_x, *rest = columns.grad_over(g_plane, plane, flat, epsilon)
    return of_x.reshape(x.shape), *(total.reshape(scale.shape) for total in rest)
