"""How numbers are drawn from a source, shared by the random functions, the stateless ones and generators.

Means, deviations and bounds may be tensors: the drawn noise is scaled and moved by ops, so gradients reach them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_lab.engine.convert import convert
from autodiff_lab.engine.dtypes import as_dtype
from autodiff_lab.engine.tensor import Tensor, wrap
from autodiff_lab.engine.variable import Variable
from autodiff_lab.errors import DtypeMismatch, InvalidArgumentError, ShapeMismatch
from autodiff_lab.ops.array.creation import as_shape
from autodiff_lab.ops.math.arithmetic import multiply
from autodiff_lab.ops.random_state import Source


def _noise(values: Any, dtype: Any, name: str) -> Tensor:
    wanted = as_dtype(dtype)
    if not wanted.is_floating:
        raise InvalidArgumentError(f"{name}: dtype must be floating, got {wanted.name}")
    return wrap(np.asarray(values).astype(wanted.dtype)[()])


def _is_tensor(value: Any) -> bool:
    return isinstance(value, (Tensor, Variable))


def scaled(noise: Any, shift: Any, scale: Any, dtype: Any, name: str) -> Tensor:
    """``noise * scale + shift``, by ops where these are tensors, rounded once where they are numbers."""
    shape = np.shape(noise)
    if not _is_tensor(shift) and not _is_tensor(scale):
        try:
            moved = np.asarray(noise) * np.asarray(scale, np.float64) + np.asarray(shift, np.float64)
        except ValueError:
            moved = None
        if moved is None or moved.shape != shape:
            raise ShapeMismatch(f"{name}: parameters of shapes {np.shape(shift)} and {np.shape(scale)} do not "
                                f"broadcast to the shape asked for, {shape}.")
        return _noise(moved, dtype, name)
    drawn = _noise(noise, dtype, name)
    result = multiply(drawn, scale) + shift
    if result._array.shape != shape:
        raise ShapeMismatch(f"{name}: the parameters broadcast to {result._array.shape}, but the shape asked for is "
                            f"{shape}.")
    return result


def draw_normal(source: Source, shape: Any, mean: Any, stddev: Any, dtype: Any, name: str) -> Tensor:
    """Normal numbers."""
    return scaled(source.standard_normal(as_shape(shape)), mean, stddev, dtype, name)


def draw_truncated(source: Source, shape: Any, mean: Any, stddev: Any, dtype: Any, name: str) -> Tensor:
    """Normal numbers; those beyond two standard deviations are drawn again."""
    return scaled(truncated_noise(source, as_shape(shape)), mean, stddev, dtype, name)


def truncated_noise(source: Source, shape: tuple[int, ...], low: Any = -2.0, high: Any = 2.0) -> Any:
    """Standard normal numbers between two bounds, by rejection."""
    drawn = np.asarray(source.standard_normal(shape))
    out = (drawn < low) | (drawn > high)
    while out.any():
        drawn = np.where(out, source.standard_normal(shape), drawn)
        out = (drawn < low) | (drawn > high)
    return drawn


def draw_uniform(source: Source, shape: Any, minval: Any, maxval: Any, dtype: Any, name: str) -> Tensor:
    """Uniform numbers from `minval` up to, and without, `maxval`."""
    wanted = as_dtype(dtype)
    if wanted.is_integer:
        if maxval is None:
            raise InvalidArgumentError(f"{name}: an integer dtype needs maxval")
        low, high = int(0 if minval is None else minval), int(maxval)
        limits = np.iinfo(wanted.dtype)
        if low >= high or low < limits.min or high > int(limits.max) + 1:
            raise InvalidArgumentError(f"{name}: minval {low} must be below maxval {high}, both within {wanted.name}.")
        return wrap(np.asarray(source.integers(low, high, as_shape(shape), wanted.dtype))[()])
    low = 0.0 if minval is None else minval
    high = 1.0 if maxval is None else maxval
    noise = source.random(as_shape(shape))
    if _is_tensor(low) or _is_tensor(high):
        return scaled(noise, low, convert(high) - low, dtype, name)
    low, high = np.asarray(low, np.float64), np.asarray(high, np.float64)
    result = scaled(noise, low, high - low, dtype, name)
    below = np.nextafter(high.astype(wanted.dtype), low.astype(wanted.dtype))  # rounding may reach the upper end
    kept = np.where((result._array >= high) & (low < high), below, result._array)
    return wrap(kept.astype(wanted.dtype)[()])


def draw_gamma(source: Source, shape: Any, alpha: Any, beta: Any, dtype: Any, name: str) -> Tensor:
    """Gamma numbers, of the shape asked for, with that of the parameters behind it."""
    a = convert(alpha)
    noise_shape = np.broadcast_shapes(a._array.shape, () if beta is None else convert(beta)._array.shape)
    if np.any(np.asarray(a._array) <= 0):
        raise InvalidArgumentError(f"{name}: alpha must be positive.")
    noise = source.standard_gamma(np.broadcast_to(np.asarray(a._array, np.float64), noise_shape),
                                  (*as_shape(shape), *noise_shape))
    drawn = _noise(noise, dtype, name)
    return drawn if beta is None else drawn / beta


def draw_poisson(source: Source, shape: Any, rate: Any, dtype: Any, name: str) -> Tensor:
    """Poisson numbers, of the shape asked for, with that of the rates behind it."""
    lam = np.asarray(convert(rate)._array, np.float64)
    if np.any(~(lam >= 0)):
        raise InvalidArgumentError(f"{name}: the rates must be 0 or more.")
    drawn = np.asarray(source.poisson(lam, (*as_shape(shape), *lam.shape)))
    return wrap(drawn.astype(as_dtype(dtype).dtype)[()])


def draw_categorical(source: Source, logits: Any, num_samples: Any, dtype: Any, name: str) -> Tensor:
    """Class numbers (b, n) from the logits of each row."""
    x = convert(logits)
    if x._array.ndim != 2 or x._array.shape[1] == 0:
        raise ShapeMismatch(f"{name}: logits (batch, classes) are needed, got shape {x._array.shape}.")
    if not x.dtype.is_floating:
        raise DtypeMismatch(f"{name}: logits are floating, got {x.dtype.name}. Try lab.cast.")
    count, = as_shape(num_samples)
    rows = np.asarray(x._array, np.float64)[:, None, :]
    # The largest of logits plus Gumbel noise is distributed as softmax says (Gumbel 1954).
    noisy = rows + source.gumbel(size=(rows.shape[0], count, rows.shape[2]))
    return wrap(np.argmax(noisy, axis=-1).astype(as_dtype(dtype).dtype))
