"""Copies between the memories of the CPU and of a GPU that nobody asked for by name, told to whoever wants to know.

The engine makes events of them.  `inside` marks code of ours on this thread: there, host arrays that meet device arrays
are uploaded and dtypes promoted as NumPy does; outside, which is where an op's operands meet, both are refused.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager

HEARERS: list[Callable[[str, int, str], None]] = []
"""Called with ``"to host"`` or ``"to device"``, the number of bytes, and why."""
_here = threading.local()


class Refused(Exception):
    """Operands that an op must not mix; what the engine makes of it names the op.

    Attributes
    ----------
    what : str
        ``"host"``: an array of the CPU met one of a GPU; ``"dtypes"``: two dtypes met; ``"promoted"``: a whole number
        would have become a float.
    """

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.what = what


def is_inside() -> bool:
    """Whether this thread runs code of ours."""
    return getattr(_here, "depth", 0) > 0


@contextmanager
def inside() -> Generator[None]:
    """Mark a block as code of ours."""
    _here.depth = getattr(_here, "depth", 0) + 1
    try:
        yield
    finally:
        _here.depth -= 1


def tell(direction: str, size: int, why: str) -> None:
    """Tell of a copy."""
    for hear in HEARERS:
        hear(direction, size, why)
