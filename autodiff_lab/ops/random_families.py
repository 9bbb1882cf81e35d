"""How numbers of the families with parameters of their own are drawn: gamma, Poisson, categorical."""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_lab.engine.convert import convert
from autodiff_lab.engine.devices import beside, placed
from autodiff_lab.engine.dtypes import as_dtype
from autodiff_lab.engine.tensor import Tensor, wrap
from autodiff_lab.errors import DtypeMismatch, InvalidArgumentError, ShapeMismatch
from autodiff_lab.ops.array.creation import as_shape
from autodiff_lab.ops.random_drawing import noise_of
from autodiff_lab.ops.random_state import Source


def draw_gamma(source: Source, shape: Any, alpha: Any, beta: Any, dtype: Any, name: str) -> Tensor:
    """Gamma numbers, of the given shape, followed by that of the parameters."""
    a = convert(alpha)
    noise_shape = np.broadcast_shapes(a._held.shape, () if beta is None else convert(beta)._held.shape)
    if a._held.dtype.kind not in "fiuV" or np.any(np.asarray(a._array) <= 0):
        raise InvalidArgumentError(f"{name}: alpha must be positive.")
    noise = source.standard_gamma(np.broadcast_to(np.asarray(a._array, np.float64), noise_shape),
                                  (*as_shape(shape), *noise_shape))
    with beside(a, beta):
        drawn = noise_of(noise, dtype, name)
    return drawn if beta is None else drawn / beta


def draw_poisson(source: Source, shape: Any, rate: Any, dtype: Any, name: str) -> Tensor:
    """Poisson numbers, of the given shape, followed by that of the rates."""
    rates = convert(rate)
    if rates._held.dtype.kind not in "fiuV":
        raise InvalidArgumentError(f"{name}: rates must be numbers, got {rates.dtype.name}.")
    lam = np.asarray(rates._array, np.float64)
    if np.any(~(lam >= 0)):
        raise InvalidArgumentError(f"{name}: rates must not be negative.")
    drawn = np.asarray(source.poisson(lam, (*as_shape(shape), *lam.shape)))
    with beside(rates):
        return wrap(placed(drawn.astype(as_dtype(dtype).dtype)[()]))


def draw_categorical(source: Source, logits: Any, num_samples: Any, dtype: Any, name: str) -> Tensor:
    """Class numbers (b, n) from the logits of each row."""
    x = convert(logits)
    if x._held.ndim != 2 or x._held.shape[1] == 0:
        raise ShapeMismatch(f"{name}: expected logits (batch, classes), got shape {x._held.shape}.")
    if not x.dtype.is_floating:
        raise DtypeMismatch(f"{name}: logits must be floating, got {x.dtype.name}. Try lab.cast.")
    count, = as_shape(num_samples)
    rows = np.asarray(x._array, np.float64)[:, None, :]
    # The largest of logits plus Gumbel noise is distributed as softmax says (Gumbel 1954).
    noisy = rows + source.gumbel(size=(rows.shape[0], count, rows.shape[2]))
    with beside(x):
        return wrap(placed(np.argmax(noisy, axis=-1).astype(as_dtype(dtype).dtype)))
