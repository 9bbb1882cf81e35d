"""Copies between the memories of the CPU and of a GPU that nobody asked for by name, told to whoever wants to know.

The package `gpu` makes events of them.  Host arrays that meet device arrays are uploaded, and dtypes promoted as NumPy
does: nobody but our kernels holds a device array, and what an op must not mix its tensors have refused before.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

OBSERVERS: list[Callable[[str, int, str], None]] = []
"""Called with ``"to host"`` or ``"to device"``, the number of bytes, and why."""
MEMORIES: list[Any] = []
"""The memory of every GPU that somebody has asked for: while there is none, nobody need look for arrays of one."""
_REASON: ContextVar[str] = ContextVar("autodiff_lab_copied_because", default="")


@contextmanager
def because(why: str) -> Generator[None]:
    """Give a reason for the copies of a block, in place of their own."""
    token = _REASON.set(why)
    try:
        yield
    finally:
        _REASON.reset(token)


def tell(direction: str, size: int, why: str) -> None:
    """Tell of a copy."""
    for hear in OBSERVERS:
        hear(direction, size, _REASON.get() or why)


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
