"""Overrides of pooling and its gradients, over one to three axes, in float32 and float64.

Optimisations: no array of windows is made and nothing is padded, for ranges end where the image does; the innermost
loop runs over channels, which lie side by side, and chooses without branches; the largest element is looked for again
in the backward pass, which is quicker than keeping its position; threads share the images.
"""
# ruff: noqa: ANN001

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np
from numba.extending import register_jitable

from autodiff_lab.kernels.jit.compiling import loop, override, row_major
from autodiff_lab.kernels.reference.convolution import Padding, Sizes, out_sizes
from autodiff_lab.kernels.threads import spread

_LEAST = 1 << 16
"""Elements of windows from which on a thread of its own pays."""


@lru_cache(maxsize=1024)
def _plan(shape: Sizes, window: Sizes, strides: Sizes, padding: Padding) -> tuple[Any, Sizes, int] | None:
    """Numbers for the loops, the shape of the result, and how many images a thread should have; None if empty."""
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
    return np.array(sizes, np.int64), (shape[0], *outs, shape[-1]), max(1, _LEAST // work)


@register_jitable
def _range(place, axis, sizes) -> tuple[int, int]:
    """Where a window begins and ends on an axis, padding left out."""
    start = place * sizes[7 + axis] - sizes[10 + axis]
    return max(0, start), min(sizes[1 + axis], start + sizes[4 + axis])


@loop("void({t}[::1], {t}[::1], int64[::1], int64, int64)")
def largest(x, out, sizes, low, high) -> None:
    """The largest element of each window; nan is larger than all numbers."""
    c, depth, height, width = sizes[0], sizes[1], sizes[2], sizes[3]
    goal = low * sizes[13] * sizes[14] * sizes[15] * c
    for i in range(low, high):
        for place_d in range(sizes[13]):
            d0, d1 = _range(place_d, 0, sizes)
            for place_h in range(sizes[14]):
                h0, h1 = _range(place_h, 1, sizes)
                for place_w in range(sizes[15]):
                    w0, w1 = _range(place_w, 2, sizes)
                    best = out[goal : goal + c]
                    best[:] = -np.inf
                    for d in range(d0, d1):
                        for h in range(h0, h1):
                            for w in range(w0, w1):
                                at = (((i * depth + d) * height + h) * width + w) * c
                                here = x[at : at + c]
                                for k in range(c):
                                    best[k] = here[k] if here[k] > best[k] or np.isnan(here[k]) else best[k]
                    goal += c


@loop("void({t}[::1], {t}[::1], {t}[::1], {t}[::1], int64[::1], int64[::1], int64, int64, int64)")
def largest_shares(x, shares, out, best, where, sizes, pick, low, high) -> None:  # noqa: C901 - a loop for each axis
    """Adds the share of each window to its largest element, the first of equals; `pick` takes it from there instead."""
    c, depth, height, width = sizes[0], sizes[1], sizes[2], sizes[3]
    goal = low * sizes[13] * sizes[14] * sizes[15] * c
    for i in range(low, high):
        for place_d in range(sizes[13]):
            d0, d1 = _range(place_d, 0, sizes)
            for place_h in range(sizes[14]):
                h0, h1 = _range(place_h, 1, sizes)
                for place_w in range(sizes[15]):
                    w0, w1 = _range(place_w, 2, sizes)
                    where[:] = -1
                    for d in range(d0, d1):
                        for h in range(h0, h1):
                            for w in range(w0, w1):
                                at = (((i * depth + d) * height + h) * width + w) * c
                                here = x[at : at + c]
                                for k in range(c):
                                    old, new = best[k], here[k]
                                    better = (where[k] < 0) | (new > old) | (np.isnan(new) & ~np.isnan(old))
                                    best[k] = new if better else old
                                    where[k] = at if better else where[k]
                    for k in range(c):
                        if pick:
                            out[goal + k] = shares[where[k] + k] if where[k] >= 0 else 0
                        elif where[k] >= 0:
                            out[where[k] + k] += shares[goal + k]
                    goal += c


@loop("void({t}[::1], {t}[::1], int64[::1], int64, int64, int64)")
def means(x, out, sizes, spreads, low, high) -> None:  # noqa: C901, PLR0912 - a loop for each axis
    """The mean of each window; if it `spreads`, `out` is an image's size and each window's share is added to it."""
    c, depth, height, width = sizes[0], sizes[1], sizes[2], sizes[3]
    place = low * sizes[13] * sizes[14] * sizes[15] * c
    for i in range(low, high):
        for place_d in range(sizes[13]):
            d0, d1 = _range(place_d, 0, sizes)
            for place_h in range(sizes[14]):
                h0, h1 = _range(place_h, 1, sizes)
                for place_w in range(sizes[15]):
                    w0, w1 = _range(place_w, 2, sizes)
                    count = x.dtype.type(max(0, d1 - d0) * max(0, h1 - h0) * max(0, w1 - w0))
                    window = x[place : place + c] if spreads else out[place : place + c]
                    if not spreads:
                        window[:] = 0
                    for d in range(d0, d1):
                        for h in range(h0, h1):
                            for w in range(w0, w1):
                                at = (((i * depth + d) * height + h) * width + w) * c
                                if spreads:
                                    for k in range(c):
                                        out[at + k] += window[k] / count
                                else:
                                    for k in range(c):
                                        window[k] += x[at + k]
                    if not spreads:
                        for k in range(c):
                            window[k] /= count
                    place += c


def _flat(array: Any) -> Any:
    return row_major(array).reshape(-1)


def _sample(work: int, dtype: np.dtype[Any]) -> tuple[Any, Any]:
    """Windows of 2x2 in images that make about that much work, as the ops count it."""
    side = max(2, 2 * int((work / 256) ** 0.5))
    return (np.ones((1, side, side, 8), dtype),), {
        "window": (2, 2), "strides": (2, 2), "padding": ((0, 0), (0, 0)),
    }  # fmt: skip


def _sample_of_input(work: int, dtype: np.dtype[Any]) -> tuple[Any, Any]:
    (x,), how = _sample(work, dtype)
    return (np.ones((1, x.shape[1] // 2, x.shape[2] // 2, 8), dtype), x), how


def _sample_of_pick(work: int, dtype: np.dtype[Any]) -> tuple[Any, Any]:
    (x,), how = _sample(work, dtype)
    return (x, x), how


def _sample_of_means(work: int, dtype: np.dtype[Any]) -> tuple[Any, Any]:
    (g, x), how = _sample_of_input(work, dtype)
    return (g,), {"shape": x.shape, **how}


@override(largest, sample=_sample)
def max_pool(x: Any, window: Sizes, strides: Sizes, padding: Padding) -> Any:
    """The largest element of each window; padding never wins."""
    plan = _plan(x.shape, window, strides, padding)
    if plan is None:
        return NotImplemented
    sizes, shape, least = plan
    out, x = np.empty(shape, x.dtype), _flat(x)
    flat, run = out.reshape(-1), largest[x.dtype]
    spread(lambda low, high: run(x, flat, sizes, low, high), shape[0], least)
    return out


def _shared(x: Any, shares: Any, out: Any, plan: tuple[Any, Sizes, int], pick: int) -> Any:
    sizes, shape, least = plan
    c, run = shape[-1], largest_shares[x.dtype]
    flat, x, shares = out.reshape(-1), _flat(x), _flat(shares)

    def images(low: int, high: int) -> None:
        run(x, shares, flat, np.empty(c, x.dtype), np.empty(c, np.int64), sizes, pick, low, high)

    spread(images, shape[0], least)
    return out


@override(largest_shares, sample=_sample_of_input)
def max_pool_input(g: Any, x: Any, window: Sizes, strides: Sizes, padding: Padding) -> Any:
    """The gradient of `max_pool` by x."""
    plan = _plan(x.shape, window, strides, padding)
    if plan is None or g.dtype != x.dtype or g.shape != plan[1]:
        return NotImplemented
    return _shared(x, g, np.zeros(x.shape, x.dtype), plan, 0)


@override(largest_shares, sample=_sample_of_pick)
def max_pool_pick(h: Any, x: Any, window: Sizes, strides: Sizes, padding: Padding) -> Any:
    """The elements of h where those of x are the largest of their windows."""
    plan = _plan(x.shape, window, strides, padding)
    if plan is None or h.dtype != x.dtype or h.shape != x.shape:
        return NotImplemented
    return _shared(x, h, np.empty(plan[1], x.dtype), plan, 1)


@override(means, sample=_sample)
def average_pool(x: Any, window: Sizes, strides: Sizes, padding: Padding) -> Any:
    """The mean of each window's elements; padding does not count."""
    plan = _plan(x.shape, window, strides, padding)
    if plan is None:
        return NotImplemented
    sizes, shape, least = plan
    out, x = np.empty(shape, x.dtype), _flat(x)
    flat, run = out.reshape(-1), means[x.dtype]
    spread(lambda low, high: run(x, flat, sizes, 0, low, high), shape[0], least)
    return out


@override(means, sample=_sample_of_means)
def average_pool_input(g: Any, shape: Sizes, window: Sizes, strides: Sizes, padding: Padding) -> Any:
    """The gradient of `average_pool` by x."""
    plan = _plan(tuple(shape), window, strides, padding)
    if plan is None or g.shape != plan[1]:
        return NotImplemented
    sizes, _, least = plan
    out, g = np.zeros(shape, g.dtype), _flat(g)
    flat, run = out.reshape(-1), means[g.dtype]
    spread(lambda low, high: run(g, flat, sizes, 1, low, high), shape[0], least)
    return out
