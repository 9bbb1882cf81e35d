"""How numbers are drawn from a source, shared by the random functions, the stateless ones and generators.

Means, deviations and bounds may be tensors: the drawn noise is scaled and shifted by ops, so gradients reach them.

Few numbers are drawn on the CPU everywhere, so that a seed gives the same ones on every device.  To draw and copy many
would take far longer than what a GPU then does with them: there, from `MANY` on, they come from a counter
(`kernels.random.cuda`), at a key that the source of the CPU gives.  A seed then gives the same numbers at every run,
but others than on the CPU.
"""

from __future__ import annotations

from importlib import import_module
from math import prod
from typing import Any

import numpy as np

from autodiff_lab.engine.convert import convert, tell_entry
from autodiff_lab.engine.devices import beside, current_memory, device, placed
from autodiff_lab.engine.dtypes import as_dtype
from autodiff_lab.engine.shape import as_integer
from autodiff_lab.engine.tensor import Tensor, looked_at, wrap
from autodiff_lab.engine.variable import Variable
from autodiff_lab.errors import DtypeMismatch, InvalidArgumentError, ShapeMismatch
from autodiff_lab.events.listener import trace_now
from autodiff_lab.kernels.arrays import on_gpu, ranked
from autodiff_lab.ops.array.casting import cast
from autodiff_lab.ops.array.creation import as_shape
from autodiff_lab.ops.checks import room
from autodiff_lab.ops.math.arithmetic import multiply
from autodiff_lab.ops.math.gamma import gamma_quantile
from autodiff_lab.ops.math.scipy_kernels import special
from autodiff_lab.ops.random_state import Source

_BELOW_ONE = {kind: np.nextafter(np.dtype(kind).type(1), np.dtype(kind).type(0)) for kind in "fd"}
"""By the character of a dtype, its greatest number below 1."""
MANY = 2**14
"""Numbers from which on the GPU draws them that keeps them: to copy fewer takes no longer than to ask it."""


def uniform_noise(source: Source, shape: tuple[int, ...], dtype: Any) -> Any:
    """Draw numbers in [0, 1): float64 on the CPU, on a GPU in the given dtype (half floats in float32)."""
    return _drawn(source, "uniform", shape, dtype) if _on_gpu(shape, dtype) else source.random(shape)


def normal_noise(source: Source, shape: tuple[int, ...], dtype: Any) -> Any:
    """Draw standard normal numbers; otherwise as `uniform_noise`."""
    return _drawn(source, "normal", shape, dtype) if _on_gpu(shape, dtype) else source.standard_normal(shape)


def _on_gpu(shape: tuple[int, ...], dtype: Any) -> bool:
    return current_memory() is not None and prod(shape) >= MANY and as_dtype(dtype).dtype.kind == "f"


def _drawn(source: Source, name: str, shape: tuple[int, ...], dtype: Any) -> Any:
    draw = getattr(import_module("autodiff_lab.kernels.random.cuda"), name)
    key = int(source.integers(0, 2**64, dtype=np.uint64))
    return draw(current_memory(), shape, "float64" if as_dtype(dtype).dtype.itemsize == 8 else "float32", key)


def noise_of(values: Any, dtype: Any, name: str) -> Tensor:
    """Return drawn numbers as a tensor of a floating dtype."""
    wanted = as_dtype(dtype)
    if not wanted.is_floating:
        raise InvalidArgumentError(f"{name}: dtype must be floating, got {wanted.name}.")
    return wrap(placed(ranked(values).astype(wanted.dtype)[()]))


def is_tensor(value: Any) -> bool:
    """Return whether a parameter is a tensor or a variable."""
    return isinstance(value, (Tensor, Variable))


def _near(noise: Any, parameter: Any, dtype: Any) -> Any:
    """Return a parameter as an array on the device of the noise."""
    array = np.asarray(parameter, dtype)
    return noise.memory.upload(array) if on_gpu(noise) and array.ndim else array


def scaled(noise: Any, shift: Any, scale: Any, dtype: Any, name: str) -> Tensor:
    """Return ``noise * scale + shift``, by ops if these are tensors, rounded once if they are numbers."""
    if isinstance(shift, float) and isinstance(scale, float) and (shift, scale) == (0.0, 1.0):
        return noise_of(noise, dtype, name)
    shape = np.shape(noise)
    if not is_tensor(shift) and not is_tensor(scale):
        for parameter in (shift, scale):
            try:
                kind = np.asarray(parameter).dtype.kind
            except (TypeError, ValueError):  # rows of unequal lengths
                kind = "O"
            if kind not in "fiub":
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
    return scaled_by_ops(drawn, shift, scale, name)


def scaled_by_ops(drawn: Tensor, shift: Any, scale: Any, name: str) -> Tensor:
    """Return ``drawn * scale + shift``, by ops."""
    result, shape = multiply(drawn, scale) + shift, drawn._held.shape
    if result._held.shape != shape:
        raise ShapeMismatch(f"{name}: the parameters broadcast to {result._held.shape}, not to shape {shape}.")
    return result


def draw_normal(source: Source, shape: Any, mean: Any, stddev: Any, dtype: Any, name: str) -> Tensor:
    """Draw normal numbers."""
    with beside(mean, stddev):
        noise = normal_noise(source, as_shape(shape), dtype)
    return scaled(noise, mean, stddev, dtype, name)


def draw_truncated(source: Source, shape: Any, mean: Any, stddev: Any, dtype: Any, name: str) -> Tensor:
    """Draw normal numbers; those beyond two standard deviations are drawn again."""
    return scaled(truncated_noise(source, as_shape(shape)), mean, stddev, dtype, name)


def truncated_noise(source: Source, shape: tuple[int, ...], low: Any = -2.0, high: Any = 2.0) -> Any:
    """Draw standard normal numbers between two bounds, by rejection."""
    drawn = np.asarray(source.standard_normal(shape))
    out = (drawn < low) | (drawn > high)
    while out.any():
        drawn = np.where(out, source.standard_normal(shape), drawn)
        out = (drawn < low) | (drawn > high)
    return drawn


def draw_uniform(source: Source, shape: Any, minval: Any, maxval: Any, dtype: Any, name: str) -> Tensor:
    """Draw uniform numbers from `minval` up to, and without, `maxval`."""
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
    plain = low.__class__ in (int, float) and high.__class__ in (int, float) and current_memory() is None
    if plain and low == 0 and high == 1:
        below = _BELOW_ONE.get(wanted.dtype.char)
        if below is not None:  # most calls; a number that rounding made 1 is the one before it
            return wrap(placed(np.minimum(source.random(as_shape(shape)).astype(wanted.dtype), below)))
    with beside(low, high):
        noise = uniform_noise(source, as_shape(shape), dtype)
    if is_tensor(low) or is_tensor(high):
        return scaled(noise, low, convert(high) - low, dtype, name)
    try:
        low, high = np.asarray(low, np.float64)[()], np.asarray(high, np.float64)[()]
    except (TypeError, ValueError):
        raise InvalidArgumentError(
            f"{name}: minval and maxval must be numbers, got {minval!r} and {maxval!r}.") from None
    with device(None):
        result = scaled(noise, low, high - low, dtype, name)
    made = result._array
    reached = made >= _near(made, high, np.float64)  # by rounding
    if on_gpu(made) or reached.any():
        below = np.nextafter(high.astype(wanted.dtype), low.astype(wanted.dtype))
        reached = reached & _near(made, low < high, np.bool_)
        made = np.where(reached, _near(made, below, made.dtype), made).astype(wanted.dtype)
    return wrap(placed(made[()]))


def draw_gamma(source: Source, shape: Any, alpha: Any, beta: Any, dtype: Any, name: str) -> Tensor:
    """Draw gamma numbers, of the given shape, followed by that of the parameters.

    Where alpha is a tensor they are the quantiles of the probabilities of what was drawn, so that gradients reach it:
    the implicit reparameterization of Figurnov, Mohamed and Mnih, 2018.
    """
    a = convert(alpha)
    shapes = a._held.shape, () if beta is None else convert(beta)._held.shape
    try:
        noise_shape = np.broadcast_shapes(*shapes)
    except ValueError:
        raise ShapeMismatch(f"{name}: alpha and beta of shapes {shapes[0]} and {shapes[1]} do not broadcast.") from None
    if a._held.dtype.kind not in "fiuV" or np.any(np.asarray(a._array) <= 0):
        raise InvalidArgumentError(f"{name}: alpha must be positive.")
    order = np.broadcast_to(np.asarray(a._array, np.float64), noise_shape)
    noise = source.standard_gamma(order, (*as_shape(shape), *noise_shape))
    if is_tensor(alpha) and a.dtype.is_floating:
        below = special("gammainc")(order, noise)
        noise = np.where(below <= 0.5, below, -special("gammaincc")(order, noise))
    with beside(a, beta):
        drawn = noise_of(noise, dtype, name)
    if is_tensor(alpha) and a.dtype.is_floating:
        drawn = gamma_quantile(a if a.dtype == drawn.dtype else cast(a, drawn.dtype), drawn)
    return drawn if beta is None else drawn / beta


_LARGEST_RATE = 9e18
"""Beyond it counts do not fit into int64."""


def draw_poisson(source: Source, shape: Any, rate: Any, dtype: Any, name: str) -> Tensor:
    """Draw Poisson numbers, of the given shape, followed by that of the rates."""
    rates = convert(rate)
    if rates._held.dtype.kind not in "fiuV":
        raise InvalidArgumentError(f"{name}: rates must be numbers, got {rates.dtype.name}.")
    lam = np.asarray(looked_at(rates, how="parameter"), np.float64)
    if np.any(~((lam >= 0) & (lam < _LARGEST_RATE))):
        raise InvalidArgumentError(f"{name}: rates must not be negative, and below {_LARGEST_RATE:.0e}.")
    drawn = np.asarray(source.poisson(lam, (*as_shape(shape), *lam.shape)))
    return of_parameters(drawn, dtype, rates)


def checked_logits(logits: Any, num_samples: Any, name: str) -> tuple[Tensor, int]:
    """Return logits (batch, classes) as a tensor, and how many classes are drawn for each row."""
    x = convert(logits)
    if x._held.ndim != 2 or x._held.shape[1] == 0:
        raise ShapeMismatch(f"{name}: expected logits (batch, classes), got shape {x._held.shape}.")
    if not x.dtype.is_floating:
        raise DtypeMismatch(f"{name}: logits must be floating, got {x.dtype.name}. Try lab.cast.")
    count = as_integer(num_samples, f"{name}: num_samples", 0)
    room(x._held.size * count, f"{name}: num_samples")
    return x, count


def gumbel_noise(source: Source, shape: tuple[int, ...], count: int) -> Any:
    """Draw for each row (b, c) and sample what is added to its logits: (b, n, c) numbers.

    The largest of logits plus Gumbel noise is distributed as softmax says (Gumbel 1954).
    """
    return source.gumbel(size=(shape[0], count, shape[1]))


def draw_categorical(source: Source, x: Tensor, count: int, dtype: Any) -> Tensor:
    """Draw class numbers (b, n) from the logits of each row."""
    rows = np.asarray(looked_at(x, how="parameter"), np.float64)[:, None, :]
    noisy = rows + gumbel_noise(source, x._held.shape, count)
    return of_parameters(np.argmax(noisy, axis=-1), dtype, x)


def of_parameters(drawn: Any, dtype: Any, *parameters: Tensor) -> Tensor:
    """Return numbers that no op makes of the parameters of their distribution, beside those; listeners hear of them."""
    with beside(*parameters):
        tensor = wrap(placed(np.asarray(drawn).astype(as_dtype(dtype).dtype)[()]))
    if trace_now() is None:
        tell_entry(None, tensor, "constant")
    return tensor
