"""Copies between CPU and GPU that no user asked for explicitly, and the observers that they are reported to.

The package `gpu` makes events of them.  Host arrays that meet device arrays are uploaded, and dtypes promoted as in
NumPy: only our kernels hold device arrays, and the tensors of an op have refused before what it must not mix.
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
"""The memory of every GPU in use; while there is none, no array needs to be checked for its device."""
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
    """Report a copy to the observers."""
    for hear in OBSERVERS:
        hear(direction, size, _REASON.get() or why)


_process = {"forked": False}


def forked() -> str:
    """Return what explains a failing GPU in a process forked from one that had used it; an empty text in others."""
    return _process["forked"] * (
        "This process was forked from one that had used the GPU, and CUDA does not survive a fork. Try "
        "multiprocessing.get_context('spawn'), or use the GPU only in the first process."
    )


def _after_fork() -> None:
    _process["forked"] = bool(MEMORIES)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
