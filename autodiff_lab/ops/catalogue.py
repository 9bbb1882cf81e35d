"""Finding the families of ops: one by its name, the one that has an op, or all, which completes the registry."""

from __future__ import annotations

from collections.abc import Container
from importlib import import_module
from typing import Any

_FAMILIES = ("ops.array", "ops.math", "ops.linalg", "ops.nn", "ops.random", "extras.families")
"""In the order in which a missing op is looked for."""


def family(package: str, names: list[str], name: str) -> Any:
    """Return a module of a package of families, for the package's ``__getattr__``.

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
        try:
            module = import_module(f"autodiff_lab.{package}")
        except ModuleNotFoundError as missing:
            if missing.name != "autodiff_lab.extras":  # the core is whole without it
                raise
            return
        for inner in module.__all__ if hasattr(module, "__path__") else ():
            import_module(f"{module.__name__}.{inner}")
            if name in present:
                return
        if name in present:
            return


def from_extras(module: str, homes: dict[str, str], name: str) -> Any:
    """Return a name that a public namespace has from `autodiff_lab.extras`, for the namespace's ``__getattr__``.

    Parameters
    ----------
    module : str
        The namespace.
    homes : dict
        The names, each with the module that holds it.
    name : str
        The name that is asked for.

    Raises
    ------
    AttributeError
        If the namespace has no such name.
    """
    if name not in homes:
        raise import_module("autodiff_lab.absent").no_name(import_module(module), name)
    home = import_module(f"autodiff_lab.extras.{homes[name]}")
    return home if home.__name__.endswith(f".{name}") else getattr(home, name)
