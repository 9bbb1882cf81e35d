"""Numba's decorators for what is compiled into loops, without Numba: each is applied when Numba is first needed.

Machine code that is found on disk runs without Numba, so the modules that it was compiled from must be imported without
it too: a quarter of a second of processor time.  `register_jitable`, `overload` and `intrinsic` are called as Numba's
and note what they are to do; `register` does it.  `types`, `cgutils` and `ir` stand for
``numba.types``, ``numba.core.cgutils`` and ``llvmlite.ir``.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

_waiting: list[Callable[[Any], None]] = []


class _Later:
    """A module that is imported where something in it is first used."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self._name), name)


types: Any = _Later("numba.types")
ir: Any = _Later("llvmlite.ir")
cgutils: Any = _Later("numba.core.cgutils")


def register_jitable(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Mark a function that compiled code may call, and that is compiled with it; it stays callable from Python."""

    def mark(function: Callable[..., Any]) -> Any:
        _waiting.append(lambda emitting: emitting.overload(function, lambda *args: function, options, strict=False))
        return function

    return mark if function is None else mark(function)


def overload(function: Callable[..., Any], jit_options: dict[str, Any]) -> Callable[[Callable[..., Any]], Any]:
    """Mark a function of types that returns what compiled code calls instead of another function."""

    def mark(chosen: Callable[..., Any]) -> Any:
        _waiting.append(lambda emitting: emitting.overload(function, chosen, jit_options, strict=True))
        return chosen

    return mark


def intrinsic(definition: Callable[..., Any]) -> Any:
    """Make a function for compiled code out of one that gives its types and writes its instructions."""

    def instructions(*args: Any) -> Any:
        raise NotImplementedError("for compiled code only")

    instructions.__doc__, instructions.__name__ = definition.__doc__, definition.__name__
    _waiting.append(lambda emitting: emitting.intrinsic(instructions, definition))
    return instructions


def register(emitting: Any = None) -> None:
    """Tell Numba what was noted so far."""
    emitting = emitting or import_module("autodiff_lab.kernels.base.emitting")
    while _waiting:
        _waiting.pop()(emitting)
