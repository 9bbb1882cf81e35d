"""Paths of the values that a checkpoint saves: the attributes by which each is reached from the checkpoint.

Values are matched by these paths and not by the names of variables, so that they survive a new process, in which layers
are numbered otherwise. What is reached by several paths is saved under the first, and the others are noted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from autodiff_lab.engine import nest
from autodiff_lab.engine.variable import Variable
from autodiff_lab.layers.metrics import Mean
from autodiff_lab.layers.module import APART, Module
from autodiff_lab.layers.optimizers import Optimizer
from autodiff_lab.layers.schedules import LearningRateSchedule
from autodiff_lab.ops.random_generator import Generator

HOLDERS = (Module, Mean)
KINDS = "variables, modules, layers, models, optimizers, metrics, random generators, or lists and dicts of them"


class Value(NamedTuple):
    """Something to save: how to read it, and how to change it."""

    read: Callable[[], Any]
    change: Callable[[Any], Any]
    takes: Callable[[Any], bool]


class Found(NamedTuple):
    """What a walk found: values by path, other paths, and the objects that may get more values later."""

    values: dict[str, Value]
    also: dict[str, str]
    owners: list[Any]


def is_trackable(value: Any) -> bool:
    """Return whether a checkpoint can save a value."""
    return isinstance(value, (Variable, *HOLDERS, Optimizer, Generator)) or hasattr(value, "checkpointed")


def holds_any(value: Any) -> bool:
    """Return whether a value, or a part of a list or dict, can be saved."""
    return any(is_trackable(leaf) for leaf in nest.flatten(value, leaf=is_trackable)[0])


def walk(root: Any) -> Found:
    """Return the values that are reached from a checkpoint."""
    found = Found({}, {}, [])
    first: dict[int, str] = {}
    names: dict[Variable, str] = {}
    optimizers: list[tuple[str, Optimizer]] = []
    waiting: list[tuple[str, Any]] = [("", root)]
    while waiting:
        path, value = waiting.pop()
        if id(value) in first:
            if path != first[id(value)]:
                found.also[path] = first[id(value)]
            continue
        first[id(value)] = path
        if isinstance(value, Variable):
            names[value] = path
            found.values[path] = _of_variable(value)
        elif isinstance(value, Generator):
            found.values[path] = Value(lambda g=value: g.state.numpy(), value.reset, lambda a: a.shape == (13,))
        elif isinstance(value, Optimizer):
            optimizers.append((path, value))
            found.owners.append(value)
            waiting.append((_below(path, "iterations"), value.iterations))
        else:
            if isinstance(value, Module) or hasattr(value, "checkpointed"):
                found.owners.append(value)
            waiting += reversed([(_below(path, name), part) for name, part in _parts(value)])
    for path, optimizer in optimizers:  # when the paths of all variables are known
        found.values.update(_of_optimizer(path, optimizer, names))
    return found


def _below(path: str, name: Any) -> str:
    word = str(name).replace("%", "%25").replace("/", "%2F")
    return f"{path}/{word}" if path else word


def _parts(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield what an object holds by name; of a list, dict or tuple, by position or key."""
    if hasattr(value, "checkpointed"):
        yield from value.checkpointed()
        return
    held = vars(value) if isinstance(value, HOLDERS) else value
    for name, part in held.items() if isinstance(held, dict) else enumerate(held):
        if name not in APART and (is_trackable(part) or (isinstance(part, (list, tuple, dict)) and holds_any(part))):
            yield name, part
    optimizer = getattr(value, "optimizer", None)
    if isinstance(optimizer, Optimizer) and "optimizer" not in vars(value):
        yield "optimizer", optimizer


def _of_variable(variable: Variable) -> Value:
    def takes(array: Any) -> bool:
        return array.dtype == variable._held.dtype and variable.shape.is_compatible_with(array.shape)

    return Value(lambda: np.asarray(variable._array), variable.assign, takes)


def _of_optimizer(path: str, optimizer: Optimizer, names: dict[Variable, str]) -> Iterator[tuple[str, Value]]:
    """Yield the rate, unless it follows a schedule, and what is kept for each variable, under the variable's path."""
    if not isinstance(optimizer._rate, (LearningRateSchedule, Variable)):

        def change(array: Any) -> None:
            optimizer.learning_rate = float(array)

        rate = Value(lambda: np.float64(optimizer.learning_rate), change, lambda array: array.shape == ())
        yield _below(path, "learning_rate"), rate
    elif isinstance(optimizer._rate, Variable):
        yield _below(path, "learning_rate"), _of_variable(optimizer._rate)
    for variable, slots in optimizer._state.items():
        of = names.get(variable, variable.name)
        for name, slot in slots.items():
            yield f"{_below(path, 'slots')}/{name}/{of}", _of_variable(slot)
