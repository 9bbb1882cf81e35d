"""The tapes that are alive, in all threads: a variable that one of them has read is not moved to another device."""

from __future__ import annotations

import weakref
from typing import Any

_TAPES: list[weakref.ref[Any]] = []
_MOST = [64]  # tapes in the list, from which on those that are gone are taken out


def remember(tape: Any) -> None:
    """Keep a weak reference to a tape."""
    _TAPES.append(weakref.ref(tape))
    if len(_TAPES) > _MOST[0]:
        _TAPES[:] = [ref for ref in _TAPES if ref() is not None]
        _MOST[0] = 2 * len(_TAPES) + 64


def tapes() -> list[Any]:
    """Return the tapes that are alive."""
    return [tape for ref in _TAPES[:] if (tape := ref()) is not None]
