"""Values normalized to mean 0 and variance 1 on a GPU, as `normalization.reference`.

An array is viewed as (a, n, b, d) and normalized over n and d: rows where b is 1, otherwise columns, of which d
neighbours form a group.  No axis is moved.  Layer normalization is rows, batch normalization columns,
of groups where channels come first; few long rows are columns of one, so that more than a block works at each, unless
there is a scale for each element.

Passes over an array: rows, 2 and for the gradient 3, 5 with those of a scale; columns, 3 and for the gradient 5.
"""

from __future__ import annotations

from math import prod
from typing import Any, NamedTuple

from autodiff_lab.kernels.cuda.array import DeviceArray
from autodiff_lab.kernels.cuda.launching import MOST, check_size, flat
from autodiff_lab.kernels.normalization.cuda_columns import (
    Columns,
    columns,
    columns_normalized,
    facts_of_columns,
    grad_of_columns,
    scaling_grad_of_rows,
)
from autodiff_lab.kernels.normalization.cuda_rows import grad_of_rows, moments_of_rows, rows_normalized
from autodiff_lab.kernels.reductions.reference import shape_over

Axes = tuple[int, ...]
LONG_ROW = 16_384
"""Elements of a row from which on several blocks share it, where there are few."""


class Seen(NamedTuple):
    """An array as (a, n, b, d), and the axes, counted from the end, along which a scale may have elements.

    `apart`: others come after those that go, if only of length 1, and a scale has a number for each of b, not of n.
    """

    a: int
    n: int
    b: int
    d: int
    scaled: frozenset[int]
    apart: bool

    @property
    def scaled_rows(self) -> bool:
        """Whether it is rows, and a scale has a number for each element of one."""
        return not self.apart and self.b * self.d == 1

    def few(self, multiprocessors: int) -> bool:
        """Return whether rows are so long and so few that blocks are to share each."""
        return self.n > LONG_ROW and self.a < multiprocessors

    def columns(self, multiprocessors: int) -> Columns:
        """Return how threads share it."""
        return columns((self.a, self.n, self.b * self.d), self.d, multiprocessors)


def seen(x: DeviceArray, axes: Axes) -> Seen | None:
    """An array as (a, n, b, d); None without elements or kernels, and where axes lie otherwise or count from 0."""
    if x.dtype.char not in "fd" or not axes or max(axes) >= 0 or 0 in x.shape:
        return None
    check_size("plain_normalize", x.shape)
    rank = len(x.shape)
    gone = [k - rank in axes for k in range(rank)]
    starts = [k for k in range(rank) if k == 0 or gone[k] != gone[k - 1]]
    runs = [range(start, end) for start, end in zip(starts, [*starts[1:], rank], strict=True)]
    if gone[0]:
        runs.insert(0, range(0))
    if len(runs) > 4:
        return None
    a, n, b, d = ([*runs, range(0), range(0)])[:4]
    apart = len(runs) > 2
    along = b if apart else n
    lengths = [prod(x.shape[k] for k in run) for run in (a, n, b, d)]
    if lengths[2] * lengths[3] > 1 and 4 * (x.size // lengths[1]) > MOST:
        return None  # four facts for each column would not be reached by 32-bit indices
    return Seen(lengths[0], lengths[1], lengths[2], lengths[3], frozenset(k - rank for k in along), apart)


def _fits(scale: DeviceArray, x: DeviceArray, view: Seen) -> bool:
    """Return whether a scale has one number for each element of a row, or for each group of columns."""
    if scale.dtype != x.dtype or scale.ndim > x.ndim:
        return False
    whole = (1,) * (x.ndim - scale.ndim) + scale.shape
    return all(whole[k] == (x.shape[k] if k in view.scaled else 1) for k in range(-x.ndim, 0))


def moments(x: DeviceArray, axes: Axes) -> Any:
    """Mean, and mean of the squared distances from it; the axes stay with length 1."""
    view = seen(x, axes)
    if view is None:
        return NotImplemented
    shape = shape_over(x, axes, True)
    if view.b * view.d == 1 and not view.few(x.memory.multiprocessors):
        means, variances = moments_of_rows(flat(x), view.a, view.n)
    else:
        how = view.columns(x.memory.multiprocessors)
        facts = facts_of_columns(flat(x), None, 1.0, how)
        means, variances = facts[: how.groups], facts[how.groups : 2 * how.groups]
    return means.reshape(shape), variances.reshape(shape)


def _normalized(x: DeviceArray, view: Seen, scaling: tuple[DeviceArray, DeviceArray] | None, epsilon: float) -> Any:
    one = view.b * view.d == 1
    if (one and not view.few(x.memory.multiprocessors)) if scaling is None else view.scaled_rows:
        made = rows_normalized(flat(x), scaling, epsilon, view.a, view.n)
    else:
        made = columns_normalized(flat(x), scaling, epsilon, view.columns(x.memory.multiprocessors))
    return made.reshape(x.shape)


def plain_normalize(x: DeviceArray, axes: Axes, epsilon: float) -> Any:
    """(x - mean) / √(variance + epsilon)."""
    view = seen(x, axes)
    return NotImplemented if view is None else _normalized(x, view, None, epsilon)


def normalize(x: DeviceArray, scale: DeviceArray, offset: DeviceArray, axes: Axes, epsilon: float) -> Any:
    """`plain_normalize`, times the scale, plus the offset."""
    view = seen(x, axes)
    if view is None or not _fits(scale, x, view) or not _fits(offset, x, view):
        return NotImplemented
    return _normalized(x, view, (flat(scale), flat(offset)), epsilon)


def plain_normalize_grad(g: DeviceArray, x: DeviceArray, axes: Axes, epsilon: float) -> Any:
    """(g - mean of g - y · mean of g·y) / √(variance + epsilon), y being what `plain_normalize` gives."""
    view = seen(x, axes)
    if view is None or g.shape != x.shape or g.dtype != x.dtype:
        return NotImplemented
    if view.b * view.d == 1 and not view.few(x.memory.multiprocessors):
        made, _ = grad_of_rows(flat(g), flat(x), None, epsilon, view.a, view.n)
    else:
        made, _ = grad_of_columns(flat(g), flat(x), None, epsilon, view.columns(x.memory.multiprocessors))
    return made.reshape(x.shape)


def normalize_grad(g: DeviceArray, x: DeviceArray, scale: DeviceArray, axes: Axes, epsilon: float) -> Any:
    """Return the gradients of `normalize` for x, scale and offset; the last two have the shape of the scale."""
    view = seen(x, axes)
    if view is None or g.shape != x.shape or g.dtype != x.dtype or not _fits(scale, x, view):
        return NotImplemented
    g_flat, x_flat, factor = flat(g), flat(x), flat(scale)
    if view.scaled_rows:
        made, facts = grad_of_rows(g_flat, x_flat, factor, epsilon, view.a, view.n)
        of_scale, of_offset = scaling_grad_of_rows(g_flat, x_flat, facts, view.a, view.n)
    else:
        made, facts = grad_of_columns(g_flat, x_flat, factor, epsilon, view.columns(x.memory.multiprocessors))
        by_plane = facts.reshape(4, view.a, view.b)
        both = by_plane[2:, 0] if view.a == 1 else by_plane[2:].sum(axis=1)
        of_offset, of_scale = both[0], both[1]
    return made.reshape(x.shape), of_scale.reshape(scale.shape), of_offset.reshape(scale.shape)
