"""Sizes "from which on" something else is done, lowered so that small arrays take the ways of large ones.

What large arrays alone meet is then met by small ones, of which there are many tests, and which are quick.
"""

import pkgutil
import re
from importlib import import_module
from types import ModuleType
from typing import Any

import pytest

LOWER = 2
THRESHOLD = re.compile(r"_?(FEW|LEAST|SMALL|LARGE$|MANY|LONG$|LARGE_)")
"""Names of such sizes; those up to which something is done begin otherwise."""


def thresholds(*packages: ModuleType) -> list[tuple[Any, str]]:
    """Return the module and the name of each threshold of packages, those of GPUs left out."""
    found = []
    for package in packages:
        for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
            if "cuda" not in module.name:
                home = import_module(module.name)
                found += [(home, name) for name, value in vars(home).items()
                          if THRESHOLD.match(name) and type(value) in (int, float) and value > 2 * LOWER]  # fmt: skip
    return found


def lower(monkeypatch: pytest.MonkeyPatch, *packages: ModuleType) -> int:
    """Lower the thresholds of packages for one test, and return how many there are."""
    found = thresholds(*packages)
    for home, name in found:
        monkeypatch.setattr(home, name, LOWER)
    return len(found)
