"""The library of the fields and buttons of the lessons, or what to install where it is missing."""

from __future__ import annotations

from autodiff_lab.errors import MissingPackage

try:
    import ipywidgets
except ImportError as missing:
    raise MissingPackage.of("A lesson", "ipywidgets", "lab") from missing

__all__ = ["ipywidgets"]
