"""Derivatives that a user writes: `custom_gradient`, and rules registered by name."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from autodiff_lab.engine import nest
from autodiff_lab.engine.apply import record_application
from autodiff_lab.engine.convert import convert
from autodiff_lab.engine.devices import as_the_user
from autodiff_lab.engine.op import REGISTRY, UNREGISTERED, Op
from autodiff_lab.engine.tensor import Tensor, wrap
from autodiff_lab.errors import InvalidArgumentError
from autodiff_lab.events import sinks_now
from autodiff_lab.ops.math.complex_numbers import handed_back, handed_over


def custom_gradient(function: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a function that returns its value and its own gradient function.

    Parameters
    ----------
    function : callable
        Takes tensors; returns ``value, gradient`` where `gradient` takes the cotangent of each output and returns one
        cotangent for each argument.

    Returns
    -------
    callable
        Gives the value; in a tape it is one entry with this gradient.

    Raises
    ------
    InvalidArgumentError
        If the function does not return a pair, or its gradient gives another number of cotangents.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> @lab.custom_gradient
    ... def clipped(x):
    ...     return lab.identity(x), lambda upstream: lab.minimum(upstream, 1.0)
    >>> x = lab.Variable(3.0)
    >>> with lab.GradientTape() as tape:
    ...     y = clipped(x) * 100.0
    >>> print(tape.gradient(y, x))
    Tensor(1.0, shape=(), dtype=float32)
    """
    name = getattr(function, "__name__", "custom_gradient")

    @functools.wraps(function)
    def apply(*args: Any, **kwargs: Any) -> Any:
        ins = tuple(convert(a) for a in args)
        # The body is recorded, though the result does not hang on it: what the gradient function takes from the body
        # must have a derivative when the gradient is differentiated in turn.
        result = function(*ins, **kwargs)
        if not isinstance(result, tuple) or len(result) != 2 or not callable(result[1]):
            raise InvalidArgumentError(
                f"custom_gradient: {name} must return a pair, its value and a gradient function; "
                f"it returned a {type(result).__name__}."
            )
        value, gradient = result
        leaves, rebuild = nest.flatten(value)
        outs = tuple(wrap(convert(leaf)._array) for leaf in leaves)
        op = Op(
            name,
            function,
            _rule(name, gradient, len(ins)),
            None,
            symbol=name,
            latex=_latex(name, len(ins)),
            locals_latex=("?",) * len(ins),
            sentence=f"runs {name}, which has a gradient of its own",
            stacked=False,
        )
        sinks = sinks_now()
        if sinks:
            record_application(sinks, op, outs[0] if len(outs) == 1 else outs, ins, {})
        return rebuild(list(outs))

    return apply


def grad_pass_through(function: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a function whose derivative is taken to be 1: the cotangent of its value goes to its argument as it is.

    Known as the straight-through estimator, for steps that shall not stop a gradient.

    Parameters
    ----------
    function : callable
        Of as many arguments as it has values, each of the shape of its value.

    Returns
    -------
    callable

    Raises
    ------
    InvalidArgumentError
        In the backward pass, if there are not as many values as arguments.

    Notes
    -----
    Bengio, Leonard and Courville, "Estimating or propagating gradients through stochastic neurons" (2013).

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> x = lab.Variable(2.7)
    >>> with lab.GradientTape() as tape:
    ...     y = 3.0 * lab.grad_pass_through(lab.floor)(x)
    >>> print(y, tape.gradient(y, x))
    Tensor(6.0, shape=(), dtype=float32) Tensor(3.0, shape=(), dtype=float32)
    """

    @functools.wraps(function)
    def passing(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs), lambda *upstream: list(upstream)

    return custom_gradient(passing)


def _latex(name: str, count: int) -> str:
    places = ", ".join(f"{{{i}}}" for i in range(count))
    return rf"\operatorname{{{{{name.replace('_', ' ')}}}}}({places})"


def _rule(name: str, gradient: Callable[..., Any], count: int) -> Callable[..., Any]:
    """A user's gradient function as a rule: it takes and gives tensors whatever the sweep runs on."""

    def rule(ops: Any, g: Any, out: Any, *inputs: Any, need: tuple[int, ...]) -> list[Any]:
        upstream = g if isinstance(g, list) else [g]
        with as_the_user():
            shares = gradient(*[handed_over(ops, h) for h in upstream])
        shares = list(shares) if isinstance(shares, (list, tuple)) else [shares]
        if len(shares) != count:
            raise InvalidArgumentError(
                f"custom_gradient: the gradient of {name} gave {len(shares)} cotangents for {count} inputs"
            )
        tensors = [None if shares[i] is None else convert(shares[i]) for i in need]
        return [handed_back(ops, t) for t in tensors]

    return rule


class RegisterGradient:
    """Decorate a function that gives the gradient of a registered op which has none.

    The function takes the application, with `inputs` and `outputs`, and the cotangent of each output; it returns one
    cotangent for each input.

    Parameters
    ----------
    op_type : str
        The op's name.

    Raises
    ------
    KeyError
        If the op has a gradient already.
    LookupError
        If there is no such op.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> try:
    ...     lab.RegisterGradient("Mul")(lambda op, upstream: (upstream, upstream))
    ... except KeyError as error:
    ...     print(error.args[0])
    Registering two gradients with name 'Mul'! There is one already.
    """

    def __init__(self, op_type: str) -> None:
        self._op_type = op_type

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Register the function; it is returned unchanged."""
        name = self._op_type
        op = next((op for op in REGISTRY.values() if name in (op.name, op.registered)), None)
        if op is None:
            raise LookupError(f"There is no op called {name!r}. Names are in lab.registered_gradients().")
        if op.rules != UNREGISTERED:
            raise KeyError(f"Registering two gradients with name {name!r}! There is one already.")

        def rule(ops: Any, g: Any, out: Any, *inputs: Any, need: tuple[int, ...], **params: Any) -> list[Any]:
            def tensors(values: Any) -> list[Tensor]:
                return [wrap(v) if ops.raw else v for v in values]

            cotangents = [handed_over(ops, h) for h in (g if isinstance(g, list) else [g])]
            application = SimpleNamespace(
                inputs=tensors(inputs),
                outputs=tensors(out if isinstance(out, tuple) else (out,)),
                params=params,
                name=name,
            )
            with as_the_user():
                shares = function(application, *cotangents)
            shares = list(shares) if isinstance(shares, (list, tuple)) else [shares]
            found = [None if shares[i] is None else convert(shares[i]) for i in need]
            return [handed_back(ops, t) for t in found]

        op.rules = rule
        op.stacked = False
        return function
