"""Checks of an explained fault: the right cause, op and line, in the words of the framework."""

from __future__ import annotations

import inspect
from typing import Any

FOREIGN = ("lab.", "tape", "GradientTape", "autodiff_lab")


def check(function: Any, cause: str, op: str | None, told: Any) -> None:
    """Assert that an explanation names the fault of a program, whose line ends with ``# here``."""
    lines, start = inspect.getsourcelines(function)
    line = next(start + i for i, text in enumerate(lines) if "# here" in text)
    assert (told.cause, told.op) == (cause, op), told.what
    assert told.place is not None
    assert told.place[1] == line
    assert told.fix
    words = " ".join([told.title, told.what, told.fix, *told.also, *told.code])
    assert not [name for name in FOREIGN if name in words], words
