"""Layers of several inputs: sums, products, concatenation; and the functions of Keras that make and call one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any, Unpack

from autodiff_lab.engine import primitives
from autodiff_lab.engine.convert import convert
from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.errors import ShapeMismatch
from autodiff_lab.layers.layer import Layer
from autodiff_lab.layers.options import LayerOptions
from autodiff_lab.ops.array.joining import concat
from autodiff_lab.ops.math import arithmetic
from autodiff_lab.ops.math.reductions import reduce_sum

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import TensorLike


class _Merge(Layer):
    """The common part of the layers with several inputs; they have no weights."""

    least = 2
    several = True

    def ensure_built(self, *inputs: Any) -> None:
        self.built = True

    def call(self, inputs: Sequence[Any]) -> Tensor:
        if not isinstance(inputs, (list, tuple)) or len(inputs) < self.least:
            raise ShapeMismatch(f"{self.name}: expected a list of at least {self.least} inputs.")
        return self.merged([convert(x) for x in inputs])

    def merged(self, inputs: list[Tensor]) -> Tensor:
        """Return the merged tensor."""
        raise NotImplementedError


class Add(_Merge):
    """The sum of the inputs.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.layers.Add()([lab.constant([1.0]), lab.constant([2.0])]))
    Tensor([3.], shape=(1,), dtype=float32)
    """

    def merged(self, inputs: list[Tensor]) -> Tensor:
        return reduce(primitives.add, inputs)


class Subtract(_Merge):
    """The first input minus the second.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.layers.Subtract()([lab.constant([1.0]), lab.constant([2.0])]))
    Tensor([-1.], shape=(1,), dtype=float32)
    """

    def merged(self, inputs: list[Tensor]) -> Tensor:
        if len(inputs) != 2:
            raise ShapeMismatch(f"{self.name}: expected two inputs, got {len(inputs)}.")
        return arithmetic.subtract(inputs[0], inputs[1])


class Multiply(_Merge):
    """The product of the inputs.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.layers.Multiply()([lab.constant([2.0]), lab.constant([3.0])]))
    Tensor([6.], shape=(1,), dtype=float32)
    """

    def merged(self, inputs: list[Tensor]) -> Tensor:
        return reduce(arithmetic.multiply, inputs)


class Average(_Merge):
    """The mean of the inputs.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.layers.Average()([lab.constant([2.0]), lab.constant([4.0])]))
    Tensor([3.], shape=(1,), dtype=float32)
    """

    floating = True

    def merged(self, inputs: list[Tensor]) -> Tensor:
        return reduce(primitives.add, inputs) / len(inputs)


class Maximum(_Merge):
    """The largest of the inputs, element by element.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.layers.Maximum()([lab.constant([2.0]), lab.constant([4.0])]))
    Tensor([4.], shape=(1,), dtype=float32)
    """

    def merged(self, inputs: list[Tensor]) -> Tensor:
        return reduce(arithmetic.maximum, inputs)


class Minimum(_Merge):
    """The smallest of the inputs, element by element.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.layers.Minimum()([lab.constant([2.0]), lab.constant([4.0])]))
    Tensor([2.], shape=(1,), dtype=float32)
    """

    def merged(self, inputs: list[Tensor]) -> Tensor:
        return reduce(arithmetic.minimum, inputs)


class Concatenate(_Merge):
    """The inputs concatenated along an axis.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.layers.Concatenate()([lab.zeros((2, 3)), lab.zeros((2, 4))]).shape
    TensorShape([2, 7])
    """

    least = 1

    def __init__(self, axis: int = -1, name: str | None = None, **more: Unpack[LayerOptions]) -> None:
        super().__init__(name, **more)
        self.axis = axis

    def merged(self, inputs: list[Tensor]) -> Tensor:
        return concat(inputs, self.axis)


class Dot(_Merge):
    """The product of two inputs of equal shape, summed along an axis.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.layers.Dot()([lab.constant([[1.0, 2.0]]), lab.constant([[3.0, 4.0]])]))
    Tensor([[11.]], shape=(1, 1), dtype=float32)
    """

    def __init__(self, axes: int = -1, name: str | None = None, **more: Unpack[LayerOptions]) -> None:
        super().__init__(name, **more)
        self.axes = axes

    def merged(self, inputs: list[Tensor]) -> Tensor:
        if len(inputs) != 2 or inputs[0].shape != inputs[1].shape:
            shapes = [tuple(x.shape) for x in inputs]
            raise ShapeMismatch(f"{self.name}: expected two inputs of equal shape, got {shapes}. Try lab.matmul.")
        return reduce_sum(inputs[0] * inputs[1], axis=self.axes, keepdims=inputs[0].ndim == 2)


def _function(cls: type[_Merge]) -> Callable[..., Tensor]:
    """Return the function that makes a layer and calls it on a list of inputs."""
    make: Any = cls

    def merge(inputs: Sequence[TensorLike], **settings: object) -> Tensor:
        return make(**settings)(inputs)

    merge.__name__ = merge.__qualname__ = cls.__name__.lower()
    last = {Concatenate: 6, Dot: 1}.get(make, 3)
    merge.__doc__ = f"""Apply a layer `{cls.__name__}` to a list of inputs; keywords are its settings.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.layers.{merge.__name__}([lab.ones((2, 3)), lab.ones((2, 3))]).shape
    TensorShape([2, {last}])
    """
    return merge


add, average, concatenate, dot = map(_function, (Add, Average, Concatenate, Dot))
maximum, minimum, multiply, subtract = map(_function, (Maximum, Minimum, Multiply, Subtract))
