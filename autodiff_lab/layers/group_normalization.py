"""Normalization over groups of channels and by the norm of a vector: the same in training and inference."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

from autodiff_lab.engine.shape import as_integer
from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.engine.variable import Variable
from autodiff_lab.errors import InvalidArgumentError, ShapeMismatch
from autodiff_lab.layers.calling import needs_axes
from autodiff_lab.layers.layer import Layer
from autodiff_lab.layers.options import LayerOptions
from autodiff_lab.ops.array.shaping import reshape
from autodiff_lab.ops.math.arithmetic import square
from autodiff_lab.ops.math.exponential import rsqrt
from autodiff_lab.ops.math.reductions import reduce_mean
from autodiff_lab.ops.math.statistics import l2_normalize
from autodiff_lab.ops.nn.normalization import normalized

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import InputShape, IntsLike


class GroupNormalization(Layer):
    """Normalize groups of channels of each example to mean 0 and variance 1: Wu & He 2018.

    Shapes: x (b, *s, c) -> the same; gamma, beta (c).

    Raises
    ------
    ShapeMismatch
        If the channels cannot be divided into this many groups.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> layer = lab.layers.GroupNormalization(groups=2, epsilon=0.0)
    >>> print(layer([[0.0, 2.0, 5.0, 7.0]]))
    Tensor([[-1.  1. -1.  1.]], shape=(1, 4), dtype=float32)
    """

    several = False
    floating = True
    gamma: Variable
    beta: Variable

    def __init__(self, groups: int = 32, epsilon: float = 1e-3, center: bool = True, scale: bool = True,
                 name: str | None = None, **more: Unpack[LayerOptions]) -> None:  # fmt: skip
        super().__init__(name, **more)
        self.groups = as_integer(groups, "GroupNormalization: groups")
        if self.groups < 1 and self.groups != -1:
            raise InvalidArgumentError(
                f"GroupNormalization: groups must be at least 1, or -1 for all channels, got {groups}."
            )
        self.epsilon, self.center, self.scale = epsilon, center, scale

    def build(self, input_shape: InputShape) -> None:
        needs_axes(self.name, input_shape, "(b, *s, c)")
        channels = input_shape[-1]
        self.groups = channels if self.groups == -1 else self.groups
        if len(input_shape) < 2 or channels % self.groups:
            raise ShapeMismatch(
                f"{self.name}: the number of channels must be a multiple of {self.groups} groups, got shape "
                f"{input_shape}."
            )
        if self.scale:
            self.gamma = self.add_weight("gamma", (channels,), "ones")
        if self.center:
            self.beta = self.add_weight("beta", (channels,), "zeros")

    def call(self, x: Tensor) -> Tensor:
        shape: Any = tuple(x.shape)
        groups = (self.groups, shape[-1] // self.groups)
        axes = (*range(-len(shape), -2), -1)
        gamma = reshape(self.gamma, groups) if self.scale else None
        beta = reshape(self.beta, groups) if self.center else None
        return reshape(normalized(reshape(x, (*shape[:-1], *groups)), axes, self.epsilon, gamma, beta), shape)


class UnitNormalization(Layer):
    """Divide vectors by their length: (*b, c) -> the same.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.layers.UnitNormalization()([[3.0, 4.0]]))
    Tensor([[0.6 0.8]], shape=(1, 2), dtype=float32)
    """

    several = False
    floating = True

    def __init__(self, axis: IntsLike = -1, name: str | None = None, **more: Unpack[LayerOptions]) -> None:
        super().__init__(name, **more)
        self.axis = axis

    def call(self, x: Tensor) -> Tensor:
        return l2_normalize(x, axis=self.axis)


class RMSNormalization(Layer):
    """Divide each example by its root mean square, and scale it: Zhang & Sennrich 2019.

    Shapes: x (*b, c) -> the same; gamma (c).

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.layers.RMSNormalization(epsilon=0.0)([[1.0, -1.0]]))
    Tensor([[ 1. -1.]], shape=(1, 2), dtype=float32)
    """

    several = False
    floating = True
    gamma: Variable

    def __init__(self, epsilon: float = 1e-6, name: str | None = None, **more: Unpack[LayerOptions]) -> None:
        super().__init__(name, **more)
        self.epsilon = epsilon

    def build(self, input_shape: InputShape) -> None:
        needs_axes(self.name, input_shape, "(*b, c)")
        self.gamma = self.add_weight("gamma", (input_shape[-1],), "ones")

    def call(self, x: Tensor) -> Tensor:
        return x * rsqrt(reduce_mean(square(x), axis=-1, keepdims=True) + self.epsilon) * self.gamma
