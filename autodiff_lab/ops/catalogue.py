"""Finding the families of ops: one by its name, the one that has an op, or all, which completes the registry."""

from __future__ import annotations

import sys
from collections.abc import Callable, Container
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


def late(module: str, homes: dict[str, str]) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a public namespace that has names from `autodiff_lab.extras`.

    Completion offers all names of the namespace, loaded or not.

    Parameters
    ----------
    module : str
        The namespace.
    homes : dict
        The names, each with the module that holds it.

    Raises
    ------
    AttributeError
        By the function, if the namespace has no such name.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> "ctc_loss" in dir(lab.nn), "TYPE_CHECKING" in dir(lab.nn)
    (True, False)
    """
    namespace = vars(sys.modules[module])

    def answer(name: str) -> Any:
        if name not in homes:
            raise import_module("autodiff_lab.absent").no_name(sys.modules[module], name)
        home = import_module(f"autodiff_lab.extras.{homes[name]}")
        found = namespace[name] = home if home.__name__.endswith(f".{name}") else getattr(home, name)
        return found

    namespace["__dir__"] = lambda: list(namespace["__all__"])
    return answer
