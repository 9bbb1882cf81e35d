"""Promises: what a kernel asks of values on a GPU, looked at when a result is next read.

On the CPU an index that is out of range raises where it is used.  To know on a GPU, one would have to wait for all work
before it, at every gather; so the question is computed there, kept, and answered together with the first copy to the
CPU, which waits anyway.  The error says that it is late.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from autodiff_lab.kernels.cuda.array import DeviceArray
    from autodiff_lab.kernels.cuda.memory import Memory

MOST = 256
"""Questions that may be open; then they are answered, so that a program that never reads does not pile them up."""
_open: weakref.WeakKeyDictionary[Memory, list[tuple[Any, Callable[[], Exception]]]] = weakref.WeakKeyDictionary()
LATE = "It was found when a result was read: a GPU is not waited for before."


def promise(holds: DeviceArray, error: Callable[[], Exception]) -> None:
    """Keep a question on a GPU: an array of rank 0, true if all is well, and what to raise if it is not."""
    ask(holds.memory, holds.raw, error)


def ask(memory: Memory, holds: Any, error: Callable[[], Exception]) -> None:
    """Keep a question that is an array of CuPy; in the simulator, which has nothing to wait for, answer it at once."""
    if memory.simulated:
        if not holds.all():
            raise error()
        return
    questions = _open.setdefault(memory, [])
    questions.append((holds, error))
    if len(questions) >= MOST:
        answer(memory)


def answer(memory: Memory) -> None:
    """Look at all open questions of a GPU, which waits for it.

    Raises
    ------
    Exception
        What the first promise that was not kept asked for.
    """
    questions = _open.pop(memory, None)
    if not questions or memory.download(memory.module.stack([holds for holds, _ in questions])).all():
        return
    for holds, error in questions:
        if not memory.download(holds).all():
            raised = error()
            raised.add_note(LATE)
            raise raised
