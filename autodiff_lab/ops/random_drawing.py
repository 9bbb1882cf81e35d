"""How numbers are drawn from a source, shared by the random functions, the stateless ones and generators.

Means, deviations and bounds may be tensors: the drawn noise is scaled and moved by ops, so gradients reach them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_lab.engine.convert import convert
from autodiff_lab.engine.devices import beside, device, placed
from autodiff_lab.engine.dtypes import as_dtype
from autodiff_lab.engine.tensor import Tensor, wrap
from autodiff_lab.engine.variable import Variable
from autodiff_lab.errors import InvalidArgumentError, ShapeMismatch
from autodiff_lab.kernels.arrays import on_gpu, ranked
from autodiff_lab.ops.array.creation import as_shape
from autodiff_lab.ops.math.arithmetic import multiply
from autodiff_lab.ops.random_noise import normal_noise, uniform_noise
from autodiff_lab.ops.random_state import Source


def noise_of(values: Any, dtype: Any, name: str) -> Tensor:
    """Drawn numbers as a tensor of a floating dtype; the error names the function."""
    wanted = as_dtype(dtype)
    if not wanted.is_floating:
        raise InvalidArgumentError(f"{name}: dtype must be floating, got {wanted.name}.")
    return wrap(placed(ranked(values).astype(wanted.dtype)[()]))


def _is_tensor(value: Any) -> bool:
    return isinstance(value, (Tensor, Variable))


def _near(noise: Any, parameter: Any, dtype: Any) -> Any:
    """Return a parameter as an array where the noise lies."""
    array = np.asarray(parameter, dtype)
    return noise.memory.upload(array) if on_gpu(noise) and array.ndim else array


def scaled(noise: Any, shift: Any, scale: Any, dtype: Any, name: str) -> Tensor:
    """``noise * scale + shift``, by ops where these are tensors, rounded once where they are numbers."""
    shape = np.shape(noise)
    if not _is_tensor(shift) and not _is_tensor(scale):
        for parameter in (shift, scale):
            if np.asarray(parameter).dtype.kind not in "fiub":
                raise InvalidArgumentError(f"{name}: parameters must be numbers or tensors, got {parameter!r}.")
        kind = noise.dtype if on_gpu(noise) else np.float64
        try:
            moved = ranked(noise) * _near(noise, scale, kind) + _near(noise, shift, kind)
        except ValueError:
            moved = None
        if moved is None or moved.shape != shape:
            raise ShapeMismatch(f"{name}: parameters of shapes {np.shape(shift)} and {np.shape(scale)} do not "
                                f"broadcast to shape {shape}.")
        return noise_of(moved, dtype, name)
    with beside(shift, scale):
        drawn = noise_of(noise, dtype, name)
    result = multiply(drawn, scale) + shift
    if result._held.shape != shape:
        raise ShapeMismatch(f"{name}: the parameters broadcast to {result._held.shape}, not to shape {shape}.")
    return result


def draw_normal(source: Source, shape: Any, mean: Any, stddev: Any, dtype: Any, name: str) -> Tensor:
    """Normal numbers."""
    with beside(mean, stddev):
        noise = normal_noise(source, as_shape(shape), dtype)
    return scaled(noise, mean, stddev, dtype, name)


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
            raise InvalidArgumentError(f"{name}: an integer dtype requires maxval.")
        low, high = int(0 if minval is None else minval), int(maxval)
        limits = np.iinfo(wanted.dtype)
        if low >= high or low < limits.min or high > int(limits.max) + 1:
            raise InvalidArgumentError(f"{name}: minval {low} must be below maxval {high}, both within {wanted.name}.")
        return wrap(placed(np.asarray(source.integers(low, high, as_shape(shape), wanted.dtype))[()]))
    low = 0.0 if minval is None else minval
    high = 1.0 if maxval is None else maxval
    with beside(low, high):
        noise = uniform_noise(source, as_shape(shape), dtype)
    if _is_tensor(low) or _is_tensor(high):
        return scaled(noise, low, convert(high) - low, dtype, name)
    low, high = np.asarray(low, np.float64), np.asarray(high, np.float64)
    with device(None):
        result = scaled(noise, low, high - low, dtype, name)
    below = np.nextafter(high.astype(wanted.dtype), low.astype(wanted.dtype))  # rounding may reach the upper end
    made = result._array
    reached = (made >= _near(made, high, np.float64)) & _near(made, low < high, np.bool_)
    kept = np.where(reached, _near(made, below, made.dtype), made)
    return wrap(placed(kept.astype(wanted.dtype)[()]))
