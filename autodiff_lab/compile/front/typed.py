"""How type checkers see a compiled function: with the parameters and the result of the Python function."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, Protocol, Self, TypeVar, overload

if TYPE_CHECKING:
    from autodiff_lab.compile.front.function import Function

P = ParamSpec("P")
R = TypeVar("R")
_Rest = ParamSpec("_Rest")


class Typed(Generic[P, R]):
    """The base of `Function`, which binds it to an instance where a method is compiled."""

    __slots__ = ()

    @overload
    def __get__(self, instance: None, owner: Any = None) -> Self: ...
    @overload
    def __get__(self: Typed[Concatenate[Any, _Rest], R], instance: object, owner: Any = None) -> Callable[_Rest, R]: ...
    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)  # type: ignore[arg-type]


class Decorator(Protocol):
    """What `function` with options alone returns."""

    def __call__(self, python_function: Callable[P, R], /) -> Function[P, R]:
        """Compile a function."""
        ...
