"""Batch normalization, which behaves differently in training, and layer normalization, which does not."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Unpack

from numpy import ndarray

from autodiff_lab.engine.assigning import accumulated
from autodiff_lab.engine.namespace import RAW
from autodiff_lab.engine.silence import quietly
from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.engine.variable import Variable
from autodiff_lab.errors import InvalidArgumentError
from autodiff_lab.events.listener import sinks_now
from autodiff_lab.layers.layer import Layer
from autodiff_lab.layers.options import LayerOptions
from autodiff_lab.ops.array.casting import stop_gradient
from autodiff_lab.ops.array.shaping import reshape, squeeze
from autodiff_lab.ops.math.exponential import rsqrt
from autodiff_lab.ops.nn.normalization import mean_and_variance, normalized

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import InputShape, IntsLike, NameOrCallable


@lru_cache(256)
def _others(kept: tuple[int, ...], rank: int) -> tuple[int, ...]:
    """Return the axes that are not kept, counted from the end."""
    return tuple(axis for axis in range(-rank, 0) if axis not in kept)


class _Normalization(Layer):
    """The common part of layers with one factor and one offset for each index along some axes."""

    several = False
    floating = True
    gamma: Variable | None
    beta: Variable | None

    def __init__(self, axis: Any, epsilon: float, center: bool, scale: bool, beta_initializer: Any,
                 gamma_initializer: Any, name: str | None, **more: Unpack[LayerOptions]) -> None:  # fmt: skip
        super().__init__(name, **more)
        self.axis = axis if isinstance(axis, int) else tuple(axis)
        self.epsilon, self.center, self.scale = epsilon, center, scale
        self.beta_initializer, self.gamma_initializer = beta_initializer, gamma_initializer
        self.gamma = self.beta = None

    def _kept(self, rank: int) -> tuple[int, ...]:
        """Return the axes along which the weights differ, counted from the end, in order."""
        if self.axis == -1 and rank:
            return (-1,)
        given = self.axis if isinstance(self.axis, tuple) else (self.axis,)
        if not rank or any(not -rank <= axis < rank for axis in given):
            raise InvalidArgumentError(f"{self.name}: axis {self.axis} does not exist in an input of {rank} axes.")
        return tuple(sorted({axis % rank - rank for axis in given}))

    def build(self, input_shape: Any) -> None:
        shape = self._weight_shape(input_shape)
        if self.scale:
            self.gamma = self.add_weight("gamma", shape, self.gamma_initializer)
        if self.center:
            self.beta = self.add_weight("beta", shape, self.beta_initializer)

    def _weight_shape(self, input_shape: Any) -> tuple[int, ...]:
        return tuple(input_shape[axis] for axis in self._kept(len(input_shape)))

    def _spread(self, weight: Any, x: Any) -> Any:
        """Return a weight with a length of 1 wherever it does not differ, so that it broadcasts against the input."""
        kept = self._kept(x.ndim)
        if weight is None or kept == tuple(range(-len(kept), 0)):
            return weight
        return reshape(weight, [x.shape[axis] if axis in kept else 1 for axis in range(-x.ndim, 0)])


class BatchNormalization(_Normalization):
    """Normalize each feature to mean 0 and variance 1 over the batch: Ioffe & Szegedy 2015.

    In training the batch's own mean and variance are used, and their moving averages are kept for inference. A layer
    that is not `trainable` uses its moving averages in training too, and does not update them.

    Parameters
    ----------
    axis : int or tuple of int
        Where the features are.
    momentum : float
        How much of the moving averages is kept at each step.
    epsilon : float
        Added to the variance.
    center, scale : bool
        Whether there is an offset `beta` and a factor `gamma`.
    beta_initializer, gamma_initializer, moving_mean_initializer, moving_variance_initializer : str or Initializer
        How the weights are initialized.

    Shapes: x (b, *s, c) -> the same; gamma, beta (c).

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> layer = lab.layers.BatchNormalization(epsilon=0.0)
    >>> print(layer([[0.0], [2.0]], training=True))
    Tensor([[-1.]
     [ 1.]], shape=(2, 1), dtype=float32)
    """

    moving_mean: Variable
    moving_variance: Variable

    def __init__(self, axis: IntsLike = -1, momentum: float = 0.99, epsilon: float = 1e-3, center: bool = True,
                 scale: bool = True, beta_initializer: NameOrCallable = "zeros",
                 gamma_initializer: NameOrCallable = "ones",
                 moving_mean_initializer: NameOrCallable = "zeros",
                 moving_variance_initializer: NameOrCallable = "ones",
                 name: str | None = None, **more: Unpack[LayerOptions]) -> None:  # fmt: skip
        super().__init__(axis, epsilon, center, scale, beta_initializer, gamma_initializer, name, **more)
        self.momentum = momentum
        self.moving_mean_initializer = moving_mean_initializer
        self.moving_variance_initializer = moving_variance_initializer

    def build(self, input_shape: InputShape) -> None:
        super().build(input_shape)
        shape = self._weight_shape(input_shape)
        self.moving_mean = self.add_weight("moving_mean", shape, self.moving_mean_initializer, trainable=False)
        self.moving_variance = self.add_weight(
            "moving_variance", shape, self.moving_variance_initializer, trainable=False
        )

    def call(self, x: Tensor, training: bool = False) -> Tensor:
        gamma, beta = self._spread(self.gamma, x), self._spread(self.beta, x)
        if not (training and self.trainable):
            factor = rsqrt(self.moving_variance.read() + self.epsilon)
            factor = self._spread(factor if self.gamma is None else factor * self.gamma, x)
            centered = (x - self._spread(self.moving_mean.read(), x)) * factor
            return centered if beta is None else centered + beta
        axes = _others(self._kept(x.ndim), x.ndim)
        self._move(x, axes)
        return normalized(x, axes, self.epsilon, gamma, beta)

    def _move(self, x: Tensor, axes: tuple[int, ...]) -> None:
        """Move the averages towards the mean and the variance of a batch: by ops, if somebody may see them."""
        averages, array = (self.moving_mean, self.moving_variance), x._held
        plain = array.__class__ is ndarray and array.dtype == averages[0]._held.dtype == averages[1]._held.dtype
        if plain and not [sink for sink in sinks_now() if sink.listens or sink.traces]:
            for average, value in zip(averages, quietly(RAW.moments, array, axes=axes), strict=True):
                accumulated(average, self._moved, value.reshape(average._held.shape))
            return
        found = mean_and_variance(stop_gradient(x), axes=axes)  # the moving averages are not trained
        for average, value in zip(averages, found, strict=True):
            average.assign(self._moved(average.read(), squeeze(value, axes)))

    def _moved(self, average: Any, value: Any) -> Any:
        return self.momentum * average + (1 - self.momentum) * value


class LayerNormalization(_Normalization):
    """Normalize each example to mean 0 and variance 1 over its last axis: Ba, Kiros & Hinton 2016.

    Parameters
    ----------
    axis : int or tuple of int
        Over which the mean and the variance are taken.
    epsilon : float
        Added to the variance.
    center, scale : bool
        Whether there is an offset `beta` and a factor `gamma`.
    beta_initializer, gamma_initializer : str or Initializer
        How the weights are initialized.

    Shapes: x (*b, c) -> the same; gamma, beta (c).

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.layers.LayerNormalization(epsilon=0.0)([[0.0, 2.0]]))
    Tensor([[-1.  1.]], shape=(1, 2), dtype=float32)
    """

    def __init__(self, axis: IntsLike = -1, epsilon: float = 1e-3, center: bool = True, scale: bool = True,
                 beta_initializer: NameOrCallable = "zeros", gamma_initializer: NameOrCallable = "ones",
                 name: str | None = None,
                 **more: Unpack[LayerOptions]) -> None:  # fmt: skip
        super().__init__(axis, epsilon, center, scale, beta_initializer, gamma_initializer, name, **more)

    def call(self, x: Tensor) -> Tensor:
        gamma, beta = self._spread(self.gamma, x), self._spread(self.beta, x)
        return normalized(x, self._kept(x.ndim), self.epsilon, gamma, beta)
