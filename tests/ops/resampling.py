"""Images resized pixel by pixel: the weights of each method, by its formula, in loops over all pairs of pixels."""

import math
from fractions import Fraction

import numpy as np


def keys(x: float, a: float = -0.5) -> float:
    if x < 1:
        return (a + 2) * x**3 - (a + 3) * x**2 + 1
    return a * x**3 - 5 * a * x**2 + 8 * a * x - 4 * a if x < 2 else 0.0


def mitchell(x: float) -> float:
    if x < 1:
        return 7 / 6 * x**3 - 2 * x**2 + 8 / 9
    return -7 / 18 * x**3 + 2 * x**2 - 10 / 3 * x + 16 / 9 if x < 2 else 0.0


def lanczos(x: float, radius: int) -> float:
    if x == 0:
        return 1.0
    return radius * math.sin(math.pi * x) * math.sin(math.pi * x / radius) / (math.pi * x) ** 2 if x < radius else 0.0


WEIGHTS = {
    "bilinear": lambda x: max(1 - x, 0.0),
    "bicubic": keys,
    "lanczos3": lambda x: lanczos(x, 3),
    "lanczos5": lambda x: lanczos(x, 5),
    "gaussian": lambda x: math.exp(-(x**2) / (2 * 0.5**2)) if x < 1.5 else 0.0,
    "mitchellcubic": mitchell,
}
METHODS = ("nearest", "area", *WEIGHTS)


def weight(i: int, j: int, n: int, m: int, method: str, antialias: bool) -> float:
    """Return the weight of pixel i of n in pixel j of m, before weights are divided by their sum."""
    if method == "nearest":
        return float(i == min(n - 1, (2 * j + 1) * n // (2 * m)))
    if method == "area":
        low, high = Fraction(j * n, m), Fraction((j + 1) * n, m)
        return float(max(min(i + 1, high) - max(i, low), 0))
    stretched = max(n / m, 1.0) if antialias else 1.0
    return WEIGHTS[method](abs(float(Fraction(2 * i + 1, 2) - Fraction((2 * j + 1) * n, 2 * m))) / stretched)


def matrix(n: int, m: int, method: str, antialias: bool) -> np.ndarray:
    """Return the weights of n pixels in each of m."""
    found = np.array([[weight(i, j, n, m, method, antialias) for i in range(n)] for j in range(m)])
    return found / found.sum(1, keepdims=True)


def resized(x: np.ndarray, height: int, width: int, method: str, antialias: bool) -> np.ndarray:
    """Resize images (*b, h, w, c)."""
    rows, columns = (matrix(n, m, method, antialias) for n, m in zip(x.shape[-3:-1], (height, width), strict=True))
    return np.einsum("...hwc,yh,xw->...yxc", x, rows, columns)


def spread_back(g: np.ndarray, height: int, width: int, method: str, antialias: bool) -> np.ndarray:
    """Return the gradient of the images from that of resized ones."""
    rows, columns = (matrix(m, n, method, antialias) for n, m in zip(g.shape[-3:-1], (height, width), strict=True))
    return np.einsum("...yxc,yh,xw->...hwc", g, rows, columns)
