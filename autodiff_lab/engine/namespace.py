"""The two namespaces of operations that rules are given.

`RAW` holds plain array functions, for a backward pass that nobody records; `RECORDING` holds the ops themselves, for
one that an outer tape, a trace or a listener hears.  Every op puts itself into both.  A lesson that wants a wrong
engine makes a namespace of its own.
"""

from __future__ import annotations

from typing import Any


class Ops:
    """A namespace of operations; `raw` says whether they take arrays (True) or tensors."""

    raw: bool

    def __init__(self, raw: bool, **functions: Any) -> None:
        self.raw = raw
        self.__dict__.update(functions)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"no op called {name!r} is registered")

    def swapped(self, **functions: Any) -> Ops:
        """A copy in which some operations are others."""
        return Ops(**{**self.__dict__, **functions})


RAW = Ops(raw=True)
RECORDING = Ops(raw=False)
