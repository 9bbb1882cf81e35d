"""Second derivatives of a function: the whole Hessian, or its product with a vector without building it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from autodiff_lab.engine.backward import UnconnectedGradients
from autodiff_lab.engine.convert import convert
from autodiff_lab.engine.indexed_slices import dense
from autodiff_lab.engine.tape import GradientTape
from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.errors import InvalidArgumentError, ShapeMismatch
from autodiff_lab.ops.math.reductions import reduce_sum
from autodiff_lab.transforms.custom import check_function, check_points, own_point

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import TensorLike


def hessian(function: Callable[[Tensor], Tensor]) -> Callable[[TensorLike], Tensor]:
    """Return a function that computes the Hessian of a scalar function of one tensor.

    Shapes: x (*s) -> (*s, *s).  One inner gradient, then one sweep that carries a stack of unit cotangents.

    Raises
    ------
    ShapeMismatch
        If the function's value is not a scalar.
    InvalidArgumentError
        If there are several arguments, or the argument is a dict.
    ConversionError
        If the argument is an integer.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> rosenbrock = lambda p: (1 - p[0]) ** 2 + 100 * (p[1] - p[0] ** 2) ** 2
    >>> print(lab.hessian(rosenbrock)([1.0, 1.0]))
    Tensor([[ 802. -400.]
     [-400.  200.]], shape=(2, 2), dtype=float32)
    """

    def second(*arguments: Any) -> Tensor:
        if len(arguments) != 1 or isinstance(arguments[0], dict):
            found = "a dict" if len(arguments) == 1 else f"{len(arguments)} arguments"
            raise InvalidArgumentError(
                f"hessian: expected a function of one tensor, got {found}. Try one vector of all parameters, of which "
                "the function takes slices."
            )
        x = own_point(arguments[0])
        check_points([x], "hessian")
        with GradientTape() as outer:
            outer.watch(x)
            slope = _slope(function, x)
        return outer.jacobian(slope, x, unconnected_gradients=UnconnectedGradients.ZERO)

    return second


def hvp(function: Callable[[Tensor], Tensor], x: TensorLike, vector: TensorLike) -> Tensor:
    """Compute the Hessian of a scalar function times a vector in two sweeps, without building the Hessian.

    Shapes: x (*s), vector (*s) -> (*s).  Pearlmutter, "Fast exact multiplication by the Hessian" (1994).

    Raises
    ------
    ShapeMismatch
        If the function's value is not a scalar.
    InvalidArgumentError
        If `x` is a dict. For several tensors, ``lab.jvp(lab.gradient(function), tensors, vectors)`` gives the product
        for each, after the gradients.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.hvp(lambda p: lab.reduce_sum(p * p * p), [1.0, 2.0], [1.0, 0.0]))
    Tensor([6. 0.], shape=(2,), dtype=float32)
    """
    if isinstance(x, dict):
        raise InvalidArgumentError(
            "hvp: expected one tensor, got a dict. For several try lab.jvp(lab.gradient(function), tensors, vectors)."
        )
    x = own_point(x)
    check_points([x], "hvp")
    vector = convert(vector, x)
    with GradientTape() as outer:
        outer.watch(x)
        product = reduce_sum(_slope(function, x) * vector)
    return dense(outer.gradient(product, x, unconnected_gradients=UnconnectedGradients.ZERO))


def _slope(function: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    check_function(function, "hessian")
    with GradientTape() as inner:
        inner.watch(x)
        value = convert(function(x))
    if value._held.ndim:
        raise ShapeMismatch(
            f"A Hessian requires a scalar function; this one returned shape {value._held.shape}. "
            "Try lab.reduce_sum, or tape.jacobian twice."
        )
    return dense(inner.gradient(value, x, unconnected_gradients=UnconnectedGradients.ZERO))
