"""Pooling in any number of dimensions; layouts are channels last, as in `convolution`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autodiff_lab.kernels.arrays import arange, full, on_gpu, zeros
from autodiff_lab.kernels.base.halves import in_float32
from autodiff_lab.kernels.convolution.reference import Padding, Sizes, out_sizes, padded, places, put_together, windows

_FEW = 64
"""Elements of a window up to which one pass for each of them beats an array of windows."""


def max_pool(x: Any, window: Sizes, strides: Sizes, padding: Padding) -> Any:
    """Return the largest element of each window; padding never wins."""
    ones = (1,) * len(window)
    if not x.size:
        return _nothing(x, window, strides, padding) - x.dtype.type(np.inf)  # windows of padding alone
    px = padded(x, padding, -np.inf)
    if math.prod(window) > _FEW:
        return windows(px, window, strides, ones).max(axis=tuple(range(-len(window), 0)))
    out = out_sizes(x.shape[1:-1], window, strides, padding, ones)
    largest: Any = None
    for _, where in places(window, out, strides, ones):
        largest = px[where].copy() if largest is None else np.maximum(largest, px[where], out=largest)
    return largest


def _nothing(x: Any, window: Sizes, strides: Sizes, padding: Padding, dtype: Any = None) -> Any:
    """Return the result of pooling an input without elements."""
    out = out_sizes(x.shape[1:-1], window, strides, padding, (1,) * len(window))
    return zeros((x.shape[0], *out, x.shape[-1]), x, dtype)


def max_places(x: Any, window: Sizes, strides: Sizes, padding: Padding) -> Any:
    """Position in x, flattened, of each window's largest element: (n, *out, c), int64.

    It is the first of equals, and -1 where a window holds nothing but padding.
    """
    if not x.size:
        return _nothing(x, window, strides, padding, np.int64)
    rank = len(window)
    ones = (1,) * rank
    numbers = padded(arange(x.size, x).reshape(x.shape), padding, -1)
    view = windows(padded(x, padding, -np.inf), window, strides, ones)
    labels = windows(numbers, window, strides, ones)
    flat, labels = (a.reshape(*view.shape[:-rank], math.prod(window)) for a in (view, labels))
    best = np.take_along_axis(labels, flat.argmax(axis=-1)[..., None], axis=-1)[..., 0]
    if on_gpu(x) or (best.size and best.min() < 0):  # padding came first, as large as the window's elements, -inf
        first = np.where(labels < 0, x.size, labels).min(axis=-1)
        best = np.where(best < 0, np.where(first < x.size, first, -1), best)
    return best


@in_float32
def max_pool_input(g: Any, x: Any, window: Sizes, strides: Sizes, padding: Padding) -> Any:
    """Return the gradient of `max_pool` for x: each window's contribution goes to its first largest element."""
    at = max_places(x, window, strides, padding)
    total = zeros((x.size,), g)
    held = at >= 0
    if on_gpu(g):  # to pick what is held, one would have to count it, and wait
        np.add.at(total, np.where(held, at, 0), np.where(held, g, g.dtype.type(0)))
    else:
        np.add.at(total, at[held], g[held])
    return total.reshape(x.shape)


def max_pool_pick(h: Any, x: Any, window: Sizes, strides: Sizes, padding: Padding) -> Any:
    """The elements of h at the places where those of x are the largest of their windows, 0 for nothing but padding."""
    at = max_places(x, window, strides, padding)
    return np.where(at < 0, h.dtype.type(0), h.reshape(-1)[at] if h.size else h.dtype.type(0))


def counts(shape: Sizes, window: Sizes, strides: Sizes, padding: Padding, like: Any) -> Any:
    """Return how many elements of x, padding left out, each window holds: (1, *out, 1), beside another array."""
    held = full((1,), 1, like)
    for n, k, s, (low, high) in zip(shape[1:-1], window, strides, padding, strict=True):
        starts = arange((n + low + high - k) // s + 1, like) * s - low
        lengths = np.maximum(np.minimum(starts + k, n) - np.maximum(starts, 0), 0)
        held = held[..., None] * lengths.astype(like.dtype)
    return held[..., None]


@in_float32
def average_pool(x: Any, window: Sizes, strides: Sizes, padding: Padding) -> Any:
    """Return the mean of each window's elements; padding does not count."""
    if not x.size:
        return _nothing(x, window, strides, padding)
    view = windows(padded(x, padding), window, strides, (1,) * len(window))
    total = view.sum(axis=tuple(range(-len(window), 0)))
    return total / counts(x.shape, window, strides, padding, x)


@in_float32
def average_pool_input(g: Any, shape: Sizes, window: Sizes, strides: Sizes, padding: Padding) -> Any:
    """Return the gradient of `average_pool` with respect to x: each window's contribution is spread evenly."""
    if not g.size:
        return zeros(shape, g)
    part = g / counts(shape, window, strides, padding, g)
    ones = (1,) * len(window)
    out = out_sizes(shape[1:-1], window, strides, padding, ones)
    return put_together(g, shape, padding, ((where, part) for _, where in places(window, out, strides, ones)))
