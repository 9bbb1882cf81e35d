"""Convolution in any number of dimensions, and its two gradients.

What machine learning calls convolution is cross-correlation: the filter is not flipped.  Layouts are channels last:
x (n, *spatial, c_in), w (*window, c_in, c_out), result (n, *out, c_out).  All three are bilinear, and each is the
derivative of another, so they are closed under differentiation of any order.

Depthwise convolution and its two gradients: every channel has its own filters, and channels do not mix.

Layouts are channels last, as in `convolution`: x (n, *spatial, c), w (*window, c, m), result (n, *out, c·m), where
channel k of x gives the channels k·m to k·m + m - 1.  All three are bilinear and each is the derivative of another.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from autodiff_lab.kernels.arrays import contiguous, empty, zeros
from autodiff_lab.kernels.base.halves import in_float32

Sizes = tuple[int, ...]
Padding = tuple[tuple[int, int], ...]


def out_sizes(spatial: Sizes, window: Sizes, strides: Sizes, padding: Padding, dilations: Sizes) -> Sizes:
    """Lengths of the result's spatial axes."""
    return tuple(
        (n + low + high - d * (k - 1) - 1) // s + 1
        for n, k, s, (low, high), d in zip(spatial, window, strides, padding, dilations, strict=True)
    )


def fits(spatial: Sizes, out: Sizes) -> bool:
    """Return whether a window lies within its input; in one that has no elements along an axis there is none to lie."""
    return all(n > 0 or (n == 0 and not length) for n, length in zip(out, spatial, strict=True))


def same_padding(spatial: Sizes, window: Sizes, strides: Sizes, dilations: Sizes) -> Padding:
    """TensorFlow's SAME: the result has ceil(n / stride) elements, the odd zero goes to the end."""
    widths: list[tuple[int, int]] = []
    for n, k, s, d in zip(spatial, window, strides, dilations, strict=True):
        total = max((-(-n // s) - 1) * s + d * (k - 1) + 1 - n, 0)
        widths.append((total // 2, total - total // 2))
    return tuple(widths)


def padded(x: Any, padding: Padding, value: float = 0.0) -> Any:
    """Pad the spatial axes of x."""
    if not any(low or high for low, high in padding):
        return x
    return np.pad(x, ((0, 0), *padding, (0, 0)), constant_values=value)


def windows(x: Any, window: Sizes, strides: Sizes, dilations: Sizes) -> Any:
    """Return a view (n, *out, c, *window) of all windows of a padded x; nothing is copied."""
    axes = tuple(range(1, x.ndim - 1))
    reach = tuple(d * (k - 1) + 1 for k, d in zip(window, dilations, strict=True))
    view = sliding_window_view(x, reach, axis=axes)
    steps = (slice(None), *(slice(None, None, s) for s in strides), slice(None),
             *(slice(None, None, d) for d in dilations))  # fmt: skip
    return view[steps]


def places(window: Sizes, out: Sizes, strides: Sizes, dilations: Sizes) -> Iterator[tuple[Sizes, tuple[slice, ...]]]:
    """Each element of the window, and where in a padded x it is met by all windows."""
    for at in np.ndindex(window):
        yield at, (slice(None), *(slice(i * d, i * d + s * (n - 1) + 1, s)
                                  for i, n, s, d in zip(at, out, strides, dilations, strict=True)))  # fmt: skip


def put_together(like: Any, shape: Sizes, padding: Padding, parts: Iterable[tuple[tuple[slice, ...], Any]]) -> Any:
    """Add parts up to an array of that shape; each has its place in the padded one, of which the padding is lost."""
    spatial = tuple(n + low + high for n, (low, high) in zip(shape[1:-1], padding, strict=True))
    total = zeros((shape[0], *spatial, shape[-1]), like)
    for where, part in parts:
        total[where] += part
    inner = tuple(slice(low, low + n) for n, (low, _) in zip(shape[1:-1], padding, strict=True))
    return contiguous(total[(slice(None), *inner)])


@in_float32
def convolve(x: Any, w: Any, strides: Sizes, padding: Padding, dilations: Sizes) -> Any:
    """Convolve x (n, *spatial, c_in) with w (*window, c_in, c_out): (n, *out, c_out)."""
    window = w.shape[:-2]
    rank = len(window)
    if 0 in x.shape:  # no window lies in an axis without elements
        return zeros((x.shape[0], *out_sizes(x.shape[1:-1], window, strides, padding, dilations), w.shape[-1]), x)
    view = windows(padded(x, padding), window, strides, dilations)
    over = (*range(rank + 2, 2 * rank + 2), rank + 1)
    return np.tensordot(view, w, axes=(over, tuple(range(rank + 1))))


@in_float32
def convolve_input(g: Any, w: Any, shape: Sizes, strides: Sizes, padding: Padding, dilations: Sizes) -> Any:
    """Return the gradient with respect to x, of the given shape; also known as transposed convolution."""
    if not g.size:
        return zeros(shape, g)
    met = places(w.shape[:-2], g.shape[1:-1], strides, dilations)
    return put_together(g, shape, padding, ((where, g @ w[at].T) for at, where in met))


@in_float32
def convolve_filter(x: Any, g: Any, window: Sizes, strides: Sizes, padding: Padding, dilations: Sizes) -> Any:
    """Return the gradient with respect to w: (*window, c_in, c_out)."""
    if not g.size or not x.size:
        return zeros((*window, x.shape[-1], g.shape[-1]), g)
    px = padded(x, padding)
    out = g.shape[1:-1]
    result = empty((*window, x.shape[-1], g.shape[-1]), g)
    over = tuple(range(g.ndim - 1))
    for at, where in places(window, out, strides, dilations):
        result[at] = np.tensordot(px[where], g, axes=(over, over))
    return result


@in_float32
def depthwise(x: Any, w: Any, strides: Sizes, padding: Padding, dilations: Sizes) -> Any:
    """Convolve each channel of x (n, *spatial, c) with its filters in w (*window, c, m): (n, *out, c·m)."""
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
    """Return the gradient with respect to x, of the given shape."""
    if not g.size:
        return zeros(shape, g)
    parts, met = _grouped(g, shape[-1]), places(w.shape[:-2], g.shape[1:-1], strides, dilations)
    made = ((where, np.sum(parts * w[at], axis=-1, dtype=g.dtype)) for at, where in met)
    return put_together(g, shape, padding, made)


@in_float32
def depthwise_filter(x: Any, g: Any, window: Sizes, strides: Sizes, padding: Padding, dilations: Sizes) -> Any:
    """Return the gradient with respect to w: (*window, c, m)."""
    parts = _grouped(g, x.shape[-1])
    if not g.size:
        return zeros((*window, *parts.shape[-2:]), g)
    px = padded(x, padding)
    result = empty((*window, *parts.shape[-2:]), g)
    over = tuple(range(g.ndim - 1))
    for at, where in places(window, g.shape[1:-1], strides, dilations):
        result[at] = np.sum(px[where][..., None] * parts, axis=over, dtype=g.dtype)
    return result
