"""Dropout and other noise in training; the identity otherwise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Unpack

from autodiff_lab.engine.devices import following
from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.errors import InvalidArgumentError
from autodiff_lab.layers.calling import channels_last, check_rank
from autodiff_lab.layers.layer import Layer
from autodiff_lab.layers.options import LayerOptions

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import TensorLike
from autodiff_lab.ops.nn.spatial import dropout
from autodiff_lab.ops.random import normal

LOWEST = -1.0507009873554805 * 1.6732632423543772
"""The limit of SELU towards minus infinity: minus its scale times its alpha."""


def _checked(layer: Layer, rate: float) -> float:
    if not 0 <= rate < 1:
        raise InvalidArgumentError(f"{type(layer).__name__}: the rate must be in [0, 1), got {rate}")
    return rate


def _noise(x: Any, mean: float, stddev: float, seed: int | None) -> Tensor:
    """Draw normally distributed numbers in the shape and dtype of a tensor, where it is."""
    with following(x):
        return normal(x.shape, mean, stddev, x.dtype, seed)


class Dropout(Layer):
    """Zero each element with probability `rate` in training and scale up the others: Srivastava et al. 2014.

    Raises
    ------
    InvalidArgumentError
        If the rate is not in [0, 1).

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.layers.Dropout(0.5)([1.0, 2.0]))
    Tensor([1. 2.], shape=(2,), dtype=float32)
    """

    several = False

    def __init__(self, rate: float, noise_shape: Sequence[int | None] | None = None, seed: int | None = None,
                 name: str | None = None, **more: Unpack[LayerOptions]) -> None:  # fmt: skip
        super().__init__(name, **more)
        self.rate, self.noise_shape, self.seed = _checked(self, rate), noise_shape, seed

    def call(self, x: Tensor, training: bool = False) -> Any:
        if not training or not self.rate:
            return x
        return dropout(x, self.rate, self.noise_shape, self.seed)


class _SpatialDropout(Layer):
    """Zero whole channels in training: (b, *s, c) -> (b, *s, c)."""

    several = False
    floating = True
    rank = 0

    def __init__(self, rate: float, data_format: str | None = None, seed: int | None = None,
                 name: str | None = None, **more: Any) -> None:  # fmt: skip
        super().__init__(name, **more)
        channels_last(type(self), data_format, self.rank)
        self.rate, self.seed = _checked(self, rate), seed

    def call(self, x: Any, training: bool = False) -> Any:
        check_rank(x, self.rank, self.name)
        if not training or not self.rate:
            return x
        return dropout(x, self.rate, (x.shape[0], *(1,) * self.rank, x.shape[-1]), self.seed)


class SpatialDropout1D(_SpatialDropout):
    """Zero whole channels of sequences (b, n, c) with probability `rate` in training: Tompson et al. 2015.

    Raises
    ------
    InvalidArgumentError
        If the rate is not in [0, 1).

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> y = lab.layers.SpatialDropout1D(0.5, seed=1)(lab.ones((1, 3, 4)), training=True)
    >>> bool(lab.reduce_all(y == y[:, :1]))
    True
    """

    rank = 1

    def __init__(
        self, rate: float, seed: int | None = None, name: str | None = None, **more: Unpack[LayerOptions]
    ) -> None:
        super().__init__(rate, None, seed, name, **more)


class SpatialDropout2D(_SpatialDropout):
    """Zero whole channels of images (b, h, w, c) with probability `rate` in training: Tompson et al. 2015.

    Raises
    ------
    InvalidArgumentError
        If the rate is not in [0, 1).

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.layers.SpatialDropout2D(0.5)(lab.ones((1, 2, 2, 1))).numpy().ravel())
    [1. 1. 1. 1.]
    """

    rank = 2


class SpatialDropout3D(_SpatialDropout):
    """Zero whole channels of volumes (b, d, h, w, c) with probability `rate` in training: Tompson et al. 2015.

    Raises
    ------
    InvalidArgumentError
        If the rate is not in [0, 1).

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.layers.SpatialDropout3D(0.5)(lab.ones((1, 2, 2, 2, 1)), training=True).shape
    TensorShape([1, 2, 2, 2, 1])
    """

    rank = 3


class GaussianNoise(Layer):
    """Add normally distributed noise of mean 0 in training.

    Raises
    ------
    InvalidArgumentError
        If the standard deviation is negative.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.layers.GaussianNoise(0.1)([1.0, 2.0]))
    Tensor([1. 2.], shape=(2,), dtype=float32)
    """

    several = False
    floating = True

    def __init__(
        self, stddev: float, seed: int | None = None, name: str | None = None, **more: Unpack[LayerOptions]
    ) -> None:
        super().__init__(name, **more)
        if not stddev >= 0:
            raise InvalidArgumentError(f"GaussianNoise: stddev must be 0 or more, got {stddev}")
        self.stddev, self.seed = stddev, seed

    def call(self, x: TensorLike, training: bool = False) -> Any:
        return x + _noise(x, 0.0, self.stddev, self.seed) if training and self.stddev else x


class GaussianDropout(Layer):
    """Multiply by noise of mean 1 and variance rate / (1 - rate) in training: Srivastava et al. 2014, section 10.

    Raises
    ------
    InvalidArgumentError
        If the rate is not in [0, 1).

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.layers.GaussianDropout(0.5)([1.0, 2.0]))
    Tensor([1. 2.], shape=(2,), dtype=float32)
    """

    several = False
    floating = True

    def __init__(
        self, rate: float, seed: int | None = None, name: str | None = None, **more: Unpack[LayerOptions]
    ) -> None:
        super().__init__(name, **more)
        self.rate, self.seed = _checked(self, rate), seed

    def call(self, x: TensorLike, training: bool = False) -> Any:
        spread = (self.rate / (1 - self.rate)) ** 0.5
        return x * _noise(x, 1.0, spread, self.seed) if training and self.rate else x


class AlphaDropout(Dropout):
    """Set elements to the lowest value of SELU in training, keeping mean 0 and variance 1: Klambauer et al. 2017.

    Raises
    ------
    InvalidArgumentError
        If the rate is not in [0, 1).

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.layers.AlphaDropout(0.5)([1.0, 2.0]))
    Tensor([1. 2.], shape=(2,), dtype=float32)
    """

    floating = True

    def call(self, x: Any, training: bool = False) -> Any:
        if not training or not self.rate:
            return x
        q = 1 - self.rate
        scale = (q * (1 + self.rate * LOWEST**2)) ** -0.5
        # Dropout of x - LOWEST sets the dropped elements to LOWEST, up to its factor 1 / q.
        kept = q * dropout(x - LOWEST, self.rate, self.noise_shape, self.seed) + LOWEST
        return scale * kept - scale * LOWEST * self.rate
