"""Random tensors, repeatable by a seed.

Each function draws from the global source, or from that of its own seed; see `random_state`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from autodiff_lab.engine.convert import convert
from autodiff_lab.engine.devices import memory_of
from autodiff_lab.engine.dtypes import as_dtype
from autodiff_lab.engine.tensor import Tensor, named, wrap
from autodiff_lab.errors import InvalidArgumentError
from autodiff_lab.events.listener import trace_now
from autodiff_lab.ops import random_drawing as draw
from autodiff_lab.ops.array.casting import cast
from autodiff_lab.ops.array.creation import as_shape
from autodiff_lab.ops.array.gathering import argmax, gather
from autodiff_lab.ops.array.shaping import reshape
from autodiff_lab.ops.docs import document
from autodiff_lab.ops.random_state import drawn, set_seed

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import DTypeLike, ShapeLike, TensorLike

__all__ = ["categorical", "gamma", "normal", "poisson", "set_seed", "shuffle", "truncated_normal", "uniform"]


def _from_seed(draw: Any, what: str, shape: Any, seed: int | None, name: str | None, *how: Any) -> Tensor:
    shape = as_shape(shape)
    return named(drawn(lambda source: draw(source, shape, *how, what), seed, shape, *how), name)


def _from_noise(noise: Any, draws: Any, what: str, shape: Any, seed: int | None, name: str | None, first: Any,
                second: Any, dtype: Any) -> Tensor:
    """Draw numbers; in a trace those that tensors scale are drawn as noise, as a program can do in every call."""
    tensors = [one for one in (first, second) if draw.is_tensor(one)]
    if trace_now() is None or not tensors or any(memory_of(one._held) is not None for one in tensors):
        return _from_seed(draws, what, shape, seed, name, first, second, dtype)
    shape = as_shape(shape)
    made = drawn(lambda source: draw.noise_of(noise(source, shape, dtype), dtype, what), seed, shape, dtype)
    scale = convert(second) - first if draws is draw.draw_uniform else second
    return named(draw.scaled_by_ops(made, first, scale, what), name)


def normal(shape: ShapeLike, mean: TensorLike = 0.0, stddev: TensorLike = 1.0, dtype: DTypeLike = "float32",
           seed: int | None = None,
           name: str | None = None) -> Tensor:
    return _from_noise(draw.normal_noise, draw.draw_normal, "normal", shape, seed, name, mean, stddev, dtype)


def truncated_normal(shape: ShapeLike, mean: TensorLike = 0.0, stddev: TensorLike = 1.0, dtype: DTypeLike = "float32",
                     seed: int | None = None,
                     name: str | None = None) -> Tensor:
    return _from_noise(lambda source, wanted, _: draw.truncated_noise(source, wanted), draw.draw_truncated,
                       "truncated_normal", shape, seed, name, mean, stddev, dtype)


def uniform(shape: ShapeLike, minval: TensorLike = 0, maxval: TensorLike | None = None, dtype: DTypeLike = "float32",
            seed: int | None = None,
            name: str | None = None) -> Tensor:
    if as_dtype(dtype).is_floating:
        minval, maxval = 0.0 if minval is None else minval, 1.0 if maxval is None else maxval
    return _from_noise(draw.uniform_noise, draw.draw_uniform, "uniform", shape, seed, name, minval, maxval, dtype)


def gamma(shape: ShapeLike, alpha: TensorLike, beta: TensorLike | None = None, dtype: DTypeLike = "float32",
          seed: int | None = None,
          name: str | None = None) -> Tensor:
    return _from_seed(draw.draw_gamma, "gamma", shape, seed, name, alpha, beta, dtype)


def poisson(shape: ShapeLike, lam: TensorLike, dtype: DTypeLike = "float32", seed: int | None = None,
            name: str | None = None) -> Tensor:
    return _from_seed(draw.draw_poisson, "poisson", shape, seed, name, lam, dtype)


def categorical(logits: TensorLike, num_samples: int, dtype: DTypeLike = "int64", seed: int | None = None,
                name: str | None = None) -> Tensor:
    given, count = draw.checked_logits(logits, num_samples, "categorical")
    if trace_now() is None or memory_of(given._held) is not None:
        return named(drawn(lambda source: draw.draw_categorical(source, given, count, dtype), seed, given), name)
    shape = given._held.shape
    noise = drawn(lambda source: wrap(draw.gumbel_noise(source, shape, count)), seed)
    rows = reshape(cast(given, "float64"), (shape[0], 1, shape[1]))
    return named(cast(argmax(rows + noise, -1), dtype), name)


def shuffle(value: TensorLike, seed: int | None = None, name: str | None = None) -> Tensor:
    x = convert(value)
    if x._held.ndim == 0:
        raise InvalidArgumentError("shuffle: expected a tensor of rank 1 or more, got a scalar.")
    rows = x._held.shape[0]
    return named(gather(x, drawn(lambda source: wrap(source.permutation(rows).astype(np.int32)), seed)), name)


_FLOATS, _MOVED = "floating", "1 for the mean, the noise for the deviation, where these are tensors"
document((
    (normal, "Normally distributed numbers.", "shape s -> (*s)", _FLOATS, _MOVED,
     ">>> lab.random.normal((3, 2)).shape\nTensorShape([3, 2])"),
    (truncated_normal, "Normally distributed numbers; those beyond two standard deviations are drawn again.",
     "shape s -> (*s)", _FLOATS, _MOVED,
     ">>> bool(lab.reduce_all(lab.abs(lab.random.truncated_normal((100,))) <= 2.0))\nTrue"),
    (uniform, "Uniformly distributed numbers from `minval` up to, and without, `maxval` (1 by default).",
     "shape s -> (*s)", "floating, or integers with a `maxval`", "that of the bounds, where these are tensors",
     ">>> bool(lab.reduce_all(lab.random.uniform((100,)) < 1.0))\nTrue"),
    (gamma, "Gamma distributed numbers with shape alpha and rate beta (1 by default).",
     "shape s, alpha (*t), beta (*u) -> (*s, broadcast of t and u)", _FLOATS,
     "-∂P/∂alpha / ∂P/∂y for alpha, with y the output and P its distribution function (Figurnov, Mohamed and Mnih, "
     "2018); -y/beta for beta",
     ">>> lab.random.gamma((5,), alpha=[1.0, 2.0]).shape\nTensorShape([5, 2])"),
    (poisson, "Poisson distributed counts with rate `lam`.", "shape s, lam (*t) -> (*s, *t)", "any number",
     "none: counts", ">>> lab.random.poisson((5,), [1.0, 2.0]).shape\nTensorShape([5, 2])"),
    (categorical, "Class numbers drawn from softmax of each row of logits.",
     "logits (b, k), num_samples n -> (b, n)", "floating logits to integers", "none: integers",
     ">>> print(lab.random.categorical([[0.0, -1000.0]], 3))\nTensor([[0 0 0]], shape=(1, 3), dtype=int64)"),
    (shuffle, "The rows of a tensor in random order.", "value (n, *s) -> (n, *s)", "any", "1, gathered back",
     ">>> sorted(lab.random.shuffle([3, 1, 2]).numpy().tolist())\n[1, 2, 3]"),
), columns="summary shapes dtypes derivative example", domain="any seed, 0 or more",
   raises=("argument", "shape", "convert"))
