"""Overrides of pooling and its gradients, over one to three axes, in float32 and float64.

Optimisations: no array of windows is made and nothing is padded, for ranges end where the image does; the rows of
a window are put together first, in one long loop over columns and channels, and columns after that; choices are made
without branches; the largest element is looked for again in the backward pass, which keeps nothing but x; threads share
the images.
"""
# ruff: noqa: ANN001

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from autodiff_lab.kernels.base.deferred import register_jitable
from autodiff_lab.kernels.base.loops import Loop, loop, override, row_major
from autodiff_lab.kernels.base.threads import spread
from autodiff_lab.kernels.convolution.reference import Padding, Sizes, out_sizes
from autodiff_lab.kernels.maths.bits import put

_LEAST = 1 << 16
"""Elements of windows from which on a thread of its own pays."""
_MOST = 2**31 - 1
"""Elements in the rows of a window that 32 bits count."""


class _Plan(NamedTuple):
    """Numbers for the loops; the result's shape; images worth a thread; the length of a row of an image."""

    sizes: Any
    shape: Sizes
    least: int
    line: int


@lru_cache(maxsize=1024)
def _plan(shape: Sizes, window: Sizes, strides: Sizes, padding: Padding) -> _Plan | None:
    """Return what the loops need to know of shapes and settings; None if there is nothing to compute."""
    rank = len(window)
    outs = out_sizes(shape[1:-1], window, strides, padding, (1,) * rank)
    if min((*shape, *outs)) < 1 or rank > 3:
        return None
    more, ones = (0,) * (3 - rank), (1,) * (3 - rank)
    lows = [low for low, _ in padding]
    sizes = [shape[-1]]
    for numbers, fill in ((shape[1:-1], ones), (window, ones), (strides, ones), (lows, more), (outs, ones)):
        sizes += [*fill, *numbers]
    work = math.prod(outs) * math.prod(window) * shape[-1]
    line = shape[-2] * shape[-1]
    if line * math.prod(window[:-1]) > _MOST:
        return None
    return _Plan(np.array(sizes, np.int64), (shape[0], *outs, shape[-1]), max(1, _LEAST // work), line)


@register_jitable
def _range(place, axis, sizes) -> tuple[int, int]:
    """Return where a window begins and ends on an axis, padding left out."""
    start = place * sizes[7 + axis] - sizes[10 + axis]
    return max(0, start), min(sizes[1 + axis], start + sizes[4 + axis])


def _pooled(name: str, averages: bool) -> Loop:  # noqa: C901 - a loop for each axis
    """Make the loop that takes the mean or the largest element of each window; nan is larger than all numbers.

    The rows of a window are reduced into `line` first, which has room for a row of an image.
    """
    start = 0.0 if averages else -np.inf

    def run(x, out, line, sizes, low, high) -> None:  # noqa: C901, PLR0912 - a loop for each axis
        c, depth, height = sizes[0], sizes[1], sizes[2]
        goal = low * sizes[13] * sizes[14] * sizes[15] * c
        for i in range(low, high):
            for place_d in range(sizes[13]):
                d0, d1 = _range(place_d, 0, sizes)
                for place_h in range(sizes[14]):
                    h0, h1 = _range(place_h, 1, sizes)
                    line[:] = start
                    for d in range(d0, d1):
                        for h in range(h0, h1):
                            begin = ((i * depth + d) * height + h) * line.size
                            row = x[begin : begin + line.size]
                            for k in range(line.size):
                                if averages:
                                    line[k] += row[k]
                                else:
                                    line[k] = row[k] if row[k] > line[k] or np.isnan(row[k]) else line[k]
                    for place_w in range(sizes[15]):
                        w0, w1 = _range(place_w, 2, sizes)
                        result = out[goal : goal + c]
                        result[:] = start
                        for w in range(w0, w1):
                            here = line[w * c : (w + 1) * c]
                            for k in range(c):
                                if averages:
                                    result[k] += here[k]
                                else:
                                    result[k] = here[k] if here[k] > result[k] or np.isnan(here[k]) else result[k]
                        if averages:
                            count = x.dtype.type(max(0, d1 - d0) * max(0, h1 - h0) * max(0, w1 - w0))
                            for k in range(c):
                                result[k] /= count
                        goal += c

    run.__name__ = name
    return loop("void({t}[::1], {t}[::1], {t}[::1], int64[::1], int64, int64)", wraparound=False)(run)


largest, means = _pooled("largest", averages=False), _pooled("means", averages=True)


@register_jitable
def _best_of_rows(x, line, places, i, sizes, d0, d1, h0, h1) -> None:
    """Put the largest elements of some rows into `line`, and their places, counted from row to row, into `places`."""
    depth, height = sizes[1], sizes[2]
    first = 0
    for d in range(d0, d1):
        for h in range(h0, h1):
            start = ((i * depth + d) * height + h) * line.size
            row = x[start : start + line.size]
            if first == 0:
                put(line, row)
                for k in range(line.size):
                    places[k] = k
            else:
                for k in range(line.size):
                    better = (row[k] > line[k]) | (np.isnan(row[k]) & ~np.isnan(line[k]))
                    line[k] = row[k] if better else line[k]
                    places[k] = first + k if better else places[k]
            first += line.size


@register_jitable
def _best_of_columns(line, places, wide, wide_places, c, count) -> None:
    """Put the largest of each element, the next one of its channel, ... `count` of them, into `wide`."""
    put(wide, line)
    put(wide_places, places)
    for v in range(1, count):
        values, numbers = line[v * c :], places[v * c :]
        for k in range(values.size):
            new, old = values[k], wide[k]
            nan, worse = np.isnan(new), np.isnan(old)
            same = (new == old) | (nan & worse)
            better = (new > old) | (nan & ~worse) | (same & (numbers[k] < wide_places[k]))
            wide[k] = new if better else old
            wide_places[k] = numbers[k] if better else wide_places[k]


@register_jitable
def _best_column(line, places, first, end, c) -> int:
    """The place of the largest of the elements first, first + c, ... of a line; of equals, the first in the image."""
    best = first
    for at in range(first + c, end, c):
        new, old = line[at], line[best]
        same = new == old or (np.isnan(new) and np.isnan(old))
        if new > old or (np.isnan(new) and not np.isnan(old)) or (same and places[at] < places[best]):
            best = at
    return places[best]


@loop("void({t}[::1], {t}[::1], {t}[::1], {t}[:,::1], int32[:,::1], int64[::1], int64, int64, int64)", wraparound=False)
def largest_grad(x, values, out, lines, places, sizes, pick, low, high) -> None:  # noqa: C901 - a loop for each axis
    """Add the contribution of each window to its largest element, the first of equals; `pick` reads it instead.

    A window that holds nothing but padding gets no contribution, and 0 is picked for it.
    """
    c, depth, height, count = sizes[0], sizes[1], sizes[2], sizes[6]
    line, wide, place, wide_place = lines[0], lines[1], places[0], places[1]
    goal = low * sizes[13] * sizes[14] * sizes[15] * c
    for i in range(low, high):
        for place_d in range(sizes[13]):
            d0, d1 = _range(place_d, 0, sizes)
            for place_h in range(sizes[14]):
                h0, h1 = _range(place_h, 1, sizes)
                held = d1 > d0 and h1 > h0
                if held:
                    _best_of_rows(x, line, place, i, sizes, d0, d1, h0, h1)
                    _best_of_columns(line, place, wide, wide_place, c, count)
                start = ((i * depth + d0) * height + h0) * line.size
                for place_w in range(sizes[15]):
                    w0, w1 = _range(place_w, 2, sizes)
                    if pick and not (held and w1 > w0):
                        out[goal : goal + c] = 0
                    elif held and w1 > w0:
                        for k in range(c):
                            first = w0 * c + k
                            whole = w1 - w0 == count
                            at = wide_place[first] if whole else _best_column(line, place, first, w1 * c, c)
                            if d1 - d0 > 1:  # from row to row, and over the rows between two planes
                                plane, rest = divmod(at, (h1 - h0) * line.size)
                                at = plane * height * line.size + rest
                            if pick:
                                out[goal + k] = values[start + at]
                            else:
                                out[start + at] += values[goal + k]
                    goal += c


@loop("void({t}[::1], {t}[::1], {t}[::1], int64[::1], int64, int64)", wraparound=False)
def mean_grad(g, out, line, sizes, low, high) -> None:
    """Adds the contribution of each window to all its elements, evenly."""
    c, depth, height = sizes[0], sizes[1], sizes[2]
    place = low * sizes[13] * sizes[14] * sizes[15] * c
    for i in range(low, high):
        for place_d in range(sizes[13]):
            d0, d1 = _range(place_d, 0, sizes)
            for place_h in range(sizes[14]):
                h0, h1 = _range(place_h, 1, sizes)
                line[:] = 0
                for place_w in range(sizes[15]):
                    w0, w1 = _range(place_w, 2, sizes)
                    count = g.dtype.type(max(0, d1 - d0) * max(0, h1 - h0) * max(0, w1 - w0))
                    given = g[place : place + c]
                    for w in range(w0, w1):
                        here = line[w * c : (w + 1) * c]
                        for k in range(c):
                            here[k] += given[k] / count
                    place += c
                for d in range(d0, d1):
                    for h in range(h0, h1):
                        start = ((i * depth + d) * height + h) * line.size
                        row = out[start : start + line.size]
                        for k in range(line.size):
                            row[k] += line[k]


def _flat(array: Any) -> Any:
    return row_major(array).reshape(-1)


def _run(made: Loop, x: Any, out: Any, plan: _Plan) -> Any:
    run, sizes = made[x.dtype], plan.sizes
    flat, x = out.reshape(-1), _flat(x)
    spread(lambda low, high: run(x, flat, np.empty(plan.line, x.dtype), sizes, low, high), plan.shape[0], plan.least)
    return out


@override(largest)
def max_pool(x: Any, window: Sizes, strides: Sizes, padding: Padding) -> Any:
    """Return the largest element of each window; padding never wins."""
    plan = _plan(x.shape, window, strides, padding)
    return NotImplemented if plan is None else _run(largest, x, np.empty(plan.shape, x.dtype), plan)


def _shared(x: Any, values: Any, out: Any, plan: _Plan, pick: int) -> Any:
    sizes, run = plan.sizes, largest_grad[x.dtype]
    flat, x, values = out.reshape(-1), _flat(x), _flat(values)

    def images(low: int, high: int) -> None:
        lines, places = np.empty((2, plan.line), x.dtype), np.empty((2, plan.line), np.int32)
        run(x, values, flat, lines, places, sizes, pick, low, high)

    spread(images, plan.shape[0], plan.least)
    return out


@override(largest_grad)
def max_pool_input(g: Any, x: Any, window: Sizes, strides: Sizes, padding: Padding) -> Any:
    """Return the gradient of `max_pool` with respect to x."""
    plan = _plan(x.shape, window, strides, padding)
    if plan is None or g.dtype != x.dtype or g.shape != plan.shape:
        return NotImplemented
    return _shared(x, g, np.zeros(x.shape, x.dtype), plan, 0)


@override(largest_grad)
def max_pool_pick(h: Any, x: Any, window: Sizes, strides: Sizes, padding: Padding) -> Any:
    """Return the elements of h where those of x are the largest of their windows."""
    plan = _plan(x.shape, window, strides, padding)
    if plan is None or h.dtype != x.dtype or h.shape != x.shape:
        return NotImplemented
    return _shared(x, h, np.empty(plan.shape, x.dtype), plan, 1)


@override(means)
def average_pool(x: Any, window: Sizes, strides: Sizes, padding: Padding) -> Any:
    """Return the mean of each window's elements; padding does not count."""
    plan = _plan(x.shape, window, strides, padding)
    return NotImplemented if plan is None else _run(means, x, np.empty(plan.shape, x.dtype), plan)


@override(mean_grad)
def average_pool_input(g: Any, shape: Sizes, window: Sizes, strides: Sizes, padding: Padding) -> Any:
    """Return the gradient of `average_pool` with respect to x."""
    plan = _plan(tuple(shape), window, strides, padding)
    if plan is None or g.shape != plan.shape:
        return NotImplemented
    return _run(mean_grad, g, np.zeros(shape, g.dtype), plan)
