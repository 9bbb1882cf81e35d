"""Held values: arrays of another framework, kept by reference until a recording needs their numbers.

A recorder asks a held value for `nbytes` and for ``to_snapshot(policy, leaf)``; nothing else of it is known here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autodiff_lab.recording.snapshot import NOT_SEEN, Policy, Snapshot


class HeldValue:
    """A value that is read when a recording is built.

    Parameters
    ----------
    read : callable or None
        Returns a NumPy array, or None if the value is not known any more.
    nbytes : int
        What it costs to hold on to the value; counts against the budget of the recording.

    Examples
    --------
    >>> import numpy as np
    >>> from autodiff_lab.recording.snapshot import keep
    >>> HeldValue(lambda: np.float32(2.0), 4).to_snapshot(keep, True).array
    array(2., dtype=float32)
    """

    __slots__ = ("_read", "_snapshot", "nbytes")

    def __init__(self, read: Callable[[], object] | None, nbytes: int = 0) -> None:
        self._read, self.nbytes = read, nbytes
        self._snapshot: Snapshot | None = None if read else NOT_SEEN

    def array(self) -> Any:
        """Return the whole value as a NumPy array, None where it is not known."""
        if self._snapshot is not None:
            return self._snapshot.array
        return None if self._read is None else self._read()

    def to_snapshot(self, policy: Policy, leaf: bool) -> Snapshot:
        """Return what a policy keeps of the value, and let go of the value itself."""
        if self._snapshot is None:
            array = self.array()
            self._snapshot = NOT_SEEN if array is None else policy(array, leaf)
            self._read = None
        return self._snapshot


class HeldSum(HeldValue):
    """The sum of two held values, added up when it is asked for.

    Examples
    --------
    >>> import numpy as np
    >>> two, three = HeldValue(lambda: np.float32(2.0)), HeldValue(lambda: np.float32(3.0))
    >>> HeldSum(two, three).array()
    np.float32(5.0)
    """

    __slots__ = ()

    def __init__(self, first: HeldValue, second: HeldValue) -> None:
        def read() -> Any:
            a, b = first.array(), second.array()
            return None if a is None or b is None else np.add(a, b)

        super().__init__(read)
