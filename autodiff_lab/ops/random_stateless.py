"""Random tensors that their seed alone determines: the same two integers give the same values, always."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from autodiff_lab.engine.convert import convert
from autodiff_lab.engine.namespace import RECORDING
from autodiff_lab.engine.tensor import Tensor, named, wrap
from autodiff_lab.errors import InvalidArgumentError, ShapeMismatch
from autodiff_lab.ops import random_drawing as draw
from autodiff_lab.ops.array.casting import cast
from autodiff_lab.ops.array.creation import as_shape
from autodiff_lab.ops.array.gathering import gather, where
from autodiff_lab.ops.checks import broadcasts
from autodiff_lab.ops.docs import document
from autodiff_lab.ops.math.comparison import is_finite
from autodiff_lab.ops.math.normal import ndtri
from autodiff_lab.ops.math.scipy_kernels import special
from autodiff_lab.ops.random_state import determined, stateless

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import DTypeLike, ShapeLike, TensorLike


def _determined(draw: Any, what: str, shape: Any, seed: Any, name: str | None, *how: Any) -> Tensor:
    shape = as_shape(shape)
    return named(determined(lambda source: draw(source, shape, *how, what), seed, what, shape, *how), name)


def stateless_normal(shape: ShapeLike, seed: TensorLike, mean: TensorLike = 0.0, stddev: TensorLike = 1.0,
                     dtype: DTypeLike = "float32",
                     name: str | None = None, alg: str = "auto_select") -> Tensor:
    return _determined(draw.draw_normal, "stateless_normal", shape, seed, name, mean, stddev, dtype)


def stateless_truncated_normal(shape: ShapeLike, seed: TensorLike, mean: TensorLike = 0.0, stddev: TensorLike = 1.0,
                               dtype: DTypeLike = "float32",
                               name: str | None = None, alg: str = "auto_select") -> Tensor:
    return _determined(draw.draw_truncated, "stateless_truncated_normal", shape, seed, name, mean, stddev, dtype)


def stateless_parameterized_truncated_normal(shape: ShapeLike, seed: TensorLike, means: TensorLike = 0.0,
                                             stddevs: TensorLike = 1.0,
                                             minvals: TensorLike = -2.0, maxvals: TensorLike = 2.0,
                                             name: str | None = None) -> Tensor:
    what = "stateless_parameterized_truncated_normal"
    mean, deviation, low, high = (np.asarray(convert(v)._array) for v in (means, stddevs, minvals, maxvals))
    if any(v.dtype.kind not in "fiuV" for v in (mean, deviation, low, high)):
        raise InvalidArgumentError(f"{what}: means, deviations and bounds must be numbers.")
    wanted = as_shape(shape)
    if not all(broadcasts(v.shape, wanted) for v in (mean, deviation, low, high)):
        raise ShapeMismatch(f"{what}: means, deviations and bounds must broadcast to shape {wanted}, got "
                            f"{', '.join(str(v.shape) for v in (mean, deviation, low, high))}.")
    if np.any(deviation <= 0) or np.any(low >= high):
        raise InvalidArgumentError(f"{what}: deviations must be positive, and minvals must be below maxvals.")
    bounds = ((low - mean) / deviation, (high - mean) / deviation)
    if np.any(bounds[0] > 4) or np.any(bounds[1] < -4):
        raise InvalidArgumentError(f"{what}: bounds more than 4 deviations on one side of the mean are not supported.")
    noise = draw.truncated_noise(stateless(seed, what), wanted, *bounds)
    given = means, stddevs, minvals, maxvals
    if not any(map(draw.is_tensor, given)):
        return named(draw.scaled(noise, means, stddevs, convert(means).dtype, what), name)
    below, above = (special("ndtr")(bound) for bound in bounds)
    levels = (special("ndtr")(noise) - below) / (above - below)
    return named(_quantiles(levels, *map(convert, given)), name)


_FAR = 40.0
"""No float64 is so many deviations away."""


def _quantiles(levels: Any, *given: Tensor) -> Tensor:
    """Return the numbers below which truncated normal numbers fall with these probabilities.

    All four parameters have derivatives; normal probabilities are computed in float64, as float32 has none near 1.
    """
    mean, deviation, *ends = [cast(one, "float64") for one in given]
    below, above = (RECORDING.normal_cdf(_deviations(end, mean, deviation, far))
                    for end, far in zip(ends, (-_FAR, _FAR), strict=True))
    return cast(mean + deviation * ndtri(below + (above - below) * levels), given[0].dtype)


def _deviations(end: Tensor, mean: Tensor, deviation: Tensor, far: float) -> Tensor:
    """Return how many deviations an end is away from the mean, finite and without a derivative if it is infinite."""
    finite = is_finite(end)
    return where(finite, (where(finite, end, 0.0) - mean) / deviation, far)


def stateless_uniform(shape: ShapeLike, seed: TensorLike, minval: TensorLike = 0, maxval: TensorLike | None = None,
                      dtype: DTypeLike = "float32",
                      name: str | None = None, alg: str = "auto_select") -> Tensor:
    return _determined(draw.draw_uniform, "stateless_uniform", shape, seed, name, minval, maxval, dtype)


def stateless_gamma(shape: ShapeLike, seed: TensorLike, alpha: TensorLike, beta: TensorLike | None = None,
                    dtype: DTypeLike = "float32",
                    name: str | None = None) -> Tensor:
    return _determined(draw.draw_gamma, "stateless_gamma", shape, seed, name, alpha, beta, dtype)


def stateless_poisson(shape: ShapeLike, seed: TensorLike, lam: TensorLike, dtype: DTypeLike = "int32",
                      name: str | None = None) -> Tensor:
    return _determined(draw.draw_poisson, "stateless_poisson", shape, seed, name, lam, dtype)


def stateless_categorical(logits: TensorLike, num_samples: int, seed: TensorLike, dtype: DTypeLike = "int64",
                          name: str | None = None) -> Tensor:
    source = stateless(seed, "stateless_categorical")
    given, count = draw.checked_logits(logits, num_samples, "stateless_categorical")
    return named(draw.draw_categorical(source, given, count, dtype), name)


def stateless_shuffle(value: TensorLike, seed: TensorLike, alg: str = "auto_select", name: str | None = None) -> Tensor:
    x = convert(value)
    if x._held.ndim == 0:
        raise InvalidArgumentError("stateless_shuffle: expected a tensor of rank 1 or more, got a scalar.")
    rows = x._held.shape[0]
    return named(gather(x, determined(lambda source: wrap(source.permutation(rows).astype(np.int32)), seed,
                                "stateless_shuffle")), name)


document((
    (stateless_normal, "Normally distributed numbers.", "shape s -> (*s)", "that of `normal`",
     ">>> a, b = (lab.random.stateless_normal((3,), seed=(1, 2)) for _ in range(2))\n"
     ">>> bool(lab.reduce_all(a == b))\nTrue"),
    (stateless_truncated_normal, "Normally distributed numbers within two standard deviations.", "shape s -> (*s)",
     "that of `truncated_normal`",
     ">>> lab.random.stateless_truncated_normal((3,), seed=(1, 2)).shape\nTensorShape([3])"),
    (stateless_parameterized_truncated_normal, "Normally distributed numbers between bounds.",
     "shape s, the others broadcasting to s -> (*s)", "that of the quantile function, where these are tensors",
     ">>> x = lab.random.stateless_parameterized_truncated_normal((9,), (1, 2), 0.0, 1.0, 0.0, 1.0)\n"
     ">>> bool(lab.reduce_all(x >= 0.0))\nTrue"),
    (stateless_uniform, "Uniformly distributed numbers, integers for an integer dtype.", "shape s -> (*s)",
     "that of `uniform`",
     ">>> lab.random.stateless_uniform((3,), (1, 2), maxval=10, dtype=lab.int32).dtype\nautodiff_lab.int32"),
    (stateless_gamma, "Gamma distributed numbers.", "shape s, alpha (*t), beta (*u) -> (*s, broadcast of t and u)",
     "that of `gamma`", ">>> lab.random.stateless_gamma((4,), (1, 2), alpha=2.0).shape\nTensorShape([4])"),
    (stateless_poisson, "Poisson distributed counts.", "shape s, lam (*t) -> (*s, *t)", "none: counts",
     ">>> lab.random.stateless_poisson((4,), (1, 2), lam=2.0).dtype\nautodiff_lab.int32"),
    (stateless_categorical, "Class numbers drawn from softmax of each row of logits.",
     "logits (b, k), num_samples n -> (b, n)", "none: integers",
     ">>> lab.random.stateless_categorical([[0.0, 0.0]], 5, (1, 2)).shape\nTensorShape([1, 5])"),
    (stateless_shuffle, "The rows of a tensor in an order that the seed determines.", "value (n, *s) -> (n, *s)",
     "1, gathered back",
     ">>> sorted(lab.random.stateless_shuffle([3, 1, 2], (1, 2)).numpy().tolist())\n[1, 2, 3]"),
), domain="any two integers as seed", raises=("argument", "shape", "convert"))
