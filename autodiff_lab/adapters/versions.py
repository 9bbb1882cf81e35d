"""Which releases of a framework an adapter was tried with, and what to say about others."""

from __future__ import annotations

import importlib
import re
import warnings

from autodiff_lab.errors import MissingPackage

TRIED = {"torch": (2, 13), "jax": (0, 10)}
"""The newest releases that the tests have run."""
TITLES = {"torch": "PyTorch", "jax": "JAX"}


def require(module: str, oldest: tuple[int, ...]) -> None:
    """Import a framework, or say what is missing.

    Raises
    ------
    ImportError
        If the framework is not installed, or is older than the adapter needs.

    Examples
    --------
    >>> require("framework", (1, 0))
    Traceback (most recent call last):
        ...
    autodiff_lab.errors.MissingPackage: The adapter needs framework, which is not installed. Try: pip install framework
    """
    title = TITLES.get(module, module)
    try:
        found = importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module:
            raise
        if module in TRIED:
            raise MissingPackage.of("The adapter", title, module) from None
        raise MissingPackage(f"The adapter needs {title}, which is not installed. Try: pip install {module}") from None
    version = numbers(found.__version__)
    if version < oldest:
        wanted = ".".join(map(str, oldest))
        raise ImportError(
            f"The adapter needs {title} {wanted} or later, and {found.__version__} is installed. "
            f"Try: pip install --upgrade {module}"
        )
    if version[:2] > TRIED.get(module, version):
        tried = ".".join(map(str, TRIED[module]))
        warnings.warn(
            f"{title} {found.__version__} is newer than {tried}, with which the adapter was tested. "
            "If a recording stops early, its warning says where.",
            ImportWarning,
            stacklevel=3,
        )


def numbers(version: str) -> tuple[int, ...]:
    """Return the leading numbers of a version.

    Examples
    --------
    >>> numbers("2.13.0+cpu"), numbers("0.10.2rc1")
    ((2, 13, 0), (0, 10, 2))
    """
    return tuple(int(part) for part in re.match(r"\d+(\.\d+)*", version)[0].split("."))  # pyright: ignore[reportOptionalSubscript]
