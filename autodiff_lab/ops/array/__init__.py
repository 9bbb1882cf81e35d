"""Arrays: making, shaping, joining, indexing, selecting, repeating, casting."""

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
    shaping,
    slicing,
)

__all__ = [
    "assigning", "casting", "creation", "gathering", "grids", "indexing", "joining", "repeating", "scattering",
    "selection", "shaping", "slicing",
]
