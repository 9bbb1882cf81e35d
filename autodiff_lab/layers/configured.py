"""Settings as a dict, from which losses, initializers and schedules can be recreated."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Iterable, Mapping
from typing import Any, Self

from autodiff_lab.absent import ARGUMENTS
from autodiff_lab.errors import InvalidArgumentError


class Configured:
    """Base of classes that keep each constructor argument as an attribute of that name.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.losses.Huber(delta=2.0).get_config()
    {'delta': 2.0, 'reduction': 'sum_over_batch_size', 'name': 'huber', 'dtype': None}
    """

    def __repr__(self) -> str:
        return written(self, {k: v for k, v in self.get_config().items() if v is not None})

    def get_config(self) -> dict[str, Any]:
        """Return the settings from which an equal object can be made."""
        return {name: getattr(self, name) for name in _settings(type(self))}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Self:
        """Make an object from the settings of another."""
        return cls(**config)


def written(value: Any, settings: Mapping[str, Any]) -> str:
    """Return how an object would be made in a program; functions stand under their names.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.optimizers.SGD(0.1, momentum=0.9), lab.losses.MeanSquaredError(name="mine")
    (SGD(learning_rate=0.1, momentum=0.9), MeanSquaredError(reduction='sum_over_batch_size', name='mine'))
    """
    parts = [f"{name}={getattr(setting, '__name__', None) or repr(setting)}" for name, setting in settings.items()]
    return f"{type(value).__name__}({', '.join(parts)})"


def made_from(identifier: Any, table: Mapping[str, type], kind: str, names: Iterable[str]) -> Any:
    """Return the object that a name, or a dict of class name and settings, stands for; others are returned as they are.

    Raises
    ------
    InvalidArgumentError
        If the table has no class of that name.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> made_from("huber", {"huber": lab.losses.Huber}, "loss", ["huber"]).delta
    1.0
    """
    if isinstance(identifier, type):
        return identifier()
    if identifier is None or callable(identifier):
        return identifier
    settings = identifier.get("config", {}) if isinstance(identifier, dict) else {}
    cls = table.get(str(identifier.get("class_name") if isinstance(identifier, dict) else identifier))
    if cls is None:
        raise InvalidArgumentError(f"unknown {kind} {identifier!r}. Try one of: {', '.join(names)}.")
    return cls(**settings)


class Remembering:
    """Base of classes that remember the arguments of their constructor, for `get_config`.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.metrics.TopKCategoricalAccuracy(3).get_config()
    {'k': 3}
    """

    _given: tuple[tuple[Any, ...], dict[str, Any]] = ((), {})
    """The arguments of the constructor."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        """Make an object that remembers its arguments."""
        if kwargs:
            _check_misspelt(cls, len(args), kwargs)
        made = super().__new__(cls)
        made._given = (args, kwargs)
        return made

    def __repr__(self) -> str:
        return written(self, arguments(type(self), *self._given))

    def _repr_html_(self) -> str:
        from autodiff_lab.exploring.cards import html_of

        return html_of(self)

    def get_config(self) -> dict[str, Any]:
        """Return the arguments from which an equal object, with a state of its own, can be made."""
        return arguments(type(self), *self._given)

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Self:
        """Make an object from the settings of another."""
        return cls(**config)


def arguments(cls: type, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a constructor by name.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> arguments(lab.losses.Huber, (2.0,), {"name": "mine"})
    {'delta': 2.0, 'name': 'mine'}
    """
    bound = inspect.signature(cls.__init__).bind_partial(None, *args, **kwargs)
    found = dict(list(bound.arguments.items())[1:])
    for parameter in inspect.signature(cls.__init__).parameters.values():
        if parameter.kind is parameter.VAR_KEYWORD:
            found.update(found.pop(parameter.name, {}))
    return found


def unexpected(cls: type, argument: str, names: Iterable[str] = ()) -> TypeError:
    """Return the error for an argument that a constructor does not have, with the name it is closest to.

    `names` are those that it has beside the ones in its signature.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.layers.Dense(3, activatoin="relu")
    Traceback (most recent call last):
        ...
    TypeError: Dense.__init__() got an unexpected keyword argument 'activatoin'. Did you mean 'activation'?
    """
    close = difflib.get_close_matches(argument, [*_settings(cls), *names], 1)
    hint = f". Did you mean {close[0]!r}?" if close else ""
    if argument in ARGUMENTS:
        hint = f". Try {ARGUMENTS[argument]}."
    return TypeError(f"{cls.__name__}.__init__() got an unexpected keyword argument {argument!r}{hint}")


def _check_misspelt(cls: type, count: int, given: Mapping[str, Any]) -> None:
    """Raise if a required argument is missing and another is close to it, before Python reports only the first."""
    parameters = list(inspect.signature(cls.__init__).parameters.values())[1:]
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return
    named = {p.name for p in parameters if p.kind is not p.VAR_KEYWORD}
    missing = [
        p.name for p in parameters[count:]
        if p.name in named and p.default is p.empty and p.name not in given
    ]  # fmt: skip
    for argument in given if missing else ():
        if argument not in named and difflib.get_close_matches(argument, missing, 1):
            raise unexpected(cls, argument)


def _settings(cls: type) -> list[str]:
    """Return the argument names of a class's constructor, and of those that it passes its arguments on to."""
    found: dict[str, None] = {}
    for base in cls.__mro__:
        if "__init__" not in vars(base) or base is object:
            continue
        parameters = list(inspect.signature(base.__init__).parameters.values())[1:]
        found.update((p.name, None) for p in parameters if p.kind is not p.VAR_KEYWORD)
        if all(p.kind is not p.VAR_KEYWORD for p in parameters):
            break
    return list(found)
