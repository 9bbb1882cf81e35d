"""Promises: conditions on values of a GPU that are checked when a result is next read.

On the CPU an index that is out of range raises where it is used.  On a GPU every gather would have to wait for all work
before it to find out; so the condition is computed there, kept, and checked at the next copy to the CPU, which waits
anyway.  The error says that it is late.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from autodiff_lab.kernels.cuda.array import DeviceArray
    from autodiff_lab.kernels.cuda.memory import Memory

MOST = 256
"""Conditions that may be open; then they are checked, so that a program that never reads does not pile them up."""
_open: weakref.WeakKeyDictionary[Memory, list[tuple[Any, Callable[[], Exception]]]] = weakref.WeakKeyDictionary()
LATE = "It was found when a result was read, because nothing waits for a GPU before that."


def promise(holds: DeviceArray, error: Callable[[], Exception]) -> None:
    """Keep a condition on a GPU, an array of rank 0, and what makes the error to raise if it is not true."""
    ask(holds.memory, holds.raw, error)


def ask(memory: Memory, holds: Any, error: Callable[[], Exception]) -> None:
    """Keep a condition that is an array of CuPy; the simulator, which has nothing to wait for, checks it at once."""
    if memory.simulated:
        if not holds.all():
            raise error()
        return
    questions = _open.setdefault(memory, [])
    questions.append((holds, error))
    if len(questions) >= MOST:
        answer(memory)


def answer(memory: Memory) -> None:
    """Check all open conditions of a GPU, which waits for it.

    Raises
    ------
    Exception
        That of the first condition that does not hold.
    """
    questions = _open.pop(memory, None)
    if not questions or memory.download(memory.module.stack([holds for holds, _ in questions])).all():
        return
    for holds, error in questions:
        if not memory.download(holds).all():
            raised = error()
            raised.add_note(LATE)
            raise raised
