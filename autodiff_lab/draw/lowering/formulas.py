"""Ops that one formula defines: softmax and its losses, normalization, sums of squares."""

from __future__ import annotations

import re
from functools import partial
from typing import Any

from autodiff_lab.draw.lowering.steps import Lower, Steps, Value

_GROWN = "exp(x - max(x))"
_FINITE = "choose(abs(max(x)) < infinity, max(x), zero)"
_GUARDED = f"exp(x - {_FINITE})"
_AWAY = "(x - mean(x))"
_ROOT = f"(one / sqrt(mean({_AWAY} * {_AWAY}) + epsilon))"
_STANDARD = f"({_AWAY} * {_ROOT})"
_LOGARITHM = f"(x - max(x) - log(sum({_GROWN})))"
FORMULAS: dict[str, tuple[str, ...]] = {
    "softmax": ("x", f"{_GROWN} / sum({_GROWN})"),
    "log_softmax": ("x", _LOGARITHM),
    "softmax_grad": ("g y", "(g - sum(g * y)) * y"),
    "log_softmax_grad": ("g y", "g - exp(y) * sum(g)"),
    "logsumexp": ("x", f"log(sum({_GUARDED})) + {_FINITE}"),
    "logsumexp_shares": ("x", f"{_GUARDED} / choose(sum({_GUARDED}) == zero, one, sum({_GUARDED}))"),
    "softmax_cross_entropy": ("x labels", f"-sum(labels * {_LOGARITHM})"),
    "softmax_cross_entropy_grad": ("g x labels", f"({_GROWN} / sum({_GROWN}) * sum(labels) - labels) * g"),
    "softmax_minus_label": ("x labels", f"{_GROWN} / sum({_GROWN}) - labels"),
    "l2_loss": ("x", "sum(x * x) / number(2)"),
    "moments": ("x", "mean(x)", f"mean({_AWAY} * {_AWAY})"),
    "standardize": ("x", _STANDARD),
    "standardize_grad": ("g x", f"(g - mean(g) - {_STANDARD} * mean(g * {_STANDARD})) * {_ROOT}"),
    "normalize": ("x scale offset", f"{_STANDARD} * scale + offset"),
    "batch_normalize": ("x m v scale offset", "(x - m) * (one / sqrt(v + epsilon) * scale) + offset"),
}
"""By the name of an op the names of its inputs, and a formula for each result, see `Steps.of`."""


def _results(name: str, steps: Steps, *inputs: Value, **params: Any) -> list[Value]:
    names, *texts = FORMULAS[name]
    rank = max(len(x.shape) for x in inputs)
    axes = range(-rank, 0) if name == "l2_loss" else params.get("axes", [params.get("axis", -1)])
    numbers = {"epsilon": params.get("epsilon", 0.0)}
    for at, one in enumerate(names.split()):
        texts = [re.sub(rf"\b{one}\b", f"{{{at}}}", text) for text in texts]
    return [steps.of(text, *inputs, axes=axes, **numbers) for text in texts]


def _losses(name: str, steps: Steps, *inputs: Value) -> list[Value]:
    """Losses of rows: a class number becomes a one for it, and what comes to a row goes to each of its elements."""
    *rest, logits, labels = inputs
    if len(labels.shape) < len(logits.shape):
        classes = [steps.grown(labels, -1), steps.ramp(logits.shape[-1])]
        labels = steps.of("choose({0} == {1}, one, zero)", *classes)
    return _results(name, steps, *(steps.grown(g, -1) for g in rest), logits, labels)


def _normalize_grad(steps: Steps, g: Value, x: Value, scale: Value, **how: Any) -> list[Value]:
    [y] = _results("standardize", steps, x, **how)
    lacking = [at for at in range(-len(x.shape), 0) if -at > len(scale.shape) or scale.shape[at] == 1]
    sums = [steps.of("sum({0} * {1})", g, y, axes=lacking), steps.of("sum({0})", g, axes=lacking)]
    return [*_results("standardize_grad", steps, steps.of("{0} * {1}", g, scale), x, **how), *sums]


_LOSS, _GRAD = partial(_losses, "softmax_cross_entropy"), partial(_losses, "softmax_cross_entropy_grad")
OPS: dict[str, Lower] = {
    **{name: partial(_results, name) for name in FORMULAS},
    "softmax_cross_entropy": _LOSS, "sparse_softmax_cross_entropy": _LOSS,
    "softmax_cross_entropy_grad": _GRAD, "sparse_softmax_cross_entropy_grad": _GRAD,
    "softmax_minus_label": partial(_losses, "softmax_minus_label"), "normalize_grad": _normalize_grad,
}  # fmt: skip
