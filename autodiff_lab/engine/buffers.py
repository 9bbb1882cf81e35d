"""Memory that belongs to one variable alone, so that an update may write into it.

A variable's array is replaced, never written, as long as anybody else may hold it.  After the first update of rows the
array is a `Private` one, which nobody but the variable refers to.  Whoever asks for the value gets a view of it, and
the variable keeps only a weak reference to that view.  An array made from the view refers to the view (NumPy names the
owner of memory as the base only where it is of the base class), so while anything is alive that can read the memory,
the view is: the next update then copies, and what was handed out keeps its numbers.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from autodiff_lab.engine.assigning import LOCK
from autodiff_lab.engine.silence import quietly

if TYPE_CHECKING:
    from autodiff_lab.engine.variable import Variable


class Private(np.ndarray):
    """An array that owns its memory, and which only one variable refers to."""


class Part:
    """A value that lies in the memory of somebody else, who changes it; a variable makes its own when it is asked."""

    __slots__ = ("memory", "shape")

    def __init__(self, memory: Any, shape: tuple[int, ...]) -> None:
        self.memory, self.shape = memory, shape


_NOT_TO_KEEP = frozenset({Private, Part})


def held(variable: Variable) -> Any:
    """Return the value of a variable as an array that may be kept."""
    array = variable._own
    return array if array.__class__ not in _NOT_TO_KEEP else _lent(variable)


def holds(variable: Variable, array: Any) -> bool:
    """Return whether the value of a variable is still what `held` gave."""
    own = variable._own
    return own is array or (own.__class__ is Private and variable._view is not None and variable._view() is array)


def hold(variable: Variable, array: Any) -> None:
    """Give a variable another array."""
    variable._own = array


def _lent(variable: Variable) -> Any:
    """Return the view of private memory that is in use, or a new one."""
    with LOCK.held:  # nobody writes meanwhile
        own = variable._own
        if own.__class__ is Part:
            own = variable._own = own.memory.reshape(own.shape).copy()[()]
        if own.__class__ is not Private:
            return own
        view = variable._view() if variable._view is not None else None
        if view is None:
            view = own.view(np.ndarray)
            variable._view = weakref.ref(view)  # pyright: ignore[reportAttributeAccessIssue]
        return view


def writable(variable: Variable) -> Any:
    """Return the memory of a variable's value for writing, after copying it if anybody else may read it.

    The caller holds the lock of assignments until it has written.
    """
    own = variable._own
    if own.__class__ is Part:
        own = held(variable)
    if own.__class__ is not Private or (variable._view is not None and variable._view() is not None):
        fresh = Private(own.shape, own.dtype)
        fresh[...] = own
        variable._own, variable._view = fresh, None
        own = fresh
    return own.view(np.ndarray)


def rows_changed(variable: Variable, change: Callable[[Any], Any]) -> None:
    """Let a function write into the value of a variable: into the array itself if nobody else may hold it."""
    with LOCK.held:
        quietly(change, writable(variable))
