"""Initializers: the initial values of weights."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from autodiff_lab.engine.convert import convert_to_tensor
from autodiff_lab.engine.dtypes import DIFFERENTIABLE, as_dtype
from autodiff_lab.engine.shape import as_integers
from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.errors import DtypeMismatch, InvalidArgumentError, ShapeMismatch
from autodiff_lab.layers.configured import Configured
from autodiff_lab.ops.random_drawing import truncated_noise
from autodiff_lab.ops.random_state import generator_for

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import Array, DTypeLike, ShapeLike, TensorLike


class Initializer(Configured):
    """Makes a tensor from a shape; subclasses define `values`.

    Raises
    ------
    DtypeMismatch
        If integers, bools or strings are requested from one that draws random numbers.
    ConversionError, InvalidArgumentError
        If the shape is invalid, or one of its lengths is negative.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> class Halves(lab.initializers.Initializer):
    ...     def values(self, shape):
    ...         return lab.ones(shape).numpy() / 2
    >>> print(Halves()((2,)))
    Tensor([0.5 0.5], shape=(2,), dtype=float32)
    """

    draws = False
    """Whether the values are random, so that integers would be truncated."""

    def __call__(self, shape: ShapeLike, dtype: DTypeLike | None = None) -> Tensor:
        """Make a tensor of this shape and dtype, float32 by default."""
        asked, what = as_dtype(dtype or "float32"), type(self).__name__
        if asked.dtype.kind == "O" or (self.draws and asked.dtype not in DIFFERENTIABLE):
            raise DtypeMismatch(f"{what}: cannot make values of dtype {asked.name}. Try lab.float32.")
        lengths = as_integers(shape, f"{what}: shape")
        if min(lengths, default=0) < 0:
            raise InvalidArgumentError(f"{what}: a shape cannot have a negative length, got {lengths}.")
        return convert_to_tensor(self.values(lengths).astype(asked.dtype))

    def values(self, shape: tuple[int, ...]) -> Array:
        """Return the numbers, as float64."""
        raise NotImplementedError


def _source(seed: int | None) -> np.random.Generator:
    """Return the source of random numbers: an initializer with a seed gives the same numbers at each call."""
    return generator_for(None) if seed is None else np.random.default_rng(seed)


class Zeros(Initializer):
    """Zeros.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.initializers.Zeros()((2,)))
    Tensor([0. 0.], shape=(2,), dtype=float32)
    """

    def values(self, shape: tuple[int, ...]) -> Array:
        return np.zeros(shape)


class Ones(Initializer):
    """Ones.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.initializers.Ones()((2,)))
    Tensor([1. 1.], shape=(2,), dtype=float32)
    """

    def values(self, shape: tuple[int, ...]) -> Array:
        return np.ones(shape)


class Constant(Initializer):
    """One value, or given values: in the requested shape, or a list of as many numbers.

    Raises
    ------
    ShapeMismatch
        If the values do not fill the shape.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.initializers.Constant(3)((2,)))
    Tensor([3. 3.], shape=(2,), dtype=float32)
    """

    def __init__(self, value: TensorLike = 0) -> None:
        self.value = value

    def values(self, shape: tuple[int, ...]) -> Array:
        given = np.asarray(
            convert_to_tensor(self.value)._array if isinstance(self.value, Tensor) else self.value, np.float64
        )
        if given.size == math.prod(shape):
            return given.reshape(shape).copy()
        try:
            return np.broadcast_to(given, shape).copy()
        except ValueError:
            raise ShapeMismatch(
                f"Constant: {given.size} values of shape {given.shape} do not fill shape {shape}."
            ) from None


class RandomNormal(Initializer):
    """Normally distributed numbers.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.initializers.RandomNormal(stddev=0.1)((100, 3)).shape
    TensorShape([100, 3])
    """

    draws = True

    def __init__(self, mean: float = 0.0, stddev: float = 0.05, seed: int | None = None) -> None:
        self.mean, self.stddev, self.seed = mean, stddev, seed

    def values(self, shape: tuple[int, ...]) -> Array:
        return self.mean + self.stddev * np.asarray(_source(self.seed).standard_normal(shape))


class RandomUniform(Initializer):
    """Uniformly distributed numbers.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> x = lab.initializers.RandomUniform(0.0, 1.0)((100,))
    >>> bool(lab.reduce_all(x >= 0.0))
    True
    """

    draws = True

    def __init__(self, minval: float = -0.05, maxval: float = 0.05, seed: int | None = None) -> None:
        self.minval, self.maxval, self.seed = minval, maxval, seed

    def values(self, shape: tuple[int, ...]) -> Array:
        return np.asarray(_source(self.seed).uniform(self.minval, self.maxval, shape))


class TruncatedNormal(RandomNormal):
    """Normally distributed numbers; those beyond two standard deviations are redrawn.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> x = lab.initializers.TruncatedNormal(stddev=1.0)((1000,))
    >>> bool(lab.reduce_max(lab.abs(x)) <= 2.0)
    True
    """

    def values(self, shape: tuple[int, ...]) -> Array:
        return self.mean + self.stddev * truncated_noise(_source(self.seed), shape)


class VarianceScaling(Initializer):
    """Numbers whose variance fits the number of inputs or outputs: Glorot & Bengio 2010, He et al. 2015.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.initializers.VarianceScaling(2.0, "fan_in")((3, 4)).shape
    TensorShape([3, 4])
    """

    draws = True

    def __init__(self, scale: float = 1.0, mode: str = "fan_in", distribution: str = "truncated_normal",
                 seed: int | None = None) -> None:  # fmt: skip
        if mode not in ("fan_in", "fan_out", "fan_avg"):
            raise InvalidArgumentError(f"VarianceScaling: unknown mode {mode!r}. Try 'fan_in'.")
        if distribution not in ("truncated_normal", "untruncated_normal", "uniform"):
            raise InvalidArgumentError(
                f"VarianceScaling: unknown distribution {distribution!r}. Try 'truncated_normal', "
                "'untruncated_normal' or 'uniform'."
            )
        self.scale, self.mode, self.distribution, self.seed = scale, mode, distribution, seed

    def values(self, shape: tuple[int, ...]) -> Array:
        fan_in, fan_out = fans(shape)
        n = {"fan_in": fan_in, "fan_out": fan_out, "fan_avg": (fan_in + fan_out) / 2}[self.mode]
        variance = self.scale / max(1.0, n)
        if self.distribution == "uniform":
            limit = float(np.sqrt(3 * variance))
            return RandomUniform(-limit, limit, self.seed).values(shape)
        if self.distribution == "untruncated_normal":
            return RandomNormal(0.0, float(np.sqrt(variance)), self.seed).values(shape)
        kept = 0.87962566103423978  # the standard deviation of a normal truncated at two of its own
        return TruncatedNormal(0.0, float(np.sqrt(variance)) / kept, self.seed).values(shape)


class Orthogonal(Initializer):
    """A matrix with orthonormal rows or columns: Saxe et al. 2014.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> q = lab.initializers.Orthogonal(seed=1)((3, 3))
    >>> bool(lab.reduce_max(lab.abs(lab.matmul(q, q, transpose_b=True) - lab.eye(3))) < 1e-5)
    True
    """

    draws = True

    def __init__(self, gain: float = 1.0, seed: int | None = None) -> None:
        self.gain, self.seed = gain, seed

    def values(self, shape: tuple[int, ...]) -> Array:
        if len(shape) < 2:
            raise InvalidArgumentError(f"Orthogonal: expected a shape with at least 2 axes, got {shape}.")
        rows, columns = int(np.prod(shape[:-1])), shape[-1]
        drawn = RandomNormal(0.0, 1.0, self.seed).values((max(rows, columns), min(rows, columns)))
        q, r = np.linalg.qr(drawn)
        q = q * np.sign(np.diag(r))
        return self.gain * (q if rows >= columns else q.T).reshape(shape)


class Identity(Initializer):
    """The identity matrix.

    Raises
    ------
    ShapeMismatch
        If the shape is not that of a matrix.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.initializers.Identity(2.0)((2, 2)))
    Tensor([[2. 0.]
     [0. 2.]], shape=(2, 2), dtype=float32)
    """

    def __init__(self, gain: float = 1.0) -> None:
        self.gain = gain

    def values(self, shape: tuple[int, ...]) -> Array:
        if len(shape) != 2:
            raise ShapeMismatch(f"Identity: expected the shape of a matrix, got {shape}.")
        return self.gain * np.eye(*shape)


def fans(shape: tuple[int, ...]) -> tuple[float, float]:
    """Return the fan-in and fan-out of a weight (*window, in, out)."""
    if len(shape) < 2:
        n = float(shape[0]) if shape else 1.0
        return n, n
    window = float(np.prod(shape[:-2]))
    return shape[-2] * window, shape[-1] * window


class GlorotUniform(VarianceScaling):
    """Uniform, with the variance of Glorot and Bengio (2010).

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> bool(lab.reduce_max(lab.abs(lab.initializers.glorot_uniform()((2, 4)))) <= 1.0)
    True
    """

    def __init__(self, seed: int | None = None) -> None:
        super().__init__(1.0, "fan_avg", "uniform", seed)


class HeNormal(VarianceScaling):
    """Normal, with the variance of He et al. (2015).

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.initializers.he_normal()((2, 4)).shape
    TensorShape([2, 4])
    """

    def __init__(self, seed: int | None = None) -> None:
        super().__init__(2.0, "fan_in", "truncated_normal", seed)


class GlorotNormal(VarianceScaling):
    """Normal, with the variance of Glorot and Bengio (2010).

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.initializers.GlorotNormal()((2, 4)).shape
    TensorShape([2, 4])
    """

    def __init__(self, seed: int | None = None) -> None:
        super().__init__(1.0, "fan_avg", "truncated_normal", seed)


class HeUniform(VarianceScaling):
    """Uniform, with the variance of He et al. (2015).

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.initializers.HeUniform()((2, 4)).shape
    TensorShape([2, 4])
    """

    def __init__(self, seed: int | None = None) -> None:
        super().__init__(2.0, "fan_in", "uniform", seed)


class LecunNormal(VarianceScaling):
    """Normal, with the variance of LeCun et al. (1998).

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.initializers.LecunNormal()((2, 4)).shape
    TensorShape([2, 4])
    """

    def __init__(self, seed: int | None = None) -> None:
        super().__init__(1.0, "fan_in", "truncated_normal", seed)


class LecunUniform(VarianceScaling):
    """Uniform, with the variance of LeCun et al. (1998).

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.initializers.LecunUniform()((2, 4)).shape
    TensorShape([2, 4])
    """

    def __init__(self, seed: int | None = None) -> None:
        super().__init__(1.0, "fan_in", "uniform", seed)


# The names at the top level of TensorFlow's namespace.
constant_initializer, ones_initializer, zeros_initializer = Constant, Ones, Zeros
random_normal_initializer, random_uniform_initializer = RandomNormal, RandomUniform
