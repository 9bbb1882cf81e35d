"""Images (*b, h, w, c) of another size: each pixel of the result is a weighted mean of pixels around its place.

Both axes are resized one after the other, so that a method is a function of distances on an axis.  Pixel i covers
[i, i + 1]; on an axis of n pixels, pixel j of m lies around n (j + 1/2) / m.  Weights beyond the edges are left out and
the others divided by their sum.  With antialiasing, functions are stretched by n / m where that is more than 1.

Keys, Cubic convolution interpolation for digital image processing (1981): bicubic, with a = -1/2.  Mitchell and
Netravali, Reconstruction filters in computer graphics (1988): mitchellcubic, with B = C = 1/3.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from autodiff_lab.kernels.arrays import arange, on_gpu, zeros
from autodiff_lab.kernels.base.halves import in_float32


def _cubic(b: float, c: float) -> Callable[[Any], Any]:
    """Return the cubic of Mitchell and Netravali; (0, 1/2) is that of Keys."""

    def weight(x: Any) -> Any:
        near = ((12 - 9 * b - 6 * c) * x - 18 + 12 * b + 6 * c) * x * x + 6 - 2 * b
        far = (((-b - 6 * c) * x + 6 * b + 30 * c) * x - 12 * b - 48 * c) * x + 8 * b + 24 * c
        return np.where(x < 1, near, np.where(x < 2, far, 0)) / 6

    return weight


def _lanczos(radius: int) -> Callable[[Any], Any]:
    def weight(x: Any) -> Any:
        angle = np.where(x > 0, x, 1) * np.pi
        window = np.sin(angle) * np.sin(angle / radius) * radius / (angle * angle)
        return np.where(x > 0, np.where(x < radius, window, 0), 1)

    return weight


METHODS: dict[str, tuple[float, Callable[[Any], Any]]] = {
    "bilinear": (1, lambda x: np.maximum(1 - x, 0)),
    "bicubic": (2, _cubic(0, 0.5)),
    "lanczos3": (3, _lanczos(3)),
    "lanczos5": (5, _lanczos(5)),
    "gaussian": (1.5, lambda x: np.where(x < 1.5, np.exp(-2 * x * x), 0)),
    "mitchellcubic": (2, _cubic(1 / 3, 1 / 3)),
}
"""The distance up to which pixels count, and their weights before they are divided by their sum."""
_SMOOTHING = ("gaussian", "mitchellcubic")
"""Methods that change an image of the same size."""


class Taps(NamedTuple):
    """The pixels that each pixel on an axis is made of: the first, (m,), and the weights of those from it, (m, k)."""

    first: Any
    weights: Any


def nearest(n: int, m: int, like: Any = None) -> Any:
    """Return the pixel out of n in which the middle of each of m pixels lies, in TensorFlow's float32."""
    places = (arange(m, like, np.float32) + np.float32(0.5)) * np.float32(n / m)
    return np.minimum(places.astype(np.int64), n - 1)


def _places(n: int, m: int, method: str, like: Any = None) -> Any:
    """Return where each pixel of m begins, for `area`, or has its centre, where those of n have theirs at 0, 1, ..."""
    if method == "area":
        return arange(m, like) * n / m
    return (arange(m, like) * 2 + 1) * n / (2 * m) - 0.5  # rounded once: distances from pixels are exact at ties


def _weights(at: Any, places: Any, n: int, m: int, method: str, antialias: bool) -> Any:
    """Return the weights of pixels `at` in those at `places`; they broadcast to (m, k)."""
    if method == "area":
        found = np.maximum(np.minimum(at + 1, places + n / m) - np.maximum(at, places), 0)
    else:
        found = METHODS[method][1](abs(at - places) / (max(n / m, 1.0) if antialias else 1.0))
    return found / found.sum(axis=1, keepdims=True)


@lru_cache(256)
def taps(n: int, m: int, method: str, antialias: bool, dtype: Any) -> Taps:
    """Return what m pixels are made of that replace n.

    Examples
    --------
    >>> import numpy as np
    >>> taps(2, 4, "bilinear", False, np.dtype("float64")).weights.tolist()
    [[1.0, 0.0], [0.75, 0.25], [0.25, 0.75], [0.0, 1.0]]
    """
    if method == "nearest":
        return Taps(nearest(n, m), np.ones((m, 1), dtype))
    places = _places(n, m, method)
    if method == "area":
        count, first = math.ceil(n / m) + 1, np.floor(places)
    else:
        reach = METHODS[method][0] * (max(n / m, 1.0) if antialias else 1.0)
        count, first = math.ceil(2 * reach), np.ceil(places - reach)
    count = min(n, count)
    first = np.clip(first.astype(np.int64), 0, n - count)
    weights = _weights(first[:, None] + np.arange(count), places[:, None], n, m, method, antialias)
    return Taps(first, weights.astype(dtype))


def _matrix(n: int, m: int, method: str, antialias: bool, like: Any) -> Any:
    """Return the weights of n pixels in each of m as a matrix (m, n), made where another array is."""
    at = arange(n, like)[None]
    if method == "nearest":
        return (at == nearest(n, m, like)[:, None]).astype(like.dtype)
    return _weights(at, _places(n, m, method, like)[:, None], n, m, method, antialias).astype(like.dtype)


@lru_cache(256)
def transposed(n: int, m: int, method: str, antialias: bool, dtype: Any) -> Taps:
    """Return what the gradients of n pixels are made of, from those of the m pixels that replace them."""
    first, weights = taps(n, m, method, antialias, dtype)
    count = weights.shape[1]
    used = weights != 0  # nothing else need be read
    low = first + used.argmax(axis=1)
    high = first + count - used[:, ::-1].argmax(axis=1)
    pixels = np.arange(n)
    starts = np.searchsorted(np.maximum.accumulate(high), pixels, side="right")
    stops = np.searchsorted(np.minimum.accumulate(low[::-1])[::-1], pixels, side="right")
    longest = max(1, int((stops - starts).max()))
    starts = np.minimum(starts, m - longest)
    at = starts[:, None] + np.arange(longest)
    k = pixels[:, None] - first[at]
    turned = np.where((k >= 0) & (k < count), weights[at, np.clip(k, 0, count - 1)], weights.dtype.type(0))
    return Taps(starts, turned)


def steps(
    x: Any, height: int, width: int, method: str, antialias: bool, back: bool = False
) -> list[tuple[int, Taps]]:  # fmt: skip
    """Return the axes to resize, -3 and -2, in the order of least work, with the taps of each."""
    found = []
    for axis, m in ((-3, height), (-2, width)):
        n = x.shape[axis]
        if n != m or method in _SMOOTHING:
            found.append((axis, transposed(m, n, method, antialias, x.dtype) if back
                          else taps(n, m, method, antialias, x.dtype)))  # fmt: skip
    return found[::-1] if x.shape[-3] <= height else found  # columns while there are few rows


def _along(x: Any, axis: int, made_of: Taps) -> Any:
    first, weights = made_of
    shape = (len(first), *(1,) * (-1 - axis))
    total: Any = None
    for k in range(weights.shape[1]):
        part = np.take(x, first + k, axis=axis)
        part *= weights[:, k].reshape(shape)
        total = part if total is None else np.add(total, part, out=total)
    return total


def _by_products(x: Any, height: int, width: int, method: str, antialias: bool, back: bool) -> Any:
    """Return resized images on a GPU, as products: these are quick, and no weights are copied there."""
    *batch, h, w, c = x.shape
    rows, columns = (_matrix(m, n, method, antialias, x).T if back else _matrix(n, m, method, antialias, x)
                     for n, m in ((h, height), (w, width)))  # fmt: skip
    made = np.matmul(rows, x.reshape(math.prod(batch), h, w * c))
    return np.matmul(columns, made.reshape(-1, w, c)).reshape(*batch, height, width, c)


def _resized(x: Any, height: int, width: int, method: str, antialias: bool, back: bool) -> Any:
    if not x.size or not height or not width:
        return zeros((*x.shape[:-3], height, width, x.shape[-1]), x)
    if on_gpu(x):
        return _by_products(x, height, width, method, antialias, back)
    made = x
    for axis, made_of in steps(x, height, width, method, antialias, back):
        made = _along(made, axis, made_of)
    return x.copy() if made is x else made


@in_float32
def resize(x: Any, height: int, width: int, method: str, antialias: bool) -> Any:
    """Return images of another height and width."""
    return _resized(x, height, width, method, antialias, back=False)


@in_float32
def resize_input(g: Any, height: int, width: int, method: str, antialias: bool) -> Any:
    """Return the gradient of `resize` with respect to images of a height and width."""
    return _resized(g, height, width, method, antialias, back=True)
