"""What a program asks of autograd: the arguments of `backward` and `grad`, and what comes back."""

from __future__ import annotations

from typing import Any

import torch

from autodiff_lab.adapters.torch.values import tensors_in

_BACKWARD = ("gradient", "retain_graph", "create_graph", "inputs")
_GRAD = (
    "inputs", "grad_outputs", "retain_graph", "create_graph", "only_inputs", "allow_unused", "is_grads_batched",
    "materialize_grads",
)  # fmt: skip
_FUNCTION = ("grad_tensors", "retain_graph", "create_graph", "grad_variables", "inputs")


def given(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """Return seeds, sources, whether `.grad` gathers, create_graph, retain_graph, is_grads_batched of a call."""
    if func is torch.autograd.grad:
        named = dict(zip(_GRAD, args[1:], strict=False)) | kwargs
        targets = listed(args[0] if args else kwargs["outputs"])
        seeds, sources, gathers = listed(named.get("grad_outputs")), listed(named["inputs"]), False
    else:
        names = _BACKWARD if func is torch.Tensor.backward else _FUNCTION
        named = dict(zip(names, args[1:], strict=False)) | kwargs
        targets = listed(args[0] if args else kwargs["tensors"])
        seeds = listed(named.get("gradient", named.get("grad_tensors")))
        sources, gathers = None if named.get("inputs") is None else listed(named["inputs"]), True
    seeds += [None] * (len(targets) - len(seeds))
    return (
        seeds, sources, gathers, bool(named.get("create_graph")), named.get("retain_graph"),
        bool(named.get("is_grads_batched")),
    )  # fmt: skip


def listed(value: Any) -> list[Any]:
    """Return a tensor or a sequence of tensors as a list."""
    return [] if value is None else [value] if isinstance(value, torch.Tensor) else list(value)


def results_of(out: Any, count: int) -> list[Any]:
    """Return what `autograd.grad` gave, one for each input."""
    found = list(out) if isinstance(out, (tuple, list)) else list(tensors_in(out))
    return found if len(found) == count else [None] * count
