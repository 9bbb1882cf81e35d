"""Values normalized to mean 0 and variance 1 over axes, with or without a scale and an offset, and gradients of that.

Axes are negative and sorted; a scale and an offset broadcast to x.  Cotangents may have further axes before those of x.
Half floats are computed in float32.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_lab.kernels.base.columns import sum_over_axes
from autodiff_lab.kernels.base.halves import in_float32
from autodiff_lab.kernels.reductions.reference import mean_over

Axes = tuple[int, ...]


def mean(x: Any, axes: Axes) -> Any:
    """Mean over axes, which stay with length 1; nan over nothing."""
    return mean_over(x, axes, keepdims=True)


def standard(x: Any, axes: Axes, epsilon: float) -> tuple[Any, Any]:
    """(x - mean) / √(variance + epsilon), and the reciprocal of the root."""
    centred = x - mean(x, axes)
    root = 1 / np.sqrt(mean(centred * centred, axes) + x.dtype.type(epsilon))
    return centred * root, root


@in_float32
def moments(x: Any, axes: Axes) -> tuple[Any, Any]:
    """Mean, and mean of the squared distances from it; the axes stay with length 1."""
    middle = mean(x, axes)
    away = x - middle
    return middle, mean(away * away, axes)


@in_float32
def plain_normalize(x: Any, axes: Axes, epsilon: float) -> Any:
    """(x - mean) / √(variance + epsilon)."""
    return standard(x, axes, epsilon)[0]


@in_float32
def plain_normalize_grad(g: Any, x: Any, axes: Axes, epsilon: float) -> Any:
    """(g - mean of g - y · mean of g·y) / √(variance + epsilon), y being what `plain_normalize` gives."""
    y, root = standard(x, axes, epsilon)
    return root * (g - mean(g, axes) - y * mean(g * y, axes))


@in_float32
def normalize(x: Any, scale: Any, offset: Any, axes: Axes, epsilon: float) -> Any:
    """`plain_normalize`, times the scale, plus the offset."""
    return standard(x, axes, epsilon)[0] * scale + offset


@in_float32
def normalize_grad(g: Any, x: Any, scale: Any, axes: Axes, epsilon: float) -> tuple[Any, Any, Any]:
    """Return the gradients of `normalize` for x, scale and offset; the last two have the shape of the scale."""
    y, root = standard(x, axes, epsilon)
    lead, scaled = g.shape[: g.ndim - x.ndim], g * scale
    over = tuple(k for k in range(-x.ndim, 0) if -k > scale.ndim or scale.shape[k] == 1)
    of_scale, of_offset = (sum_over_axes(h, over, True).reshape(lead + scale.shape) for h in (g * y, g))
    return root * (scaled - mean(scaled, axes) - y * mean(scaled * y, axes)), of_scale, of_offset


@in_float32
def batch_normalize(x: Any, mean: Any, variance: Any, scale: Any, offset: Any, epsilon: float) -> Any:
    """(x - mean) / √(variance + epsilon) · scale + offset, of arrays that broadcast."""
    factor = 1 / np.sqrt(variance + variance.dtype.type(epsilon)) * scale
    made = x - mean
    if made.ndim and made.shape == x.shape and factor.shape == mean.shape == offset.shape:
        made *= factor
        made += offset
        return made
    return made * factor + offset
