"""Activations by name: what `activation="relu"` means."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.errors import InvalidArgumentError
from autodiff_lab.ops.math.exponential import exp as exponential
from autodiff_lab.ops.math.trigonometric import tanh
from autodiff_lab.ops.nn.activations import log_softmax, relu, sigmoid, softmax, softplus


def linear(x: Any) -> Any:
    """X itself.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.activations.linear(3.0)
    3.0
    """
    return x


_BY_NAME: dict[str, Callable[..., Any]] = {
    "linear": linear, "relu": relu, "sigmoid": sigmoid, "tanh": tanh, "softmax": softmax, "softplus": softplus,
    "log_softmax": log_softmax, "exponential": exponential,
}  # fmt: skip


def get(value: Any) -> Callable[[Any], Tensor]:
    """The activation that a name stands for; None is the identity, a function is returned as it is.

    Raises
    ------
    InvalidArgumentError
        If there is none of that name.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.activations.get("relu")([-1.0, 2.0]))
    Tensor([0. 2.], shape=(2,), dtype=float32)
    """
    if value is None:
        return linear
    if callable(value):
        given: Any = value
        return given
    if value not in _BY_NAME:
        raise InvalidArgumentError(f"activation {value!r} is not known. Try one of: {', '.join(_BY_NAME)}.")
    return _BY_NAME[value]
