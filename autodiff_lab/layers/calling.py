"""Prepare the arguments of a layer for its `call`: dtypes, and whether it trains."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, NamedTuple

import numpy as np

from autodiff_lab.engine.convert import alone, contains_tensor, convert, convert_to_tensor
from autodiff_lab.engine.dtypes import public
from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.engine.variable import Variable
from autodiff_lab.errors import ShapeMismatch, UnimplementedError
from autodiff_lab.ops.array.casting import cast

TRAINING: ContextVar[Any] = ContextVar("training", default=None)
"""The value of `training` inside the innermost `call`; None outside all calls, and where it is not given."""


class Wants(NamedTuple):
    """Whether a `call` has a parameter `training`, its position after the input, and its default."""

    training: bool
    position: int
    default: Any


@functools.lru_cache(maxsize=1024)
def wanted(call: Callable[..., Any]) -> Wants:
    """Return what the `call` of a layer's class takes; looked up once per class.

    Examples
    --------
    >>> wanted(lambda self, x, mask=None, training=False: x)
    Wants(training=True, position=1, default=False)
    """
    names = inspect.signature(call).parameters
    if "training" not in names:
        return Wants(False, -1, None)
    default = names["training"].default
    return Wants(True, list(names).index("training") - 2, None if default is inspect.Parameter.empty else default)


def settle_training(wants: Wants, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return the value of `training` in this call; it stays in `kwargs` only if `call` takes it.

    The caller's value comes first, then that of the surrounding layer, then the default.
    """
    by_position = wants.training and 0 <= wants.position < len(args)
    value = args[wants.position] if by_position else kwargs.pop("training", None)
    if value is None:
        value = TRAINING.get()
    if value is None:
        value = wants.default
    if wants.training and not by_position and value is not None:
        kwargs["training"] = value
    return value


def entered(value: Any, dtype: np.dtype[Any], several: bool | None = None) -> Any:
    """Return the input of a layer as a tensor or a structure of tensors; floats that were not tensors get `dtype`.

    `several` is the layer's: it says what a list stands for.

    Examples
    --------
    >>> import numpy as np
    >>> entered(np.ones(2), np.dtype("float32")).dtype.name
    'float32'
    """
    if isinstance(value, (Tensor, Variable)) or hasattr(value, "__lab_apply__"):
        return value
    if isinstance(value, dict) and several is not False:
        return {key: entered(item, dtype, several) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        if several is not False and (contains_tensor(value) or _inputs(value, several)):
            return type(value)([entered(item, dtype, several) for item in value])
        tensor = convert(value)
        if tensor._held.dtype.kind == "f" and dtype.itemsize > tensor._held.dtype.itemsize:
            tensor = convert_to_tensor(value, public(dtype))  # the full precision of Python
        return fitted(alone(tensor), dtype)
    return fitted(alone(convert(value)), dtype)


def _inputs(values: list[Any] | tuple[Any, ...], several: bool | None) -> bool:
    """Return whether arrays in a list are separate inputs: if the layer says so, or they do not form one array."""
    if not any(hasattr(item, "__array__") for item in values):
        return False
    return bool(several) or len({getattr(item, "shape", None) for item in values}) > 1


def shapes(value: Any) -> Any:
    """Return the shape of a layer's input as a tuple; for a structure of tensors, a structure of shapes.

    Examples
    --------
    >>> shapes({"x": np.ones((2, 3)), "y": [np.ones(1), np.ones(4)]})
    {'x': (2, 3), 'y': [(1,), (4,)]}
    """
    if isinstance(value, dict):
        return {key: shapes(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)) and (contains_tensor(value) or _inputs(value, None)):
        return [shapes(item) for item in value]
    shape = getattr(value, "shape", None)
    return tuple(convert(value).shape if shape is None else shape)


def needs_axes(name: str, shape: Any, form: str) -> None:
    """Check that the input of a layer has axes, and that the length of the last one is known.

    Raises
    ------
    ShapeMismatch
        If the shape has no axis, or the length of its last axis is unknown.

    Examples
    --------
    >>> needs_axes("dense", (2, 3), "(*b, n)")
    """
    if not len(shape):
        raise ShapeMismatch(f"{name}: expected an input {form}, got a scalar.")
    if shape[-1] is None:
        raise ShapeMismatch(
            f"{name}: the last axis needs a length, got shape {tuple(shape)}. Try x.to_tensor() if the input is ragged."
        )


def channels_last(cls: type, data_format: str | None, rank: int = 2) -> None:
    """Check the `data_format` of a layer for images or other grids of `rank` axes.

    Raises
    ------
    UnimplementedError
        If channels are not the last axis.

    Examples
    --------
    >>> channels_last(object, "channels_first")
    Traceback (most recent call last):
        ...
    autodiff_lab.errors.UnimplementedError: object: data_format 'channels_first': only channels last is supported...
    """
    if data_format not in (None, "channels_last"):
        order = (*range(2, rank + 2), 1)
        raise UnimplementedError(
            f"{cls.__name__}: data_format {data_format!r}: only channels last is supported. Try "
            f"lab.layers.Permute({order}) once, before the first layer that sees the channels."
        )


def fitted(value: Any, dtype: np.dtype[Any], floats: bool = True, whole: bool = False) -> Any:
    """Return a tensor or a structure of tensors, cast where they are floats or integers of another dtype."""
    if isinstance(value, (list, tuple)):
        return type(value)([fitted(item, dtype, floats, whole) for item in value])
    if isinstance(value, dict):
        return {key: fitted(item, dtype, floats, whole) for key, item in value.items()}
    if not isinstance(value, (Tensor, Variable)):
        return value
    have = value._held.dtype
    if have == dtype or dtype.kind not in "fV":
        return value
    return cast(value, public(dtype)) if (floats and have.kind in "fV") or (whole and have.kind in "iub") else value


def argument(value: Any, dtype: np.dtype[Any], floats: bool) -> Any:
    """Return a further argument of a layer: arrays and tensors are treated as inputs, everything else is kept."""
    if isinstance(value, (list, tuple)):
        held = any(hasattr(item, "__array__") for item in value)
        return type(value)([argument(item, dtype, floats) for item in value]) if held else value
    return fitted(entered(value, dtype), dtype, floats) if hasattr(value, "__array__") else value


def check_rank(x: Any, rank: int, name: str) -> None:
    """Raise ShapeMismatch unless an input has a batch, `rank` axes, and channels."""
    if x.ndim != rank + 2:
        raise ShapeMismatch(f"{name}: expected an input (b, *{rank} axes, c), got shape {tuple(x.shape)}.")
