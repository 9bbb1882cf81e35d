"""Forward mode: from tangents of inputs to tangents of results.

A VJP is linear in its cotangent, so its own VJP is the JVP: two reverse sweeps give one forward derivative, for every
op that has a rule made of ops, with no further code (Townsend, "A new trick for calculating Jacobian vector
products", 2017).
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from autodiff_lab.engine import nest
from autodiff_lab.engine.backward import UnconnectedGradients, asks_for_zeros
from autodiff_lab.engine.convert import convert
from autodiff_lab.engine.indexed_slices import dense
from autodiff_lab.engine.shape import listed
from autodiff_lab.engine.tape import GradientTape
from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.engine.variable import Variable
from autodiff_lab.errors import DeviceMismatch, DtypeMismatch, InvalidArgumentError, ShapeMismatch
from autodiff_lab.events.listener import SINKS, sinks_now
from autodiff_lab.ops.array.creation import zeros_like
from autodiff_lab.ops.math.arithmetic import add_n
from autodiff_lab.ops.math.complex_numbers import conj, is_complex
from autodiff_lab.ops.math.reductions import reduce_sum
from autodiff_lab.transforms.custom import check_function, check_points, own_point

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import TensorLike

R = TypeVar("R")


class ForwardAccumulator:
    """Computes Jacobian-vector products of what runs in its block.

    Parameters
    ----------
    primals : Tensor, Variable, or a structure of them
        The inputs.
    tangents : like `primals`
        Their directions, of the same shapes and dtypes.

    Raises
    ------
    ShapeMismatch
        If a tangent does not have its primal's shape, or there is not one for each primal.
    DtypeMismatch
        If a tangent's dtype differs from its primal's.
    DeviceMismatch
        If a tangent is on a different device from its primal.
    InvalidArgumentError
        A `ValueError`: a primal is given twice, or the block is entered while it runs.

    Notes
    -----
    Accumulators nest: with one for the same primal around it, ``outer.jvp(inner.jvp(y))`` is a second derivative, and
    a tape around it can differentiate ``accumulator.jvp(y)``; both also work after the blocks have ended.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> x = lab.constant([1.0, 2.0])
    >>> with lab.autodiff.ForwardAccumulator(x, lab.constant([1.0, 0.0])) as accumulator:
    ...     y = x * x * x
    >>> print(accumulator.jvp(y))
    Tensor([3. 0.], shape=(2,), dtype=float32)
    """

    def __init__(self, primals: TensorLike, tangents: TensorLike) -> None:
        self._primals = nest.flatten(primals)[0]
        self._tangents = _along(self._primals, nest.flatten(tangents)[0])
        if len({id(primal) for primal in self._primals}) < len(self._primals):
            raise InvalidArgumentError(
                "ForwardAccumulator: got the same primal more than once. Try passing it once, with the sum of its "
                "tangents."
            )
        for primal, tangent in zip(self._primals, self._tangents, strict=True):
            if primal._held.shape != tangent._held.shape:
                raise ShapeMismatch(
                    f"ForwardAccumulator: a primal has shape {primal._held.shape} and its tangent "
                    f"{tangent._held.shape}; they must match."
                )
            if primal._held.dtype != tangent._held.dtype:
                raise DtypeMismatch(
                    f"ForwardAccumulator: a primal has dtype {primal.dtype.name} and its tangent {tangent.dtype.name}. "
                    "Try lab.cast."
                )
            if tangent._held.ndim and tangent.device != primal.device:
                raise DeviceMismatch(
                    f"ForwardAccumulator: a primal is on {primal.device} and its tangent on {tangent.device}. Try "
                    ".gpu() or .cpu() on one of them."
                )
        self._tape = GradientTape(persistent=True, watch_accessed_variables=False)
        self._around: tuple[GradientTape, ...] = ()

    def __repr__(self) -> str:
        return f"<ForwardAccumulator of {len(self._primals)} primals>"

    def __enter__(self) -> Self:
        sinks = sinks_now()
        if self._tape in sinks:
            raise InvalidArgumentError("ForwardAccumulator: already recording. Create a second one to nest them.")
        self._around = tuple(dict.fromkeys([*self._around, *[s for s in sinks if isinstance(s, GradientTape)]]))
        self._tape.__enter__()
        self._tape.watch(self._primals)
        return self

    def __exit__(self, *error: object) -> None:
        self._tape.__exit__(*error)

    def jvp(
        self, primals: TensorLike, unconnected_gradients: UnconnectedGradients | str = UnconnectedGradients.NONE
    ) -> Any:
        """Return the tangent of each result; None where it does not depend on the inputs."""
        leaves, rebuild = nest.flatten(primals)
        targets = [leaf if isinstance(leaf, Variable) else convert(leaf) for leaf in leaves]
        with self._heard_by_those_around():
            found = self._of(targets)
            if asks_for_zeros(unconnected_gradients):
                found = [zeros_like(t) if one is None else one for t, one in zip(targets, found, strict=True)]
        return rebuild(found)

    @contextmanager
    def _heard_by_those_around(self) -> Generator[None]:
        """Let the tapes and accumulators around the block record what follows from it, whether it has ended or not."""
        sinks = sinks_now()
        ended = [s for s in self._around if s not in sinks and s._entries is not None]  # pyright: ignore[reportPrivateUsage]
        traces, others = [s for s in sinks if s.traces], [s for s in sinks if not s.traces]
        SINKS.set((*traces, *ended, *others))
        try:
            yield
        finally:
            SINKS.set(sinks)

    def _of(self, targets: list[Any]) -> list[Any]:
        """Return the tangents of results, of all in two sweeps; None for what does not depend on the inputs."""
        own = {id(primal): tangent for primal, tangent in zip(self._primals, self._tangents, strict=True)}
        known = [own.get(id(target)) if isinstance(target, Variable) else None for target in targets]
        asked = [convert(target) for target, one in zip(targets, known, strict=True) if one is None]
        cotangents = [zeros_like(target) for target in asked]
        with GradientTape(watch_accessed_variables=False) as outer:
            outer.watch(cotangents)
            found = self._tape.gradient(asked, self._primals, output_gradients=cotangents) if asked else []
            pairs = [(dense(g), t) for g, t in zip(found, self._tangents, strict=False) if g is not None]
            ends, seeds = [g for g, _ in pairs], [t for _, t in pairs]
            if any(map(is_complex, ends)):  # whose tangents are conjugated
                ends, seeds = [add_n([reduce_sum(g * conj(t)) for g, t in pairs])], [None]
        if not pairs:
            return known
        # With several results this does not say which of them are unconnected; a second sweep does.
        how = UnconnectedGradients.ZERO if len(asked) == 1 else UnconnectedGradients.NONE
        twice = outer.gradient(ends, cotangents, output_gradients=seeds, unconnected_gradients=how)
        rest = iter(zip(asked, twice, strict=True))
        made: list[Any] = []
        for one in known:
            if one is None:
                target, tangent = next(rest)
                made.append(self._of([target])[0] if tangent is None else dense(tangent))
            else:
                made.append(one)
        return made


def _along(primals: list[Any], tangents: list[Any]) -> list[Any]:
    """Return tangents as tensors, one for each primal."""
    if len(tangents) != len(primals):
        raise ShapeMismatch(
            f"jvp: got {len(tangents)} tangents for {len(primals)} primals. Give the tangents the structure of the "
            "primals."
        )
    return [convert(t, p if isinstance(p, Tensor) else None) for t, p in zip(tangents, primals, strict=True)]


def _values(primals: Any, what: str) -> list[Any]:
    """Return one value for each argument; a tensor is not a list of them, although it has rows."""
    if isinstance(primals, (Tensor, Variable)):
        raise InvalidArgumentError(f"{what} must be a list with a value for each argument, got a tensor. Try [x].")
    return listed(primals, what)


def jvp(function: Callable[..., R], primals: Sequence[TensorLike], tangents: Sequence[TensorLike]) -> tuple[R, Any]:
    """Return the value and Jacobian-vector product of a function at the given primals.

    Shapes: primals (*s), tangents (*s) -> value (*t), tangent of the value (*t).

    Raises
    ------
    ShapeMismatch
        If a tangent does not have its primal's shape.
    ConversionError
        If all primals are integers.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> value, tangent = lab.jvp(lambda x: x * x, [3.0], [1.0])
    >>> float(value), float(tangent)
    (9.0, 6.0)
    """
    check_function(function, "jvp")
    inputs = [p if isinstance(p, Variable) else own_point(p) for p in _values(primals, "jvp: primals")]
    check_points(inputs, "jvp")
    with ForwardAccumulator(inputs, _along(inputs, listed(tangents, "jvp: tangents"))) as accumulator:
        value = function(*inputs)
    return value, accumulator.jvp(cast("Any", value), UnconnectedGradients.ZERO)


def vjp(function: Callable[..., R], primals: Sequence[TensorLike], cotangent: object) -> tuple[R, tuple[Tensor, ...]]:
    """Return the value and vector-Jacobian product of a function: one cotangent for each primal.

    Shapes: primals (*s), cotangent (*t) like the value -> value (*t), cotangents (*s).

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> value, (x_bar, y_bar) = lab.vjp(lambda x, y: x * y, [3.0, 4.0], 1.0)
    >>> float(value), float(x_bar), float(y_bar)
    (12.0, 4.0, 3.0)
    """
    from autodiff_lab.transforms.functional import value_with_pullback

    value, back = value_with_pullback(function, *_values(primals, "vjp: primals"))
    found = back(cotangent)
    return value, found if isinstance(found, tuple) else (found,)
