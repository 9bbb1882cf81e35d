"""Pooling layers, channels last."""

from __future__ import annotations

from typing import Any, Unpack

from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.errors import ShapeMismatch
from autodiff_lab.layers.calling import channels_last
from autodiff_lab.layers.layer import Layer
from autodiff_lab.layers.options import LayerOptions
from autodiff_lab.ops.array.casting import cast
from autodiff_lab.ops.math.reductions import reduce_max, reduce_mean
from autodiff_lab.ops.nn.convolution import sizes
from autodiff_lab.ops.nn.pooling import avg_pool, max_pool


class _Pooling(Layer):
    """The common part of the pooling layers."""

    several = False
    rank = 0
    largest = True

    def __init__(self, pool_size: Any = 2, strides: Any = None, padding: str = "valid",
                 data_format: str | None = None, name: str | None = None,
                 **more: Unpack[LayerOptions]) -> None:  # fmt: skip
        super().__init__(name, **more)
        self.pool_size = sizes(pool_size, self.rank, f"{type(self).__name__}: pool_size")
        self.strides = None if strides is None else sizes(strides, self.rank, f"{type(self).__name__}: strides")
        self.padding = padding.upper()
        channels_last(type(self), data_format, self.rank)

    def call(self, x: Any) -> Tensor:
        if x.ndim != self.rank + 2:
            raise ShapeMismatch(f"{self.name}: expected an input (b, *{self.rank} axes, c), got {tuple(x.shape)}.")
        if not self.largest:
            return avg_pool(x, self.pool_size, self.strides, self.padding)
        if x.dtype.is_integer:  # pooled as floats that hold every 32-bit number
            return cast(max_pool(cast(x, "float64"), self.pool_size, self.strides, self.padding), x.dtype)
        return max_pool(x, self.pool_size, self.strides, self.padding)


class MaxPool1D(_Pooling):
    """The largest element of each window: (b, n, c) -> (b, m, c).

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.layers.MaxPool1D(2)(lab.zeros((1, 8, 3))).shape
    TensorShape([1, 4, 3])
    """

    rank = 1


class MaxPool2D(_Pooling):
    """The largest element of each window: (b, h, w, c) -> (b, h', w', c).

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.layers.MaxPool2D((2, 2), strides=(2, 2))(lab.zeros((10, 12, 12, 6))).shape
    TensorShape([10, 6, 6, 6])
    """

    rank = 2


class AveragePooling1D(_Pooling):
    """The mean of each window: (b, n, c) -> (b, m, c).

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.layers.AveragePooling1D(2)(lab.zeros((1, 8, 3))).shape
    TensorShape([1, 4, 3])
    """

    floating = True

    rank, largest = 1, False


class AveragePooling2D(_Pooling):
    """The mean of each window: (b, h, w, c) -> (b, h', w', c).

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.layers.AveragePooling2D(2)(lab.zeros((1, 4, 4, 3))).shape
    TensorShape([1, 2, 2, 3])
    """

    floating = True

    rank, largest = 2, False


class MaxPool3D(_Pooling):
    """The largest element of each window: (b, d, h, w, c) -> (b, d', h', w', c).

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.layers.MaxPool3D(2)(lab.zeros((1, 4, 4, 4, 3))).shape
    TensorShape([1, 2, 2, 2, 3])
    """

    rank = 3


class AveragePooling3D(_Pooling):
    """The mean of each window: (b, d, h, w, c) -> (b, d', h', w', c).

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.layers.AveragePooling3D(2)(lab.zeros((1, 4, 4, 4, 3))).shape
    TensorShape([1, 2, 2, 2, 3])
    """

    floating = True

    rank, largest = 3, False


class _GlobalPooling(Layer):
    """One number for each channel, from all of its points."""

    several = False
    rank = 0
    largest = False

    def __init__(self, data_format: str | None = None, keepdims: bool = False, name: str | None = None,
                 **more: Unpack[LayerOptions]) -> None:  # fmt: skip
        super().__init__(name, **more)
        channels_last(type(self), data_format, self.rank)
        self.keepdims = keepdims

    def call(self, x: Any) -> Tensor:
        if x.ndim != self.rank + 2:
            raise ShapeMismatch(f"{self.name}: expected an input (b, *{self.rank} axes, c), got {tuple(x.shape)}.")
        over = tuple(range(1, self.rank + 1))
        return (reduce_max if self.largest else reduce_mean)(x, axis=over, keepdims=self.keepdims)


class GlobalAveragePooling1D(_GlobalPooling):
    """The mean over time: (b, n, c) -> (b, c).

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.layers.GlobalAveragePooling1D()(lab.zeros((2, 4, 3))).shape
    TensorShape([2, 3])
    """

    floating = True

    rank = 1


class GlobalAveragePooling2D(_GlobalPooling):
    """The mean over height and width: (b, h, w, c) -> (b, c).

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.layers.GlobalAveragePooling2D()(lab.zeros((2, 4, 4, 3))).shape
    TensorShape([2, 3])
    """

    floating = True

    rank = 2


class GlobalMaxPooling1D(_GlobalPooling):
    """The maximum over time: (b, n, c) -> (b, c).

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.layers.GlobalMaxPooling1D()(lab.zeros((2, 4, 3))).shape
    TensorShape([2, 3])
    """

    rank, largest = 1, True


class GlobalMaxPooling2D(_GlobalPooling):
    """The maximum over height and width: (b, h, w, c) -> (b, c).

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.layers.GlobalMaxPooling2D()(lab.zeros((2, 4, 4, 3))).shape
    TensorShape([2, 3])
    """

    rank, largest = 2, True


MaxPooling1D = MaxPool1D
MaxPooling2D = MaxPool2D
MaxPooling3D = MaxPool3D
