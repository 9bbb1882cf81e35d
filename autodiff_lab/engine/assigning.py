"""Assigning: what is computed from the value of a variable takes its place only while that value is still there.

Threads may add to one variable at the same time.  Nothing is computed while the lock is held: whoever finds that the
value has changed meanwhile computes again.
"""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING, Any

from autodiff_lab.engine.silence import quietly

if TYPE_CHECKING:
    from collections.abc import Callable

    from autodiff_lab.engine.tensor import Tensor
    from autodiff_lab.engine.variable import Variable


class _Lock:
    """A lock that is replaced in the child of a fork, where the thread that held it does not exist."""

    def __init__(self) -> None:
        self.renew()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self.renew)

    def renew(self) -> None:
        self.held = threading.RLock()  # what runs when an array goes away may assign as well


LOCK = _Lock()


def accumulated(variable: Variable, kernel: Any, delta: Any) -> Any:
    """Return the new value of a variable: what `kernel` makes of the old one and of `delta`."""
    while True:
        before = variable._held
        total = quietly(kernel, before, delta)
        if getattr(total, "base", None) is not None:
            total = total.copy()
        if replaced(variable, before, total):
            return total


def combined(variable: Variable, op: Callable[..., Tensor], tensor: Tensor) -> Tensor:
    """Return the new value as `accumulated` does, computed by an op that a trace records."""
    while True:
        before = variable.read()
        total = op(before, tensor)
        if replaced(variable, before._held, total._held):
            return total


def replaced(variable: Variable, before: Any, now: Any) -> bool:
    """Give a variable the value `now` if it still has the value `before`; return whether it had."""
    with LOCK.held:
        if variable._held is not before:
            return False
        variable._held = now
        return True
