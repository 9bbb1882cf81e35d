"""Arrays: making, shaping, joining, indexing, selecting, repeating, casting."""

from autodiff_lab.ops.array import (
    casting,
    creation,
    gathering,
    grids,
    indexing,
    joining,
    repeating,
    scattering,
    selection,
    shaping,
    slicing,
)

__all__ = [
    "casting", "creation", "gathering", "grids", "indexing", "joining", "repeating", "scattering", "selection",
    "shaping", "slicing",
]
