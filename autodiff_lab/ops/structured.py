"""Public functions that let an argument handle the call: a ragged or sparse tensor, or a value of a user's class.

The functions that a training loop calls often catch `NotOneTensor` themselves, which costs nothing until it is raised;
all others carry the decorator `structured`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any, TypeVar

from autodiff_lab.engine.convert import handed
from autodiff_lab.engine.tensor import named
from autodiff_lab.errors import NotOneTensor

F = TypeVar("F", bound=Callable[..., Any])
"""A function, whose parameters type checkers keep."""


def elementwise(function: F) -> F:
    """Mark a function as elementwise, and return it."""
    function.elementwise = True  # type: ignore[attr-defined]
    return function


def called(name: str, function: F) -> F:
    """Give a function that a factory made its public name, which tracebacks and refusals of a trace then show."""
    function.__name__ = function.__qualname__ = name
    function.__code__ = function.__code__.replace(co_name=name, co_qualname=name)
    return function


def structured(operands: int = 1, *, by_element: bool = False) -> Callable[[F], F]:
    """Hand a function to the operand that answers for itself, by its method ``__lab_apply__``.

    Parameters
    ----------
    operands : int
        How many of the first arguments are tensors: the ``inputs``; the others, without `name`, are the ``params``.
    by_element : bool
        Whether the function works element by element.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.strings.upper(lab.ragged.constant([["a"], ["b", "c"]]))
    <RaggedTensor [[b'A'], [b'B', b'C']]>
    """

    def decorate(function: F) -> F:
        @wraps(function)
        def run(*arguments: Any, **settings: Any) -> Any:
            try:
                return function(*arguments, **settings)
            except NotOneTensor as met:
                bound = signature(function).bind(*arguments, **settings)
                bound.apply_defaults()
                name = bound.arguments.pop("name", None)
                given = list(bound.arguments.items())
                return named(handed(met, run, tuple(dict(given[:operands]).values()), **dict(given[operands:])), name)

        return elementwise(run) if by_element else run  # type: ignore[return-value]

    return decorate
