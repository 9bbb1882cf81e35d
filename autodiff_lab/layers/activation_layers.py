"""Activations as layers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Unpack

from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.engine.variable import Variable
from autodiff_lab.layers.layer import Layer
from autodiff_lab.layers.options import LayerOptions
from autodiff_lab.ops.array.casting import cast
from autodiff_lab.ops.array.creation import zeros_like
from autodiff_lab.ops.array.gathering import where
from autodiff_lab.ops.math.arithmetic import minimum
from autodiff_lab.ops.nn.activations import relu, softmax
from autodiff_lab.ops.nn.rectifiers import elu, leaky_relu

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import InputShape, NameOrCallable


class Softmax(Layer):
    """Softmax along an axis: positive numbers that sum to 1.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.layers.Softmax()([0.0, 0.0]))
    Tensor([0.5 0.5], shape=(2,), dtype=float32)
    """

    several = False
    floating = True

    def __init__(self, axis: int = -1, name: str | None = None, **more: Unpack[LayerOptions]) -> None:
        super().__init__(name, **more)
        self.axis = axis

    def call(self, x: Tensor) -> Tensor:
        return softmax(x, axis=self.axis)


class ReLU(Layer):
    """``max(x, 0)``, at most `max_value` if given, with `negative_slope` below 0.

    With a `threshold` the result is x above it, and ``negative_slope * (x - threshold)`` up to it. Integers stay
    integers unless there is a `negative_slope`.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.layers.ReLU(max_value=3.0)([-1.0, 2.0, 9.0]))
    Tensor([0. 2. 3.], shape=(3,), dtype=float32)
    """

    several = False

    def __init__(self, max_value: float | None = None, negative_slope: float = 0.0, threshold: float = 0.0,
                 name: str | None = None, **more: Unpack[LayerOptions]) -> None:  # fmt: skip
        super().__init__(name, **more)
        self.max_value, self.negative_slope, self.threshold = max_value, negative_slope, threshold

    def call(self, x: Tensor) -> Tensor:
        if self.negative_slope and not x.dtype.is_floating:
            x = cast(x, "float32")
        number = int if x.dtype.is_integer else float  # integers stay integers, as in Keras
        if self.threshold:
            bent = where(x > number(self.threshold), x, zeros_like(x))
            if self.negative_slope:
                bent = bent + minimum(x - self.threshold, 0) * self.negative_slope
        else:
            bent = leaky_relu(x, self.negative_slope) if self.negative_slope else relu(x)
        return bent if self.max_value is None else minimum(bent, number(self.max_value))


class LeakyReLU(Layer):
    """x where it is positive, otherwise a fraction of it.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.layers.LeakyReLU(0.5)([-1.0, 2.0]))
    Tensor([-0.5  2. ], shape=(2,), dtype=float32)
    """

    several = False
    floating = True

    def __init__(self, negative_slope: float = 0.3, name: str | None = None, **more: Unpack[LayerOptions]) -> None:
        super().__init__(name, **more)
        self.negative_slope = negative_slope

    def call(self, x: Tensor) -> Tensor:
        return leaky_relu(x, self.negative_slope)


class ELU(Layer):
    """x where it is positive, otherwise ``alpha * (exp(x) - 1)``.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.layers.ELU()([0.0, 2.0]))
    Tensor([0. 2.], shape=(2,), dtype=float32)
    """

    several = False
    floating = True

    def __init__(self, alpha: float = 1.0, name: str | None = None, **more: Unpack[LayerOptions]) -> None:
        super().__init__(name, **more)
        self.alpha = alpha

    def call(self, x: Tensor) -> Tensor:
        return elu(x) if self.alpha == 1 else relu(x) + self.alpha * elu(minimum(x, 0))


class PReLU(Layer):
    """x where it is positive, otherwise a trained fraction of it, one per feature: He et al. 2015.

    The fraction is shared along `shared_axes`, where the batch counts as axis 0.

    Shapes: x (b, *s) -> the same; alpha (*s), with a length of 1 along shared axes.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.layers.PReLU(alpha_initializer="ones")([[-1.0, 2.0]]))
    Tensor([[-1.  2.]], shape=(1, 2), dtype=float32)
    """

    several = False
    floating = True
    alpha: Variable

    def __init__(self, alpha_initializer: NameOrCallable = "zeros", shared_axes: int | Sequence[int] | None = None,
                 name: str | None = None,
                 **more: Unpack[LayerOptions]) -> None:  # fmt: skip
        super().__init__(name, **more)
        self.alpha_initializer = alpha_initializer
        self.shared_axes = (
            () if shared_axes is None else (shared_axes,) if isinstance(shared_axes, int) else tuple(shared_axes)
        )

    def build(self, input_shape: InputShape) -> None:
        shape = tuple(1 if axis in self.shared_axes else n for axis, n in enumerate(input_shape))[1:]
        self.alpha = self.add_weight("alpha", shape, self.alpha_initializer)

    def call(self, x: Tensor) -> Tensor:
        return relu(x) - self.alpha * relu(-x)
