"""Convolution layers, channels last."""

from __future__ import annotations

from typing import Any, Unpack

from autodiff_lab.engine.shape import as_integer
from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.engine.variable import Variable
from autodiff_lab.errors import InvalidArgumentError, ShapeMismatch, UnimplementedError
from autodiff_lab.layers.calling import channels_last, needs_axes
from autodiff_lab.layers.layer import Layer, activation_of
from autodiff_lab.layers.options import LayerOptions
from autodiff_lab.ops.nn.convolution import conv1d, conv2d, conv3d, conv_transpose, sizes


def checked_padding(cls: type, padding: str, data_format: str | None) -> str:
    """Return the padding in capitals; an unknown value raises when the layer is created."""
    known = ("VALID", "SAME", "CAUSAL") if cls is Conv1D else ("VALID", "SAME")
    if str(padding).upper() not in known:
        zeros = {1: "ZeroPadding1D", 2: "ZeroPadding2D"}.get(getattr(cls, "rank", 2), "")
        more = "" if isinstance(padding, str) or not zeros else f", or lab.layers.{zeros}({padding!r}) before it"
        raise InvalidArgumentError(f"{cls.__name__}: unknown padding {padding!r}. Try 'same'{more}.")
    channels_last(cls, data_format, getattr(cls, "rank", 2))
    return str(padding).upper()


class _Convolution(Layer):
    """The common part of the convolution layers."""

    several = False
    floating = True

    rank = 0
    kernel: Variable
    bias: Variable

    def __init__(self, filters: int, kernel_size: Any, strides: Any = 1, padding: str = "valid",
                 data_format: str | None = None, dilation_rate: Any = 1, groups: int = 1, activation: Any = None,
                 use_bias: bool = True, kernel_initializer: Any = "glorot_uniform", bias_initializer: Any = "zeros",
                 name: str | None = None, **more: Unpack[LayerOptions]) -> None:  # fmt: skip
        super().__init__(name, **more)
        self.filters, self.use_bias = as_integer(filters, f"{type(self).__name__}: filters", 1), use_bias
        self.groups = as_integer(groups, f"{type(self).__name__}: groups", 1)
        self.padding = checked_padding(type(self), padding, data_format)
        if self.filters % self.groups:
            raise InvalidArgumentError(
                f"{type(self).__name__}: {filters} filters cannot be divided into {groups} equal groups."
            )
        self.kernel_size = sizes(kernel_size, self.rank, f"{type(self).__name__}: kernel_size")
        self.strides = sizes(strides, self.rank, f"{type(self).__name__}: strides")
        self.dilation_rate = sizes(dilation_rate, self.rank, f"{type(self).__name__}: dilation_rate")
        self.activation = activation_of(activation)
        self.kernel_initializer, self.bias_initializer = kernel_initializer, bias_initializer

    def build(self, input_shape: Any) -> None:
        if len(input_shape) != self.rank + 2:
            raise ShapeMismatch(f"{self.name}: expected an input (b, *{self.rank} axes, c), got {input_shape}.")
        needs_axes(self.name, input_shape, "(b, *s, c)")
        if input_shape[-1] % self.groups:
            raise ShapeMismatch(
                f"{self.name}: {input_shape[-1]} channels cannot be divided into {self.groups} equal groups."
            )
        self.kernel = self.add_weight("kernel", self.kernel_shape(input_shape[-1]), self.kernel_initializer)
        if self.use_bias:
            self.bias = self.add_weight("bias", (self.filters,), self.bias_initializer)

    def kernel_shape(self, channels: int) -> tuple[int, ...]:
        """Return the kernel's shape for an input with this many channels."""
        return (*self.kernel_size, channels // self.groups, self.filters)

    def call(self, x: Any) -> Tensor:
        total = self.convolve(x)
        return self.activation(total + self.bias if self.use_bias else total)

    def convolve(self, x: Any) -> Tensor:
        """Compute the convolution alone."""
        convolution: Any = {1: conv1d, 2: conv2d, 3: conv3d}[self.rank]
        padding: Any = self.padding
        if padding == "CAUSAL":
            padding = [((self.kernel_size[0] - 1) * self.dilation_rate[0], 0)]
        return convolution(x, self.kernel, self.strides, padding, dilations=self.dilation_rate)


class Conv1D(_Convolution):
    """One-dimensional convolution with bias and activation: (b, n, c) -> (b, m, filters).

    With ``padding="causal"`` no point of the result depends on a later point of the input. With `groups` each group
    of channels has its own filters.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.layers.Conv1D(4, 3)(lab.zeros((2, 8, 3))).shape
    TensorShape([2, 6, 4])
    """

    rank = 1


class Conv2D(_Convolution):
    """Two-dimensional convolution with bias and activation: (b, h, w, c) -> (b, h', w', filters).

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> layer = lab.layers.Conv2D(6, (5, 5))
    >>> layer(lab.zeros((10, 16, 16, 3))).shape, layer.kernel.shape
    (TensorShape([10, 12, 12, 6]), TensorShape([5, 5, 3, 6]))
    """

    rank = 2


class Conv3D(_Convolution):
    """Three-dimensional convolution with bias and activation: (b, d, h, w, c) -> (b, d', h', w', filters).

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.layers.Conv3D(2, 3)(lab.zeros((1, 5, 5, 5, 1))).shape
    TensorShape([1, 3, 3, 3, 2])
    """

    rank = 3


class _Transposed(_Convolution):
    """The common part of the transposed convolution layers."""

    def __init__(self, filters: int, kernel_size: Any, strides: Any = 1, padding: str = "valid",
                 output_padding: Any = None, data_format: str | None = None, dilation_rate: Any = 1,
                 activation: Any = None, use_bias: bool = True, **more: Unpack[LayerOptions]) -> None:  # fmt: skip
        if output_padding is not None:
            raise UnimplementedError(f"{type(self).__name__}: output_padding is not supported. Try lab.pad.")
        super().__init__(
            filters, kernel_size, strides, padding, data_format, dilation_rate, 1, activation, use_bias, **more
        )

    def kernel_shape(self, channels: int) -> tuple[int, ...]:
        return (*self.kernel_size, self.filters, channels)

    def convolve(self, x: Any) -> Tensor:
        if x.ndim != self.rank + 2:
            raise ShapeMismatch(f"{self.name}: expected an input (b, *{self.rank} axes, c), got {tuple(x.shape)}.")
        spatial = [
            n * s if self.padding == "SAME" else (n - 1) * s + max(d * (k - 1) + 1, s)
            for n, s, k, d in zip(x.shape[1:-1], self.strides, self.kernel_size, self.dilation_rate, strict=True)
        ]
        shape = (x.shape[0], *spatial, self.filters)
        return conv_transpose(x, self.kernel, shape, self.strides, self.padding, dilations=self.dilation_rate)


class Conv1DTranspose(_Transposed):
    """One-dimensional transposed convolution: (b, n, c) -> (b, m, filters).

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.layers.Conv1DTranspose(4, 3, strides=2, padding="same")(lab.zeros((1, 5, 2))).shape
    TensorShape([1, 10, 4])
    """

    rank = 1


class Conv2DTranspose(_Transposed):
    """Two-dimensional transposed convolution: (b, h, w, c) -> (b, h', w', filters).

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.layers.Conv2DTranspose(4, 3, strides=2, padding="same")(lab.zeros((1, 5, 5, 2))).shape
    TensorShape([1, 10, 10, 4])
    """

    rank = 2


class Conv3DTranspose(_Transposed):
    """Three-dimensional transposed convolution: (b, d, h, w, c) -> (b, d', h', w', filters).

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.layers.Conv3DTranspose(2, 2, strides=2)(lab.zeros((1, 3, 3, 3, 1))).shape
    TensorShape([1, 6, 6, 6, 2])
    """

    rank = 3
