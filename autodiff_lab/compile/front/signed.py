"""Compiled functions with an `input_signature`: each call is checked against it, and values are converted to it.

Arguments are brought into one form before the call goes on as any other: keywords become positions, and what is not a
tensor yet becomes one of the dtype that the signature names.  So equal calls have equal keys.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from autodiff_lab.compile.front.function import Function
from autodiff_lab.engine import nest
from autodiff_lab.engine.convert import convert_to_tensor
from autodiff_lab.engine.dtypes import as_dtype
from autodiff_lab.engine.shape import TensorShape
from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.engine.variable import Variable
from autodiff_lab.errors import ConversionError, DtypeMismatch, InvalidArgumentError, NotCallable, ShapeMismatch

_FREE = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


class Signed(Function):
    """A compiled function that takes arguments of one description; made by ``function(input_signature=...)``.

    Attributes
    ----------
    input_signature : tuple
        The description of each argument.
    """

    __slots__ = ("_lacking", "_plain", "_skipped", "_takes", "input_signature")

    def __init__(self, function: Callable[..., Any], backend: str, signature: Any, fixed: bool = False) -> None:
        super().__init__(function, backend)
        if not isinstance(signature, (list, tuple)):
            raise InvalidArgumentError(
                f"function: input_signature must be a list or tuple with an entry for each argument, got {signature!r}."
            )
        self.input_signature = tuple(signature)
        try:
            parameters = list(inspect.signature(function).parameters.values())
        except (TypeError, ValueError):
            raise NotCallable(
                f"function: the parameters of {self._name} are unknown, so they cannot be described."
            ) from None
        self._skipped = int(bool(parameters) and parameters[0].name == "self")  # the object of a method
        self._takes = _described(self._name, parameters[self._skipped :], self.input_signature, fixed)
        kinds = [kind for _, kind in self._takes]
        self._plain = kinds if all(isinstance(kind, _Tensor) for kind in kinds) else None
        self._lacking = inspect.Signature([
            inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=kind.value)
            if isinstance(kind, _Fixed) else inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD)
            for name, kind in self._takes
        ])  # fmt: skip

    def __call__(self, *args: Any, **kwargs: Any) -> Any:  # noqa: D102 - see the class
        return super().__call__(*self._fitted(args, kwargs)[0])

    def _fitted(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        own, rest = args[: self._skipped], args[self._skipped :]
        plain = self._plain
        if kwargs or plain is None or len(rest) != len(plain) or not all(map(_Tensor.fits, plain, rest)):
            try:
                bound = self._lacking.bind(*rest, **kwargs)
            except TypeError as error:
                raise TypeError(f"{self._name}() {error}; its input_signature has {self._listed()}") from None
            bound.apply_defaults()
            rest = tuple(
                _taken(kind, bound.arguments[name], f"{self._name}: argument {name!r}") for name, kind in self._takes
            )
        return (*own, *rest), {}

    def _listed(self) -> str:
        return ", ".join(f"{name}: {kind}" for name, kind in self._takes) or "no arguments"


class _Tensor:
    """A parameter that takes a tensor of a shape, in which lengths may be open, and a dtype."""

    __slots__ = ("_held_as", "dtype", "lengths")

    def __init__(self, shape: Any, dtype: Any) -> None:
        shape = TensorShape(shape)
        self.lengths = None if shape.rank is None else tuple(shape)
        self.dtype = as_dtype(dtype)
        self._held_as = self.dtype.dtype

    def fits(self, value: Any) -> bool:
        """Return whether a value is a tensor that can be passed as it is."""
        if value.__class__ is not Tensor:
            return False
        array = value._held
        return array.dtype == self._held_as and (array.shape == self.lengths or self.has_room(array.shape))

    def has_room(self, shape: tuple[int, ...]) -> bool:
        """Return whether a shape is one of those described."""
        lengths = shape if self.lengths is None else self.lengths
        fits = len(lengths) == len(shape)
        return fits and all(a is None or a == b for a, b in zip(lengths, shape, strict=True))

    def __str__(self) -> str:
        return f"{self.dtype.name} of shape {'any' if self.lengths is None else self.lengths}"


class _Fixed:
    """A parameter that always has the same value, which calls may leave out."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __str__(self) -> str:
        return repr(self.value)


def concrete(function: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Function:
    """Return a function with the signature that arguments, or specs of arguments, have."""
    if isinstance(function, Signed) and not args and not kwargs:
        return function
    bound = inspect.signature(function.python_function).bind(*args, **kwargs)
    bound.apply_defaults()
    if bound.kwargs:
        name = next(iter(bound.kwargs))
        raise InvalidArgumentError(
            f"get_concrete_function: {name!r} of {function._name} is passed by keyword only. Try functools.partial."
        )
    return Signed(function.python_function, function._backend, bound.args, fixed=True)


def _described(name: str, parameters: list[inspect.Parameter], signature: Any, fixed: bool) -> list[tuple[str, Any]]:
    """Return the name of each parameter and what it takes; those behind the signature keep their defaults."""
    found: list[tuple[str, Any]] = []
    waiting = list(signature)
    for parameter in parameters:
        if parameter.kind in _FREE:
            if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
                found += [(f"{parameter.name}_{n}", _kind(spec, fixed)) for n, spec in enumerate(waiting)]
                waiting = []
        elif waiting and parameter.kind is not inspect.Parameter.KEYWORD_ONLY:
            found.append((parameter.name, _kind(waiting.pop(0), fixed)))
        elif parameter.default is parameter.empty:
            raise InvalidArgumentError(
                f"function: input_signature has no entry for {parameter.name!r} of {name}. Try one TensorSpec for each "
                "argument, or a default value."
            )
        elif parameter.kind is not inspect.Parameter.KEYWORD_ONLY:
            found.append((parameter.name, _Fixed(parameter.default)))
    if waiting:
        raise InvalidArgumentError(
            f"function: input_signature has {len(signature)} entries, but {name} takes {len(parameters)} arguments."
        )
    return found


def _kind(described: Any, fixed: bool) -> Any:
    """Return what a parameter takes: a tensor, a structure, or, if `fixed`, one value."""
    leaves, rebuild = nest.flatten(described, leaf=_is_spec)
    return rebuild([_leaf(spec, fixed) for spec in leaves])


def _is_spec(value: Any) -> bool:
    return isinstance(getattr(value, "shape", None), tuple) and hasattr(value, "dtype")


def _leaf(spec: Any, fixed: bool) -> Any:
    if _is_spec(spec):
        return _Tensor(spec.shape, spec.dtype)
    if fixed:
        return _Fixed(spec)
    raise InvalidArgumentError(
        f"function: input_signature must hold lab.TensorSpec objects, or structures of them, got {spec!r}."
    )


def _taken(kind: Any, value: Any, where: str) -> Any:
    """Return the value to pass for an argument.

    Raises
    ------
    ShapeMismatch, DtypeMismatch, ConversionError
        If it is a tensor of another shape or dtype, or does not become one.
    InvalidArgumentError
        If a structure has other parts, or a fixed value is another one.
    """
    if isinstance(kind, _Tensor):
        return _tensor(kind, value, where)
    if isinstance(kind, _Fixed):
        if value is kind.value or (type(value) is type(kind.value) and value == kind.value):
            return kind.value
        raise InvalidArgumentError(f"{where} is fixed to {kind.value!r} by the input_signature, got {value!r:.80}.")
    if isinstance(kind, Mapping):
        if not isinstance(value, Mapping) or set(value) != set(kind):
            raise InvalidArgumentError(
                f"{where} must be a dict with the keys {', '.join(map(repr, kind))}, got "
                + (f"the keys {', '.join(map(repr, value))}." if isinstance(value, Mapping) else f"{value!r:.80}.")
            )
        return {key: _taken(item, value[key], f"{where}[{key!r}]") for key, item in kind.items()}
    if not isinstance(value, (list, tuple)) or len(value) != len(kind):
        raise InvalidArgumentError(f"{where} must be a {type(kind).__name__} of {len(kind)}, got {value!r:.80}.")
    items = [_taken(item, part, f"{where}[{n}]") for n, (item, part) in enumerate(zip(kind, value, strict=True))]
    return type(kind)(*items) if hasattr(kind, "_fields") else type(kind)(items)


def _tensor(kind: _Tensor, value: Any, where: str) -> Any:
    """Return a tensor, or a variable, that is described; other values are converted."""
    given = value
    if not isinstance(value, (Tensor, Variable)):
        try:
            value = convert_to_tensor(value, kind.dtype)
        except DtypeMismatch:
            value = convert_to_tensor(value)  # a list of tensors, which are not cast
        except ConversionError as error:
            raise ConversionError(f"{where} must be {kind}, got {given!r:.80}: {error}") from None
    if value.dtype != kind.dtype:
        raise DtypeMismatch(
            f"{where} must be {kind}, got {value.dtype.name} of shape {value._held.shape}. Try "
            f"lab.cast(x, lab.{kind.dtype.name})."
        )
    if not kind.has_room(value._held.shape):
        raise ShapeMismatch(f"{where} must be {kind}, got shape {value._held.shape}.")
    return value
