"""What a notebook shows of tensors, variables, tapes, layers, models, optimizers and metrics."""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_lab.draw.cards import card, listed, numbers
from autodiff_lab.engine.tape import GradientTape
from autodiff_lab.engine.variable import Variable
from autodiff_lab.layers.metrics import Mean
from autodiff_lab.layers.model import Model
from autodiff_lab.layers.module import Module
from autodiff_lab.layers.optimizers import Optimizer
from autodiff_lab.layers.summaries import Summary

NUMERIC = ("Parameters",)


def html_of(value: Any) -> str:
    """Return the card of a value.

    Parameters
    ----------
    value : Tensor, Variable, GradientTape, Module, Optimizer or Mean

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> "float32" in html_of(lab.constant([1.0, 2.0]))
    True
    """
    if isinstance(value, GradientTape):
        return _tape(value)
    if isinstance(value, Model):
        return _model(value)
    if isinstance(value, Module):
        return _module(value)
    if isinstance(value, Optimizer):
        settings = _settings(value.get_config())
        state = sum(len(slots) for slots in value._state.values())
        facts = [f"{int(value.iterations):,} steps taken", f"{state} variables of state" if state else "no state"]
        return card(type(value).__name__, "", facts, settings)
    if isinstance(value, Mean):
        return card(type(value).__name__, value.name, [], numbers(np.asarray(value.result())))
    return _array(value)


def _array(value: Any) -> str:
    """Return the card of a tensor or a variable."""
    array = value.numpy()
    facts = [value.dtype.name, f"shape {tuple(array.shape)}"]
    if value.device != "/CPU:0":
        facts.append(str(value.device))
    name = ""
    if isinstance(value, Variable):
        name = value.name
        facts += [] if value.trainable else ["not trainable"]
    return card("Variable" if isinstance(value, Variable) else "Tensor", name, facts, numbers(array))


def _tape(tape: GradientTape) -> str:
    return card("GradientTape", "", tape_facts(tape))


def tape_facts(tape: GradientTape) -> list[str]:
    """Return what there is to say about a tape: how much it holds, what it watches, whether it can be used again.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> x = lab.Variable(3.0, name="x")
    >>> with lab.GradientTape() as tape:
    ...     y = x * x
    >>> tape_facts(tape)
    ['1 op', 'watches x', 'for one gradient']
    """
    entries = tape._entries
    if entries is None:
        return ["used; it holds nothing any more"]
    names = [v.name.removesuffix(":0") for v in tape.watched_variables()]
    more = f" and {len(names) - 4} more" if len(names) > 4 else ""
    facts = [f"{len(entries):,} op{'' if len(entries) == 1 else 's'}"]
    facts += [f"watches {', '.join(names[:4])}{more}"] if names else []
    return [*facts, "persistent" if tape._persistent else "for one gradient"]


def _module(module: Module) -> str:
    """Return the card of a layer, or of another module, with its variables."""
    config = getattr(module, "get_config", dict)()
    facts = [f"{k}={_shown(v)}" for k, v in config.items() if k != "name"]
    if getattr(module, "built", True) is False:
        facts.append("not built yet")
    rows = [
        [v.name.removesuffix(":0"), str(tuple(v._held.shape)), v.dtype.name, f"{v._held.size:,}",
         "yes" if v.trainable else "no"]
        for v in module.variables
    ]  # fmt: skip
    table = listed(["Variable", "Shape", "Dtype", *NUMERIC, "Trained"], rows, NUMERIC) if rows else ""
    return card(type(module).__name__, module.name, facts, table)


def _model(model: Model) -> str:
    return card(type(model).__name__, model.name, [Summary(model).totals()], _layers(model))


def _layers(model: Any) -> str:
    """Return the table of a model's layers; models inside it unfold."""
    summary = Summary(model)
    rows = [
        [(row[0], _layers(layer)) if getattr(layer, "layers", None) else row[0], *row[1:]]
        for row, layer in zip(summary.rows, model.layers, strict=True)
    ]
    return listed(summary.headings, rows, NUMERIC) if rows else ""


def _settings(config: dict[str, Any]) -> str:
    return listed(["Setting", "Value"], [[name, _shown(value)] for name, value in config.items()]) if config else ""


def _shown(value: Any) -> str:
    """Return a setting as it would be written in a program, functions by their names."""
    return getattr(value, "__name__", None) or repr(value)
