"""The two namespaces of operations that rules are given.

`RAW` holds plain array functions, for a backward pass that nobody records; `RECORDING` holds the ops themselves, for
one that an outer tape, a trace or a listener hears.  Every op puts itself into both when its family loads; a name that
is not there yet loads the families.  A lesson that wants a wrong engine makes a namespace of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Container
from typing import Any

_loaders: list[Callable[[str, Container[str]], None]] = []


def find_ops_by(load: Callable[[str, Container[str]], None]) -> None:
    """Register how the catalogue of ops loads, which the engine does not know."""
    _loaders[:] = [load]


def find_ops(name: str = "") -> None:
    """Load families of ops until one has the op of a name, or all; costs next to nothing once they are there."""
    for load in _loaders:
        load(name, vars(RAW))


class Ops:
    """A namespace of operations; `raw` says whether they take arrays (True) or tensors."""

    raw: bool

    def __init__(self, raw: bool, **functions: Any) -> None:
        self.raw = raw
        self.__dict__.update(functions)

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("__"):
            find_ops(name)
            found = vars(RAW if self.raw else RECORDING).get(name)
            if found is not None:
                return found
        raise AttributeError(f"no op named {name!r} is registered")

    def swapped(self, **functions: Any) -> Ops:
        """Return a copy in which some operations are others."""
        return Ops(**{**self.__dict__, **functions})


RAW = Ops(raw=True)
RECORDING = Ops(raw=False)
