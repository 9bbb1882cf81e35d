"""The basic layers: dense, identity, flatten, reshape, lambda, and the wrapper that discards activations."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Unpack

from autodiff_lab.engine.convert import convert
from autodiff_lab.engine.shape import as_integer
from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.engine.variable import Variable
from autodiff_lab.errors import ShapeMismatch
from autodiff_lab.layers.activations import linear
from autodiff_lab.layers.calling import channels_last, needs_axes
from autodiff_lab.layers.layer import Layer, activation_of
from autodiff_lab.layers.options import LayerOptions
from autodiff_lab.ops.array.shaping import reshape
from autodiff_lab.ops.linalg.products import matmul
from autodiff_lab.transforms.recompute import recompute_grad

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import InputShape, NameOrCallable


class Dense(Layer):
    """``activation(x @ kernel + bias)``.

    Parameters
    ----------
    units : int
        Length of the result's last axis.
    activation : str or callable, optional
        Applied to the sum.
    use_bias : bool
        Whether there is a bias.
    kernel_initializer, bias_initializer : str or Initializer
        How the weights are initialized.

    Shapes: x (*b, n) -> (*b, units); kernel (n, units), bias (units).

    Raises
    ------
    ShapeMismatch
        If the input's last axis does not match the kernel.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> layer = lab.layers.Dense(2, kernel_initializer="ones")
    >>> print(layer([[1.0, 2.0]]))
    Tensor([[3. 3.]], shape=(1, 2), dtype=float32)
    """

    several = False
    floating = True
    kernel: Variable
    bias: Variable

    def __init__(self, units: int, activation: NameOrCallable = None, use_bias: bool = True,
                 kernel_initializer: NameOrCallable = "glorot_uniform", bias_initializer: NameOrCallable = "zeros",
                 name: str | None = None,
                 **more: Unpack[LayerOptions]) -> None:  # fmt: skip
        super().__init__(name, **more)
        self.units, self.use_bias = as_integer(units, "Dense: units", 1), use_bias
        self.activation = activation_of(activation)
        self.kernel_initializer, self.bias_initializer = kernel_initializer, bias_initializer

    def build(self, input_shape: InputShape) -> None:
        needs_axes(self.name, input_shape, "(*b, n)")
        self.kernel = self.add_weight("kernel", (input_shape[-1], self.units), self.kernel_initializer)
        if self.use_bias:
            self.bias = self.add_weight("bias", (self.units,), self.bias_initializer)

    def call(self, x: Tensor) -> Tensor:
        kernel = self.kernel
        shape = x._held.shape if x.__class__ is Tensor else x.shape
        if not len(shape) or shape[-1] != kernel._held.shape[0]:
            raise ShapeMismatch(
                f"{self.name}: built for {self.kernel.shape[0]} features, got an input of shape {tuple(x.shape)}."
            )
        total = matmul(x, kernel)
        if self.use_bias:
            total = total + self.bias
        return total if self.activation is linear else self.activation(total)


class Identity(Layer):
    """Its input, unchanged: a tensor or any structure of tensors.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.layers.Identity()([1.0, 2.0]))
    Tensor([1. 2.], shape=(2,), dtype=float32)
    """

    def call(self, inputs: Tensor) -> Tensor:
        return inputs


class Flatten(Layer):
    """Merge all axes but the first: (b, *s) -> (b, n).

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.layers.Flatten()(lab.zeros((10, 6, 6, 6))).shape
    TensorShape([10, 216])
    """

    several = False

    def __init__(self, data_format: str | None = None, name: str | None = None, **more: Unpack[LayerOptions]) -> None:
        super().__init__(name, **more)
        channels_last(type(self), data_format)

    def call(self, x: Tensor) -> Tensor:
        needs_axes(self.name, x.shape, "(b, *s)")
        return reshape(x, (x.shape[0], math.prod(convert(x).shape[1:])))


class Reshape(Layer):
    """Reshape all axes but the first; one length may be -1.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.layers.Reshape((2, -1))(lab.zeros((5, 6))).shape
    TensorShape([5, 2, 3])
    """

    several = False

    def __init__(self, target_shape: Sequence[int], name: str | None = None, **more: Unpack[LayerOptions]) -> None:
        super().__init__(name, **more)
        self.target_shape = tuple(target_shape)

    def call(self, x: Tensor) -> Tensor:
        needs_axes(self.name, x.shape, "(b, *s)")
        if -1 in self.target_shape:
            return reshape(x, (x.shape[0], *self.target_shape))
        return reshape(x, (-1, *self.target_shape))


class Activation(Layer):
    """An activation as a layer.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.layers.Activation("relu")([-1.0, 2.0]))
    Tensor([0. 2.], shape=(2,), dtype=float32)
    """

    several = False

    def __init__(self, activation: NameOrCallable, name: str | None = None, **more: Unpack[LayerOptions]) -> None:
        super().__init__(name, **more)
        self.activation = activation_of(activation)

    def call(self, x: Tensor) -> Tensor:
        return self.activation(x)


class Lambda(Layer):
    """Any function as a layer.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.layers.Lambda(lambda x: x * 2)([1.0]))
    Tensor([2.], shape=(1,), dtype=float32)
    """

    def __init__(self, function: Callable[..., object], name: str | None = None, **more: Unpack[LayerOptions]) -> None:
        super().__init__(name, **more)
        self.function = function

    def call(self, x: Tensor) -> Any:
        return self.function(x)


class ActivationDiscarding(Layer):
    """A layer whose activations are not kept but recomputed in the backward pass.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> thin = lab.layers.Dense(2).discarding_activations()
    >>> thin(lab.ones((1, 3))).shape, len(thin.trainable_variables)
    (TensorShape([1, 2]), 2)
    """

    def __init__(self, wrapped: Layer, name: str | None = None, **more: Unpack[LayerOptions]) -> None:
        super().__init__(name, **more)
        self.wrapped, self.several = wrapped, wrapped.several

    def build(self, input_shape: InputShape) -> None:
        if not self.wrapped.built:
            self.wrapped.build(input_shape)

    def call(self, x: Tensor, training: bool | None = None) -> Any:
        def inside(value: Any) -> Any:
            return self.wrapped(value, training=training)  # repeated, as the backward pass is outside all calls

        return recompute_grad(inside)(x)
