"""Initializers by name: what `kernel_initializer="ones"` means, and their serialized form."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.errors import InvalidArgumentError
from autodiff_lab.layers.initializers import (
    Constant,
    GlorotNormal,
    GlorotUniform,
    HeNormal,
    HeUniform,
    Identity,
    Initializer,
    LecunNormal,
    LecunUniform,
    Ones,
    Orthogonal,
    RandomNormal,
    RandomUniform,
    TruncatedNormal,
    VarianceScaling,
    Zeros,
)

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import NameOrCallable

_CLASSES: dict[str, type[Initializer]] = {
    cls.__name__: cls
    for cls in (
        Zeros, Ones, Constant, RandomNormal, RandomUniform, TruncatedNormal, VarianceScaling, Orthogonal, Identity,
        GlorotUniform, GlorotNormal, HeUniform, HeNormal, LecunUniform, LecunNormal,
    )
}  # fmt: skip
_BY_NAME = {re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower(): cls for name, cls in _CLASSES.items()}
_KNOWN = _BY_NAME | _CLASSES


def get(identifier: NameOrCallable) -> Callable[..., Tensor]:
    """Return the initializer for a name or a dict made by `serialize`; an initializer is returned as it is.

    Raises
    ------
    InvalidArgumentError
        If there is none with that name.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.initializers.get("ones")((2,)))
    Tensor([1. 1.], shape=(2,), dtype=float32)
    """
    if isinstance(identifier, type):
        return identifier()
    if callable(identifier):
        given: Any = identifier
        return given
    if isinstance(identifier, dict):
        return deserialize(identifier)
    if not isinstance(identifier, str) or identifier not in _KNOWN:
        raise InvalidArgumentError(f"unknown initializer {identifier!r}. Try one of: {', '.join(_BY_NAME)}.")
    return _KNOWN[identifier]()


def serialize(initializer: Initializer) -> dict[str, object]:
    """Return an initializer as a dict of its class name and its settings.

    Raises
    ------
    InvalidArgumentError
        If it is not one of this package.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.initializers.serialize(lab.initializers.Constant(2.0))
    {'class_name': 'Constant', 'config': {'value': 2.0}}
    """
    if type(initializer) not in _CLASSES.values():
        raise InvalidArgumentError(f"serialize: {initializer!r} is not an initializer of this package.")
    return {"class_name": type(initializer).__name__, "config": initializer.get_config()}


def deserialize(config: object, custom_objects: dict[str, object] | None = None) -> Callable[..., Tensor]:
    """Return the initializer described by a dict or a name: this package's own, and those of `custom_objects`.

    Raises
    ------
    InvalidArgumentError
        If there is none with that name, or a setting is unknown.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> again = lab.initializers.deserialize({"class_name": "Constant", "config": {"value": 2.0}})
    >>> print(again((2,)))
    Tensor([2. 2.], shape=(2,), dtype=float32)
    """
    if not isinstance(config, dict):
        given: Any = config
        return get(given)
    cls: Any = {**_CLASSES, **(custom_objects or {})}.get(str(config.get("class_name")))
    if cls is None:
        raise InvalidArgumentError(
            f"deserialize: unknown class_name {config.get('class_name')!r}. Try one of: {', '.join(_CLASSES)}."
        )
    settings: Any = config.get("config") or {}
    unknown = sorted(set(settings) - set(inspect.signature(cls).parameters))
    if unknown:
        raise InvalidArgumentError(f"deserialize: {cls.__name__} has no setting {unknown[0]!r}.")
    return cls.from_config(settings)
