"""Batch normalisation, which behaves otherwise in training, and layer normalisation, which does not."""

from __future__ import annotations

from typing import Any

from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.engine.variable import Variable
from autodiff_lab.layers.layer import Layer
from autodiff_lab.ops.array.casting import stop_gradient
from autodiff_lab.ops.array.shaping import squeeze
from autodiff_lab.ops.math.exponential import rsqrt
from autodiff_lab.ops.nn.normalization import standardized
from autodiff_lab.ops.nn.standardization import mean_and_variance


class BatchNormalization(Layer):
    """Each feature shifted and scaled to mean 0 and variance 1 over the batch: Ioffe & Szegedy 2015.

    In training the batch's own mean and variance are used, and moving averages of them are kept for inference.

    Shapes: x (b, *s, c) -> the same; gamma, beta (c).

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> layer = lab.layers.BatchNormalization(epsilon=0.0)
    >>> print(layer([[0.0], [2.0]], training=True))
    Tensor([[-1.]
     [ 1.]], shape=(2, 1), dtype=float32)
    """

    gamma: Variable
    beta: Variable
    moving_mean: Variable
    moving_variance: Variable

    def __init__(self, momentum: float = 0.99, epsilon: float = 1e-3, center: bool = True, scale: bool = True,
                 name: str | None = None, **more: Any) -> None:  # fmt: skip
        super().__init__(name, **more)
        self.momentum, self.epsilon, self.center, self.scale = momentum, epsilon, center, scale

    def build(self, input_shape: Any) -> None:
        shape = (input_shape[-1],)
        if self.scale:
            self.gamma = self.add_weight("gamma", shape, "ones")
        if self.center:
            self.beta = self.add_weight("beta", shape, "zeros")
        self.moving_mean = self.add_weight("moving_mean", shape, "zeros", trainable=False)
        self.moving_variance = self.add_weight("moving_variance", shape, "ones", trainable=False)

    def call(self, x: Any, training: bool = False) -> Tensor:
        if not training:
            return self._scaled(x, self.moving_mean.read(), self.moving_variance.read())
        axes = tuple(range(-x.ndim, -1))
        mean, variance = mean_and_variance(stop_gradient(x), axes=axes)  # the averages are not what is trained
        self._move(self.moving_mean, squeeze(mean, axes))
        self._move(self.moving_variance, squeeze(variance, axes))
        return standardized(
            x, axes, self.epsilon, self.gamma if self.scale else None, self.beta if self.center else None
        )

    def _move(self, average: Variable, value: Tensor) -> None:
        average.assign(self.momentum * average.read() + (1 - self.momentum) * value)

    def _scaled(self, x: Any, mean: Tensor, variance: Tensor) -> Tensor:
        factor = rsqrt(variance + self.epsilon)
        if self.scale:
            factor = factor * self.gamma
        return (x - mean) * factor + self.beta if self.center else (x - mean) * factor


class LayerNormalization(Layer):
    """Each example shifted and scaled to mean 0 and variance 1 over its last axis: Ba, Kiros & Hinton 2016.

    Shapes: x (*b, c) -> the same; gamma, beta (c).

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.layers.LayerNormalization(epsilon=0.0)([[0.0, 2.0]]))
    Tensor([[-1.  1.]], shape=(1, 2), dtype=float32)
    """

    gamma: Variable
    beta: Variable

    def __init__(self, epsilon: float = 1e-3, name: str | None = None, **more: Any) -> None:
        super().__init__(name, **more)
        self.epsilon = epsilon

    def build(self, input_shape: Any) -> None:
        self.gamma = self.add_weight("gamma", (input_shape[-1],), "ones")
        self.beta = self.add_weight("beta", (input_shape[-1],), "zeros")

    def call(self, x: Any) -> Tensor:
        return standardized(x, (-1,), self.epsilon, self.gamma, self.beta)
