"""Pooling layers, channels last."""

from __future__ import annotations

from typing import Any

from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.layers.layer import Layer
from autodiff_lab.ops.math.reductions import reduce_mean
from autodiff_lab.ops.nn.pooling import avg_pool, max_pool


class _Pooling(Layer):
    """What the pooling layers share."""

    largest = True

    def __init__(self, pool_size: Any = 2, strides: Any = None, padding: str = "valid",
                 name: str | None = None) -> None:  # fmt: skip
        super().__init__(name)
        self.pool_size, self.strides, self.padding = pool_size, strides, padding.upper()

    def call(self, x: Any) -> Tensor:
        pool = max_pool if self.largest else avg_pool
        return pool(x, self.pool_size, self.strides, self.padding)


class MaxPool1D(_Pooling):
    """The largest element of each window: (b, n, c) -> (b, m, c).

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.layers.MaxPool1D(2)(lab.zeros((1, 8, 3))).shape
    TensorShape([1, 4, 3])
    """


class MaxPool2D(_Pooling):
    """The largest element of each window: (b, h, w, c) -> (b, h', w', c).

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.layers.MaxPool2D((2, 2), strides=(2, 2))(lab.zeros((10, 12, 12, 6))).shape
    TensorShape([10, 6, 6, 6])
    """


class AveragePooling1D(_Pooling):
    """The mean of each window: (b, n, c) -> (b, m, c).

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.layers.AveragePooling1D(2)(lab.zeros((1, 8, 3))).shape
    TensorShape([1, 4, 3])
    """

    largest = False


class AveragePooling2D(_Pooling):
    """The mean of each window: (b, h, w, c) -> (b, h', w', c).

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.layers.AveragePooling2D(2)(lab.zeros((1, 4, 4, 3))).shape
    TensorShape([1, 2, 2, 3])
    """

    largest = False


class GlobalAveragePooling2D(Layer):
    """The mean over height and width: (b, h, w, c) -> (b, c).

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.layers.GlobalAveragePooling2D()(lab.zeros((2, 4, 4, 3))).shape
    TensorShape([2, 3])
    """

    def call(self, x: Any) -> Tensor:
        return reduce_mean(x, axis=(1, 2))


MaxPooling1D = MaxPool1D
MaxPooling2D = MaxPool2D
