"""Convolutions that treat each channel separately."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.engine.variable import Variable
from autodiff_lab.layers.calling import needs_axes
from autodiff_lab.layers.convolution import checked_padding
from autodiff_lab.layers.layer import Layer, activation_of
from autodiff_lab.layers.options import LayerOptions
from autodiff_lab.ops.nn.convolution import conv2d, sizes
from autodiff_lab.ops.nn.depthwise import depthwise_conv2d

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import InputShape, IntsLike, NameOrCallable


class DepthwiseConv2D(Layer):
    """Convolve each channel with its own `depth_multiplier` filters: (b, h, w, c) -> (b, h', w', c·m).

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> layer = lab.layers.DepthwiseConv2D(3, depth_multiplier=2)
    >>> layer(lab.zeros((1, 5, 5, 4))).shape, layer.kernel.shape
    (TensorShape([1, 3, 3, 8]), TensorShape([3, 3, 4, 2]))
    """

    several = False
    floating = True
    kernel: Variable
    bias: Variable

    def __init__(self, kernel_size: IntsLike, strides: IntsLike = 1, padding: str = "valid", depth_multiplier: int = 1,
                 data_format: str | None = None, dilation_rate: IntsLike = 1, activation: NameOrCallable = None,
                 use_bias: bool = True,
                 depthwise_initializer: NameOrCallable = "glorot_uniform", bias_initializer: NameOrCallable = "zeros",
                 name: str | None = None, **more: Unpack[LayerOptions]) -> None:  # fmt: skip
        super().__init__(name, **more)
        self.kernel_size = sizes(kernel_size, 2, "kernel_size")
        self.strides, self.dilation_rate = sizes(strides, 2, "strides"), sizes(dilation_rate, 2, "dilation_rate")
        self.padding = checked_padding(type(self), padding, data_format)
        self.use_bias, self.depth_multiplier = use_bias, int(depth_multiplier)
        self.activation = activation_of(activation)
        self.depthwise_initializer, self.bias_initializer = depthwise_initializer, bias_initializer

    def build(self, input_shape: InputShape) -> None:
        needs_axes(self.name, input_shape, "(b, h, w, c)")
        shape = (*self.kernel_size, input_shape[-1], self.depth_multiplier)
        self.kernel = self.add_weight("kernel", shape, self.depthwise_initializer)
        if self.use_bias:
            self.bias = self.add_weight("bias", (input_shape[-1] * self.depth_multiplier,), self.bias_initializer)

    def call(self, x: Tensor) -> Tensor:
        total = depthwise_conv2d(x, self.kernel, self.strides, self.padding, dilations=self.dilation_rate)
        return self.activation(total + self.bias if self.use_bias else total)


class SeparableConv2D(Layer):
    """A depthwise convolution, then a mixture of its channels at each point: (b, h, w, c) -> (b, h', w', filters).

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> layer = lab.layers.SeparableConv2D(6, 3)
    >>> layer(lab.zeros((1, 5, 5, 4))).shape, layer.pointwise_kernel.shape
    (TensorShape([1, 3, 3, 6]), TensorShape([1, 1, 4, 6]))
    """

    several = False
    floating = True
    depthwise_kernel: Variable
    pointwise_kernel: Variable
    bias: Variable

    def __init__(self, filters: int, kernel_size: IntsLike, strides: IntsLike = 1, padding: str = "valid",
                 data_format: str | None = None, dilation_rate: IntsLike = 1, depth_multiplier: int = 1,
                 activation: NameOrCallable = None, use_bias: bool = True,
                 depthwise_initializer: NameOrCallable = "glorot_uniform",
                 pointwise_initializer: NameOrCallable = "glorot_uniform",
                 bias_initializer: NameOrCallable = "zeros", name: str | None = None,
                 **more: Unpack[LayerOptions]) -> None:  # fmt: skip
        super().__init__(name, **more)
        self.filters, self.depth_multiplier, self.use_bias = int(filters), int(depth_multiplier), use_bias
        self.kernel_size = sizes(kernel_size, 2, "kernel_size")
        self.strides, self.dilation_rate = sizes(strides, 2, "strides"), sizes(dilation_rate, 2, "dilation_rate")
        self.padding = checked_padding(type(self), padding, data_format)
        self.activation = activation_of(activation)
        self.depthwise_initializer, self.pointwise_initializer = depthwise_initializer, pointwise_initializer
        self.bias_initializer = bias_initializer

    def build(self, input_shape: InputShape) -> None:
        needs_axes(self.name, input_shape, "(b, h, w, c)")
        channels = input_shape[-1]
        deep = (*self.kernel_size, channels, self.depth_multiplier)
        self.depthwise_kernel = self.add_weight("depthwise_kernel", deep, self.depthwise_initializer)
        point = (1, 1, channels * self.depth_multiplier, self.filters)
        self.pointwise_kernel = self.add_weight("pointwise_kernel", point, self.pointwise_initializer)
        if self.use_bias:
            self.bias = self.add_weight("bias", (self.filters,), self.bias_initializer)

    def call(self, x: Tensor) -> Tensor:
        deep = depthwise_conv2d(x, self.depthwise_kernel, self.strides, self.padding, dilations=self.dilation_rate)
        total = conv2d(deep, self.pointwise_kernel)
        return self.activation(total + self.bias if self.use_bias else total)
