"""Where random numbers come from: one global source, and one for each seed that is given to an op.

A global seed makes both kinds repeatable.  An op that is given a seed draws further numbers at each call, as TensorFlow
does; set the global seed again to hear them from the start.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_lab.engine.shape import whole_numbers
from autodiff_lab.errors import InvalidArgumentError
from autodiff_lab.events import trace_now

Source = np.random.Generator


class _State:
    """The global seed, and the sources that hang on it."""

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
        If the seed is negative or no whole number.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.random.set_seed(1)
    >>> a = lab.random.normal((2,))
    >>> lab.random.set_seed(1)
    >>> bool(lab.reduce_all(a == lab.random.normal((2,))))
    True
    """
    _STATE.start(checked_seed(seed, "set_seed"))


def checked_seed(seed: Any, name: str) -> int:
    """One whole number that is not negative; the error names the function."""
    numbers = whole_numbers(seed, name)
    if len(numbers) != 1 or numbers[0] < 0:
        raise InvalidArgumentError(f"{name}: a seed is one whole number, 0 or more, got {seed!r}.")
    return numbers[0]


def generator_for(seed: int | None) -> Source:
    """The source of an op's numbers: the global one, or that of the seed given to the op."""
    trace = trace_now()
    if trace is not None:
        trace.refuse("random numbers are drawn")
    if seed is None:
        return _STATE.source
    number = checked_seed(seed, "seed")
    if number not in _STATE.by_seed:
        _STATE.by_seed[number] = np.random.default_rng([_STATE.seed or 0, number])
    return _STATE.by_seed[number]


def stateless(seed: Any, name: str) -> Source:
    """A source that two whole numbers determine."""
    numbers = whole_numbers(seed, name)
    if len(numbers) != 2:
        raise InvalidArgumentError(f"{name}: the seed is two whole numbers, got {seed!r}. Try seed=(1, 2).")
    return np.random.Generator(np.random.Philox(key=np.array(numbers, np.int64).view(np.uint64)))
