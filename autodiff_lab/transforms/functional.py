"""Derivatives of functions: `gradient`, `value_with_gradient`, and pullbacks.

Arguments may be tensors, numbers (those with a point become float32 tensors), structures of them, differentiable
dataclasses, and modules, whose gradient mirrors their attributes.  Unlike with a tape, a function that does not depend
on an argument has derivative zero with respect to it; since that is often a mistake, a warning says so unless
`without_derivative` was used.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, overload

from autodiff_lab.engine import nest
from autodiff_lab.engine.convert import convert
from autodiff_lab.engine.devices import memory_of, zeros_beside
from autodiff_lab.engine.dtypes import DIFFERENTIABLE
from autodiff_lab.engine.indexed_slices import dense
from autodiff_lab.engine.tape import GradientTape
from autodiff_lab.engine.tensor import Tensor, wrap
from autodiff_lab.engine.variable import Variable
from autodiff_lab.errors import InvalidArgumentError
from autodiff_lab.events.listener import tell_made
from autodiff_lab.ops.array.casting import stop_gradient
from autodiff_lab.ops.array.creation import zeros_like
from autodiff_lab.transforms.custom import check_function, check_points, own_point

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import TensorLike

_stops: ContextVar[int] = ContextVar("autodiff_lab_stops", default=0)


def without_derivative(x: TensorLike) -> Tensor:
    """Return the same value, through which no derivative passes, on purpose.

    Shapes: x (*s) -> (*s).  Dtypes: any.  In a tape it acts as `stop_gradient`.

    Raises
    ------
    ConversionError
        If the value is not numeric.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.gradient(lambda x: x * lab.without_derivative(x))(3.0))
    Tensor(3.0, shape=(), dtype=float32)
    """
    _stops.set(_stops.get() + 1)
    return stop_gradient(x)


P = ParamSpec("P")
R = TypeVar("R")


def _only(leaves: list[Any]) -> Any:
    return leaves[0]


class _Argument:
    """One argument of a function: what the function gets, what the tape differentiates, how results are structured."""

    def __init__(self, value: Any) -> None:
        self.module = None
        if type(value) is Tensor:
            self.passed = own_point(value)
            self.sources, self.rebuild = [self.passed], _only
            return
        if hasattr(value, "mirrored"):
            self.module = value
            self.passed, self.sources, self.rebuild = value, [], value.mirrored
            return
        leaves, rebuild = nest.flatten(value)
        self.sources = [leaf if isinstance(leaf, Variable) else own_point(leaf) for leaf in leaves]
        self.passed, self.rebuild = rebuild(self.sources), rebuild

    def settle(self) -> None:
        """Collect the variables of a module once it has run: a layer makes them at its first call."""
        if self.module is not None:
            self.sources = list(self.module.trainable_variables)

    def filled(self, gradients: list[Any]) -> Any:
        """Return gradients in the form of the argument: zeros for None, tensors but for the variables of a module."""
        kept = gradients if self.module is not None else [dense(g) for g in gradients]
        return self.rebuild([zeros_like(s) if g is None else g for g, s in zip(kept, self.sources, strict=True)])


def value_with_pullback(function: Callable[..., R], *arguments: object) -> tuple[R, Callable[[Any], Any]]:
    """Return a function's value and its pullback: the linear map from its cotangents to those of the arguments.

    Parameters
    ----------
    function : callable
        Takes tensors, structures or modules; returns a tensor or a structure of them.
    *arguments
        Where to evaluate it.

    Returns
    -------
    value, pullback
        The pullback can be called any number of times; it returns one cotangent for one argument, a tuple for several.

    Raises
    ------
    ConversionError
        If an argument is not numeric, or all of them are integers.
    InvalidArgumentError
        If a variable is given as two arguments, or the function returns None.

    Notes
    -----
    A tensor that is given as two arguments has a derivative with respect to each, and is a constant where the function
    reads it from outside.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> value, pullback = lab.value_with_pullback(lambda x: x * x, 3.0)
    >>> float(value), float(pullback(1.0)), float(pullback(10.0))
    (9.0, 6.0, 60.0)
    """
    value, pull = _evaluated("value_with_pullback", function, arguments, persistent=True)

    def pullback(cotangent: Any) -> Any:
        return pull(convert(cotangent, value) if isinstance(value, Tensor) else cotangent)  # a list is one cotangent

    return value, pullback


def _evaluated(
    what: str, function: Callable[..., Any], arguments: tuple[Any, ...], *, persistent: bool
) -> tuple[Any, Callable[[Any], Any]]:
    """Return a function's value, and what returns the cotangents of its arguments for one of its value, None for ones.

    Unless `persistent`, that can be called once.
    """
    check_function(function, what)
    given = [_Argument(a) for a in arguments]
    if all(argument.module is None for argument in given):
        sources = [source for argument in given for source in argument.sources]
        check_points(sources, "gradient")
        _check_variables([source for source in sources if isinstance(source, Variable)])
    stops = _stops.get()
    with GradientTape(persistent=persistent) as tape:
        for argument in given:
            tape.watch(argument.sources)
        value = function(*[argument.passed for argument in given])
    if value is None:
        raise InvalidArgumentError(
            f"gradient: {getattr(function, '__name__', 'the function')} returned None. Does it end without return?"
        )
    for argument in given:
        argument.settle()
    silent = _stops.get() != stops

    def pull(cotangent: Any) -> Any:
        sources = [argument.sources for argument in given]
        found = tape.gradient(value, sources, output_gradients=cotangent)
        if not silent:
            _warn_of_zeros(function, sources, found)
        filled = [argument.filled(row) for argument, row in zip(given, found, strict=True)]
        return filled[0] if len(filled) == 1 else tuple(filled)

    return value, pull


def _check_variables(variables: list[Variable]) -> None:
    """Raise an error for a variable that is given twice: what the function reads of it is one value."""
    for k, v in enumerate(variables):
        if any(v is other for other in variables[:k]):
            raise InvalidArgumentError(
                f"gradient: variable {v.name!r} is given as two arguments, whose derivatives cannot be told apart. Try "
                "lab.identity(variable) for one of them."
            )


def _warn_of_zeros(function: Callable[..., Any], sources: list[list[Any]], found: list[list[Any]]) -> None:
    for position, (points, row) in enumerate(zip(sources, found, strict=True)):
        if any(point._held.dtype in DIFFERENTIABLE for point in points) and all(g is None for g in row):
            name = getattr(function, "__name__", "the function")
            warnings.warn(
                f"The derivative of {name} with respect to argument {position + 1} is always zero: no path of ops "
                "leads from the value to it. If that is intended, say so with lab.without_derivative.",
                UserWarning,
                stacklevel=4,
            )


def pullback(function: Callable[..., object], *arguments: object) -> Callable[[Any], Any]:
    """Return only the pullback of a function; see `value_with_pullback`.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> back = lab.pullback(lambda x: x * [3.0, 4.0], 2.0)
    >>> float(back([1.0, 1.0])), float(back([10.0, 1.0]))
    (7.0, 34.0)
    """
    return value_with_pullback(function, *arguments)[1]


def _ones(value: Any) -> Any:
    """Return cotangents of one for a value, or None, which stands for that, if it is a real tensor."""
    if type(value) is Tensor and value._held.dtype.kind == "f":
        return None
    leaves, rebuild = nest.flatten(value)
    return rebuild([tell_made(wrap(_unit(convert(leaf)._held))) for leaf in leaves])


def _unit(array: Any) -> Any:
    if memory_of(array) is not None:
        return zeros_beside(array, array.shape, 1)
    return (array * 0 + 1).astype(array.dtype)[()] if array.ndim else array.dtype.type(1)


@overload
def value_with_gradient(function: Callable[[Tensor], R]) -> Callable[[TensorLike], tuple[R, Tensor]]: ...
@overload
def value_with_gradient(function: Callable[P, R]) -> Callable[P, tuple[R, Any]]: ...
def value_with_gradient(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that computes another function's value and gradient together.

    Several elements of the value are summed.  One argument gives one gradient, several give a tuple.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> value, grad = lab.value_with_gradient(lambda x: x ** 2)(3.0)
    >>> float(value), float(grad)
    (9.0, 6.0)
    """

    @functools.wraps(function)
    def evaluate(*arguments: Any) -> tuple[Any, Any]:
        value, pull = _evaluated("value_with_gradient", function, arguments, persistent=False)
        return value, pull(_ones(value))

    return evaluate


@overload
def gradient(function: Callable[[Tensor], object]) -> Callable[[TensorLike], Tensor]: ...
@overload
def gradient(function: Callable[P, object]) -> Callable[P, Any]: ...
def gradient(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the gradient function of a function.

    Several elements of the value are summed.  One argument gives one gradient, several give a tuple.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> [float(g) for g in lab.gradient(lambda x, y: x * y)(3.0, 4.0)]
    [4.0, 3.0]
    """

    @functools.wraps(function)
    def derivative(*arguments: Any) -> Any:
        value, pull = _evaluated("gradient", function, arguments, persistent=False)
        return pull(_ones(value))

    return derivative
