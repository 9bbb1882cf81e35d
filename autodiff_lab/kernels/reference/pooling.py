"""Pooling in any number of dimensions; layouts are channels last, as in `convolution`."""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_lab.kernels.reference.convolution import Padding, Sizes, out_sizes, padded, places, windows


def max_pool(x: Any, window: Sizes, strides: Sizes, padding: Padding) -> Any:
    """The largest element of each window; padding never wins."""
    ones = (1,) * len(window)
    view = windows(padded(x, padding, -np.inf), window, strides, ones)
    return view.max(axis=tuple(range(-len(window), 0)))


def max_positions(x: Any, window: Sizes, strides: Sizes, padding: Padding) -> Any:
    """Position in x, flattened, of each window's largest element (the first of equals): (outputs, 1), int64."""
    rank = len(window)
    ones = (1,) * rank
    numbers = padded(np.arange(x.size, dtype=np.int64).reshape(x.shape), padding, 0)
    view = windows(padded(x, padding, -np.inf), window, strides, ones)
    labels = windows(numbers, window, strides, ones)
    flat = view.reshape(*view.shape[:-rank], -1)
    best = flat.argmax(axis=-1)[..., None]
    return np.take_along_axis(labels.reshape(flat.shape), best, axis=-1).reshape(-1, 1)


def counts(shape: Sizes, window: Sizes, strides: Sizes, padding: Padding, dtype: Any) -> Any:
    """How many elements of x, padding left out, each window holds: (1, *out, 1)."""
    ones = np.ones((1, *shape[1:-1], 1), dtype)
    view = windows(padded(ones, padding), window, strides, (1,) * len(window))
    return view.sum(axis=tuple(range(-len(window), 0)))


def average_pool(x: Any, window: Sizes, strides: Sizes, padding: Padding) -> Any:
    """The mean of each window's elements; padding does not count."""
    view = windows(padded(x, padding), window, strides, (1,) * len(window))
    total = view.sum(axis=tuple(range(-len(window), 0)))
    return total / counts(x.shape, window, strides, padding, x.dtype)


def average_pool_input(g: Any, shape: Sizes, window: Sizes, strides: Sizes, padding: Padding) -> Any:
    """The gradient of `average_pool` by x: each window's share is spread evenly."""
    share = g / counts(shape, window, strides, padding, g.dtype)
    ones = (1,) * len(window)
    out = out_sizes(shape[1:-1], window, strides, padding, ones)
    spatial = tuple(n + low + high for n, (low, high) in zip(shape[1:-1], padding, strict=True))
    total = np.zeros((g.shape[0], *spatial, shape[-1]), g.dtype)
    for _, where in places(window, out, strides, ones):
        total[where] += share
    inner = tuple(slice(low, low + n) for n, (low, _) in zip(shape[1:-1], padding, strict=True))
    return np.ascontiguousarray(total[(slice(None), *inner)])
