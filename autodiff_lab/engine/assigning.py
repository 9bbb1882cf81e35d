"""Assigning: what is computed from the value of a variable takes its place only while that value is still there.

Threads may add to one variable at the same time.  Nothing is computed while the lock is held: whoever finds that the
value has changed meanwhile computes again.
"""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING, Any

from autodiff_lab.engine.moving import ARRAYS
from autodiff_lab.engine.silence import quietly

if TYPE_CHECKING:
    from autodiff_lab.engine.variable import Variable


class _Lock:
    """Holds the lock; another one in the child of a fork, where the thread that held it is gone."""

    def __init__(self) -> None:
        self.renew()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self.renew)

    def renew(self) -> None:
        self.held = threading.RLock()  # what runs when an array goes away may assign as well


LOCK = _Lock()


def accumulated(variable: Variable, kernel: Any, delta: Any) -> Any:
    """The new value of a variable: what `kernel` makes of the old one and of `delta`."""
    while True:
        before = variable._held
        total = quietly(kernel, before, delta)
        if total.__class__ in ARRAYS and total.base is not None:
            total = total.copy()
        with LOCK.held:
            if variable._held is before:
                variable._array = total
                return total
