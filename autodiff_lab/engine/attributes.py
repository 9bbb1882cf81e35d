"""Messages for attributes and names that tensors do not have: where to find the same thing here.

Habits of NumPy and of other frameworks are listed in `absent.tensors`; tensors have no methods such as ``mean`` on
purpose, see `tensor`.
Each is a descriptor that raises AttributeError, so that `hasattr` is False; a ``__getattr__`` would make every
attribute of every tensor slower.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from autodiff_lab.absent.tensors import TENSORS
from autodiff_lab.errors import InvalidArgumentError


class Elsewhere:
    """An attribute that does not exist; its error says where to find the same thing.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> hasattr(lab.constant(1.0), "mean")
    False
    """

    __slots__ = ("name", "place")

    def __init__(self, name: str, place: str) -> None:
        self.name, self.place = name, place

    def __get__(self, owner: Any, kind: type) -> Any:
        text = f"{kind.__name__!r} object has no attribute {self.name!r}. Try {self.place}."
        raise AttributeError(text, name=self.name, obj=kind if owner is None else owner)

    @staticmethod
    def install(kind: type, habits: Mapping[str, str] = TENSORS) -> None:
        """Install all of them in a class, and hide them from completion."""
        kind_of = Elsewhere if kind.__dictoffset__ else _Unsettable  # a module may have its own `train`
        for name, place in habits.items():
            if not hasattr(kind, name):
                setattr(kind, name, kind_of(name, place))

        listed: Any = kind.__dir__

        def offered(self: object) -> list[str]:
            return [name for name in listed(self) if not isinstance(vars(kind).get(name), Elsewhere)]

        setattr(kind, "__dir__", offered)  # noqa: B010


class _Unsettable(Elsewhere):
    """One of a class whose objects take no new attributes: ``x.requires_grad = True`` has the same error."""

    __slots__ = ()

    def __set__(self, owner: Any, value: object) -> None:
        self.__get__(owner, type(owner))


def check_name(name: object) -> None:
    """Raise an error for a name of a tensor that is none: an argument too many, as in ``lab.reshape(x, 3, 2)``.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.reshape(lab.ones(6), 6, 1)
    Traceback (most recent call last):
        ...
    autodiff_lab.errors.InvalidArgumentError: name must be a string, got 1. A shape, a permutation or several axes ...
    """
    if not isinstance(name, str):
        raise InvalidArgumentError(
            f"name must be a string, got {name!r:.80}. A shape, a permutation or several axes are one argument: try a "
            "list, such as lab.reshape(x, [3, 2])."
        )


def users_names(value: Any) -> list[str]:
    """Return what completion offers of an object: all but the names in ``_hidden``, which the package itself uses.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> [name for name in dir(lab.GradientTape()) if name.startswith("r")]
    ['reset']
    """
    return sorted(name for name in object.__dir__(value) if name not in value._hidden)
