"""Models made from configurations, with weights of their own: `from_config`, `clone_model`, `model_from_json`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from autodiff_lab.errors import InvalidArgumentError
from autodiff_lab.layers.model import Model
from autodiff_lab.layers.sequential import Sequential
from autodiff_lab.training.saving import Reader


def made_from_config(cls: type, config: dict[str, Any], custom: Mapping[str, Any] | None) -> Any:
    """Return the model that `config_of` described; None if it is a configuration of another kind."""
    if "calls" not in config and not (cls is Sequential and "layers" in config):
        return None
    return Reader({**(custom or {}), cls.__name__: cls}).object({"class_name": cls.__name__, "config": config})


def model_from_json(json_string: str, custom_objects: Mapping[str, Any] | None = None) -> Any:
    """Return the model that `to_json` described, with weights of its own.

    Raises
    ------
    InvalidArgumentError
        If the text is something else, or names a class that is not in `custom_objects`.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> text = lab.Sequential([lab.layers.Dense(3)]).to_json()
    >>> lab.keras.models.model_from_json(text).layers[0].units
    3
    """
    try:
        found = json.loads(json_string)
        name, config = str(found["class_name"]), dict(found["config"])
    except (ValueError, TypeError, KeyError):
        raise InvalidArgumentError("model_from_json: the text is not what model.to_json() returns.") from None
    cls = Reader(custom_objects or {}).known.get(name)
    if cls is None:
        raise InvalidArgumentError(f"model_from_json: unknown class {name!r}. Try custom_objects={{{name!r}: {name}}}.")
    return cls.from_config(config, custom_objects) if issubclass(cls, Model) else cls.from_config(config)


def clone_model(model: Any) -> Any:
    """Return a model with the same layers and calls, and weights of its own.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> model = lab.Sequential([lab.layers.Dense(3)])
    >>> lab.keras.models.clone_model(model).layers[0] is model.layers[0]
    False
    """
    return type(model).from_config(model.get_config())
