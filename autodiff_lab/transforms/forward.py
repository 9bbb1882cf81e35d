"""Forward mode: tangents of inputs to tangents of results.

A VJP is linear in its cotangent, so its own VJP is the JVP: two reverse sweeps give one forward derivative, for every
op that has a rule made of ops, with nothing more to write (Townsend, "A new trick for calculating Jacobian vector
products", 2017).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

from autodiff_lab.engine import nest
from autodiff_lab.engine.convert import convert
from autodiff_lab.engine.tape import GradientTape, UnconnectedGradients
from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.engine.variable import Variable
from autodiff_lab.errors import DeviceMismatch, ShapeMismatch
from autodiff_lab.ops.array.creation import zeros_like
from autodiff_lab.ops.math.arithmetic import add_n
from autodiff_lab.ops.math.complex_numbers import conj
from autodiff_lab.ops.math.reductions import reduce_sum


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
        If a tangent has not its primal's shape, or if there is not one for each primal.
    DeviceMismatch
        If a tangent lies on another device than its primal.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> x = lab.constant([1.0, 2.0])
    >>> with lab.autodiff.ForwardAccumulator(x, lab.constant([1.0, 0.0])) as accumulator:
    ...     y = x * x * x
    >>> print(accumulator.jvp(y))
    Tensor([3. 0.], shape=(2,), dtype=float32)
    """

    def __init__(self, primals: Any, tangents: Any) -> None:
        self._primals = nest.flatten(primals)[0]
        self._tangents = _along(self._primals, nest.flatten(tangents)[0])
        for primal, tangent in zip(self._primals, self._tangents, strict=True):
            if primal._array.shape != tangent._array.shape:
                raise ShapeMismatch(
                    f"ForwardAccumulator: a primal has shape {primal._array.shape} and its tangent "
                    f"{tangent._array.shape}; they must agree."
                )
            if tangent._array.ndim and tangent.device != primal.device:
                raise DeviceMismatch(
                    f"ForwardAccumulator: a primal lies on {primal.device} and its tangent on {tangent.device}. Try "
                    ".gpu() or .cpu() on one of them."
                )
        self._tape = GradientTape(persistent=True, watch_accessed_variables=False)

    def __enter__(self) -> Self:
        self._tape.__enter__()
        self._tape.watch(self._primals)
        return self

    def __exit__(self, *error: object) -> None:
        self._tape.__exit__(*error)

    def jvp(self, primals: Any, unconnected_gradients: Any = UnconnectedGradients.NONE) -> Any:
        """The tangent of each result; None where it does not depend on the inputs."""
        leaves, rebuild = nest.flatten(primals)
        return rebuild([self._one(leaf, UnconnectedGradients(unconnected_gradients)) for leaf in leaves])

    def _one(self, target: Tensor, unconnected: UnconnectedGradients) -> Tensor | None:
        if isinstance(target, Variable):
            target = target.read()
        cotangent = zeros_like(target)
        with GradientTape(watch_accessed_variables=False) as outer:
            outer.watch(cotangent)
            found = self._tape.gradient(target, self._primals, output_gradients=cotangent)
            pairs = [(g, t) for g, t in zip(found, self._tangents, strict=True) if g is not None]
            total = add_n([reduce_sum(g * conj(t)) for g, t in pairs]) if pairs else None
        if total is None:
            return None if unconnected is UnconnectedGradients.NONE else zeros_like(target)
        return outer.gradient(total, cotangent, unconnected_gradients=UnconnectedGradients.ZERO)


def _along(primals: list[Any], tangents: list[Any]) -> list[Any]:
    """Tangents as tensors, one for each primal."""
    if len(tangents) != len(primals):
        raise ShapeMismatch(
            f"jvp: {len(tangents)} tangents for {len(primals)} primals. Give the tangents the structure of the primals."
        )
    return [convert(t, p if isinstance(p, Tensor) else None) for t, p in zip(tangents, primals, strict=True)]


def jvp(function: Callable[..., Any], primals: Any, tangents: Any) -> tuple[Any, Any]:
    """Value and Jacobian-vector product of a function of the given primals.

    Shapes: primals (*s), tangents (*s) -> value (*t), tangent of the value (*t).

    Raises
    ------
    ShapeMismatch
        If a tangent has not its primal's shape.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> value, tangent = lab.jvp(lambda x: x * x, [3.0], [1.0])
    >>> float(value), float(tangent)
    (9.0, 6.0)
    """
    inputs = [p if isinstance(p, Variable) else convert(p) for p in primals]
    with ForwardAccumulator(inputs, _along(inputs, list(tangents))) as accumulator:
        value = function(*inputs)
    return value, accumulator.jvp(value, UnconnectedGradients.ZERO)


def vjp(function: Callable[..., Any], primals: Any, cotangent: Any) -> tuple[Any, Any]:
    """Value and vector-Jacobian product of a function: one cotangent for each primal.

    Shapes: primals (*s), cotangent (*t) like the value -> value (*t), cotangents (*s).

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> value, (x_bar, y_bar) = lab.vjp(lambda x, y: x * y, [3.0, 4.0], 1.0)
    >>> float(value), float(x_bar), float(y_bar)
    (12.0, 4.0, 3.0)
    """
    from autodiff_lab.transforms.functional import value_with_pullback

    value, back = value_with_pullback(function, *primals)
    found = back(cotangent)
    return value, found if isinstance(found, tuple) else (found,)
