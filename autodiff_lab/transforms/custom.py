"""Derivatives that a user writes: `custom_gradient`, and rules registered by name."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any, ParamSpec, Protocol, TypeVar, overload

from autodiff_lab.engine import nest
from autodiff_lab.engine.apply import record_application
from autodiff_lab.engine.convert import convert
from autodiff_lab.engine.dtypes import DIFFERENTIABLE, public
from autodiff_lab.engine.namespace import RECORDING
from autodiff_lab.engine.op import REGISTRY, UNREGISTERED, Op
from autodiff_lab.engine.tensor import Tensor, named, wrap
from autodiff_lab.engine.variable import Variable
from autodiff_lab.errors import ConversionError, DtypeMismatch, InvalidArgumentError, NotCallable, ShapeMismatch
from autodiff_lab.events.listener import SINKS, sinks_now
from autodiff_lab.ops.array.casting import cast
from autodiff_lab.ops.math.complex_numbers import handed_back, handed_over


def check_function(f: Any, what: str) -> None:
    """Raise an error for anything that cannot be called.

    Raises
    ------
    NotCallable
        A `TypeError`.
    """
    if not callable(f):
        raise NotCallable(f"{what}: expected a function, got {f!r:.80}.")


def check_points(points: Sequence[Any], what: str) -> None:
    """Raise an error for points at which nothing can be differentiated: there are some, and all hold integers.

    Raises
    ------
    ConversionError
        A `TypeError`.
    """
    if points and not any(point._held.dtype in DIFFERENTIABLE for point in points):
        raise ConversionError(
            f"{what}: derivatives need floating-point numbers, and every argument is {points[0].dtype.name}. Try 3.0 "
            "instead of 3, or lab.cast(x, lab.float32)."
        )


def own_point(value: Any) -> Tensor:
    """Return a value as a tensor of its own, which stands for one argument of a function and for nothing else.

    A tape tells tensors apart, not places in a program: without this, the derivative with respect to an argument would
    include other uses of the same tensor, as another argument or as a constant that the function reads.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> x = lab.constant(3.0)
    >>> [float(g) for g in lab.gradient(lambda a, b: a * b * b * x)(x, x)]
    [27.0, 54.0]
    """
    x = convert(value)
    if x is not value:
        return x
    return named(RECORDING.identity(x) if sinks_now() else wrap(x._held), x.name)


P = ParamSpec("P")
R = TypeVar("R")


class _CustomGradient(Protocol):
    def __call__(self, f: Callable[P, tuple[R, Callable[..., object]]], /) -> Callable[P, R]: ...


class Reads:
    """A sink that only records which variables are read."""

    listens = hears_all = lean = traces = False
    tracked: Any = frozenset()

    def __init__(self) -> None:
        self.reads: dict[Variable, Tensor] = {}

    def note_read(self, variable: Variable, tensor: Tensor) -> None:
        """Note a variable that was read."""
        self.reads[variable] = tensor

    def note(self, event: Any, tensor: Tensor, how: str) -> None:
        """Nothing to remember."""

    def trained(self, but: tuple[Any, ...] = ()) -> list[Variable]:
        """Return the trainable variables that were read, without those that are arguments."""
        return [v for v in self.reads if v.trainable and not any(v is other for other in but)]


@overload
def custom_gradient(f: Callable[P, tuple[R, Callable[..., object]]]) -> Callable[P, R]: ...
@overload
def custom_gradient(f: None = None) -> _CustomGradient: ...
def custom_gradient(f: Callable[..., Any] | None = None) -> Any:
    """Decorate a function that returns its value and its own gradient function.

    Parameters
    ----------
    f : callable, optional
        Without it, a decorator is returned.  Takes tensors, and structures of them; returns ``value, gradient`` where
        `gradient` takes the cotangent of each output and returns one cotangent for each argument.  If the function
        reads trainable variables that are not its arguments, `gradient` also gets the keyword ``variables``, a list of
        them, and returns a pair: the cotangents of the arguments, and a list with one for each variable.  Keyword
        arguments get no gradient.

    Returns
    -------
    callable
        Computes the value; on a tape it is one entry with this gradient.

    Raises
    ------
    InvalidArgumentError
        If the function does not return a pair, or its gradient returns the wrong number of cotangents.
    ShapeMismatch
        In the backward pass, if a cotangent does not have the shape of its argument.
    NotCallable
        A `TypeError`: the function reads variables, and its gradient does not take ``variables``.

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
    >>> weight = lab.Variable(2.0)
    >>> @lab.custom_gradient
    ... def weighed(x):
    ...     def gradient(upstream, variables):
    ...         return upstream * weight, [upstream * x for _ in variables]
    ...     return weight * x, gradient
    >>> with lab.GradientTape() as tape:
    ...     y = weighed(x)
    >>> print(tape.gradient(y, weight))
    Tensor(3.0, shape=(), dtype=float32)
    """
    if f is None:
        return custom_gradient
    check_function(f, "custom_gradient")
    name = getattr(f, "__name__", "custom_gradient")
    if name in REGISTRY:  # what reads a recording looks ops up by name, and would take it for ours
        name = f"custom_{name}"

    @functools.wraps(f)
    def apply(*args: Any, **kwargs: Any) -> Any:
        leaves, rebuild_arguments = nest.flatten(args)
        given = tuple(convert(leaf) for leaf in leaves)
        # The body is recorded, though the result does not depend on it: what the gradient function takes from the body
        # must have a derivative when the gradient is differentiated in turn.
        sinks, found = sinks_now(), Reads()
        SINKS.set((*sinks, found))
        try:
            result = f(*rebuild_arguments(list(given)), **kwargs)
        finally:
            SINKS.set(sinks)
        if not isinstance(result, tuple) or len(result) != 2 or not callable(result[1]):
            raise InvalidArgumentError(
                f"custom_gradient: {name} must return a pair of its value and a gradient function, "
                f"got {type(result).__name__}."
            )
        value, gradient = result
        variables = found.trained(but=tuple(leaves))
        if variables and not _takes_variables(gradient):
            names = ", ".join(v.name for v in variables)
            raise NotCallable(
                f"custom_gradient: {name} reads the variables {names}, so its gradient function must accept keyword "
                "argument 'variables' and return a pair: the cotangents of the arguments, and a list with one for each "
                "variable."
            )
        ins = (*given, *[v.read() for v in variables])
        out_leaves, rebuild = nest.flatten(value)
        outs = tuple(wrap(convert(leaf)._held) for leaf in out_leaves)
        op = Op(
            name,
            f,
            _rule(name, gradient, len(given), variables),
            None,
            symbol=name,
            latex=_latex(name, len(ins)),
            locals_latex=("?",) * len(ins),
            sentence=f"runs {name}, which has its own gradient",
            stacked=False,
        )
        if sinks:
            record_application(sinks, op, outs[0] if len(outs) == 1 else outs, ins, {})
        return rebuild(list(outs))

    return apply


def _takes_variables(gradient: Callable[..., Any]) -> bool:
    """Return whether a gradient function can be called with the keyword ``variables``."""
    try:
        parameters = inspect.signature(gradient).parameters
    except (TypeError, ValueError):  # one in C: the call itself will tell
        return True
    return "variables" in parameters or any(p.kind is p.VAR_KEYWORD for p in parameters.values())


def grad_pass_through(f: Callable[P, R]) -> Callable[P, R]:
    """Decorate a function whose derivative is taken to be 1: the cotangent of its value is passed on unchanged.

    This is the straight-through estimator, for step functions that must not stop a gradient.  Variables that the
    function reads get no gradient.

    Parameters
    ----------
    f : callable
        With as many values as arguments, each of the shape of its argument.

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
    check_function(f, "grad_pass_through")

    def pass_on(*upstream: Any, variables: Any = None) -> Any:
        return list(upstream) if variables is None else (list(upstream), [None] * len(variables))

    @functools.wraps(f)
    def passing(*args: P.args, **kwargs: P.kwargs) -> tuple[R, Callable[..., object]]:
        return f(*args, **kwargs), pass_on

    return custom_gradient(passing)


def _latex(name: str, count: int) -> str:
    places = ", ".join(f"{{{i}}}" for i in range(count))
    return rf"\operatorname{{{{{name.replace('_', ' ')}}}}}({places})"


def _counted(count: int, word: str) -> str:
    return f"{count} {word}{'' if count == 1 else 's'}"


def _share(ops: Any, what: str, share: Any, x: Any) -> Any:
    """Return what a user's gradient gave for an input, as a rule returns it; a shape that does not fit raises here."""
    if share is None:
        return None
    dtype = x.dtype if ops.raw else x._held.dtype
    wanted = tuple(x.shape)
    tensor = convert(nest.whole(share, wanted))
    own, given = tuple(tensor._held.shape), tensor._held.dtype
    if own != wanted and not _broadcasts(own, wanted):
        raise ShapeMismatch(
            f"{what} gave a cotangent of shape {own} for an input of shape {wanted}; they must match. "
            "Try lab.reduce_sum over the axes that the op broadcast, or lab.reshape."
        )
    if given != dtype:
        if given.kind == "O" or (given.kind == "c" and dtype.kind != "c"):
            raise DtypeMismatch(
                f"{what} gave a cotangent of dtype {tensor.dtype.name} for an input of dtype {public(dtype).name}. "
                "Try lab.cast or lab.math.real."
            )
        tensor = cast(tensor, public(dtype))  # a gradient has the dtype of its source
    return handed_back(ops, tensor)


def _broadcasts(own: tuple[int, ...], wanted: tuple[int, ...]) -> bool:
    """Return whether a shape broadcasts to another one without reshaping."""
    lead = len(wanted) - len(own)
    return lead >= 0 and all(a in (1, b) for a, b in zip(own, wanted[lead:], strict=True))


def _rule(name: str, gradient: Callable[..., Any], count: int, variables: list[Variable]) -> Callable[..., Any]:
    """Return a user's gradient function as a rule: it takes and returns tensors whatever the sweep runs on."""

    def rule(ops: Any, g: Any, out: Any, *inputs: Any, need: tuple[int, ...]) -> list[Any]:
        upstream = [handed_over(ops, h) for h in (g if isinstance(g, list) else [g])]
        answer = gradient(*upstream, variables=list(variables)) if variables else gradient(*upstream)
        shares, of_variables = answer, []
        if variables:
            if not isinstance(answer, (list, tuple)) or len(answer) != 2:
                raise InvalidArgumentError(
                    f"custom_gradient: {name} reads variables, so its gradient must return a pair, the cotangents of "
                    f"the arguments and a list with one for each variable, got {type(answer).__name__}."
                )
            shares, of_variables = answer[0], nest.flatten(answer[1], rows=True)[0]
            if len(of_variables) != len(variables):
                raise InvalidArgumentError(
                    f"custom_gradient: the gradient of {name} gave {_counted(len(of_variables), 'cotangent')} "
                    f"for {_counted(len(variables), 'variable')}. "
                    "Return a list with one for each, None where there is none."
                )
        shares = nest.flatten(shares, rows=True)[0]
        if len(shares) != count:
            raise InvalidArgumentError(
                f"custom_gradient: the gradient of {name} gave {_counted(len(shares), 'cotangent')} for "
                f"{_counted(count, 'input')}. "
                "Return one for each, None where there is none."
            )
        shares = [*shares, *of_variables]
        return [_share(ops, f"custom_gradient: the gradient of {name}", shares[i], inputs[i]) for i in need]

    return rule


class RegisterGradient:
    """Decorate a function that gives the gradient of a registered op without one.

    The function takes the application, with `inputs` and `outputs`, and the cotangent of each output; it returns one
    cotangent for each input.

    Parameters
    ----------
    op_type : str
        The op's name.

    Raises
    ------
    KeyError
        If the op already has a gradient.
    LookupError
        If there is no such op.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> try:
    ...     lab.RegisterGradient("Mul")(lambda op, upstream: (upstream, upstream))
    ... except KeyError as error:
    ...     print(error.args[0])
    Registering two gradients with name 'Mul'! One is registered already.
    """

    def __init__(self, op_type: str) -> None:
        self._op_type = op_type

    def __call__(self, function: Callable[P, R]) -> Callable[P, R]:
        """Register the function; it is returned unchanged."""
        name = self._op_type
        op = next((op for op in REGISTRY.values() if name in (op.name, op.registered)), None)
        if op is None:
            raise LookupError(f"There is no op named {name!r}. See lab.registered_gradients() for the names.")
        if op.rules != UNREGISTERED:
            raise KeyError(f"Registering two gradients with name {name!r}! One is registered already.")

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
            shares: Any = function(application, *cotangents)  # pyright: ignore[reportCallIssue]
            shares = list(shares) if isinstance(shares, (list, tuple)) else [shares]
            return [_share(ops, f"{name}: its registered gradient", shares[i], inputs[i]) for i in need]

        op.rules = rule
        op.stacked = False
        return function
