"""Programs as users write them, with external state and side effects: compiled, each must do what it does eagerly.

A scenario is a generator that receives `wrap`, which is either the identity or `lab.function`; it creates its own
state, calls what it wrapped, and yields everything that is observable: results, exceptions, and finally the state. A
scenario declared with ``compiles=True`` must not fall back, so that running everything eagerly does not pass. One that
builds its variables in the first call says how many calls may fall back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

import autodiff_lab as lab

X = lab.constant([1.0, 2.0])


class Scenario(NamedTuple):
    """A program, and whether it must be compiled."""

    program: Callable[[Callable[..., Any]], Iterator[Any]]
    compiles: bool
    building: int


SCENARIOS: dict[str, Scenario] = {}


def scenario(*, compiles: bool = False, building: int = 0) -> Callable[[Any], Any]:
    """Register a scenario; `building` calls of it may run eagerly because they make variables."""

    def register(program: Any) -> Any:
        name = f"{program.__module__.rpartition('.')[2]}: {program.__name__.rstrip('_').replace('_', ' ')}"
        assert name not in SCENARIOS, name
        SCENARIOS[name] = Scenario(program, compiles, building)
        return program

    return register


def attempt(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """The result of a call, or what it raised."""
    try:
        return function(*args, **kwargs)
    except Exception as error:  # noqa: BLE001 - whatever it is, both runs must raise it
        return error


class Compiler:
    """`lab.function` with NumPy's kernels, whose results are the eager bits; it stores what it compiled."""

    def __init__(self) -> None:
        self.made: list[Any] = []

    def __call__(self, function: Callable[..., Any]) -> Any:
        self.made.append(lab.function(function, backend="numpy"))
        return self.made[-1]


def seen(value: Any) -> Any:
    """A value as plain data that can be compared: types, dtypes, shapes and bits."""
    if isinstance(value, (lab.Tensor, lab.Variable)):
        return type(value).__name__, seen(value.numpy())
    if isinstance(value, (np.ndarray, np.generic)):
        return str(value.dtype), value.shape, value.tolist() if value.dtype.kind == "O" else value.tobytes()
    if isinstance(value, dict):
        return type(value).__name__, [(seen(k), seen(v)) for k, v in value.items()]
    if isinstance(value, (list, tuple)):
        return type(value).__name__, [seen(v) for v in value]
    if isinstance(value, (set, frozenset)):
        return type(value).__name__, sorted(map(repr, value))
    if isinstance(value, BaseException):
        return type(value).__name__, str(value)
    if isinstance(value, (int, float, complex, str, bytes, bytearray, type(None))):
        return type(value).__name__, repr(value)
    return type(value).__name__


def watched(program: Callable[..., Iterator[Any]], wrap: Callable[..., Any]) -> list[Any]:
    """All that a scenario shows, what it raises in the end included."""
    shown: list[Any] = []
    try:
        shown.extend(map(seen, program(wrap)))
    except Exception as error:  # noqa: BLE001 - compared, as all else
        shown.append(("raised", seen(error)))
    return shown
