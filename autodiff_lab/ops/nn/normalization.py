"""Normalization: means and variances over axes, and values brought to unit scale by them."""

from __future__ import annotations

import math
from typing import Any

from autodiff_lab.engine.convert import convert
from autodiff_lab.engine.dtypes import DIFFERENTIABLE
from autodiff_lab.engine.primitives import negative_axes
from autodiff_lab.engine.shape import one_whole_number, whole_numbers
from autodiff_lab.engine.tensor import Tensor, named, wrap
from autodiff_lab.errors import DtypeMismatch, InvalidArgumentError, ShapeMismatch
from autodiff_lab.kernels.base.halves import is_half
from autodiff_lab.ops.array.casting import cast
from autodiff_lab.ops.array.joining import pad_axis, slice_axis
from autodiff_lab.ops.array.shaping import squeeze
from autodiff_lab.ops.docs import doc
from autodiff_lab.ops.math.arithmetic import pow, square
from autodiff_lab.ops.math.elementary import squared_difference
from autodiff_lab.ops.math.exponential import rsqrt
from autodiff_lab.ops.math.reductions import reduce_mean, reduce_sum
from autodiff_lab.ops.nn.standardization import normalize, standardize


def floats(value: Any, name: str) -> Tensor:
    """Return a floating tensor; the error names the function."""
    x = convert(value)
    if x._held.dtype not in DIFFERENTIABLE:
        raise DtypeMismatch(f"{name}: a floating tensor is needed, got {x.dtype.name} of shape {x._held.shape}. Try "
                            "lab.cast(x, lab.float32).")
    return x


def checked_axes(axes: Any, rank: int, name: str) -> tuple[int, ...]:
    """Axes counted from the end; the error names the function."""
    try:
        return negative_axes(None if axes is None else whole_numbers(axes, name), rank)
    except ValueError as error:
        raise InvalidArgumentError(f"{name}: {error}") from None


def standardized(x: Any, axes: tuple[int, ...], epsilon: float, scale: Any = None, offset: Any = None) -> Tensor:
    """(x - mean) / √(variance + epsilon) over negative axes, times the scale and plus the offset where they are given.

    One op, where both are of one shape and of the dtype of x; the difference of dtypes is told by the product.
    """
    x = floats(x, "normalization")
    if scale is not None and offset is not None:
        factor, level = convert(scale, x), convert(offset, x)
        if factor._held.dtype == level._held.dtype == x._held.dtype and factor._held.shape == level._held.shape:
            return normalize(x, factor, level, axes=axes, epsilon=epsilon)
    result = standardize(x, axes=axes, epsilon=epsilon)
    if scale is not None:
        result = result * scale
    return result if offset is None else result + offset


def moments(x: Any, axes: Any, shift: Any = None, keepdims: bool = False, name: str | None = None,
            ) -> tuple[Tensor, Tensor]:
    x = floats(x, "moments")
    over = checked_axes(axes, x._held.ndim, "moments")
    if is_half(x._held.dtype):
        mean, variance = moments(cast(x, "float32"), over, keepdims=keepdims)
        return named((cast(mean, x.dtype), cast(variance, x.dtype)), name)
    mean = reduce_mean(x, axis=over, keepdims=True)
    # The mean in the squares must not be held still: its contribution of the gradient is 0, but not that of the next
    # order.
    squares = squared_difference(x, mean) if x._held.dtype.kind == "c" else square(x - mean)
    variance = reduce_mean(squares, axis=over, keepdims=keepdims)
    return named((mean if keepdims or not over else squeeze(mean, over), variance), name)


def weighted_moments(x: Any, axes: Any, frequency_weights: Any, keepdims: bool = False, name: str | None = None,
                     ) -> tuple[Tensor, Tensor]:
    x = floats(x, "weighted_moments")
    over = checked_axes(axes, x._held.ndim, "weighted_moments")
    if is_half(x._held.dtype):
        weights = cast(convert(frequency_weights, x), "float32")
        mean, variance = weighted_moments(cast(x, "float32"), over, weights, keepdims)
        return named((cast(mean, x.dtype), cast(variance, x.dtype)), name)
    weights = convert(frequency_weights, x) + x * 0
    total = reduce_sum(weights, axis=over, keepdims=True)
    mean = reduce_sum(weights * x, axis=over, keepdims=True) / total
    squares = squared_difference(x, mean) if x._held.dtype.kind == "c" else square(x - mean)
    variance = reduce_sum(weights * squares, axis=over, keepdims=True) / total
    return named((mean, variance) if keepdims or not over else (squeeze(mean, over), squeeze(variance, over)), name)


def sufficient_statistics(x: Any, axes: Any, shift: Any = None, keepdims: bool = False, name: str | None = None,
                          ) -> tuple[Tensor, Tensor, Tensor, Tensor | None]:
    x = floats(x, "sufficient_statistics")
    over = checked_axes(axes, x._held.ndim, "sufficient_statistics")
    count = math.prod(x._held.shape[a] for a in over)
    moved = x if shift is None else x - convert(shift, x)
    total, squares = (reduce_sum(each, axis=over, keepdims=keepdims) for each in (moved, square(moved)))
    return named((wrap(x._held.dtype.type(count)), total, squares, None if shift is None else convert(shift, x)), name)


def normalize_moments(counts: Any, mean_ss: Any, variance_ss: Any, shift: Any, name: str | None = None,
                      ) -> tuple[Tensor, Tensor]:
    total = floats(mean_ss, "normalize_moments")
    count = convert(counts, total)
    shifted = total / count
    variance = convert(variance_ss, total) / count - square(shifted)
    return named((shifted if shift is None else shifted + convert(shift, total), variance), name)


def batch_normalization(x: Any, mean: Any, variance: Any, offset: Any, scale: Any, variance_epsilon: float,
                        name: str | None = None) -> Tensor:
    x = floats(x, "batch_normalization")
    factor = rsqrt(convert(variance, x) + variance_epsilon)
    if scale is not None:
        factor = factor * convert(scale, x)
    result = (x - convert(mean, x)) * factor
    return named(result if offset is None else result + convert(offset, x), name)


def local_response_normalization(input: Any, depth_radius: int = 5, bias: float = 1.0, alpha: float = 1.0,
                                 beta: float = 0.5, name: str | None = None) -> Tensor:
    x = floats(input, "local_response_normalization")
    if x._held.ndim != 4:
        raise ShapeMismatch(f"local_response_normalization: an input (n, h, w, c) is needed, got {x._held.shape}.")
    radius = one_whole_number(depth_radius, "local_response_normalization")
    if radius < 0:
        raise InvalidArgumentError(f"local_response_normalization: depth_radius is 0 or more, got {radius}.")
    channels = x._held.shape[-1]
    around = pad_axis(square(x), axis=-1, before=radius, after=radius)
    total: Any = 0.0
    for start in range(2 * radius + 1):
        total = total + slice_axis(around, axis=-1, start=start, stop=start + channels)
    return named(x / pow(bias + alpha * total, beta), name)


lrn = local_response_normalization

for _function, _words, _shapes, _derivative, _example in (
    (moments, "Mean and variance over axes; `shift` is accepted and changes nothing.",
     "x (*s) -> twice s without the axes", "1/n for the mean, 2(x - mean)/n for the variance",
     ">>> mean, variance = lab.nn.moments([1.0, 3.0], axes=[0])\n>>> float(mean), float(variance)\n(2.0, 1.0)"),
    (weighted_moments, "Mean and variance over axes, in which elements weigh differently.",
     "x (*s), frequency_weights broadcasting to s -> twice s without the axes", "that of the weighted sums",
     ">>> mean, variance = lab.nn.weighted_moments([1.0, 4.0], [0], [2.0, 1.0])\n>>> float(mean), float(variance)\n"
     "(2.0, 2.0)"),
    (sufficient_statistics, "Count, sum and sum of squares over axes, and the shift that x was moved by before.",
     "x (*s) -> (), twice s without the axes, shift", "that of the sums",
     ">>> [float(t) for t in lab.nn.sufficient_statistics([1.0, 3.0], [0])[:3]]\n[2.0, 4.0, 10.0]"),
    (normalize_moments, "Mean and variance from the statistics that `sufficient_statistics` gives.",
     "counts (), mean_ss (*s), variance_ss (*s), shift (*s) or None -> twice (*s)", "that of the quotients",
     ">>> [float(t) for t in lab.nn.normalize_moments(2.0, 4.0, 10.0, None)]\n[2.0, 1.0]"),
    (batch_normalization, "(x - mean) / √(variance + epsilon), times the scale, plus the offset.",
     "x (*s), the others broadcasting to s -> (*s)", "that of the product and the sum",
     ">>> print(lab.nn.batch_normalization([1.0, 3.0], 2.0, 1.0, None, None, 0.0))\n"
     "Tensor([-1.  1.], shape=(2,), dtype=float32)"),
    (local_response_normalization, "x over (bias + alpha·(sum of the squares of the channels around))^beta.",
     "input (n, h, w, c) -> the same", "that of the quotient",
     ">>> print(lab.nn.local_response_normalization([[[[1.0]]]], bias=3.0))\n"
     "Tensor([[[[0.5]]]], shape=(1, 1, 1, 1), dtype=float32)"),
):
    _function.__doc__ = doc(_words, shapes=_shapes, derivative=_derivative, example=_example,
                            raises=("argument", "floating", "convert"))
