"""Arrays: making, shaping, joining, indexing, selecting, repeating, casting."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from autodiff_lab.ops.array import (
        assigning,
        casting,
        creation,
        gathering,
        grids,
        indexing,
        joining,
        repeating,
        scattering,
        selection,
        sequences,
        shaping,
        slicing,
    )

__all__ = [
    "assigning", "casting", "creation", "gathering", "grids", "indexing", "joining", "repeating",
    "scattering", "selection", "sequences", "shaping", "slicing",
]


def __getattr__(name: str) -> Any:
    """Load a family at its first use."""
    from autodiff_lab.ops.catalogue import family

    return family(__name__, __all__, name)
