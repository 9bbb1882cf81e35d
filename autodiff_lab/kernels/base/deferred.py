"""Marks on what is compiled into loops; those who compile, `lowering` or Numba, learn of them here.

Machine code that is found on disk runs without a compiler, so the modules that it was compiled from must be imported
without one too.  `register_jitable` and `overload` are called as Numba's.  An `intrinsic` is a function that writes
LLVM's instructions itself.  `register` tells Numba of all that was marked, when it is first needed.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

MARKED: dict[Any, dict[str, Any]] = {}
"""Functions that compiled code may call, and the options of each, such as ``fastmath``."""
OVERLOADS: dict[Any, tuple[Callable[..., Any], dict[str, Any]]] = {}
"""Functions instead of which compiled code calls another one: what chooses it by dtypes, and its options."""


class Intrinsic(NamedTuple):
    """A function that writes instructions: its name, the kinds of its result and its arguments, and what writes."""

    name: str
    result: str
    given: tuple[str, ...]
    write: Callable[..., Any]


INTRINSICS: dict[Any, Intrinsic] = {}
_waiting: list[Callable[[Any], None]] = []


class _Later:
    """A module that is imported where something in it is first used."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self._name), name)


ir: Any = _Later("llvmlite.ir")


def register_jitable(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Mark a function that compiled code may call, and that is compiled with it; it stays callable from Python."""

    def mark(function: Callable[..., Any]) -> Any:
        MARKED[function] = options
        _waiting.append(lambda emitting: emitting.overload(function, lambda *args: function, options, strict=False))
        return function

    return mark if function is None else mark(function)


@register_jitable
def unordered(count: int) -> range:
    """Return ``range(count)`` for an innermost loop of which no turn writes what another one reads or writes."""
    return range(count)


def overload(function: Callable[..., Any], jit_options: dict[str, Any]) -> Callable[[Callable[..., Any]], Any]:
    """Mark a function of dtypes that returns what compiled code calls instead of another function."""

    def mark(chosen: Callable[..., Any]) -> Any:
        OVERLOADS[function] = chosen, jit_options
        _waiting.append(lambda emitting: emitting.overload(function, chosen, jit_options, strict=True))
        return chosen

    return mark


def intrinsic(result: str, *given: str) -> Callable[[Callable[..., Any]], Any]:
    """Make a function for compiled code out of one that writes its instructions.

    Parameters
    ----------
    result : str
        The kind of its result: a dtype as Numba names it, ``"=n"`` for the dtype of the n-th argument, ``"row of n"``
        for an array of that dtype, or ``"void"``.
    *given : str
        The kinds to which arguments are converted; ``"="`` takes one as it is.

    Returns
    -------
    callable
        Takes the function that writes: of the site (a `lowering.sites.Site`, or its like for Numba) and of the
        arguments, which are LLVM's values for numbers.
    """

    def make(write: Callable[..., Any]) -> Any:
        def instructions(*args: Any) -> Any:
            raise NotImplementedError("for compiled code only")

        instructions.__doc__, instructions.__name__ = write.__doc__, write.__name__
        made = INTRINSICS[instructions] = Intrinsic(write.__name__, result, given, write)
        _waiting.append(lambda emitting: emitting.intrinsic(instructions, made))
        return instructions

    return make


def remember(file: str, text: str) -> None:
    """Let the text of functions that are in no file be found under a name, as tracebacks and compilers look for it."""
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)


def register(emitting: Any = None) -> None:
    """Tell Numba what was noted so far."""
    emitting = emitting or import_module("autodiff_lab.kernels.base.emitting")
    while _waiting:
        _waiting.pop()(emitting)
