"""Where random numbers come from: one global source, and one for each seed that is given to an op.

A global seed makes both kinds repeatable.  An op that is given a seed draws further numbers at each call, as TensorFlow
does; set the global seed again to start over.  What runs a function a second time can have it draw the same numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from autodiff_lab.engine.dtypes import DType
from autodiff_lab.engine.shape import as_integers
from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.errors import InvalidArgumentError
from autodiff_lab.events.listener import SINKS, sinks_now, tell_made, trace_now

Source = np.random.Generator


class _State:
    """A global seed, and the sources that depend on it: under None the global one, and one for each seed of an op."""

    def __init__(self, seed: int | None, begun: dict[int | None, Any] | None = None) -> None:
        self.start(seed, begun or {})

    def start(self, seed: int | None, begun: dict[int | None, Any]) -> None:
        self.seed, self.begun = seed, begun
        self.sources: dict[int | None, Source] = {}
        self.source(None)

    def source(self, number: int | None) -> Source:
        """Return the source of a seed; one that was begun goes on from there."""
        found = self.sources.get(number)
        if found is None:
            begun = self.begun.pop(number, None)
            seeds = self.seed if number is None else [self.seed or 0, number]
            found = self.sources[number] = np.random.default_rng(0 if begun is not None else seeds)
            if begun is not None:
                found.bit_generator.state = begun
        return found


class Draws:
    """Where the sources stood before a function ran, and what a program that was being traced drew in it.

    With these a second run draws what the first drew, and the sources that others draw from stay where they are.
    """

    def __init__(self) -> None:
        state = _state()
        self.seed = state.seed
        self.begun = state.begun | {number: source.bit_generator.state for number, source in state.sources.items()}
        self.trace = trace_now()
        self.tensors: list[Tensor] = []


_STATE = _State(None)
_AGAIN: ContextVar[_State | None] = ContextVar("autodiff_lab_draws_again", default=None)
"""The sources of a second run."""
_NOTED: ContextVar[list[Tensor] | None] = ContextVar("autodiff_lab_draws_noted", default=None)
"""What a traced program draws in a first run."""
_PREPARED: ContextVar[list[Tensor]] = ContextVar("autodiff_lab_draws_prepared", default=[])  # noqa: B039 - read only
"""What it draws in a second one, the next at the end."""


def _state() -> _State:
    return _AGAIN.get() or _STATE


@contextmanager
def noting_draws() -> Generator[Draws, None, None]:
    """Note what is drawn in the block, for `drawing_again`."""
    draws, outer = Draws(), _NOTED.get()
    token = _NOTED.set(draws.tensors)
    try:
        yield draws
    finally:
        _NOTED.reset(token)
        if outer is not None:
            outer.extend(draws.tensors)


@contextmanager
def drawing_again(draws: Draws) -> Generator[None, None, None]:
    """Draw the same in the block as in the one in which it was noted, whatever was drawn in between."""
    traced = draws.trace is not None and trace_now() is draws.trace
    again = _AGAIN.set(_State(draws.seed, dict(draws.begun)))
    prepared = _PREPARED.set(draws.tensors[::-1] if traced else [])
    try:
        yield
    finally:
        _AGAIN.reset(again)
        _PREPARED.reset(prepared)


def set_seed(seed: int) -> None:
    """Make the numbers that follow repeatable.

    Parameters
    ----------
    seed : int
        0 or more.

    Raises
    ------
    InvalidArgumentError
        If the seed is negative or not an integer.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.random.set_seed(1)
    >>> a = lab.random.normal((2,))
    >>> lab.random.set_seed(1)
    >>> bool(lab.reduce_all(a == lab.random.normal((2,))))
    True
    """
    number = checked_seed(seed, "set_seed")
    trace = trace_now()
    if trace is not None:
        trace.refuse("the seed of random numbers is set")
    _state().start(number, {})


def checked_seed(seed: Any, name: str) -> int:
    """Return one integer that is not negative; the error names the function."""
    numbers = as_integers(seed, f"{name}: seed")
    if len(numbers) != 1 or numbers[0] < 0:
        raise InvalidArgumentError(f"{name}: seed must be a non-negative integer, got {seed!r}.")
    return numbers[0]


def drawn(draw: Callable[[Source], Tensor], seed: int | None, *given: Any) -> Tensor:
    """Return what `draw` makes of the source of a seed; a program draws it again in every call, before it runs.

    A trace hears nothing of what is done with the numbers, so tensors must not take part: it refuses where `given`,
    the parameters of the draw, hold any.
    """
    trace = trace_now()
    if trace is None or not _fixed((seed, *given)):
        return draw(generator_for(seed))
    noted, prepared = _NOTED.get(), _PREPARED.get()
    if prepared:
        tensor = prepared.pop()
        if noted is not None:
            noted.append(tensor)
        return tensor
    sinks = sinks_now()

    def make() -> Any:
        return draw(generator_for(seed))._array

    SINKS.set(())
    try:
        tensor = draw(generator_for(seed))
    finally:
        SINKS.set(sinks)
    trace.note_late(tensor, "noise", make, lambda: generator_for(seed))
    if noted is not None:
        noted.append(tensor)
    return tensor


def determined(draw: Callable[[Source], Tensor], seed: Any, name: str, *given: Any) -> Tensor:
    """Return what `draw` makes of the source that two integers determine: in a program a constant."""
    sinks = sinks_now()
    if trace_now() is None or not _fixed([seed, *given], (tuple, list)):
        return draw(stateless(seed, name))
    SINKS.set(())
    try:
        tensor = draw(stateless(seed, name))
    finally:
        SINKS.set(sinks)
    return tell_made(tensor)


def _fixed(value: Any, rows: tuple[type, ...] = (tuple,)) -> bool:
    """Return whether a parameter holds nothing but numbers and words, which a trace knows and which cannot change."""
    if isinstance(value, rows):
        return all(_fixed(item, rows) for item in value)
    return value is None or isinstance(value, (int, float, str, np.generic, np.dtype, DType, type))


def generator_for(seed: int | None) -> Source:
    """Return the source of an op's numbers: the global one, or that of the seed given to the op."""
    trace = trace_now()
    if trace is not None:
        trace.refuse("random numbers are drawn")
    return _state().source(seed if seed is None else checked_seed(seed, "random"))


def stateless(seed: Any, name: str) -> Source:
    """Return a source that two integers determine."""
    numbers = as_integers(seed, f"{name}: seed")
    if len(numbers) != 2:
        raise InvalidArgumentError(f"{name}: seed must be two integers, got {seed!r}. Try seed=(1, 2).")
    return np.random.Generator(np.random.Philox(key=np.array(numbers, np.int64).view(np.uint64)))
