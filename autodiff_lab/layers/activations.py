"""Activations by name: what `activation="relu"` means."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from autodiff_lab.engine.convert import convert
from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.errors import InvalidArgumentError
from autodiff_lab.ops.array.casting import cast
from autodiff_lab.ops.math.elementary import softsign
from autodiff_lab.ops.math.exponential import exp
from autodiff_lab.ops.math.trigonometric import tanh as hyperbolic_tangent
from autodiff_lab.ops.nn.activations import log_softmax, relu, sigmoid, softmax, softplus
from autodiff_lab.ops.nn.rectifiers import (
    elu,
    hard_shrink,
    hard_sigmoid,
    hard_silu,
    hard_tanh,
    leaky_relu,
    relu6,
    selu,
    soft_shrink,
    sparse_plus,
    squareplus,
    tanh_shrink,
)
from autodiff_lab.ops.nn.smooth_activations import gelu, log_sigmoid, mish, silu

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import NameOrCallable, TensorLike


def linear(x: TensorLike) -> Any:
    """Return x unchanged.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.activations.linear(3.0)
    3.0
    """
    return x


def exponential(x: TensorLike) -> Tensor:
    """Compute the exponential of x; integers and bools become float32.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.activations.exponential([0, 0]))
    Tensor([1. 1.], shape=(2,), dtype=float32)
    """
    return exp(_floating(x))


def tanh(x: TensorLike) -> Tensor:
    """Compute the hyperbolic tangent of x; integers and bools become float32.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.activations.tanh([0, 0]))
    Tensor([0. 0.], shape=(2,), dtype=float32)
    """
    return hyperbolic_tangent(_floating(x))


def _floating(x: Any) -> Any:
    """Cast as Keras does for those of its activations that are functions of `keras.ops`, and for no others."""
    kind = getattr(getattr(x, "_held", None), "dtype", None)
    if kind is None and not hasattr(x, "__lab_apply__"):
        x = convert(x)
        kind = x._held.dtype
    return cast(x, "float32") if kind is not None and kind.kind in "iub" else x


BY_NAME: dict[str, Callable[..., Any]] = {
    "linear": linear, "relu": relu, "sigmoid": sigmoid, "tanh": tanh, "softmax": softmax, "softplus": softplus,
    "log_softmax": log_softmax, "exponential": exponential, "relu6": relu6, "leaky_relu": leaky_relu, "elu": elu,
    "selu": selu, "gelu": gelu, "silu": silu, "swish": silu, "mish": mish, "softsign": softsign,
    "hard_tanh": hard_tanh, "hard_shrink": hard_shrink, "soft_shrink": soft_shrink, "tanh_shrink": tanh_shrink,
    "squareplus": squareplus, "sparse_plus": sparse_plus,
    "hard_sigmoid": hard_sigmoid, "hard_silu": hard_silu, "hard_swish": hard_silu, "log_sigmoid": log_sigmoid,
}  # fmt: skip


def get(identifier: NameOrCallable) -> Callable[..., Tensor]:
    """Return the activation with a name; None is the identity, a function is returned as it is.

    Raises
    ------
    InvalidArgumentError
        If there is none with that name.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.activations.get("relu")([-1.0, 2.0]))
    Tensor([0. 2.], shape=(2,), dtype=float32)
    """
    if identifier is None:
        return linear
    if callable(identifier):
        given: Any = identifier
        return given
    if identifier not in BY_NAME:
        raise InvalidArgumentError(f"unknown activation {identifier!r}. Try one of: {', '.join(BY_NAME)}.")
    return BY_NAME[identifier]
