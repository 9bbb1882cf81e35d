"""Functions and classes that are declared differentiable, and derivatives declared for them."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, Generic, ParamSpec, TypeAlias, TypeVar, overload

from autodiff_lab.engine import nest
from autodiff_lab.engine.convert import convert
from autodiff_lab.errors import InvalidArgumentError
from autodiff_lab.events.listener import sinks_now
from autodiff_lab.transforms.custom import custom_gradient

C = TypeVar("C")
P = ParamSpec("P")
R = TypeVar("R")
_Pair: TypeAlias = tuple[R, Callable[..., object]]
_INSIDE: ContextVar[tuple[Any, ...]] = ContextVar("autodiff_lab_inside_derivative", default=())
"""Functions whose declared derivative is running: called from there, they run as they are."""


class DifferentiableFunction(Generic[P, R]):
    """A function for which a derivative can be declared with `derivative`.

    Outside every tape it runs as it is; inside one, the tape keeps its declared derivative.
    """

    def __init__(self, function: Callable[P, R]) -> None:
        functools.update_wrapper(self, function)
        self._function: Callable[..., Any] = function
        self._vjp: Callable[..., Any] | None = None

    def __call__(self, *arguments: P.args, **options: P.kwargs) -> R:
        """Compute the function's value; inside a tape, with the declared derivative."""
        tensors = [convert(a) if isinstance(a, (int, float)) else a for a in arguments]
        inside = _INSIDE.get()
        if self._vjp is None or self in inside or not sinks_now():
            return self._function(*tensors, **options)
        token = _INSIDE.set((*inside, self))
        try:
            return self._vjp(*tensors, **options)
        finally:
            _INSIDE.reset(token)

    def declare(self, vjp: Callable[..., Any]) -> None:
        """Use `vjp`, which returns the value and a pullback, as the derivative."""
        self._vjp = custom_gradient(vjp)


@overload
def differentiable(target: type[C]) -> type[C]: ...  # pyright: ignore[reportOverlappingOverload]
@overload
def differentiable(target: Callable[P, R]) -> DifferentiableFunction[P, R]: ...
def differentiable(target: Any) -> Any:
    """Declare a function or a dataclass differentiable.

    Parameters
    ----------
    target : callable or dataclass
        A function may then be given a derivative with ``@derivative(of=function)``.  A dataclass becomes a structure
        whose fields are differentiated: gradients with respect to an instance are instances.

    Returns
    -------
    DifferentiableFunction, or the class itself

    Raises
    ------
    InvalidArgumentError
        If it is a class but not a dataclass.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> from dataclasses import dataclass
    >>> @lab.differentiable
    ... @dataclass
    ... class Point:
    ...     x: object
    ...     y: object
    >>> grad = lab.gradient(lambda p: p.x * p.x + 3.0 * p.y)(Point(lab.constant(2.0), lab.constant(5.0)))
    >>> float(grad.x), float(grad.y)
    (4.0, 3.0)
    """
    if not isinstance(target, type):
        return DifferentiableFunction(target)
    if not dataclasses.is_dataclass(target):
        raise InvalidArgumentError(
            f"differentiable: the class {target.__name__} is not a dataclass. Put @dataclasses.dataclass below "
            "@lab.differentiable."
        )
    names = [f.name for f in dataclasses.fields(target)]

    def flatten(value: Any) -> tuple[Any, ...]:
        return [getattr(value, name) for name in names], None, names

    def unflatten(_: Any, children: Any) -> Any:
        return target(**dict(zip(names, children, strict=True)))

    nest.register(target, flatten, unflatten)
    return target


def derivative(of: DifferentiableFunction[P, R]) -> Callable[[Callable[P, _Pair[R]]], Callable[P, _Pair[R]]]:
    """Declare the derivative of a function that was made by `differentiable`.

    The decorated function takes the same arguments and returns a pair: the value, and a pullback from the value's
    cotangent to the arguments' cotangents.  Calling the original inside it runs the original.

    Raises
    ------
    InvalidArgumentError
        If `of` was not declared differentiable.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> @lab.differentiable
    ... def third_power(x):
    ...     return lab.constant(float(x) ** 3)
    >>> @lab.derivative(of=third_power)
    ... def third_power_derivative(x):
    ...     return third_power(x), lambda v: v * 3.0 * x * x
    >>> print(lab.gradient(third_power)(2.0))
    Tensor(12.0, shape=(), dtype=float32)
    """
    if not isinstance(of, DifferentiableFunction):
        name = getattr(of, "__name__", repr(of))
        raise InvalidArgumentError(
            f"derivative: {name} is not declared differentiable. Put @lab.differentiable above it first."
        )

    def declare(vjp: Callable[P, _Pair[R]]) -> Callable[P, _Pair[R]]:
        of.declare(vjp)
        return vjp

    return declare


def differentiable_function(vjp: Callable[P, tuple[R, Callable[..., object]]]) -> Callable[P, R]:
    """Make a differentiable function directly from its VJP.

    Parameters
    ----------
    vjp : callable
        Returns the value and a pullback; with several arguments the pullback gives a tuple.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> f = lab.differentiable_function(lambda x: (x * x, lambda v: v * 100.0))
    >>> float(f(3.0)), float(lab.gradient(f)(3.0))
    (9.0, 100.0)
    """
    return custom_gradient(vjp)
