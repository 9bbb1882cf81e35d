"""Plans of convolutions: all that the loops need to know of shapes and settings, worked out once for each.

Shapes have one to three axes between images and channels; a plan always has three.  A plan says where the taps of the
window lie in a padded image.  Taps that are neighbours on the last axis make one run of numbers, as channels do.

The gradient with respect to the input is a convolution too, of g with the filter turned around.  A stride of s leaves
only every s-th tap for each element, others for the next: that makes s plans for each axis, and each writes every s-th
element.
"""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import product
from typing import NamedTuple

import numpy as np

from autodiff_lab.kernels.convolution.reference import Padding, Sizes, out_sizes

NUMBERS = np.dtype(np.int64)
_NEAR = 8192
"""Numbers of x and g that fit the first-level cache beside each other."""
_FEW, _MANY = 128, 512
"""Pixels of one sum of a filter's gradient: fewer do not pay, and more would lose digits."""
_PIXELS = 256
"""Pixels of small images that are taken at a time, so that what depends on the filter alone is read for all of them."""
_BLOCKS = 16
"""At most so many sums of a filter's gradient are kept side by side."""
_SUMS = 1 << 22
"""Numbers in all of these together."""
_WORTH = 1 << 18
"""Multiplications below which a block of images or a thread of its own does not pay."""


class Plan(NamedTuple):
    """What a loop is given beside the arrays.

    Attributes
    ----------
    offsets : ndarray of int64
        Where each run of taps begins, from the place of a pixel's window.
    taps : ndarray of int64
        Where each tap's numbers begin in the filter, in the order of the runs.
    sizes : ndarray of int64
        Lengths and distances, in the order in which `numba_tiles` reads them.
    rows : ndarray of int64
        Where the windows of each row of the result begin, for the images that are taken at a time.
    image : int
        Numbers in the padded images that are taken at a time; 0 if they are not padded.
    out : tuple of int
        Shape of the result.
    least : int
        Images, or blocks of them, from which on a thread pays.
    blocks : int
        Number of sums of a filter's gradient.
    """

    offsets: np.ndarray
    taps: np.ndarray
    sizes: np.ndarray
    rows: np.ndarray
    image: int
    out: Sizes
    least: int
    blocks: int

    def panels(self, columns: int) -> int:
        """Return the numbers of a filter that is packed into panels of so many columns."""
        return self.taps.size * int(self.sizes[0]) * -(-int(self.sizes[1]) // columns) * columns

    def panel(self, columns: int) -> int:
        """Return the numbers of g that are packed at a time for a filter's gradient, so many columns of them."""
        return min(int(self.sizes[26]), self.rows.size) * int(self.sizes[29]) * columns


def _three(given: Sizes, fill: int) -> Sizes:
    return (fill,) * (3 - len(given)) + tuple(given)


def _array(numbers: list[int]) -> np.ndarray:
    return np.array(numbers, NUMBERS)


class _Axis(NamedTuple):
    """One axis of a plan: `n` of the source, zeros before it, and with all zeros; positions of taps and outputs."""

    n: int
    before: int
    whole: int
    step: int
    outs: int
    taps: tuple[tuple[int, int], ...]  # number of the tap, where it lies from the first


def _runs(axes: list[_Axis], window: Sizes, c: int) -> tuple[list[int], list[int], int]:
    """Return where runs begin, the taps in their order, and the length of a run."""
    (deep, high, wide) = axes
    neighbours = all(b[1] - a[1] == 1 for a, b in zip(wide.taps, wide.taps[1:], strict=False))
    starts = [0] if neighbours else range(len(wide.taps))
    length = len(wide.taps) if neighbours else 1
    offsets: list[int] = []
    taps: list[int] = []
    for (nd, pd), (nh, ph) in product(deep.taps, high.taps):
        for first in starts if wide.taps else ():
            offsets.append(((pd * high.whole + ph) * wide.whole + wide.taps[first][1]) * c)
            taps += [(nd * window[1] + nh) * window[2] + wide.taps[first + n][0] for n in range(length)]
    return offsets, taps, length * c


def _plan(
    axes: list[_Axis], window: Sizes, channels: tuple[int, int], apart: tuple[int, int], goal: Sizes, out: Sizes,
    deep: bool,
) -> Plan:  # fmt: skip
    """Put a plan together; `apart` are the distances in the filter, `goal` where the result is written."""
    c, columns = channels
    tap = c if deep else c * columns
    offsets, taps, run = _runs(axes, window, c)
    whole = math.prod(a.whole for a in axes)
    pixels = math.prod(a.outs for a in axes)
    images = out[0]
    together = max(1, min(images, _PIXELS // max(1, pixels))) if not deep else 1
    rows = [
        ((n * axes[0].whole + d * axes[0].step) * axes[1].whole + h * axes[1].step) * axes[2].whole * c
        for n, d, h in product(range(together), range(axes[0].outs), range(axes[1].outs))
    ]
    work = max(1, pixels * len(taps) * tap)
    per_block = max(together, -(-images // _BLOCKS), -(-_WORTH // work), -(-images * len(taps) * tap // _SUMS))
    line = axes[2].whole * c * axes[1].step + axes[2].outs * columns
    chunk = max(1, min(max(_NEAR // line, _FEW // axes[2].outs), _MANY // axes[2].outs))
    span = axes[2].outs if chunk > 1 else min(_MANY, max(_FEW, _NEAR // (c * axes[2].step + columns)), axes[2].outs)
    sizes = [
        c, columns, run, *apart, *(a.n for a in axes), *(a.before for a in axes), *(a.whole for a in axes),
        *(a.step for a in axes), *(a.outs for a in axes), *goal, per_block, chunk, images, together, span,
    ]  # fmt: skip
    return Plan(
        _array(offsets), _array([t * tap for t in taps]), _array(sizes), _array(rows),
        together * whole * c if whole != math.prod(a.n for a in axes) else 0, out, max(1, 4 * _WORTH // work),
        -(-images // per_block),
    )  # fmt: skip


@lru_cache(maxsize=1024)
def forward(x: Sizes, w: Sizes, strides: Sizes, padding: Padding, dilations: Sizes, deep: bool = False) -> Plan | None:
    """Return the plan of a convolution and of its filter's gradient; None for shapes that are empty or do not fit.

    Parameters
    ----------
    x, w : tuple of int
        Shapes of the input and of the filter.
    strides, padding, dilations : tuple
        One for each spatial axis.
    deep : bool
        Whether channels do not mix: of the filter, (taps, c, c), only the diagonals are held, as (taps, c).

    Examples
    --------
    >>> plan = forward((1, 5, 5, 2), (3, 3, 2, 4), (1, 1), ((0, 0), (0, 0)), (1, 1))
    >>> plan.out, plan.offsets.tolist()
    ((1, 3, 3, 4), [0, 10, 20])
    """
    outs = out_sizes(x[1:-1], w[:-2], strides, padding, dilations)
    c, columns = w[-2:]
    if min((*x, *w, *outs)) < 1 or len(outs) > 3 or x[-1] != c:
        return None
    window = _three(w[:-2], 1)
    pads = ((0, 0),) * (3 - len(padding)) + tuple(padding)
    given = zip(_three(x[1:-1], 1), window, _three(strides, 1), pads, _three(dilations, 1), _three(outs, 1),
                strict=True)  # fmt: skip
    axes = [
        _Axis(n, low, n + low + high, s, m, tuple((u, u * d) for u in range(k))) for n, k, s, (low, high), d, m in given
    ]
    height, width = (a.outs for a in axes[1:])
    size = width * columns
    goal = (axes[0].outs * height * size, 0, height * size, size, columns)
    return _plan(axes, window, (c, columns), (columns, 1), goal, (x[0], *outs, columns), deep)


def _phase(n: int, k: int, s: int, low: int, d: int, outs: int, first: int) -> _Axis:
    """Return one axis of the elements `first`, first + s, ... of the input's gradient.

    Padded, the m-th of them lies at ``first + low + s·m``, and tap u of output t reaches it if that is ``s·t + d·u``.
    """
    base, rest = divmod(first + low, s)
    reach = sorted((base - (u * d - rest) // s, u) for u in range(k) if (u * d - rest) % s == 0)
    if not reach:
        return _Axis(outs, 0, outs, 1, len(range(first, n, s)), ())
    count = len(range(first, n, s))
    before = max(0, -reach[0][0])
    after = max(0, reach[-1][0] + count - outs)
    taps = tuple((u, t + before) for t, u in reach)
    return _Axis(outs, before, outs + before + after, 1, count, taps)


@lru_cache(maxsize=1024)
def backward(
    g: Sizes, w: Sizes, shape: Sizes, strides: Sizes, padding: Padding, dilations: Sizes, deep: bool = False
) -> tuple[Plan, ...] | None:
    """Return the plans that together write the gradient with respect to the input; None for shapes that do not fit.

    Examples
    --------
    >>> plans = backward((1, 2, 4), (3, 1, 4), (1, 4, 1), (2,), ((0, 1),), (1,))
    >>> [plan.taps.tolist() for plan in plans]
    [[8, 0], [4]]
    """
    c, columns = w[-1], w[-2]
    outs = out_sizes(shape[1:-1], w[:-2], strides, padding, dilations)
    if min((*g, *w, *shape)) < 1 or len(shape) > 5 or g != (*shape[:1], *outs, c) or shape[-1:] != w[-2:-1]:
        return None
    window = _three(w[:-2], 1)
    pads = ((0, 0),) * (3 - len(padding)) + tuple(padding)
    steps = _three(strides, 1)
    have = _three(shape[1:-1], 1)
    given = list(zip(have, window, steps, [low for low, _ in pads], _three(dilations, 1), _three(g[1:-1], 1),
                     strict=True))  # fmt: skip
    line = have[2] * columns
    plans: list[Plan] = []
    for firsts in product(*(range(min(s, n)) for n, s in zip(have, steps, strict=True))):
        axes = [_phase(n, k, s, low, d, m, first) for (n, k, s, low, d, m), first in zip(given, firsts, strict=True)]
        start = (firsts[0] * have[1] + firsts[1]) * line + firsts[2] * columns
        goal = (have[0] * have[1] * line, start, steps[0] * have[1] * line, steps[1] * line, steps[2] * columns)
        plans.append(_plan(axes, window, (c, columns), (1, c), goal, tuple(shape), deep))
    return tuple(plans)
