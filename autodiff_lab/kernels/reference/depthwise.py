"""Depthwise convolution and its two gradients: every channel has filters of its own and channels do not mix.

Layouts are channels last, as in `convolution`: x (n, *spatial, c), w (*window, c, m), result (n, *out, c·m), where
channel k of x gives the channels k·m to k·m + m - 1.  All three are bilinear and each is the derivative of another.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_lab.kernels.arrays import contiguous, empty, zeros
from autodiff_lab.kernels.halves import in_float32
from autodiff_lab.kernels.reference.convolution import Padding, Sizes, out_sizes, padded, places


@in_float32
def depthwise(x: Any, w: Any, strides: Sizes, padding: Padding, dilations: Sizes) -> Any:
    """X (n, *spatial, c) with w (*window, c, m) -> (n, *out, c·m)."""
    window, (channels, multiple) = w.shape[:-2], w.shape[-2:]
    out = out_sizes(x.shape[1:-1], window, strides, padding, dilations)
    total = zeros((x.shape[0], *out, channels, multiple), x)
    if not x.size:
        return total.reshape(x.shape[0], *out, channels * multiple)
    px = padded(x, padding)
    for at, where in places(window, out, strides, dilations):
        total += px[where][..., None] * w[at]
    return total.reshape(x.shape[0], *out, channels * multiple)


def _grouped(g: Any, w_channels: int) -> Any:
    return g.reshape(*g.shape[:-1], w_channels, g.shape[-1] // max(w_channels, 1))  # -1 fails where g is empty


@in_float32
def depthwise_input(g: Any, w: Any, shape: Sizes, strides: Sizes, padding: Padding, dilations: Sizes) -> Any:
    """The gradient by x, of the given shape."""
    if not g.size:
        return zeros(shape, g)
    spatial = tuple(n + low + high for n, (low, high) in zip(shape[1:-1], padding, strict=True))
    total = zeros((g.shape[0], *spatial, shape[-1]), g)
    parts = _grouped(g, shape[-1])
    for at, where in places(w.shape[:-2], g.shape[1:-1], strides, dilations):
        total[where] += np.sum(parts * w[at], axis=-1, dtype=g.dtype)
    inner = tuple(slice(low, low + n) for n, (low, _) in zip(shape[1:-1], padding, strict=True))
    return contiguous(total[(slice(None), *inner)])


@in_float32
def depthwise_filter(x: Any, g: Any, window: Sizes, strides: Sizes, padding: Padding, dilations: Sizes) -> Any:
    """The gradient by w: (*window, c, m)."""
    parts = _grouped(g, x.shape[-1])
    if not g.size:
        return zeros((*window, *parts.shape[-2:]), g)
    px = padded(x, padding)
    result = empty((*window, *parts.shape[-2:]), g)
    over = tuple(range(g.ndim - 1))
    for at, where in places(window, g.shape[1:-1], strides, dilations):
        result[at] = np.sum(px[where][..., None] * parts, axis=over, dtype=g.dtype)
    return result
