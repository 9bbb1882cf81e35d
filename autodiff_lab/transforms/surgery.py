"""Editing gradients: run any code on the adjoint of a value in the backward pass, and replace it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from autodiff_lab.engine import nest
from autodiff_lab.engine.apply import record_application
from autodiff_lab.engine.convert import convert
from autodiff_lab.engine.op import Op
from autodiff_lab.engine.tensor import Tensor, wrap
from autodiff_lab.events.listener import sinks_now
from autodiff_lab.ops.math.complex_numbers import handed_back, handed_over
from autodiff_lab.transforms.custom import check_function

T = TypeVar("T")


def with_derivative(x: T, function: Callable[[T], object]) -> T:
    """Return the same value, with `function` called on its adjoint in the backward pass.

    Parameters
    ----------
    x : Tensor, or a structure or differentiable dataclass of them
        The value; only this use of it is affected.
    function : callable
        Takes the adjoint, shaped as `x`.  A returned value replaces the adjoint; None leaves it unchanged.

    Returns
    -------
    like `x`

    Raises
    ------
    ConversionError
        If what the function returns is not numeric.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> def halve(adjoint):
    ...     print(f"saw {adjoint}")
    ...     return adjoint / 2
    >>> print(lab.gradient(lambda x: 10.0 * lab.with_derivative(x, halve))(1.0))
    saw 10.0
    Tensor(5.0, shape=(), dtype=float32)
    """
    check_function(function, "with_derivative")
    leaves, rebuild = nest.flatten(x)
    ins = tuple(convert(leaf) for leaf in leaves)
    outs = tuple(wrap(t._held) for t in ins)
    sinks = sinks_now()
    if sinks:
        op = Op(
            "with_derivative", _pass_on, _rule(function, rebuild, ins), None, symbol="∂", latex="{0}",
            locals_latex=("?",) * len(ins), sentence="passes {0} on; its adjoint is passed to a function",
            keeps="nothing", stacked=False,
        )  # fmt: skip
        record_application(sinks, op, outs[0] if len(outs) == 1 else outs, ins, {})
    return rebuild(list(outs))


def _pass_on(*arrays: Any) -> Any:
    return arrays[0] if len(arrays) == 1 else arrays


def _rule(function: Callable[[Any], Any], rebuild: Callable[[list[Any]], Any], ins: tuple[Tensor, ...]) -> Any:
    kinds = [t._held.dtype for t in ins]

    def rule(ops: Any, g: Any, out: Any, *inputs: Any, need: tuple[int, ...]) -> list[Any]:
        given = g if isinstance(g, list) else [g]
        tensors = [handed_over(ops, h) for h in given]
        answer = function(rebuild(list(tensors)))
        if answer is not None:
            tensors = [convert(leaf, like) for leaf, like in zip(nest.flatten(answer)[0], tensors, strict=True)]
        assert all(t._held.dtype == kind for t, kind in zip(tensors, kinds, strict=True))
        return [handed_back(ops, tensors[i]) for i in need]

    return rule
