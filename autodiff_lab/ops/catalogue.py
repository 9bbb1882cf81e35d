"""Finding the families of ops: one by its name, the one that has an op, or all, which completes the registry."""

from __future__ import annotations

from collections.abc import Container
from importlib import import_module
from typing import Any

_FAMILIES = ("array", "math", "linalg", "nn", "random", "signal", "image", "sparse", "strings")
"""In the order in which a missing op is looked for."""


def family(package: str, names: list[str], name: str) -> Any:
    """A module of a package of families, for the package's ``__getattr__``.

    Raises
    ------
    AttributeError
        If there is no such family.
    """
    if name not in names:
        raise AttributeError(f"module {package!r} has no attribute {name!r}", name=name)
    return import_module(f"{package}.{name}")


def load(name: str = "", present: Container[str] = ()) -> None:
    """Load families until `present` holds the op of a name, or all of them.

    Examples
    --------
    >>> load()
    >>> from autodiff_lab.engine.op import REGISTRY
    >>> "erf" in REGISTRY
    True
    """
    for package in _FAMILIES:
        module = import_module(f"autodiff_lab.ops.{package}")
        for inner in module.__all__ if hasattr(module, "__path__") else ():
            import_module(f"{module.__name__}.{inner}")
            if name in present:
                return
        if name in present:
            return
