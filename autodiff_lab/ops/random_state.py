"""Where random numbers come from: one global source, and one for each seed that is given to an op.

A global seed makes both kinds repeatable.  An op that is given a seed draws further numbers at each call, as TensorFlow
does; set the global seed again to start over.
"""

from __future__ import annotations

from collections.abc import Callable
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
    trace = trace_now()
    if trace is None or not _fixed((seed, *given)):
        return draw(generator_for(seed))
    sinks = sinks_now()

    def make() -> Any:
        return draw(generator_for(seed))._array

    SINKS.set(())
    try:
        tensor = draw(generator_for(seed))
    finally:
        SINKS.set(sinks)
    trace.note_late(tensor, "noise", make, lambda: generator_for(seed))
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
    if seed is None:
        return _STATE.source
    number = checked_seed(seed, "random")
    if number not in _STATE.by_seed:
        _STATE.by_seed[number] = np.random.default_rng([_STATE.seed or 0, number])
    return _STATE.by_seed[number]


def stateless(seed: Any, name: str) -> Source:
    """Return a source that two integers determine."""
    numbers = as_integers(seed, f"{name}: seed")
    if len(numbers) != 2:
        raise InvalidArgumentError(f"{name}: seed must be two integers, got {seed!r}. Try seed=(1, 2).")
    return np.random.Generator(np.random.Philox(key=np.array(numbers, np.int64).view(np.uint64)))
