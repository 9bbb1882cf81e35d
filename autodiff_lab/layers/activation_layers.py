"""Activations as layers."""

from __future__ import annotations

from typing import Any

from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.engine.variable import Variable
from autodiff_lab.layers.layer import Layer
from autodiff_lab.ops.math.arithmetic import minimum
from autodiff_lab.ops.nn.activations import relu, softmax
from autodiff_lab.ops.nn.rectifiers import elu, leaky_relu


class Softmax(Layer):
    """Shares along an axis that add up to 1.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.layers.Softmax()([0.0, 0.0]))
    Tensor([0.5 0.5], shape=(2,), dtype=float32)
    """

    floating = True

    def __init__(self, axis: int = -1, name: str | None = None, **more: Any) -> None:
        super().__init__(name, **more)
        self.axis = axis

    def call(self, x: Any) -> Tensor:
        return softmax(x, axis=self.axis)


class ReLU(Layer):
    """``max(x, 0)``, no more than `max_value` if it is given, with `negative_slope` below 0.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.layers.ReLU(max_value=3.0)([-1.0, 2.0, 9.0]))
    Tensor([0. 2. 3.], shape=(3,), dtype=float32)
    """

    def __init__(
        self, max_value: float | None = None, negative_slope: float = 0.0, name: str | None = None, **more: Any
    ) -> None:
        super().__init__(name, **more)
        self.max_value, self.negative_slope = max_value, negative_slope

    def call(self, x: Any) -> Tensor:
        bent = leaky_relu(x, self.negative_slope) if self.negative_slope else relu(x)
        return bent if self.max_value is None else minimum(bent, self.max_value)


class LeakyReLU(Layer):
    """x where it is positive, else a fraction of it.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.layers.LeakyReLU(0.5)([-1.0, 2.0]))
    Tensor([-0.5  2. ], shape=(2,), dtype=float32)
    """

    floating = True

    def __init__(self, negative_slope: float = 0.3, name: str | None = None, **more: Any) -> None:
        super().__init__(name, **more)
        self.negative_slope = negative_slope

    def call(self, x: Any) -> Tensor:
        return leaky_relu(x, self.negative_slope)


class ELU(Layer):
    """x where it is positive, else e^x - 1.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.layers.ELU()([0.0, 2.0]))
    Tensor([0. 2.], shape=(2,), dtype=float32)
    """

    floating = True

    def call(self, x: Any) -> Tensor:
        return elu(x)


class PReLU(Layer):
    """x where it is positive, else a fraction of it that is trained, one for each feature: He et al. 2015.

    Shapes: x (b, *s) -> the same; alpha (*s).

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.layers.PReLU(alpha_initializer="ones")([[-1.0, 2.0]]))
    Tensor([[-1.  2.]], shape=(1, 2), dtype=float32)
    """

    floating = True
    alpha: Variable

    def __init__(self, alpha_initializer: Any = "zeros", name: str | None = None, **more: Any) -> None:
        super().__init__(name, **more)
        self.alpha_initializer = alpha_initializer

    def build(self, input_shape: Any) -> None:
        self.alpha = self.add_weight("alpha", tuple(input_shape[1:]), self.alpha_initializer)

    def call(self, x: Any) -> Tensor:
        return relu(x) - self.alpha * relu(-x)
