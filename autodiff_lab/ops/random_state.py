"""Where random numbers come from: one global source, and one for each seed that is given to an op.

A global seed makes both kinds repeatable.  An op that is given a seed draws further numbers at each call, as TensorFlow
does; set the global seed again to start over.  What runs a function a second time can have it draw the same numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from threading import RLock
from typing import Any

import numpy as np

from autodiff_lab.engine.dtypes import DType
from autodiff_lab.engine.shape import as_integers
from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.errors import InvalidArgumentError
from autodiff_lab.events.listener import SINKS, sinks_now, tell_made, trace_now

Source = np.random.Generator


class _State:
    """The global seed, and the sources that depend on it."""

    def __init__(self) -> None:
        self.start(None)

    def start(self, seed: int | None) -> None:
        self.seed = seed
        self.source = np.random.default_rng(seed)
        self.by_seed: dict[int, Source] = {}


_STATE = _State()
Draw = Tensor | Mapping[str, Any]
"""What an op drew in a program that was being traced, or else in which state its source was before."""
_NOTED: ContextVar[list[Draw] | None] = ContextVar("autodiff_lab_draws_noted", default=None)
_AGAIN: ContextVar[list[Draw] | None] = ContextVar("autodiff_lab_draws_again", default=None)
"""What ops draw in a second run, the next at the end."""
DRAWING = RLock()
"""Held while numbers are drawn, so that no other thread draws between noting the state and drawing."""


@contextmanager
def noting_draws() -> Generator[list[Draw], None, None]:
    """Note what ops draw in the block, for `drawing_again`."""
    draws: list[Draw] = []
    outer, token = _NOTED.get(), _NOTED.set(draws)
    try:
        yield draws
    finally:
        _NOTED.reset(token)
        if outer is not None:
            outer.extend(draws)


@contextmanager
def drawing_again(draws: list[Draw]) -> Generator[None, None, None]:
    """Have ops draw in the block what they drew in the one in which it was noted, and leave the sources as they are.

    Initial weights are drawn in a first run alone, so they are not among the draws.
    """
    again, noted = _AGAIN.set(draws[::-1]), _NOTED.set(None)  # what encloses this block has its own draws noted
    try:
        yield
    finally:
        _AGAIN.reset(again)
        _NOTED.reset(noted)


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
    if _AGAIN.get() is None:
        _STATE.start(number)


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
    return drawn_from(lambda: generator_for(seed), draw, seed, *given)


def drawn_from(find: Callable[[], Source], draw: Callable[[Source], Tensor], *given: Any) -> Tensor:
    """Return what `draw` makes of the source that `find` finds, as `drawn` does."""
    trace, again, noted = trace_now(), _AGAIN.get(), _NOTED.get()
    if again and isinstance(again[-1], Tensor):
        tensor: Tensor = again.pop()  # type: ignore[assignment]
    elif trace is None or not _fixed(given):
        with DRAWING:
            return draw(_noted(find()))
    else:
        sinks = sinks_now()

        def make() -> Any:
            with DRAWING:
                return draw(_noted(find()))._array

        SINKS.set(())
        try:
            source = find()
            trace.before.note_source(source)
            tensor = draw(source)
        finally:
            SINKS.set(sinks)
        trace.note_late(tensor, "noise", make, find)
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


def source_for(seed: int | None) -> Source:
    """Return the source of an op's numbers: that of the global seed or of its own, or as it was in the first run.

    Whoever calls this holds `DRAWING` until the numbers are drawn.
    """
    return _noted(generator_for(seed))


def _noted(source: Source) -> Source:
    """Note in which state a source is; in a second run, return one as it was in the first."""
    again, noted = _AGAIN.get(), _NOTED.get()
    if again and not isinstance(again[-1], Tensor):
        source = np.random.Generator(type(source.bit_generator)(0))
        source.bit_generator.state = again.pop()  # type: ignore[assignment]
    if noted is not None:
        noted.append(source.bit_generator.state)
    return source


def generator_for(seed: int | None) -> Source:
    """Return the global source, or that of a seed."""
    source = _STATE.source
    if seed is not None:
        number = checked_seed(seed, "random")
        if number not in _STATE.by_seed:
            _STATE.by_seed[number] = np.random.default_rng([_STATE.seed or 0, number])
        source = _STATE.by_seed[number]
    trace = trace_now()
    if trace is not None:
        trace.refuse("random numbers are drawn")
        trace.before.note_source(source)
    return source


def stateless(seed: Any, name: str) -> Source:
    """Return a source that two integers determine."""
    numbers = as_integers(seed, f"{name}: seed")
    if len(numbers) != 2:
        raise InvalidArgumentError(f"{name}: seed must be two integers, got {seed!r}. Try seed=(1, 2).")
    return np.random.Generator(np.random.Philox(key=np.array(numbers, np.int64).view(np.uint64)))
