"""Copies between the memories of the CPU and of a GPU that nobody asked for by name, told to whoever wants to know.

The engine makes events of them.  Host arrays that meet device arrays in our code are uploaded, and dtypes promoted as
NumPy does.  Where an op's operands meet, both are refused: that is in the kernel of an op of `STRICT`, unless `inside`
marks what it calls.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from typing import Any

HEARERS: list[Callable[[str, int, str], None]] = []
"""Called with ``"to host"`` or ``"to device"``, the number of bytes, and why."""
MEMORIES: list[Any] = []
"""The memory of every GPU that somebody has asked for: while there is none, nobody need look for arrays of one."""


STRICT: set[Any] = set()
"""Code objects of the functions that apply an op whose operands must not mix."""


class _Here(threading.local):
    depth = 0


_here = _Here()


class Refused(Exception):
    """Operands that an op must not mix; what the engine makes of it names the op.

    Attributes
    ----------
    what : str
        ``"host"``: arrays of two devices met; ``"dtypes"``: two dtypes met; ``"promoted"``: a whole number
        would have become a float.
    """

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.what = what


def is_inside() -> bool:
    """Whether this thread runs code of ours."""
    return _here.depth > 0


def refuse(what: str) -> None:
    """Refuse what an op must not mix, if it is an op that mixes: everybody else goes on.

    Which it is stands on the stack, and is looked up only here, so that what fits costs nothing.

    Raises
    ------
    Refused
        If an op's operands are mixed.
    """
    frame = None if is_inside() else sys._getframe(1)
    while frame is not None:
        if frame.f_code in STRICT:
            raise Refused(what)
        frame = frame.f_back


class inside:  # noqa: N801 - it is used as a statement: `with inside():`
    """Mark a block as code of ours."""

    __slots__ = ()

    def __enter__(self) -> None:
        _here.depth += 1

    def __exit__(self, *error: object) -> None:
        _here.depth -= 1


class outside:  # noqa: N801 - it is used as a statement: `with outside():`
    """Mark a block, amid code of ours, as a user's again."""

    __slots__ = ("_depth",)

    def __enter__(self) -> None:
        self._depth, _here.depth = _here.depth, 0

    def __exit__(self, *error: object) -> None:
        _here.depth = self._depth


def tell(direction: str, size: int, why: str) -> None:
    """Tell of a copy."""
    for hear in HEARERS:
        hear(direction, size, why)


_process = {"forked": False}


def forked() -> str:
    """What to say of a GPU that fails in a process which was forked from one that had used it; nothing in others."""
    return _process["forked"] * (
        "This process was forked from one that had used the GPU, and CUDA does not outlive that. Try "
        "multiprocessing.get_context('spawn'), or the CPU here and the GPU in the first process alone."
    )


def _after_fork() -> None:
    _process["forked"] = bool(MEMORIES)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
