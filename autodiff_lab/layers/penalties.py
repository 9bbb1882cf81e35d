"""Losses that layers add: penalties on weights, and what `add_loss` was given in the last call of a model."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from typing import Any

from autodiff_lab.engine.variable import Variable
from autodiff_lab.layers.configured import unexpected

Function = Callable[[Any], Any]

CALL: ContextVar[int | None] = ContextVar("call", default=None)
"""Number of the call of the outermost model; None outside of models."""
NUMBERS = itertools.count()
"""Numbers of calls: the last one is the largest."""


def checked(cls: type, given: dict[str, Any]) -> dict[str, Any]:
    """Return the regularizers and constraints of a layer's weights, given as ``kernel_regularizer="l2"``.

    Raises
    ------
    TypeError
        If an argument is neither, or the layer has no weight of that name.
    """
    for argument in given:
        weight, _, kind = argument.rpartition("_")
        held = [name for base in cls.__mro__ for name in vars(base).get("__annotations__", ())]
        if kind not in ("regularizer", "constraint") or not any(_is_named(weight, name) for name in held):
            others = [f"{name}_{end}" for name in held for end in ("regularizer", "constraint")]
            raise unexpected(cls, argument, others)
    return {name: value for name, value in given.items() if value is not None}


def _is_named(word: str, weight: str) -> bool:
    """Return whether an argument's first word stands for a weight: its name, or that of ``depthwise_kernel``."""
    return weight in (word, f"{word}_kernel")


def regularizer(identifier: Any) -> Function | None:
    """Return the regularizer of a name."""
    if identifier is None:
        return None
    from autodiff_lab.layers import regularizers

    return regularizers.get(identifier)


def constraint(identifier: Any) -> Function | None:
    """Return the constraint of a name."""
    if identifier is None:
        return None
    from autodiff_lab.layers import constraints

    return constraints.get(identifier)


def of(given: dict[str, Any], name: str | None, penalty: Any, allowed: Any) -> tuple[Function | None, Function | None]:
    """Return the regularizer and the constraint of a weight: those of `add_weight`, else those of the layer."""
    for argument, value in given.items():
        word, _, kind = argument.rpartition("_")
        if _is_named(word, name or ""):
            if kind == "regularizer" and penalty is None:
                penalty = value
            elif kind == "constraint" and allowed is None:
                allowed = value
    return regularizer(penalty), constraint(allowed)


def losses_of(modules: Iterable[Any]) -> list[Any]:
    """Return the penalties of the weights that are trained, and the losses added in the last call, layer by layer."""
    found: list[Any] = []
    parts = [module for module in modules if hasattr(module, "add_loss")]
    for layer in parts:
        pairs: tuple[tuple[Variable, Function], ...] = layer._penalties
        found += [penalty(variable) for variable, penalty in pairs if variable.trainable]
    latest = max((layer._added[0] for layer in parts if layer._added is not None), default=None)
    for layer in parts:
        if layer._added is not None and layer._added[0] == latest:
            found += layer._added[1]
    return found
