"""What a sweep reports to listeners: an event for every contribution, with the derivative that it is the product of."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from autodiff_lab.engine.devices import zeros_beside
from autodiff_lab.engine.namespace import RAW
from autodiff_lab.engine.op import Op
from autodiff_lab.engine.silence import quietly
from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.events import GradientFlowed
from autodiff_lab.events.values import fitted_axes

if TYPE_CHECKING:
    from autodiff_lab.engine.sweep import Engine


def _derivative_at_unit(rule: Any, out: Tensor, ins: tuple[Tensor, ...]) -> Any:
    """Compute the local derivative of an elementwise op: its rule at a cotangent of ones, on raw arrays.

    A rule of the user's may raise anything there; its number is left out then.
    """
    array = out._held
    try:
        return quietly(rule, RAW, zeros_beside(array, array.shape, 1), array, *[t._held for t in ins])
    except Exception:  # noqa: BLE001
        return None


def _flowed(
    sweep_id: int, rule: Any, out: Any, ins: tuple[Tensor, ...], position: int, g: Any, contribution: Tensor,
    total: Tensor, made: tuple[int, ...],
) -> GradientFlowed:  # fmt: skip
    """Return the event of a contribution.

    `rule` is that of an elementwise op, None for other ops; it made a contribution of the shape `made`.
    """
    local = None if rule is None else _derivative_at_unit(rule, out, ins)
    if out.__class__ is tuple:
        key, incoming = out[0]._id, tuple([h._id for h in g])
    else:
        key, incoming = out._id, (g._id,)
    summed = fitted_axes(made, ins[position]._held.shape)
    about = (sweep_id, key, position, ins[position]._id, incoming, contribution._id, total._id, local, summed)
    return tuple.__new__(GradientFlowed, about)


def flow_reporter(listeners: list[Any], sweep_id: int, engine: Engine) -> Callable[..., None]:
    """Return what a sweep calls for every contribution, when somebody listens."""
    swapped = engine.rules

    def flow(
        op: Op, out: Any, ins: Any, params: Any, position: int, g: Any, contribution: Any, total: Any, made: Any
    ) -> None:
        rule = None
        if op.elementwise and params is None:
            rules: Any = swapped.get(op.name, op.rules) if swapped else op.rules
            if rules.__class__ is tuple:
                rule = rules[position]
        call = (_flowed, sweep_id, rule, out, ins, position, g, contribution, total, made)
        for listener in listeners:
            listener.later(call)

    return flow
